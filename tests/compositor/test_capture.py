# SPDX-License-Identifier: MIT
"""gid-capture: a compositor's output as a stream, and what readers get of it."""

import itertools
import json
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy
import pytest
from lib.cockpit import GIDCTL, Cockpit
from lib.machines import CONFIG, start
from lib.painter import Painter
from lib.program import BUILD, Program, wait_for
from lib.snapshot import snap
from lib.stream_reader import StreamReader, keeper
from lib.sway import Sway, why_no_sway
from lib.weston import HEIGHT, WIDTH, Weston

from lab.domains.wayland import Display, protocol_files

CAPTURE = BUILD / "clients/gid-capture"
LIBGID = BUILD / "libgid/libgid.so"
EXT, WLR = "ext-image-copy-capture-v1", "wlr-screencopy-unstable-v1"
WINDOWS = "ext_foreign_toplevel_image_capture_source_manager_v1"
PLATE = "pattern=zone-plate kx2=20 ky2=13"


class Screen:
    """A compositor whose output is captured, in the domain `cluster`."""

    def __init__(self, cockpit: Cockpit, compositor: Weston | Sway, output: str, by: str) -> None:
        self.cockpit = cockpit
        self.compositor = compositor
        self.output = output  # its name
        self.protocol = by
        self.environment = compositor.environment

    def run(self, *command: str | Path) -> Program:
        return Program(command, self.environment, self.compositor.folder)

    def capture(self, *options: str) -> Program:
        """gid-capture, when it has published the stream."""
        program = self.run(CAPTURE, "--stream=desktop", *options)
        wait_for(
            lambda: any(s["name"] == "desktop" for s in self.cockpit.status("cluster")["streams"]),
            "the stream desktop",
        )
        return program

    def show_plate(self) -> None:
        """A window with a picture of fine lines that does not move."""
        caps = f"video/x-raw,format=BGRx,width={WIDTH},height={HEIGHT},framerate=30/1"
        self.run(
            *f"gst-launch-1.0 -q videotestsrc is-live=true {PLATE} ! {caps} ! waylandsink".split()
        )
        wait_for(lambda: len(numpy.unique(self.screenshot())) > 50, "the picture on the output")

    def screenshot(self) -> numpy.ndarray:
        return self.compositor.screenshot()

    def follow(self) -> Program:
        """A reader in the other domain, which has got a picture."""
        command = "gst-launch-1.0 gidsrc domain=cluster stream=desktop ! fakesink"
        reader = self.cockpit.run("open", command.split())
        maps = Path(f"/proc/{reader.pid}/maps")
        wait_for(lambda: "gid-screen" in maps.read_text(), "the reader to have a picture")
        return reader

    def read(self, frames: int, to: Path) -> numpy.ndarray:
        """So many frames of the stream: blue, green, red."""
        command = f"gst-launch-1.0 -q gidsrc domain=cluster stream=desktop num-buffers={frames} ! "
        command += f"videoconvert ! video/x-raw,format=BGRx ! filesink location={to}"
        assert self.cockpit.run("open", command.split()).wait() == 0
        return numpy.fromfile(to, numpy.uint8).reshape(frames, HEIGHT, WIDTH, 4)[..., :3]


def globals_of(sway: Sway) -> dict:
    with Display(sway.socket, protocol_files()) as display:
        return display.globals


@pytest.fixture
def windows(cockpit: Cockpit, tmp_path: Path) -> Iterator[Screen]:
    """A compositor of which single windows can be captured."""
    if why := why_no_sway():
        pytest.skip(why)
    sway = Sway(tmp_path, cockpit.env("cluster"))
    if WINDOWS in globals_of(sway):
        yield Screen(cockpit, sway, "HEADLESS-1", EXT)
        sway.stop()
    else:
        sway.stop()
        pytest.skip("this sway gives no single windows; that of Debian 14 does")


@pytest.fixture(params=["weston", "sway"])
def screen(request: pytest.FixtureRequest, cockpit: Cockpit, tmp_path: Path) -> Iterator[Screen]:
    if request.param == "sway":
        if why := why_no_sway():
            pytest.skip(why)
        sway = Sway(tmp_path, cockpit.env("cluster"))
        by = EXT if "ext_image_copy_capture_manager_v1" in globals_of(sway) else WLR
        yield Screen(cockpit, sway, "HEADLESS-1", by)
        sway.stop()
    else:
        weston = Weston(tmp_path, cockpit.env("cluster"))
        weston.start()
        yield Screen(cockpit, weston, "headless", "weston-output-capture")
        if weston.is_running():
            assert weston.stop() == 0, weston.read_log()


def stop(program: Program) -> dict:
    """Ends it. Returns its counts."""
    assert program.stop() == 0, program.stderr
    return json.loads(program.stdout)


def test_a_reader_sees_what_is_shown(screen: Screen, tmp_path: Path) -> None:
    screen.show_plate()
    program = screen.capture()
    (picture,) = screen.read(1, tmp_path / "frame")
    assert numpy.array_equal(picture, screen.screenshot())
    counts = stop(program)
    assert counts["copied_frames"] == 0
    assert counts["frames"] >= 1


@pytest.mark.parametrize(("named", "status"), [(CAPTURE, 0), ("/usr/bin/gid-view", 1)])
def test_weston_lets_whom_it_names(
    cockpit: Cockpit, tmp_path: Path, named: str | Path, status: int
) -> None:
    weston = Weston(tmp_path, cockpit.env("cluster"))
    weston.command.remove("--debug")  # with which it lets everybody
    weston.configure(f"[gid]\ncapture-clients={named}\n")
    weston.start()
    program = Screen(cockpit, weston, "headless", "").capture("--frames=1")
    command = "gst-launch-1.0 gidsrc domain=cluster stream=desktop ! fakesink"
    cockpit.run("open", command.split())
    assert program.wait() == status
    if status:
        assert "unauthorized" in program.stderr
        assert "capture-clients" in program.stderr
    assert weston.stop() == 0


def wait_painted(screen: Screen, seed: int, size: tuple[int, int]) -> None:
    """Until the stream shows a picture as it is seen on the output."""
    painter = Painter(screen.compositor.socket, screen.output, size)
    painted = painter.paint(seed)

    def is_right() -> bool:
        seen = snap(screen.cockpit, "open", "cluster", "desktop")[..., ::-1]
        return numpy.array_equal(seen, painted)

    wait_for(is_right, "the picture on the output")
    painter.client.display.close()


@pytest.mark.parametrize("turn", ["90", "270", "flipped-90"])
def test_a_sway_that_is_turned(cockpit: Cockpit, tmp_path: Path, turn: str) -> None:
    """As a panel that stands on its side, also while it is captured."""
    if why := why_no_sway():
        pytest.skip(why)
    sway = Sway(tmp_path, cockpit.env("cluster"))
    screen = Screen(cockpit, sway, "HEADLESS-1", "")
    program = screen.capture()
    screen.follow()
    sway.set_output(f"transform {turn}")
    wait_painted(screen, 1, (HEIGHT, WIDTH))
    assert stop(program)["copied_frames"] == 0
    sway.stop()


def test_an_output_that_sleeps(cockpit: Cockpit, tmp_path: Path) -> None:
    """Its stream stays, and goes on when it wakes."""
    if why := why_no_sway():
        pytest.skip(why)
    sway = Sway(tmp_path, cockpit.env("cluster"))
    screen = Screen(cockpit, sway, "HEADLESS-1", "")
    program = screen.capture()
    screen.follow()
    for seed in (1, 2):
        wait_painted(screen, seed, (WIDTH, HEIGHT))
        sway.set_power(False)
        snap(cockpit, "open", "cluster", "desktop")  # who comes now sees the last one
        sway.set_power(True)
    wait_painted(screen, 3, (WIDTH, HEIGHT))
    stop(program)
    sway.stop()


def has_stream(cockpit: Cockpit) -> bool:
    return any(stream["name"] == "desktop" for stream in cockpit.status("cluster")["streams"])


def test_an_output_that_goes(cockpit: Cockpit, tmp_path: Path) -> None:
    """Its stream ends with it, and begins anew when it is back, of whichever form: for who reads it
    meanwhile, too."""
    if why := why_no_sway():
        pytest.skip(why)
    sway = Sway(tmp_path, cockpit.env("cluster"))
    screen = Screen(cockpit, sway, "HEADLESS-1", "")
    program = screen.capture("--output=HEADLESS-1")
    with StreamReader(LIBGID, cockpit.socket("open"), "desktop", "cluster") as reader:
        for seed, turn in ((1, "90"), (2, "normal"), (3, "normal")):
            wait_painted(screen, seed, (HEIGHT, WIDTH) if seed == 2 else (WIDTH, HEIGHT))
            sway.set_output("disable")
            wait_for(lambda: not has_stream(cockpit), "the end of the stream")
            sway.set_output(f"enable transform {turn}")
            wait_for(lambda: has_stream(cockpit), "the stream")
        wait_painted(screen, 4, (WIDTH, HEIGHT))
        assert reader.next().pixels.shape[:2] == (HEIGHT, WIDTH)
    assert "desktop: the output is gone; waiting for it to come back" in program.stderr
    assert stop(program)["frames"] >= 4
    sway.stop()


def test_an_output_that_sleeps_at_first(cockpit: Cockpit, tmp_path: Path) -> None:
    """As one does when nobody is there: it is captured when it wakes."""
    if why := why_no_sway():
        pytest.skip(why)
    sway = Sway(tmp_path, cockpit.env("cluster"))
    screen = Screen(cockpit, sway, "HEADLESS-1", "")
    sway.set_power(False)
    program = screen.capture()
    with StreamReader(LIBGID, cockpit.socket("open"), "desktop", "cluster"):
        sway.set_power(True)
        wait_painted(screen, 1, (WIDTH, HEIGHT))
    stop(program)
    sway.stop()


def test_a_weston_that_is_turned(cockpit: Cockpit, tmp_path: Path) -> None:
    weston = Weston(tmp_path, cockpit.env("cluster"))
    weston.configure("[output]\nname=headless\ntransform=rotate-90\n")
    weston.start()
    screen = Screen(cockpit, weston, "headless", "")
    program = screen.capture()
    wait_painted(screen, 1, (HEIGHT, WIDTH))
    stop(program)
    assert weston.stop() == 0, weston.read_log()


def test_nothing_is_captured_for_nobody(screen: Screen) -> None:
    assert stop(screen.capture())["captured"] == 0


def test_who_comes_late_to_a_still_picture_sees_it(screen: Screen, tmp_path: Path) -> None:
    screen.show_plate()
    screen.capture()
    first = screen.read(1, tmp_path / "first")
    second = screen.read(1, tmp_path / "second")
    assert numpy.array_equal(first, second)


def test_who_comes_late_has_nothing_sent_again(screen: Screen, tmp_path: Path) -> None:
    program = screen.capture()
    screen.follow()
    for number in range(5):
        screen.read(1, tmp_path / str(number))
    assert stop(program)["frames"] <= 2  # it may be of before the output was cleared


def test_a_still_picture_is_sent_once(screen: Screen) -> None:
    """And sent again to nobody but who comes late, however long it stands."""
    begun = time.monotonic()
    program = screen.capture()
    screen.follow()
    time.sleep(1)  # in which nothing changes
    counts = stop(program)
    assert counts["frames"] <= 2
    # Weston does not say what has changed: it is asked ten times a second, of 60 refreshes.
    assert counts["captured"] <= 10 + 10 * (time.monotonic() - begun)


def test_what_moves_comes_whole_and_in_order(screen: Screen, tmp_path: Path) -> None:
    """A ball that jumps: no picture of the stream is torn, or comes twice."""
    caps = f"video/x-raw,format=BGRx,width={WIDTH},height={HEIGHT},framerate=30/1"
    screen.run(
        *f"gst-launch-1.0 -q videotestsrc is-live=true pattern=ball motion=sweep ! {caps} ! "
        "waylandsink".split()
    )
    # White on black; Weston's own first picture is grey all over.
    wait_for(lambda: numpy.ptp(screen.screenshot()) > 100, "the ball")
    screen.capture()
    pictures = screen.read(40, tmp_path / "frames")
    assert all(picture.any() for picture in pictures)
    again = [(a == b).all() for a, b in itertools.pairwise(pictures)]
    assert sum(again) <= 2, again  # as it starts, and where the reader came late


def test_readers_cannot_write_it(screen: Screen) -> None:
    """The memory of the pictures is mapped for writing by the compositor alone."""
    program = screen.capture()
    reader = screen.follow()
    for pid in (program.pid, reader.pid):
        maps = Path(f"/proc/{pid}/maps").read_text()
        assert set(re.findall(r" (\S{4}) .*gid-screen", maps)) == {"r--s"}
    writable = set()
    for link in Path(f"/proc/{reader.pid}/fd").iterdir():
        if "gid-screen" in os.readlink(link):
            flags = Path(f"/proc/{reader.pid}/fdinfo/{link.name}").read_text()
            writable.add(int(re.search(r"flags:\s+(\d+)", flags)[1], 8) & os.O_ACCMODE)
    assert writable == {os.O_RDONLY}


def test_at_most_so_many_a_second(screen: Screen, tmp_path: Path) -> None:
    screen.run("weston-simple-shm")  # draws at each refresh
    program = screen.capture("--rate=10")
    start = time.monotonic()
    screen.read(11, tmp_path / "frames")
    passed = time.monotonic() - start
    stop(program)
    assert passed >= 0.9  # ten intervals of 100 ms, less what the first picture waited


def test_the_list_names_outputs_and_protocols(screen: Screen) -> None:
    listed = screen.run(CAPTURE, "--list")
    assert listed.wait() == 0
    assert f"output {screen.output}: {WIDTH}x{HEIGHT}, by {screen.protocol}" in listed.stdout


def test_an_unknown_output_is_told(screen: Screen) -> None:
    program = screen.run(CAPTURE, "--stream=desktop", "--output=HDMI-A-9")
    assert program.wait() == 1
    assert f"no output HDMI-A-9; it has:\noutput {screen.output}" in program.stderr


def test_a_compositor_without_windows_to_capture(screen: Screen) -> None:
    program = screen.run(CAPTURE, "--stream=desktop", "--window=editor")
    assert program.wait() == 1
    assert "window" in program.stderr


def test_a_compositor_that_ends(screen: Screen) -> None:
    program = screen.capture()
    screen.compositor.kill()
    assert program.wait() == 1
    assert "the compositor went away" in program.stderr


def test_it_ends_while_readers_hold_pictures(screen: Screen) -> None:
    program = screen.capture()
    reader = screen.follow()
    reader.signal(signal.SIGSTOP)
    stop(program)
    reader.signal(signal.SIGCONT)
    assert reader.is_running()


def test_readers_that_take_no_picture_stop_nobody(screen: Screen, tmp_path: Path) -> None:
    """One that stands still has its credit, and another one all pictures."""
    screen.run("weston-simple-shm")
    screen.capture()
    sleeper = screen.follow()
    sleeper.signal(signal.SIGSTOP)
    start = time.monotonic()
    screen.read(180, tmp_path / "frames")
    assert time.monotonic() - start < 120  # not a picture a lease, of one second each
    sleeper.signal(signal.SIGCONT)


def test_readers_that_keep_all(screen: Screen, tmp_path: Path) -> None:
    """And say all the time that they live: others get what is new."""
    screen.run("weston-simple-shm")
    screen.capture()
    with ExitStack() as stack:
        for number in range(3):
            stack.enter_context(keeper(LIBGID, screen.cockpit.socket("open"), "desktop"))
            screen.read(1, tmp_path / str(number))
        screen.read(14, tmp_path / "frames")  # more than there is memory for


def slabs_for_machines(cockpit: Cockpit) -> list[str]:
    slabs = cockpit.status("open")["slabs"]
    return [slab["gid"] for slab in slabs if slab["memory"] == "window"]


def take_from_machines(cockpit: Cockpit) -> None:
    (before,) = wait_for(lambda: slabs_for_machines(cockpit), "memory that they see")
    revoke = cockpit.run("open", [GIDCTL, "revoke", "open", before], "revoke")
    assert revoke.wait() == 0, revoke.stderr
    wait_for(lambda: before not in slabs_for_machines(cockpit), "it to be left")


@pytest.mark.parametrize("room", ["of any", "once"])
def test_memory_that_is_taken_from_other_machines(
    make_cockpit: Callable[..., Cockpit], tmp_path: Path, room: str
) -> None:
    """More often than there are slots of it: they go on in other memory, which has them all; where
    there is no room for that beside it, in what is there when it is gone."""
    config = CONFIG.replace("window=4M", "window=64M")
    if room == "once":
        config = config.replace("number=1\n", "number=1\nclient-memory=4M\n")
    cockpit = make_cockpit(config)
    start(cockpit)
    weston = Weston(tmp_path, cockpit.env("open"))
    weston.start()
    Program(["weston-simple-shm"], weston.environment, tmp_path)
    capture = Program([CAPTURE, "--stream=desktop"], weston.environment, tmp_path)
    wait_for(lambda: cockpit.status("open")["streams"], "the stream")
    with StreamReader(LIBGID, cockpit.socket("host"), "desktop", "open") as reader:
        for _ in range(8):
            reader.next()
            take_from_machines(cockpit)
        for _ in range(10):
            reader.next()
    stop(capture)


def test_a_still_picture_whose_memory_was_taken(
    make_cockpit: Callable[..., Cockpit], tmp_path: Path
) -> None:
    """And for which there was no other: who comes then gets it anew, though nothing changes."""
    config = CONFIG.replace("window=4M", "window=64M")
    cockpit = make_cockpit(config.replace("number=1\n", "number=1\nclient-memory=4M\n"))
    start(cockpit)
    weston = Weston(tmp_path, cockpit.env("open"))
    weston.start()
    capture = Program([CAPTURE, "--stream=desktop"], weston.environment, tmp_path)
    wait_for(lambda: cockpit.status("open")["streams"], "the stream")
    with StreamReader(LIBGID, cockpit.socket("host"), "desktop", "open") as first:
        first.next()
        take_from_machines(cockpit)
        with StreamReader(LIBGID, cockpit.socket("host"), "desktop", "open") as late:
            late.next()
    stop(capture)


def test_readers_on_other_machines_that_keep_all(
    make_cockpit: Callable[..., Cockpit], tmp_path: Path
) -> None:
    """And say all the time that they live: others there get what is new."""
    cockpit = make_cockpit(CONFIG.replace("window=4M", "window=64M"))
    start(cockpit)
    weston = Weston(tmp_path, cockpit.env("open"))
    weston.start()
    Program(["weston-simple-shm"], weston.environment, tmp_path)
    capture = Program([CAPTURE, "--stream=desktop"], weston.environment, tmp_path)
    wait_for(lambda: cockpit.status("open")["streams"], "the stream")
    place = (LIBGID, cockpit.socket("host"), "desktop", "open")
    with StreamReader(*place) as reader, ExitStack() as stack:
        for _ in range(3):  # each of which keeps other pictures than those before it
            stack.enter_context(keeper(*place))
            for _ in range(14):
                reader.next()
    stop(capture)


def window_of(windows: Screen) -> str:
    """The identifier of the only one."""
    listed = windows.run(CAPTURE, "--list")
    assert listed.wait() == 0
    (identifier,) = re.findall(rf"^window (\w+): .* by {EXT}$", listed.stdout, re.MULTILINE)
    return identifier


def test_a_window_alone(windows: Screen, tmp_path: Path) -> None:
    """Its own pixels, whatever covers it, until it is gone."""
    below = Painter(windows.compositor.socket, windows.output, (WIDTH, HEIGHT))
    picture = below.paint(1)
    program = windows.capture(f"--window={window_of(windows)}")
    covering = Painter(windows.compositor.socket, windows.output, (WIDTH, HEIGHT)).paint(2)
    wait_for(lambda: numpy.array_equal(windows.screenshot(), covering), "the other one above it")
    (seen,) = windows.read(1, tmp_path / "frame")
    assert numpy.array_equal(seen, picture)
    below.client.display.close()
    assert program.wait() == 1
    assert "the window is gone" in program.stderr


def test_a_window_that_changes(windows: Screen, tmp_path: Path) -> None:
    painter = Painter(windows.compositor.socket, windows.output, (WIDTH, HEIGHT))
    painter.paint(1)
    program = windows.capture(f"--window={window_of(windows)}")
    for seed in range(2, 5):
        picture = painter.paint(seed)
        wait_for(
            lambda p=picture: numpy.array_equal(windows.read(1, tmp_path / "frame")[0], p),
            "what the window shows now",
        )
    assert stop(program)["copied_frames"] == 0
