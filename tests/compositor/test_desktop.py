# SPDX-License-Identifier: MIT
"""gid-view --desktop: the desktop of another domain in a window, whose size it has."""

import time
from collections.abc import Iterator
from pathlib import Path

import numpy
import pytest
from lib.cockpit import Cockpit
from lib.painter import Painter
from lib.program import BUILD, wait_for
from lib.stream_reader import StreamReader, keeper
from lib.two_desks import CONFIG, DESK_SIZE, SCREEN_SIZE, TwoDesks
from lib.typist import BUTTON, KEY, Typist
from lib.weston import Weston, bind_output

from lab.domains.wayland import Display

KEY_A, KEY_SUPER, BTN_RIGHT = 30, 125, 0x111
LARGEST = (1600, 1000)  # of the desktop
RESIZE = "resize=1600x1000\n"
SIDE = "[gid-output]\nname=side\nstream=side\nmode=64x64\n"
STEPS = 100  # of a window that is dragged
INTERVAL_S = 0.2  # between two sizes
PAUSE_S = 1.0  # until one who sent what is no input is heard again
LIBGID = BUILD / "libgid/libgid.so"


class Sizes:
    """Those that an output has had since, as its clients are told."""

    def __init__(self, weston: Weston, output: str) -> None:
        self.display = Display(weston.socket, weston.protocols)
        self.output = bind_output(self.display, output)

    def __enter__(self) -> "Sizes":
        return self

    def __exit__(self, *_: object) -> None:
        self.display.close()

    def all(self) -> list[tuple[int, int]]:
        self.display.roundtrip()
        return [args[1:3] for name, args in self.output.events if name == "mode"]

    def scale(self) -> int:
        self.display.roundtrip()
        return [args[0] for name, args in self.output.events if name == "scale"][-1]

    def left(self) -> int:
        """Where the output begins, of all that are in a row."""
        self.display.roundtrip()
        return [args[0] for name, args in self.output.events if name == "geometry"][-1]

    def wait(self, size: tuple[int, int]) -> None:
        wait_for(lambda: self.all()[-1] == size, f"{size}")


def wait_size(weston: Weston, output: str, size: tuple[int, int]) -> None:
    with Sizes(weston, output) as sizes:
        sizes.wait(size)


@pytest.fixture
def threesome() -> Iterator[Cockpit]:
    cockpit = Cockpit(CONFIG)
    cockpit.start_all()
    yield cockpit
    cockpit.close()


@pytest.fixture
def desks(threesome: Cockpit, tmp_path: Path) -> Iterator[TwoDesks]:
    made = TwoDesks(threesome, tmp_path, "desktop", (RESIZE + SIDE, RESIZE))
    yield made
    made.finish()


def look(desks: TwoDesks, size: tuple[int, int], seed: int) -> None:
    """Each pixel of a window that fills the desktop is on the screen, as it was drawn."""
    wait_size(desks.desk, "desktop", size)
    painter = Painter(desks.desk.socket, "desktop", size)  # whose window is there as long as it is
    picture = painter.paint(seed)
    wait_for(
        lambda: numpy.array_equal(desks.screen.screenshot("screen"), picture),
        f"the picture of {size} on the screen",
    )


def test_the_size_follows_the_window(desks: TwoDesks) -> None:
    """Of a window that its shell resizes with the screen; and then it is used."""
    view = desks.taken(desks.start("--desktop=open", "--output=screen"))
    look(desks, SCREEN_SIZE, 1)
    for seed, size in enumerate([(1000, 620), (333, 277), LARGEST], 2):
        desks.typist.wish(*size)
        wait_size(desks.screen, "screen", size)
        look(desks, size, seed)
    with Sizes(desks.desk, "desktop") as sizes, Sizes(desks.desk, "side") as side:
        assert side.left() == sizes.left() + LARGEST[0]
    window = desks.window(LARGEST)
    desks.settle(window)
    desks.typist.type(KEY_A)
    assert window.wait_keys(2) == [(KEY_A, 1), (KEY_A, 0)]
    desks.typist.point(0.25, 0.75)
    window.wait_place(400, 750)
    assert view.stop() == 0


def test_a_screen_with_a_scale(threesome: Cockpit, tmp_path: Path) -> None:
    """The desktop has its pixels, each as it was drawn; and the pointer is where it is here."""
    keys = (f"{RESIZE}scale=1\n{SIDE}", "scale=2\n")
    desks = TwoDesks(threesome, tmp_path, "desktop", keys)
    view = desks.taken(desks.start("--desktop=open", "--output=screen"))
    look(desks, SCREEN_SIZE, 1)
    window = desks.window(SCREEN_SIZE)
    desks.settle(window)
    desks.typist.point(0.25, 0.75)
    window.wait_place(200, 270)
    assert view.stop() == 0
    desks.finish()


def test_the_scale_follows_the_screen(desks: TwoDesks) -> None:
    """In whole numbers, and with the size."""
    with (
        Typist(desks.cockpit.env("cluster"), "input/desktop") as typist,
        Sizes(desks.desk, "desktop") as sizes,
    ):
        for size, scale, had, whole in (
            ((801, 601), 2, (800, 600), 2),
            ((801, 601), 1.25, (801, 601), 1),
            ((801, 602), 1.5, (800, 602), 2),
            ((700, 500), 16, (696, 496), 8),
            ((700, 500), 0, (700, 500), 1),
        ):
            typist.wish(*size, scale)
            sizes.wait(had)
            wait_for(lambda whole=whole: sizes.scale() == whole, f"the scale {whole}")


def test_a_window_that_is_dragged(desks: TwoDesks) -> None:
    """By its corner, with its shell's own keys: of many sizes a few are had, and where it rests."""
    desks.typist.wish(*LARGEST)
    wait_size(desks.screen, "screen", LARGEST)
    desks.typist.point(0.5, 0.5)  # where windows are opened
    view = desks.taken(desks.start("--desktop=open"))
    painter = Painter(desks.desk.socket, "desktop", DESK_SIZE)
    painter.paint(1)
    x, y = wait_window(desks)
    corner = x + DESK_SIZE[0] - 20, y + DESK_SIZE[1] - 20
    with Sizes(desks.desk, "desktop") as sizes:
        begun = time.monotonic()
        grab(desks.typist, corner)
        for half in (range(STEPS // 2 + 1), range(STEPS // 2 + 1, STEPS + 1)):
            drag(desks.typist, corner, half)
            sizes.wait((DESK_SIZE[0] + half[-1], DESK_SIZE[1] + half[-1]))
        had = sizes.all()
        passed = time.monotonic() - begun
    let_go(desks.typist)  # the shell says that any size is right
    assert len(had) <= passed / INTERVAL_S + 2
    painter = Painter(desks.desk.socket, "desktop", had[-1])
    painter.paint(2)
    wait_window(desks)
    assert view.stop() == 0


def grab(typist: Typist, corner: tuple[int, int]) -> None:
    typist.point(*part_of_screen(corner, 0))
    typist.do((KEY, KEY_SUPER, 1))
    typist.do((BUTTON, BTN_RIGHT, 1))


def drag(typist: Typist, corner: tuple[int, int], steps: range) -> None:
    """One pixel each way after the other."""
    for step in steps:
        typist.point(*part_of_screen(corner, step))


def let_go(typist: Typist) -> None:
    typist.do((BUTTON, BTN_RIGHT, 0))
    typist.do((KEY, KEY_SUPER, 0))


def part_of_screen(corner: tuple[int, int], step: int) -> tuple[float, float]:
    """The middle of that pixel."""
    x, y = ((at + step + 0.5) / side for at, side in zip(corner, LARGEST, strict=True))
    return x, y


def wait_window(desks: TwoDesks) -> tuple[int, int]:
    """Where the desktop is, as it was drawn, with its cursor: what is not beyond the edges."""
    found: list[tuple[int, int]] = []

    def there() -> bool:
        picture = desks.desk.screenshot("desktop")
        screen = desks.screen.screenshot("screen")
        for y, x in numpy.argwhere((screen == picture[0, 0]).all(axis=2)):
            part = screen[y : y + picture.shape[0], x : x + picture.shape[1]]
            if part.size < DESK_SIZE[0] * DESK_SIZE[1] * 3:
                continue
            if numpy.array_equal(part, picture[: part.shape[0], : part.shape[1]]):
                found.append((int(x), int(y)))
        return bool(found)

    wait_for(there, "the picture in its window")
    return found[0]


def test_a_desktop_that_comes_back(desks: TwoDesks) -> None:
    """It is found again, and has the window's size again."""
    view = desks.taken(desks.start("--desktop=open", "--output=screen"))
    look(desks, SCREEN_SIZE, 1)
    desks.desk.kill()
    view.wait_output("input/desktop is taken by nobody now")
    desks.desk.start()
    look(desks, SCREEN_SIZE, 2)
    assert view.stop() == 0


def test_floods_of_wishes(desks: TwoDesks) -> None:
    """A few sizes are had, which lie in the bounds; what is beyond all is not heard at all."""
    with (
        Typist(desks.cockpit.env("cluster"), "input/desktop") as typist,
        Sizes(desks.desk, "desktop") as sizes,
        Sizes(desks.desk, "side") as side,
    ):
        begun = time.monotonic()
        for step in range(2000):
            typist.wish(100 + step % 700, 16384 - step)
        typist.wish(1, 9999)
        sizes.wait((64, LARGEST[1]))
        had = sizes.all()
        assert len(had) <= (time.monotonic() - begun) / INTERVAL_S + 2
        assert all(64 <= width <= 800 and height <= LARGEST[1] for width, height in had)
        typist.wish(30_000, 30_000)
        desks.desk.wait_log("domain cluster is not there: it sends what is no input")
        time.sleep(PAUSE_S)
        typist.wish(700, 500)
        sizes.wait((700, 500))
        assert sizes.all()[-2] == (64, LARGEST[1])
        assert side.all() == [(64, 64)]


def test_wishes_of_others(desks: TwoDesks) -> None:
    """Another domain's stream of the same name is not heard, nor is one for another output."""
    with (
        Typist(desks.cockpit.env("driver"), "input/desktop", heard=False) as stranger,
        Sizes(desks.desk, "desktop") as sizes,
        Sizes(desks.desk, "side") as side,
    ):
        stranger.wish(300, 300)
        with Typist(desks.cockpit.env("cluster"), "input/desktop") as typist:
            typist.wish(500, 400)
            sizes.wait((500, 400))
        assert sizes.all() == [DESK_SIZE, (500, 400)]
        assert side.all() == [(64, 64)]


def test_who_keeps_the_pictures_of_before(desks: TwoDesks) -> None:
    """Costs no more memory than one size: the next is had when they are given back."""
    place = (LIBGID, desks.cockpit.socket("cluster"), "desktop", "open")
    with (
        Typist(desks.cockpit.env("cluster"), "input/desktop") as typist,
        StreamReader(LIBGID, desks.cockpit.socket("cluster"), "desktop", "open") as reader,
        Sizes(desks.desk, "desktop") as sizes,
    ):
        desks.wait_seat()
        window = desks.window()
        with keeper(*place):
            typist.wish(700, 400)
            sizes.wait((700, 400))
            for step in range(50):
                typist.wish(800 + step, 500)
            typist.type(KEY_A)
            assert window.wait_keys(2) == [(KEY_A, 1), (KEY_A, 0)]  # all of them are known
            time.sleep(5 * INTERVAL_S)
            assert sizes.all()[-1] == (700, 400)
        sizes.wait((849, 500))
        while reader.next().pixels.shape != (500, 849, 3):
            pass
        assert len(sizes.all()) == 3


def test_an_output_that_keeps_its_size(threesome: Cockpit, tmp_path: Path) -> None:
    """Where the configuration does not say that it can have another one."""
    desks = TwoDesks(threesome, tmp_path, "desktop")
    view = desks.taken(desks.start("--desktop=open", "--output=screen"))
    window = desks.window()
    desks.settle(window)
    with Sizes(desks.desk, "desktop") as sizes:
        assert sizes.all() == [DESK_SIZE]
    assert view.stop() == 0
    desks.finish()
