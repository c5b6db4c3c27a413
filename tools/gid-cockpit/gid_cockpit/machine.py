# SPDX-License-Identifier: MIT
"""The guest of one domain: what machine it is, whether it runs, its start and its end."""

import contextlib
import os
import pwd
import select
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from gid_vm.accel import probe_accel
from gid_vm.agent import PORT as AGENT_PORT
from gid_vm.agent import Agent, GuestError, Hear, show
from gid_vm.architecture import by_name
from gid_vm.guest import prepare, why_no_pages
from gid_vm.initramfs import CannotBoot
from gid_vm.monitor import Monitor, MonitorError
from gid_vm.qemu import Display, Machine, Port, Window
from gid_vm.root import lent_folders

from .access import KVM, READ, WRITE, check_place, give, identity, let_in, user_of
from .configuration import CockpitError, Configuration, Domain, MachineKeys, find_program
from .logs import Log, last_lines, log_folder, open_folder
from .process import START_SECONDS, check_ours, handle, listener, pass_signals_on
from .sandbox import dissolve, guest_share, put_into_share

LINK_PORT = "org.gidway.link"
POOL_VECTORS = 64  # GID_BELLS_POOL: of a doorbell device, for all who ring it together
POWER_OFF_SECONDS = 30.0
TRANSLATED_OFF_SECONDS = 60.0  # of a distribution, beside 15 processes at each processor: 37
# Its system listens to the button late in its boot, or minutes after it on a busy machine. Until
# then it is pressed in vain.
PRESS_SECONDS = 5.0
ASKED_SECONDS = 10.0  # for its agent to listen, which it does not while a command is run there
KILL_SECONDS = 5.0
ANSWER_SECONDS = 180.0  # it may still be about to boot
TELL_SECONDS = 3.0  # until who waits for that is told
FOREVER_SECONDS = 1e6
CONSOLE = "console.log"
LOGS = (CONSOLE, "qemu.log")
GIVEN = "gidway.conf"  # beside the logs: a copy of what the guest has


def show_for(agent: Agent) -> Hear:
    """Whoever read it may have ended: then so does the agent's command."""

    def hear(kind: str, data: bytes) -> None:
        try:
            show(kind, data)
        except OSError:
            stream = sys.stdout if kind == "out" else sys.stderr
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            for command in list(agent.commands.values()):
                command.signal(signal.SIGPIPE)

    return hear


def accel_of(keys: MachineKeys) -> str:
    """How its processor is made, `kvm` or `tcg`, which translates."""
    if keys.accel != "auto":
        return keys.accel
    return probe_accel() if by_name(keys.arch).is_own else "tcg"


def describe(configuration: Configuration, domain: Domain) -> Machine:
    """The machine of a guest, as the configuration has it. Makes nothing."""
    if domain.kind != "guest":
        raise CockpitError(f"domain {domain.name} is not a guest: it has no kind=guest")
    keys, runtime = domain.machine, configuration.runtime
    folder = runtime / domain.name
    arch = by_name(keys.arch)
    if keys.accel == "kvm" and not arch.is_own:
        raise CockpitError(f"domain {domain.name}: KVM runs no {arch.name} here: vm-accel=tcg does")
    if domain.window_kind == "dax" and not arch.is_pc:
        raise CockpitError(
            f"domain {domain.name}: a guest of {arch.name} has no NVDIMMs: no window-kind=dax"
        )
    machine = Machine(domain.name, accel_of(keys), keys.memory_mib, keys.cpus, arch=arch)
    machine.kernel, machine.initramfs = keys.kernel, keys.initrd
    machine.kernel_arguments = keys.append.split()
    machine.disks = list(keys.disks)
    machine.console = "stdio"  # where a file would grow without bound
    machine.monitor = folder / "monitor.sock"
    if keys.display is not None:
        machine.display = Display(*keys.display, vnc=folder / "screen.sock")
    machine.ports = [
        Port(LINK_PORT, runtime / "hub" / f"{domain.name}.sock", listens=False),
        Port(AGENT_PORT, folder / "agent.sock", listens=True),
    ]
    machine.windows = windows(configuration, domain)
    ringers = [
        name for name in domain.joined if has_doorbell(configuration, configuration.by_name(name))
    ]
    if ringers and has_doorbell(configuration, domain) and arch.is_pc:
        machine.doorbell = runtime / "bell" / f"{domain.name}.sock"
        machine.doorbell_vectors = len(ringers) * (1 + POOL_VECTORS // len(ringers))
    try:
        machine.devices = shlex.split(keys.options)
    except ValueError as error:
        raise CockpitError(f"vm-options= of domain {domain.name}: {error}") from None
    return machine


def windows(configuration: Configuration, domain: Domain) -> list[Window]:
    """Its own, and those of others that it is one of the readers of: gidd knows which."""
    words = [find_program("gidd"), "--windows", "--config", str(configuration.path)]
    environment = os.environ | {"GID_RUNTIME_DIR": str(configuration.runtime)}
    result = subprocess.run(words, capture_output=True, text=True, env=environment)
    if result.returncode != 0:
        raise CockpitError(result.stderr.strip() or f"{configuration.path}: gidd refuses it")
    found = []
    dax = window_kind(domain)[0] == "dax"
    for line in result.stdout.splitlines():
        name, number, size, kind, file, *readers = line.split()
        if domain.name in (name, *readers):
            owner = configuration.by_name(name)
            path = configuration.runtime / "window" / name / file
            pages = kind == "pages" and owner is domain and dax
            found.append(Window(path, int(size), owner is domain, owner.number, int(number), pages))
    return sorted(found, key=lambda window: (not window.writable, window.domain, window.number))


def window_kind(domain: Domain) -> tuple[str, str]:
    """How a guest's machine has its own windows, `ivshmem` or `dax`, and why so."""
    if domain.window_kind != "auto":
        return domain.window_kind, "as window-kind= says"
    if not by_name(domain.machine.arch).is_pc:
        return "ivshmem", "its machine has no NVDIMMs"
    if domain.machine.kernel is not None or domain.machine.disks:
        return "ivshmem", "its kernel is not this system's"
    why = why_no_pages()
    return ("ivshmem", why) if why is not None else ("dax", "QEMU and its kernel can")


def has_doorbell(configuration: Configuration, domain: Domain) -> bool:
    """As gidd sees it: one that can be rung by a device."""
    hub = configuration.hub
    has_device = domain.kind in ("host", "guest")
    return hub is not None and hub.doorbell and domain.doorbell and has_device


def make(configuration: Configuration, domain: Domain, work: Path | None) -> Machine:
    """The machine, with the files that it boots from made in the domain's folder.

    `work`: the folder that its commands run in, which it is lent.
    """
    machine = describe(configuration, domain)
    if machine.kernel is None and not machine.disks:
        check_lent(configuration.runtime, work)
        folder = configuration.runtime / domain.name
        folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        text = configuration.path.read_text(encoding="utf-8", errors="replace")
        prepare(machine, folder, text, folder=work, GID_RUNTIME_DIR="/run/gidway")
    return machine


def work_folder(runtime: Path, user: pwd.struct_passwd | None = None) -> Path | None:
    """The folder that we were started in, as far as it is for guests whose QEMU is `user`'s."""
    try:
        folder = Path.cwd()
    except FileNotFoundError:
        return None
    words = ["test", "-r", folder, "-a", "-x", folder]
    if user is not None and subprocess.run(words, cwd="/", **identity(user)).returncode != 0:
        return None  # QEMU would not start
    return None if folder.is_relative_to(runtime.resolve()) else folder


def check_lent(runtime: Path, work: Path | None) -> None:
    """A guest without a disk is lent folders of this machine: what others share is in none."""
    for folder in lent_folders(work):
        if runtime.resolve().is_relative_to(folder):
            raise CockpitError(
                f"runtime={runtime}: guests without vm-disk= can read all of {folder}, and so what "
                "other domains have there: choose another folder"
            )


class Guest:
    """`extra`: further arguments of QEMU."""

    def __init__(
        self, configuration: Configuration, domain: Domain, extra: Sequence[str] = ()
    ) -> None:
        self.extra = list(extra)
        self.configuration, self.domain = configuration, domain
        self.folder = configuration.runtime / domain.name
        self.monitor = self.folder / "monitor.sock"

    def pid(self) -> int | None:
        """QEMU's process, or None."""
        return listener(self.monitor, socket.SOCK_STREAM)

    # --- start ---

    def start(self, logs: bool = True) -> int:
        """Starts QEMU and returns its process. The guest is then still about to boot.

        Without `logs` it writes to our own output.
        """
        self._check_hub()
        check_place(self.configuration.runtime)
        name, user = self.domain.name, user_of(self.domain)
        try:
            work = work_folder(self.configuration.runtime, user)
            given = self.configuration.path.read_bytes()
            machine = make(self.configuration, self.domain, work)
            words = machine.arguments() + self.extra
        except CannotBoot as error:
            raise CockpitError(str(error)) from None
        # There QEMU listens. What it boots from was made anew in it.
        give(self.folder, user)
        if user is not None:
            self._let_in()
        kept = [Log(self.configuration, name, kind) for kind in LOGS] if logs else []
        with contextlib.ExitStack() as stack:
            pipes = [stack.enter_context(log).pipe for log in kept]
            process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=pipes[0] if pipes else None,
                stderr=pipes[1] if pipes else None,
                cwd="/",
                start_new_session=True,
                **identity(user, KVM if machine.accel == "kvm" else None),
            )
        share = guest_share(
            (machine.memory_mib << 20) + sum(window.size for window in machine.windows)
        )
        try:
            put_into_share(process.pid, name, share)
            self._await(process)
        except BaseException as error:
            process.kill()
            process.wait()
            if isinstance(error, TimeoutError):
                last = "".join(f"\n{line}" for log in reversed(kept) for line in log.last())
                raise CockpitError(f"QEMU of {name} does not start:{last}") from None
            raise
        self.note_given(given)
        return process.pid

    # --- the file as the guest has it ---

    def has_own_system(self) -> bool:
        """Which has its own copy of the file, too."""
        return bool(self.domain.machine.disks or self.domain.machine.kernel)

    def note_given(self, text: bytes) -> None:
        """What its gidd has read: the guest itself is not asked.

        A guest runs as well where that cannot be kept, as on a full disk.
        """
        if self.has_own_system():
            return
        with contextlib.ExitStack() as stack, contextlib.suppress(OSError):
            folder = open_folder(log_folder(self.configuration, self.domain.name))
            stack.callback(os.close, folder)
            try:
                file = os.open(GIVEN, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644, dir_fd=folder)
                with open(file, "wb") as copy:
                    copy.write(text)
            except OSError:
                os.unlink(GIVEN, dir_fd=folder)  # a part of it would count as an older file

    def is_outdated(self) -> bool:
        """Whether the file is newer than what the guest was given."""
        if self.has_own_system():
            return False
        try:
            given = (log_folder(self.configuration, self.domain.name) / GIVEN).read_bytes()
            return given != self.configuration.path.read_bytes()
        except OSError:
            return False  # or from where it cannot be seen

    def _let_in(self) -> None:
        """The guests' users, each to the windows of its own machine: those of others stay shut."""
        rights: dict[Path, dict[int, int]] = {}
        for domain in self.configuration.domains:
            user = user_of(domain) if domain.kind == "guest" else None
            for window in windows(self.configuration, domain) if user is not None else ():
                right = READ | WRITE if window.writable else READ
                rights.setdefault(window.path, {})[user.pw_uid] = right
        for path, users in rights.items():
            if path.exists():
                let_in(path, users)

    def _await(self, process: subprocess.Popen[bytes]) -> None:
        """Until QEMU can be asked. TimeoutError: it ended, or takes too long."""
        end = time.monotonic() + START_SECONDS
        while self.pid() != process.pid:
            if process.poll() is not None or time.monotonic() > end:
                raise TimeoutError
            time.sleep(0.05)

    def _check_hub(self) -> None:
        """QEMU would tell what is not there, but not why."""
        hub = self.configuration.hub
        if hub is None:
            return
        place = self.configuration.runtime / hub.name / "gidd.sock"
        if listener(place, socket.SOCK_SEQPACKET) is None:
            raise CockpitError(
                f"the gidd of {hub.name} does not run, which makes what its guests share: "
                + self.configuration.command(f"up {hub.name} {self.domain.name}")
            )

    def last(self) -> str:
        """The ends of what QEMU and the guest's console had to say."""
        folder = log_folder(self.configuration, self.domain.name)
        return "\n".join(line for name in reversed(LOGS) for line in last_lines(folder / name))

    # --- end ---

    def stop(self) -> bool:
        """Powers the guest off. False: none ran. One that does not go in time is killed."""
        pid = self.pid()
        if pid is None:
            return False
        try:
            with handle(pid, f"QEMU of {self.domain.name}") as descriptor:
                check_ours(pid, self.folder, f"QEMU of {self.domain.name}")
                if not self._powers_off(pid, descriptor):
                    for number in (signal.SIGTERM, signal.SIGKILL):
                        signal.pidfd_send_signal(descriptor, number)
                        if self._ends(descriptor, KILL_SECONDS):
                            break
        except ProcessLookupError:
            pass  # it has just ended
        dissolve(self.domain.name)
        return True

    def _powers_off(self, pid: int, descriptor: int) -> bool:
        """By its agent; a guest that has its own system by its power button. False: it is deaf."""
        try:
            if self.has_own_system():
                return self._hears_button(pid, descriptor)
            self._tell_agent(pid)
        except (OSError, GuestError):
            return False
        return self._ends(descriptor, POWER_OFF_SECONDS)

    def _hears_button(self, pid: int, descriptor: int) -> bool:
        translated = accel_of(self.domain.machine) == "tcg"
        end = time.monotonic() + (TRANSLATED_OFF_SECONDS if translated else POWER_OFF_SECONDS)
        while (left := end - time.monotonic()) > 0:
            try:
                with Monitor(self.monitor, pid) as monitor:
                    monitor.execute("system_powerdown")
            except MonitorError:
                return self._ends(descriptor, KILL_SECONDS)  # it is about to end
            if self._ends(descriptor, min(left, PRESS_SECONDS)):
                return True
        return False

    def _tell_agent(self, pid: int) -> None:
        agent = Agent(self.folder / "agent.sock", pid=pid)
        agent.connect(time.monotonic() + 1, lambda: True)
        try:
            agent.wait_ready(ASKED_SECONDS)
            agent.power_off()
        finally:
            agent.close()

    @staticmethod
    def _ends(descriptor: int, timeout: float) -> bool:
        return bool(select.select([descriptor], [], [], timeout)[0])

    # --- use ---

    def check_up(self) -> int:
        """QEMU's process, which runs."""
        name, pid = self.domain.name, self.pid()
        if pid is None:
            start = self.configuration.command(f"up {name}")
            raise CockpitError(f"the guest {name} does not run: {start} starts it")
        try:
            check_ours(pid, self.folder, f"QEMU of {name}")
        except ProcessLookupError:
            raise CockpitError(f"the guest {name} has just ended") from None
        return pid

    def screenshot(self, picture: Path) -> None:
        """What is on the guest's screen, as a PNG."""
        if self.domain.machine.display is None:
            raise CockpitError(
                f"{self.domain.name} has no screen: give it one, as vm-display=1280x720"
            )
        pid = self.check_up()
        try:
            with Monitor(self.monitor, pid) as monitor:
                monitor.screenshot(picture)
        except MonitorError as error:
            raise CockpitError(f"no picture of {self.domain.name}: {error}") from None

    def run(self, words: list[str], cwd: Path) -> int:
        """Runs a command in the guest, shows what it prints, and returns its exit status."""
        name, pid = self.domain.name, self.check_up()
        try:
            with handle(pid, f"QEMU of {name}") as descriptor:
                return self._run(Agent(self.folder / "agent.sock", pid=pid), descriptor, words, cwd)
        except ProcessLookupError:
            raise CockpitError(f"the guest {name} has just ended") from None

    def _wait_ready(self, agent: Agent) -> None:
        """Says that it waits, and for what."""
        words = (
            f"{self.domain.name} does not answer yet: it still boots, or another command runs "
            f"there. It takes one at a time; this one waits, for {ANSWER_SECONDS:.0f} s at most"
        )
        teller = threading.Timer(TELL_SECONDS, lambda: print(words, file=sys.stderr, flush=True))
        teller.daemon = True
        teller.start()
        try:
            agent.wait_ready(ANSWER_SECONDS)
        finally:
            teller.cancel()

    def _run(self, agent: Agent, descriptor: int, words: list[str], cwd: Path) -> int:
        """`descriptor`: of QEMU."""
        try:
            agent.connect(time.monotonic() + 1, lambda: True)
            self._wait_ready(agent)
            pass_on = pass_signals_on()
            command = agent.start(words, cwd=cwd, hear=show_for(agent))
            pass_on(command.signal)
            command.wait(FOREVER_SECONDS)
            if agent.is_lost:
                raise GuestError("its agent is gone")
            return command.code if command.code >= 0 else 128 - command.code
        except GuestError as error:
            if self._ends(descriptor, KILL_SECONDS):
                raise CockpitError(
                    f"the guest {self.domain.name} has ended, and what ran in it"
                ) from None
            raise CockpitError(
                f"{self.domain.name} does not answer: {error}. Is another command running there? "
                "It takes one at a time"
            ) from None
        finally:
            agent.close()
