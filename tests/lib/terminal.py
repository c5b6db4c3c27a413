# SPDX-License-Identifier: MIT
"""Terminals, as a reader of the documents opens them: a shell in each, that knows it is in one."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from lib.program import wait_for

SECONDS = 300  # for a block: films are encoded, guests boot
ROWS, COLUMNS = 50, 400  # wide: a dumb terminal's shell shows no more of a line than fits

PROMPT = re.compile(r"[$#] $")
PROMPTED = re.compile(r"~\S*[$#] ")  # in a folder of the reader's home
# Said as a command fails, and behind the last one; what is typed does not look like it.
FAILED, END = r"\055--failed %s\n", r"\055--end %s\n"


class Terminal:
    """One with an interactive bash in it, that `before` stands in front of."""

    def __init__(
        self, name: str, folder: Path, env: Mapping[str, str], before: Sequence[str] = ()
    ) -> None:
        self.name, self._count, self._bytes = name, 0, b""
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", ROWS, COLUMNS, 0, 0))
        self._shell = subprocess.Popen(
            [*before, "setsid", "--ctty", "bash", "--norc", "-i"],
            # Without a pager, which gst-inspect-1.0 starts: there is nobody to press its keys.
            env=dict(env) | {"TERM": "dumb", "PS1": r"\w\$ ", "PAGER": "cat"},
            cwd=folder,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        self._until, self._end = os.pipe()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    @property
    def text(self) -> str:
        """All that was shown in it, without its colours."""
        text = self._bytes.decode(errors="replace").replace("\r", "")
        return re.sub(r"\x1b\[[0-9;]*m", "", text)

    def run(self, commands: str) -> None:
        """Pastes a block, which runs to its end. A command that fails is a failure of the block."""
        self._count += 1
        before = len(self.text)
        commands = commands.rstrip("\n") + "\n"
        self._paste(f"trap 'printf \"{FAILED}\" $?' ERR\n{commands}printf '{END}' {self._count}\n")
        ended = f"---end {self._count}\n"
        wait_for(lambda: self._shows(ended, before), lambda: self._said("its end"), SECONDS)
        shown = self.text[before:]
        assert "---failed" not in shown, self._said(f"a command failed:\n{commands}")

    def start(self, commands: str, until: str, at: "Terminal | None" = None) -> None:
        """Pastes a block whose last command goes on, until this was shown, here or `at` another."""
        at = at or self
        before, asleep = len(at.text), 0
        self._paste(commands)
        begin = time.monotonic()
        seen = ""

        def said() -> bool:
            nonlocal asleep, seen
            if re.search(until, at.text[before:]) is not None:
                return True
            text = self.text
            asleep = asleep + 1 if text == seen and PROMPT.search(text) else 0
            seen = text
            is_over = asleep > 20 and time.monotonic() - begin > 5
            assert not is_over, self._said(f"it ended:\n{commands}")
            return False

        wait_for(said, lambda: at._said(until), SECONDS, pause=0.1)

    def interrupt(self) -> None:
        """Ctrl-C, once, as the document says; the shell's prompt has to come back.

        Programs in the background may say something behind it.
        """
        before = len(self.text)
        os.write(self._ours, b"\x03")
        wait_for(
            lambda: PROMPTED.search(self.text[before:]), lambda: self._said("its prompt"), SECONDS
        )

    @property
    def session(self) -> int:
        """Of all that it shows."""
        return self._shell.pid

    def close(self) -> None:
        """As when its window is closed. Whoever still read there would keep it open."""
        os.close(self._end)
        self._listener.join()
        os.close(self._until)
        os.close(self._ours)
        try:
            self._shell.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self._shell.pid, signal.SIGKILL)
            self._shell.wait()

    def _listen(self) -> None:
        while self._until not in select.select([self._ours, self._until], [], [])[0]:
            try:
                self._bytes += os.read(self._ours, 65536)
            except OSError:  # it is closed, or nobody is in it any more
                return

    def _shows(self, what: str, before: int) -> bool:
        found = what in self.text[before:]
        assert found or self._shell.poll() is None, self._said("its shell ended")
        return found

    def _paste(self, text: str) -> None:
        data = text.encode()
        while data:
            data = data[os.write(self._ours, data) :]

    def _said(self, what: str) -> str:
        return f"terminal {self.name}: {what}\n{self.text}"
