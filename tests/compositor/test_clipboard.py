# SPDX-License-Identifier: MIT
"""A clipboard that a desktop, or one window, has in common with who uses it from another domain."""

import fcntl
import json
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from lib.clipboard import TEXT, TEXT_MAX, ClipboardPeer, ClipboardWindow, Program, frame
from lib.cockpit import Cockpit
from lib.input_window import bind_seat
from lib.program import BUILD, wait_for
from lib.two_desks import CONFIG, DESK_SIZE, SCREEN_SIZE, TwoDesks, desk_output
from lib.typist import Typist
from lib.weston import Weston

from lab.domains.wayland import Display

KEY_C, KEY_V = 46, 47
GIDCTL = BUILD / "tools/gidctl/gidctl"
RATE = 10  # texts a second
PATIENCE_S = 5  # until who does not give its text is not waited for
READERS = {"clipboard/desk": "cluster", "clipboard/input/desk": "open"}
NO_TEXT = "it sends what is no text"
UNUSED_S = 0.5  # that a window has the keyboard, and nobody presses a key
PAUSE_S = 1.0  # until one who sent what is no text is heard again
GREETING = "Grüße aus 地図\n\tzwei".encode()


class Copying(TwoDesks):
    """`here` is a program on the desk with the keyboard, `there` one on the screen without."""

    def __init__(self, cockpit: Cockpit, folder: Path, shares: bool = True) -> None:
        super().__init__(cockpit, folder, keys=("clipboard=true\n" if shares else "", ""))
        self.display = Display(self.screen.socket, self.screen.protocols)
        self.there = Program(self.display, bind_seat(self.display, "input/screen"))

    def begin(self) -> None:
        """A view that is used."""
        options = ("--domain=open", "--stream=desk", "--output=screen", "--input", "--clipboard")
        self.viewer = self.taken(self.start(*options))
        self.here_window = ClipboardWindow(self.desk.socket, "desk", DESK_SIZE)
        self.settle(self.here_window)
        self.here = self.here_window.program

    def finish(self) -> None:
        assert self.viewer.stop() == 0
        super().finish()

    def press(self) -> int:
        """A key, by which something is copied on the desk: its serial."""
        self.typist.type(KEY_C)
        keyboard = self.here_window.keyboard
        while True:
            serial, _, key, state = keyboard.wait("key")
            if (key, state) == (KEY_C, 0):
                return serial

    def turn(self) -> int:
        """A serial of the screen that is newer, without a key: it is told the size of a window that
        nobody sees."""
        surface = self.display.bind("wl_compositor")("create_surface")
        shell = self.display.bind("xdg_wm_base", 1)("get_xdg_surface", surface)
        window = shell("get_toplevel")
        surface("commit")
        (serial,) = shell.wait("configure")
        for each in (window, shell, surface):
            each("destroy")
        return serial

    def copy_there(self, text: bytes) -> None:
        """Until it is on the desk."""
        self.there.copy(text, self.turn())
        self.press()
        self.wait_here(text)

    def wait_here(self, text: bytes) -> None:
        """Until it is offered on the desk."""

        def is_there() -> bool:
            self.there.answer()
            self.here.answer()
            return self.here.has_text() and self.here.paste() == text

        wait_for(is_there, f"{text[:20]!r} on the desk")

    def wait_taken(self) -> None:
        """Until what was copied on the screen is not what counts there."""

        def is_taken() -> bool:
            self.here.answer()
            self.there.answer()
            return self.there.source.has("cancelled")

        wait_for(is_taken, "another text on the screen")

    def paste_there(self) -> bytes:
        """As a program does that gets the keyboard for it."""
        window = ClipboardWindow(self.screen.socket, "screen", SCREEN_SIZE)
        text = window.program.paste()
        window.display.close()
        self.settle(self.here_window)
        return text

    def counts(self) -> dict[str, int]:
        """Texts that crossed, each way."""
        return {stream: self.crossed(stream) for stream in READERS}

    def crossed(self, stream: str) -> int:
        """As gidctl top tells it."""
        reader = READERS[stream]
        told = subprocess.run(
            [GIDCTL, "--domain", reader, "--json", "top", "--once", "--interval", "0.1"],
            env=self.cockpit.env(reader),
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        found = [flow for flow in json.loads(told)["subscriptions"] if flow["stream"] == stream]
        return sum(flow["received"] for flow in found)


@pytest.fixture(scope="module")
def cockpit() -> Iterator[Cockpit]:
    made = Cockpit(CONFIG)
    made.start_all()
    yield made
    made.close()


@pytest.fixture(scope="module")
def desks(cockpit: Cockpit, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Copying]:
    made = Copying(cockpit, tmp_path_factory.mktemp("desks"))
    made.begin()
    made.viewer.wait_output("clipboard/input/desk is taken")
    made.desk.wait_log("clipboard/desk is taken")
    yield made
    made.finish()


@pytest.mark.parametrize("text", [GREETING, b"x" * TEXT_MAX], ids=["short", "longest"])
def test_there_and_back(desks: Copying, text: bytes) -> None:
    before = desks.counts()
    desks.copy_there(b"1" + text[1:])
    desks.here.copy(text, desks.press())
    desks.wait_taken()
    assert desks.paste_there() == text
    # each once: nothing comes back
    assert desks.counts() == {stream: count + 1 for stream, count in before.items()}


def test_a_program_that_keeps_texts(desks: Copying) -> None:
    """It copies whatever it is offered, as clipboard managers do: nothing comes back."""
    desks.copy_there(b"before it")
    mine = desks.there.copy(b"kept", desks.turn())
    desks.press()
    desks.wait_here(b"kept")
    before = desks.crossed("clipboard/desk")
    desks.here.copy(b"kept", desks.press())
    desks.here.wait(lambda: desks.here.asked > 1, "somebody to ask")  # Weston asks, too
    desks.press()
    assert desks.crossed("clipboard/desk") == before
    desks.there.answer()
    assert not mine.has("cancelled")


def test_only_while_it_is_used(desks: Copying) -> None:
    """What is copied on the desk is taken only while the window has the keyboard; what is copied on
    the screen is asked for when its user has pressed something in it since."""
    desks.copy_there(b"first")
    first = desks.there.source
    other = ClipboardWindow(desks.screen.socket, "screen", SCREEN_SIZE)
    before = desks.crossed("clipboard/desk")
    for text, count in ((b"theirs", 1), (b"also theirs", 2)):  # with it the first is dealt with
        desks.here.copy(text, desks.here.serial() + count)
        desks.here.wait(
            lambda count=count: desks.crossed("clipboard/desk") == before + count, "one more"
        )
    desks.there.answer()
    assert not first.has("cancelled")
    other.display.close()
    desks.there.copy(b"mine", desks.there.serial() + 1)
    time.sleep(UNUSED_S)
    desks.there.answer()
    assert desks.there.asked <= 1  # by Weston, which keeps texts of programs that end
    desks.settle(desks.here_window)
    desks.wait_here(b"mine")


def test_what_is_no_text(desks: Copying) -> None:
    """Pictures, for instance: nobody is asked for them."""
    desks.there.copy(b"\x89PNG", desks.turn(), "image/png")
    desks.press()
    before = desks.crossed("clipboard/input/desk")
    desks.copy_there(b"after it")
    assert desks.crossed("clipboard/input/desk") == before + 1


NO_UTF8 = "it is no UTF-8, or has control characters"
REFUSED = {
    "longer": (b"x" * (TEXT_MAX + 1), "it has more than 65536 bytes"),
    "zero": (b"a\0b", NO_UTF8),
    "half a letter": (GREETING[:3], NO_UTF8),
    "surrogate": (b"a\xed\xa0\x80", NO_UTF8),
    "escape": (b"\x1b[31mred", NO_UTF8),
}


@pytest.mark.parametrize(("text", "why"), REFUSED.values(), ids=REFUSED)
def test_texts_that_are_refused(desks: Copying, text: bytes, why: str) -> None:
    """By whoever would send them, who says so; and the next one crosses."""
    before = desks.counts()
    desks.copy_there(b"before it")

    def wait_said(said: Callable[[], str], count: int) -> None:
        def is_said() -> bool:
            desks.there.answer()
            desks.here.answer()
            return said().count(why) > count

        wait_for(is_said, f"that {why}")

    count = desks.viewer.stderr.count(why)
    desks.there.copy(text, desks.turn())
    desks.press()
    wait_said(lambda: desks.viewer.stderr, count)
    count = desks.desk.read_log().count(why)
    desks.here.copy(text, desks.press())
    wait_said(desks.desk.read_log, count)
    desks.copy_there(b"after it")
    before["clipboard/input/desk"] += 2
    assert desks.counts() == before


def endless(fd: int) -> None:
    def write() -> None:
        try:
            while True:
                os.write(fd, b"x" * 4096)
        except OSError:
            os.close(fd)

    threading.Thread(target=write, daemon=True).start()


KEPT: list[int] = []  # by who never writes


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (endless, "it has more than 65536 bytes"),
        (b"x" * (TEXT_MAX + 1), "it has more than 65536 bytes"),
        (b"no\xff", "it is no UTF-8, or has control characters"),
        (b"a\x00b", "it is no UTF-8, or has control characters"),
        (b"\x1b[201~reboot\n", "it is no UTF-8, or has control characters"),
        (KEPT.append, "its program did not give it in 5 s"),
    ],
    ids=["endless", "large", "no UTF-8", "NUL", "for terminals", "never"],
)
def test_programs_of_all_kinds(
    desks: Copying, text: bytes | Callable[[int], None], said: str
) -> None:
    """On either side: it is said, nobody waits, and the next text crosses."""
    log, output = desks.desk.read_log().count(said), desks.viewer.said().count(said)
    desks.here.copy(text, desks.press())
    desks.here.wait(lambda: desks.desk.read_log().count(said) > log, said)
    desks.there.copy(text, desks.turn())
    desks.press()
    desks.there.wait(lambda: desks.viewer.said().count(said) > output, said)
    desks.copy_there(b"after " + said.encode())


def test_who_closes_early(desks: Copying) -> None:
    desks.here.copy(os.close, desks.press())
    desks.here.wait(lambda: desks.here.asked > 1, "somebody to ask")
    desks.copy_there(b"after nothing")


def test_who_never_reads(desks: Copying) -> None:
    """As many as there are: the compositor goes on, and after a time there are others."""
    desks.copy_there(b"y" * TEXT_MAX)
    pipes = [os.pipe() for _ in range(40)]
    for _, writing in pipes:
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
        desks.here.offer("receive", TEXT, writing)
    desks.here.display.roundtrip()
    desks.press()  # the desk and the view live
    for _, writing in pipes:
        os.close(writing)
    deadline = time.monotonic() + 3 * PATIENCE_S
    while time.monotonic() < deadline and desks.here.paste() != b"y" * TEXT_MAX:
        time.sleep(0.2)
    assert desks.here.paste() == b"y" * TEXT_MAX
    for reading, _ in pipes:
        os.close(reading)


@pytest.fixture
def threesome() -> Iterator[Cockpit]:
    made = Cockpit(CONFIG)
    made.start_all()
    yield made
    made.close()


WRONG = [
    frame(b"magic", magic=1),
    frame(b"size", size=TEXT_MAX + 1),
    frame(b"", size=0),
    frame(b"no\xff"),
    frame(b"a\x00b"),
    frame(b"\x1b[31m"),
    frame(b"reserved", reserved=b"x"),
]


def test_a_viewer_that_floods(threesome: Cockpit, tmp_path: Path) -> None:
    """Of thousands a few are offered, and the last. What is no text is not heard, nor is what
    another domain sends."""
    weston = Weston(tmp_path, threesome.env("open"))
    weston.configure(desk_output("desk") + "clipboard=true\n")
    weston.start()
    typist = Typist(threesome.env("cluster"), "input/desk")
    program = ClipboardWindow(weston.socket, "desk", DESK_SIZE).program
    streams = ("clipboard/input/desk", "open", "clipboard/desk")
    with (
        ClipboardPeer(threesome.env("driver"), *streams, heard=False) as stranger,
        ClipboardPeer(threesome.env("cluster"), *streams) as peer,
    ):
        stranger.send(frame(b"a stranger's"))
        begun = time.monotonic()
        for number in range(2000):
            peer.send(frame(b"%d" % number))
        program.wait(lambda: program.has_text() and program.paste() == b"1999", "the last")
        offers = sum(name == "data_offer" for name, _ in program.device.events)
        assert 0 < offers <= (time.monotonic() - begun) * RATE + 2
        for wrong in WRONG:
            before = weston.read_log().count(NO_TEXT)
            peer.send(wrong)
            wait_for(lambda before=before: weston.read_log().count(NO_TEXT) > before, NO_TEXT)
            time.sleep(PAUSE_S)
        assert program.paste() == b"1999"
        peer.send(frame(GREETING))
        program.wait(lambda: program.paste() == GREETING, "what is right")
        program.copy(b"back", program.serial() + 1)
        program.wait(lambda: program.asked > 1, "somebody to ask")
        assert peer.wait_text() == b"back"
        assert stranger.came == []
    typist.stop()
    assert weston.stop() == 0


def test_a_desk_that_lies(threesome: Cockpit, tmp_path: Path) -> None:
    """Its texts come while the window is used, and nothing else that it sends."""
    desks = Copying(threesome, tmp_path, shares=False)
    desks.begin()
    desks.there.copy(b"mine", desks.turn())
    streams = ("clipboard/desk", "cluster", "clipboard/input/desk")
    with ClipboardPeer(threesome.env("open"), *streams) as desk:
        desks.press()
        desks.there.wait(lambda: desks.there.asked > 1, "the view to ask")
        assert desk.wait_text() == b"mine"
        for wrong in WRONG:
            before = desks.viewer.said().count(NO_TEXT)
            desk.send(wrong)
            wait_for(lambda before=before: desks.viewer.said().count(NO_TEXT) > before, NO_TEXT)
            time.sleep(PAUSE_S)
        assert not desks.there.source.has("cancelled")
        desk.send(frame(GREETING))
        desks.there.wait(lambda: desks.there.source.has("cancelled"), "what is right")
        assert desks.paste_there() == GREETING
    desks.finish()


def test_where_it_is_not_wanted(threesome: Cockpit, tmp_path: Path) -> None:
    """By the desk's configuration, or by the view."""
    desks = Copying(threesome, tmp_path, shares=False)
    desks.begin()
    mine = desks.there.copy(b"mine", desks.turn())
    desks.here.copy(b"theirs", desks.press())
    desks.settle(desks.here_window)
    desks.here.answer()
    desks.there.answer()
    assert not mine.has("cancelled") and not desks.here.source.has("cancelled")
    assert desks.there.asked <= 1 and desks.here.asked <= 1
    assert "is taken" not in desks.viewer.said().replace("input/desk is taken", "", 1)
    desks.finish()


def test_one_window(threesome: Cockpit, tmp_path: Path) -> None:
    """What is copied in it crosses, and what comes is for it."""
    weston = Weston(tmp_path, threesome.env("open"))
    weston.configure(
        "[gid-window]\nstream=window\napp-id=org.example\ninput=cluster\nclipboard=true\n"
    )
    weston.start()
    display = Display(weston.socket, weston.protocols)
    program = Program(display, bind_seat(display, "input/window"))
    streams = ("clipboard/input/window", "open", "clipboard/window")
    with ClipboardPeer(threesome.env("cluster"), *streams) as peer:
        program.copy(GREETING, program.serial())
        program.wait(lambda: program.asked > 1, "somebody to ask")
        assert peer.wait_text() == GREETING
        peer.send(frame(b"back"))
        program.wait(lambda: program.source.has("cancelled"), "another text")
    assert weston.stop() == 0
