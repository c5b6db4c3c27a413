# SPDX-License-Identifier: MIT
"""Every protocol error, at and past its limit; and what is no error but `failed`."""

from collections.abc import Callable

import pytest
from lib.session import Session
from lib.weston import HEIGHT, WIDTH, XRGB8888, Client, wait_created

from lab.domains.wayland import Object, ProtocolError

STRIDE = WIDTH * 4
NV12, R8, NONSENSE = 0x3231564E, 0x20203852, 0x12345678
PLANE_END_MAX = 2**31 - 4096
VENDOR_MODIFIER = 0x0100000000000001

Step = Callable[[Client, int], Object]


def plane(**changes: int) -> Step:
    """One plane as it should be, but for `changes`."""

    def step(client: Client, gid: int) -> Object:
        return client.params(**({"gid": gid, "stride": STRIDE} | changes))

    return step


def create(make: Step, width: int = WIDTH, height: int = HEIGHT, fourcc: int = XRGB8888) -> Step:
    def step(client: Client, gid: int) -> Object:
        params = make(client, gid)
        params("create", width, height, fourcc)
        return params

    return step


def create_immed(
    make: Step, width: int = WIDTH, height: int = HEIGHT, fourcc: int = XRGB8888
) -> Step:
    def step(client: Client, gid: int) -> Object:
        params = make(client, gid)
        params("create_immed", width, height, fourcc)
        return params

    return step


def again(make: Step, *request: object) -> Step:
    """One more request to the same params object."""

    def step(client: Client, gid: int) -> Object:
        params = make(client, gid)
        name, *args = request
        params(name, *args)
        return params

    return step


def another_plane(make: Step, **changes: int) -> Step:
    def step(client: Client, gid: int) -> Object:
        params = make(client, gid)
        client.add(params, **({"gid": gid, "stride": STRIDE} | changes))
        return params

    return step


def no_plane(client: Client, gid: int) -> Object:
    return client.manager("create_params")


MISTAKES = [
    ("plane_index", plane(plane=4)),
    ("plane_index", plane(plane=2**32 - 1)),
    ("plane_set", another_plane(plane())),
    ("plane_set", another_plane(plane(plane=3), plane=3)),
    ("incomplete", create(no_plane)),
    ("incomplete", create_immed(no_plane)),
    ("incomplete", create(plane(plane=1))),
    ("incomplete", create(another_plane(plane(), plane=1))),
    ("incomplete", create(another_plane(plane(), plane=2))),
    ("incomplete", create(plane(), fourcc=NV12)),
    ("invalid_format", create(plane(), fourcc=NONSENSE)),
    ("invalid_format", create_immed(plane(), fourcc=NONSENSE)),
    ("invalid_format", create(plane(), fourcc=0)),
    ("invalid_format", create(plane(), fourcc=1)),  # a code of wl_shm, not of DRM
    ("invalid_format", create(another_plane(plane(), plane=1), fourcc=NV12)),
    ("invalid_format", create(plane(modifier=1))),
    ("invalid_format", create(plane(modifier=VENDOR_MODIFIER))),
    ("invalid_format", create(plane(modifier=2**56 - 1))),
    ("invalid_dimensions", create(plane(), width=0)),
    ("invalid_dimensions", create(plane(), height=0)),
    ("invalid_dimensions", create(plane(), width=-1)),
    ("invalid_dimensions", create(plane(), height=-(2**31))),
    ("invalid_dimensions", create(plane(stride=16385 * 4), width=16385, height=1)),
    ("invalid_dimensions", create(plane(), width=1, height=16385)),
    ("invalid_dimensions", create_immed(plane(), width=0, height=0)),
    ("out_of_bounds", create(plane(stride=STRIDE - 1))),
    ("out_of_bounds", create(plane(stride=0))),
    ("out_of_bounds", create_immed(plane(stride=STRIDE - 4))),
    ("out_of_bounds", create(plane(stride=2**31), height=1)),
    ("out_of_bounds", create(plane(stride=2**32 - 4), height=1)),
    ("out_of_bounds", create(plane(offset=PLANE_END_MAX - HEIGHT * STRIDE + 1))),
    ("out_of_bounds", create(plane(offset=2**32 - 4))),
    ("already_used", again(create(plane()), "create", WIDTH, HEIGHT, XRGB8888)),
    ("already_used", again(create(plane()), "create_immed", WIDTH, HEIGHT, XRGB8888)),
    ("already_used", again(create_immed(plane()), "create", WIDTH, HEIGHT, XRGB8888)),
    ("already_used", another_plane(create(plane()), plane=1)),
    ("already_used", another_plane(create_immed(plane()), plane=7)),
]


@pytest.mark.parametrize(
    ("error", "step"),
    MISTAKES,
    ids=[f"{index}-{error}" for index, (error, _) in enumerate(MISTAKES)],
)
def test_mistake_is_a_protocol_error(shared_session: Session, error: str, step: Step) -> None:
    gid = shared_session.slab(slots=1, slot_size=SLOT).gids[0]
    with shared_session.client() as bystander, shared_session.client() as client:
        with pytest.raises(ProtocolError) as caught:
            step(client, gid)
            client.display.roundtrip()
        assert (caught.value.interface, caught.value.error) == ("gid_buffer_params_v1", error)
        bystander.display.roundtrip()


@pytest.mark.parametrize(("request_name", "most"), [("create_params", 2048), ("get_feedback", 64)])
def test_objects_of_a_client_are_bounded(
    shared_session: Session, request_name: str, most: int
) -> None:
    """As many as a client can have a use for; one that takes more goes, and nobody else."""
    with shared_session.client() as bystander, shared_session.client() as client:
        made = [client.manager(request_name) for _ in range(most)]
        client.display.roundtrip()
        made.pop()("destroy")
        client.manager(request_name)
        client.display.roundtrip()
        with pytest.raises(ProtocolError) as caught:
            client.manager(request_name)
            client.display.roundtrip()
        assert (caught.value.interface, caught.value.error) == ("wl_display", "no_memory")
        bystander.manager(request_name)
        bystander.display.roundtrip()


SLOT = HEIGHT * STRIDE + 8192  # bytes of a slot of the shared slab
LIMITS = [
    ("whole slot", dict(), WIDTH, HEIGHT, True),
    ("last row at the end", dict(offset=SLOT - HEIGHT * STRIDE), WIDTH, HEIGHT, True),
    ("last row 4 bytes over", dict(offset=SLOT - HEIGHT * STRIDE + 4), WIDTH, HEIGHT, False),
    ("one row more", dict(offset=SLOT - HEIGHT * STRIDE), WIDTH, HEIGHT + 1, False),
    ("last pixel", dict(offset=SLOT - 4, stride=4), 1, 1, True),
    ("behind the last pixel", dict(offset=SLOT, stride=4), 1, 1, False),
    ("end of a row without its padding", dict(stride=SLOT - 4 * WIDTH), WIDTH, 2, True),
    ("end of a row 4 bytes over", dict(stride=SLOT - 4 * WIDTH + 4), WIDTH, 2, False),
    ("largest end", dict(offset=PLANE_END_MAX - HEIGHT * STRIDE), WIDTH, HEIGHT, False),
    ("largest picture", dict(stride=65536), 16384, 16384, False),
]


@pytest.mark.parametrize("request_name", ["create", "create_immed"])
@pytest.mark.parametrize(
    ("what", "changes", "width", "height", "fits"), LIMITS, ids=[c[0] for c in LIMITS]
)
def test_plane_must_lie_in_its_slot(
    shared_session: Session,
    request_name: str,
    what: str,
    changes: dict[str, int],
    width: int,
    height: int,
    fits: bool,
) -> None:
    gid = shared_session.slab(slots=1, slot_size=SLOT).gids[0]
    with shared_session.client() as client:
        params = plane(**changes)(client, gid)
        params(request_name, width, height, XRGB8888)
        if fits:
            if request_name == "create":
                assert wait_created(params)
            client.display.roundtrip()
            assert not params.has("failed")
        else:
            with pytest.raises(ProtocolError) as caught:
                params.wait("failed")
            assert caught.value.error == "out_of_bounds"


def test_plane_out_of_a_slot_without_params_stays_blank(shared_session: Session) -> None:
    """Nobody is left to be told of the mistake."""
    slab = shared_session.slab(slots=1)
    with shared_session.client() as client:
        client.open_window()
        with shared_session.stopped_gidd():
            params = client.params(slab.gids[0], STRIDE, offset=8192)
            buffer = params("create_immed", WIDTH, HEIGHT, XRGB8888)
            params("destroy")
            client.show(buffer)
        assert client.create(slab.gids[0])[1], "the memory is there by now"
        client.show(buffer)
        assert not shared_session.screenshot().any()


@pytest.mark.parametrize(
    "changes", [dict(stride=STRIDE + 2), dict(offset=2), dict(stride=STRIDE + 1, offset=1)]
)
@pytest.mark.parametrize("request_name", ["create", "create_immed"])
def test_rows_that_are_not_of_words_fail(
    shared_session: Session, changes: dict[str, int], request_name: str
) -> None:
    """pixman reads words of four bytes. That is the renderer's limit and no mistake."""
    slab = shared_session.slab(slots=1, slot_size=WIDTH * HEIGHT * 8)
    with shared_session.client() as client:
        params = plane(**changes)(client, slab.gids[0])
        params(request_name, WIDTH, HEIGHT, XRGB8888)
        assert params.wait("failed") == ()


def test_params_may_be_destroyed_at_any_time(shared_session: Session) -> None:
    slab = shared_session.slab(slots=2)
    with shared_session.client() as client:
        client.open_window()
        client.manager("create_params")("destroy")
        client.params(slab.gids[0], STRIDE)("destroy")
        with shared_session.stopped_gidd():
            waiting = client.params(slab.gids[0], STRIDE)
            waiting("create", WIDTH, HEIGHT, XRGB8888)
            waiting("destroy")
            params, buffer = client.create_immed(slab.gids[1])
            params("destroy")
            client.manager("destroy")
            client.show(buffer)
        shared_session.wait_shown(slab.pictures[1])


def test_buffer_may_be_destroyed_at_any_time(shared_session: Session) -> None:
    slab = shared_session.slab(slots=1)
    with shared_session.client() as client:
        client.open_window()
        with shared_session.stopped_gidd():
            params, buffer = client.create_immed(slab.gids[0])
            buffer("destroy")
            client.display.roundtrip()
        params, buffer = client.create(slab.gids[0])
        client.show(buffer)
        buffer("destroy")
        client.display.roundtrip()
        _, buffer = client.create(slab.gids[0])
        client.show(buffer)
        shared_session.wait_shown(slab.pictures[0])


def test_too_many_buffers_are_refused(shared_session: Session) -> None:
    slab = shared_session.slab(slots=1, slot_size=SLOT)
    with shared_session.client() as bystander, shared_session.client() as client:
        with pytest.raises(ProtocolError) as caught:
            for _ in range(1025):
                params = client.params(slab.gids[0], STRIDE)
                params("create_immed", WIDTH, HEIGHT, XRGB8888)
                client.display.roundtrip()
        assert (caught.value.interface, caught.value.error) == ("wl_display", "no_memory")
        bystander.display.roundtrip()


def test_screenshot_into_a_gid_buffer_is_refused(shared_session: Session) -> None:
    """Weston would write into memory that is mapped read-only."""
    slab = shared_session.slab(slots=1, slot_size=SLOT)
    with shared_session.client() as client:
        _, buffer = client.create(slab.gids[0])
        capture = client.display.bind("weston_capture_v1")
        source = capture(
            "create",
            client.display.bind("wl_output"),
            capture.interface.enums["source"]["framebuffer"],
        )
        source.wait("size")
        source("capture", buffer)
        assert source.wait("failed") == ("unauthorized",)
        buffer("destroy")
    assert shared_session.screenshot().shape == (HEIGHT, WIDTH, 3)


def test_feedback(shared_session: Session) -> None:
    with shared_session.client() as client:
        feedback = client.manager("get_feedback")
        feedback.wait("done")
        formats = [args for event, args in feedback.events if event == "format"]
        assert len({args[:3] for args in formats}) == len(formats)
        assert (XRGB8888, 0, 0, 3) in formats
        assert NV12 not in {args[0] for args in formats}
        assert feedback.take("domain") == (2, "cluster")
        feedback("destroy")
        client.display.roundtrip()
