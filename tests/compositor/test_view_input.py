# SPDX-License-Identifier: MIT
"""gid-view --input: a desktop of another domain is used from its window."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from lib.cockpit import Cockpit
from lib.input_window import FIXED, InputWindow
from lib.painter import Painter
from lib.program import BUILD
from lib.stream_reader import StreamReader
from lib.two_desks import CONFIG, DESK_SIZE, SCREEN_SIZE, TwoDesks, settle
from lib.typist import BUTTON, KEY, RELATIVE, TOUCH_DOWN, TOUCH_UP, Typist

KEY_A, KEY_Q, KEY_SCROLL_LOCK = 30, 16, 70
BTN_LEFT = 0x110
LEFT, WIDTH = 80 / 800, 640 / 800  # of the picture on the screen


@pytest.fixture(scope="module")
def desks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoDesks]:
    """For all tests, each of which ends its view."""
    cockpit = Cockpit(CONFIG)
    cockpit.start_all()
    made = TwoDesks(cockpit, tmp_path_factory.mktemp("desks"))
    yield made
    made.finish()
    cockpit.close()


@pytest.mark.parametrize("background", ["000000", "none"])
def test_keys_pointer_and_fingers(desks: TwoDesks, background: str) -> None:
    view, window = desks.use(f"--background={background}")
    typist = desks.typist
    typist.type(KEY_A)
    assert window.wait_keys(2) == [(KEY_A, 1), (KEY_A, 0)]
    typist.point(LEFT + WIDTH / 4, 0.5)
    window.wait_place(160, 180)
    typist.point(LEFT + WIDTH / 2, 0.25)
    window.wait_place(320, 90)
    typist.click()
    assert window.wait_button() == (BTN_LEFT, 1)
    assert window.wait_button() == (BTN_LEFT, 0)
    at = (int((LEFT + WIDTH / 2) * 65536), 32768)
    typist.do((TOUCH_DOWN, 0, 0, *at))
    assert [round(place / FIXED) for place in window.touch.wait("down")[4:]] == [320, 180]
    typist.do((TOUCH_UP, 0, 0))
    window.touch.wait("up")
    assert view.stop() == 0


def test_beside_the_picture(desks: TwoDesks) -> None:
    """What is not on the picture is not sent."""
    view, window = desks.use()
    typist = desks.typist
    typist.point(0.5, 0.5)
    window.wait_place(320, 180)
    typist.point(0.02, 0.5)
    typist.click()
    typist.do((TOUCH_DOWN, 1, 0, 9, 9))
    typist.do((TOUCH_UP, 1, 0))
    typist.type(KEY_A)  # after which everything else would have come
    window.wait_keys(2)
    assert not window.pointer.has("button") and not window.touch.has("down")
    assert view.stop() == 0


def test_over_the_edge(desks: TwoDesks) -> None:
    """With a button held the pointer goes on beside the picture. It is not sent where that was
    pressed beside it, until no button is held."""
    view, window = desks.use()
    typist = desks.typist
    typist.point(LEFT + WIDTH / 2, 0.5)
    window.wait_place(320, 180)
    typist.do((BUTTON, BTN_LEFT, 1))
    assert window.wait_button() == (BTN_LEFT, 1)
    typist.point(0.02, 0.25)
    window.wait_place(0, 90)
    typist.do((BUTTON, BTN_LEFT, 0))
    assert window.wait_button() == (BTN_LEFT, 0)
    typist.do((BUTTON, BTN_LEFT, 1))
    typist.point(LEFT + WIDTH / 4, 0.5)
    typist.type(KEY_A)
    window.wait_keys(2)
    assert window.last_place() == pytest.approx((0, 90), abs=0.5)
    typist.do((BUTTON, BTN_LEFT, 0))
    window.wait_place(160, 180)
    assert not window.pointer.has("button")
    assert view.stop() == 0


FINGERS = range(10)


def press_all(desks: TwoDesks, window: InputWindow) -> set[int]:
    """A key, a button and ten fingers, of which this is what the window calls them."""
    typist = desks.typist
    typist.point(0.5, 0.5)
    window.wait_place(320, 180)
    typist.do((KEY, KEY_A, 1), (BUTTON, BTN_LEFT, 1))
    assert window.wait_keys(1) == [(KEY_A, 1)]
    assert window.wait_button() == (BTN_LEFT, 1)
    at = [int((LEFT + WIDTH * (finger + 0.5) / len(FINGERS)) * 65536) for finger in FINGERS]
    typist.do(*((TOUCH_DOWN, finger, 0, x, 32768) for finger, x in zip(FINGERS, at, strict=True)))
    down = {window.touch.wait("down")[3] for _ in FINGERS}
    assert len(down) == len(FINGERS)
    return down


def wait_released(window: InputWindow, down: set[int]) -> None:
    assert window.wait_keys(1) == [(KEY_A, 0)]
    assert window.wait_button() == (BTN_LEFT, 0)
    assert {window.touch.wait("up")[2] for _ in FINGERS} == down


@pytest.mark.parametrize("end", ["focus", "killed", "closed"])
def test_nothing_stays_pressed(desks: TwoDesks, end: str) -> None:
    view, window = desks.use()
    down = press_all(desks, window)
    if end == "focus":
        Painter(desks.screen.socket, "screen", SCREEN_SIZE).paint(1)
    elif end == "killed":
        view.kill()
    else:
        assert view.stop() == 0
    wait_released(window, down)
    desks.typist.tell("release")
    view.kill()


@pytest.mark.parametrize("domain", ["cluster", "open"])
def test_a_gidd_that_is_killed(tmp_path: Path, domain: str) -> None:
    """Who is used and who uses it do without: what is held stays so until its user lets it go."""
    cockpit = Cockpit(CONFIG)
    cockpit.start_all()
    desks = TwoDesks(cockpit, tmp_path)
    view, window = desks.use()
    down = press_all(desks, window)
    cockpit.restart(domain)
    desks.typist.tell("release")
    wait_released(window, down)
    desks.settle(window)
    assert view.stop() == 0
    desks.finish()
    cockpit.close()


def test_grab(desks: TwoDesks) -> None:
    """The pointer of the screen stands still while that of the desktop moves, until a key ends it,
    which itself is not sent."""
    view, window = desks.use()
    typist = desks.typist
    typist.point(LEFT + WIDTH / 2, 0.5)
    window.wait_place(320, 180)
    typist.click()  # without which Weston locks no pointer
    typist.type(KEY_SCROLL_LOCK)
    for _ in range(50):
        move_right(typist, 10)
        typist.type(KEY_A)
        assert window.wait_keys(2) == [(KEY_A, 1), (KEY_A, 0)]
    assert window.last_place()[0] > 600  # at the desktop's edge
    typist.type(KEY_SCROLL_LOCK)
    # it is where the screen's pointer is, which may have moved a little before it was locked
    window.display.wait_until(lambda: window.last_place()[0] < 500, "the pointer's place")
    assert view.stop() == 0


def move_right(typist: Typist, pixels: int) -> None:
    typist.do((RELATIVE, 0, 0, pixels * FIXED, 0, pixels * FIXED, 0))


def test_two_who_take_it(desks: TwoDesks) -> None:
    """Such as two gid-inputs of one stream: its user is told why each key comes twice."""
    view, _ = desks.use()
    there = desks.cockpit.socket("open")
    with StreamReader(BUILD / "libgid/libgid.so", there, "input/desk", "cluster"):
        view.wait_output("input/desk is taken by 2 programs, and each of them plays it")
    assert view.stop() == 0


def test_a_second_view(desks: TwoDesks) -> None:
    """It shows the picture, and gets the input when the first one ends."""
    first = desks.view()
    second = desks.start_view()
    second.wait_output("no input: input/desk: another program of this domain sends it")
    assert first.stop() == 0
    second.wait_output("input/desk is taken")
    window = desks.window()
    desks.settle(window)
    desks.typist.type(KEY_Q)
    assert window.wait_keys(2) == [(KEY_Q, 1), (KEY_Q, 0)]
    assert second.stop() == 0


SIDE = "[gid-output]\nname=side\nstream=side\nmode=640x360\ninput=driver\n"


@pytest.fixture
def two_seats(tmp_path: Path) -> Iterator[TwoDesks]:
    """The view is on the output of the seat that comes after the screen's."""
    cockpit = Cockpit(CONFIG)
    cockpit.start_all()
    desks = TwoDesks(cockpit, tmp_path, keys=("", SIDE))
    view = desks.taken(desks.start("--domain=open", "--stream=desk", "--input", "--output=side"))
    yield desks
    assert view.stop() == 0
    desks.finish()
    cockpit.close()


def side_typist(desks: TwoDesks) -> Typist:
    return Typist(desks.cockpit.env("driver"), "input/side")


def test_another_seat(two_seats: TwoDesks) -> None:
    desks = two_seats
    with side_typist(desks) as typist:
        window = desks.window()
        settle(typist, window)
        typist.type(KEY_A)
        assert window.wait_keys(2) == [(KEY_A, 1), (KEY_A, 0)]
        typist.point(0.25, 0.5)
        window.wait_place(160, 180)
        typist.do((KEY, KEY_Q, 1), (BUTTON, BTN_LEFT, 1))
        assert window.wait_keys(1) == [(KEY_Q, 1)]
        assert window.wait_button() == (BTN_LEFT, 1)
        Painter(desks.screen.socket, "side", DESK_SIZE).paint(1)
        assert window.wait_keys(1) == [(KEY_Q, 0)]
        assert window.wait_button() == (BTN_LEFT, 0)


def test_users_of_two_seats(two_seats: TwoDesks) -> None:
    """Both have the keyboard, as desktop-shell gives a new window that of all seats. Neither
    releases what the other one holds, also when its seat goes."""
    desks, one = two_seats, two_seats.typist
    with side_typist(desks) as other:
        window = desks.window()
        settle(other, window)
        settle(one, window)
        one.press(KEY_A)
        assert window.wait_keys(1) == [(KEY_A, 1)]
        other.type(KEY_A)
        other.press(KEY_Q)
        assert window.wait_keys(1) == [(KEY_Q, 1)]
    assert window.wait_keys(1) == [(KEY_Q, 0)]
    one.lift(KEY_A)
    assert window.wait_keys(1) == [(KEY_A, 0)]


def test_a_desktop_that_comes_back(desks: TwoDesks) -> None:
    """The view and its input go on when the compositor is another one."""
    view = desks.view()
    desks.desk.kill()
    view.wait_output("input/desk is taken by nobody now")
    desks.desk.start()
    desks.wait_seat()
    window = desks.window()
    desks.settle(window)
    desks.typist.type(KEY_A)
    assert window.wait_keys(2) == [(KEY_A, 1), (KEY_A, 0)]
    assert view.stop() == 0
    assert desks.desk.stop() == 0  # the last test: this Weston ends with it
