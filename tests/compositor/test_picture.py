# SPDX-License-Identifier: MIT
"""What each compositor shows of gid buffers, and what it does with the memory for that."""

import mmap
import os
from collections.abc import Iterator

import numpy
import pytest
from lib.cockpit import Cockpit
from lib.program import shared_kib
from lib.session import SCREENS, Session, open_session
from lib.weston import ARGB8888, HEIGHT, WIDTH, XRGB8888, wait_created

RGB565 = 0x36314752
BY_PIXMAN = [name for name in SCREENS if name.endswith("pixman")]
BY_WESTON = [name for name in SCREENS if name.startswith("weston")]


@pytest.fixture(scope="module", params=SCREENS)
def session(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Session]:
    """The same for all tests, each of which has slabs and a client of its own."""
    cockpit = Cockpit()
    cockpit.start_all()
    made = open_session(cockpit, tmp_path_factory.mktemp("session"), request.param)
    yield made
    made.finish()
    cockpit.close()


def test_picture_is_exact(session: Session) -> None:
    slab = session.slab(slots=3)
    with session.client() as client:
        client.open_window()
        for slot in range(3):
            _, buffer = client.create(slab.gids[slot])
            client.show(buffer)
            assert session.shows(slab.pictures[slot])


@pytest.mark.parametrize("session", BY_PIXMAN, indirect=True)
def test_pixels_drawn_after_the_commit_are_shown(session: Session) -> None:
    """Nothing was copied at commit: a repaint without a new attach shows what is there now."""
    slab = session.slab(slots=1)
    with session.client() as client:
        client.open_window()
        _, buffer = client.create(slab.gids[0])
        client.show(buffer)
        slab.draw(0, 7)
        client.redraw()
        assert session.shows(slab.pictures[0])


def test_memory_is_mapped_read_only(session: Session) -> None:
    """By a buffer that was made for its memory, and by one whose memory came later."""
    early, late = session.slab(slots=1), session.slab(slots=1)
    with session.client() as client:
        client.open_window()
        _, buffer = client.create(early.gids[0])
        client.show(buffer)
        with session.stopped_gidd():
            _, buffer = client.create_immed(late.gids[0])
            client.show(buffer)
            blank = [m for m in session.screen.maps() if "gid-blank" in m.name]
            assert not blank, "the empty memory that libwayland mapped writable is still there"
        session.wait_shown(late.pictures[0])
        for slab in (early, late):
            permissions = session.screen.permissions_of(slab.inode)
            assert permissions and set(permissions) == {"r--s"}


def test_descriptor_cannot_be_written_with(session: Session) -> None:
    """What Weston was given can be neither mapped writable, nor written, nor cut short."""
    slab = session.slab(slots=1)
    with session.client() as client:
        client.create(slab.gids[0])
        fd = session.screen.descriptor_of(slab.inode)
        size = os.fstat(fd).st_size
        with pytest.raises(PermissionError):
            mmap.mmap(fd, size, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
        for reopened in (fd, os.open(f"/proc/self/fd/{fd}", os.O_RDWR)):
            with pytest.raises(OSError):
                os.pwrite(reopened, b"x", 0)
            for length in (0, size - 4096, size + 4096):
                with pytest.raises(OSError):
                    os.ftruncate(reopened, length)
            os.close(reopened)


@pytest.mark.parametrize("session", BY_PIXMAN, indirect=True)
def test_release_comes_when_the_next_buffer_is_shown(session: Session) -> None:
    slab = session.slab(slots=2)
    with session.client() as client:
        client.open_window()
        _, first = client.create(slab.gids[0])
        _, second = client.create(slab.gids[1])
        client.show(first)
        assert not first.has("release")
        client.show(second)
        first.wait("release")
        assert not second.has("release")


@pytest.mark.parametrize("offset", [0, 4, 4092, 4096, 5000])
def test_picture_within_a_slot(session: Session, offset: int) -> None:
    """A plane may begin at any word of its slot, and have rows longer than the picture's."""
    width, height, stride = 100, 50, 512
    slab = session.slab(slots=2, slot_size=65536)
    pixels = numpy.random.default_rng(offset).integers(0, 256, (height, stride), numpy.uint8)
    slab.write(1, bytes(offset) + pixels.tobytes())
    with session.client() as client:
        client.open_window()
        params = client.params(slab.gids[1], stride, offset)
        params("create", width, height, XRGB8888)
        client.show(wait_created(params))
        expected = pixels[:, : width * 4].reshape(height, width, 4)
        assert session.shows(expected)


def test_a_slot_that_is_far_larger_than_its_picture(session: Session) -> None:
    """Its owner chooses how large it is: the compositor looks at none of it but the picture."""
    size = 64 << 20
    slab = session.slab(slots=1, slot_size=size)
    picture = slab.pictures[0].tobytes()
    slab.write(0, picture + bytes(size - len(picture)))  # no page is missing
    before = shared_kib(session.screen.program.pid)
    with session.client() as client:
        client.open_window()
        _, buffer = client.create(slab.gids[0])
        client.show(buffer)
        assert session.shows(slab.pictures[0])
        assert shared_kib(session.screen.program.pid) - before < size // 1024 // 4


def test_premultiplied_alpha(session: Session) -> None:
    """ARGB8888 is blended with what lies below, here the shell's black."""
    slab = session.slab(slots=1)
    half = numpy.full((HEIGHT, WIDTH, 4), 0x40, numpy.uint8)
    half[..., 3] = 0x80
    slab.write(0, half.tobytes())
    with session.client() as client:
        client.open_window()
        _, buffer = client.create(slab.gids[0], fourcc=ARGB8888)
        client.show(buffer)
        assert (session.screenshot() == 0x40).all()


def test_16_bit_format(session: Session) -> None:
    slab = session.slab(fourcc=RGB565, slots=1)
    slab.write(0, numpy.full(WIDTH * HEIGHT, 0xF800, "<u2").tobytes())
    with session.client() as client:
        client.open_window()
        params = client.params(slab.gids[0], WIDTH * 2)
        params("create", WIDTH, HEIGHT, RGB565)
        client.show(wait_created(params))
        assert (session.screenshot() == (0, 0, 255)).all()


@pytest.mark.parametrize("session", BY_WESTON, indirect=True)
def test_immediate_buffer_is_blank_until_its_memory_comes(session: Session) -> None:
    """gidd stops meanwhile. Weston goes on drawing, and the picture appears without a commit.

    (On wlroots it appears with the next commit.)
    """
    slab = session.slab(slots=1)
    with session.client() as client:
        client.open_window()
        with session.stopped_gidd():
            params, buffer = client.create_immed(slab.gids[0])
            for _ in range(10):
                client.show(buffer)
            assert not session.screenshot().any()
        session.wait_shown(slab.pictures[0])
        assert not params.events


def test_exported_memory(session: Session) -> None:
    """A sealed memfd of another program, whose picture begins anywhere in it."""
    width, height, offset = 64, 32, 12300
    index, gid = session.owner.call("export", XRGB8888, width, height, offset, 32768)
    session.owner.call("grant", index, 2)
    memory = numpy.array([index % 251 for index in range(32768)], numpy.uint8)
    expected = memory[offset : offset + width * height * 4].reshape(height, width, 4)
    with session.client() as client:
        client.open_window()
        params = client.params(gid, width * 4)
        params("create", width, height, XRGB8888)
        client.show(wait_created(params))
        assert session.shows(expected)
        # Once the memory is known, a buffer that exists at once can be made to fit it, too.
        params = client.params(gid, width * 4)
        client.show(params("create_immed", width, height, XRGB8888))
        session.wait_shown(expected)  # the shell moves it once more
        client.display.roundtrip()
        assert not params.events
