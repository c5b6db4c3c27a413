# SPDX-License-Identifier: MIT
"""[gid-output]: outputs of Weston that are streams, and what readers get of them."""

import ctypes
import itertools
import os
import re
import signal
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import numpy
import pytest
from lib.cockpit import Cockpit
from lib.forwarding import ShmBuffers, Window
from lib.input_window import InputWindow
from lib.length import at_length_but
from lib.painter import Painter
from lib.program import BUILD, python_env, wait_for
from lib.stream_reader import Frame, StreamReader, keeper
from lib.typist import BUTTON, Typist
from lib.weston import ARGB8888, HEIGHT, SHM_FORMATS, WIDTH, Weston, bind_output

from lab.domains.wayland import Display

LEFT = "[gid-output]\nname=left\nstream=screen/left\nmode=480x270\n"
MIRROR = "[gid-output]\nmirror=headless\nstream=mirror\n"
SECOND_NS = 10**9
COPIED = 1 << 12  # in a frame's flags
LIBGID = BUILD / "libgid/libgid.so"


class Outputs:
    """A Weston in `cluster`, whose outputs are read in `open`."""

    def __init__(self, cockpit: Cockpit, folder: Path, renderer: str) -> None:
        self.cockpit, self.folder, self.renderer = cockpit, folder, renderer
        self.weston: Weston | None = None

    def start(self, config: str, *options: str, kind: str = "kiosk") -> Weston:
        # the desktop's shell moves fullscreen windows to the first output where there is no seat
        how = {"kind": kind, "options": options}
        self.weston = Weston(self.folder, self.cockpit.env("cluster"), self.renderer, **how)
        self.weston.configure(config)
        self.weston.start()
        count = config.count("[gid-output]")
        wait_for(lambda: len(self.streams()) == count, f"{count} streams")
        return self.weston

    def streams(self) -> dict[str, dict]:
        return {s["name"]: s for s in self.cockpit.status("cluster")["streams"]}

    def read(self, stream: str) -> StreamReader:
        return StreamReader(LIBGID, self.cockpit.socket("open"), stream)


@pytest.fixture(params=["pixman", "gl"])
def outputs(request: pytest.FixtureRequest, cockpit: Cockpit, tmp_path: Path) -> Iterator[Outputs]:
    made = Outputs(cockpit, tmp_path, request.param)
    yield made
    if made.weston is not None and made.weston.is_running():
        assert made.weston.stop() == 0, made.weston.read_log()


def gl_at_length(function: Callable[..., None]) -> Callable[..., None]:
    """What it asks for has nothing to do with how Weston draws."""
    cases = at_length_but(["pixman", "gl"], "pixman")
    return pytest.mark.parametrize("outputs", cases, indirect=True)(function)


AS_BELOW = pytest.param((480, 270), marks=pytest.mark.at_length)


@pytest.mark.parametrize("size", [AS_BELOW, (1366, 768), (483, 271)])
def test_a_reader_sees_an_output_without_a_screen(outputs: Outputs, size: tuple[int, int]) -> None:
    weston = outputs.start(LEFT.replace("480x270", "{}x{}".format(*size)))
    painter = Painter(weston.socket, "left", size)
    picture = painter.paint(1)
    with outputs.read("screen/left") as reader:
        reader.wait_picture(picture)
        assert numpy.array_equal(weston.screenshot("left"), picture)


def test_a_mirror_shows_what_the_screen_shows(outputs: Outputs) -> None:
    weston = outputs.start(MIRROR)
    painter = Painter(weston.socket, "headless", (WIDTH, HEIGHT))
    with outputs.read("mirror") as reader:
        for seed in range(3):
            reader.wait_picture(painter.paint(seed))


def test_what_changed_is_told(outputs: Outputs) -> None:
    weston = outputs.start(LEFT)
    painter = Painter(weston.socket, "left", (480, 270))
    first = painter.paint(1)
    with outputs.read("screen/left") as reader:
        reader.wait_picture(first)
        box = (100, 50, 37, 21)
        expected = painter.paint(2, box)
        picture = reader.next()
        assert picture.damage == box
        assert numpy.array_equal(picture.pixels, expected)


@gl_at_length
def test_a_click_draws_nothing(outputs: Outputs) -> None:
    """What is the highest already is raised by no shell."""
    weston = outputs.start(LEFT + "input=open\n", "--no-outputs")
    with (
        Typist(outputs.cockpit.env("open"), "input/screen/left") as typist,
        outputs.read("screen/left") as reader,
    ):
        window = InputWindow(weston.socket, "left", (480, 270), "input/screen/left")
        typist.point(0.5, 0.5)
        window.wait_place(240, 135)
        while reader.wait(1):
            reader.next()
        for state in (1, 0):
            typist.do((BUTTON, 0x110, state))
            window.wait_button()
        assert not reader.wait(1)


ASLEEP_S = 0.3
BOXES = 30  # more than there are slots, by far


def test_only_what_changed_is_copied(outputs: Outputs) -> None:
    """And what a slot lacks of the pictures that were in others meanwhile. What GL reads back is
    all of the picture."""
    weston = outputs.start(LEFT)
    painter = Painter(weston.socket, "left", (480, 270))
    random = numpy.random.default_rng(1)

    def paint_boxes(reader: StreamReader, width: int, height: int) -> None:
        for seed in range(BOXES):
            box = (*random.integers(0, (width - 40, height - 30)), *random.integers(1, (40, 30)))
            reader.wait_picture(painter.paint(seed, tuple(map(int, box))))

    with outputs.read("screen/left") as reader:
        for seed in range(10):  # most slots are written
            reader.wait_picture(painter.paint(seed))
        before = reader.stats()
        paint_boxes(reader, 240, 135)  # a quarter of the picture
        after = reader.stats()
        paint_boxes(reader, 480, 270)
    copied = after.copied_bytes - before.copied_bytes
    whole = (after.copied_frames - before.copied_frames) * 480 * 270 * 4
    assert copied == whole if outputs.renderer == "gl" else copied < whole / 2


def test_screenshots_beside_readers(outputs: Outputs) -> None:
    """Weston's own screenshots show what readers see, and what is drawn while nobody reads."""
    weston = outputs.start(LEFT)
    painter = Painter(weston.socket, "left", (480, 270))
    random = numpy.random.default_rng(1)
    picture = painter.paint(0)

    def paint_box(seed: int) -> numpy.ndarray:
        box = (*random.integers(0, (440, 240)), *random.integers(1, (40, 30)))
        return painter.paint(seed, tuple(map(int, box)))

    for _ in range(3):
        with outputs.read("screen/left") as reader:
            reader.wait_picture(picture)
            for seed in range(8):
                picture = paint_box(seed)
                reader.wait_picture(picture)
                if seed % 3 == 1:
                    assert numpy.array_equal(weston.screenshot("left"), picture)
        for seed in range(3):
            picture = paint_box(seed)
        assert numpy.array_equal(weston.screenshot("left"), picture)


def cover(painter: Painter, alpha: int) -> None:
    """With black that lets through what is below."""
    display, size = painter.client.display, painter.size
    surface = painter.client.compositor("create_surface")
    part = display.bind("wl_subcompositor")("get_subsurface", surface, painter.surface)
    part("set_desync")
    memory = os.memfd_create("cover")
    os.write(memory, bytes((0, 0, 0, alpha)) * (size // 4))
    pool = display.bind("wl_shm")("create_pool", memory, size)
    row = painter.width * 4
    form = (painter.width, painter.height, row, SHM_FORMATS[ARGB8888])
    surface("attach", pool("create_buffer", 0, *form), 0, 0)
    surface("damage", 0, 0, painter.width, painter.height)
    surface("commit")


def test_what_lets_through_what_is_below(outputs: Outputs) -> None:
    """It is drawn over that once wherever that changes, in whichever slot."""
    weston = outputs.start(LEFT)
    painter = Painter(weston.socket, "left", (480, 270))
    painter.paint(0)
    cover(painter, 128)
    random = numpy.random.default_rng(1)
    with outputs.read("screen/left") as reader:
        for seed in range(1, 13):
            box = (*random.integers(0, (440, 240)), *random.integers(1, (40, 30)))
            below = painter.paint(seed, tuple(map(int, box)))
            expected = below.astype(int) * (255 - 128) / 255
            wait_for(
                partial(is_near, reader, expected), f"picture {seed}"
            )  # GL rounds in its own way


IDLE = """#!/usr/bin/python3
import os, socket
with socket.socket(fileno=int(os.environ["WAYLAND_SOCKET"])) as weston:
    while weston.recv(4096):
        pass
"""
MODE = "mode=480x270"
ROOMY = "mode=640x640"  # without a seat the shell puts a window anywhere up to 410, 410


@pytest.mark.parametrize("outputs", ["pixman"], indirect=True)
def test_where_there_is_no_background(outputs: Outputs) -> None:
    """Of a shell whose program makes none: windows that let through what is behind them are drawn
    over black, in each slot."""
    shell = outputs.folder / "shell"
    shell.write_text(IDLE)
    shell.chmod(0o755)
    config = f"client={shell}\n{LEFT.replace(MODE, ROOMY)}"
    weston = outputs.start(config, "--no-outputs", kind="desktop")
    with Display(weston.socket, weston.protocols) as display, outputs.read("screen/left") as reader:
        window, buffers = Window(display), ShmBuffers(display, 200, 100)
        for alpha in range(20, 240, 15):  # more pictures than there are slots, by far
            colour = (alpha, alpha // 2, alpha // 4)
            pixels = bytes((*colour, alpha)) * (200 * 100)
            window.show(buffers.draw_raw(pixels, SHM_FORMATS[ARGB8888]))
            if alpha == 20:  # Weston's own, over what its memory had: by it the images are known
                reader.next()
                continue
            wait_for(partial(has_window, reader, colour), f"{colour} on black")
        assert count(weston.screenshot("left"), colour) == 200 * 100


def count(pixels: numpy.ndarray, colour: tuple[int, ...]) -> int:
    return int((pixels == colour).all(axis=-1).sum())


def has_window(reader: StreamReader, colour: tuple[int, ...]) -> bool:
    """What was never drawn may have any other colour."""
    return count(reader.next().pixels, colour) == 200 * 100


def is_near(reader: StreamReader, expected: numpy.ndarray) -> bool:
    return bool((abs(reader.next().pixels - expected) <= 1).all())


def test_frames_are_counted_and_dated(outputs: Outputs) -> None:
    """Pixman draws them where they are read; what GL has drawn is copied."""
    weston = outputs.start(LEFT)
    painter = Painter(weston.socket, "left", (480, 270))
    with outputs.read("screen/left") as reader:
        for seed in range(3):
            reader.wait_picture(painter.paint(seed))
        before = reader.stats()
        frames = []
        for seed in range(10):
            painter.paint(seed)
            frames.append(reader.next().frame)
        stats = reader.stats()
    copied = outputs.renderer == "gl"
    assert (stats.copied_frames - before.copied_frames >= 10) == copied
    whole = 10 * 480 * 270 * 4
    assert (
        stats.copied_bytes - before.copied_bytes >= whole
        if copied
        else (stats.copied_bytes == before.copied_bytes)
    )
    for before, frame in itertools.pairwise(frames):
        assert frame.sequence == before.sequence + 1
        assert frame.present_time > before.present_time
    for frame in frames:
        ahead = frame.present_time - frame.capture_time
        assert 0 <= ahead <= SECOND_NS // 60 + 1_000_000
        assert (frame.flags & COPIED != 0) == copied
    late = statistics.median(frame.submit_time - frame.capture_time for frame in frames)
    print(f"{outputs.renderer}: sent {late / 1e6:.3f} ms after it was drawn (median)")


def test_a_still_picture_is_sent_once(outputs: Outputs) -> None:
    weston = outputs.start(LEFT)
    picture = Painter(weston.socket, "left", (480, 270)).paint(1)
    with outputs.read("screen/left") as reader:
        reader.wait_picture(picture)
        assert not reader.wait(1)


def count_sleeps(weston: Weston) -> int:
    """How often it has gone to sleep."""
    status = Path(f"/proc/{weston.pid}/status").read_text()
    return int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", status, re.MULTILINE)[1])


def wait_asleep(weston: Weston) -> int:
    """Until it stays asleep."""
    counts = [-1]

    def is_asleep() -> bool:
        counts.append(count_sleeps(weston))
        return counts[-1] == counts[-2]

    wait_for(is_asleep, "Weston to sleep", pause=ASLEEP_S)
    return counts[-1]


@gl_at_length
def test_what_comes_back_wakes_nobody(outputs: Outputs) -> None:
    """It is looked for as the next picture is sent. Once of three times nothing else wakes it."""
    weston = outputs.start(LEFT, "--no-outputs")
    painter = Painter(weston.socket, "left", (480, 270))
    woken = []
    with outputs.read("screen/left") as reader:
        reader.wait_picture(painter.paint(1))
        for seed in (2, 3, 4):
            painter.paint(seed)
            frame = Frame()
            place = reader.consumer, ctypes.byref(frame)
            wait_for(lambda place=place: reader.lib.gid_consumer_receive(*place) == 1, "a frame")
            before = wait_asleep(weston)
            reader.lib.gid_consumer_release(*place)
            time.sleep(ASLEEP_S)
            woken.append(count_sleeps(weston) - before)
    assert 0 in woken, woken


@gl_at_length
def test_who_comes_late_sees_what_is_shown(outputs: Outputs) -> None:
    """Also where it changed while nobody read; and in one that reads already."""
    weston = outputs.start(LEFT)
    painter = Painter(weston.socket, "left", (480, 270))
    old = painter.paint(1)
    with outputs.read("screen/left") as reader:
        reader.wait_picture(old)
    with outputs.read("screen/left") as reader:
        assert numpy.array_equal(reader.next().pixels, old)
    new = painter.paint(2)
    with outputs.read("screen/left") as reader:
        assert numpy.array_equal(reader.next().pixels, new)
        with outputs.read("screen/left") as another:
            assert numpy.array_equal(another.next().pixels, new)


@gl_at_length
def test_readers_that_keep_all(outputs: Outputs) -> None:
    """And say all the time that they live: others get what is new."""
    weston = outputs.start(LEFT)
    painter = Painter(weston.socket, "left", (480, 270))
    painter.paint(0)
    with ExitStack() as stack:
        reader = stack.enter_context(outputs.read("screen/left"))
        for seed in range(1, 15):  # more than there is memory for
            if seed % 3 == 1:  # each keeps others
                place = (LIBGID, outputs.cockpit.socket("open"), "screen/left")
                stack.enter_context(keeper(*place))
            reader.wait_picture(painter.paint(seed))


def test_screenshots_while_readers_keep_all(outputs: Outputs) -> None:
    """They show what is drawn, whether there is a slot for it or not."""
    weston = outputs.start(LEFT)
    painter = Painter(weston.socket, "left", (480, 270))
    painter.paint(0)
    random = numpy.random.default_rng(1)
    place = (LIBGID, outputs.cockpit.socket("open"), "screen/left")
    with ExitStack() as stack:
        for seed in range(1, 13):
            if seed % 4 == 1:
                stack.enter_context(keeper(*place))
            box = (*random.integers(0, (440, 240)), *random.integers(1, (40, 30)))
            picture = painter.paint(seed, tuple(map(int, box)))
            assert numpy.array_equal(weston.screenshot("left"), picture)
    with outputs.read("screen/left") as reader:
        reader.wait_picture(picture)


def test_several_outputs(outputs: Outputs) -> None:
    right = "[gid-output]\nname=right\nstream=screen/right\nmode=640x360\nscale=2\n"
    weston = outputs.start(LEFT + right + MIRROR)
    sizes = {"left": (480, 270), "right": (640, 360), "headless": (WIDTH, HEIGHT)}
    streams = {"left": "screen/left", "right": "screen/right", "headless": "mirror"}
    for seed, (name, size) in enumerate(sizes.items()):
        painter = Painter(weston.socket, name, size)
        painter.surface("set_buffer_scale", 2 if name == "right" else 1)
        picture = painter.paint(seed)
        with outputs.read(streams[name]) as reader:
            reader.wait_picture(picture)


@pytest.mark.parametrize(
    ("outputs", "scale"),
    at_length_but(itertools.product(["pixman", "gl"], [1, 2]), ("pixman", 2), ("gl", 1)),
    indirect=["outputs"],
)
def test_another_size_while_it_runs(outputs: Outputs, scale: int) -> None:
    """While it is drawn all the time: each size is had, with all of its pixels."""
    keys = f"input=open\nresize=900x700\nscale={scale}\n"
    weston = outputs.start(LEFT + keys, "--no-outputs")
    with (
        Typist(outputs.cockpit.env("open"), "input/screen/left") as typist,
        outputs.read("screen/left") as reader,
    ):
        before_size = (480, 270)
        for seed, size in enumerate([(640, 480), (200, 700), (900, 64), (482, 272)]):
            before = painter_of_pixels(weston, before_size, scale)
            typist.wish(*size)
            while reader.next().pixels.shape[1::-1] != size:
                before.paint(seed)
            painter = painter_of_pixels(weston, size, scale)
            picture = painter.paint(seed)
            reader.wait_picture(picture)
            assert numpy.array_equal(weston.screenshot("left"), picture)
            before_size = size


@gl_at_length
def test_another_size_while_gidd_hangs(outputs: Outputs) -> None:
    """Weston draws on, for its programs; readers get the size when gidd is there again."""
    weston = outputs.start(LEFT + "input=open\nresize=900x700\n", "--no-outputs")
    gidd, size = outputs.cockpit.gidds["cluster"], (640, 480)
    with (
        Typist(outputs.cockpit.env("open"), "input/screen/left") as typist,
        outputs.read("screen/left") as reader,
    ):
        Painter(weston.socket, "left", (480, 270)).paint(0)
        reader.next()
        gidd.signal(signal.SIGSTOP)
        try:
            start = time.monotonic()
            typist.wish(*size)
            wait_for(lambda: mode_of(weston, "left") == size, "the size")
            painter = Painter(weston.socket, "left", size)
            for seed in range(5):
                picture = painter.paint(seed)
            assert time.monotonic() - start < 15  # of 30 s that an answer may take here
        finally:
            gidd.signal(signal.SIGCONT)
        reader.wait_picture(picture)


def mode_of(weston: Weston, name: str) -> tuple[int, int]:
    with Display(weston.socket, weston.protocols) as display:
        modes = [args[1:3] for event, args in bind_output(display, name).events if event == "mode"]
        return modes[-1]


def painter_of_pixels(weston: Weston, size: tuple[int, int], scale: int) -> Painter:
    painter = Painter(weston.socket, "left", size)
    painter.surface("set_buffer_scale", scale)
    return painter


@gl_at_length
def test_alone(outputs: Outputs) -> None:
    """Weston without any output but that."""
    weston = outputs.start(LEFT, "--no-outputs")
    picture = Painter(weston.socket, "left", (480, 270)).paint(1)
    with outputs.read("screen/left") as reader:
        reader.wait_picture(picture)


@gl_at_length
def test_another_mode_after_another_start(outputs: Outputs) -> None:
    """A reader follows the stream over Weston's end, by signal and by force."""
    outputs.start(LEFT)
    with outputs.read("screen/left") as reader:
        assert reader.next().pixels.shape == (270, 480, 3)
        outputs.weston.kill()
        outputs.start(LEFT.replace("480x270", "642x360"))
        assert reader.next().pixels.shape == (360, 642, 3)
        assert outputs.weston.stop() == 0
        outputs.start(LEFT.replace("480x270", "320x200"))
        assert reader.next().pixels.shape == (200, 320, 3)


@gl_at_length
def test_a_gidd_that_comes_back(outputs: Outputs) -> None:
    weston = outputs.start(LEFT)
    painter = Painter(weston.socket, "left", (480, 270))
    painter.paint(1)
    outputs.cockpit.restart("cluster")
    wait_for(lambda: "screen/left" in outputs.streams(), "the stream again")
    picture = painter.paint(2)
    with outputs.read("screen/left") as reader:
        reader.wait_picture(picture)


@gl_at_length
def test_readers_that_stop_or_die_stop_nobody(outputs: Outputs) -> None:
    weston = outputs.start(LEFT)
    painter = Painter(weston.socket, "left", (480, 270))
    painter.paint(0)
    socket = outputs.cockpit.socket("open")
    reader = [sys.executable, "-m", "lib.stream_reader"]
    others = [
        outputs.cockpit.run("open", [*reader, LIBGID, socket, "screen/left"], **python_env())
        for _ in range(2)
    ]
    for other in others:
        other.wait_output("picture")
    others[0].signal(signal.SIGSTOP)
    others[1].kill()
    with outputs.read("screen/left") as reader:
        start = time.monotonic()
        for seed in range(1, 181):
            picture = painter.paint(seed)
        reader.wait_picture(picture)
        assert time.monotonic() - start < 120  # not a lease of a second for each picture
    others[0].signal(signal.SIGCONT)


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ("stream=a\n", "set name=, of a new output, or mirror="),
        ("name=left\nmirror=headless\nstream=a\n", "take one away"),
        ("name=left\n", "stream= must be the name of a stream"),
        ("name=left\nstream=a b\n", "stream= must be the name of a stream"),
        ("name=left\nstream=a\nmode=big\n", "mode= must be WIDTHxHEIGHT"),
        ("name=left\nstream=a\nmode=0x5\n", "mode= must be WIDTHxHEIGHT"),
        ("name=left\nstream=a\nmode=64x64@0\n", "mode= must be WIDTHxHEIGHT"),
        ("name=left\nstream=a\nmode=64x64@60Hz\n", "mode= must be WIDTHxHEIGHT"),
        ("name=left\nstream=a\nmode=63x64\nscale=2\n", "scale= must divide both numbers of mode="),
        ("name=left\nstream=a\ninput=open\nresize=big\n", "resize= must be the largest"),
        ("name=left\nstream=a\ninput=open\nclipboard=on\n", "clipboard= must be true or false"),
        ("name=left\nstream=a\nclipboard=true\n", "clipboard=true is for one with input="),
        (f"name=left\nstream={'a' * 48}\ninput=open\nclipboard=true\n", "47 bytes at most"),
        ("name=left\nstream=a\ninput=open\nresize=640x480\n", "not less than mode="),
        ("name=left\nstream=a\ninput=open\nresize=30000x30000\n", "resize= must be the largest"),
        ("name=left\nstream=a\nresize=1920x1200\n", "resize= is for an output with name= and"),
        ("mirror=headless\nstream=a\nmode=64x64\n", "in its own section [output]"),
        ("mirror=left\nstream=a\n[gid-output]\nmirror=left\nstream=b\n", "another section"),
    ],
)
def test_mistakes_are_named(cockpit: Cockpit, tmp_path: Path, section: str, message: str) -> None:
    weston = Weston(tmp_path, cockpit.env("cluster"))
    weston.configure(f"[gid-output]\n{section}")
    assert weston.launch().wait() != 0
    assert message in weston.read_log()


@pytest.mark.parametrize("section", ["gid", "gid-output", "gid-window", "gid-safety"])
def test_unknown_keys_are_told(cockpit: Cockpit, tmp_path: Path, section: str) -> None:
    """With their lines; what other sections have is nothing to the module."""
    weston = Weston(tmp_path, cockpit.env("cluster"))
    weston.configure(f"[mine]\nno-such-key=1\n[{section}]\n# mode=1\nno-such-key=1\nmode =1\n")
    assert weston.launch().wait() != 0
    log = weston.read_log()
    assert log.count(f'[{section}] has no "no-such-key"; it has: ') == 1
    assert f'[{section}] has no "mode "; it has: ' in log  # Weston takes the blank to be of it
    (path,) = tmp_path.glob("**/weston.ini")
    line = path.read_text().splitlines().index(f"[{section}]") + 3
    assert f'{path}:{line}: [{section}] has no "no-such-key"' in log


@pytest.mark.parametrize("comment", ["  # mode=1", "; mode=1", "\t;mode=1"])
def test_a_comment_is_no_key(cockpit: Cockpit, tmp_path: Path, comment: str) -> None:
    """To Weston these are keys that nobody asks for."""
    weston = Weston(tmp_path, cockpit.env("cluster"))
    weston.configure(f"[gid-output]\nname=headless\nstream=a\n{comment}\n")
    weston.start()
    assert weston.stop() == 0


def test_the_name_of_another_output(cockpit: Cockpit, tmp_path: Path) -> None:
    """And the mirror of none are told; Weston runs."""
    weston = Weston(tmp_path, cockpit.env("cluster"))
    weston.configure(
        "[gid-output]\nname=headless\nstream=a\n[gid-output]\nmirror=HDMI-A-9\nstream=b\n"
    )
    weston.start()
    weston.wait_log("choose another one, or write mirror=headless")
    weston.wait_log("mirror=HDMI-A-9: Weston has no output of that name now")
    assert weston.stop() == 0
