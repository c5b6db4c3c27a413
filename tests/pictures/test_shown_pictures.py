# SPDX-License-Identifier: MIT
"""Every format in all colours, shown by whole programs, many pictures at once."""

import subprocess
from collections.abc import Callable, Iterator
from itertools import batched

import numpy
import pytest
from lib.cockpit import DEFAULT_CONFIG, Cockpit
from lib.picture_formats import GREY
from lib.program import BUILD, PATIENCE, Program, wait_for
from picture_table import HEIGHT, WIDTH, Case, cases

ACROSS = 10  # pictures in a row
Look = Callable[[], numpy.ndarray | None]


SIZE = f"width={WIDTH}\nheight={HEIGHT}\n"
# What gid-cluster does not ask for: it would take ten times as long (to_rgb_is_slow()).
SLOW = GREY | {"GR88", "RX30", "RA30", "BX30", "BA30", "AYUV", "Y410", "Y412", "Y416"}
SLOW |= {f"{order}{bits}" for order in ("XR", "AR", "XB", "AB") for bits in ("48", "4H")}
QUOTAS = "".join(
    f"{who}{what}=400\n"
    for who in ("", "client-")
    for what in ("slabs", "streams", "subscriptions")
)
COCKPIT = DEFAULT_CONFIG.replace("local=*\n", "local=*\n" + QUOTAS)


class Sender:
    """send-pictures in the domain `open`: which picture a stream has can change."""

    def __init__(self, cockpit: Cockpit) -> None:
        self.folder = cockpit.folder
        self.process = subprocess.Popen(
            [BUILD / "tests" / "pictures" / "send-pictures"],
            env=cockpit.env("open"),
            stdin=subprocess.PIPE,
        )

    def send(self, stream: str, case: Case) -> None:
        path = self.folder / f"{stream}.picture"
        new = path.with_suffix(".new")
        new.write_bytes(case.data)
        new.rename(path)
        words = [stream, case.fourcc, WIDTH, HEIGHT, case.matrix, case.range, path]
        self.process.stdin.write(("\t".join(map(str, words)) + "\n").encode())
        self.process.stdin.flush()

    def close(self) -> None:
        self.process.stdin.close()
        assert self.process.wait(PATIENCE) == 0


@pytest.fixture
def sender(cockpit: Cockpit) -> Iterator[Sender]:
    sender = Sender(cockpit)
    yield sender
    sender.close()


def snap(cockpit: Cockpit, domain: str, stream: str) -> numpy.ndarray | None:
    """What a stream shows; None: nothing yet."""
    try:
        return cockpit.snap(domain, stream)
    except AssertionError:
        return None


def worst(batch: tuple[Case, ...], shown: numpy.ndarray | None) -> list[str]:
    """Which of the pictures are more than 1 of 255 from what the standards say, and how far."""
    if shown is None:
        return ["nothing is shown"]
    wrong = []
    for i, case in enumerate(batch):
        x, y = i % ACROSS * WIDTH, i // ACROSS * HEIGHT
        off = numpy.abs(shown[y : y + HEIGHT, x : x + WIDTH] - case.rgb).max()
        if off > 1:
            wrong.append(f"{case}: {off:.1f} of 255")
    return wrong


def wait_right(batch: tuple[Case, ...], look: Look, program: Program) -> None:
    seen: list[str] = []

    def right() -> bool:
        assert program.is_running()
        seen[:] = worst(batch, look())
        return not seen

    try:
        wait_for(right, "the right pixels")
    except AssertionError as error:
        raise AssertionError("\n".join([str(error), *seen, program.stderr])) from None


def show_all(wanted: list[Case], count: int, sender: Sender, look: Look, program: Program) -> None:
    """In streams p0, p1, …"""
    for batch in batched(wanted, count):
        for i, case in enumerate(batch):
            sender.send(f"p{i}", case)
        wait_right(batch, look, program)


def place(i: int) -> str:
    return f"x={i % ACROSS * WIDTH}\ny={i // ACROSS * HEIGHT}\n"


def one_of_each() -> list[Case]:
    """Each format in one of the colours, and all of these among them."""
    formats: dict[str, list[Case]] = {}
    for case in cases():
        formats.setdefault(case.fourcc, []).append(case)
    return [found[i % len(found)] for i, found in enumerate(formats.values())]


def start_engine(cockpit: Cockpit) -> None:
    config = cockpit.folder / "engine.conf"
    config.write_text("[canvas panel]\ndomain=open\nmemory=16M\nslots=6\n")
    cockpit.run("cluster", [BUILD / "engine" / "gid-engine", "--config", config])


@pytest.mark.cockpit(COCKPIT)
def test_gid_compose(cockpit: Cockpit, sender: Sender) -> None:
    """What it knows of colours is what the producers' layouts say."""
    count = 60
    layout = cockpit.folder / "panel.ini"
    lines = [f"[canvas]\nengine=cluster\nname=panel\nwidth={ACROSS * WIDTH}\n"]
    lines += [f"height={count // ACROSS * HEIGHT}\n"]
    lines += [f"[layer p{i}]\nstream=p{i}\n{place(i)}" for i in range(count)]
    layout.write_text("".join(lines))
    start_engine(cockpit)
    program = cockpit.run("open", [BUILD / "tools" / "gid-compose" / "gid-compose", layout])
    wanted = [case for case in cases() if case.fourcc not in GREY]
    show_all(wanted, count, sender, lambda: snap(cockpit, "cluster", "canvas/panel"), program)


@pytest.mark.cockpit(COCKPIT)
@pytest.mark.skipif(not (BUILD / "gst" / "libgstgid.so").exists(), reason="there is no GStreamer")
def test_gidcompose(cockpit: Cockpit, sender: Sender) -> None:
    """By the colorimetry that gidsrc says: of the formats that GStreamer has, too."""
    from lib.pipeline import Pipeline

    start_engine(cockpit)
    layers = "".join(f" gidsrc domain=open stream=p{i} ! queue ! c.sink_{i}" for i in range(ACROSS))
    places = " ".join(f"sink_{i}::xpos={i * WIDTH}" for i in range(ACROSS))
    text = f"gidcompose name=c engine=cluster canvas=panel {places} ! video/x-raw,format=BGRx,"
    text += f"width={ACROSS * WIDTH},height={HEIGHT},framerate=30/1 ! gidsink stream=composed"
    for fourcc in ("NV12", "YU12", "YUYV", "NV61", "YU24"):
        wanted = [case for case in cases() if case.fourcc == fourcc]
        for i, case in enumerate(wanted):
            sender.send(f"p{i}", case)
        program = Pipeline(cockpit, "open", f"{text} sync=false {layers}")
        wait_right(tuple(wanted), lambda: snap(cockpit, "open", "composed"), program)
        program.kill()


@pytest.mark.cockpit(COCKPIT)
@pytest.mark.skipif(
    not (BUILD / "cluster" / "gid-cluster").exists(), reason="there is no gid-cluster"
)
def test_gid_cluster(cockpit: Cockpit, sender: Sender) -> None:
    """Layers of it; drawn by pixman. (By OpenGL it converts the same way: see tests/vm.)"""
    from lib.display import Display

    count = 30
    layers = [f"[layer p{i}]\ndomain=open\nfit=none\n{SIZE}{place(i)}" for i in range(count)]
    display = Display(cockpit, "".join(layers))
    wanted = [case for case in cases() if case.fourcc not in SLOW]
    show_all(wanted, count, sender, display.screenshot, display.program)


@pytest.mark.cockpit(COCKPIT)
@pytest.mark.skipif(not (BUILD / "clients" / "gid-view").exists(), reason="there is no gid-view")
def test_gid_view(cockpit: Cockpit, sender: Sender) -> None:
    """One window of Weston, one picture after the other."""
    from lib.weston import Weston

    weston = Weston(cockpit.folder, cockpit.env("cluster")).start()
    wanted = one_of_each()
    sender.send("p0", wanted[0])
    command = [BUILD / "clients" / "gid-view", "-d", "open", "-s", "p0", "-f", "--convert"]
    view = weston.client([*command, f"--place={WIDTH}x{HEIGHT}+0+0"])
    show_all(wanted, 1, sender, lambda: weston.screenshot()[:HEIGHT, :WIDTH, ::-1], view)
