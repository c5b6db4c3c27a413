# SPDX-License-Identifier: MIT
"""Somebody who follows a document."""

import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gid_vm.folder import cache_home, memory_folder
from gid_vm.guest import why_not
from lib.documents import Document, read_document
from lib.program import BUILD, PATIENCE, TOP, wait_for
from lib.terminal import Terminal

PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games"  # of an ordinary user's login
# What somebody may have set who cannot do without: where packages come from, what is tested.
KEPT = ("GIDWAY_BUILD", "GIDWAY_SUITE", "NO_PROXY", "PIP_CONFIG_FILE", "no_proxy")


def login(home: Path, runtime: Path) -> dict[str, str]:
    """The environment of a new user, who has never been here, and has our private root."""
    inside = os.environ.get("GIDWAY_INSIDE", "")
    if inside.startswith("root-"):
        cache = cache_home() / "gidway"
        (home / ".cache/gidway").mkdir(parents=True)
        (home / ".cache/gidway" / inside).symlink_to(cache.resolve() / inside)
    (home / "gidway").symlink_to(TOP)
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return kept | {
        "HOME": str(home),
        "GIDWAY_BUILD": str(BUILD),
        "LANG": "C.UTF-8",
        "PATH": PATH,
        "SHELL": "/bin/bash",
        "XDG_RUNTIME_DIR": str(runtime),
    }


@dataclass(frozen=True)
class Picture:
    """What a document has a command take once it is to be seen, which who looks can tell: on a busy
    machine that may be later.
    """

    name: str
    terminal: str
    command: str
    is_right: Callable[[Path], bool]


class Reader:
    """An ordinary user with a new home, each of whose terminals is a ./run shell of its own."""

    def __init__(
        self,
        env: Mapping[str, str] | None = None,
        before: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """`env`: that of somebody who has all programs, and needs no such shell.

        `before` has words that stand before a terminal's shell.
        """
        self._before = before or {}
        self._has_programs = env is not None
        # Not below /dev, of which guests are lent nothing.
        self.home = Path(tempfile.mkdtemp(prefix="a reader ", dir="/var/tmp"))
        self.folder = self.home / "cockpit"
        # Its path must be short, for sockets.
        self.runtime = Path(tempfile.mkdtemp(prefix="gid-", dir=memory_folder()))
        mine = {"HOME": str(self.home), "XDG_RUNTIME_DIR": str(self.runtime)}
        self._env = login(self.home, self.runtime) if env is None else dict(env) | mine
        self._env["GID_ANSWER_SECONDS"] = "30"  # where all is slow
        for name in ("GID_DOMAIN", "GID_RUNTIME_DIR", "GID_TIMELINE", "WAYLAND_DISPLAY"):
            self._env.pop(name, None)
        self.terminals: dict[str, Terminal] = {}
        self._begin = ""

    def terminal(self, name: str) -> Terminal:
        """Open, and with what a document says that each terminal begins with."""
        if name not in self.terminals:
            self.folder.mkdir(exist_ok=True)
            folder = self.folder if self._has_programs else self.home
            terminal = Terminal(name, folder, self._env, self._before.get(name, ()))
            self.terminals[name] = terminal
            if not self._has_programs:
                terminal.run(self._begin or first_commands(read_document(TOP / "docs/tutorial.md")))
        return self.terminals[name]

    def follow(
        self,
        document: Document,
        section: str = "",
        before_stop: Callable[[], None] | None = None,
        pictures: Sequence[Picture] = (),
    ) -> None:
        """Does what all blocks say, or those of a section; `before_stop` comes before Ctrl-C.

        Of `pictures` the last that was taken is taken again before that, until it is right.
        """
        self._begin = first_commands(document)
        for block in document.blocks:
            marks = block.marks
            if section not in ("", block.section) or marks.get("in") == "each":
                continue
            if marks.get("needs") == "guest" and why_not() is not None:
                continue
            if block.language == "stop":
                self._take_again(pictures)
                if before_stop is not None:
                    before_stop()
                for name in block.text.split(","):
                    self.terminal(name).interrupt()
            elif "file" in marks:
                self.folder.mkdir(exist_ok=True)
                (self.folder / marks["file"]).write_text(block.text)
            elif "until" in marks:
                at = self.terminal(marks["at"]) if "at" in marks else None
                self.terminal(marks["in"]).start(block.text, marks["until"], at)
            elif "in" in marks:
                self.terminal(marks["in"]).run(block.text)

    def _take_again(self, pictures: Sequence[Picture]) -> None:
        for picture in [one for one in pictures if (self.folder / one.name).exists()][-1:]:

            def is_right(picture: Picture = picture) -> bool:
                if picture.is_right(self.folder / picture.name):
                    return True
                self.terminal(picture.terminal).run(picture.command)
                return False

            wait_for(is_right, f"{picture.name} to show what it is to")

    def left_behind(self) -> list[str]:
        """Programs that run on although no terminal shows them: a document ends what it starts."""
        try:
            wait_for(lambda: not self._hidden(), "what was asked to end")
        except AssertionError:
            pass
        return self._hidden()

    def _hidden(self) -> list[str]:
        shown = {terminal.session for terminal in self.terminals.values()}
        found = []
        for pid in self._processes():
            try:
                session = os.getsid(pid)
                words = Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
            except (FileNotFoundError, ProcessLookupError):
                continue
            if session not in shown and words:
                found.append(words)
        return found

    def close(self) -> None:
        for terminal in self.terminals.values():
            terminal.close()
        for number, seconds in ((signal.SIGTERM, 10), (signal.SIGKILL, PATIENCE)):
            for pid in self._processes():
                try:
                    os.kill(pid, number)
                except ProcessLookupError:
                    pass
            try:
                wait_for(lambda: not self._processes(), "its programs to end", seconds)
                break
            except AssertionError:
                pass
        shutil.rmtree(self.home)
        shutil.rmtree(self.runtime)

    def _processes(self) -> list[int]:
        """All that this user has started, whatever became of who started it."""
        mark = f"HOME={self.home}".encode()
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            try:
                if mark in path.read_bytes().split(b"\0"):
                    found.append(int(path.parent.name))
            except OSError:  # it has ended, or is another user's
                pass
        return found


def first_commands(document: Document) -> str:
    """What each terminal begins with, where the document says so."""
    return next((b.text for b in document.blocks if b.marks.get("in") == "each"), "")
