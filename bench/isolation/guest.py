# SPDX-License-Identifier: MIT
"""The domain `open` as a guest: its programs run there, and look as those of a local domain do."""

import contextlib
import os
import signal
import sys
import time
from pathlib import Path, PurePosixPath

from common import TOP, BenchError, Wanting
from domains import Open
from processes import PATIENCE, Processes, wait_for

sys.path += [str(TOP / "vm"), str(TOP / "tools" / "cockpit")]

from gid_cockpit.configuration import CockpitError, read  # noqa: E402
from gid_cockpit.machine import Guest  # noqa: E402
from gid_vm.agent import Agent, Command, GuestError, Result  # noqa: E402
from gid_vm.guest import why_not  # noqa: E402
from gid_vm.monitor import Monitor, MonitorError  # noqa: E402

# Of a measurement: without KVM a hostile program has hardly begun after five.
GUEST_SECONDS = 20.0

_RUNTIME = PurePosixPath("/run/gidway")
_FOLDER = PurePosixPath("/run/guest")
# Tells which process a program there is, which the agent does not.
_WRAPPED = ["sh", "-c", 'echo $$ >"$0" && exec "$@"']


class Machine:
    """QEMU on its core, and the connection to the guest's agent."""

    def __init__(self, configuration: Path, domain: str, core: int) -> None:
        if (reason := why_not()) is not None:
            raise Wanting(f"no guest can run here: {reason}")
        self._configuration, self._domain, self._core = configuration, domain, core
        self._guest: Guest | None = None
        self._agent: Agent | None = None

    def boot(self) -> None:
        """Returns when its gidd can be connected to."""
        ours = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {self._core})  # which QEMU inherits
        try:
            configuration = read(self._configuration)
            self._guest = Guest(configuration, configuration.by_name(self._domain))
            self._guest.start()
            self._agent = Agent(self._guest.folder / "agent.sock")
            self._agent.connect(time.monotonic() + PATIENCE, self.is_running)
            self._agent.wait_ready(PATIENCE)
        except (CockpitError, GuestError) as error:
            raise BenchError(f"the guest {self._domain}: {error}") from None
        finally:
            os.sched_setaffinity(0, ours)
        self.run(
            ["sh", "-c", f"until test -S {_RUNTIME}/{self._domain}/gidd.sock; do sleep 0.1; done"]
        )

    def start(self, words: list[str], environment: dict[str, str]) -> Command:
        try:
            return self._agent.start(words, env=environment)
        except GuestError as error:
            raise BenchError(f"{words[0]} in {self._domain}: {error}") from None

    def run(self, words: list[str], stdin: bytes = b"", patience: float = PATIENCE) -> Result:
        try:
            result = self._agent.start(words, stdin=stdin).wait(patience)
        except GuestError as error:
            raise BenchError(f"{words[0]} in {self._domain}: {error}") from None
        if result.code != 0:
            raise BenchError(f"{' '.join(words)} in {self._domain}: {result.err.strip()}")
        return result

    def is_running(self) -> bool:
        return self._guest is not None and self._guest.pid() is not None

    @property
    def pid(self) -> int:
        """QEMU's."""
        pid = self._guest.pid() if self._guest is not None else None
        if pid is None:
            raise BenchError(f"the guest {self._domain} does not run")
        return pid

    def signal(self, number: signal.Signals) -> None:
        """To QEMU, as it does not to its guest's programs."""
        pid = self._guest.pid() if self._guest is not None else None
        if pid is not None:
            os.kill(pid, number)

    def reset(self) -> None:
        """As the button of the machine does. It is off then, as all guests of gid-cockpit are."""
        try:
            with Monitor(self._guest.monitor) as monitor:
                monitor.execute("system_reset")
        except MonitorError as error:
            raise BenchError(f"the guest {self._domain}: {error}") from None
        self._gone()

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        self._gone()

    def _gone(self) -> None:
        wait_for(f"the end of the guest {self._domain}", lambda: not self.is_running())
        if self._agent is not None:
            self._agent.close()


class GuestProcess:
    """What processes.Process is, in a guest."""

    def __init__(self, name: str, machine: Machine, words: list[str], environment: dict[str, str]):
        self.name, self._machine = name, machine
        self._pid_file = _FOLDER / f"{name}.pid"
        command = [*_WRAPPED, str(self._pid_file), *words]
        self._command = machine.start(command, environment)

    @property
    def pid(self) -> int:
        return int(self._machine.run(["cat", str(self._pid_file)]).out)

    @property
    def returncode(self) -> int | None:
        return self._command.code

    def is_running(self) -> bool:
        return self._command.code is None

    def said(self) -> str:
        return bytes(self._command.texts["err"]).decode(errors="replace")

    def signal(self, number: signal.Signals) -> None:
        if self.is_running():
            self._command.signal(number)

    def output(self, patience: float) -> str:
        try:
            return self._command.wait(patience).out
        except GuestError as error:
            raise BenchError(str(error)) from None

    def stop(self) -> str:
        self.signal(signal.SIGTERM)
        return self.output(PATIENCE)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        self.output(PATIENCE)


class GuestDaemon:
    """The guest's gidd, which its init starts, and starts again."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def is_running(self) -> bool:
        return self._machine.is_running()

    def signal(self, number: signal.Signals) -> None:
        self._machine.run(["sh", "-c", f"kill -{int(number)} $(pidof gidd)"])

    def kill(self) -> None:
        self.signal(signal.SIGKILL)


class GuestProcesses(Processes):
    """Those of a guest. What befalls all of them befalls the machine."""

    def __init__(self, domain: str, machine: Machine) -> None:
        self.domain, self.machine = domain, machine
        self._environment = {
            "GID_DOMAIN": domain,
            "GID_RUNTIME_DIR": str(_RUNTIME),
            "XDG_RUNTIME_DIR": str(_FOLDER),
            "WAYLAND_DISPLAY": f"{domain}.wayland",
            # Looked at by this machine's programs already.
            "GST_REGISTRY_UPDATE": "no",
        }
        self._running = {}

    def start(self, name: str, *command: str) -> GuestProcess:
        process = GuestProcess(name, self.machine, list(command), self._environment)
        self._running[name] = process
        return process

    def start_gidd(self, configuration: Path) -> None:
        """With the machine, in which nothing runs then."""
        self.machine.boot()
        self._running = {"gidd": GuestDaemon(self.machine)}

    def far_logs(self) -> dict[str, str]:
        if not self.machine.is_running():
            return {}
        programs = [one for one in self._running.values() if isinstance(one, GuestProcess)]
        texts = {f"{self.domain}-{program.name}": program.said() for program in programs}
        with contextlib.suppress(BenchError):
            gidd = self.machine.run(["tail", "-n20", "/var/log/gidd.log"])
            texts[f"{self.domain}-gidd"] = gidd.out
        return texts

    def pids(self) -> list[int]:
        programs = [one for one in self._running.values() if isinstance(one, GuestProcess)]
        return [process.pid for process in programs if process.is_running()]

    def signal_all(self, number: signal.Signals) -> None:
        self.machine.signal(number)

    def kill_all(self) -> None:
        self.machine.kill()


class GuestMemory:
    """What a leak in a guest ends at, as limit.Limit."""

    kind = "the guest's memory"

    def command(self, *command: str) -> list[str]:
        return list(command)

    def close(self) -> None:
        pass


class GuestOpen(Open):
    """`open` in a machine of its own. Translated, it has less to show."""

    film = "video/x-raw,format=BGRx,width=320,height=180,framerate=10/1"

    def __init__(self, folder: Path, configuration: Path, core: int) -> None:
        super().__init__(folder, configuration, core)
        self.machine = Machine(configuration, self.name, core)
        self.processes = GuestProcesses(self.name, self.machine)

    @property
    def gidd_socket(self) -> PurePosixPath:
        return _RUNTIME / self.name / "gidd.sock"

    @property
    def wayland_socket(self) -> PurePosixPath:
        return _FOLDER / f"{self.name}.wayland"

    def limit(self) -> GuestMemory:
        return GuestMemory()

    def write(self, name: str, text: str) -> PurePosixPath:
        path = _FOLDER / name
        self.machine.run(["dd", "status=none", f"of={path}"], text.encode())
        return path
