# SPDX-License-Identifier: MIT
"""What a display with a refresh scans out: Linux' vkms in a guest, by gid-cluster and Weston."""

import signal
import time
from collections.abc import Iterator

import numpy
import pytest
from domains import PATIENCE, Domains
from gid_vm.own_kernel import why_no_kernel
from guests import Running
from lib.pipeline import LOSSLESS
from lib.program import BUILD, wait_for
from lib.vkms import checksum
from lib.weston import SHELL_CONFIG
from scanout import (
    ENVIRONMENT,
    FOLDER,
    HEIGHT,
    WIDTH,
    background_picture,
    cluster_command,
    cluster_on_display,
    domains_with_a_display,
    lamp_picture,
    png,
    refreshes_of,
    running,
    write,
)

from lab.domains.configuration import section

pytestmark = [
    pytest.mark.skipif(why_no_kernel() is not None, reason=str(why_no_kernel())),
    pytest.mark.timeout(1800),
]

MODULES = ("vkms", "visl", "vicodec", "vim2m")
X, Y, LAMP_WIDTH, LAMP_HEIGHT = 40, 20, 150, 70
CLUSTER = section(
    "display",
    f"worst-frame=0 output=Virtual-1 width={WIDTH} height={HEIGHT} pacing=on "
    "background=background.png planes={planes} writeback=0",
) + section(
    "role lamp",
    f"domain=open x={X} y={Y} width={LAMP_WIDTH} height={LAMP_HEIGHT} deadline-ms=10000 "
    "fallback=fallback.png",
)
WESTON = (
    SHELL_CONFIG
    + section("gid", "pacing=on")
    + section("output", f"name=Virtual-1 mode={WIDTH}x{HEIGHT}")
)


@pytest.fixture(scope="module")
def domains() -> Iterator[Domains]:
    with domains_with_a_display(MODULES) as domains:
        yield domains


def test_the_modules_are_there(domains: Domains) -> None:
    loaded = {line.split()[0] for line in domains.run("lsmod").out.splitlines()}
    assert loaded >= {"v4l2_mem2mem", *MODULES}
    names = domains.run("sh", "-c", "cat /sys/class/video4linux/video*/name").out
    assert {"visl", "vim2m"} <= {name.split("-")[0] for name in names.split()}


@pytest.mark.parametrize("planes", ["off", pytest.param("on", marks=pytest.mark.at_length)])
def test_gid_cluster_shows_what_it_checked(domains: Domains, planes: str) -> None:
    """Composed, on a device that has no plane but the primary one. Roles that are too many for the
    planes of a device are in test_planes.py."""
    background = background_picture()
    fallback = numpy.full((LAMP_HEIGHT, LAMP_WIDTH, 3), (200, 30, 5), numpy.uint8)

    def screen(role: numpy.ndarray) -> int:
        picture = background.copy()
        picture[Y : Y + LAMP_HEIGHT, X : X + LAMP_WIDTH] = role
        return checksum(picture)

    write(domains, "background.png", png(background))
    write(domains, "fallback.png", png(fallback))
    live = {screen(lamp_picture(number, LAMP_WIDTH, LAMP_HEIGHT)) for number in (0, 1)}
    with cluster_on_display(domains, CLUSTER.format(planes=planes)) as cluster:

        def is_paced() -> bool:
            status = cluster.status()
            assert status["pacing"] not in ("off", "free-running: no refresh to wait for")
            return status["paced_frames"] >= 64

        cluster.wait_shown({screen(fallback)}, 3, "the fallback on the screen")
        lamp = [BUILD / "tests/vm/dmabuf-lamp", LAMP_WIDTH, LAMP_HEIGHT]
        with running(domains, *lamp, domain="open"):
            cluster.wait_shown(live, 60, "both pictures of the lamp, and nothing else")
            cluster.wait(is_paced, "paced frames")
        cluster.wait_shown({screen(fallback)}, 3, "the fallback again")
        assert cluster.role("lamp")["place"] == "composed"
        reason = "no-plane" if planes == "on" else "off"
        assert cluster.role("lamp")["place_reason"] == reason


def test_a_card_without_atomic_commits(domains: Domains) -> None:
    """wlroots shows on it what is composed. Roles that are to be on planes are refused there."""
    picture = background_picture()
    write(domains, "background.png", png(picture))
    fallback = numpy.full((LAMP_HEIGHT, LAMP_WIDTH, 3), (9, 150, 60), numpy.uint8)
    write(domains, "fallback.png", png(fallback))
    picture[Y : Y + LAMP_HEIGHT, X : X + LAMP_WIDTH] = fallback
    old = {"WLR_DRM_NO_ATOMIC": "1"}
    with cluster_on_display(domains, CLUSTER.format(planes="off"), **old) as cluster:
        cluster.wait_shown({checksum(picture)}, 3, "the fallback on the screen")
        assert "no atomic commits: each frame takes memory" in cluster.program.err
    words = cluster_command(domains, CLUSTER.format(planes="on"))
    refused = Running(domains.start("cluster", *words, **ENVIRONMENT | old)).finish()
    assert refused.code == 1 and "no atomic commits: planes=off" in refused.err, refused.err


def test_a_mode_that_the_screen_does_not_list(domains: Domains) -> None:
    """A screen of a virtual machine shows any size."""
    width = WIDTH - 7
    picture = background_picture()[:, :width].copy()
    write(domains, "background.png", png(picture))
    fallback = numpy.full((LAMP_HEIGHT, LAMP_WIDTH, 3), (30, 60, 190), numpy.uint8)
    write(domains, "fallback.png", png(fallback))
    picture[Y : Y + LAMP_HEIGHT, X : X + LAMP_WIDTH] = fallback
    other = CLUSTER.format(planes="off").replace(f"width={WIDTH}", f"width={width}")
    with cluster_on_display(domains, other) as cluster:
        cluster.wait_shown({checksum(picture)}, 3, "the fallback on the screen")
        assert f"output Virtual-1 has no mode of {width}x{HEIGHT}: asking" in cluster.program.err


def test_weston_shows_the_frames_of_a_stream(domains: Domains) -> None:
    """In its DRM backend, paced by the refreshes of the device."""
    config = write(domains, "weston.ini", WESTON.encode())
    words = ["weston", "--backend=drm", "--renderer=pixman", "--socket=scanout"]
    words += ["--shell=kiosk-shell.so", "--continue-without-input", "--idle-time=0"]
    words += [f"--config={config}", "--modules=gid-buffer.so"]
    view = [BUILD / "clients/gid-view", "-f", "--domain=open", "--stream=movie"]
    raw = FOLDER / "frame"
    keep = "gidsrc domain=open stream=movie ! identity name=watch ! multifilesink sync=false"
    size = f"video/x-raw,format=BGRx,width={WIDTH},height={HEIGHT},framerate=20/1"
    source = f"videotestsrc pattern=ball is-live=true ! {size} ! identity name=watch"
    sink = f"gidsink name=sink stream=movie {LOSSLESS} lease=600000"

    def shows_the_last_frame() -> bool:
        data = numpy.frombuffer(domains.guest.read(raw) or b"", numpy.uint8)
        if data.size != HEIGHT * WIDTH * 4:
            return False  # it is just being written
        frame = checksum(data.reshape(HEIGHT, WIDTH, 4)[..., 2::-1])
        return {frame} == set(refreshes.next(2))

    def stands_still() -> bool:
        """A player that is stopped between its two readers leaves them a frame apart: it goes on
        then, and is stopped elsewhere."""
        player.signal(signal.SIGSTOP)  # the last frame stays where it is
        for _ in range(10):
            if shows_the_last_frame():
                return True
            time.sleep(1)
        player.signal(signal.SIGCONT)
        return False

    with refreshes_of(domains) as refreshes, running(domains, *words) as weston:
        wait_for(lambda: "gid: ready" in weston.err, "weston to be ready", PATIENCE)
        keeper = Running(domains.play("cluster", f"{keep} location={raw}"))
        player = Running(domains.play("open", f"{source} ! {sink}"))
        environment = ENVIRONMENT | {"WAYLAND_DISPLAY": "scanout"}
        viewer = Running(domains.start("cluster", *view, **environment))
        keeper.wait_lines("frame", 30)
        assert len(set(refreshes.next(240))) >= 4  # it moves
        wait_for(stands_still, "the last frame on the screen", PATIENCE, pause=1)
        player.signal(signal.SIGCONT)
        said = "gid: pacing: Virtual-1: repaint window"
        wait_for(lambda: said in weston.err, "the word of pacing", PATIENCE)
        for program in (viewer, player, keeper):
            program.signal(signal.SIGTERM)
            program.finish()
    assert "free-running" not in weston.err and "unsure" not in weston.err
