# SPDX-License-Identifier: MIT
"""[gid-output] lend=: a picture that is all of an output is lent to the readers, and not drawn."""

import ctypes
import itertools
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import numpy
import pytest
from lib.cockpit import Cockpit
from lib.forwarding import PYTHON, ShmBuffers
from lib.program import wait_for
from lib.session import OwnerProcess
from lib.stream_reader import Frame, StreamReader, keeper
from lib.weston import ARGB8888, SHM_FORMATS, XRGB8888, Client, Weston, bind_output
from test_weston_outputs import LEFT, LIBGID, Outputs, outputs

from lab.domains.wayland import Display, Object, protocol_files

__all__ = ["outputs"]  # a fixture

STREAM = "screen/left"
SIZE = 480, 270
LEND = f"{LEFT}lend={PYTHON}\n"
OPEN = 1  # the number of the domain of the readers
KEPT_SECONDS = 1.5  # for so long readers may keep what is not shown any more
pixman = pytest.mark.parametrize("outputs", ["pixman"], indirect=True)


class Film:
    """A fullscreen window of the output, whose pictures lie in slots of a slab of Weston's domain.

    `size` is that of its pictures, which may be larger than the output.
    """

    def __init__(
        self, outputs: Outputs, owner: OwnerProcess, slots: int = 5, size: tuple[int, int] = SIZE
    ) -> None:
        self.owner, self.folder, self.size = owner, outputs.folder, size
        self.client = Client(Display(outputs.weston.socket, protocol_files()))
        self.surface = self.client.open_window(bind_output(self.client.display, "left"))
        self.pixels = numpy.zeros((size[1], size[0], 4), numpy.uint8)
        self.take_slab(slots)

    def take_slab(self, slots: int = 5) -> None:
        self.slab, *self.gids = self.owner.call("create", XRGB8888, *self.size, slots, 0)
        self.buffers = [self.make_buffer(gid) for gid in self.gids]
        self.free = set(range(slots))
        self.turn = itertools.cycle(range(slots))

    def make_buffer(self, gid: int, fourcc: int = XRGB8888) -> Object:
        _, buffer = self.client.create(gid, *self.size, fourcc)
        assert buffer is not None
        return buffer

    def is_free(self, slot: int) -> bool:
        if self.buffers[slot].take("release") is not None:
            self.free.add(slot)
        return slot in self.free

    def find_free(self) -> int:
        """A slot that Weston has given back, which may take a while."""
        display = self.client.display
        display.wait_until(lambda: any(map(self.is_free, range(len(self.gids)))), "a free slot")
        return next(slot for slot in self.turn if self.is_free(slot))

    def draw(self, seed: int, box: tuple[int, int, int, int] | None = None) -> None:
        x, y, width, height = box or (0, 0, *self.size)
        noise = numpy.random.default_rng(seed).integers(0, 256, (height, width, 4), numpy.uint8)
        self.pixels[y : y + height, x : x + width] = noise

    def write(self, slot: int, seed: int, box: tuple[int, int, int, int] | None = None) -> None:
        self.draw(seed, box)
        with tempfile.NamedTemporaryFile(dir=self.folder) as file:
            file.write(self.pixels.tobytes())
            file.flush()
            self.owner.call("write", self.slab, slot, file.name)

    def attach(self, slot: int, box: tuple[int, int, int, int] | None = None) -> None:
        self.free.discard(slot)
        self.surface("attach", self.buffers[slot], 0, 0)
        self.surface("damage", *(box or (0, 0, *self.size)))

    def show(self, buffer: Object) -> None:
        """One that is none of its slots."""
        self.surface("attach", buffer, 0, 0)
        self.surface("damage", 0, 0, *self.size)
        self.client.commit()

    def paint(self, seed: int, box: tuple[int, int, int, int] | None = None) -> numpy.ndarray:
        """The next picture, when Weston has shown it."""
        slot = self.find_free()
        self.write(slot, seed, box)
        self.attach(slot, box)
        self.client.commit()
        return self.picture

    @property
    def picture(self) -> numpy.ndarray:
        return self.pixels[..., :3].copy()

    def has(self, frame: Frame) -> bool:
        """Whether the frame is one of its slots: it was lent."""
        return frame.gid in self.gids

    def wait_lent(self, reader: StreamReader) -> None:
        """Until its pictures are lent, which each are right before, too."""
        seeds = itertools.count(1000)
        wait_for(
            lambda: self.has(reader.wait_picture(self.paint(next(seeds)))), "its pictures", pause=0
        )


@contextmanager
def film_of(outputs: Outputs, config: str = LEND, **more: object) -> Iterator[Film]:
    if outputs.weston is None:
        outputs.start(config)
    owner = OwnerProcess(outputs.cockpit.env("cluster"))
    film = Film(outputs, owner, **more)
    try:
        yield film
    finally:
        film.client.display.close()
        owner.stop()


def test_a_film_is_lent(outputs: Outputs) -> None:
    """Each of its pictures, without a copy. GL draws them; they are the same pictures."""
    with film_of(outputs) as film, outputs.read(STREAM) as reader:
        for seed in range(5):
            reader.wait_picture(film.paint(seed))
        before = reader.stats().copied_bytes
        lent = [film.has(reader.wait_picture(film.paint(seed))) for seed in range(10, 30)]
        assert (reader.stats().copied_bytes == before) == (outputs.renderer == "pixman")
        assert set(lent) == {outputs.renderer == "pixman"}
        assert numpy.array_equal(outputs.weston.screenshot("left"), film.picture)


@pixman
def test_what_changed_is_told(outputs: Outputs) -> None:
    with film_of(outputs) as film, outputs.read(STREAM) as reader:
        film.wait_lent(reader)
        box = (100, 50, 37, 21)
        for seed in range(3):
            expected = film.paint(seed, box)
            picture = reader.next()
            assert film.has(picture.frame)
            assert picture.damage == box
            assert numpy.array_equal(picture.pixels, expected)


@pixman
def test_a_picture_that_is_larger(outputs: Outputs) -> None:
    """As decoders make them, whose rows are a multiple of something: the rest is cut off."""
    with film_of(outputs, size=(496, 272)) as film, outputs.read(STREAM) as reader:
        viewport = film.client.display.bind("wp_viewporter")("get_viewport", film.surface)
        viewport("set_source", 8 * 256, 0, 480 * 256, 270 * 256)
        viewport("set_destination", *SIZE)

        def is_lent() -> bool:
            film.paint(0)
            picture = reader.next()
            seen = film.picture[:270, 8:488]
            if not film.has(picture.frame):
                return False
            crop = picture.frame.crop
            assert (crop.x, crop.y, crop.width, crop.height) == (8, 0, 480, 270)
            return numpy.array_equal(picture.pixels[:270, 8:488], seen)

        wait_for(is_lent, "its pictures", pause=0)


@pixman
def test_back_and_forth(outputs: Outputs) -> None:
    """Between what is lent and what is drawn: no picture is another one, or of before."""
    with film_of(outputs) as film, outputs.read(STREAM) as reader:
        plain = ShmBuffers(film.client.display, *SIZE)
        for seed in range(0, 40, 10):
            film.wait_lent(reader)
            for more in range(3):
                film.draw(seed + more)
                buffer = plain.draw_raw(film.pixels.tobytes(), SHM_FORMATS[XRGB8888])
                film.show(buffer)
                reader.wait_picture(film.picture)
                assert numpy.array_equal(outputs.weston.screenshot("left"), film.picture)
            box = (10 * seed // 4, 20, 30, 40)
            reader.wait_picture(film.paint(seed, box))
    outputs.weston.wait_log("pictures that were lent: its buffer is not made of gids")


@pixman
def test_a_part_that_is_covered(outputs: Outputs) -> None:
    """By a subsurface, which comes and goes, over a film that goes on."""
    with film_of(outputs) as film, outputs.read(STREAM) as reader:
        display = film.client.display
        black = film.owner.call("create", XRGB8888, 64, 64, 1, 0)[1]
        _, buffer = film.client.create(black, 64, 64)
        above = film.client.compositor("create_surface")
        part = display.bind("wl_subcompositor")("get_subsurface", above, film.surface)
        part("set_desync")
        for seed in range(4):
            film.wait_lent(reader)
            above("attach", buffer, 0, 0)
            above("damage", 0, 0, 64, 64)
            above("commit")
            expected = film.paint(seed)
            expected[:64, :64] = 0
            assert not film.has(reader.wait_picture(expected))
            above("attach", None, 0, 0)
            above("commit")
            reader.wait_picture(film.picture)


@pixman
def test_what_is_never_lent(outputs: Outputs) -> None:
    """Alpha, a picture that is turned or scaled, one of ordinary memory."""
    with film_of(outputs) as film, outputs.read(STREAM) as reader:
        film.wait_lent(reader)
        film.surface("set_buffer_transform", 2)  # by half a turn
        picture = film.paint(1)
        assert not film.has(reader.wait_picture(picture[::-1, ::-1]))
        film.surface("set_buffer_transform", 0)
        film.wait_lent(reader)
        slab, gid = film.owner.call("create", ARGB8888, *SIZE, 1, 0)
        buffer = film.make_buffer(gid, ARGB8888)
        film.show(buffer)
        frame = reader.wait_picture(numpy.zeros((270, 480, 3), numpy.uint8))
        assert frame.gid != gid
        film.wait_lent(reader)


@pixman
def test_other_programs(outputs: Outputs) -> None:
    """Which lend= does not name. Nothing of theirs is granted to anybody."""
    with (
        film_of(outputs, f"{LEFT}lend=/usr/bin/true\n") as film,
        outputs.read(STREAM) as reader,
    ):
        for seed in range(20):
            assert not film.has(reader.wait_picture(film.paint(seed)))
        slabs = outputs.cockpit.status("cluster")["slabs"]
        (slab,) = [slab for slab in slabs if slab["slots"] == len(film.gids)]
        assert "grants" not in slab, slab
    outputs.weston.wait_log("is drawn: lend= does not name its program")


@pixman
def test_buffers_come_back(outputs: Outputs) -> None:
    """When the readers have let go of them, also where nothing else happens."""
    with film_of(outputs) as film, outputs.read(STREAM) as reader:
        film.wait_lent(reader)
        film.paint(1)
        frame = Frame()
        place = reader.consumer, ctypes.byref(frame)
        wait_for(lambda: reader.lib.gid_consumer_receive(*place) == 1, "a frame")
        kept = film.gids.index(frame.gid)
        for seed in (2, 3):
            reader.wait_picture(film.paint(seed))
            assert not film.is_free(kept)
        reader.lib.gid_consumer_release(*place)
        film.client.display.wait_until(partial(film.is_free, kept), "the buffer")


@pixman
def test_readers_that_keep_all(outputs: Outputs) -> None:
    """And say all the time that they live: the film goes on, and others see it."""
    with ExitStack() as stack:
        film = stack.enter_context(film_of(outputs))
        reader = stack.enter_context(outputs.read(STREAM))
        film.wait_lent(reader)
        for seed in range(30):
            if seed % 10 == 1:
                place = (LIBGID, outputs.cockpit.socket("open"), STREAM)
                stack.enter_context(keeper(*place))
            reader.wait_picture(film.paint(seed))
    outputs.weston.wait_log("readers keep its pictures")


@pixman
def test_a_reader_that_has_two_at_a_time(outputs: Outputs) -> None:
    """As a pipeline with a queue: it keeps none for long, and all are lent."""
    with film_of(outputs) as film, outputs.read(STREAM) as reader:
        film.wait_lent(reader)
        held: list[Frame] = []
        end = time.monotonic() + KEPT_SECONDS + 2
        while time.monotonic() < end:
            film.paint(0, (0, 0, 8, 8))
            frame = Frame()
            while reader.lib.gid_consumer_receive(reader.consumer, ctypes.byref(frame)) != 1:
                reader.wait(1)
            assert film.has(frame)
            held.append(frame)
            if len(held) > 2:
                reader.lib.gid_consumer_release(reader.consumer, ctypes.byref(held.pop(0)))


@pixman
def test_memory_that_is_taken_back(outputs: Outputs) -> None:
    """The output shows the last picture still, and its readers see that."""
    with film_of(outputs) as film, outputs.read(STREAM) as reader:
        film.wait_lent(reader)
        last = film.paint(1)
        assert film.has(reader.wait_picture(last))
        film.owner.call("destroy", film.slab, True)
        wait_for(lambda: not film.has(reader.next().frame), "what is drawn")
        with outputs.read(STREAM) as another:
            shown = another.next().pixels
        assert numpy.array_equal(shown, outputs.weston.screenshot("left"))
        film.take_slab()
        film.wait_lent(reader)


@pixman
def test_who_comes_late(outputs: Outputs) -> None:
    """Sees what is shown, and so does who captures the output."""
    with film_of(outputs) as film:
        with outputs.read(STREAM) as reader:
            film.wait_lent(reader)
            last = film.picture
            with outputs.read(STREAM) as another:
                another.wait_picture(last)
                assert numpy.array_equal(outputs.weston.screenshot("left"), last)
        with outputs.read(STREAM) as reader:
            reader.wait_picture(last)
        newer = film.paint(5)
        with outputs.read(STREAM) as reader:
            reader.wait_picture(newer)
            film.wait_lent(reader)


@pixman
def test_a_buffer_that_is_destroyed_at_once(outputs: Outputs) -> None:
    """Right after the commit, and another one of the same slot made in its place."""
    with film_of(outputs) as film, outputs.read(STREAM) as reader:
        film.wait_lent(reader)
        for seed in range(20):
            slot = film.find_free()
            film.write(slot, seed)
            film.attach(slot)
            film.surface("commit")
            film.buffers[slot]("destroy")
            film.client.display.roundtrip()
            film.buffers[slot] = film.make_buffer(film.gids[slot])
            film.free.add(slot)
        reader.wait_picture(film.paint(100))
        film.wait_lent(reader)


@pixman
def test_a_program_that_ends(outputs: Outputs) -> None:
    """What was behind it is seen then, and nothing of it."""
    with film_of(outputs) as film, outputs.read(STREAM) as reader:
        film.wait_lent(reader)
        film.client.display.close()
        reader.wait_picture(numpy.zeros((270, 480, 3), numpy.uint8))


@pixman
def test_new_memory_while_gidd_hangs(outputs: Outputs) -> None:
    """What gidd has not granted is drawn, what it has is lent on."""
    with film_of(outputs) as film, outputs.read(STREAM) as reader:
        film.wait_lent(reader)
        film.take_slab()
        gidd = outputs.cockpit.gidds["cluster"]
        gidd.signal(signal.SIGSTOP)
        try:
            for _ in range(5):
                film.attach(film.find_free())
                film.client.commit()
                assert not film.has(reader.next().frame)
        finally:
            gidd.signal(signal.SIGCONT)
        film.wait_lent(reader)


@pixman
def test_an_owner_that_forbids_it(outputs: Outputs) -> None:
    """Its program takes the right to read it from the readers' domain: it is drawn."""
    with film_of(outputs) as film, outputs.read(STREAM) as reader:
        film.owner.call("revoke", film.slab, OPEN)
        for seed in range(10):
            assert not film.has(reader.wait_picture(film.paint(seed)))
    outputs.weston.wait_log("lends no pictures any more: gidd refuses to grant their memory: ")


@pixman
def test_one_that_alternates(outputs: Outputs) -> None:
    """Between all kinds of pictures, as fast as it can: the last one is what is seen."""
    with film_of(outputs) as film, outputs.read(STREAM) as reader:
        film.wait_lent(reader)
        _, gid = film.owner.call("create", ARGB8888, *SIZE, 1, 0)
        clear = film.make_buffer(gid, ARGB8888)
        random = numpy.random.default_rng(1)
        for _ in range(200):
            if random.integers(2):
                film.attach(film.find_free())
            else:
                film.surface("attach", clear, 0, 0)
                film.surface("damage", 0, 0, *SIZE)
            film.surface("commit")
            if random.integers(3) == 0:
                film.client.display.roundtrip()
        reader.wait_picture(film.paint(1))
        assert numpy.array_equal(outputs.weston.screenshot("left"), film.picture)


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ("name=left\nstream=a\nlend=bin/true\n", "lend= must be absolute paths of executables"),
        ("mirror=headless\nstream=a\nlend=/bin/true\n", "lend= is for an output with name="),
    ],
)
def test_mistakes_are_named(cockpit: Cockpit, tmp_path: Path, section: str, message: str) -> None:
    weston = Weston(tmp_path, cockpit.env("cluster"))
    weston.configure(f"[gid-output]\n{section}")
    assert weston.launch().wait() != 0
    assert message in weston.read_log()
