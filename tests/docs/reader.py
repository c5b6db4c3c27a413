# SPDX-License-Identifier: MIT
"""Somebody who follows a document."""

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from documents import Document
from gid_vm.folder import memory_folder
from gid_vm.guest import why_not
from program import BUILD, devenv
from terminal import Terminal


class Reader:
    """Somebody who follows a document, in a folder of their own."""

    def __init__(
        self, developer: bool = True, before: Mapping[str, list[str]] | None = None
    ) -> None:
        """A `developer` is in the shell of ./run, and finds what was built.

        `before` has words that stand before the command of a terminal's shell.
        """
        self._before = before or {}
        # Guests see the build folder; a runtime folder's path must be short, for its sockets.
        self.folder = Path(tempfile.mkdtemp(prefix="a reader ", dir=BUILD))
        self.logs = Path(tempfile.mkdtemp(prefix="gid-", dir=memory_folder()))
        self.runtime = self.logs / "r"
        self.runtime.mkdir(mode=0o700)
        self.env = (devenv() if developer else dict(os.environ)) | {
            "GID_ANSWER_SECONDS": "30",
            "HOME": str(self.folder),
            "XDG_RUNTIME_DIR": str(self.runtime),
        }
        for name in ("GID_DOMAIN", "GID_RUNTIME_DIR", "GID_TIMELINE", "WAYLAND_DISPLAY"):
            self.env.pop(name, None)
        self.terminals: dict[str, Terminal] = {}

    def terminal(self, name: str) -> Terminal:
        if name not in self.terminals:
            self.terminals[name] = Terminal(
                name, self.folder, self.logs, self.env, self._before.get(name, [])
            )
        return self.terminals[name]

    def follow(
        self, document: Document, section: str = "", before_stop: Callable[[], None] | None = None
    ) -> None:
        """Does what all blocks say, or those of a section; `before_stop` comes before Ctrl-C."""
        for block in document.blocks:
            marks = block.marks
            if section not in ("", block.section):
                continue
            if marks.get("needs") == "guest" and why_not() is not None:
                continue
            if block.language == "stop":
                if before_stop is not None:
                    before_stop()
                for name in block.text.split(","):
                    self.terminal(name).interrupt()
            elif "file" in marks:
                (self.folder / marks["file"]).write_text(block.text)
            elif "until" in marks:
                at = self.terminal(marks["at"]) if "at" in marks else None
                self.terminal(marks["in"]).start(block.text, marks["until"], at)
            elif "in" in marks:
                self.terminal(marks["in"]).run(block.text)

    def close(self) -> None:
        if (self.runtime / "gidway").exists() and (self.folder / "cockpit.conf").exists():
            env = devenv() | self.env
            env |= {"PATH": devenv()["PATH"], "GID_RUNTIME_DIR": str(self.runtime / "gidway")}
            end = Terminal("end", self.folder, self.logs, env)
            end.run("gid-cockpit --config cockpit.conf down")
            end.close()
        for terminal in self.terminals.values():
            terminal.close()
        shutil.rmtree(self.folder)
        shutil.rmtree(self.logs)
