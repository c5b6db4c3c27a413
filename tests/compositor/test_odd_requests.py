# SPDX-License-Identifier: MIT
"""Clients that mix gid buffers with all else that a surface can have, in an order that nobody has
thought of; and Westons that are put together oddly. Nobody else notices."""

import socket
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext, suppress
from itertools import cycle, islice
from pathlib import Path

import numpy
import pytest
from lib.cockpit import Cockpit
from lib.forwarding import ShmBuffers
from lib.program import wait_for
from lib.session import CLUSTER, OwnerProcess, Session, Slab
from lib.weston import HEIGHT, WIDTH, XRGB8888, Client, Weston

from lab.domains.wayland import Disconnected, Display, Object, ProtocolError, protocol_files

SMALL = (100, 80)  # of what lies on a window: one that is covered entirely is never drawn


@pytest.fixture
def watched(shared_session: Session) -> Iterator[Session]:
    """With a bystander who shows a picture all the time, which is seen in the end."""
    slab = shared_session.slab(slots=1)
    with shared_session.client() as bystander:
        bystander.open_window()
        _, buffer = bystander.create(slab.gids[0])
        bystander.show(buffer)
        yield shared_session
        bystander.show(buffer)
        shared_session.wait_shown(slab.pictures[0])


def solid(client: Client, colour: tuple[int, int, int]) -> Object:
    """A buffer of one pixel of this blue, green and red."""
    manager = client.display.bind("wp_single_pixel_buffer_manager_v1")
    blue, green, red = (part * 0x01010101 for part in colour)
    return manager("create_u32_rgba_buffer", red, green, blue, 2**32 - 1)


def test_all_kinds_of_buffers_in_turn(watched: Session) -> None:
    slab = watched.slab(slots=3)
    with watched.client() as client:
        client.open_window()
        viewport = client.display.bind("wp_viewporter")("get_viewport", client.surface)
        viewport("set_destination", WIDTH, HEIGHT)
        shm = ShmBuffers(client.display, WIDTH, HEIGHT)
        for number in range(9):
            gids = slab.gids[number % 3]
            match number % 4:
                case 0:
                    picture = slab.pictures[number % 3]
                    client.show(client.create(gids)[1])
                case 1:
                    picture = numpy.random.default_rng(number).integers(
                        1, 256, (HEIGHT, WIDTH, 4), numpy.uint8
                    )
                    client.show(shm.draw(picture[..., 2::-1]))
                case 2:
                    picture = numpy.full((HEIGHT, WIDTH, 3), (number, 2, 250), numpy.uint8)
                    client.show(solid(client, (number, 2, 250)))
                case 3:
                    picture = slab.pictures[number % 3]
                    client.show(client.create_immed(gids)[1])
            watched.wait_shown(picture)


def destroy_buffer(session: Session, slab: Slab, child: Object, buffer: Object) -> None:
    buffer("destroy")


def revoke(session: Session, slab: Slab, child: Object, buffer: Object) -> None:
    session.owner.call("revoke", slab.index, CLUSTER)


def destroy_slab(session: Session, slab: Slab, child: Object, buffer: Object) -> None:
    session.owner.call("destroy", slab.index, True)


def destroy_surface(session: Session, slab: Slab, child: Object, buffer: Object) -> None:
    child("destroy")


def stop_waiting(session: Session, slab: Slab, child: Object, buffer: Object) -> None:
    """What was to be taken over with the parent's commit is taken away again."""
    child("attach", None, 0, 0)
    child("commit")


@pytest.mark.parametrize("mode", ["set_sync", "set_desync"])
@pytest.mark.parametrize(
    "event",
    [destroy_buffer, revoke, destroy_slab, destroy_surface, stop_waiting],
    ids=lambda event: event.__name__,
)
def test_between_a_subsurfaces_commit_and_its_parents(
    watched: Session, event: Callable[..., None], mode: str
) -> None:
    slab, parents = watched.slab(slots=2), watched.slab(slots=2)
    with watched.client() as client:
        client.open_window()
        _, first = client.create(parents.gids[0])
        client.show(first)
        child = client.compositor("create_surface")
        place = client.display.bind("wl_subcompositor")("get_subsurface", child, client.surface)
        place(mode)
        for gid in slab.gids:
            _, buffer = client.create(gid, *SMALL)
            child("attach", buffer, 0, 0)
            child("damage", 0, 0, *SMALL)
            child("commit")
        event(watched, slab, child, buffer)
        client.display.roundtrip()
        _, second = client.create(parents.gids[1])
        client.show(second)
        if event is not destroy_surface:
            place("destroy")
        client.show(second)
        watched.wait_shown(parents.pictures[1])


@pytest.mark.parametrize("waits", [False, True], ids=["there", "awaited"])
@pytest.mark.parametrize(
    ("source", "error"),
    [
        ((0, 0, WIDTH * 256, HEIGHT * 256), None),
        ((128, 64, 100, 77), None),
        ((WIDTH * 256 - 1, HEIGHT * 256 - 1, 1, 1), None),
        ((WIDTH * 256 - 1, 0, 2, 1), "out_of_buffer"),
        ((0, 1, WIDTH * 256, HEIGHT * 256), "out_of_buffer"),
        ((2**31 - 1, 0, 2**31 - 1, 1), "out_of_buffer"),
        ((0, 0, 0, 1), "bad_value"),
        ((-1, 0, 256, 256), "bad_value"),
    ],
)
def test_crops(watched: Session, source: tuple[int, ...], error: str | None, waits: bool) -> None:
    """What leaves a picture of which there is only the size so far leaves it, too."""
    slab = watched.slab(slots=1)
    with watched.client() as client:
        client.open_window()
        viewport = client.display.bind("wp_viewporter")("get_viewport", client.surface)

        if not waits:
            client.create(slab.gids[0])
        told = None
        with watched.stopped_gidd() if waits else nullcontext():
            _, buffer = client.create_immed(slab.gids[0])
            try:
                viewport("set_source", *source)
                viewport("set_destination", 50, 40)
                client.show(buffer)
            except ProtocolError as mistake:
                told = (mistake.interface, mistake.error)
        assert told == (("wp_viewport", error) if error else None)


def test_a_buffer_of_many_surfaces(watched: Session) -> None:
    """It goes while they show it, and so do they."""
    slab = watched.slab(slots=2)
    with watched.client() as client:
        client.open_window()
        _, below = client.create(slab.gids[0])
        _, shared = client.create(slab.gids[1], *SMALL)
        _, other = client.create(slab.gids[1], *SMALL)
        client.show(below)
        children = [client.compositor("create_surface") for _ in range(8)]

        def show(buffer: Object, on: list[Object]) -> None:
            for child in on:
                child("attach", buffer, 0, 0)
                child("damage", 0, 0, *SMALL)
                child("commit")
            client.show(below)

        for child in children:
            place = client.display.bind("wl_subcompositor")("get_subsurface", child, client.surface)
            place("set_desync")
        show(shared, children)
        for child in children[:4]:
            child("destroy")
        shared("destroy")
        client.show(below)
        show(other, children[4:])
        for child in children[4:]:
            child("destroy")
        client.show(below)
        watched.wait_shown(slab.pictures[0])


def test_when_it_was_presented(watched: Session) -> None:
    """Each commit has one answer, whatever became of its buffer and of its surface."""
    slab = watched.slab(slots=2)
    stable = next(path.parent for path in protocol_files() if path.name == "xdg-shell.xml").parent
    protocols = [*protocol_files(), stable / "presentation-time/presentation-time.xml"]
    display = Display(watched.screen.socket, protocols)
    with Client(display) as client:
        client.open_window()
        presentation = display.bind("wp_presentation")
        asked = []
        for index, gid in islice(enumerate(cycle(slab.gids)), 12):
            _, buffer = client.create_immed(gid)
            asked.append(presentation("feedback", client.surface))
            if index % 3 == 0:
                client.show(buffer)
            else:  # the next one takes its place, perhaps
                client.surface("attach", buffer, 0, 0)
                client.surface("damage", 0, 0, WIDTH, HEIGHT)
                client.surface("commit")
            if index % 4 == 1:
                buffer("destroy")
        asked.append(presentation("feedback", client.surface))
        client.surface("destroy")
        for feedback in asked:
            display.wait_until(
                lambda one=feedback: one.has("presented") or one.has("discarded"), "an answer"
            )
        assert asked[-1].has("discarded")


def test_who_reads_no_events(watched: Session) -> None:
    """Weston has no room for all that it is to be told, and ends its connection."""
    display = Display(watched.screen.socket, protocol_files())
    display.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    with Client(display) as client, watched.client() as other:
        with suppress(Disconnected, ProtocolError):
            for index in range(100_000):
                params = client.params(1 << 56 | (index + 5000) << 32, WIDTH * 4)
                params("create", WIDTH, HEIGHT, XRGB8888)
                params("destroy")
                client.manager("get_feedback")
                if index % 500 == 0:
                    other.display.roundtrip()
        other.display.roundtrip()


@pytest.mark.at_length
def test_what_others_have_costs_nobody(watched: Session) -> None:
    """Who has as much as a client can have makes none of it dearer for the next."""
    with ExitStack() as stack:

        def fill() -> float:
            client = stack.enter_context(watched.client())
            start = time.monotonic()
            for _ in range(2048):
                client.manager("create_params")
            client.display.roundtrip()
            return time.monotonic() - start

        first = statistics.median(fill() for _ in range(3))
        for _ in range(34):
            fill()
        assert statistics.median(fill() for _ in range(3)) < 10 * first


# --- Westons ------------------------------------------------------------------------------------

SECTIONS = """[gid-output]
name=left
stream=screen/left
mode=480x270
input=open
[gid-window]
stream=map
app-id=org.example.map
input=open
[gid-safety]
role=telltale
clients=/usr/bin/true
"""


STREAMS = {"screen/left", "map", "safety/telltale"}


def streams(cockpit: Cockpit) -> set[str]:
    return {one["name"] for one in cockpit.status("cluster")["streams"]}


def live(cockpit: Cockpit, weston: Weston) -> None:
    """A client has a buffer; then all ends well."""
    owner = OwnerProcess(cockpit.env("open"))
    try:
        weston.configure(SECTIONS)
        weston.start()
        index, gid = owner.call("create", XRGB8888, WIDTH, HEIGHT, 1, 0)
        owner.call("grant", index, CLUSTER)
        with Client(Display(weston.socket, weston.protocols)) as client:

            def has_one() -> Object | None:
                return client.create(gid)[1]

            wait_for(has_one, "a buffer, once Weston has its gidd")
            wait_for(lambda: streams(cockpit) == STREAMS, "the streams")
            assert weston.stop() == 0, weston.read_log()
    finally:
        owner.stop()


@pytest.mark.parametrize(
    "modules",
    [
        "gid-buffer.so,gid-buffer.so",
        "systemd-notify.so,gid-buffer.so",
        "gid-buffer.so,systemd-notify.so",
        "screen-share.so,gid-buffer.so",
        "gid-buffer.so,screen-share.so",
    ],
)
def test_beside_other_modules(cockpit: Cockpit, tmp_path: Path, modules: str) -> None:
    options = [f"--modules={modules}"]
    live(cockpit, Weston(tmp_path, cockpit.env("cluster"), options=options))


# Of each shell and of each renderer one, in the usual run.
USUAL = {("desktop", "noop"), ("fullscreen", "pixman"), ("ivi", "gl")}
SHELLS = [
    pytest.param(kind, renderer, marks=[] if (kind, renderer) in USUAL else pytest.mark.at_length)
    for kind in ("desktop", "kiosk", "fullscreen", "ivi")
    for renderer in ("pixman", "gl", "noop")
]


@pytest.mark.parametrize(("kind", "renderer"), SHELLS)
def test_of_any_shell(cockpit: Cockpit, tmp_path: Path, kind: str, renderer: str) -> None:
    live(cockpit, Weston(tmp_path, cockpit.env("cluster"), renderer, kind))


LEAST = 200  # descriptors of Weston's


def test_no_descriptors_left(cockpit: Cockpit, tmp_path: Path) -> None:
    """A client that wants more memory than Weston can have gets `failed`, and others theirs."""
    weston = Weston(tmp_path, cockpit.env("cluster"))
    weston.start(["prlimit", f"--nofile={LEAST}"])
    owner = OwnerProcess(cockpit.env("open"))
    try:
        gids = []
        for _ in range(2 * LEAST):
            index, gid = owner.call("create", XRGB8888, 16, 16, 1, 0)
            owner.call("grant", index, CLUSTER)
            gids.append(gid)
        protocols = weston.protocols
        with Client(Display(weston.socket, protocols)) as modest:
            modest.open_window()
            _, shown = modest.create(gids[0], 16, 16)
            modest.show(shown)
            with Client(Display(weston.socket, protocols)) as greedy:
                made = [greedy.create(gid, 16, 16)[1] for gid in gids]
                assert None in made
                modest.show(shown)
            modest.show(shown)
            wait_for(lambda: modest.create(gids[-1], 16, 16)[1], "what others gave back")
        assert weston.stop() == 0
    finally:
        owner.stop()
