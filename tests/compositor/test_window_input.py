# SPDX-License-Identifier: MIT
"""Single windows of Weston ([gid-window]) that are used from another domain: input, size, close."""

import re
import time
from collections.abc import Iterator
from pathlib import Path

import numpy
import pytest
from lib.cockpit import Cockpit
from lib.forwarding import PYTHON, ShmBuffers, Window, random_picture
from lib.input_window import FIXED, Lock, bind_seat, seat_devices
from lib.program import BUILD, Program, wait_for
from lib.stream_reader import StreamReader
from lib.two_desks import CONFIG, SCREEN_SIZE, TwoDesks
from lib.typist import (
    AXIS,
    BUTTON,
    FULL,
    KEY,
    MOTION,
    RELATIVE,
    TOUCH_DOWN,
    TOUCH_UP,
    Typist,
)
from lib.used_window import (
    APP,
    HEIGHT,
    INPUT,
    LIBGID,
    PLAIN,
    SEAT,
    STREAM,
    WIDTH,
    Desk,
    Menu,
    Used,
    click_at,
    point,
    point_at,
    with_box,
)
from lib.weston import Weston

from lab.domains.wayland import Display

RESIZE = f"{INPUT}resize=800x600\n"
KEY_A, KEY_B, KEY_CTRL, KEY_ALT, KEY_BACKSPACE = 30, 48, 29, 56, 14
BTN_LEFT = 0x110
INTERVAL_S = 0.2  # between two sizes
CLOSE_S = 1.0  # between two wishes that are told
CURSOR = 64  # its size at most
EMPTY = 1  # enum gid_hidden


@pytest.fixture
def config() -> str:
    return INPUT


@pytest.fixture
def desk(cockpit: Cockpit, tmp_path: Path, config: str) -> Iterator[Desk]:
    made = Desk(cockpit, tmp_path, config)
    yield made
    made.finish()


@pytest.fixture
def used(desk: Desk) -> Iterator[Used]:
    """A window that is read."""
    with desk.connect() as connection, desk.read() as reader:
        window = Used(connection)
        reader.wait_picture(random_picture(1, WIDTH, HEIGHT)[..., ::-1])
        yield window


# --- input --------------------------------------------------------------------------------------


def test_keys_pointer_and_fingers(desk: Desk, used: Used) -> None:
    typist = desk.typist
    typist.type(KEY_A)
    used.wait_keys((KEY_A, 1), (KEY_A, 0))
    typist.point(0.25, 0.5)
    used.wait_place(WIDTH / 4, HEIGHT / 2)
    typist.point(0.5, 0.25)
    used.wait_place(WIDTH / 2, HEIGHT / 4)
    typist.do((RELATIVE, 0, 0, 10 * FIXED, 5 * FIXED, 10 * FIXED, 5 * FIXED))
    used.wait_place(WIDTH / 2 + 10, HEIGHT / 4 + 5)
    typist.click()
    assert used.pointer.wait("button")[2:] == (BTN_LEFT, 1)
    assert used.pointer.wait("button")[2:] == (BTN_LEFT, 0)
    typist.do((AXIS, 0, 1, 15 * FIXED, 120))
    assert used.pointer.wait("axis")[1:] == (0, 15 * FIXED)
    typist.do((TOUCH_DOWN, 3, 0, FULL // 2, FULL // 2))
    assert [round(at / FIXED) for at in used.touch.wait("down")[4:]] == [WIDTH // 2, HEIGHT // 2]
    typist.do((TOUCH_UP, 3, 0))
    used.touch.wait("up")


@pytest.mark.parametrize("way", ["covered", "minimized"])
def test_where_nobody_sees_it(desk: Desk, used: Used, way: str) -> None:
    """It alone gets the input, whatever lies above it, and what has the focus by the shell."""
    with desk.connect() as connection:
        other = Window(connection, "org.example.other")
        keyboard = bind_seat(connection, SEAT)("get_keyboard")
        pointer = bind_seat(connection, SEAT)("get_pointer")
        other.show(ShmBuffers(connection, 700, 500).draw(random_picture(2, 700, 500)))
        if way == "minimized":
            used.toplevel("set_minimized")
            used.connection.roundtrip()
        for part in (0.1, 0.5, 0.9):
            desk.typist.point(part, part)
            used.wait_place(part * WIDTH, part * HEIGHT)
            desk.typist.click()
            used.pointer.wait("button")
            used.pointer.wait("button")
            desk.typist.type(KEY_A)
            used.wait_keys((KEY_A, 1), (KEY_A, 0))
        connection.roundtrip()
        assert not keyboard.has("key") and not pointer.has("enter")


def test_without_its_shadow(desk: Desk, used: Used) -> None:
    """What is seen begins where its program says that the window does."""
    used.xdg_surface("set_window_geometry", 10, 20, 300, 50)
    with desk.read() as reader:
        picture = used.draw(2)
        reader.wait_picture(picture[20:70, 10:310, ::-1])
        desk.typist.do((MOTION, 0, 0, 0, 0))
        used.wait_place(10, 20)
        desk.typist.point(0.5, 0.5)
        used.wait_place(160, 45)


def test_subsurfaces(desk: Desk, used: Used) -> None:
    """The highest one that takes input at a place gets it."""
    child = used.compositor("create_surface")
    place = used.connection.bind("wl_subcompositor")("get_subsurface", child, used.surface)
    place("set_position", 40, 10)
    child("attach", ShmBuffers(used.connection, 64, 32).draw(random_picture(3, 64, 32)), 0, 0)
    child("damage_buffer", 0, 0, 64, 32)
    child("commit")
    with desk.read() as reader:
        expected = used.draw(2).copy()
        expected[10:42, 40:104] = random_picture(3, 64, 32)
        reader.wait_picture(expected[..., ::-1])
        wait_for(lambda: point_at(desk, used, 50, 20) is child, "the child to have the pointer")
        used.wait_place(10, 10, child)
        desk.typist.point(200 / WIDTH, 0.5)
        used.wait_place(200, HEIGHT / 2)


def test_shortcuts_are_the_programs(desk: Desk, used: Used) -> None:
    """Not Weston's, which these keys would end."""
    for key in (KEY_CTRL, KEY_ALT, KEY_BACKSPACE):
        desk.typist.press(key)
        used.wait_keys((key, 1))
    for key in (KEY_CTRL, KEY_ALT, KEY_BACKSPACE):
        desk.typist.lift(key)
        used.wait_keys((key, 0))
    assert desk.weston.is_running()


def test_a_locked_pointer(desk: Desk, used: Used) -> None:
    """Its motion reaches the program. So do places, of a user whose compositor locks nothing."""
    desk.typist.point(0.5, 0.5)
    used.wait_place(WIDTH / 2, HEIGHT / 2)
    desk.typist.click()
    used.pointer.wait("button")
    used.pointer.wait("button")
    lock = Lock(used.connection, used.surface, used.pointer)
    for x, y in ((10, 5), (-1000, 0), (0, 2000)):
        desk.typist.do((RELATIVE, 0, 0, x * FIXED, y * FIXED, x * FIXED, y * FIXED))
        lock.wait_moved(x, y)
    desk.typist.point(0.75, 0.25)
    lock.wait_moved(WIDTH / 4, -HEIGHT / 4)
    desk.typist.click()
    assert used.pointer.wait("button")[2:] == (BTN_LEFT, 1)
    assert not used.pointer.has("motion") and not used.pointer.has("leave")
    lock.end()
    desk.typist.point(0.25, 0.5)
    used.wait_place(WIDTH / 4, HEIGHT / 2)


# What is done where the pointer is.
DONE = {
    "motion": (MOTION, 0, 0, FULL // 2, FULL // 2),
    "no motion": (RELATIVE, 0, 0, 0, 0, 0, 0),
    "a click": (BUTTON, BTN_LEFT, 1),
    "a wheel": (AXIS, 0, 1, 15 * FIXED, 120),
}


@pytest.mark.parametrize("done", DONE.values(), ids=DONE)
def test_where_the_pointer_is_after_a_lock(desk: Desk, used: Used, done: tuple[int, ...]) -> None:
    """The program is told before anything else, though that is where it was: it may have counted
    the motion to a place of its own."""
    desk.typist.do(DONE["motion"])
    used.wait_place(WIDTH / 2, HEIGHT / 2)
    desk.typist.click()
    used.pointer.wait("button")
    used.pointer.wait("button")
    lock = Lock(used.connection, used.surface, used.pointer)
    desk.typist.do((RELATIVE, 0, 0, 900 * FIXED, 0, 900 * FIXED, 0))
    lock.wait_moved(900, 0)
    lock.end()
    used.pointer.events.clear()
    desk.typist.do(done)
    desk.typist.type(KEY_A)
    used.wait_keys((KEY_A, 1), (KEY_A, 0))
    name, args = used.pointer.events[0]
    assert name == "motion"
    assert [round(at / FIXED) for at in args[1:]] == [WIDTH // 2, HEIGHT // 2]


@pytest.mark.parametrize("config", [f"{INPUT}cursor=true\n"], ids=[""])
def test_its_cursor(desk: Desk, used: Used) -> None:
    """It is a stream, and is not seen on Weston's outputs."""
    desk.typist.point(0.5, 0.5)
    (serial, *_) = used.pointer.wait("enter")
    picture = random_picture(7, CURSOR, CURSOR)
    surface = used.compositor("create_surface")
    used.pointer("set_cursor", serial, surface, 3, 4)
    surface("attach", ShmBuffers(used.connection, CURSOR, CURSOR).draw(picture), 0, 0)
    surface("damage_buffer", 0, 0, CURSOR, CURSOR)
    surface("commit")
    used.connection.roundtrip()
    place = (LIBGID, desk.cockpit.socket("cluster"), f"cursor/{STREAM}", "open")
    with StreamReader(*place) as reader:
        reader.wait_picture(picture[..., ::-1])
    used.draw(2)
    screen = numpy.ascontiguousarray(desk.weston.screenshot())
    assert picture[0, :, ::-1].tobytes() not in screen.tobytes()


def test_who_has_no_picture(desk: Desk) -> None:
    """Places are those of the window as it is, whatever size it had when it was read last."""
    with desk.connect() as connection:
        window = Used(connection)
        desk.typist.point(0.25, 0.5)
        window.wait_place(WIDTH / 4, HEIGHT / 2)
        desk.typist.do((RELATIVE, 0, 0, 10 * FIXED, 5 * FIXED, 10 * FIXED, 5 * FIXED))
        window.wait_place(WIDTH / 4 + 10, HEIGHT / 2 + 5)
        with desk.read() as reader:
            reader.wait_picture(random_picture(1, WIDTH, HEIGHT)[..., ::-1])
        wait_for(lambda: count_readers(desk) == 0, "the reader to be gone")
        for _ in range(2):  # gidd tells Weston of it before it tells us
            connection.roundtrip()
        window.draw(2, 2 * WIDTH, 3 * HEIGHT)
        desk.typist.point(0.25, 0.25)
        window.wait_place(WIDTH / 2, HEIGHT * 3 / 4)


def count_readers(desk: Desk) -> int:
    (stream,) = desk.cockpit.status("open")["streams"]
    return stream["subscriptions"]


# --- menus --------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["shown", "minimized"])
def test_menus(desk: Desk, used: Used, way: str) -> None:
    """They are in the picture, and are used there: all of what is beside it is moved into it."""
    plain = random_picture(1, WIDTH, HEIGHT)[..., ::-1]
    if way == "minimized":
        used.toplevel("set_minimized")
        used.connection.roundtrip()
    with desk.read() as reader:
        reader.wait_picture(plain)
        _, serial = click_at(desk, used, 8, 8)
        menu = Menu(used, serial, (200, 60), (60, 40))  # of which 20 rows would be below it
        first = with_box(plain, menu.show(2), 200, HEIGHT - 40)
        reader.wait_picture(first)
        found, serial = click_at(desk, used, 210, HEIGHT - 30)
        assert found is menu.surface
        below = Menu(used, serial, (50, 10), (100, 30), menu)  # beyond the right side, too
        reader.wait_picture(with_box(first, below.show(3), WIDTH - 100, HEIGHT - 30))
        found, _ = click_at(desk, used, WIDTH - 50, HEIGHT - 15)
        assert found is below.surface
        used.pointer.events.clear()
        desk.typist.do((TOUCH_DOWN, 0, 0, FULL - 9, FULL - 9))
        assert used.touch.wait("down")[2] is below.surface
        desk.typist.do((TOUCH_UP, 0, 0))
        desk.typist.type(KEY_A)
        used.wait_keys((KEY_A, 1), (KEY_A, 0))
        below.close()
        reader.wait_picture(first)
        menu.close()
        reader.wait_picture(plain)
        assert click_at(desk, used, 210, HEIGHT - 30)[0] is used.surface


def test_a_click_on_a_menu_of_a_hidden_window(desk: Desk, used: Used) -> None:
    """Which ends, also if Weston draws its outputs meanwhile: they do not show the menu."""
    used.toplevel("set_minimized")
    used.connection.roundtrip()
    with desk.read() as reader:
        _, serial = click_at(desk, used, 8, 8)
        menu = Menu(used, serial, (10, 10), (60, 40))
        reader.wait_picture(
            with_box(random_picture(1, WIDTH, HEIGHT)[..., ::-1], menu.show(2), 10, 10)
        )
        point(desk, 30, 30)
        desk.typist.do((BUTTON, BTN_LEFT, 1))
        assert used.pointer.wait("button")[2:] == (BTN_LEFT, 1)
        desk.weston.screenshot()
        desk.typist.do((BUTTON, BTN_LEFT, 0))
        assert used.pointer.wait("button")[2:] == (BTN_LEFT, 0)


def test_a_menu_that_draws_itself_anew(desk: Desk, used: Used) -> None:
    """And one that nobody clicked for, as the words about a button are."""
    plain = random_picture(1, WIDTH, HEIGHT)[..., ::-1]
    with desk.read() as reader:
        menu = Menu(used, None, (10, 10), (50, 20))
        for seed in (2, 3, 4):
            reader.wait_picture(with_box(plain, menu.show(seed), 10, 10))
        menu.surface("attach", None, 0, 0)
        menu.surface("commit")
        reader.wait_picture(plain)


def test_a_menu_that_is_larger_than_its_window(desk: Desk, used: Used) -> None:
    """It is cut."""
    with desk.read() as reader:
        _, serial = click_at(desk, used, 8, 8)
        menu = Menu(used, serial, (0, 0), (WIDTH + 30, HEIGHT + 30))
        reader.wait_picture(menu.show(2)[:HEIGHT, :WIDTH])


def test_menus_of_another_window(desk: Desk, used: Used) -> None:
    """They are none of this one's, whatever they cover."""
    with desk.connect() as connection, desk.read() as reader:
        other = Used(connection, 5)
        other.toplevel("set_app_id", "org.example.other")
        other.commit()
        menu = Menu(other, None, (0, 0), (WIDTH, HEIGHT))
        menu.show(2)
        used.draw(3)
        reader.wait_picture(random_picture(3, WIDTH, HEIGHT)[..., ::-1])


def test_menus_when_the_window_goes(desk: Desk, used: Used) -> None:
    """They are closed, and take no input away from the next one."""
    with desk.connect() as connection, desk.read() as reader:
        other = Used(connection, 2)
        _, serial = click_at(desk, used, 8, 8)
        menu = Menu(used, serial, (10, 10), (50, 20))
        menu.show(3)
        used.toplevel("set_app_id", "org.example.other")
        used.commit()
        menu.popup.wait("popup_done")
        reader.wait_picture(random_picture(2, WIDTH, HEIGHT)[..., ::-1])
        desk.typist.type(KEY_B)
        other.wait_keys((KEY_B, 1), (KEY_B, 0))
        desk.typist.point(0.5, 0.5)
        other.wait_place(WIDTH / 2, HEIGHT / 2)


# --- what stays pressed -------------------------------------------------------------------------


def hold(typist: Typist, window: Used) -> None:
    typist.point(0.5, 0.5)
    typist.do((KEY, KEY_A, 1), (BUTTON, BTN_LEFT, 1), (TOUCH_DOWN, 0, 0, 9, 9))
    window.wait_keys((KEY_A, 1))
    window.pointer.wait("button")
    window.touch.wait("down")


@pytest.mark.parametrize("end", ["released", "killed", "ended"])
def test_nothing_stays_pressed(desk: Desk, used: Used, end: str) -> None:
    hold(desk.typist, used)
    if end == "released":
        desk.typist.tell("release")
    elif end == "killed":
        desk.typist.kill()
    else:
        desk.typist.stop()
    used.wait_keys((KEY_A, 0))
    assert used.pointer.wait("button")[2:] == (BTN_LEFT, 0)
    used.touch.wait("up")


@pytest.mark.parametrize("way", ["client ends", "no window", "hidden", "another name"])
def test_held_when_the_window_goes(desk: Desk, used: Used, way: str) -> None:
    """The next one gets nothing of it, but what is pressed then."""
    with desk.connect() as connection, desk.read() as reader:
        other = Used(connection, 2)
        hold(desk.typist, used)
        match way:
            case "client ends":
                used.connection.close()
            case "no window":
                used.toplevel("destroy")
                used.connection.roundtrip()
            case "hidden":
                used.show(None)
            case "another name":
                used.toplevel("set_app_id", "org.example.other")
                used.commit()
        reader.wait_picture(random_picture(2, WIDTH, HEIGHT)[..., ::-1])
        assert not other.told()
        if way == "hidden":
            used.keyboard.wait("leave")
        elif way == "another name":
            used.wait_keys((KEY_A, 0))
            assert used.pointer.wait("button")[2:] == (BTN_LEFT, 0)
            used.touch.wait("up")
        desk.typist.tell("release")
        desk.typist.type(KEY_B)
        other.wait_keys((KEY_B, 1), (KEY_B, 0))
        desk.typist.point(0.5, 0.5)
        other.wait_place(WIDTH / 2, HEIGHT / 2)
        assert not other.told()


@pytest.mark.parametrize("config", [RESIZE], ids=[""])
def test_a_window_that_has_gone(desk: Desk, used: Used) -> None:
    """Nobody gets what is done then."""
    with desk.connect() as connection:
        other = Used(connection, 2)
        other.toplevel("set_app_id", "org.example.other")
        other.commit()
        used.connection.close()
        desk.weston.wait_log(f"gid: window {STREAM}: given back")
        for step in range(50):
            desk.typist.point(0.5, step / 50)
            desk.typist.type(KEY_A)
            desk.typist.click()
            desk.typist.do((TOUCH_DOWN, 0, 0, 9, 9))
            desk.typist.do((TOUCH_UP, 0, 0))
            desk.typist.wish(300 + step, 200)
            desk.typist.close_window()
        other.toplevel("set_app_id", APP)
        other.commit()
        with desk.read() as reader:
            reader.wait_picture(random_picture(2, WIDTH, HEIGHT)[..., ::-1])
            desk.typist.type(KEY_B)
            other.wait_keys((KEY_B, 1), (KEY_B, 0))
        assert not other.told() and not other.toplevel.has("close")


@pytest.mark.parametrize("config", [PLAIN], ids=[""])
def test_a_window_that_takes_none(cockpit: Cockpit, tmp_path: Path, config: str) -> None:
    """Where the configuration does not say whose: there is no seat for it."""
    weston = Weston(tmp_path, cockpit.env("open"))
    weston.configure(config)
    weston.start()
    with Typist(cockpit.env("cluster"), SEAT, heard=False) as typist:
        typist.type(KEY_A)
        with Display(weston.socket, weston.protocols) as display, pytest.raises(AssertionError):
            bind_seat(display, SEAT)
    assert weston.stop() == 0


OTHER = "[gid-window]\nstream=other\napp-id=org.example.other\ninput=cluster\n"


def seats(display: Display) -> list[str]:
    """All that a program sees."""
    found = []
    for event, (number, interface, _) in list(display.registry.events):
        if event == "global" and interface == "wl_seat":
            display.globals["wl_seat"] = (number, 5)
            found += display.bind("wl_seat", 5).wait("name")
    return found


@pytest.mark.parametrize(
    ("clients", "seen", "window"),
    [(PYTHON, [SEAT], "map"), ("/usr/bin/weston-terminal", ["input/other"], "other")],
    ids=["we", "others"],
)
def test_programs_that_are_named(
    cockpit: Cockpit, tmp_path: Path, clients: Path | str, seen: list[str], window: str
) -> None:
    """The window is theirs alone. They see its seat only, and nobody else does."""
    weston = Weston(tmp_path, cockpit.env("open"))
    weston.configure(f"{OTHER}{INPUT}clients={clients}\n")
    weston.start()
    with Display(weston.socket, weston.protocols) as display:
        assert seats(display) == seen
        assert "gid_safety_manager_v1" not in display.globals
        for app in (APP, "org.example.other"):
            Window(display, app).show(ShmBuffers(display, 64, 64).draw(random_picture(1, 64, 64)))
        weston.wait_log(f"gid: window {window}: taken by")
        taken = weston.read_log().count(": taken by")
        assert taken == (2 if window == "map" else 1)
    assert weston.stop() == 0


# --- size and close -----------------------------------------------------------------------------


def sizes(window: Window) -> list[tuple[int, int]]:
    """Those that it was asked for, but any."""
    window.connection.roundtrip()
    asked = [args[:2] for name, args in window.toplevel.events if name == "configure"]
    return [size for size in asked if size != (0, 0)]


@pytest.mark.parametrize("config", [RESIZE], ids=[""])
def test_size(desk: Desk, used: Used) -> None:
    """Within the bounds of the configuration; the program may choose another one."""
    for wish, size in (((400, 300), (400, 300)), ((3000, 1), (800, 64))):
        desk.typist.wish(*wish)
        wait_for(lambda size=size: sizes(used)[-1:] == [size], f"{size}")


@pytest.mark.parametrize("config", [RESIZE], ids=[""])
def test_floods_of_wishes(desk: Desk, used: Used) -> None:
    begun = time.monotonic()
    for step in range(2000):
        desk.typist.wish(100 + step % 500, 16384 - step)
    desk.typist.wish(333, 222)
    wait_for(lambda: sizes(used)[-1:] == [(333, 222)], "the last size")
    had = sizes(used)
    assert len(had) <= (time.monotonic() - begun) / INTERVAL_S + 2
    assert all(width <= 800 and height <= 600 for width, height in had)


def test_a_size_that_is_not_allowed(desk: Desk, used: Used) -> None:
    desk.typist.wish(400, 300)
    desk.typist.type(KEY_A)  # after which it would have come
    used.wait_keys((KEY_A, 1), (KEY_A, 0))
    time.sleep(2 * INTERVAL_S)
    assert not sizes(used)


def test_close(desk: Desk, used: Used) -> None:
    """The program is asked; a flood of wishes asks it once a second."""
    begun = time.monotonic()
    desk.typist.close_window()
    used.toplevel.wait("close")
    for _ in range(300):
        desk.typist.close_window()
    desk.typist.type(KEY_A)
    used.wait_keys((KEY_A, 1), (KEY_A, 0))
    closes = sum(name == "close" for name, _ in used.toplevel.events)
    assert closes <= (time.monotonic() - begun) / CLOSE_S + 1


# --- gid-view -----------------------------------------------------------------------------------

# The window of gid-view is itself one that is used from a third domain.
VIEWED = f"[gid-window]\nstream=viewer\napp-id=open.{APP}\ninput=driver\nresize=1600x1000\n"


@pytest.fixture
def desks(tmp_path: Path) -> Iterator[TwoDesks]:
    cockpit = Cockpit(CONFIG)
    cockpit.start_all()
    made = TwoDesks(cockpit, tmp_path, keys=(RESIZE, VIEWED))
    yield made
    made.finish()
    cockpit.close()


@pytest.mark.parametrize("answer", ["closes", "stays"])
def test_used_by_gid_view(desks: TwoDesks, answer: str) -> None:
    place = (LIBGID, desks.cockpit.socket("cluster"), "viewer", "cluster")
    with (
        Typist(desks.cockpit.env("driver"), "input/viewer") as typist,
        Display(desks.desk.socket, desks.desk.protocols) as connection,
        StreamReader(*place) as reader,
    ):
        view = start_view(desks)
        window = Used(connection)
        reader.wait_picture(random_picture(1, WIDTH, HEIGHT)[..., ::-1])
        wait_for(lambda: is_typed(typist, window), "a key")
        typist.point(0.25, 0.5)
        window.wait_place(WIDTH / 4, HEIGHT / 2)
        typist.wish(600, 300)
        wait_for(lambda: sizes(window)[-1:] == [(600, 300)], "the size that the window has")
        picture = window.draw(2, 600, 300)
        reader.wait_picture(picture[..., ::-1])
        typist.close_window()
        window.toplevel.wait("close")
        assert view.is_running()
        if answer == "closes":
            window.toplevel("destroy")
            connection.roundtrip()
        else:
            wait_for(lambda: typist.close_window() or not view.is_running(), "its user's patience")
            assert sizes(window)  # it is there still
        assert view.wait() == 0


def start_view(desks: TwoDesks, *options: str) -> Program:
    view = desks.start("--domain=open", f"--stream={STREAM}", "--input", *options)
    view.wait_output("input/map is taken")
    wait_for(lambda: seat_devices(desks.desk, SEAT) == 7, "the seat's devices")
    return view


def is_typed(typist: Typist, window: Used) -> bool:
    """Whether all that is between them has the keyboard by now."""
    typist.type(KEY_A)
    window.connection.roundtrip()
    return window.keyboard.has("key")


def test_a_window_in_steps(desks: TwoDesks) -> None:
    """A program that has a few pixels less than the window is not scaled."""
    with (
        Typist(desks.cockpit.env("driver"), "input/viewer"),
        Display(desks.desk.socket, desks.desk.protocols) as connection,
    ):
        view = start_view(desks, "--output=screen")
        window = Used(connection)
        wait_for(lambda: sizes(window)[-1:] == [SCREEN_SIZE], "the screen's size")
        width, height = SCREEN_SIZE[0] - 20, SCREEN_SIZE[1] - 10
        picture = window.draw(2, width, height)
        expected = numpy.zeros((SCREEN_SIZE[1], SCREEN_SIZE[0], 3), numpy.uint8)
        expected[5 : 5 + height, 10 : 10 + width] = picture[..., ::-1]
        desks.typist.point(0, 0)  # with the cursor, which is not in the picture

        def is_there() -> bool:
            screen = desks.screen.screenshot("screen")
            return numpy.array_equal(screen[CURSOR:, CURSOR:], expected[CURSOR:, CURSOR:])

        wait_for(is_there, "the window on the screen, pixel by pixel")
    assert view.stop() == 0


def test_a_program_with_a_scale(desks: TwoDesks) -> None:
    """Its window is as large as the program has it, and has all pixels of it."""
    options = ("--domain=open", f"--stream={STREAM}", "--input")
    with (
        Typist(desks.cockpit.env("driver"), "input/viewer") as typist,
        Display(desks.desk.socket, desks.desk.protocols) as connection,
    ):
        command = [BUILD / "clients/gid-view", *options]
        view = desks.screen.client(command, WAYLAND_DEBUG="client")
        view.wait_output("input/map is taken")
        wait_for(lambda: seat_devices(desks.desk, SEAT) == 7, "the seat's devices")
        window = Used(connection)

        def geometry() -> tuple[int, ...]:
            told = re.findall(r"set_window_geometry\(0, 0, (\d+), (\d+)\)", view.stderr)
            return tuple(map(int, told[-1])) if told else ()

        wait_for(lambda: geometry() == (WIDTH, HEIGHT), "the window")
        window.surface("set_buffer_scale", 2)
        window.draw(2, 2 * WIDTH, 4 * HEIGHT)
        wait_for(lambda: geometry() == (WIDTH, 2 * HEIGHT), "the window of the other scale")
        wait_for(lambda: is_typed(typist, window), "a key")
        typist.point(0.25, 0.5)
        window.wait_place(WIDTH / 4, HEIGHT)
        typist.wish(300, 200)
        wait_for(lambda: sizes(window)[-1:] == [(300, 200)], "the size that the window has")
        assert view.stop() == 0


@pytest.mark.parametrize(
    ("options", "size"), [((), (WIDTH, HEIGHT)), (("--output=screen",), SCREEN_SIZE)]
)
def test_when_the_program_closes_its_window(
    desks: TwoDesks, options: tuple[str, ...], size: tuple[int, int]
) -> None:
    """That of gid-view closes, too, and is there again, to be used, when the program has one."""
    place = (LIBGID, desks.cockpit.socket("cluster"), "viewer", "cluster")
    with (
        Typist(desks.cockpit.env("driver"), "input/viewer") as typist,
        Display(desks.desk.socket, desks.desk.protocols) as connection,
        StreamReader(*place) as reader,
    ):
        view = start_view(desks, *options)
        for _ in range(3):
            window = Used(connection)
            wait_for(lambda: reader.next().pixels.shape[1::-1] == size, "gid-view's window")
            wait_for(lambda window=window: is_typed(typist, window), "a key")
            window.close()
            reader.wait_hidden(EMPTY)
        assert "map: the window was closed" in view.stderr
    assert view.stop() == 0


def test_once(desks: TwoDesks) -> None:
    """Then gid-view ends with the program's window."""
    place = (LIBGID, desks.cockpit.socket("cluster"), "viewer", "cluster")
    with (
        Typist(desks.cockpit.env("driver"), "input/viewer"),
        Display(desks.desk.socket, desks.desk.protocols) as connection,
        StreamReader(*place) as reader,
    ):
        view = start_view(desks, "--once")
        window = Used(connection)
        reader.wait_picture(random_picture(1, WIDTH, HEIGHT)[..., ::-1])
        window.close()
        assert view.wait() == 0


LIMITED = (400, 300)  # on the screen 480 x 360, in its middle
COLOURS = ((250, 0, 0), (0, 250, 0), (0, 0, 250), (250, 250, 0))  # of its quarters


def quarters(width: int, height: int) -> numpy.ndarray:
    picture = numpy.empty((height, width, 3), numpy.uint8)
    for index, colour in enumerate(COLOURS):
        top, left = index // 2 * height // 2, index % 2 * width // 2
        picture[top : top + height // 2, left : left + width // 2] = colour
    return picture


def test_a_program_that_is_not_as_large(desks: TwoDesks) -> None:
    """It has a largest size: all of it is seen, and the pointer is where it is seen to be."""
    width, height = LIMITED
    place = (LIBGID, desks.cockpit.socket("cluster"), "viewer", "cluster")
    with (
        Typist(desks.cockpit.env("driver"), "input/viewer") as typist,
        Display(desks.desk.socket, desks.desk.protocols) as connection,
        StreamReader(*place),
    ):
        view = start_view(desks, "--output=screen")
        window = Used(connection)
        window.toplevel("set_max_size", *LIMITED)
        window.commit()
        wait_for(lambda: sizes(window)[-1:] == [SCREEN_SIZE], "to be asked for the screen's size")
        window.show(ShmBuffers(connection, *LIMITED).draw(quarters(*LIMITED)))
        screen_width, screen_height = SCREEN_SIZE
        shown_width = width * screen_height // height
        left = (screen_width - shown_width) // 2

        def colours() -> list[tuple[int, ...]]:
            """In the middles of its quarters, and then left and right of it."""
            screen = desks.screen.screenshot("screen")[..., ::-1]
            xs = (left + shown_width // 4, left + shown_width * 3 // 4)
            places = [(x, y) for y in (screen_height // 4, screen_height * 3 // 4) for x in xs]
            places += [(left - 3, screen_height // 2), (left + shown_width + 2, screen_height // 2)]
            return [tuple(screen[y, x].tolist()) for x, y in places]

        wait_for(lambda: colours() == [*COLOURS, (0, 0, 0), (0, 0, 0)], "the whole window")
        for x, y in ((0.5, 0.5), (10.25, 20.75), (398.5, 298.5), (200, 1)):
            scale = shown_width / width
            typist.point((left + x * scale) / screen_width, y * scale / screen_height)
            window.wait_place(x, y)
        asked = sizes(window)
        time.sleep(3 * INTERVAL_S)
        assert sizes(window) == asked  # once
        assert view.stop() == 0
