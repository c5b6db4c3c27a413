# SPDX-License-Identifier: MIT
"""The processes of one measurement of bench/readers.py: none outlives it, nor does their memory."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.readers_ways import STREAM, WAYS, Place, free_port, preload, python_path
from lab.domains.program import LabError, wait_for

PROGRAM = Path(__file__).with_name("readers.py")
PATIENCE = 40.0  # seconds: all of them start in less, and have their first pictures


class Process:
    """One that was started, and the lines that it has printed so far."""

    def __init__(self, words: list[str], output: Path, environment: dict[str, str]) -> None:
        self._output = output
        with output.open("wb") as file:
            self.popen = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=file, env=os.environ | environment
            )

    def lines(self) -> list[str]:
        return self._output.read_text().rpartition("\n")[0].splitlines()

    def has_ended(self) -> bool:
        return self.popen.poll() is not None

    def begin(self) -> None:
        """What it waits for."""
        assert self.popen.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.popen.stdin.write(b"\n")
            self.popen.stdin.flush()

    def shared_files(self) -> set[str]:
        """Named memory that it has now, which a killed process leaves behind."""
        found = set()
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{self.popen.pid}/maps").read_text().splitlines():
                _, slash, name = line.partition("/dev/shm/")
                if slash and not name.endswith(" (deleted)"):
                    found.add(slash + name)
        return found


class Crew:
    def __init__(self, way: str, place: Place) -> None:
        self.way, self.place = way, place
        self._preload = preload(way, place)
        self._count = 0
        self._running: list[Process] = []
        self._left: set[str] = set()

    def start(self, role: str, *words: int) -> Process:
        """This program in one of its roles."""
        command = [sys.executable, str(PROGRAM), "--role", role, self.way, self.place.text()]
        return self._start(role, [*command, *map(str, words)])

    def reader(self, number: int, frames: int, seconds: int) -> Process:
        """One that is measured."""
        program = WAYS[self.way].program
        if program:
            words = [program, "cluster", "open", STREAM, str(frames), str(seconds)]
            return self._start("read", words)
        return self.start("read", number, frames, seconds)

    def _start(self, role: str, words: list[str]) -> Process:
        self._count += 1
        output = Path(self.place.file(f"{role}-{self._count}.out"))
        environment = {"PYTHONPATH": python_path(WAYS[self.way].packages)}
        environment |= self._preload.env if self._preload else {}
        self._running.append(Process(words, output, environment))
        return self._running[-1]

    def wait(
        self,
        what: str,
        processes: list[Process],
        holds: Callable[[Process], object],
        patience: float = PATIENCE,
    ) -> None:
        """Until it holds of each. None may end before that, nor any other."""

        def all_hold() -> bool:
            ended = [process for process in self._running if process.has_ended()]
            done = {process for process in processes if holds(process)}  # after those that ended
            for process in ended:
                if process not in done:
                    status = process.popen.returncode
                    raise LabError(f"{self.way}: a process ended, status {status}, before {what}")
            return len(done) == len(processes)

        wait_for(f"{self.way}: {what}", all_hold, patience)

    def kill(self, *processes: Process) -> None:
        """All at once, as by `kill -9`."""
        for process in processes:
            self._left |= process.shared_files()
            process.popen.send_signal(signal.SIGKILL)
        for process in processes:
            process.popen.wait()
            self._running.remove(process)

    def close(self) -> None:
        self.kill(*self._running)
        named = Path("/dev/shm").glob(f"{Path(self.place.folder).name}*")  # after the folder
        for path in {*map(Path, self._left), *named}:
            path.unlink(missing_ok=True)


@contextlib.contextmanager
def crew(way: str, folder: Path, size: tuple[int, int], rate: int, readers: int) -> Iterator[Crew]:
    """With a folder that nothing else has had, in which nothing stays."""
    files = Path(tempfile.mkdtemp(prefix="gid-", dir=folder))
    made = Crew(way, Place(str(files), *size, rate, readers, free_port()))
    try:
        yield made
    finally:
        made.close()
        shutil.rmtree(files)
