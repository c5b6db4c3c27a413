# SPDX-License-Identifier: MIT
"""Runs in a guest: surfaces in dma-bufs of ordinary clients as safety surfaces of another domain.

lent.py REGISTRY   stdin has the name of a scenario a line: all in one program, whose start takes a
guest as long as a scenario's. Weston (GL, on llvmpipe) forwards in `open`, gid-cluster shows in
`cluster`. REGISTRY is GStreamer's list of plugins. One JSON object says when it is ready, and one
what each scenario saw, by its name, or how it "failed".
"""

import contextlib
import hashlib
import json
import mmap
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import numpy
from dmabuf_client import (
    INTERLACED,
    NV12,
    STRIDE,
    X_TILED,
    Y_INVERT,
    DmabufBuffers,
    Fences,
    Picture,
    make_udmabuf,
)
from lib import machines
from lib.cockpit import DEFAULT_CONFIG, Cockpit
from lib.display import HEIGHT, WIDTH, Display, liar_roles, stays, with_deadline
from lib.forwarding import GID_VIEW, Forwarding, ShmBuffers, Window, random_picture
from lib.forwarding import ROLE as OWN_ROLE
from lib.inspected import duplicate_descriptor
from lib.pipeline import Pipeline, gst_env
from lib.program import BUILD, Program, wait_for

from lab.domains.configuration import section
from lab.domains.wayland import Disconnected, ProtocolError
from lab.domains.wayland import Display as Connection

MAP = BUILD / "clients" / "gid-map"
SIZE = f"{WIDTH}x{HEIGHT}"
KILLS = int(os.environ["GIDWAY_KILLS"])
MOVES = 30  # pictures that a client shows while it is watched
DEADLINE_MS = 5000
LEASE_MS = 1000
FENCES = 5  # that are tried: vgem ends one after 10 s, which a busy machine may need to look
RECORD = "[domain record]\nnumber=3\n[share open record]\nstreams=*\n"
# A GL client draws slowly without a GPU, and a busy machine late: all are alive all the same.
PATIENT = "client-ms=60000\nlease-ms=60000\n"
ROLE = f"[gid-safety]\nrole=telltale\nclients={MAP}\nsize={SIZE}\n{PATIENT}"


def with_lease(milliseconds: int) -> str:
    """OWN_ROLE with another one: of a key that is there twice Weston takes the first."""
    return OWN_ROLE.replace("lease-ms=60000", f"lease-ms={milliseconds}")


def start_map(forwarding: Forwarding, *arguments: str) -> Program:
    words = [MAP, "--udmabuf", "--role", "telltale", "--size", SIZE]
    return forwarding.client([*words, *arguments])


def dmabufs_of(forwarding: Forwarding) -> list[numpy.ndarray]:
    """The pictures in the dma-bufs that Weston has, as rows of RGB."""
    weston = forwarding.weston
    pictures = {}
    for number, name in weston.descriptors().items():
        if name.startswith("/dmabuf:"):
            fd = duplicate_descriptor(weston.pid, number)
            if os.lseek(fd, 0, os.SEEK_END) < STRIDE * HEIGHT:
                os.close(fd)
                continue
            with mmap.mmap(fd, STRIDE * HEIGHT, mmap.MAP_SHARED, mmap.PROT_READ) as data:
                words = numpy.frombuffer(data, numpy.uint8).reshape(HEIGHT, WIDTH, 4).copy()
            pictures[os.fstat(fd).st_ino] = words[..., 2::-1]
            os.close(fd)
    return list(pictures.values())


def checksum(pixels: numpy.ndarray) -> str:
    return hashlib.sha256(numpy.ascontiguousarray(pixels).tobytes()).hexdigest()


def still(cockpit: Cockpit) -> dict:
    forwarding = Forwarding(cockpit, ROLE, renderer="gl")
    client = start_map(forwarding, "--still", "700")
    forwarding.display.wait_role("live")
    shown = forwarding.display.region()
    sums = [checksum(picture) for picture in dmabufs_of(forwarding)]
    counts = forwarding.counts()
    assert client.stop() == 0, client.stderr
    return {
        "shown": checksum(shown),
        "colours": len(numpy.unique(shown.reshape(-1, 3), axis=0)),
        "dmabufs": sums,
        "counts": counts,
        "client": json.loads(client.stdout),
    }


def measure(forwarding: Forwarding, client: Program) -> dict:
    display = forwarding.display
    display.wait_role("live")
    before, counts, began = display.role(), forwarding.counts(), time.monotonic()
    enough = before["shown_frames"] + MOVES
    wait_for(lambda: display.role()["shown_frames"] >= enough, "it to move")
    after, seconds = display.role(), time.monotonic() - began
    later = forwarding.counts()
    assert client.stop() == 0, client.stderr
    return {
        "seconds": seconds,
        "before": before,
        "after": after,
        "sent": later["frames"] - counts["frames"],
        "counts": later,
        "client": client.stdout,
    }


def moving(cockpit: Cockpit) -> dict:
    forwarding = Forwarding(cockpit, ROLE, renderer="gl")
    return measure(forwarding, start_map(forwarding))


def telltale(cockpit: Cockpit) -> dict:
    """For comparison, in the same guest: pictures of gids."""
    forwarding = Forwarding(cockpit, OWN_ROLE, renderer="gl")
    return measure(forwarding, forwarding.telltale("--cycle=30"))


def copied(cockpit: Cockpit) -> dict:
    """The display is on another machine, as gidds see it: no dma-buf crosses, a copy does."""
    display = Display(cockpit, domain="host")
    forwarding = Forwarding(cockpit, ROLE, renderer="gl", display=display)
    client = start_map(forwarding)
    shown = display.wait_role("live")["shown_frames"]
    wait_for(lambda: display.role()["shown_frames"] > shown + 3, "it to move")
    counts = forwarding.counts()
    assert client.stop() == 0, client.stderr
    display.wait_role("lost")
    assert forwarding.weston.is_running(), forwarding.weston.read_log()
    return {"counts": counts, "bytes": STRIDE * HEIGHT}


def kills(cockpit: Cockpit) -> dict:
    """gidd, Weston and the map at once: nothing says good-bye then."""
    forwarding = Forwarding(cockpit, ROLE, renderer="gl", deadline_ms=DEADLINE_MS)
    display = forwarding.display
    times, due = [], []
    for number in range(KILLS):
        client = start_map(forwarding)
        display.wait_role("live")
        killed = time.monotonic_ns()
        programs = [cockpit.gidds["open"], forwarding.weston.program, client]
        for program in programs:
            program.signal(signal.SIGKILL)
        for program in programs:
            program.wait()
        role = display.wait_role("lost")
        assert role["shows"] == "fallback", number
        gone = next(one for one in reversed(role["transitions"]) if one["from"] == "live")
        times.append((gone["shown_ns"] - killed) / 1e6)
        due.append((gone["due_ns"] - gone["last_frame_ns"]) / 1e6)
        cockpit.restart("open")
        forwarding.start_weston()
    return {
        "kills": len(times),
        "deadline_ms": DEADLINE_MS,
        "median_ms": statistics.median(times),
        "worst_ms": max(times),
        "due_ms": max(due),
    }


# --- cameras ------------------------------------------------------------------------------------

CAMERA_SIZE = (320, 180)
CAMERA_ROLES = section(
    "role telltale",
    "domain=open x=40 y=20 width=320 height=180 deadline-ms=10000 formats=any",
)


def find_camera() -> str:
    """vivid's first capture device."""
    subprocess.run(["modprobe", "vivid"], check=True)
    for path in sorted(Path("/sys/class/video4linux").glob("video*")):
        if "vivid-000-vid-cap" in (path / "name").read_text():
            return f"/dev/{path.name}"
    raise AssertionError("there is no camera")


def camera(pixels: str) -> str:
    width, height = CAMERA_SIZE
    form = f"video/x-raw,format={pixels},width={width},height={height}"
    return f"v4l2src device={find_camera()} io-mode=dmabuf ! {form}"


def show_camera(forwarding: Forwarding) -> dict:
    display = forwarding.display
    display.wait_role("live")
    shown = display.role()["shown_frames"]
    wait_for(lambda: display.role()["shown_frames"] > shown + 10, "it to move")
    region = display.screenshot()[20:200, 40:360]
    return {
        "colours": len(numpy.unique(region.reshape(-1, 3), axis=0)),
        "counts": forwarding.counts(),
        "role": display.role(),
    }


def view(cockpit: Cockpit, pixels: str) -> dict:
    """gid-view shows a camera's dma-bufs, which a pipeline of the same domain lends it."""
    role = f"[gid-safety]\nrole=telltale\nclients={GID_VIEW}\nsize=320x180\n{PATIENT}"
    forwarding = Forwarding(cockpit, role, renderer="gl", roles=CAMERA_ROLES)
    sink = "gidsink name=sink stream=camera dmabuf=true copy-policy=error"
    pipeline = Pipeline(cockpit, "open", f"{camera(pixels)} ! {sink}")
    forwarding.client([GID_VIEW, "--stream", "camera", "--role", "telltale"])
    try:
        return show_camera(forwarding)
    except AssertionError as error:
        log = forwarding.weston.read_log()
        raise AssertionError(f"{error}\n{pipeline.account()}\n{log[log.find('gid:') :]}") from None


def player(cockpit: Cockpit, pixels: str) -> dict:
    """GStreamer's own sink for Wayland, which knows nothing of gids, shows a camera's dma-bufs."""
    role = f"[gid-safety]\nrole=telltale\napp-id=gst-launch-1.0\n{PATIENT}"
    forwarding = Forwarding(cockpit, role, renderer="gl", roles=CAMERA_ROLES)
    words = f"{camera(pixels)} ! waylandsink".split()
    environment = gst_env({}, cockpit.folder / "registry.bin")
    program = forwarding.weston.client(["gst-launch-1.0", *words], **environment)
    try:
        return show_camera(forwarding)
    except AssertionError as error:
        log = forwarding.weston.read_log()
        raise AssertionError(
            f"{error}\n{program.stdout}{program.stderr}\n{log[log.find('gid:') :]}"
        ) from None


# --- a client of the test's own -----------------------------------------------------------------


class Scene:
    """A window with the role, and dma-bufs for it."""

    def __init__(self, cockpit: Cockpit, config: str = OWN_ROLE, roles: str | None = None) -> None:
        self.forwarding = Forwarding(cockpit, config, renderer="gl", roles=roles)
        self.display = self.forwarding.display
        self.connection = Connection(
            self.forwarding.weston.socket, self.forwarding.weston.protocols
        )
        self.window = Window(self.connection)
        self.buffers = DmabufBuffers(self.connection)

    def show(self, seed: int, **options: int) -> Picture:
        picture = self.buffers.draw(random_picture(seed), **options)
        self.window.show(picture.buffer)
        return picture

    def wait_shown(self, seed: int, x: int = 40, y: int = 20) -> None:
        expected = random_picture(seed)
        try:
            wait_for(
                lambda: numpy.array_equal(self.display.region(x, y), expected),
                f"picture {seed}",
                pause=0.1,
            )
        except AssertionError as error:
            told = f"{self.display.status()['roles']}\n{self.display.program.stderr}"
            log = self.forwarding.weston.read_log()
            raise AssertionError(f"{error}\n{told}\n{log[log.find('gid:') :]}") from None

    def shows(self, seed: int) -> bool:
        return numpy.array_equal(self.display.region(), random_picture(seed))

    def finish(self, **seen: object) -> dict:
        assert self.forwarding.weston.is_running(), self.forwarding.weston.read_log()
        assert self.display.program.is_running(), self.display.program.stderr
        return seen


def held(cockpit: Cockpit) -> dict:
    """Released when the other display has read it, or its lease is over; destroyed."""
    # Repetitions, which take the place of what is not read, come once in a lease.
    scene = Scene(cockpit, with_lease(LEASE_MS) + f"heartbeat-ms={LEASE_MS}\n")
    scene.window.take_role()
    first = scene.show(1)
    scene.wait_shown(1)
    scene.display.program.signal(signal.SIGSTOP)  # it copies what it reads, and gives that back
    second = scene.show(2)
    first.buffer.wait("release")
    began = time.monotonic()
    third = scene.show(3)
    scene.window.commit_drawn()
    second.buffer.wait("release")
    kept_unread = time.monotonic() - began
    scene.display.program.signal(signal.SIGCONT)
    scene.wait_shown(3)
    second.draw(random_picture(4))
    scene.window.show(second.buffer)  # which was taken back unread
    scene.wait_shown(4)
    third.buffer.wait("release")
    second.buffer("destroy")
    scene.connection.roundtrip()
    kept = stays(lambda: scene.shows(4), 1)
    scene.show(5)
    scene.wait_shown(5)
    scene.display.wait_role("live")
    return scene.finish(
        kept_unread_ms=kept_unread * 1000,
        lease_ms=LEASE_MS,
        kept=kept,
        counts=scene.forwarding.counts(),
    )


def expired(cockpit: Cockpit, domain: str) -> int:
    """How many pictures the module has taken from the domain by force."""
    (one,) = [
        one for one in cockpit.status(domain)["subscriptions"] if one["stream"] == "safety/telltale"
    ]
    return one["producer_counts"]["leases_expired"]


def forced(cockpit: Cockpit) -> dict:
    """A recorder in a third domain hangs with one for longer than its lease: who loses what."""
    scene = Scene(cockpit, with_lease(5 * LEASE_MS))
    scene.window.take_role()
    first = scene.show(1)
    scene.wait_shown(1)
    source = "gidsrc domain=open stream=safety/telltale credit=3 ! fakesink name=watch sync=false"
    recorder = Pipeline(cockpit, "record", source, "--video-meta", "1", "--hold", "9")
    recorder.wait_frames(1)
    recorder.signal(signal.SIGSTOP)
    scene.show(2)
    first.buffer.wait("release")  # at the end of the lease, from who hangs
    scene.wait_shown(2)
    first.draw(random_picture(3))
    scene.window.show(first.buffer)  # the dma-buf that one domain has lost
    scene.wait_shown(3)
    role = scene.display.wait_role("live")
    taken = {domain: expired(cockpit, domain) for domain in ("cluster", "record")}
    recorder.signal(signal.SIGCONT)
    recorder.wait_frames(2)  # and it gets what is shown next, once it goes on
    return scene.finish(
        taken=taken,
        reasons=[change["reason"] for change in role["transitions"]],
        counts=scene.forwarding.counts(),
    )


def make_memory(size: int = STRIDE * HEIGHT) -> int:
    """As large as a picture, and no dma-buf."""
    memory = os.memfd_create("none", os.MFD_ALLOW_SEALING)
    os.ftruncate(memory, size)
    return memory


# What a client can hand over in the place of a dma-buf: each is refused in the same way.
OTHER_FILES: dict[str, Callable[[], int]] = {
    "memory": make_memory,
    "eventfd": lambda: os.eventfd(0),
    "pipe": lambda: os.pipe()[1],
    "socket": lambda: socket.socketpair()[0].detach(),
}


def refused(cockpit: Cockpit) -> dict:
    """What cannot be lent is refused by name, and what comes after it is shown."""
    scene = Scene(cockpit)
    scene.window.take_role()
    scene.show(0)
    scene.wait_shown(0)
    reasons = {}

    def refuse(name: str, picture: Picture) -> None:
        scene.window.show(picture.buffer)
        scene.window.wait_lost("refused_memory")
        reasons[name] = scene.display.wait_role("lost", "hidden")["detail"]
        scene.show(len(reasons))
        scene.wait_shown(len(reasons))

    size = STRIDE * HEIGHT
    refuse("y_invert", scene.buffers.draw(random_picture(9), flags=Y_INVERT))
    luma, chroma = (make_udmabuf(WIDTH * HEIGHT) for _ in range(2))
    two = [(luma, 0, WIDTH), (chroma, 0, WIDTH)]
    refuse("several", scene.buffers.make(two, NV12))
    log = scene.forwarding.weston.read_log()
    log = [line for line in log.splitlines() if "cannot be forwarded" in line]
    # These Weston does not take, or the module in its place; the client is ended, and no more.
    ended = {}
    for name, make, options in (
        ("interlaced", lambda: make_udmabuf(size), {"flags": INTERLACED}),
        ("too small", lambda: make_udmabuf(size // 2), {}),
        ("tiled", lambda: make_udmabuf(size), {"modifier": X_TILED}),
        *((kind, make, {}) for kind, make in OTHER_FILES.items()),
    ):
        with Connection(
            scene.forwarding.weston.socket, scene.forwarding.weston.protocols
        ) as connection:
            try:
                DmabufBuffers(connection).make([(make(), 0, STRIDE)], **options)
                connection.roundtrip()
                ended[name] = ""
            except (Disconnected, ProtocolError) as error:
                ended[name] = str(error)
    told = scene.forwarding.weston.read_log().count("offered as a dma-buf what is none")
    scene.show(9)  # and this client is as it was
    scene.wait_shown(9)
    scene.display.wait_role("live")
    return scene.finish(reasons=reasons, log=log, ended=ended, others=list(OTHER_FILES), told=told)


def drawn(cockpit: Cockpit) -> dict:
    """What would have to be drawn first, of memory that Weston does not read; then as it is."""
    scene = Scene(cockpit)
    scene.window.take_role()
    scene.show(0)
    scene.wait_shown(0)
    reasons = {}

    def refuse(name: str) -> None:
        scene.show(9)
        scene.window.wait_lost("refused_memory")
        role = scene.display.wait_role("lost", "hidden")
        reasons[name] = [role["detail"], role["shows"]]

    def go_on() -> None:
        scene.show(len(reasons))
        scene.wait_shown(len(reasons))
        scene.display.wait_role("live")

    child = scene.window.compositor("create_surface")
    subcompositor = scene.connection.bind("wl_subcompositor")
    subsurface = subcompositor("get_subsurface", child, scene.window.surface)
    child("attach", ShmBuffers(scene.connection, 64, 40).draw(random_picture(2, 64, 40)), 0, 0)
    child("commit")
    refuse("beside another")
    subsurface("destroy")
    go_on()
    viewport = scene.connection.bind("wp_viewporter")("get_viewport", scene.window.surface)
    viewport("set_source", 0, 0, WIDTH // 2 * 256, HEIGHT // 2 * 256)
    viewport("set_destination", WIDTH, HEIGHT)
    refuse("scaled")
    viewport("destroy")
    go_on()
    log = scene.forwarding.weston.read_log().splitlines()
    log = [line for line in log if "cannot be forwarded" in line]
    return scene.finish(reasons=reasons, log=log, counts=scene.forwarding.counts())


def planes(cockpit: Cockpit) -> dict:
    """YUV of two planes in one dma-buf, behind other bytes."""
    scene = Scene(cockpit, roles=with_deadline(10000) + "formats=NV12\n")
    scene.window.take_role()
    lead = 4096
    fd = make_udmabuf(lead + WIDTH * HEIGHT * 3 // 2)
    picture = scene.buffers.make(
        [(fd, lead, WIDTH), (os.dup(fd), lead + WIDTH * HEIGHT, WIDTH)], NV12
    )
    ramp = numpy.tile(numpy.linspace(16, 235, WIDTH).astype(numpy.uint8), (HEIGHT, 1))
    picture.write(ramp.tobytes() + bytes([128]) * (WIDTH * HEIGHT // 2), lead)
    scene.window.show(picture.buffer)
    scene.display.wait_role("live")
    row = scene.display.region()[HEIGHT // 2].astype(int)
    return scene.finish(
        counts=scene.forwarding.counts(),
        converted=scene.display.role()["converted_frames"],
        grey=int(abs(row - row[:, :1]).max()),
        ends=[int(row[0, 0]), int(row[-1, 0])],
    )


def flood(cockpit: Cockpit) -> dict:
    """Many buffers, kept and thrown away: what the module has of them is bounded."""
    scene = Scene(cockpit)
    scene.window.take_role()
    scene.show(1)
    scene.wait_shown(1)
    for _ in range(50):
        scene.window.show(scene.buffers.make([(make_udmabuf(STRIDE * HEIGHT), 0, STRIDE)]).buffer)
    kept = len(cockpit.status("open")["slabs"])
    for _ in range(60):
        picture = scene.buffers.make([(make_udmabuf(STRIDE * HEIGHT), 0, STRIDE)])
        scene.window.attach(picture.buffer)
        scene.window.surface("commit")
        picture.buffer("destroy")
        os.close(picture.fd)
    scene.connection.roundtrip()
    scene.show(2)
    scene.wait_shown(2)
    for picture in scene.buffers.made[:51]:
        picture.buffer("destroy")
    scene.connection.roundtrip()
    scene.show(3)
    scene.wait_shown(3)
    scene.window.safety("destroy")

    def all_gone() -> bool:
        scene.connection.roundtrip()
        return not cockpit.status("open")["slabs"]

    wait_for(all_gone, "every slab to be given back")
    return scene.finish(kept=kept)


def two_roles(cockpit: Cockpit) -> dict:
    """One buffer for two roles; it is released when both displays have let go."""
    config = "".join(
        OWN_ROLE.replace("role=telltale", f"role={name}") for name in ("left", "right")
    )
    scene = Scene(cockpit, config, liar_roles())
    other = Window(scene.connection)
    scene.window.take_role("left")
    other.take_role("right")
    shared = scene.show(1)
    other.show(shared.buffer)
    scene.wait_shown(1, 0, 0)
    scene.wait_shown(1, 320, 100)
    scene.show(2)
    scene.wait_shown(2, 0, 0)
    early = shared.buffer.has("release")
    other.show(scene.buffers.draw(random_picture(3)).buffer)
    shared.buffer.wait("release")
    scene.wait_shown(3, 320, 100)
    return scene.finish(
        early=early, states=[scene.display.role(n)["state"] for n in ("left", "right")]
    )


def shown_when_drawn(
    scene: Scene, device: Fences, shown: int, attach: Callable[[Picture], int]
) -> tuple[int, dict]:
    """Shows a picture whose fence is signalled by us, and says which, and what was seen before.

    `attach` gives it its fence. If Weston waited for that, it would do so until vgem ends it.
    """
    for number in range(shown + 1, shown + 1 + FENCES):
        picture = scene.buffers.draw(random_picture(number))
        fence = attach(picture)
        scene.window.surface("commit")
        scene.connection.roundtrip()
        frames = scene.forwarding.counts()["frames"]
        unseen = stays(lambda shown=number - 1: scene.shows(shown), 1)
        quiet = scene.forwarding.counts()["frames"] - frames  # the old one is not repeated, either
        with contextlib.suppress(TimeoutError):
            device.signal(fence)
            scene.wait_shown(number)
            return number, {"unseen": unseen, "quiet": quiet}
        scene.wait_shown(number)
    raise AssertionError("each fence was over before it was signalled")


def fences(cockpit: Cockpit) -> dict:
    """A picture is sent when it is drawn, and no sooner; one that never is keeps nobody waiting."""
    scene = Scene(cockpit)
    scene.window.take_role()
    scene.show(1)
    scene.wait_shown(1)
    # Only now: Mesa 25.0 takes it for a graphics card, and dies of other dma-bufs than its own.
    subprocess.run(["modprobe", "vgem"], check=True)
    device = Fences()

    def implicit(picture: Picture) -> int:
        fence = device.attach(picture.fd)
        scene.window.attach(picture.buffer)
        return fence

    last, by_dmabuf = shown_when_drawn(scene, device, 1, implicit)
    never = scene.buffers.draw(random_picture(last + 1))
    device.attach(never.fd)
    scene.window.show(never.buffer)
    scene.show(last + 2)
    scene.wait_shown(last + 2)
    scene.display.wait_role("live")
    manager = scene.connection.bind("zwp_linux_explicit_synchronization_v1")
    surface = manager("get_synchronization", scene.window.surface)

    def explicit(picture: Picture) -> int:
        fence, sync_file = device.make()
        scene.window.attach(picture.buffer)
        surface("set_acquire_fence", sync_file)
        return fence

    _, by_protocol = shown_when_drawn(scene, device, last + 2, explicit)
    return scene.finish(
        by_dmabuf=by_dmabuf, by_protocol=by_protocol, counts=scene.forwarding.counts()
    )


def silent(cockpit: Cockpit) -> dict:
    """A gidd that hangs, which new dma-bufs need: Weston waits for it no more than for others."""
    with patch.dict(os.environ, GID_ANSWER_SECONDS="3600"):  # for longer than this test waits
        scene = Scene(cockpit)
    scene.window.take_role()
    first = scene.show(1)
    scene.wait_shown(1)
    scene.show(2)
    scene.wait_shown(2)
    cockpit.gidds["open"].signal(signal.SIGSTOP)
    new = [scene.show(seed) for seed in range(3, 23)]
    scene.window.show(first.buffer)
    scene.wait_shown(1)
    cockpit.gidds["open"].signal(signal.SIGCONT)
    scene.window.show(new[-1].buffer)
    scene.wait_shown(22)
    return scene.finish(counts=scene.forwarding.counts())


def away(cockpit: Cockpit) -> dict:
    """A gidd that dies: what was lent flows on, and what is new comes when it is back."""
    scene = Scene(cockpit)
    scene.window.take_role()
    first = scene.show(1)
    scene.wait_shown(1)
    scene.show(2)
    scene.wait_shown(2)
    cockpit.kill("open")
    first.draw(random_picture(3))
    scene.window.show(first.buffer)
    scene.wait_shown(3)
    scene.show(4)
    scene.window.wait_lost("refused_memory")
    detail = scene.display.wait_role("lost", "hidden")["detail"]
    cockpit.restart("open")
    scene.wait_shown(4)
    return scene.finish(detail=detail, counts=scene.forwarding.counts())


SCENARIOS: dict[str, Callable[[Cockpit], dict]] = {
    "still": still,
    "moving": moving,
    "telltale": telltale,
    "copied": copied,
    "kills": kills,
    "view": lambda cockpit: view(cockpit, "BGRx"),
    "view-nv12": lambda cockpit: view(cockpit, "NV12"),
    "player": lambda cockpit: player(cockpit, "BGRx"),
    "player-nv12": lambda cockpit: player(cockpit, "NV12"),
    "held": held,
    "forced": forced,
    "refused": refused,
    "drawn": drawn,
    "planes": planes,
    "flood": flood,
    "two_roles": two_roles,
    "fences": fences,
    "silent": silent,
    "away": away,
}

STARTS: dict[str, tuple[Callable[[Cockpit], None], str]] = {
    "copied": (machines.start, machines.CONFIG),
    "forced": (Cockpit.start_all, DEFAULT_CONFIG + RECORD),
}  # of those that have other domains


def play(name: str, registry: str) -> dict:
    """What the scenario saw, or how it failed: others come behind it."""
    try:
        start, config = STARTS.get(name, (Cockpit.start_all, DEFAULT_CONFIG))
        cockpit = Cockpit(config)
        shutil.copy(registry, cockpit.folder / "registry.bin")
        try:
            start(cockpit)
            return SCENARIOS[name](cockpit)
        finally:
            cockpit.close()
    except Exception:
        return {"failed": traceback.format_exc()}


def main() -> None:
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        name = line.strip()
        print(json.dumps({name: play(name, sys.argv[1])}), flush=True)


main()
