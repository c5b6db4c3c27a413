# SPDX-License-Identifier: MIT
"""Surfaces that cannot be sent as their buffer is: with subsurfaces, scaled, of one colour.

The module draws them once. The other display shows what Weston itself shows.
"""

import tempfile
from collections.abc import Callable, Iterator

import numpy
import pytest
from lib.cockpit import Cockpit
from lib.display import HEIGHT, WIDTH, Display, stays
from lib.display import ROLE as SHOWN_ROLE
from lib.forwarding import ROLE, Forwarding, GidBuffers, ShmBuffers, Window, random_picture
from lib.length import at_length_but
from lib.program import shared_kib, wait_for
from lib.session import OwnerProcess
from lib.weston import ARGB8888, SHM_FORMATS

from lab.domains.wayland import Display as Connection
from lab.domains.wayland import Object, ProtocolError, weston_major


class Scene:
    """A window with the role, whose buffer is gids and has its size."""

    def __init__(self, forwarding: Forwarding, connection: Connection, owner: OwnerProcess) -> None:
        self.forwarding, self.connection, self.owner = forwarding, connection, owner
        self.window = Window(connection)
        self.window.take_role()
        self.subcompositor = connection.bind("wl_subcompositor")
        self.viewporter = connection.bind("wp_viewporter")

    def gids(self, width: int = WIDTH, height: int = HEIGHT) -> GidBuffers:
        folder = self.forwarding.cockpit.folder
        return GidBuffers(self.connection, self.owner, folder, width, height)

    def child(self, parent: Object, x: int, y: int) -> tuple[Object, Object]:
        surface = self.window.compositor("create_surface")
        subsurface = self.subcompositor("get_subsurface", surface, parent)
        subsurface("set_position", x, y)
        return surface, subsurface

    def commit(self, surface: Object, buffer: Object | None) -> None:
        surface("attach", buffer, 0, 0)
        surface("damage_buffer", 0, 0, 0x7FFFFFFF, 0x7FFFFFFF)
        surface("commit")

    def small(self, seed: int, width: int = 64, height: int = 32) -> Object:
        """A buffer of ordinary shared memory."""
        picture = random_picture(seed, width, height)
        return ShmBuffers(self.connection, width, height).draw(picture)

    def difference(self) -> int:
        """Between what Weston shows of the window and what the other display shows."""
        shot = self.forwarding.weston.screenshot()[..., ::-1].astype(int)
        lit = numpy.argwhere(shot.any(axis=2))
        if not len(lit):
            return 256
        top, left = lit.min(axis=0)
        here = shot[top : top + HEIGHT, left : left + WIDTH]
        region = self.forwarding.display.region()
        return int(abs(here - region).max()) if here.shape == region.shape else 256

    def wait_same(self) -> None:
        wait_for(lambda: self.difference() <= 1, "both displays to show the same")


@pytest.fixture
def config() -> str:
    return ROLE


@pytest.fixture
def roles() -> str:
    return SHOWN_ROLE


@pytest.fixture(params=["pixman", "gl"])
def scene(
    cockpit: Cockpit, config: str, roles: str, request: pytest.FixtureRequest
) -> Iterator[Scene]:
    forwarding = Forwarding(cockpit, config, renderer=request.param, roles=roles)
    with forwarding.connection() as connection, forwarding.owner() as owner:
        yield Scene(forwarding, connection, owner)


def only_pixman(function: Callable[..., None]) -> Callable[..., None]:
    return pytest.mark.parametrize("scene", ["pixman"], indirect=True)(function)


def gl_at_length(function: Callable[..., None]) -> Callable[..., None]:
    """What the module does is the same: GL is another way to draw, which others look at."""
    cases = at_length_but(["pixman", "gl"], "pixman")
    return pytest.mark.parametrize("scene", cases, indirect=True)(function)


def test_subsurfaces(scene: Scene) -> None:
    """Above and below, of gids and of shared memory; children that draw by themselves."""
    window, main = scene.window, scene.window.surface
    above, above_sub = scene.child(main, 40, 10)
    scene.commit(above, scene.gids(64, 32).draw(random_picture(2, 64, 32)))
    window.show(scene.gids().draw(random_picture(1)))
    scene.wait_same()
    counts = scene.forwarding.counts()
    assert counts["copied_frames"] > 0
    assert counts["copied_bytes"] == counts["copied_frames"] * WIDTH * HEIGHT * 4
    expected = random_picture(1)
    expected[10:42, 40:104] = random_picture(2, 64, 32)
    assert numpy.array_equal(scene.forwarding.display.region(), expected)

    above_sub("set_desync")
    scene.commit(above, scene.small(3))
    expected[10:42, 40:104] = random_picture(3, 64, 32)
    wait_for(
        lambda: numpy.array_equal(scene.forwarding.display.region(), expected), "its own commit"
    )

    below, below_sub = scene.child(main, 0, 0)
    below_sub("place_below", main)
    scene.commit(below, scene.small(4))
    grandchild, _ = scene.child(above, 8, 4)
    scene.commit(grandchild, scene.small(5, 16, 16))
    above("commit")
    window.show(scene.gids().draw(random_picture(6)))
    scene.connection.roundtrip()
    scene.wait_same()
    assert [t["reason"] for t in scene.forwarding.display.role()["transitions"]] == ["none"]

    # Without children it is lent again.
    for surface in (grandchild, below, above):
        surface("destroy")
    copied = scene.forwarding.counts()["copied_frames"]
    window.show(scene.gids().draw(random_picture(7)))
    window.show(scene.gids().draw(random_picture(8)))
    wait_for(
        lambda: numpy.array_equal(scene.forwarding.display.region(), random_picture(8)),
        "the surface alone",
    )
    assert scene.forwarding.counts()["copied_frames"] <= copied + 3  # as many as went away


@pytest.mark.parametrize("what", ["a picture", "a part of it"])
@only_pixman
def test_a_slot_that_is_far_larger_than_its_picture(scene: Scene, what: str) -> None:
    """Its owner chooses how large it is: Weston's thread looks at none of it but the picture."""
    size = 64 << 20
    folder = scene.forwarding.cockpit.folder
    width, height = (WIDTH, HEIGHT) if what == "a picture" else (64, 32)
    large = GidBuffers(scene.connection, scene.owner, folder, width, height, 1, size)
    all_of_it = folder / "all"
    all_of_it.write_bytes(bytes(size))
    scene.owner.call("write", large.slab, 0, str(all_of_it))  # no page is missing
    child, _ = scene.child(scene.window.surface, 0, 0)
    pid = scene.forwarding.weston.program.pid
    scene.window.show(scene.gids().draw(random_picture(1)))
    scene.wait_same()
    before = shared_kib(pid)
    expected = random_picture(2, width, height)
    if what == "a picture":
        scene.window.show(large.draw(expected))
    else:
        scene.commit(child, large.draw(expected))
        scene.window.show(scene.gids().draw(random_picture(1)))
    wait_for(
        lambda: numpy.array_equal(scene.forwarding.display.region()[:height, :width], expected),
        "the picture",
    )
    assert shared_kib(pid) - before < size // 1024 // 4


@pytest.mark.parametrize("what", ["surface", "subsurface"])
@only_pixman
def test_a_child_goes(scene: Scene, what: str) -> None:
    """Or stays, but is no subsurface any more, so that Weston does not show it, either."""
    child, subsurface = scene.child(scene.window.surface, 40, 10)
    scene.commit(child, scene.small(2))
    scene.window.show(scene.gids().draw(random_picture(1)))
    scene.wait_same()
    {"surface": child, "subsurface": subsurface}[what]("destroy")
    wait_for(
        lambda: numpy.array_equal(scene.forwarding.display.region(), random_picture(1)),
        "the surface without its child",
    )


@only_pixman
def test_the_window_goes_with_a_child(scene: Scene) -> None:
    """Nothing is drawn for a child of what is not shown any more."""
    child, subsurface = scene.child(scene.window.surface, 40, 10)
    scene.commit(child, scene.small(2))
    scene.window.show(scene.gids().draw(random_picture(1)))
    scene.wait_same()
    subsurface("destroy")
    scene.window.toplevel("destroy")
    scene.connection.roundtrip()
    scene.forwarding.display.wait_role("lost", "hidden")
    assert stays(lambda: scene.forwarding.display.role()["state"] == "lost", 0.5)


class Part:
    """A subsurface that has the role, in place of its window."""

    def __init__(self, scene: Scene, role: str = "telltale") -> None:
        self.scene = scene
        self.surface, self.subsurface = scene.child(scene.window.surface, 0, 0)
        self.subsurface("set_desync")
        scene.connection.bind("gid_safety_manager_v1")("get_safety_surface", self.surface, role)
        self.show(1)

    def show(self, seed: int) -> None:
        self.scene.commit(self.surface, self.scene.gids().draw(random_picture(seed)))
        self.scene.connection.roundtrip()


@pytest.fixture
def part(scene: Scene) -> Part:
    scene.window.safety("destroy")
    scene.window.show(scene.gids().draw(random_picture(0)))
    part = Part(scene)
    scene.forwarding.display.wait_role("live")
    return part


@only_pixman
def test_a_part_with_a_child(scene: Scene, part: Part) -> None:
    """Which draws by itself."""
    child, subsurface = scene.child(part.surface, 40, 10)
    subsurface("set_desync")
    part.show(2)
    scene.commit(child, scene.small(3))
    expected = random_picture(2)
    expected[10:42, 40:104] = random_picture(3, 64, 32)
    wait_for(lambda: numpy.array_equal(scene.forwarding.display.region(), expected), "both of them")


@pytest.mark.parametrize("what", ["toplevel", "picture", "subsurface"])
@only_pixman
def test_the_window_of_a_part_goes(scene: Scene, part: Part, what: str) -> None:
    """Weston shows nothing of it then. What comes back is shown again."""
    if what == "picture":
        scene.window.show(None)
    else:
        {"toplevel": scene.window.toplevel, "subsurface": part.subsurface}[what]("destroy")
    role = scene.forwarding.display.wait_role("lost", "hidden")
    assert role["detail"] == "empty"
    part.show(2)
    assert stays(lambda: scene.forwarding.display.role()["state"] == "lost", 0.5)
    if what == "picture":
        scene.window.show(scene.gids().draw(random_picture(0)))
    elif what == "subsurface":
        scene.subcompositor("get_subsurface", part.surface, scene.window.surface)("set_desync")
        part.show(2)
    else:
        return
    wait_for(
        lambda: numpy.array_equal(scene.forwarding.display.region(), random_picture(2)),
        "it to be back",
    )


@pytest.mark.parametrize("config", [ROLE + ROLE.replace("=telltale", "=part")], ids=[""])
@only_pixman
def test_a_part_with_a_role_of_its_own(scene: Scene) -> None:
    """The window's role shows what the part shows, too."""
    scene.window.show(scene.gids().draw(random_picture(0)))
    part = Part(scene, "part")
    scene.wait_same()
    part.show(2)
    scene.wait_same()


@pytest.mark.parametrize("config", [ROLE + "visible=false\n"], ids=[""])
@only_pixman
def test_not_visible_here(scene: Scene) -> None:
    """No part of it, from the first frame on; each is told when to draw all the same."""
    child, subsurface = scene.child(scene.window.surface, 40, 10)
    scene.commit(child, scene.small(2))
    # Weston's own first picture is grey.
    wait_for(lambda: not scene.forwarding.weston.screenshot().any(), "the black background")
    scene.window.attach(scene.gids().draw(random_picture(1)))
    scene.window.commit_drawn()
    assert not scene.forwarding.weston.screenshot().any()
    subsurface("set_desync")
    grandchild, _ = scene.child(child, 8, 4)
    scene.commit(grandchild, scene.small(5, 16, 16))
    frame = child("frame")
    scene.commit(child, scene.small(3))
    frame.wait("done")
    assert not scene.forwarding.weston.screenshot().any()
    expected = random_picture(1)
    expected[10:42, 40:104] = random_picture(3, 64, 32)
    expected[14:30, 48:64] = random_picture(5, 16, 16)
    wait_for(
        lambda: numpy.array_equal(scene.forwarding.display.region(), expected), "all of it there"
    )
    scene.window.safety("destroy")
    scene.window.commit_drawn()
    shot = scene.forwarding.weston.screenshot()[..., ::-1]
    top, left = numpy.argwhere(shot.any(axis=2)).min(axis=0)
    assert numpy.array_equal(shot[top : top + HEIGHT, left : left + WIDTH], expected)


@only_pixman
def test_child_that_shows_nothing(scene: Scene) -> None:
    """Then the surface is as one without."""
    scene.child(scene.window.surface, 400, 400)
    scene.window.show(scene.gids().draw(random_picture(1)))
    scene.wait_same()
    assert scene.forwarding.counts()["copied_frames"] == 0


def test_alpha(scene: Scene) -> None:
    """Colours are multiplied by alpha already; black is behind the surface."""
    pixels = numpy.zeros((32, 64, 4), numpy.uint8)
    pixels[..., 3] = numpy.linspace(0, 255, 64).astype(numpy.uint8)
    pixels[..., :3] = pixels[..., 3:] // 2
    buffers = ShmBuffers(scene.connection, 64, 32)
    child, _ = scene.child(scene.window.surface, 16, 8)
    scene.commit(child, buffers.draw_raw(pixels.tobytes(), SHM_FORMATS[ARGB8888]))
    scene.window.show(scene.gids().draw(random_picture(1)))
    scene.wait_same()


@pytest.mark.parametrize("transform", at_length_but(range(8), 1, 6))
@only_pixman
def test_transforms(scene: Scene, transform: int) -> None:
    size = (32, 64) if transform % 2 else (64, 32)
    child, _ = scene.child(scene.window.surface, 24, 12)
    child("set_buffer_transform", transform)
    scene.commit(child, scene.small(3, *size))
    scene.window.show(scene.gids().draw(random_picture(1)))
    scene.wait_same()


def smooth(width: int, height: int) -> numpy.ndarray:
    """Without edges, at which filters differ."""
    y, x = numpy.mgrid[0:height, 0:width]
    return numpy.stack([x * 200 // width, y * 200 // height, (x + y) % 256 // 2 + 20], -1).astype(
        numpy.uint8
    )


def test_scaled(scene: Scene) -> None:
    """Where what is seen has the role's size, and the buffer has not."""
    picture = numpy.full((HEIGHT * 2, WIDTH * 2, 3), 90, numpy.uint8)
    picture[:, WIDTH:] = 200
    viewport = scene.viewporter("get_viewport", scene.window.surface)
    viewport("set_destination", WIDTH, HEIGHT)
    scene.window.show(scene.gids(WIDTH * 2, HEIGHT * 2).draw(picture))
    wait_for(
        lambda: numpy.array_equal(scene.forwarding.display.region(), picture[::2, ::2]),
        "half of it",
    )
    assert scene.forwarding.counts()["copied_frames"] == 1


@only_pixman
def test_part_of_pixels(scene: Scene) -> None:
    """A source that begins within a pixel."""
    viewport = scene.viewporter("get_viewport", scene.window.surface)
    viewport("set_source", 4 * 256 + 128, 3 * 256 + 64, WIDTH * 256, HEIGHT * 256)
    viewport("set_destination", WIDTH, HEIGHT)
    scene.window.show(scene.gids(WIDTH + 16, HEIGHT + 16).draw(smooth(WIDTH + 16, HEIGHT + 16)))
    scene.wait_same()


@only_pixman
def test_scale_of_buffers(scene: Scene) -> None:
    """With a scale of 2 the role's pixels are the buffer's, and a child's are where it is."""
    scene.window.surface("set_buffer_scale", 2)
    child, _ = scene.child(scene.window.surface, 10, 5)
    child("set_buffer_scale", 2)
    scene.commit(child, scene.small(2))
    scene.window.show(scene.gids().draw(random_picture(1)))
    expected = random_picture(1)
    expected[10:42, 20:84] = random_picture(2, 64, 32)
    wait_for(
        lambda: numpy.array_equal(scene.forwarding.display.region(), expected), "both in place"
    )


@only_pixman
def test_one_colour(scene: Scene) -> None:
    """wp_single_pixel_buffer as the whole surface, with a picture on it."""
    manager = scene.connection.bind("wp_single_pixel_buffer_manager_v1")
    full = 0xFFFFFFFF
    solid = manager("create_u32_rgba_buffer", full // 2, full // 4, full // 8, full)
    viewport = scene.viewporter("get_viewport", scene.window.surface)
    viewport("set_destination", WIDTH, HEIGHT)
    child, _ = scene.child(scene.window.surface, 40, 10)
    scene.commit(child, scene.small(2))
    scene.window.show(solid)
    scene.wait_same()
    assert scene.forwarding.display.role()["state"] == "live"


@gl_at_length
def test_a_child_in_front_of_all(scene: Scene) -> None:
    """As a player's video before its black window: it is lent, and nothing is drawn."""
    manager = scene.connection.bind("wp_single_pixel_buffer_manager_v1")
    black = manager("create_u32_rgba_buffer", 0, 0, 0, 0xFFFFFFFF)
    scene.viewporter("get_viewport", scene.window.surface)("set_destination", WIDTH, HEIGHT)
    display = scene.forwarding.display

    def wait_shown(picture: numpy.ndarray, what: str) -> None:
        wait_for(lambda: numpy.array_equal(display.region(), picture), what)

    video, subsurface = scene.child(scene.window.surface, 0, 0)
    buffers = scene.gids()
    first = buffers.draw(random_picture(1))
    scene.commit(video, first)
    scene.window.show(black)
    wait_shown(random_picture(1), "the first picture")
    subsurface("set_desync")
    for seed in (2, 3):
        scene.commit(video, buffers.draw(random_picture(seed)))
        wait_shown(random_picture(seed), "its own commit")
    first.wait("release")
    assert scene.forwarding.counts()["copied_frames"] == 0

    subtitle, _ = scene.child(scene.window.surface, 40, 10)
    scene.commit(subtitle, scene.small(4))
    scene.window.show(black)
    expected = random_picture(3)
    expected[10:42, 40:104] = random_picture(4, 64, 32)
    wait_shown(expected, "both")
    assert scene.forwarding.counts()["copied_frames"] > 0
    assert [t["reason"] for t in display.role()["transitions"]] == ["none"]


# --- what is refused, and what the other display says of it ---------------------------------------


def wait_hidden(scene: Scene, detail: str, reason: str) -> None:
    scene.window.wait_lost(reason)
    wait_for(
        lambda: scene.forwarding.display.role()["detail"] == detail,
        f"the other display to say {detail}",
    )
    role = scene.forwarding.display.wait_role("lost", "hidden")
    assert role["shows"] == "fallback"
    assert role["text"]


@only_pixman
def test_beyond_the_surface(scene: Scene) -> None:
    scene.window.show(scene.gids().draw(random_picture(1)))
    scene.forwarding.display.wait_role("live")
    child, _ = scene.child(scene.window.surface, WIDTH - 63, 0)
    scene.commit(child, scene.small(2))
    scene.window.show(scene.gids().draw(random_picture(3)))
    wait_hidden(scene, "subsurface", "refused_content")
    scene.forwarding.weston.wait_log("a subsurface reaches beyond its main surface")


@only_pixman
def test_too_many(scene: Scene) -> None:
    scene.window.show(scene.gids().draw(random_picture(1)))
    scene.forwarding.display.wait_role("live")
    for _ in range(40):
        child, _ = scene.child(scene.window.surface, 0, 0)
        scene.commit(child, scene.small(2, 8, 8))
    scene.window.show(scene.gids().draw(random_picture(3)))
    wait_hidden(scene, "subsurface", "refused_content")


@only_pixman
def test_another_size(scene: Scene) -> None:
    scene.window.show(scene.gids().draw(random_picture(1)))
    scene.forwarding.display.wait_role("live")
    scene.window.show(scene.gids(WIDTH, 60).draw(random_picture(2, WIDTH, 60)))
    wait_hidden(scene, "size", "refused_content")
    scene.window.show(None)
    wait_for(lambda: scene.forwarding.display.role()["detail"] == "empty", "another reason")


@pytest.mark.parametrize("config", [ROLE, ROLE.replace("size=", "# ")], ids=["sized", "any size"])
@only_pixman
def test_any_buffer_scale(scene: Scene) -> None:
    """As large as the protocol has them: Weston waits for no such surface."""
    viewport = scene.viewporter("get_viewport", scene.window.surface)
    try:
        for scale in (2**31 - 1, 2**31 - 2, 2**30, 2**16):
            for width, height in ((WIDTH, 60), (2**31 - 1, 2**31 - 1), (2**16 + 1, 2**15)):
                scene.window.surface("set_buffer_scale", scale)
                viewport("set_destination", width, height)
                scene.window.show(scene.gids(WIDTH, 60).draw(random_picture(1, WIDTH, 60)))
    except ProtocolError as error:  # Weston 15 and later take no such client
        assert weston_major() > 14 and "invalid_size" in str(error)
        assert scene.forwarding.weston.has_global("gid_safety_manager_v1")
        return
    scene.window.surface("set_buffer_scale", 1)
    viewport("set_destination", WIDTH, HEIGHT)
    scene.window.show(scene.gids().draw(random_picture(2)))
    scene.forwarding.display.wait_role("live")


@pytest.mark.parametrize("memory", ["gids", "small", "solid"])
@gl_at_length
def test_a_buffer_that_is_destroyed(scene: Scene, memory: str) -> None:
    """By its client, while a subsurface shows it. One of a colour is that still."""
    child, _ = scene.child(scene.window.surface, 40, 10)
    if memory == "solid":
        viewport = scene.viewporter("get_viewport", child)
        viewport("set_destination", 64, 32)
        manager = scene.connection.bind("wp_single_pixel_buffer_manager_v1")
        buffer = manager("create_u32_rgba_buffer", 0, 0, 0xFFFFFFFF, 0xFFFFFFFF)
    else:
        buffer = scene.small(2) if memory == "small" else scene.gids(64, 32).draw(smooth(64, 32))
    scene.commit(child, buffer)
    scene.window.show(scene.gids().draw(random_picture(1)))
    scene.forwarding.display.wait_role("live")
    buffer("destroy")
    scene.window.show(scene.gids().draw(random_picture(3)))
    if memory == "solid":
        scene.wait_same()
        return
    wait_hidden(scene, "gone", "refused_memory")
    scene.commit(child, scene.small(4))
    scene.window.show(scene.gids().draw(random_picture(5)))
    scene.wait_same()


@pytest.mark.parametrize("where", ["surface", "child"])
@only_pixman
def test_rows_longer_than_the_stride(scene: Scene, where: str) -> None:
    """wl_shm takes such buffers, of which the last row would be read from behind its memory."""
    buffers = ShmBuffers(scene.connection)
    picture = buffers.draw(random_picture(1))
    size = WIDTH * HEIGHT * 4
    pool = scene.connection.bind("wl_shm")("create_pool", buffers.memory, size)
    strange = pool("create_buffer", 0, WIDTH, HEIGHT, WIDTH, SHM_FORMATS[ARGB8888])
    scene.window.show(picture)
    scene.forwarding.display.wait_role("live")
    if where == "child":
        child, _ = scene.child(scene.window.surface, 0, 0)
        scene.commit(child, strange)
    scene.window.show(picture if where == "child" else strange)
    wait_hidden(scene, "format", "refused_memory")


@only_pixman
def test_refused_from_the_start(scene: Scene) -> None:
    """A display that has shown nothing of it yet, or comes later, says why as well."""
    display = scene.forwarding.display
    scene.window.show(scene.gids(WIDTH, 60).draw(random_picture(1, WIDTH, 60)))
    wait_for(lambda: display.role()["detail"] == "size", "the reason")
    assert display.role()["state"] == "waiting"
    display.program.kill()
    again = Display(scene.forwarding.cockpit)
    wait_for(lambda: again.role()["detail"] == "size", "the reason, once more")
    assert "another size" in again.role()["text"]
    scene.window.show(scene.gids().draw(random_picture(2)))
    again.wait_role("live")
    assert again.role()["detail"] == ""


@pytest.mark.parametrize("config", [ROLE + "copy=false\n"], ids=[""])
@only_pixman
def test_no_copies(scene: Scene, config: str) -> None:
    scene.window.show(scene.gids().draw(random_picture(1)))
    scene.forwarding.display.wait_role("live")
    child, _ = scene.child(scene.window.surface, 0, 0)
    scene.commit(child, scene.small(2))
    scene.window.show(scene.gids().draw(random_picture(3)))
    wait_hidden(scene, "copy", "refused_memory")


# --- samples that pixels share --------------------------------------------------------------------

YUYV = 0x56595559


def rgb_of(raw: numpy.ndarray, kr: float, kb: float) -> numpy.ndarray:
    """The pixels of limited range, as rows of RGB."""
    y, v = (raw[..., 0] - 16.0) / 219, (raw[..., 3] - 128.0) / 112
    u = (raw[..., 1] - 128.0) / 112
    red, blue = y + (1 - kr) * v, y + (1 - kb) * u
    green = (y - kr * red - kb * blue) / (1 - kr - kb)
    return numpy.clip(numpy.stack([red, green, blue], -1) * 255, 0, 255).repeat(2, axis=1)


@pytest.mark.parametrize("roles", [SHOWN_ROLE + "formats=YUYV\n"], ids=[""])
@pytest.mark.parametrize("scene", ["gl"], indirect=True)
def test_yuv_is_lent(scene: Scene) -> None:
    """Weston's GL shows it from the client's gid, and the other display converts it once.

    Nobody says which YUV it is: that is BT.601, but for Weston from 15 on BT.709.
    """
    cells = numpy.random.default_rng(1).integers(40, 200, (HEIGHT // 8, WIDTH // 8, 4), numpy.uint8)
    raw = cells.repeat(4, 1).repeat(8, 0)  # Y, U, Y, V of two pixels
    raw[..., 2] = raw[..., 0]
    slab, *gids = scene.owner.call("create", YUYV, WIDTH, HEIGHT, 2, 0)
    with tempfile.NamedTemporaryFile(dir=scene.forwarding.cockpit.folder) as file:
        file.write(raw.tobytes())
        file.flush()
        scene.owner.call("write", slab, 0, file.name)
    params = scene.connection.bind("gid_buffer_manager_v1")("create_params")
    params("add", gids[0] >> 32, gids[0] & 0xFFFFFFFF, 0, 0, WIDTH * 2, 0, 0)
    scene.window.show(params("create_immed", WIDTH, HEIGHT, YUYV))
    scene.forwarding.display.wait_role("live")
    shot = scene.forwarding.weston.screenshot()[..., ::-1].astype(int)
    top, left = numpy.argwhere(shot.any(axis=2)).min(axis=0)
    here = shot[top : top + HEIGHT, left : left + WIDTH]
    inside = abs(numpy.arange(WIDTH) % 8 - 3.5) < 2
    bt601, bt709 = rgb_of(raw, 0.299, 0.114), rgb_of(raw, 0.2126, 0.0722)
    taken = bt709 if weston_major() > 14 else bt601
    assert abs(here - taken)[:, inside].max() <= 1
    assert abs(scene.forwarding.display.region() - bt601)[:, inside].max() <= 1
    assert scene.forwarding.counts()["copied_frames"] == 0
    assert scene.forwarding.display.role()["converted_frames"] == 1
