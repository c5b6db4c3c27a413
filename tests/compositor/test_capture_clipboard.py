# SPDX-License-Identifier: MIT
"""gid-capture --clipboard: what is copied in sway or labwc, and who uses it from another domain."""

import fcntl
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from lib.clipboard import TEXT, TEXT_MAX, ClipboardPeer, ClipboardWindow, frame
from lib.clipboard import Program as CopyingProgram
from lib.cockpit import Cockpit
from lib.input_window import bind_seat
from lib.labwc import Labwc, why_no_labwc
from lib.program import BUILD, Program, wait_for
from lib.sway import Ordinary, Sway, why_no_sway
from lib.two_desks import CONFIG, SCREEN, SCREEN_SIZE, settle
from lib.typist import KEYBOARD, LEASE_MS, POINTER, Typist
from lib.weston import HEIGHT, WIDTH, Weston

from lab.domains.desktop import SIZE
from lab.domains.wayland import Display, protocol_files

KEY_C = 46
RATE = 10  # texts a second
PATIENCE_S = 5  # until who does not give its text is not waited for
PAUSE_S = 1.0  # until one who sent what is no text is heard again
NO_TEXT = "it sends what is no text"
GREETING = "Grüße aus 地図\n\tzwei".encode()
STREAMS = ("clipboard/input/desk", "open", "clipboard/desk")  # of who shows it
KINDS: dict[str, tuple[type[Ordinary], Callable[[], str | None], tuple[int, int]]] = {
    "sway": (Sway, why_no_sway, (WIDTH, HEIGHT)),
    "labwc": (Labwc, why_no_labwc, SIZE),
}


class Desk:
    """A desktop of `open`."""

    def __init__(self, cockpit: Cockpit, folder: Path, kind: str) -> None:
        make, why_not, self.size = KINDS[kind]
        if why := why_not():
            pytest.skip(why)
        self.cockpit = cockpit
        self.compositor = make(folder, cockpit.env("open"))
        self.programs: list[Program] = []

    def run(self, name: str, *options: str) -> Program:
        command = [BUILD / "clients" / name, "--stream=desk", *options]
        program = Program(command, self.compositor.environment, self.compositor.folder)
        self.programs.append(program)
        return program

    def capture(self, *options: str) -> Program:
        program = self.run("gid-capture", *options)
        streams = self.cockpit.status
        wait_for(
            lambda: any(s["name"] == "desk" for s in streams("open")["streams"]), "the stream desk"
        )
        return program

    def take_keys(self) -> Program:
        options = ("--domain=cluster", f"--output={self.compositor.output}")
        program = self.run("gid-input", *options)
        program.wait_output("waiting for input/desk")
        return program

    def open_window(self) -> ClipboardWindow:
        """One with the keyboard."""
        wait_for(lambda: self.seat_devices() == 3, "a pointer and a keyboard")
        return ClipboardWindow(
            self.compositor.socket,
            self.compositor.output,
            self.size,
            "seat0",
            ("keyboard", "pointer"),
        )

    def seat_devices(self) -> int:
        with Display(self.compositor.socket, protocol_files()) as display:
            return bind_seat(display, "seat0").wait("capabilities")[0]

    def finish(self) -> None:
        for program in self.programs:
            program.kill()
        self.compositor.stop()


def press(typist: Typist, window: ClipboardWindow) -> int:
    """A key, by which something is copied in that window: its serial."""
    typist.type(KEY_C)
    while True:
        serial, _, key, state = window.keyboard.wait("key")
        if (key, state) == (KEY_C, 0):
            return serial


class Copying(Desk):
    """`peer` has the other end of the clipboard, `here` is a program of the desktop."""

    def __init__(self, cockpit: Cockpit, folder: Path, kind: str) -> None:
        super().__init__(cockpit, folder, kind)
        self.capturer = self.capture("--clipboard=cluster")
        self.take_keys()
        self.typist = Typist(cockpit.env("cluster"), "input/desk", KEYBOARD | POINTER)
        self.window = self.open_window()
        self.here = self.window.program
        self.peer = ClipboardPeer(cockpit.env("cluster"), *STREAMS)
        self.capturer.wait_output("clipboard/desk is taken")

    def finish(self) -> None:
        self.peer.__exit__()
        self.typist.stop()
        super().finish()

    def press(self) -> int:
        return press(self.typist, self.window)

    def wait_here(self, text: bytes) -> None:
        """Until it is offered on the desktop."""
        self.here.wait(lambda: self.here.has_text() and self.here.paste() == text, repr(text[:20]))

    def give_here(self, text: bytes) -> None:
        self.peer.send(frame(text))
        self.wait_here(text)

    def take_away(self, text: bytes) -> None:
        """It is copied on the desktop, and comes to the other end."""
        self.here.copy(text, self.press())
        self.here.wait(lambda: self.here.asked > 0, "somebody to ask")
        assert self.peer.wait_text() == text


@pytest.fixture
def cockpit() -> Iterator[Cockpit]:
    made = Cockpit(CONFIG)
    made.start_all()
    yield made
    made.close()


@pytest.fixture(params=list(KINDS))
def desk(request: pytest.FixtureRequest, cockpit: Cockpit, tmp_path: Path) -> Iterator[Copying]:
    made = Copying(cockpit, tmp_path, request.param)
    yield made
    made.finish()


@pytest.mark.parametrize("text", [GREETING, b"x" * TEXT_MAX], ids=["short", "longest"])
def test_there_and_back(desk: Copying, text: bytes) -> None:
    desk.give_here(text)
    for number in range(3):
        desk.take_away(b"%d" % number + text[1:])
        desk.give_here(text)
    assert desk.peer.came == []  # what came is not sent back


def test_the_same_again(desk: Copying) -> None:
    """It may be another one's there meanwhile."""
    desk.take_away(b"again")
    desk.take_away(b"again")


def test_a_program_that_keeps_texts(desk: Copying) -> None:
    """It copies whatever it is offered, as clipboard managers do. Two of them, one at each end,
    would send a text there and back for good."""
    for text in (b"kept", b"kept, too"):
        desk.give_here(text)
        desk.here.copy(text, desk.press())
        desk.here.wait(lambda: desk.here.asked > 0, "somebody to ask")
    desk.take_away(b"after it")
    assert desk.peer.came == []


def test_what_is_no_text(desk: Copying) -> None:
    """Nobody is asked for pictures, and nothing crosses."""
    picture = desk.here.copy(b"\x89PNG", desk.press(), "image/png")
    desk.press()
    desk.take_away(b"after it")
    assert not picture.has("send")
    assert desk.peer.came == []


def test_what_was_copied_before(desk: Copying) -> None:
    """It is not the user's there, who has copied something else since."""
    desk.take_away(b"before")
    assert desk.capturer.stop() == 0
    capturer = desk.capture("--clipboard=cluster")
    capturer.wait_output("clipboard/desk is taken")
    desk.give_here(b"theirs")
    assert desk.here.asked == 1
    desk.take_away(b"after")
    assert desk.peer.came == []


def endless(fd: int) -> None:
    def write() -> None:
        try:
            while True:
                os.write(fd, b"x" * 4096)
        except OSError:
            os.close(fd)

    threading.Thread(target=write, daemon=True).start()


KEPT: list[int] = []  # by who never writes
BAD = "it is no UTF-8, or has control characters"
LARGE = "it has more than 65536 bytes"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (endless, LARGE),
        (b"x" * (TEXT_MAX + 1), LARGE),
        (b"no\xff", BAD),
        (b"a\x00b", BAD),
        (b"\x1b[201~reboot\n", BAD),
        (KEPT.append, "its program did not give it in 5 s"),
    ],
    ids=["endless", "large", "no UTF-8", "NUL", "for terminals", "never"],
)
def test_programs_of_all_kinds(
    desk: Copying, text: bytes | Callable[[int], None], said: str
) -> None:
    """It is said, nobody waits, and the next text crosses."""
    desk.here.copy(text, desk.press())
    desk.here.wait(lambda: said in desk.capturer.said(), said)
    desk.take_away(b"after it")
    assert desk.peer.came == []
    while KEPT:
        os.close(KEPT.pop())


def test_who_closes_early(desk: Copying) -> None:
    desk.here.copy(os.close, desk.press())
    desk.here.wait(lambda: desk.here.asked > 0, "somebody to ask")
    desk.take_away(b"after nothing")
    assert desk.peer.came == []


def test_who_never_reads(desk: Copying) -> None:
    """As many as there are: pictures and texts go on, and after a time there are others."""
    desk.give_here(b"y" * TEXT_MAX)
    pipes = [os.pipe() for _ in range(40)]
    for _, writing in pipes:
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
        desk.here.offer("receive", TEXT, writing)
    desk.here.display.roundtrip()
    for _, writing in pipes:
        os.close(writing)
    deadline = time.monotonic() + 3 * PATIENCE_S
    while time.monotonic() < deadline and desk.here.paste() != b"y" * TEXT_MAX:
        time.sleep(0.2)
    assert desk.here.paste() == b"y" * TEXT_MAX
    desk.take_away(b"it goes on")
    for reading, _ in pipes:
        os.close(reading)


WRONG = [
    frame(b"magic", magic=1),
    frame(b"size", size=TEXT_MAX + 1),
    frame(b"", size=0),
    frame(b"no\xff"),
    frame(b"a\x00b"),
    frame(b"\x1b[31m"),
    frame(b"reserved", reserved=b"x"),
]


def test_a_viewer_that_floods(desk: Copying) -> None:
    """Of thousands a few are offered, and the last. What is no text is not heard, nor is what
    another domain sends."""
    with ClipboardPeer(desk.cockpit.env("driver"), *STREAMS, heard=False) as stranger:
        stranger.send(frame(b"a stranger's"))
        begun = time.monotonic()
        for number in range(2000):
            desk.peer.send(frame(b"%d" % number))
        desk.wait_here(b"1999")
        offers = sum(name == "data_offer" for name, _ in desk.here.device.events)
        assert 0 < offers <= (time.monotonic() - begun) * RATE + 2
        for wrong in WRONG:
            before = desk.capturer.said().count(NO_TEXT)
            desk.peer.send(wrong)
            wait_for(lambda before=before: desk.capturer.said().count(NO_TEXT) > before, NO_TEXT)
            time.sleep(PAUSE_S)
        assert desk.here.paste() == b"1999"
        desk.give_here(GREETING)
        desk.take_away(b"back")
        assert stranger.came == []


def test_a_viewer_of_another_domain(cockpit: Cockpit, tmp_path: Path) -> None:
    """Nobody else is heard than the domain that is named."""
    desk = Desk(cockpit, tmp_path, "sway")
    capturer = desk.capture("--clipboard=driver")
    with ClipboardPeer(cockpit.env("cluster"), *STREAMS, heard=False) as peer:
        capturer.wait_output("clipboard/desk is taken")
        desk.take_keys()
        with Typist(cockpit.env("cluster"), "input/desk", KEYBOARD | POINTER) as typist:
            window = desk.open_window()
            peer.send(frame(b"not heard"))
            window.program.copy(GREETING, press(typist, window))
            window.program.wait(lambda: window.program.asked > 0, "somebody to ask")
            assert peer.wait_text() == GREETING  # the cockpit shares it
            window.program.answer()
            assert not window.program.source.has("cancelled")
    desk.finish()


def test_where_it_is_not_wanted(cockpit: Cockpit, tmp_path: Path) -> None:
    desk = Desk(cockpit, tmp_path, "sway")
    desk.capture()
    assert [s["name"] for s in cockpit.status("open")["streams"]] == ["desk"]
    desk.finish()


def test_a_compositor_without_the_protocol(cockpit: Cockpit, tmp_path: Path) -> None:
    weston = Weston(tmp_path, cockpit.env("open")).start()
    command = [BUILD / "clients/gid-capture", "--stream=desk", "--clipboard=cluster"]
    capturer = Program(command, weston.environment, tmp_path)
    assert capturer.wait() == 1
    assert "in Weston use clipboard=true of [gid-output]" in capturer.stderr
    assert weston.stop() == 0


@pytest.mark.parametrize("kind", KINDS)
def test_with_gid_view(cockpit: Cockpit, tmp_path: Path, kind: str) -> None:
    """The whole way: what is copied on the screen of `cluster` is pasted on the desktop that
    gid-view shows there, and the other way round."""
    desk = Desk(cockpit, tmp_path, kind)
    desk.capture("--clipboard=cluster")
    desk.take_keys()
    screen = Weston(tmp_path, cockpit.env("cluster"))
    screen.configure(SCREEN)
    screen.start()
    typist = Typist(cockpit.env("driver"), "input/screen")
    options = ("--domain=open", "--stream=desk", "--output=screen", "--input", "--clipboard")
    view = screen.client([BUILD / "clients/gid-view", *options, f"--lease={LEASE_MS}"])
    for stream in ("input/desk", "clipboard/input/desk"):
        view.wait_output(f"{stream} is taken")
    window = desk.open_window()
    here = window.program
    display = Display(screen.socket, screen.protocols)
    there = CopyingProgram(display, bind_seat(display, "input/screen"))

    there.copy(GREETING, there.serial())
    settle(typist, window)

    def came() -> bool:
        there.answer()
        here.answer()
        return here.has_text() and here.paste() == GREETING

    wait_for(came, "the text on the desktop")
    here.copy(b"back", press(typist, window))

    def went() -> bool:
        here.answer()
        there.answer()
        return there.source.has("cancelled")

    wait_for(went, "another text on the screen")
    pasting = ClipboardWindow(screen.socket, "screen", SCREEN_SIZE)
    assert pasting.program.paste() == b"back"
    typist.stop()
    assert screen.stop() == 0
    desk.finish()
