# SPDX-License-Identifier: MIT
"""What a display with a real refresh scans out: Linux' vkms in a guest, by gid-cluster and Weston.

The checksum of each refresh is that of the display controller, taken where its planes are mixed.
The pixels that it must come from are known here: nothing that composed them is asked.
"""

import io
import json
import signal
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy
import pytest
from domains import PATIENCE, Domains, domains_of_a_guest
from gid_vm.initramfs import CannotBoot
from gid_vm.own_kernel import why_no_kernel
from guests import Running
from PIL import Image
from pipeline import LOSSLESS
from program import BUILD, wait_for
from weston import SHELL_CONFIG

pytestmark = [
    pytest.mark.skipif(why_no_kernel() is not None, reason=str(why_no_kernel())),
    pytest.mark.timeout(600),
]

MODULES = ("vkms", "visl", "vicodec", "vim2m")
WIDTH, HEIGHT = 640, 480
X, Y, LAMP_WIDTH, LAMP_HEIGHT = 40, 20, 150, 70
FOLDER = Path("/run/scanout")  # of the guest
CHECKSUMS = "/sys/kernel/debug/dri/vkms/crtc-0/crc"
CLUSTER = f"""
[display]
output=Virtual-1
width={WIDTH}
height={HEIGHT}
pacing=on
background=background.png
[role lamp]
domain=open
x={X}
y={Y}
width={LAMP_WIDTH}
height={LAMP_HEIGHT}
deadline-ms=10000
fallback=fallback.png
"""
WESTON = f"""{SHELL_CONFIG}[gid]
pacing=on
[output]
name=Virtual-1
mode={WIDTH}x{HEIGHT}
"""
ASK = """
import socket, sys
with socket.socket(socket.AF_UNIX) as connection:
    connection.connect(sys.argv[1])
    print(connection.makefile().read())
"""
# As root, without a seat's daemon, and without a terminal.
ENVIRONMENT = {
    "LIBSEAT_BACKEND": "noop",
    "XDG_RUNTIME_DIR": str(FOLDER),
    "WESTON_MODULE_MAP": f"gid-buffer.so={BUILD}/weston-plugin/gid-buffer.so",
}


@pytest.fixture(scope="module")
def domains() -> Iterator[Domains]:
    try:
        guest = domains_of_a_guest(MODULES)
        domains = guest.__enter__()
    except CannotBoot as error:
        pytest.skip(str(error))
    domains.run("mount", "-t", "debugfs", "debugfs", "/sys/kernel/debug")
    domains.run("mkdir", "-m", "700", str(FOLDER))
    domains.run("sh", "-c", f"echo auto > {CHECKSUMS}/control")
    yield domains
    guest.__exit__(None, None, None)


def checksum(picture: numpy.ndarray) -> int:
    """vkms' own, of rows of red, green, blue: each pixel is opaque, with 16 bits for a colour."""
    pixels = numpy.full((*picture.shape[:2], 4), 0xFFFF, "<u2")
    pixels[..., 1:] = picture.astype("<u2") * 257
    return zlib.crc32(pixels.tobytes(), 0xFFFFFFFF) ^ 0xFFFFFFFF


def scanned_out(domains: Domains, count: int) -> list[int]:
    """The checksums of the refreshes that come now; none while the display is dark."""
    command = ["timeout", "60", "dd", f"if={CHECKSUMS}/data", "bs=64", f"count={count}"]
    result = domains.guest.run(command)
    if "failed to open" in result.err:
        return []
    lines = result.out.replace("\0", "").splitlines()
    assert len(lines) == count
    return [int(line.split()[1], 16) for line in lines]


def write(domains: Domains, name: str, content: bytes) -> Path:
    path = FOLDER / name
    domains.run("sh", "-c", f"cat > {path}", stdin=content)
    return path


def png(picture: numpy.ndarray) -> bytes:
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "PNG")
    return file.getvalue()


def lamp_picture(number: int) -> numpy.ndarray:
    """The picture of dmabuf_lamp.c."""
    y, x = numpy.mgrid[:LAMP_HEIGHT, :LAMP_WIDTH]
    value = number * 0x4F3B5 + x * 3 + y * 0x700
    return numpy.stack([value >> shift & 0xFF for shift in (16, 8, 0)], axis=-1).astype(numpy.uint8)


def paced(domains: Domains) -> int:
    """The frames that gid-cluster has judged: it has found a refresh to wait for."""
    status = json.loads(domains.run("python3", "-c", ASK, f"{FOLDER}/status").out)
    assert status["pacing"] not in ("off", "free-running: no refresh to wait for")
    return status["paced_frames"]


@contextmanager
def running(domains: Domains, *words: object, domain: str = "cluster") -> Iterator[Running]:
    """A program of the guest, ended in good order."""
    program = Running(domains.start(domain, *words, **ENVIRONMENT))
    try:
        yield program
    finally:
        program.signal(signal.SIGTERM)
        result = program.finish()
    assert result.code in (0, -signal.SIGTERM), result.err


def test_the_modules_are_there(domains: Domains) -> None:
    loaded = {line.split()[0] for line in domains.run("lsmod").out.splitlines()}
    assert loaded >= {"v4l2_mem2mem", *MODULES}
    names = domains.run("sh", "-c", "cat /sys/class/video4linux/video*/name").out
    assert {"visl", "vim2m"} <= {name.split("-")[0] for name in names.split()}


def test_gid_cluster_shows_what_it_checked(domains: Domains) -> None:
    y, x = numpy.mgrid[:HEIGHT, :WIDTH]
    background = numpy.stack([x % 256, y % 256, (x + y) % 256], axis=-1).astype(numpy.uint8)
    fallback = numpy.full((LAMP_HEIGHT, LAMP_WIDTH, 3), (200, 30, 5), numpy.uint8)

    def screen(role: numpy.ndarray) -> int:
        picture = background.copy()
        picture[Y : Y + LAMP_HEIGHT, X : X + LAMP_WIDTH] = role
        return checksum(picture)

    write(domains, "background.png", png(background))
    write(domains, "fallback.png", png(fallback))
    config = write(domains, "cluster.conf", CLUSTER.encode())
    words = [BUILD / "cluster/gid-cluster", "--config", config, "--socket", FOLDER / "wayland"]
    words += ["--status", FOLDER / "status"]
    live = {screen(lamp_picture(0)), screen(lamp_picture(1))}
    with running(domains, *words) as cluster:

        def shows(expected: set[int], count: int) -> bool:
            assert cluster.is_running, cluster.err
            return set(scanned_out(domains, count)) == expected

        def wait_shown(expected: set[int], count: int, what: str) -> None:
            wait_for(lambda: shows(expected, count), what, PATIENCE)

        wait_shown({screen(fallback)}, 3, "the fallback on the screen")
        lamp = [BUILD / "tests/vm/dmabuf-lamp", LAMP_WIDTH, LAMP_HEIGHT]
        with running(domains, *lamp, domain="open"):
            wait_shown(live, 60, "both pictures of the lamp, and nothing else, on the screen")
            wait_for(lambda: paced(domains) >= 64, "paced frames", PATIENCE, pause=1)
        wait_shown({screen(fallback)}, 3, "the fallback again")


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
        return {frame} == set(scanned_out(domains, 2))

    with running(domains, *words) as weston:
        wait_for(lambda: "gid: ready" in weston.err, "weston to be ready", PATIENCE)
        keeper = Running(domains.play("cluster", f"{keep} location={raw}"))
        player = Running(domains.play("open", f"{source} ! {sink}"))
        environment = ENVIRONMENT | {"WAYLAND_DISPLAY": "scanout"}
        viewer = Running(domains.start("cluster", *view, **environment))
        keeper.wait_lines("frame", 30)
        assert len(set(scanned_out(domains, 240))) >= 4  # it moves
        player.signal(signal.SIGSTOP)  # the last frame stays where it is
        wait_for(shows_the_last_frame, "the last frame on the screen", PATIENCE, pause=1)
        player.signal(signal.SIGCONT)
        said = "gid: pacing: Virtual-1: repaint window"
        wait_for(lambda: said in weston.err, "the word of pacing", PATIENCE)
        for program in (viewer, player, keeper):
            program.signal(signal.SIGTERM)
            program.finish()
    assert "free-running" not in weston.err and "unsure" not in weston.err
