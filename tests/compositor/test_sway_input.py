# SPDX-License-Identifier: MIT
"""gid-input: a real sway takes the keys and the pointer of another domain."""

import ctypes
import socket
import struct
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from lib.cockpit import Cockpit
from lib.input_window import FIXED, InputWindow, bind_seat
from lib.program import BUILD, Program, wait_for
from lib.sway import Sway, why_no_sway
from lib.typist import AXIS, BUTTON, KEY, KEYBOARD, POINTER, RELATIVE, Typist
from lib.weston import HEIGHT, WIDTH, Weston, bind_output

from lab.domains.wayland import Display, protocol_files

KEY_A, KEY_Q, KEY_SHIFT, KEY_CAPS_LOCK = 30, 16, 42, 58
BTN_LEFT, BTN_RIGHT = 0x110, 0x111
SHIFT, LOCK = 1, 2  # of the modifiers
LARGEST = (1600, 1000)  # that the output can have
RESIZE = ("--output=HEADLESS-1", "--resize=1600x1000")
INTERVAL_S = 0.2  # between two sizes


class Desk:
    """A sway in `open`, which is used from `cluster`."""

    def __init__(self, cockpit: Cockpit, folder: Path) -> None:
        self.cockpit = cockpit
        self.sway = Sway(folder, cockpit.env("open"))
        self.programs: list[Program] = []

    def take(self, *options: str, stream: str = "desk") -> Program:
        command = [BUILD / "clients/gid-input", "--domain=cluster", f"--stream={stream}", *options]
        program = Program(command, self.sway.environment, self.sway.folder)
        self.programs.append(program)
        program.wait_output(f"waiting for input/{stream}")
        return program

    def typist(self, stream: str = "desk") -> Typist:
        return Typist(self.cockpit.env("cluster"), f"input/{stream}", KEYBOARD | POINTER)

    def window(self, size: tuple[int, int] = (WIDTH, HEIGHT)) -> InputWindow:
        wait_for(lambda: self.seat_devices() == 3, "a pointer and a keyboard")
        devices = ("keyboard", "pointer")
        return InputWindow(self.sway.socket, "HEADLESS-1", size, "seat0", devices)

    def wait_size(self, size: tuple[int, int]) -> None:
        """Of what the output shows, as it is seen."""
        wait_for(lambda: size_of(self.sway.outputs()["HEADLESS-1"]) == size, f"{size}")

    def seat_devices(self) -> int:
        with Display(self.sway.socket, protocol_files()) as display:
            return bind_seat(display, "seat0").wait("capabilities")[0]


def size_of(output: dict) -> tuple[int, int]:
    return output["rect"]["width"], output["rect"]["height"]


@pytest.fixture
def desk(cockpit: Cockpit, tmp_path: Path) -> Iterator[Desk]:
    if why := why_no_sway():
        pytest.skip(why)
    made = Desk(cockpit, tmp_path)
    yield made
    for program in made.programs:
        program.kill()
    made.sway.stop()


def test_keys_and_pointer(desk: Desk) -> None:
    taker = desk.take("--output=HEADLESS-1")
    with desk.typist() as typist:
        window = desk.window()
        typist.press(KEY_SHIFT)
        typist.type(KEY_A)
        assert window.wait_keys(3) == [(KEY_SHIFT, 1), (KEY_A, 1), (KEY_A, 0)]
        window.display.wait_until(
            lambda: any(n == "modifiers" and a[1] == SHIFT for n, a in window.keyboard.events),
            "the shift as a modifier",
        )
        typist.lift(KEY_SHIFT)
        typist.point(0.25, 0.5)
        window.wait_place(WIDTH / 4, HEIGHT / 2)
        typist.do((RELATIVE, 0, 0, 10 * FIXED, 20 * FIXED, 10 * FIXED, 20 * FIXED))
        window.wait_place(WIDTH / 4 + 10, HEIGHT / 2 + 20)
        typist.click()
        assert window.wait_button() == (BTN_LEFT, 1)
        assert window.wait_button() == (BTN_LEFT, 0)
        typist.do((AXIS, 0, 1, 15 * FIXED, 120))
        assert window.pointer.wait("axis_discrete") == (0, 1)
    assert taker.stop() == 0


TURNS = ["90", "180", "270", "flipped", "flipped-90", "flipped-180", "flipped-270"]


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("options", [[], ["--output=HEADLESS-1"]], ids=["all", "one"])
def test_an_output_that_is_turned(desk: Desk, turn: str, options: list[str]) -> None:
    """A place on the picture, which is upright, is the same on the output; also if that is turned
    while it is used."""
    desk.take(*options)
    with desk.typist() as typist:
        desk.window().display.close()
        desk.sway.set_output(f"transform {turn}")
        size = (HEIGHT, WIDTH) if "90" in turn or "270" in turn else (WIDTH, HEIGHT)
        window = InputWindow(desk.sway.socket, "HEADLESS-1", size, "seat0", ("keyboard", "pointer"))
        typist.point(0.5, 0.5)
        typist.point(0.25, 0.125)
        window.wait_place(size[0] / 4, size[1] / 8)


def test_an_output_that_goes(desk: Desk) -> None:
    """The pointer does nothing elsewhere until it is back, also where its windows are meanwhile;
    and then nothing is pressed."""
    taker = desk.take("--output=HEADLESS-1")
    desk.sway.tell("create_output")
    with desk.typist() as typist:
        window = desk.window()
        typist.point(0.5, 0.5)
        window.wait_place(WIDTH / 2, HEIGHT / 2)
        typist.do((BUTTON, BTN_LEFT, 1))
        assert window.wait_button() == (BTN_LEFT, 1)
        desk.sway.set_output("disable")
        taker.wait_output("the output HEADLESS-1 is gone")
        typist.point(0.5, 0.5)
        typist.do((BUTTON, BTN_LEFT, 0))
        typist.click()
        typist.type(KEY_A)
        assert window.wait_keys(2) == [(KEY_A, 1), (KEY_A, 0)]
        pressed = [args[3] for name, args in window.pointer.events if name == "button"]
        assert 1 not in pressed
        desk.sway.set_output("enable transform 90")
        taker.wait_output("the output HEADLESS-1 is back")
        window.display.close()
        there = (desk.sway.socket, "HEADLESS-1", (HEIGHT, WIDTH), "seat0")
        window = InputWindow(*there, ("keyboard", "pointer"), focused=False)
        typist.point(0.5, 0.5)
        typist.point(0.25, 0.125)
        window.wait_place(HEIGHT / 4, WIDTH / 8)
        assert not window.pointer.has("button")
        typist.click()
        assert window.wait_button() == (BTN_LEFT, 1)
        assert window.wait_button() == (BTN_LEFT, 0)
    assert taker.stop() == 0


@pytest.mark.parametrize("turn", ["normal", "90"])
def test_the_size_follows_the_window(desk: Desk, turn: str) -> None:
    """And then it is used."""
    desk.sway.set_output(f"transform {turn}")
    taker = desk.take(*RESIZE)
    with desk.typist() as typist:
        for size in [(1000, 620), (333, 277), LARGEST]:
            typist.wish(*size)
            desk.wait_size(size)
        window = desk.window(LARGEST)
        typist.point(0.25, 0.75)
        window.wait_place(400, 750)
    assert taker.stop() == 0


def test_the_scale_follows_the_screen(desk: Desk) -> None:
    """Also one that is a fraction; and stays where it is not known."""
    desk.take(*RESIZE)
    with desk.typist() as typist:
        for wish, scale, size in (
            ((900, 600), 1.5, (600, 400)),
            ((1200, 900), 0, (800, 600)),
            ((1000, 800), 1.25, (800, 640)),
            ((1000, 800), 1, (1000, 800)),
        ):
            typist.wish(*wish, scale)
            desk.wait_size(size)
            mode = desk.sway.outputs()["HEADLESS-1"]["current_mode"]
            assert (mode["width"], mode["height"]) == wish


def test_floods_of_wishes(desk: Desk) -> None:
    """A few sizes are had, which lie in the bounds."""
    desk.take(*RESIZE)
    with (
        desk.typist() as typist,
        Display(desk.sway.socket, protocol_files()) as display,
    ):
        output = bind_output(display, "HEADLESS-1")
        begun = time.monotonic()
        for step in range(1000):
            typist.wish(100 + step % 700, 16384 - step)
        typist.wish(1, 9999)
        desk.wait_size((64, LARGEST[1]))
        display.roundtrip()
        had = [args[1:3] for name, args in output.events if name == "mode"][1:]
        assert len(had) <= (time.monotonic() - begun) / INTERVAL_S + 2
        assert all(64 <= width <= 800 and height == LARGEST[1] for width, height in had)


def test_the_outputs_beside(desk: Desk) -> None:
    """They keep their sizes, and lie beside it as before."""
    desk.take(*RESIZE)
    for _ in range(2):
        desk.sway.tell("create_output")
    desk.sway.tell("--", "output", "HEADLESS-3", "disable")
    size = size_of(desk.sway.outputs()["HEADLESS-2"])
    with desk.typist() as typist:
        for wish in [(1000, 620), (200, 100)]:
            typist.wish(*wish)
            desk.wait_size(wish)
            outputs = desk.sway.outputs()
            assert outputs["HEADLESS-2"]["rect"] == {
                "x": wish[0],
                "y": 0,
                "width": size[0],
                "height": size[1],
            }
            assert not outputs["HEADLESS-3"]["active"]


def test_a_wish_for_an_output_that_was_away(desk: Desk) -> None:
    taker = desk.take(*RESIZE)
    desk.sway.tell("create_output")
    with desk.typist() as typist:
        desk.sway.set_output("disable")
        taker.wait_output("the output HEADLESS-1 is gone")
        typist.wish(700, 500)
        desk.sway.set_output("enable")
        desk.wait_size((700, 500))


def test_an_output_that_keeps_its_size(desk: Desk) -> None:
    """Where gid-input was not told that it may have another one."""
    desk.take("--output=HEADLESS-1")
    with desk.typist() as typist:
        window = desk.window()
        typist.wish(700, 500)
        typist.type(KEY_A)
        assert window.wait_keys(2) == [(KEY_A, 1), (KEY_A, 0)]
        assert size_of(desk.sway.outputs()["HEADLESS-1"]) == (WIDTH, HEIGHT)


@pytest.mark.parametrize("end", ["sender", "taker"])
def test_nothing_stays_pressed(desk: Desk, end: str) -> None:
    taker = desk.take("--output=HEADLESS-1")
    typist = desk.typist()
    window = desk.window()
    typist.point(0.5, 0.5)
    window.wait_place(WIDTH / 2, HEIGHT / 2)
    assert not window.pointer.has("button")
    typist.do((KEY, KEY_A, 1), (BUTTON, BTN_LEFT, 1))
    assert window.wait_keys(1) == [(KEY_A, 1)]
    assert window.wait_button() == (BTN_LEFT, 1)
    if end == "sender":
        typist.kill()
    else:
        assert taker.stop() == 0
    assert window.wait_keys(1) == [(KEY_A, 0)]
    assert window.wait_button() == (BTN_LEFT, 0)
    typist.stop()


def test_a_taker_that_is_killed(desk: Desk) -> None:
    """sway releases its keys. It keeps its buttons, while another pointer is there, until the next
    taker lets go of them."""
    desk.take("--output=HEADLESS-1", stream="other")
    taker = desk.take("--output=HEADLESS-1")
    with desk.typist("other") as other, desk.typist() as typist:
        window = desk.window()
        typist.point(0.5, 0.5)
        window.wait_place(WIDTH / 2, HEIGHT / 2)
        typist.do((KEY, KEY_A, 1), (BUTTON, BTN_LEFT, 1))
        assert window.wait_keys(1) == [(KEY_A, 1)]
        assert window.wait_button() == (BTN_LEFT, 1)
        taker.kill()
        assert window.wait_keys(1) == [(KEY_A, 0)]
        desk.take("--output=HEADLESS-1").wait_output("taking input/desk")
        assert window.wait_button() == (BTN_LEFT, 0)
        other.click(BTN_RIGHT)
        assert all(state == 0 for _, state in iter(window.wait_button, (BTN_RIGHT, 1)))
        assert window.wait_button() == (BTN_RIGHT, 0)


def test_one_taker_after_the_other(desk: Desk) -> None:
    """What the first one got the second one does not play again."""
    taker = desk.take("--output=HEADLESS-1")
    with desk.typist() as typist:
        for _ in range(3):
            taker.wait_output("taking input/desk")
            window = desk.window()  # of a seat that has its keyboard
            typist.type(KEY_A)
            assert window.wait_keys(2) == [(KEY_A, 1), (KEY_A, 0)]
            assert taker.stop() == 0
            taker = desk.take("--output=HEADLESS-1")


def wait_pressed(window: InputWindow) -> tuple[int, bool]:
    """The next key that is pressed, and whether that is with Shift, as the program has it."""
    events = window.keyboard.events
    shifted = False

    def is_pressed() -> bool:
        nonlocal shifted
        while events:
            event, args = events.pop(0)
            if event == "modifiers":
                shifted = bool(args[1] & SHIFT)
            elif event == "key" and args[3] == 1:
                found.append(args[2])
                return True
        return False

    found: list[int] = []
    window.display.wait_until(is_pressed, "a key")
    return found[0], shifted


def write_keymap(path: Path, layout: str) -> None:
    """As a compositor has it of its seat's keyboard."""
    xkb = ctypes.CDLL("libxkbcommon.so.0")
    for name in ("xkb_context_new", "xkb_keymap_new_from_names"):
        getattr(xkb, name).restype = ctypes.c_void_p
    xkb.xkb_keymap_get_as_string.restype = ctypes.c_char_p
    names = (ctypes.c_char_p * 5)(None, None, layout.encode())
    keymap = xkb.xkb_keymap_new_from_names(ctypes.c_void_p(xkb.xkb_context_new(0)), names, 0)
    path.write_bytes(xkb.xkb_keymap_get_as_string(ctypes.c_void_p(keymap), 1))


def wait_letters(window: InputWindow, count: int) -> list[bool]:
    """Of so many presses of A since the window has the keyboard, which were a capital letter."""
    letters: list[bool] = []

    def are_there() -> bool:
        letters.clear()
        capital = False
        for event, args in window.keyboard.events:
            if event == "modifiers":
                capital = bool(args[1] & SHIFT) != bool(args[3] & LOCK)
            elif event == "key" and args[2:] == (KEY_A, 1):
                letters.append(capital)
        return len(letters) == count

    window.display.wait_until(are_there, f"{count} letters")
    return letters


@pytest.mark.parametrize("key", [KEY_SHIFT, KEY_CAPS_LOCK])
def test_a_keymap_that_changes(desk: Desk, tmp_path: Path, key: int) -> None:
    """While Shift or Caps Lock is held, as by an input method: it stays so, until it is released,
    or its letters are not locked any more."""
    desk.take("--output=HEADLESS-1", "--sender-keymap")
    with desk.typist() as typist:
        window = desk.window()
        typist.press(key)
        for layout in ("us", "de", "us"):
            write_keymap(tmp_path / layout, layout)
            typist.tell(f"keymap {tmp_path / layout}", "send")
            typist.type(KEY_A)
        typist.lift(key)
        if key == KEY_CAPS_LOCK:
            typist.type(KEY_A)
            typist.type(key)
        typist.type(KEY_A)
        capitals = 4 if key == KEY_CAPS_LOCK else 3
        assert wait_letters(window, capitals + 1) == [True] * capitals + [False]


def test_two_viewers(desk: Desk) -> None:
    """Each with a gid-input of its own. They share the seat, its focus and its pointer: but the
    Shift of one is not the other's, nor is a key released that the other one holds."""
    takers = [desk.take("--output=HEADLESS-1", stream=stream) for stream in ("desk", "other")]
    with desk.typist() as one, desk.typist("other") as other:
        window = desk.window()
        one.press(KEY_SHIFT)
        assert wait_pressed(window)[0] == KEY_SHIFT
        other.type(KEY_A)
        assert wait_pressed(window) == (KEY_A, False)
        one.type(KEY_A)
        assert wait_pressed(window) == (KEY_A, True)
        other.point(0.25, 0.5)
        window.wait_place(WIDTH / 4, HEIGHT / 2)
        one.do((RELATIVE, 0, 0, 10 * FIXED, 0, 10 * FIXED, 0))
        window.wait_place(WIDTH / 4 + 10, HEIGHT / 2)
        other.press(KEY_Q)
        assert wait_pressed(window) == (KEY_Q, False)
        assert takers[0].stop() == 0
        assert window.wait_keys(1) == [(KEY_SHIFT, 0)]
        other.lift(KEY_Q)
        assert window.wait_keys(1) == [(KEY_Q, 0)]
    assert takers[1].stop() == 0


def test_a_compositor_without_the_protocols(cockpit: Cockpit, tmp_path: Path) -> None:
    weston = Weston(tmp_path, cockpit.env("open")).start()
    taker = Program(
        [BUILD / "clients/gid-input", "--domain=cluster", "--stream=desk"],
        weston.environment,
        tmp_path,
    )
    assert taker.wait() == 1
    assert "in Weston use input= of [gid-output]" in taker.stderr
    assert weston.stop() == 0


def end_connection(listening: socket.socket, code: int) -> None:
    """Together with an event, of its registry."""
    client, _ = listening.accept()
    assert client.recv(4096)
    event = struct.pack("=IIII8sI", 2, 28 << 16, 1, len("wl_seat") + 1, b"wl_seat", 1)
    error = struct.pack("=IIIII4s", 1, 24 << 16, 1, code, len("no!") + 1, b"no!")
    client.sendall(event + error)
    client.close()


@pytest.mark.parametrize("code", [2, 3])
def test_a_compositor_that_ends_it(cockpit: Cockpit, tmp_path: Path, code: int) -> None:
    """With an error, while there are events that nobody has looked at."""
    place = {"XDG_RUNTIME_DIR": str(tmp_path), "WAYLAND_DISPLAY": "wayland-0"}
    command = [BUILD / "clients/gid-input", "--domain=cluster", "--stream=desk"]
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "wayland-0"))
        listening.listen()
        taker = Program(command, cockpit.env("open") | place, tmp_path)
        end_connection(listening, code)
        assert taker.wait() == 1
    assert f"the compositor ended the connection: error {code} of wl_display" in taker.stderr


def test_no_uinput(cockpit: Cockpit, tmp_path: Path) -> None:
    command = [BUILD / "clients/gid-input", "--domain=cluster", "--stream=desk", "--uinput"]
    taker = cockpit.run("open", [*command, f"--device={tmp_path}/none"])
    assert taker.wait() == 1
    assert "load the kernel's module by modprobe uinput" in taker.stderr


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (["--resize=800x600"], "of which output? Name it with --output NAME"),
        (["--resize=800"], "--resize must be WIDTHxHEIGHT in pixels"),
        (["--uinput", "--resize=800x600"], "--resize and --sender-keymap are not for --uinput"),
    ],
)
def test_mistakes(cockpit: Cockpit, options: list[str], what: str) -> None:
    command = [BUILD / "clients/gid-input", "--domain=cluster", "--stream=desk", *options]
    taker = cockpit.run("open", command)
    assert taker.wait() == 2
    assert what in taker.stderr
