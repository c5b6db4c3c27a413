# SPDX-License-Identifier: MIT
"""[gid-window]: single windows of Weston that are streams, and what readers get of them."""

import fcntl
import struct
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import numpy
import pytest
from lib.cockpit import Cockpit
from lib.forwarding import GID_VIEW, GidBuffers, ShmBuffers, Window, random_picture
from lib.program import BUILD, wait_for
from lib.session import OwnerProcess
from lib.snapshot import snap
from lib.stream_reader import StreamReader
from lib.weston import ARGB8888, HEIGHT, SHM_FORMATS, WIDTH, Weston

from lab.domains.configuration import configuration
from lab.domains.wayland import Disconnected, Display, Object, pad

LIBGID = BUILD / "libgid/libgid.so"
APP, STREAM = "org.example.map", "window/map"
BY_APP_ID = f"[gid-window]\nstream={STREAM}\napp-id={APP}\n"
BY_BOTH = BY_APP_ID + "title=Lisbon\n"
EMPTY, SIZE, SUBSURFACE = 1, 2, 4  # enum gid_hidden
HASH, DISCONT, COPIED = 1 << 0, 1 << 1, 1 << 12  # in a frame's flags
PICTURES_A_SECOND = 125  # at most
ONLY_DESKTOP = configuration({"open": "local=desktop", "cluster": ""}, {"open cluster": "desktop"})


class Desk:
    """A Weston in `open`, whose window is read in `cluster`."""

    def __init__(self, cockpit: Cockpit, folder: Path, config: str, renderer: str) -> None:
        self.cockpit, self.folder = cockpit, folder
        self.weston = Weston(folder, cockpit.env("open"), renderer)
        self.weston.configure(config)
        self.weston.start()
        self.owner = OwnerProcess(cockpit.env("open"))

    def connect(self) -> Display:
        return Display(self.weston.socket, self.weston.protocols)

    def read(self) -> StreamReader:
        return StreamReader(LIBGID, self.cockpit.socket("cluster"), STREAM, "open")

    def readers(self) -> int:
        (stream,) = self.cockpit.status("open")["streams"]
        return stream["subscriptions"]

    def counts(self) -> dict:
        for subscription in self.cockpit.status("cluster")["subscriptions"]:
            if subscription["stream"] == STREAM:
                return subscription["producer_counts"]
        raise AssertionError(f"nobody reads {STREAM}")

    def finish(self) -> None:
        self.owner.stop()
        if self.weston.is_running():
            assert self.weston.stop() == 0, self.weston.read_log()


@pytest.fixture
def config() -> str:
    return BY_APP_ID


@pytest.fixture
def renderer() -> str:
    return "pixman"


@pytest.fixture
def desk(cockpit: Cockpit, tmp_path: Path, config: str, renderer: str) -> Iterator[Desk]:
    made = Desk(cockpit, tmp_path, config, renderer)
    yield made
    made.finish()


def drawn(connection: Display, seed: int, width: int = WIDTH, height: int = HEIGHT) -> Object:
    """A buffer of ordinary shared memory."""
    return ShmBuffers(connection, width, height).draw(random_picture(seed, width, height))


def seen(seed: int, width: int = WIDTH, height: int = HEIGHT) -> numpy.ndarray:
    """The same picture, as readers see it."""
    return random_picture(seed, width, height)[..., ::-1]


# --- what is sent -------------------------------------------------------------------------------


@pytest.mark.parametrize("renderer", ["pixman", "gl"])
def test_an_ordinary_client(desk: Desk) -> None:
    """It knows nothing of gidway: each picture is copied once. No other window is sent."""
    with desk.connect() as connection, desk.read() as reader:
        Window(connection, "org.example.other").show(drawn(connection, 99))
        window = Window(connection, APP)
        for seed in range(5):
            window.show(drawn(connection, seed))
            frame = reader.wait_picture(seen(seed))
            assert frame.flags & COPIED and not frame.flags & HASH
        counts = desk.counts()
        assert counts["copied_frames"] == 5
        assert counts["copied_bytes"] == 5 * WIDTH * HEIGHT * 4


def test_gids_are_lent(desk: Desk) -> None:
    """Of a client that draws into memory of gidway, nothing is copied."""
    with desk.connect() as connection, desk.read() as reader:
        window = Window(connection, APP)
        buffers = GidBuffers(connection, desk.owner, desk.folder, WIDTH, HEIGHT)
        for seed in range(4):
            window.show(buffers.draw(random_picture(seed, WIDTH, HEIGHT)))
            assert reader.wait_picture(seen(seed)).gid == buffers.gids[seed]
        assert desk.counts()["copied_frames"] == 0


def test_what_changed_is_told(desk: Desk) -> None:
    """Also where pictures were left out: who draws only that has the whole picture."""
    boxes = [(n * 5, n * 3, 17, 9) for n in range(59)]
    with desk.connect() as connection, desk.read() as reader:
        window = Window(connection, APP)
        buffers = GidBuffers(connection, desk.owner, desk.folder, WIDTH, HEIGHT, slots=60)
        picture = random_picture(0, WIDTH, HEIGHT)
        window.show(buffers.draw(picture))
        reader.wait_picture(seen(0))
        had = seen(0).copy()
        for seed, (x, y, width, height) in enumerate(boxes):
            picture[y : y + height, x : x + width] = random_picture(seed, width, height)
            window.surface("attach", buffers.draw(picture), 0, 0)
            window.surface("damage_buffer", x, y, width, height)
            window.surface("commit")
        connection.roundtrip()
        while not numpy.array_equal(had, picture[..., ::-1]):
            new = reader.next()
            told = new.frame.damage.width and not new.frame.flags & DISCONT  # we missed none
            x, y, width, height = new.damage if told else (0, 0, WIDTH, HEIGHT)
            had[y : y + height, x : x + width] = new.pixels[y : y + height, x : x + width]


def test_another_size(desk: Desk) -> None:
    with desk.connect() as connection, desk.read() as reader:
        window = Window(connection, APP)
        for seed, size in enumerate([(320, 80), (201, 99), (64, 64), (700, 500), (320, 80)]):
            window.show(drawn(connection, seed, *size))
            reader.wait_picture(seen(seed, *size))


@pytest.mark.parametrize("memory", ["shm", "gids", "drawn"])
def test_without_its_shadow(desk: Desk, memory: str) -> None:
    """Which its client draws itself, and says where its window begins."""
    x, y, width, height = 10, 20, 300, 199
    with desk.connect() as connection, desk.read() as reader:
        window = Window(connection, APP)
        window.xdg_surface("set_window_geometry", x, y, width, height)
        if memory == "drawn":
            child = window.compositor("create_surface")
            connection.bind("wl_subcompositor")("get_subsurface", child, window.surface)
            child("attach", drawn(connection, 2, 8, 8), 0, 0)
            child("commit")
        buffers = GidBuffers(connection, desk.owner, desk.folder, WIDTH, HEIGHT)
        picture = random_picture(1, WIDTH, HEIGHT)
        window.show(buffers.draw(picture) if memory == "gids" else drawn(connection, 1))
        expected = seen(1)[y : y + height, x : x + width]
        if memory == "shm":
            reader.wait_picture(expected)
        else:
            crop = reader.next().frame.crop
            assert (crop.x, crop.y, crop.width, crop.height) == (x, y, width, height)
        shown = snap(desk.cockpit, "cluster", "open", STREAM)
        assert numpy.array_equal(shown[..., ::-1], expected)


def test_who_comes_late(desk: Desk) -> None:
    with desk.connect() as connection:
        Window(connection, APP).show(drawn(connection, 1))
        for _ in range(2):
            with desk.read() as reader:
                reader.wait_picture(seen(1))


def test_nobody_reads(desk: Desk) -> None:
    """Then nothing is copied, and who comes has what is shown, as often as that is."""
    with desk.connect() as connection:
        window = Window(connection, APP)
        for copies in (1, 2):
            for seed in range(copies, copies + 9):
                window.show(drawn(connection, seed))
            with desk.read() as reader:
                reader.wait_picture(seen(copies + 8))
                assert desk.counts()["copied_frames"] == copies
            wait_for(lambda: not desk.readers(), "the reader to be gone")
            for _ in range(2):  # gidd tells Weston of it before it tells us
                connection.roundtrip()


def test_subsurfaces(desk: Desk) -> None:
    """They are drawn into the picture. Where that cannot be, there is none, and no part of one."""
    with desk.connect() as connection, desk.read() as reader:
        window = Window(connection, APP)
        child = window.compositor("create_surface")
        place = connection.bind("wl_subcompositor")("get_subsurface", child, window.surface)
        place("set_position", 40, 10)
        child("attach", drawn(connection, 2, 64, 32), 0, 0)
        child("damage_buffer", 0, 0, 64, 32)
        child("commit")
        window.show(drawn(connection, 1))
        expected = seen(1).copy()
        expected[10:42, 40:104] = seen(2, 64, 32)
        reader.wait_picture(expected)
        place("set_position", WIDTH - 10, 10)
        window.show(drawn(connection, 3))
        reader.wait_hidden(SUBSURFACE)
        place("destroy")
        window.show(drawn(connection, 4))
        reader.wait_picture(seen(4))


def test_in_another_compositor(desk: Desk) -> None:
    """gid-view shows it there, in the sizes that it has, and nothing once it is closed."""
    folder = desk.folder / "screen"
    folder.mkdir()
    screen = Weston(folder, desk.cockpit.env("cluster"))
    screen.start()
    view = screen.client([GID_VIEW, "--domain=open", f"--stream={STREAM}", "--output=headless"])
    with desk.connect() as connection:
        window = Window(connection, APP)
        for seed in range(3):
            window.show(drawn(connection, seed))
            wait_for(
                lambda seed=seed: numpy.array_equal(screen.screenshot(), seen(seed)),
                "the window on the other screen",
            )
    wait_for(lambda: not screen.screenshot().any(), "nothing there")
    assert view.stop() == 0
    assert screen.stop() == 0


# --- what it is called --------------------------------------------------------------------------


class Shown:
    """gid-view on a screen of `cluster`, and what it says to the compositor there."""

    def __init__(self, desk: Desk, *options: str) -> None:
        folder = desk.folder / "screen"
        folder.mkdir()
        self.screen = Weston(folder, desk.cockpit.env("cluster"))
        self.screen.start()
        command = [GID_VIEW, "--domain=open", f"--stream={STREAM}", *options]
        self.view = self.screen.client(command, WAYLAND_DEBUG="client")

    def __enter__(self) -> "Shown":
        return self

    def __exit__(self, *_: object) -> None:
        if self.view.is_running():
            assert self.view.stop() == 0
        assert self.screen.stop() == 0

    def wait_said(self, request: str, text: str) -> None:
        self.view.wait_output(f'.{request}("{text}")')


def call(window: Window, title: bytes) -> None:
    """Any bytes."""
    request = window.toplevel.interface.requests["set_title"]
    payload = struct.pack("<I", len(title) + 1) + pad(title + b"\0")
    window.connection.send_raw(window.toplevel.number, request.opcode, payload)


def test_names(desk: Desk) -> None:
    """Of the window, as they change, without a new picture; the app-id with its domain's name."""
    with desk.connect() as connection, Shown(desk) as shown:
        window = Window(connection, APP)
        window.toplevel("set_title", "Lisboa — Алфама")
        window.show(drawn(connection, 1))
        shown.wait_said("set_app_id", f"open.{APP}")
        shown.wait_said("set_title", "Lisboa — Алфама")
        for title in ("Porto", "Faro"):
            window.toplevel("set_title", title)
            connection.roundtrip()
            shown.wait_said("set_title", title)
        assert desk.counts()["copied_frames"] == 1


def test_names_that_the_user_gives(desk: Desk) -> None:
    with desk.connect() as connection, Shown(desk, "--title=Map", "--app-id=map") as shown:
        window = Window(connection, APP)
        window.toplevel("set_title", "Lisbon")
        window.show(drawn(connection, 1))
        shown.wait_said("set_title", "Map")
        shown.view.wait_output(".frame(")  # so the picture was received
        said = shown.view.said()
        assert "Lisbon" not in said and f"open.{APP}" not in said


def test_hostile_names(desk: Desk) -> None:
    """What cannot be shown is left out."""
    with desk.connect() as connection, Shown(desk) as shown:
        window = Window(connection, APP)
        call(window, b"red\x1b[31m \xff\xc0\xaf\xe2\x80\xaeturned\n")
        window.show(drawn(connection, 1))
        shown.wait_said("set_title", "red[31m turned")
        call(window, "é".encode() * 2000)
        connection.roundtrip()
        shown.wait_said("set_title", "é" * 82)


def head(window: Window, request: str, length: int) -> bytes:
    """Of a message to the window's toplevel."""
    opcode = window.toplevel.interface.requests[request].opcode
    return struct.pack("<IHH", window.toplevel.number, opcode, length)


def unread(connection: Display) -> int:
    """Of what we have sent, in the kernel's bytes."""
    return struct.unpack("i", fcntl.ioctl(connection.socket, termios.TIOCOUTQ, bytes(4)))[0]


@pytest.mark.parametrize(
    ("name", "length", "first"),
    [("set_title", 4096, 4095), ("set_title", 65000, 65000), ("set_app_id", 65532, 8)],
)
def test_names_for_which_there_is_no_room(desk: Desk, name: str, length: int, first: int) -> None:
    """Who begins to send such a one is hung up on: libwayland would never read the rest.

    The others go on, and so does who comes next and has the same descriptor.
    """
    with desk.connect() as connection, desk.read() as reader:
        window = Window(connection, APP)
        window.show(drawn(connection, 1))
        reader.wait_picture(seen(1))
        with desk.connect() as stranger, pytest.raises((Disconnected, ConnectionError)):
            another = Window(stranger, APP)
            stranger.roundtrip()
            text = struct.pack("<I", length - 12) + b"x" * (length - 13) + b"\0"
            message = head(another, name, length) + text
            stranger.socket.sendall(message[:first])
            wait_for(lambda: unread(stranger) == 0, "Weston to read it")
            stranger.socket.sendall(message[first:])
            stranger.roundtrip()
        desk.weston.wait_log("for which libwayland has no room")
        with desk.connect() as next_one:
            next_one.roundtrip()
        window.toplevel("set_title", "Lisbon")
        window.show(drawn(connection, 2))
        reader.wait_picture(seen(2))


def test_what_one_client_began_is_not_the_next_ones(desk: Desk) -> None:
    """By descriptors, which are the same again: no message of theirs is taken for a longer one."""
    for sent in (b"\xff" * 5, struct.pack("<IHH", 1, 0, 4000) + bytes(3991)):
        with desk.connect() as stranger:
            stranger.socket.sendall(sent)
            wait_for(lambda: unread(stranger) == 0, "Weston to read it")
        with desk.connect() as connection:
            Window(connection, APP).show(drawn(connection, 1))
    assert "for which libwayland has no room" not in desk.weston.read_log()


# --- which window it is -------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["client ends", "hidden", "no window", "another name"])
def test_the_next_one(desk: Desk, way: str) -> None:
    """The first window is sent as long as it is there, then the one that is there for longest."""
    with desk.connect() as first, desk.connect() as others, desk.read() as reader:
        window = Window(first, APP)
        window.show(drawn(first, 1))
        reader.wait_picture(seen(1))
        nothing = Window(others, APP)  # keeps no other one away
        nothing.surface("commit")
        for seed in (2, 3):
            Window(others, APP).show(drawn(others, seed))
        desk.weston.wait_log("has a surface for it, too")
        assert desk.counts()["copied_frames"] == 1
        match way:
            case "client ends":
                first.close()
            case "hidden":
                window.show(None)
            case "no window":
                window.toplevel("destroy")
                first.roundtrip()
            case "another name":
                window.toplevel("set_app_id", "org.example.other")
                window.commit()
        reader.wait_picture(seen(2))
        assert desk.counts()["copied_frames"] == 2


def test_shown_again(desk: Desk) -> None:
    with desk.connect() as connection, desk.read() as reader:
        window = Window(connection, APP)
        for seed in range(3):
            window.show(drawn(connection, seed))
            reader.wait_picture(seen(seed))
            window.show(None)
            reader.wait_hidden(EMPTY)


@pytest.mark.parametrize("config", [BY_BOTH], ids=[""])
def test_title(desk: Desk) -> None:
    """Both must be right, at each commit."""
    with desk.connect() as connection, desk.read() as reader:
        for app_id, title in ((APP, "Porto"), ("org.example.other", "Lisbon")):
            other = Window(connection, app_id)
            other.toplevel("set_title", title)
            other.show(drawn(connection, 99))
        window = Window(connection, APP)
        window.show(drawn(connection, 1))
        for seed in (2, 3):
            window.toplevel("set_title", "Lisbon")
            window.show(drawn(connection, seed))
            reader.wait_picture(seen(seed))
            window.toplevel("set_title", "Porto")
            window.show(drawn(connection, 98))
            reader.wait_hidden(EMPTY)
        assert desk.counts()["copied_frames"] == 2


# --- strangers ----------------------------------------------------------------------------------


def test_too_large(desk: Desk) -> None:
    """Nobody waits for the copy of what is larger than 3840 x 2160."""
    with desk.connect() as connection, desk.read() as reader:
        window = Window(connection, APP)
        for size, seed in (((4096, 2048), 1), ((16384, 512), 2)):
            window.show(drawn(connection, 9, *size))
            reader.wait_hidden(SIZE)
            window.show(drawn(connection, seed))
            reader.wait_picture(seen(seed))
        assert desk.counts()["copied_frames"] == 2


def test_too_much_to_draw(desk: Desk) -> None:
    """Of all its surfaces together, twice as many pixels are drawn."""
    side, code = 2048, SHM_FORMATS[ARGB8888]
    with desk.connect() as connection, desk.read() as reader:
        window = Window(connection, APP)
        large = ShmBuffers(connection, side, side).draw_raw(bytes(side * side * 4), code)
        children = []
        for _ in range(4):
            child = window.compositor("create_surface")
            connection.bind("wl_subcompositor")("get_subsurface", child, window.surface)
            child("attach", large, 0, 0)
            child("commit")
            children.append(child)
        window.show(large)
        reader.wait_hidden(SIZE)
        for child in children:
            child("destroy")
        window.show(drawn(connection, 1))
        reader.wait_picture(seen(1))


def test_a_flood(desk: Desk) -> None:
    """Of commits, each of another size, and of windows of one name: a few pictures are sent."""
    with desk.connect() as connection, desk.read() as reader:
        window = Window(connection, APP)
        window.show(drawn(connection, 0))
        reader.wait_picture(seen(0))
        for seed in range(60):
            Window(connection, APP).show(drawn(connection, seed, 64, 32))
        buffers = [drawn(connection, seed, 64 + seed, 48) for seed in range(8)]
        copied = desk.counts()["copied_frames"]
        begun = time.monotonic()
        for step in range(2000):
            window.surface("attach", buffers[step % 8], 0, 0)
            window.surface("damage_buffer", 0, 0, 64, 48)
            window.commit()  # each in a turn of Weston's loop, where it could be sent
        window.show(drawn(connection, 1))
        reader.wait_picture(seen(1))
        passed = time.monotonic() - begun
        assert desk.counts()["copied_frames"] - copied <= passed * PICTURES_A_SECOND + 3
        lines = desk.weston.read_log().count(f"gid: window {STREAM}: process")
        assert 0 < lines <= 31, "in a minute"


# --- configuration ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "section, message",
    [
        (f"stream={STREAM}\n", "set app-id= or title="),
        (f"app-id={APP}\n", "stream= must be"),
        (f"app-id={APP}\nstream=no stream\n", "stream= must be"),
        (f"app-id={APP}\nstream={STREAM}\nclients=map\n", "clients must be absolute paths"),
        (f"app-id={APP}\nstream=safety/telltale\n", "not of safety/, input/ or clipboard/"),
        (f"app-id={APP}\nstream=input/desktop\n", "not of safety/, input/ or clipboard/"),
        (f"app-id={APP}\nstream={STREAM}\n{BY_BOTH}", f"two sections of window {STREAM}"),
    ],
)
def test_mistakes_are_named(cockpit: Cockpit, tmp_path: Path, section: str, message: str) -> None:
    weston = Weston(tmp_path, cockpit.env("open"))
    weston.configure(f"[gid-window]\n{section}")
    assert weston.launch().wait() != 0
    assert message in weston.read_log()


@pytest.mark.cockpit(ONLY_DESKTOP)
def test_a_stream_that_is_not_allowed(desk: Desk) -> None:
    """The cockpit's configuration says what this domain may publish. Weston says so, and runs."""
    desk.weston.wait_log(f"stream {STREAM} cannot be published")
    with desk.connect() as connection:
        Window(connection, APP).show(drawn(connection, 1))
    assert STREAM not in [one["name"] for one in desk.cockpit.status("open")["streams"]]
