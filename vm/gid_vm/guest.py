# SPDX-License-Identifier: MIT
"""A guest on this machine's own programs: boots it, and ends it. Every wait is bounded.

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

# Bounds against waiting without an end: a translated guest on a busy machine takes long.
BOOT_SECONDS = 600.0
RUN_SECONDS = 240.0  # a command
REGISTRY = "gstreamer-registry.bin"
LIFE_SECONDS = 7200  # QEMU ends by itself then, whatever became of us

# Where programs are found, so that a command finds in the guest what it finds here.
PLACES = (
    "PATH",
    "LD_LIBRARY_PATH",
    "GST_PLUGIN_PATH",
    "GST_REGISTRY",
    "PYTHONPATH",
    "WESTON_MODULE_MAP",
)


# What makes an NVDIMM memory that programs can map.
DAX_MODULES = ("nfit", "nd_pmem", "dax_pmem", "device_dax")


def why_no_pages() -> str | None:
    """Why a guest that boots from here cannot have windows with pages, or None."""
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
    """What is in /run/guest of a guest: see prepare() for all but `mounts` and `system`."""
    variables = {name: os.environ[name] for name in PLACES if name in os.environ} | environment
    variables = {name: system.translate(value) for name, value in variables.items()}
    if folder is not None:
        variables["GIDWAY_FOLDER"] = str(folder)
    # What is known here of plugins for another architecture is wrong there.
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
    """Has the machine boot from this machine's programs, lent read-only over 9p: see root.py.

    One of another architecture has that one's programs: see system.py. Makes its initramfs in
    `work`, and for TCG its kernel, unpacked. With a configuration of the cockpit, the guest starts
    its domain's gidd by itself. `folder`: one that its user works in, lent as well, and where
    commands run. `usr`: a folder that it has as /usr in its own memory. It is lent nothing then:
    QEMU saves no machine that has mounted what it lends. `environment`: more of it for all programs
    of the guest.
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
        # QEMU writes one that is not packed anew as the machine is woken: it would start again.
        machine.s3 = machine.kernel == kernel
    make_etc = partial(copy_etc, source=system.root / "etc")
    needed = modules if usr is None else None
    make_initramfs(machine.initramfs, needed, files, make_etc, usr, system.busybox)
    machine.kernel_arguments = [f"gidway.name={machine.name}", *machine.kernel_arguments]
    machine.shares = lent + machine.shares


class Guest:
    """A guest that lives no longer than this process. `options` go to qemu.Machine.

    With `machine` it is that one, prepared by the caller.
    """

    def __init__(self, name: str, machine: Machine | None = None, **options: object) -> None:
        self._make_folders(name)
        if machine is None:
            options["accel"] = options.get("accel") or probe_accel()
            machine = Machine(name, **options)
            try:
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
        """Starts the guest and returns when its agent answers."""
        self.launch()
        self.wait_ready()

    def launch(self) -> None:
        """Starts QEMU, and waits for nothing."""
        self._start("qemu.log")

    def _start(self, log: str, **options: object) -> None:
        """Starts the machine's process; its own words go to `log`. `options` are Popen's."""
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
        """Until its agent answers."""
        end = time.monotonic() + BOOT_SECONDS
        self.agent.connect(end, lambda: self.process.poll() is None)
        self.agent.wait_ready(end - time.monotonic())

    def start(self, words: list[str], **options: object) -> Command:
        """Starts a command and does not wait for it: see Agent.start()."""
        return self.agent.start(words, **options)

    def run(self, words: list[str], timeout: float = RUN_SECONDS, **options: object) -> Result:
        """Runs a command to its end."""
        return self.start(words, **options).wait(timeout)

    def read(self, path: Path, timeout: float = RUN_SECONDS) -> bytes | None:
        """What is in a file of the guest: see Agent.read()."""
        return self.agent.read(path, timeout)

    def kill(self) -> None:
        """Ends QEMU at once, as a crash of the machine would."""
        if self.process is None or self.process.poll() is not None:
            return
        pid = self.process.pid
        # QEMU alone: its parent, which ends with it, then knows how much of the processors it used.
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        for victim in map(int, children or [-pid]):
            with contextlib.suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
        self.process.wait()

    def finish(self) -> None:
        """Powers the guest off, or kills it if it will not go, and removes its files."""
        try:
            if self.agent.port is not None and self.process.poll() is None:
                self.agent.power_off()
                self.process.wait(GRACE_SECONDS)
        except (GuestError, subprocess.TimeoutExpired):
            pass  # it is beyond being asked
        finally:
            self.kill()
            self.agent.close()
            shutil.rmtree(self.work, ignore_errors=True)

    def describe(self, what: str) -> str:
        """`what`, with the ends of the guest's console and of its machine's own words."""
        text = f"guest {self.machine.name}: {what}"
        for name in ("console.log", "qemu.log", "uml.log"):
            path = self.work / name
            if path.exists() and (last := path.read_text(errors="replace").strip()):
                text += f"\n{name}: " + "\n".join(last.splitlines()[-10:])
        return text
