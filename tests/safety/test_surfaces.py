# SPDX-License-Identifier: MIT
"""What surfaces do, and what becomes of their frames: sizes, crops, held buffers, losses."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy
import pytest
from lib.cockpit import Cockpit
from lib.display import HEIGHT, WIDTH, stays, with_deadline
from lib.forwarding import (
    ROLE,
    Forwarding,
    GidBuffers,
    ShmBuffers,
    Window,
    bytes_of,
    random_picture,
)
from lib.program import wait_for
from lib.session import OwnerProcess
from lib.weston import XRGB8888

from lab.domains.configuration import configuration
from lab.domains.wayland import Display as Connection

SHARES = {"open cluster": "*", "cluster open": "*"}
UNHELD_S = 15  # of the 30 s for which these tests have Weston wait for an answer


@contextmanager
def stopped(cockpit: Cockpit) -> Iterator[None]:
    """The gidd of Weston's domain does nothing meanwhile."""
    cockpit.gidds["open"].signal(signal.SIGSTOP)
    try:
        yield
    finally:
        cockpit.gidds["open"].signal(signal.SIGCONT)


class Scene:
    """A window with the role, and buffers of gids for it."""

    def __init__(self, cockpit: Cockpit, connection: Connection, owner: OwnerProcess) -> None:
        self.folder, self.connection, self.owner = cockpit.folder, connection, owner
        self.window = Window(connection)
        self.window.take_role()
        self.buffers = self.gid_buffers()

    def gid_buffers(self, width: int = WIDTH, height: int = HEIGHT) -> GidBuffers:
        return GidBuffers(self.connection, self.owner, self.folder, width, height)


@pytest.fixture
def config() -> str:
    return ROLE


@pytest.fixture
def deadline_ms() -> int:
    return 10000


@pytest.fixture
def forwarding(cockpit: Cockpit, config: str, deadline_ms: int) -> Forwarding:
    return Forwarding(cockpit, config, roles=with_deadline(deadline_ms) + "transform=any\n")


@pytest.fixture
def scene(forwarding: Forwarding) -> Iterator[Scene]:
    with forwarding.connection() as connection, forwarding.owner() as owner:
        yield Scene(forwarding.cockpit, connection, owner)


def wait_region(forwarding: Forwarding, picture: numpy.ndarray) -> None:
    wait_for(lambda: numpy.array_equal(forwarding.display.region(), picture), "the picture")


def with_role(**keys: str) -> pytest.MarkDecorator:
    lines = "".join(f"{key.replace('_', '-')}={value}\n" for key, value in keys.items())
    return pytest.mark.parametrize("config", [ROLE + lines], ids=[""])


# --- what arrives -------------------------------------------------------------------------------


def test_stands_still(forwarding: Forwarding, scene: Scene) -> None:
    """Signs of life keep a picture live for longer than the deadline."""
    scene.window.show(scene.buffers.draw(random_picture(1)))
    display = forwarding.display
    display.wait_role("live")
    frames = forwarding.counts()["frames"]
    wait_for(lambda: forwarding.counts()["frames"] > frames + 80, "signs of life")
    assert [t["reason"] for t in display.role()["transitions"]] == ["none"]
    assert numpy.array_equal(display.region(), random_picture(1))
    scene.connection.wait_until(lambda: scene.window.safety.has("shown"), "shown")
    assert forwarding.counts()["copied_frames"] == 0


def test_crop(forwarding: Forwarding, scene: Scene) -> None:
    picture = random_picture(1, WIDTH + 80, HEIGHT + 20)
    viewport = scene.connection.bind("wp_viewporter")("get_viewport", scene.window.surface)
    viewport("set_source", 40 * 256, 10 * 256, WIDTH * 256, HEIGHT * 256)
    viewport("set_destination", 50, 50)
    scene.window.show(scene.gid_buffers(WIDTH + 80, HEIGHT + 20).draw(picture))
    wait_region(forwarding, picture[10 : 10 + HEIGHT, 40 : 40 + WIDTH])
    assert forwarding.counts()["copied_frames"] == 0
    viewport("set_source", 40 * 256 + 128, 10 * 256, WIDTH * 256, HEIGHT * 256)
    scene.window.commit()
    scene.window.wait_lost("refused_content")
    assert forwarding.display.wait_role("lost", "hidden")["detail"] == "crop"


def test_crop_of_a_copy(forwarding: Forwarding, scene: Scene) -> None:
    picture = random_picture(1, WIDTH + 80, HEIGHT + 20)
    viewport = scene.connection.bind("wp_viewporter")("get_viewport", scene.window.surface)
    viewport("set_source", 40 * 256, 10 * 256, WIDTH * 256, HEIGHT * 256)
    scene.window.show(ShmBuffers(scene.connection, WIDTH + 80, HEIGHT + 20).draw(picture))
    wait_region(forwarding, picture[10 : 10 + HEIGHT, 40 : 40 + WIDTH])
    assert forwarding.counts()["copied_bytes"] == WIDTH * HEIGHT * 4


def test_transforms(forwarding: Forwarding, scene: Scene) -> None:
    """Turned, mirrored and cropped: the other display shows what Weston shows."""
    viewport = scene.connection.bind("wp_viewporter")("get_viewport", scene.window.surface)
    viewport("set_source", 7 * 256, 11 * 256, WIDTH * 256, HEIGHT * 256)
    for transform in range(8):
        size = (HEIGHT + 30, WIDTH + 20) if transform % 2 else (WIDTH + 20, HEIGHT + 30)
        scene.window.surface("set_buffer_transform", transform)
        scene.window.attach(scene.gid_buffers(*size).draw(random_picture(transform, *size)))
        scene.window.commit_drawn()

        def same() -> bool:
            shot = forwarding.weston.screenshot()[..., ::-1]
            lit = numpy.argwhere(shot.any(axis=2))
            top, left = lit.min(axis=0)
            here = shot[top : top + HEIGHT, left : left + WIDTH]
            return numpy.array_equal(here, forwarding.display.region())

        wait_for(same, f"the picture with transform {transform}")
    assert forwarding.counts()["copied_frames"] == 0
    assert [t["reason"] for t in forwarding.display.role()["transitions"]] == ["none"]


def test_buffer_scale(forwarding: Forwarding, scene: Scene) -> None:
    """How large a buffer's pixels are here does not matter there."""
    scene.window.surface("set_buffer_scale", 2)
    scene.window.show(scene.buffers.draw(random_picture(1)))
    wait_region(forwarding, random_picture(1))


def test_size(forwarding: Forwarding, scene: Scene) -> None:
    scene.window.show(scene.buffers.draw(random_picture(1)))
    wait_region(forwarding, random_picture(1))
    scene.window.show(scene.gid_buffers(WIDTH, 60).draw(random_picture(2, WIDTH, 60)))
    scene.window.wait_lost("refused_content")
    forwarding.display.wait_role("lost", "hidden")
    scene.window.show(scene.buffers.draw(random_picture(3)))
    wait_region(forwarding, random_picture(3))
    forwarding.display.wait_role("live")


def test_copies_of_a_new_size(forwarding: Forwarding, scene: Scene) -> None:
    for seed, height in ((1, HEIGHT), (2, 60), (3, HEIGHT)):
        buffers = ShmBuffers(scene.connection, WIDTH, height)
        scene.window.show(buffers.draw(random_picture(seed, WIDTH, height)))
    wait_region(forwarding, random_picture(3))


def test_subsurfaces(forwarding: Forwarding, scene: Scene) -> None:
    scene.window.show(scene.buffers.draw(random_picture(1)))
    wait_region(forwarding, random_picture(1))
    child = scene.window.compositor("create_surface")
    subcompositor = scene.connection.bind("wl_subcompositor")
    subsurface = subcompositor("get_subsurface", child, scene.window.surface)
    subsurface("set_position", WIDTH, 0)
    child("attach", ShmBuffers(scene.connection).draw(random_picture(3)), 0, 0)
    child("commit")
    scene.window.commit()
    scene.window.wait_lost("refused_content")
    forwarding.display.wait_role("lost", "hidden")
    subsurface("destroy")
    child("destroy")
    scene.window.show(scene.buffers.draw(random_picture(2)))
    wait_region(forwarding, random_picture(2))


@with_role(visible="false")
def test_not_visible_here(forwarding: Forwarding, scene: Scene) -> None:
    """Only on the other display; it is told when to draw all the same."""
    for seed in range(3):
        scene.window.attach(scene.buffers.draw(random_picture(seed)))
        scene.window.commit_drawn()
    wait_region(forwarding, random_picture(2))
    assert not forwarding.weston.screenshot().any()


def test_gl(cockpit: Cockpit) -> None:
    """This renderer is done with a buffer as soon as it has it; the other display is not."""
    forwarding = Forwarding(cockpit, renderer="gl")
    with forwarding.connection() as connection, forwarding.owner() as owner:
        scene = Scene(cockpit, connection, owner)
        first = scene.buffers.draw(random_picture(1))
        scene.window.attach(first)
        scene.window.commit_drawn()
        wait_region(forwarding, random_picture(1))
        frames = forwarding.counts()["frames"]
        wait_for(lambda: forwarding.counts()["frames"] > frames + 5, "signs of life")
        connection.roundtrip()
        assert not first.has("release")
        scene.window.show(scene.buffers.draw(random_picture(2)))
        wait_region(forwarding, random_picture(2))
        first.wait("release")
        scene.window.show(ShmBuffers(connection).draw(random_picture(3)))
        wait_region(forwarding, random_picture(3))
        assert forwarding.counts()["copied_frames"] == 1


def test_gl_and_a_commit_without_a_buffer(cockpit: Cockpit) -> None:
    """This renderer is done with ordinary memory soon: its client may draw the next picture."""
    forwarding = Forwarding(cockpit, renderer="gl")
    with forwarding.connection() as connection:
        window = Window(connection)
        window.take_role()
        buffers = ShmBuffers(connection)
        first = buffers.draw(random_picture(1))
        window.attach(first)
        window.commit_drawn()
        wait_region(forwarding, random_picture(1))
        connection.roundtrip()
        if first.has("release"):
            os.pwrite(buffers.memory, bytes_of(random_picture(2)), 0)
        window.commit_drawn()
        frames = forwarding.counts()["frames"]
        wait_for(lambda: forwarding.counts()["frames"] > frames + 5, "signs of life")
        assert numpy.array_equal(forwarding.display.region(), random_picture(1))
        window.show(buffers.draw(random_picture(3)))
        first.wait("release")


def test_nobody_touches_anything(forwarding: Forwarding) -> None:
    """A Weston that sleeps asks no client to draw: it does not sleep while it has a role's."""
    weston = forwarding.weston
    assert weston.stop() == 0
    weston.command = [word.replace("idle-time=0", "idle-time=1") for word in weston.command]
    forwarding.start_weston()
    with forwarding.connection() as connection:
        window, buffers = Window(connection), ShmBuffers(connection)
        window.take_role()
        end = time.monotonic() + 3
        while time.monotonic() < end:
            window.attach(buffers.draw(random_picture(1)))
            window.commit_drawn()
            time.sleep(0.05)
        window.safety("destroy")
        window.commit()

        def sleeps() -> bool:
            frame = window.surface("frame")
            window.surface("damage_buffer", 0, 0, WIDTH, HEIGHT)
            window.surface("commit")
            try:
                frame.wait("done", 2)
            except TimeoutError:
                return True
            return False

        wait_for(sleeps, "sleep, as without a role")


def test_a_window_behind_another(forwarding: Forwarding) -> None:
    """A kiosk asks nobody to draw but the window in front: the role's is asked all the same."""
    weston = forwarding.weston
    assert weston.stop() == 0
    weston.command = [word.replace("desktop-shell", "kiosk-shell") for word in weston.command]
    forwarding.start_weston()
    with forwarding.connection() as connection:
        window, buffers = Window(connection), ShmBuffers(connection)
        window.take_role()
        window.attach(buffers.draw(random_picture(1)))
        window.commit_drawn()
        front = Window(connection, "org.example.front")
        front.attach(ShmBuffers(connection).draw(random_picture(2)))
        front.commit_drawn()
        for seed in range(3, 6):
            window.attach(buffers.draw(random_picture(seed)))
            window.commit_drawn()
            wait_region(forwarding, random_picture(seed))


@pytest.mark.parametrize("visible", ["true", "false"])
def test_windows_that_fade_out(cockpit: Cockpit, visible: str) -> None:
    """As they do by default. Weston keeps the surface of a client that has ended meanwhile."""
    by_app_id = f"app-id=org.example.test\nvisible={visible}\n"
    forwarding = Forwarding(cockpit, ROLE.replace("client-ms=0\n", by_app_id))
    weston = forwarding.weston
    assert weston.stop() == 0
    weston.config.write_text(weston.config.read_text().replace("close-animation=none\n", ""))
    forwarding.start_weston()
    with forwarding.connection() as connection:
        Window(connection).show(ShmBuffers(connection).draw(random_picture(1)))
        forwarding.display.wait_role("live")
    assert visible == "true" or stays(lambda: not weston.screenshot().any(), 0.5)
    forwarding.display.wait_role("lost", "hidden")
    with forwarding.connection() as connection:
        Window(connection).show(ShmBuffers(connection).draw(random_picture(2)))
        wait_region(forwarding, random_picture(2))


# --- what cannot be lent ------------------------------------------------------------------------


@with_role(copy="false")
def test_copying_forbidden(forwarding: Forwarding, scene: Scene) -> None:
    scene.window.show(ShmBuffers(scene.connection).draw(random_picture(1)))
    scene.window.wait_lost("refused_memory")
    scene.window.show(scene.buffers.draw(random_picture(2)))
    wait_region(forwarding, random_picture(2))
    assert forwarding.counts()["copied_frames"] == 0


def test_memory_of_another_domain(forwarding: Forwarding, scene: Scene) -> None:
    """It is not ours to lend: copied, and counted."""
    with forwarding.owner("cluster") as owner:
        buffers = GidBuffers(scene.connection, owner, scene.folder)
        owner.call("grant", buffers.slab, 1)
        scene.window.show(buffers.draw(random_picture(1)))
        wait_region(forwarding, random_picture(1))
        assert forwarding.counts()["copied_frames"] == 1


def test_owner_forbids(forwarding: Forwarding, scene: Scene) -> None:
    """Whose memory it is says who must not read it, also each time that the display comes again."""
    scene.window.show(scene.buffers.draw(random_picture(1)))
    wait_region(forwarding, random_picture(1))
    more = scene.gid_buffers()
    scene.owner.call("revoke", more.slab, 2)
    scene.window.show(more.draw(random_picture(2)))
    for _ in range(3):
        scene.window.wait_lost("refused_memory")
        assert forwarding.display.wait_role("lost")["shows"] == "fallback"
    scene.window.show(scene.buffers.draw(random_picture(3)))
    wait_region(forwarding, random_picture(3))
    forwarding.display.wait_role("live")


def test_memory_is_taken_back(forwarding: Forwarding, scene: Scene) -> None:
    scene.window.show(scene.buffers.draw(random_picture(1)))
    wait_region(forwarding, random_picture(1))
    scene.owner.call("destroy", scene.buffers.slab, True)
    scene.window.wait_lost("refused_memory")
    role = forwarding.display.wait_role("lost", "hidden")
    assert (role["shows"], role["detail"]) == ("fallback", "gone")
    scene.window.show(scene.gid_buffers().draw(random_picture(2)))
    wait_region(forwarding, random_picture(2))


# --- who holds what -----------------------------------------------------------------------------


def test_release_waits_for_the_other_display(forwarding: Forwarding, scene: Scene) -> None:
    window = scene.window
    first = window.show(scene.buffers.draw(random_picture(1)))
    wait_region(forwarding, random_picture(1))
    forwarding.display.program.signal(signal.SIGSTOP)
    second = window.show(scene.buffers.draw(random_picture(2)))
    first.wait("release")
    third = scene.buffers.draw(random_picture(3))
    for _ in range(2):
        window.attach(third)
        window.commit_drawn()
    scene.connection.roundtrip()
    assert not second.has("release"), (
        "Weston shows the next one, but the other display has not read it"
    )
    forwarding.display.program.kill()
    second.wait("release")
    window.wait_lost("gone")


@pytest.mark.parametrize("config", [ROLE.replace("lease-ms=60000", "lease-ms=300")], ids=[""])
def test_lease(forwarding: Forwarding, scene: Scene) -> None:
    """A display that hangs does not keep the client's buffers, and comes back."""
    window = scene.window
    first = window.show(scene.buffers.draw(random_picture(1)))
    wait_region(forwarding, random_picture(1))
    forwarding.display.program.signal(signal.SIGSTOP)
    window.show(scene.buffers.draw(random_picture(2)))
    first.wait("release")
    window.wait_lost("late")
    forwarding.display.program.signal(signal.SIGCONT)
    wait_region(forwarding, random_picture(2))
    forwarding.display.wait_role("live")
    scene.connection.wait_until(lambda: window.safety.has("shown"), "shown")


def test_nobody_reads(forwarding: Forwarding) -> None:
    """There is no other display: the client hears of it, and goes on as in any compositor."""
    forwarding.display.program.kill()
    forwarding.weston.stop()
    forwarding.start_weston()
    with forwarding.connection() as connection, forwarding.owner() as owner:
        scene = Scene(forwarding.cockpit, connection, owner)
        scene.window.wait_lost("waiting")
        first = scene.window.show(scene.buffers.draw(random_picture(1)))
        scene.window.show(scene.buffers.draw(random_picture(2)))
        first.wait("release")


def test_gidd_restarts(forwarding: Forwarding, scene: Scene) -> None:
    """Frames flow while it is away; memory that is new comes through when it is back."""
    scene.window.show(scene.buffers.draw(random_picture(1)))
    wait_region(forwarding, random_picture(1))
    forwarding.cockpit.kill("open")
    scene.window.show(scene.buffers.draw(random_picture(2)))
    wait_region(forwarding, random_picture(2))
    forwarding.cockpit.restart("open")

    def owner_is_back() -> bool:
        scene.owner.call("dispatch")
        return len(forwarding.cockpit.status("open")["slabs"]) == 1

    wait_for(owner_is_back, "the client's slab to be known again")
    scene.window.show(scene.buffers.draw(random_picture(3)))
    wait_region(forwarding, random_picture(3))
    scene.window.show(scene.gid_buffers().draw(random_picture(4)))
    wait_region(forwarding, random_picture(4))
    assert forwarding.display.role()["state"] == "live"


def test_gidd_hangs(forwarding: Forwarding, scene: Scene) -> None:
    """Weston waits for nobody: what needs no gidd goes on, and what does comes later."""
    scene.window.show(scene.buffers.draw(random_picture(1)))
    wait_region(forwarding, random_picture(1))
    more = scene.gid_buffers().draw(random_picture(2))
    forwarding.cockpit.gidds["open"].signal(signal.SIGSTOP)
    scene.window.attach(more)
    scene.window.commit_drawn()
    scene.window.attach(scene.buffers.draw(random_picture(3)))
    scene.window.commit_drawn()
    wait_region(forwarding, random_picture(3))
    forwarding.cockpit.gidds["open"].signal(signal.SIGCONT)
    scene.window.show(more)
    wait_region(forwarding, random_picture(2))


def test_gidd_hangs_as_copies_are_made(forwarding: Forwarding, scene: Scene) -> None:
    """Nor for memory of Weston's own: its clients go on, and the copy comes when gidd does."""
    scene.window.show(scene.buffers.draw(random_picture(1)))
    wait_region(forwarding, random_picture(1))
    copied = ShmBuffers(scene.connection).draw(random_picture(2))
    with stopped(forwarding.cockpit):
        scene.window.attach(copied)
        scene.window.surface("commit")
        for _ in range(3):
            scene.connection.roundtrip(UNHELD_S)
        scene.window.show(scene.buffers.draw(random_picture(3)))
        wait_region(forwarding, random_picture(3))
        scene.window.attach(copied)
        scene.window.surface("commit")
        scene.connection.roundtrip(UNHELD_S)
    wait_region(forwarding, random_picture(2))


@pytest.mark.cockpit(
    configuration({"open": "local=* memory=1M client-memory=1M", "cluster": "local=*"}, SHARES)
)
def test_a_copy_without_memory(forwarding: Forwarding, scene: Scene) -> None:
    """It is tried again, and its program need not show anything for that."""
    index, *_ = scene.owner.call("create", XRGB8888, 64, 64, 8, 0)
    scene.window.show(ShmBuffers(scene.connection).draw(random_picture(1)))
    scene.window.wait_lost("refused_memory")
    scene.owner.call("destroy", index, False)
    wait_region(forwarding, random_picture(1))


@pytest.mark.parametrize("deadline_ms", [200])
def test_memory_that_does_not_come(forwarding: Forwarding, scene: Scene) -> None:
    """What was sent last is not repeated for a surface that shows something else since."""
    scene.window.show(scene.buffers.draw(random_picture(1)))
    wait_region(forwarding, random_picture(1))
    forwarding.display.wait_role("live")
    more = scene.gid_buffers()
    forwarding.cockpit.gidds["open"].signal(signal.SIGSTOP)
    scene.window.show(more.draw(random_picture(2)))
    forwarding.display.wait_transition("deadline")
    forwarding.cockpit.gidds["open"].signal(signal.SIGCONT)
    scene.window.show(scene.buffers.draw(random_picture(3)))
    wait_region(forwarding, random_picture(3))


def test_role_is_given_back(forwarding: Forwarding, scene: Scene) -> None:
    scene.window.show(scene.buffers.draw(random_picture(1)))
    wait_region(forwarding, random_picture(1))
    scene.window.safety("destroy")
    forwarding.display.wait_role("lost", "hidden")
    scene.window.show(scene.buffers.draw(random_picture(2)))
    other = Window(scene.connection)
    other.take_role()
    other.show(scene.buffers.draw(random_picture(3)))
    wait_region(forwarding, random_picture(3))
