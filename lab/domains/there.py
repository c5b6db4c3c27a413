# SPDX-License-Identifier: MIT
"""A domain that is a guest: its programs run there, controlled through the guest's agent."""

import contextlib
import json
import os
import queue
import select
import signal
import time
from collections.abc import Sequence
from pathlib import Path

from gid_cockpit.configuration import CockpitError, read
from gid_cockpit.machine import Guest
from gid_vm.agent import Agent, Command, GuestError
from gid_vm.architecture import by_name
from gid_vm.guest import why_not
from gid_vm.monitor import Monitor, MonitorError
from gid_vm.system import OWN_SYSTEM, System, build_of

from lab.domains.place import TELL_PID, Place
from lab.domains.program import PATIENCE, LabError, Program, Wanting, wait_for

FOLDER = Path("/run/guest")
RUNTIME = Path("/run/gidway")

# Prints the answer of a Unix socket repeatedly, each time after the clock: starting a program for
# each answer takes a second in a guest without KVM.
_ASK = """
import socket, sys, time
while True:
    now, text = time.monotonic_ns(), "null"
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(sys.argv[1])
            text = connection.makefile().read()
        except OSError:
            pass
    print(now, text.replace(chr(10), " "), flush=True)
    time.sleep(0.25)
"""


class GuestProgram(Program):
    def __init__(self, name: str, place: "There", command: Command) -> None:
        self.name, self._place, self._command = name, place, command

    @property
    def pid(self) -> int:
        return int(self._place.run(["cat", str(_pid_file(self.name))]))

    def status(self) -> int | None:
        return self._command.code

    def printed(self) -> str:
        return self._command.out

    def said(self) -> str:
        return b"".join(self._command.texts.values()).decode(errors="replace")

    def signal(self, number: signal.Signals) -> None:
        if self.is_running():
            self._command.signal(number)

    def wait(self, patience: float) -> int:
        try:
            return self._command.wait(patience).code
        except GuestError as error:
            raise LabError(f"{self.name} in {self._place.domain}: {error}") from None


def _pid_file(name: str) -> Path:
    return FOLDER / f"{name}.pid"


class GuestDaemon(Program):
    """The guest's gidd, which its init starts and restarts."""

    name = "gidd"

    def __init__(self, place: "There") -> None:
        self._place = place

    @property
    def pid(self) -> int:
        return int(self._place.run(["pidof", "gidd"]))

    def status(self) -> int | None:
        return None if self._place.is_up() else -signal.SIGKILL

    def printed(self) -> str:
        return ""

    def said(self) -> str:
        return self._place.run(["tail", "-n20", "/var/log/gidd.log"])

    def signal(self, number: signal.Signals) -> None:
        self._place.run(["sh", "-c", f"kill -{int(number)} $(pidof gidd)"])

    def wait(self, patience: float) -> int:
        return 0  # its init has restarted it by now


class Listener:
    """Receives the lines of _ASK. `offset` converts the guest's clock to ours, in ns.

    Each line is delayed on its way: the smallest difference is the best estimate of the offset.
    """

    def __init__(self, patience: float) -> None:
        self.offset: int | None = None
        self._patience, self._part = patience, b""
        self._lines: queue.Queue[tuple[int, bytes]] = queue.Queue()

    def hear(self, kind: str, data: bytes) -> None:
        """Called by the agent's thread."""
        here = time.monotonic_ns()
        if kind != "out":
            return
        *lines, self._part = (self._part + data).split(b"\n")
        for line in lines:
            there, _, text = line.partition(b" ")
            offset = here - int(there)
            self.offset = offset if self.offset is None else min(self.offset, offset)
            self._lines.put((int(there), text))

    def next(self) -> dict | None:
        """An answer that was given now or later."""
        asked = time.monotonic_ns()
        try:
            while True:
                there, text = self._lines.get(timeout=self._patience)
                if there + self.offset >= asked:
                    with contextlib.suppress(ValueError):  # the server has just ended
                        return json.loads(text)
        except queue.Empty:
            raise LabError("a guest does not answer") from None


class There(Place):
    """A virtual machine. `core`: the CPU core that QEMU runs on; None: any. `devices`: more
    arguments for QEMU.

    signal_all() and kill() act on the whole machine.
    """

    pause = 0.3  # a poll may start a program in the guest

    def __init__(
        self,
        domain: str,
        configuration: Path,
        core: int | None = None,
        patience: float = PATIENCE,
        devices: Sequence[str] = (),
    ) -> None:
        if (reason := why_not()) is not None:
            raise Wanting(f"no guest can run here: {reason}")
        super().__init__(domain, FOLDER, RUNTIME, patience)
        # This machine's programs have scanned GStreamer's plugins already.
        self.environment["GST_REGISTRY_UPDATE"] = "no"
        self._core = core
        self._listeners: dict[Path, Listener] = {}
        try:
            cockpit = read(configuration)
            self.guest = Guest(cockpit, cockpit.by_name(domain), extra=devices)
        except CockpitError as error:
            raise LabError(str(error)) from None
        self.agent = self._new_agent()

    # --- the machine ---

    def up(self) -> None:
        self.boot()
        self.wait_ready()

    def boot(self) -> None:
        """Starts the machine; none of its programs run yet."""
        ours = os.sched_getaffinity(0)
        try:
            if self._core is not None:
                os.sched_setaffinity(0, {self._core})  # inherited by QEMU
            self.guest.start()
        except CockpitError as error:
            raise LabError(f"the guest {self.domain}: {error}") from None
        finally:
            os.sched_setaffinity(0, ours)
        self._programs, self._listeners = {}, {}
        self.agent = self._new_agent()

    def wait_ready(self) -> None:
        """Waits until its gidd accepts connections."""
        try:
            self.agent.connect(time.monotonic() + self.patience, self.is_up)
            self.agent.wait_ready(self.patience)
        except GuestError as error:
            raise LabError(f"the guest {self.domain}: {error}") from None
        self.run(["sh", "-c", f"until test -S {self.gidd_socket}; do sleep 0.1; done"])
        self._programs["gidd"] = GuestDaemon(self)

    def _new_agent(self) -> Agent:
        return Agent(self.guest.folder / "agent.sock", lambda text: f"{text}\n{self.guest.last()}")

    def is_up(self) -> bool:
        return self.guest.pid() is not None

    @property
    def qemu(self) -> int:
        """The process id of QEMU on this machine."""
        pid = self.guest.pid()
        if pid is None:
            raise LabError(f"the guest {self.domain} does not run")
        return pid

    def reset(self) -> None:
        """Presses the machine's reset button. As a guest of gid-cockpit, it is off then."""
        try:
            with Monitor(self.guest.monitor) as monitor:
                monitor.execute("system_reset")
        except MonitorError as error:
            raise LabError(f"the guest {self.domain}: {error}") from None
        self._wait_gone()

    def _wait_gone(self) -> None:
        wait_for(f"the end of the guest {self.domain}", lambda: not self.is_up(), self.patience)
        self.agent.close()

    def signal_all(self, number: signal.Signals) -> None:
        """Sends the signal to QEMU, which stops the guest's CPUs too."""
        with contextlib.suppress(ProcessLookupError):
            if (pid := self.guest.pid()) is not None:
                os.kill(pid, number)

    def kill(self) -> None:
        pid = self.guest.pid()
        with contextlib.suppress(ProcessLookupError):  # it has just ended
            if pid is not None:
                handle = os.pidfd_open(pid)
                try:
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
                    select.select([handle], [], [], self.patience)
                finally:
                    os.close(handle)
        self._wait_gone()

    def stop_all(self) -> None:
        """Stops the machine."""
        self.agent.close()
        self.guest.stop()
        self.forget()

    # --- its programs ---

    def launch(self, name: str, command: list[str], environment: dict[str, str]) -> GuestProgram:
        words = [*TELL_PID, str(_pid_file(name)), *command]
        try:
            return GuestProgram(name, self, self.agent.start(words, env=environment))
        except GuestError as error:
            raise LabError(f"{name} in {self.domain}: {error}") from None

    def pids(self) -> list[int]:
        programs = [one for one in self._programs.values() if isinstance(one, GuestProgram)]
        return [program.pid for program in programs if program.is_running()]

    def run(self, command: Sequence[str], stdin: bytes = b"", patience: float | None = None) -> str:
        words = list(command)
        try:
            started = self.agent.start(words, env=self.environment, stdin=stdin)
            result = started.wait(patience or self.patience)
        except GuestError as error:
            raise LabError(f"{words[0]} in {self.domain}: {error}") from None
        if result.code != 0:
            raise LabError(f"{' '.join(words)} in {self.domain}: {result.err.strip()}")
        return result.out

    def logs(self) -> dict[str, str]:
        texts = {}
        for name, program in self._programs.items() if self.is_up() else ():
            with contextlib.suppress(LabError):
                texts[name] = program.said()
        return texts

    # --- its files and sockets ---

    def put(self, file: Path) -> Path:
        return self.write(file.name, file.read_bytes())

    def translate(self, text: str) -> str:
        arch = by_name(self.guest.domain.machine.arch)
        system = OWN_SYSTEM if arch.is_own else System(build=build_of(arch))
        return system.translate(text)

    def write(self, name: str, content: bytes) -> Path:
        path = self.folder / name
        self.run(["dd", "status=none", f"of={path}"], content)
        return path

    def read(self, path: Path) -> bytes:
        try:
            return self.agent.read(path, self.patience) or b""
        except GuestError as error:
            raise LabError(f"{path} in {self.domain}: {error}") from None

    def ask(self, path: Path) -> dict | None:
        listener = self._listeners.get(path)
        if listener is None:
            listener = self._listeners[path] = Listener(self.patience)
            self.agent.start(["python3", "-I", "-S", "-c", _ASK, str(path)], hear=listener.hear)
        return listener.next()

    def to_here(self, time: int) -> int:
        offsets = [one.offset for one in self._listeners.values() if one.offset is not None]
        return time + min(offsets, default=0)

    @property
    def screen(self) -> Path | None:
        has_one = self.guest.domain.machine.display is not None
        return self.guest.folder / "screen.sock" if has_one else None

    def photograph(self, picture: Path) -> None:
        self.guest.screenshot(picture.absolute())
