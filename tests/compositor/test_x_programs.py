# SPDX-License-Identifier: MIT
"""Programs of X on a desktop that has its clipboard in common with who uses it from elsewhere.

Xwayland and xclip are none of the tests' packages: they come by ./run shell --with.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from lib.clipboard import ClipboardPeer, frame
from lib.cockpit import Cockpit
from lib.program import PATIENCE, TOP, Program, wait_for
from lib.two_desks import desk_output
from lib.typist import Typist
from lib.weston import Weston

SHARED = ("clipboard/input/desk", "open", "clipboard/desk")
TEXTS = ["Grüße aus 地図", "the same again", "y" * 60_000]
SOCKETS = Path("/tmp/.X11-unix")
XCLIP = ["xclip", "-selection", "clipboard"]
TURNS = 5
LATE_S = 0.3


@dataclass
class Desk:
    """A desktop in `open`, and the other end of its clipboard."""

    weston: Weston
    peer: ClipboardPeer

    @property
    def environment(self) -> dict[str, str]:
        """Of programs of X."""
        found = re.search(r"xserver listening on display (:\d+)", self.weston.read_log())
        return self.weston.environment | {"DISPLAY": found[1]}

    @contextmanager
    def copied(self, text: str, late: float = 0) -> Iterator[Program]:
        """By a program that gives it until the end of the block, so many seconds after each who
        asks."""
        path = self.weston.folder / "text"
        path.write_text(text)
        command = [sys.executable, TOP / "tests/lib/x_program.py", path, str(late)]
        program = Program(command, self.environment, self.weston.folder)
        yield program
        program.kill()

    def pasted(self) -> str:
        command = [*XCLIP, "-out", "-target", "UTF8_STRING"]
        how = {"env": self.environment, "capture_output": True, "check": False}
        return subprocess.run(command, text=True, timeout=PATIENCE, **how).stdout


@pytest.fixture
def sockets() -> Iterator[None]:
    """Where servers of X listen: Weston 14 ends by a signal where there is no such folder."""
    is_ours = not SOCKETS.exists()
    SOCKETS.mkdir(exist_ok=True)
    yield
    with suppress(OSError):  # another one may listen there by now
        if is_ours:
            SOCKETS.rmdir()


@pytest.fixture
def desk(sockets: None, cockpit: Cockpit, tmp_path: Path) -> Iterator[Desk]:
    if missing := [name for name in ("Xwayland", "xclip") if shutil.which(name) is None]:
        pytest.skip(
            f"no {', '.join(missing)}: "
            "./run shell --with 'xwayland xclip' -- ./run test compositor/weston-x"
        )
    weston = Weston(tmp_path, cockpit.env("open"), options=["--xwayland"])
    weston.configure(desk_output("desk") + "clipboard=true\n")
    weston.start()
    with (
        Typist(cockpit.env("cluster"), "input/desk"),
        ClipboardPeer(cockpit.env("cluster"), *SHARED) as peer,
    ):
        weston.wait_log("clipboard/desk is taken")
        yield Desk(weston, peer)
    assert weston.stop() == 0, weston.read_log()


def test_what_is_copied(desk: Desk) -> None:
    """Each text crosses once, and whole."""
    for text in TEXTS * TURNS:
        with desk.copied(text):
            assert desk.peer.wait_text().decode() == text


def test_who_gives_it_late(desk: Desk) -> None:
    """Weston can have one text at a time of X's programs: nobody else asks until it has that, and
    can give it when the program is gone."""
    for text in TEXTS:
        with desk.copied(text, LATE_S):
            assert desk.peer.wait_text().decode() == text
        wait_for(lambda text=text: desk.pasted() == text, f"{text[:20]!r} of who has gone")


def test_what_is_pasted(desk: Desk) -> None:
    for text in TEXTS:
        desk.peer.send(frame(text.encode()))
        wait_for(lambda text=text: desk.pasted() == text, f"{text[:20]!r} in X")
