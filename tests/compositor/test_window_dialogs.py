# SPDX-License-Identifier: MIT
"""The dialogs of single windows of Weston ([gid-window]), and their menus: seen, and used there."""

from collections.abc import Iterator
from pathlib import Path

import numpy
import pytest
from lib.cockpit import Cockpit
from lib.forwarding import random_picture
from lib.program import wait_for
from lib.stream_reader import StreamReader
from lib.typist import FULL, TOUCH_DOWN, TOUCH_UP
from lib.used_window import (
    HEIGHT,
    INPUT,
    WIDTH,
    Desk,
    Menu,
    Used,
    click_at,
    point_at,
    with_box,
)
from lib.valgrind import VALGRIND, complaints

from lab.domains.wayland import Object

SIZE = (100, 40)  # of a dialog
LEFT, TOP = (WIDTH - SIZE[0]) // 2, (HEIGHT - SIZE[1]) // 2
PARTS_MAX = 8
EMPTY = 1  # enum gid_hidden
KEY_A, KEY_B = 30, 48


@pytest.fixture
def desk(cockpit: Cockpit, tmp_path: Path) -> Iterator[Desk]:
    made = Desk(cockpit, tmp_path, INPUT)
    yield made
    made.finish()


@pytest.fixture
def reader(desk: Desk) -> Iterator[StreamReader]:
    with desk.read() as made:
        yield made


@pytest.fixture
def used(desk: Desk, reader: StreamReader) -> Iterator[Used]:
    """A window that is read."""
    with desk.connect() as connection:
        window = Used(connection)
        reader.wait_picture(seen(1))
        yield window


def seen(seed: int, size: tuple[int, int] = (WIDTH, HEIGHT)) -> numpy.ndarray:
    """What a window shows, as readers see it."""
    return random_picture(seed, *size)[..., ::-1]


def ask(used: Used, seed: int, size: tuple[int, int] = SIZE) -> Used:
    """A dialog of the window, by the same program."""
    return Used(used.connection, seed, size=size, parent=used)


# Of a program, each device that it has gets all events: those of the window's are looked at.


def wait_on(desk: Desk, used: Used, surface: Object, x: int, y: int) -> None:
    """Until the pointer at that place of the picture is on that surface."""
    wait_for(lambda: point_at(desk, used, x, y) is surface, "the pointer to be on it")


def typed_into(desk: Desk, used: Used, key: int) -> Object:
    """The surface that got it."""
    desk.typist.type(key)
    used.wait_keys((key, 1), (key, 0))
    return [args[1] for name, args in used.keyboard.events if name == "enter"][-1]


@pytest.mark.parametrize("way", ["shown", "minimized"])
def test_a_dialog_and_its_menus(desk: Desk, used: Used, reader: StreamReader, way: str) -> None:
    """It is in the middle of the window, has the keyboard, and opens menus that are used, too."""
    if way == "minimized":
        used.toplevel("set_minimized")
        used.connection.roundtrip()
    dialog = ask(used, 2)
    asked = with_box(seen(1), seen(2, SIZE), LEFT, TOP)
    reader.wait_picture(asked)
    assert typed_into(desk, used, KEY_A) is dialog.surface
    wait_on(desk, used, dialog.surface, LEFT + 20, TOP + 10)
    used.wait_place(20, 10, dialog.surface)
    _, serial = click_at(desk, used, LEFT + 20, TOP + 10)
    menu = Menu(dialog, serial, (60, 35), (80, 30))  # of which 5 rows would be below the window
    first = with_box(asked, menu.show(3), LEFT + 60, HEIGHT - 30)
    reader.wait_picture(first)
    found, serial = click_at(desk, used, LEFT + 70, HEIGHT - 20)
    assert found is menu.surface
    below = Menu(dialog, serial, (75, 0), (90, 20), menu)  # beyond the right side
    reader.wait_picture(with_box(first, below.show(4), WIDTH - 90, HEIGHT - 30))
    assert click_at(desk, used, WIDTH - 45, HEIGHT - 20)[0] is below.surface
    used.touch.events.clear()
    desk.typist.do((TOUCH_DOWN, 0, 0, FULL - 9, FULL - FULL // HEIGHT * 20))
    assert used.touch.wait("down")[2] is below.surface
    desk.typist.do((TOUCH_UP, 0, 0))
    assert typed_into(desk, used, KEY_B) is dialog.surface
    below.close()
    menu.close()
    reader.wait_picture(asked)
    dialog.close()
    reader.wait_picture(seen(1))
    assert typed_into(desk, used, KEY_A) is used.surface
    assert click_at(desk, used, LEFT + 20, TOP + 10)[0] is used.surface


def test_who_has_the_keyboard(desk: Desk, used: Used, reader: StreamReader) -> None:
    """What was clicked on last, or has come since."""
    dialog = ask(used, 2)
    reader.wait_picture(with_box(seen(1), seen(2, SIZE), LEFT, TOP))
    assert typed_into(desk, used, KEY_A) is dialog.surface
    click_at(desk, used, 5, 5)
    assert typed_into(desk, used, KEY_A) is used.surface
    click_at(desk, used, LEFT + 5, TOP + 5)
    assert typed_into(desk, used, KEY_B) is dialog.surface
    click_at(desk, used, 5, 5)
    more = ask(dialog, 3, (20, 10))
    assert typed_into(desk, used, KEY_A) is more.surface
    more.close()
    assert typed_into(desk, used, KEY_A) is dialog.surface


def test_a_dialog_that_is_larger(desk: Desk, used: Used, reader: StreamReader) -> None:
    """Than its window: it is cut, and used where it is seen."""
    size = WIDTH + 30, HEIGHT + 30
    dialog = ask(used, 2, size)
    reader.wait_picture(seen(2, size)[:HEIGHT, :WIDTH])
    wait_on(desk, used, dialog.surface, 300, 70)
    used.wait_place(300, 70, dialog.surface)


def test_one_that_draws_itself_anew(used: Used, reader: StreamReader) -> None:
    """And is hidden, and another window's, and this one's again."""
    dialog = ask(used, 2)
    for seed in (3, 4):
        dialog.draw(seed, *SIZE)
        reader.wait_picture(with_box(seen(1), seen(seed, SIZE), LEFT, TOP))
    dialog.toplevel("set_parent", None)
    reader.wait_picture(seen(1))
    dialog.toplevel("set_parent", used.toplevel)
    reader.wait_picture(with_box(seen(1), seen(4, SIZE), LEFT, TOP))
    dialog.show(None)
    reader.wait_picture(seen(1))


def test_dialogs_of_another_window(desk: Desk, used: Used, reader: StreamReader) -> None:
    """They are none of this one's, whatever they cover."""
    with desk.connect() as connection:
        other = Used(connection, 5)
        ask(other, 6, (WIDTH, HEIGHT))
        used.draw(3)
        reader.wait_picture(seen(3))


def test_when_the_window_goes(desk: Desk, used: Used, reader: StreamReader) -> None:
    """The next one is sent and used alone: it is the dialog, a window of its own now."""
    dialog = ask(used, 2)
    reader.wait_picture(with_box(seen(1), seen(2, SIZE), LEFT, TOP))
    used.close()
    reader.wait_picture(seen(2, SIZE))
    assert typed_into(desk, used, KEY_A) is dialog.surface


def test_circles(desk: Desk, used: Used, reader: StreamReader) -> None:
    """A window that would be a dialog of itself, or of its own one, is none."""
    dialog = ask(used, 2)
    for parent in (used, dialog):
        used.toplevel("set_parent", parent.toplevel)
    used.draw(3)
    reader.wait_picture(with_box(seen(3), seen(2, SIZE), LEFT, TOP))
    assert typed_into(desk, used, KEY_A) is dialog.surface
    dialog.toplevel("set_parent", dialog.toplevel)
    reader.wait_picture(seen(3))
    assert typed_into(desk, used, KEY_A) is used.surface


def test_a_flood(desk: Desk, used: Used, reader: StreamReader) -> None:
    """Of dialogs, each of the one before: a few are shown, and Weston is there for others."""
    expected, last = seen(1), used
    for number in range(30):
        size = SIZE[0] - 2 * number, max(SIZE[1] - 2 * number, 4)
        last = ask(last, 10 + number, size)
        if number < PARTS_MAX:
            expected = with_box(expected, seen(10 + number, size), LEFT + number, TOP + number)
    reader.wait_picture(expected)
    for number in range(2000):
        last.toplevel("set_parent", used.toplevel if number % 2 else None)
    for _ in range(100):
        Used(used.connection, 9, size=(8, 8), parent=used)
    used.connection.roundtrip()
    with desk.connect() as connection:
        connection.roundtrip()
    assert desk.weston.is_running()


def test_valgrind_finds_nothing(cockpit: Cockpit, tmp_path: Path) -> None:
    """Whoever goes first: a window, a dialog between others, a client with all of them, Weston."""
    report = tmp_path / "valgrind.xml"
    desk = Desk(cockpit, tmp_path, INPUT, [*VALGRIND, f"--xml-file={report}"])
    with desk.read() as reader, desk.connect() as last:
        for way in ("window", "between", "client"):
            with desk.connect() as connection:
                used = Used(connection)
                reader.wait_picture(seen(1))
                dialog = ask(used, 2)
                ask(dialog, 3, (50, 20))
                typed_into(desk, used, KEY_A)
                click_at(desk, used, LEFT + 5, TOP + 5)
                if way == "window":
                    used.close()
                    reader.wait_picture(with_box(seen(2, SIZE), seen(3, (50, 20)), 25, 10))
                elif way == "between":
                    dialog.close()
                    reader.wait_picture(with_box(seen(1), seen(3, (50, 20)), 135, 30))
            reader.wait_hidden(EMPTY)
        ask(Used(last), 2)
        desk.finish()
    assert complaints(report) == []
