# SPDX-License-Identifier: MIT
"""Displays on a real KMS device: a guest's virtio-gpu. What it shows is QEMU's word.

The host draws; the guest shows, from the host's memory, by gid-cluster and by Weston.
"""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy
import pytest
from gid_vm.guest import why_not
from guests import LOOK_SECONDS, SECONDS, Machines, Running
from lib.display import HEIGHT as LAMP_HEIGHT
from lib.display import WIDTH as LAMP_WIDTH
from lib.display import telltale_picture
from lib.forwarding import ROLE, TELLTALE
from lib.length import at_length_but
from lib.pipeline import LOSSLESS, Pipeline
from lib.program import BUILD, Program, wait_for
from lib.weston import SHELL_CONFIG, Weston

from lab.domains.configuration import configuration, section

pytestmark = [
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
    pytest.mark.timeout(1800),
]

WIDTH, HEIGHT = 640, 360  # of the screen, in pixels
X, Y = 40, 20  # of the telltale
CONFIG = configuration(
    {
        # Without bells, whose drivers take a translated guest seconds.
        "cluster": f"kind=guest window=16M vm-memory=512M doorbell=off vm-display={WIDTH}x{HEIGHT}",
        "host": "kind=host window=32M local=*",
    },
    {"host cluster": "*"},
    runtime="/run/gidway",
)
CLUSTER = section("display", "worst-frame=0 output=Virtual-1 planes={planes}") + section(
    "role telltale",
    f"domain=host x={X} y={Y} width={LAMP_WIDTH} height={LAMP_HEIGHT} deadline-ms=10000 "
    "fallback=fallback.png",
)
FOLDER = Path("/run/kms")  # of the guest
PASS = 30  # frames, before one stays
# As root, without a seat's daemon and udevd: with a virtual terminal, and without any.
TERMINAL = {"LIBSEAT_BACKEND": "builtin"}
WESTON = {
    "LIBSEAT_BACKEND": "noop",
    "XDG_RUNTIME_DIR": str(FOLDER),
    "WESTON_MODULE_MAP": f"gid-buffer.so={BUILD}/weston-plugin/gid-buffer.so",
}


@pytest.fixture(scope="module")
def machines() -> Iterator[Machines]:
    machines = Machines(CONFIG)
    try:
        machines.boot("cluster")
        machines.run("cluster", "mkdir", "-m", "700", FOLDER)
        yield machines
    finally:
        machines.close()


@contextmanager
def running(machines: Machines, *words: str | Path, **options: object) -> Iterator[Running]:
    """A program of the guest, ended in good order."""
    program = machines.start("cluster", *words, **options)
    try:
        yield program
    finally:
        program.signal(signal.SIGTERM)
        result = program.finish()
    assert result.code in (0, -signal.SIGTERM), result.err


def write(machines: Machines, name: str, content: bytes) -> Path:
    path = FOLDER / name
    machines.run("cluster", "sh", "-c", f"cat > {path}", stdin=content)
    return path


def shows(machines: Machines, picture: Callable[[], numpy.ndarray], what: Running) -> bool:
    """Whether the whole screen shows this, pixel by pixel."""
    assert what.is_running, what.err
    return numpy.array_equal(machines.screenshot("cluster"), picture())


def wait_shown(machines: Machines, picture: Callable[[], numpy.ndarray], what: Running) -> None:
    wait_for(lambda: shows(machines, picture, what), "the picture on the screen", SECONDS)


@pytest.mark.parametrize("planes", at_length_but(["off", "on"], "off"))
def test_a_telltale_and_its_fallback(machines: Machines, tmp_path: Path, planes: str) -> None:
    """Weston on the host forwards it to gid-cluster on KMS; then Weston is killed, and returns.

    And before, another virtual terminal has the screen for a while.
    """
    weston = Weston(tmp_path, machines.host.env("host"))
    weston.configure(ROLE)

    def show(state: int) -> Program:
        weston.start()
        environment = weston.environment
        words = [TELLTALE, "--role", "telltale", "--state", str(state)]
        return Program(words, environment, tmp_path)

    def screen(state: int) -> numpy.ndarray:
        picture = numpy.zeros((HEIGHT, WIDTH, 3), numpy.uint8)
        lamp = telltale_picture(tmp_path, state)
        picture[Y : Y + LAMP_HEIGHT, X : X + LAMP_WIDTH] = lamp
        return picture

    fallback, live, again = map(screen, (15, 5, 10))
    write(machines, "fallback.png", (tmp_path / "telltale-15.png").read_bytes())
    config = write(machines, "cluster.conf", CLUSTER.format(planes=planes).encode())
    words = [BUILD / "cluster/gid-cluster", "--config", config]
    with running(machines, *words, env=TERMINAL) as cluster:
        wait_shown(machines, lambda: fallback, cluster)  # nothing came yet
        telltale = show(5)
        wait_shown(machines, lambda: live, cluster)
        machines.run("cluster", "busybox", "chvt", "3")
        wait_for(
            lambda: not numpy.array_equal(machines.screenshot("cluster"), live),
            "the other terminal on the screen",
            SECONDS,
        )
        machines.run("cluster", "busybox", "chvt", "1")
        wait_shown(machines, lambda: live, cluster)
        weston.kill()
        wait_shown(machines, lambda: fallback, cluster)
        telltale.stop()
        telltale = show(10)
        wait_shown(machines, lambda: again, cluster)
        telltale.stop()
        assert weston.stop() == 0
    assert "page-flip" not in cluster.err


@pytest.mark.at_length
def test_a_stream_on_weston(machines: Machines, tmp_path: Path) -> None:
    """gid-view in Weston's DRM backend shows the host's frames, paced. On a device with refreshes
    test_scanout.py has that in the usual run."""
    config = write(machines, "weston.ini", f"{SHELL_CONFIG}[gid]\npacing=on\n".encode())
    words: list[str | Path] = ["weston", "--backend=drm", "--renderer=pixman", "--socket=kms"]
    words += ["--shell=kiosk-shell.so", "--continue-without-input", "--idle-time=0"]
    words += [f"--config={config}", "--modules=gid-buffer.so"]
    view = [BUILD / "clients/gid-view", "-f", "--domain=host", "--stream=movie"]
    raw = tmp_path / "frame"

    def frame() -> numpy.ndarray:
        data = numpy.frombuffer(raw.read_bytes(), numpy.uint8)
        if data.size != HEIGHT * WIDTH * 4:
            return data  # it is just being written
        return data.reshape(HEIGHT, WIDTH, 4)[..., 2::-1]

    with running(machines, *words, env=WESTON) as weston:
        wait_for(lambda: "gid: ready" in weston.err, "weston to be ready", SECONDS)
        environment = WESTON | {"WAYLAND_DISPLAY": "kms"}
        keep = "gidsrc domain=host stream=movie ! identity name=watch ! multifilesink sync=false"
        keeper = machines.play("host", f"{keep} location={raw}")
        size = f"video/x-raw,format=BGRx,width={WIDTH},height={HEIGHT},framerate=20/1"
        source = f"videotestsrc pattern=ball is-live=true ! {size} ! identity name=gate"
        sink = f"gidsink name=sink stream=movie {LOSSLESS} lease=600000"
        player = Pipeline(machines.host, "host", f"{source} ! {sink}")
        with running(machines, *view, env=environment) as viewer:
            # Who reads it before its first frame has the last that passes, as all others.
            read = "two readers of it"
            wait_for(lambda: player.stats("sink")["consumers"] == 2, read, SECONDS, LOOK_SECONDS)
            player.tell(f"pass {PASS}")
            keeper.wait_lines("frame", PASS)
            wait_shown(machines, frame, viewer)
            player.tell("open")
            # The device has no refreshes, which takes the policy 64 frames and 10 s to say.
            words = "gid: pacing: Virtual-1: repaint window"
            wait_for(lambda: words in weston.err, "the word of pacing", SECONDS)
            player.tell("quit")
            player.finish()
            keeper.signal(signal.SIGTERM)
            keeper.finish()
    assert "would be" not in weston.err
