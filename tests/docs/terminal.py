# SPDX-License-Identifier: MIT
"""Terminals, as a reader of the documents opens them: a shell with job control for each."""

import os
import re
import shlex
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from program import wait_for

SECONDS = 300  # for a block: films are encoded, guests boot


class Terminal:
    """A shell that reads what is typed from a pipe."""

    def __init__(
        self,
        name: str,
        folder: Path,
        logs: Path,
        env: Mapping[str, str],
        before: Sequence[str] = (),
    ) -> None:
        self.name, self._logs, self._count = name, logs, 0
        self._log_path = logs / f"terminal-{name}.log"
        with self._log_path.open("wb") as log:
            self._shell = subprocess.Popen(
                [*before, "bash", "--norc"],
                env=dict(env),
                cwd=folder,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                text=True,
            )
        self._write("set -m; trap : INT  # it does not follow a command that Ctrl-C ends")

    @property
    def text(self) -> str:
        """All that was written to it."""
        return self._log_path.read_text(errors="replace")

    def run(self, commands: str) -> None:
        """Runs a block to its end. A command that fails is a failure of the block."""
        ended = self._begin(commands)
        wait_for(lambda: self._has(ended), self._said("its end"), SECONDS)
        code = self.text.rpartition(ended)[2].split()[0]
        assert code == "0", self._said(f"a block ended with {code}:\n{commands}")

    def start(self, commands: str, until: str, at: "Terminal | None" = None) -> None:
        """Runs a block whose last command goes on, until this was written, here or `at` another."""
        at = at or self
        before = len(at.text)
        ended = self._begin(commands, "")

        def said() -> bool:
            assert not self._has(ended), self._said(f"it ended:\n{commands}")
            return re.search(until, at.text[before:]) is not None

        wait_for(said, at._said(until), SECONDS)

    def interrupt(self) -> None:
        """Ctrl-C."""
        for pid in self._processes():
            if pid != self._shell.pid:
                os.kill(pid, signal.SIGINT)
        shell = [self._shell.pid]
        wait_for(lambda: self._processes() == shell, self._said("nothing to run"), SECONDS)

    def close(self) -> None:
        """Ends all that still runs in it."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            for pid in self._processes():
                try:
                    os.kill(pid, number)
                except ProcessLookupError:
                    pass
            try:
                wait_for(lambda: not self._processes(), "its processes to end", 10)
            except AssertionError:
                continue
            break
        self._shell.stdin.close()
        self._shell.wait()

    def _processes(self) -> list[int]:
        """Of its session that are no zombies, the shell too."""
        self._shell.poll()
        found = []
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                state, _, _, session = stat.read_text().rpartition(")")[2].split()[:4]
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(session) == self._shell.pid and state != "Z":
                found.append(int(stat.parent.name))
        return found

    def _begin(self, commands: str, strictly: str = "set -e; ") -> str:
        """Has the shell run the block, and say a word at its end, which is returned."""
        self._count += 1
        script = self._logs / f"terminal-{self.name}-{self._count}.sh"
        script.write_text(commands)
        ended = f"--- end of block {self._count} of terminal {self.name}:"
        block = shlex.quote(str(script))
        self._write(f"{strictly}. {block} </dev/null; set +e; echo '{ended}' 0")
        return ended

    def _has(self, ended: str) -> bool:
        if ended not in self.text:
            assert self._shell.poll() is None, self._said("a command failed")
        return ended in self.text

    def _write(self, line: str) -> None:
        self._shell.stdin.write(line + "\n")
        self._shell.stdin.flush()

    def _said(self, what: str) -> str:
        return f"terminal {self.name}: {what}\n{self.text}"
