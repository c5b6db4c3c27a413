# SPDX-License-Identifier: MIT
"""A guest with this machine's own programs: boots it, and ends it. All waits are bounded.

`with Guest("open") as guest: print(guest.run(["uname", "-a"]).out)`
"""

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Self

from . import plugins
from .accel import probe_accel
from .agent import GRACE_SECONDS, PORT, Agent, Command, GuestError, Result
from .folder import short_folder
from .initramfs import CannotBoot, find_kernel, make_initramfs
from .kernel import unpack_kernel
from .modules import kernel_has, module_files
from .qemu import Machine, Port, Share, find_qemu
from .root import copy_etc, lent_folders, shares
from .system import OWN_SYSTEM, System, system_of

# Limits that prevent endless waits: an emulated guest on a busy machine is slow.
BOOT_SECONDS = 600.0
RUN_SECONDS = 240.0  # for a command
REGISTRY = "gstreamer-registry.bin"
LIFE_SECONDS = 7200  # QEMU ends itself after this, even if this process died

# Search paths, so that the guest finds the same programs as this machine.
PLACES = (
    "PATH",
    "LD_LIBRARY_PATH",
    "GST_PLUGIN_PATH",
    "GST_REGISTRY",
    "PYTHONPATH",
    "WESTON_MODULE_MAP",
)


# Modules that make an NVDIMM's memory mappable for programs.
DAX_MODULES = ("nfit", "nd_pmem", "dax_pmem", "device_dax")


def why_no_pages() -> str | None:
    """Why a guest booted here cannot have windows with pages, or None."""
    try:
        qemu = find_qemu()
        release = find_kernel()[1].parent.name
    except CannotBoot as error:
        return str(error)
    if subprocess.run([qemu, "-device", "nvdimm,help"], capture_output=True).returncode != 0:
        return f"{qemu} has no NVDIMMs"
    missing = [name for name in DAX_MODULES if not kernel_has(release, name)]
    return f"Linux {release} has no module {', '.join(missing)}" if missing else None


def why_not() -> str | None:
    """Why no guest can be booted here, or None."""
    try:
        find_qemu()
        find_kernel()
    except CannotBoot as error:
        return str(error)
    return None


def guest_files(
    mounts: bytes,
    configuration: str | None = None,
    folder: Path | None = None,
    system: System = OWN_SYSTEM,
    **environment: str,
) -> dict[str, bytes]:
    """The files of /run/guest: see prepare() for all but `mounts` and `system`."""
    variables = {name: os.environ[name] for name in PLACES if name in os.environ} | environment
    variables = {name: system.translate(value) for name, value in variables.items()}
    if folder is not None:
        variables["GIDWAY_FOLDER"] = str(folder)
    # This machine's registry of plugins is wrong for another architecture.
    known = None
    if system.build is not None:
        variables["GST_REGISTRY"] = f"/run/{REGISTRY}"
    elif "GST_REGISTRY" not in environment:
        known = plugins.known()
    if known is not None:
        variables["GST_REGISTRY"] = f"/run/guest/{REGISTRY}"
    exports = [f"export {name}={shlex.quote(value)}\n" for name, value in variables.items()]
    files = {"environment": "".join(exports).encode(), "mounts": mounts}
    if known is not None:
        files[REGISTRY] = known
    if configuration is not None:
        files["gidway.conf"] = configuration.encode()
    return files


def prepare(
    machine: Machine,
    work: Path,
    configuration: str | None = None,
    folder: Path | None = None,
    usr: Path | None = None,
    **environment: str,
) -> None:
    """Prepares the machine to boot with this machine's programs, read-only over 9p: see root.py.

    A guest of another architecture gets programs of that architecture: see system.py. Writes its
    initramfs to `work`, and for TCG its unpacked kernel. With a configuration of the cockpit, the
    guest starts its domain's gidd itself. `folder`: the user's working folder, shared as well, in
    which commands run. `usr`: a folder that becomes /usr in the guest's own memory. Nothing is
    shared then, as QEMU cannot save a machine that has mounted shares. `environment`: additional
    variables for all programs of the guest.
    """
    system = system_of(machine.arch)
    kernel, modules = system.kernel()
    if machine.accel == "tcg":
        environment.setdefault("GID_ANSWER_SECONDS", "20")
    folders = lent_folders(folder, system.build) if usr is None else []
    lent, mounts = shares(folders, system.root / "usr")
    files = guest_files(mounts, configuration, folder, system, **environment)
    wanted = [*machine.modules]
    if any(window.pages for window in machine.windows):
        wanted += DAX_MODULES
    if wanted:
        files |= module_files(modules.parent, wanted)
    machine.kernel, machine.initramfs = kernel, work / "initramfs"
    if machine.accel == "tcg":
        machine.kernel = unpack_kernel(kernel, work / "kernel")
        # QEMU loads an unpacked kernel again on wake-up from S3, so the guest would reboot.
        machine.s3 = machine.kernel == kernel
    make_etc = partial(copy_etc, source=system.root / "etc")
    needed = modules if usr is None else None
    make_initramfs(machine.initramfs, needed, files, make_etc, usr, system.busybox)
    machine.kernel_arguments = [f"gidway.name={machine.name}", *machine.kernel_arguments]
    machine.shares = lent + machine.shares


class Guest:
    """A guest that ends with this process. `options` go to qemu.Machine.

    With `machine` it runs that machine, prepared by the caller.
    """

    def __init__(self, name: str, machine: Machine | None = None, **options: object) -> None:
        self._make_folders(name)
        if machine is None:
            try:
                options["accel"] = options.get("accel") or probe_accel()
                machine = Machine(name, **options)
                prepare(machine, self.work)
            except BaseException:
                shutil.rmtree(self.work)
                raise
        self.machine = machine
        agent = self.work / "agent.sock"
        machine.console = f"file:{self.work / 'console.log'}"
        machine.shares.append(Share("out", self.out, writable=True))
        machine.ports = [port for port in machine.ports if port.name != PORT]
        machine.ports.append(Port(PORT, agent, listens=True))
        self.agent = Agent(agent, self.describe)

    def _make_folders(self, name: str) -> None:
        self.work = Path(tempfile.mkdtemp(prefix=f"gidway-{name}-", dir=short_folder()))
        self.out = self.work / "out"
        self.out.mkdir()
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        try:
            self.boot()
        except BaseException:
            self.finish()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self.finish()

    def boot(self) -> None:
        """Starts the guest, and returns when its agent answers."""
        self.launch()
        self.wait_ready()

    def launch(self) -> None:
        """Starts QEMU without waiting for it."""
        self._start("qemu.log")

    def _start(self, log: str, **options: object) -> None:
        """Starts the machine's process; its own output goes to `log`. `options` go to Popen."""
        with (self.work / log).open("wb") as file:
            self.process = subprocess.Popen(
                ["timeout", "--kill-after=5", str(LIFE_SECONDS), *self.machine.arguments()],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                **options,
            )

    def wait_ready(self) -> None:
        """Waits until its agent answers."""
        end = time.monotonic() + BOOT_SECONDS
        self.agent.connect(end, lambda: self.process.poll() is None)
        self.agent.wait_ready(end - time.monotonic())

    def start(self, words: list[str], **options: object) -> Command:
        """Starts a command without waiting for it: see Agent.start()."""
        return self.agent.start(words, **options)

    def run(self, words: list[str], timeout: float = RUN_SECONDS, **options: object) -> Result:
        """Runs a command to its end."""
        return self.start(words, **options).wait(timeout)

    def read(self, path: Path, timeout: float = RUN_SECONDS) -> bytes | None:
        """The content of a file of the guest: see Agent.read()."""
        return self.agent.read(path, timeout)

    def kill(self) -> None:
        """Kills QEMU at once, like a crash of the machine."""
        if self.process is None or self.process.poll() is not None:
            return
        pid = self.process.pid
        # Only QEMU: its parent ends after it, and knows its CPU time.
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        for victim in map(int, children or [-pid]):
            with contextlib.suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
        self.process.wait()

    def finish(self) -> None:
        """Powers the guest off, or kills it if it does not end, and removes its files."""
        try:
            if self.agent.port is not None and self.process.poll() is None:
                self.agent.power_off()
                self.process.wait(GRACE_SECONDS)
        except (GuestError, subprocess.TimeoutExpired):
            pass  # it does not answer any more
        finally:
            self.kill()
            self.agent.close()
            shutil.rmtree(self.work, ignore_errors=True)

    def describe(self, what: str) -> str:
        """`what`, with the last lines of the guest's console and of its machine's own output."""
        text = f"guest {self.machine.name}: {what}"
        for name in ("console.log", "qemu.log", "uml.log"):
            path = self.work / name
            if path.exists() and (last := path.read_text(errors="replace").strip()):
                text += f"\n{name}: " + "\n".join(last.splitlines()[-10:])
        return text
