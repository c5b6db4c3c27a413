# SPDX-License-Identifier: MIT
"""Every format in all colours, shown by whole programs, many pictures at once.

By gid-cluster: see tests/displays. Who shows few at a time shows all in the suite long.
"""

from collections.abc import Callable, Iterator

import numpy
import pytest
from lib.cockpit import Cockpit
from lib.company import IS_LONG
from lib.engine import start_engine
from lib.picture_formats import GREY
from lib.picture_table import HEIGHT, WIDTH, Case, cases, is_yuv
from lib.pictures import FORMATS
from lib.program import BUILD, Program, wait_for
from lib.sent_pictures import ACROSS, COCKPIT, Sender, place, wrong
from lib.snapshot import snap

# Of one, or of two planes or three, and pairs.
OF_GSTREAMER = [name for name in FORMATS.values() if is_yuv(name)]
ENGINE = "[canvas panel]\ndomain=open\nmemory=16M\nslots=6\n"
SOME = ("NV12", "YU12", "YUYV", "NV61", "YU24")


@pytest.fixture
def sender(cockpit: Cockpit) -> Iterator[Sender]:
    with Sender(cockpit) as sender:
        yield sender


def wait_right(
    batch: tuple[Case, ...], look: Callable[[], numpy.ndarray], program: Program
) -> None:
    seen: list[str] = []

    def right() -> bool:
        assert program.is_running()
        try:
            seen[:] = wrong(batch, look())
        except AssertionError:  # there is no stream yet
            seen[:] = ["nothing is shown"]
        return not seen

    wait_for(right, lambda: "\n".join(["the right pixels", *seen, program.stderr]))


def one_of_each() -> list[Case]:
    """Each format in one of the colours, and all of these among them."""
    formats: dict[str, list[Case]] = {}
    for case in cases():
        formats.setdefault(case.fourcc, []).append(case)
    return [found[i % len(found)] for i, found in enumerate(formats.values())]


@pytest.mark.cockpit(COCKPIT)
def test_gid_compose(cockpit: Cockpit, sender: Sender) -> None:
    """What it knows of colours is what the producers' layouts say."""
    count = 60
    layout = cockpit.folder / "panel.ini"
    lines = [f"[canvas]\nengine=cluster\nname=panel\nwidth={ACROSS * WIDTH}\n"]
    lines += [f"height={count // ACROSS * HEIGHT}\n"]
    lines += [f"[layer p{i}]\nstream=p{i}\n{place(i)}" for i in range(count)]
    layout.write_text("".join(lines))
    start_engine(cockpit, ENGINE)
    program = cockpit.run("open", [BUILD / "tools" / "gid-compose" / "gid-compose", layout])
    wanted = [case for case in cases() if case.fourcc not in GREY]
    for batch in sender.send_all(wanted, count):
        wait_right(batch, lambda: snap(cockpit, "cluster", "canvas/panel"), program)


@pytest.mark.cockpit(COCKPIT)
@pytest.mark.skipif(not (BUILD / "gst" / "libgstgid.so").exists(), reason="there is no GStreamer")
def test_gidcompose(cockpit: Cockpit, sender: Sender) -> None:
    """By the colorimetry that gidsrc says: of the formats that GStreamer has, too."""
    from lib.pipeline import Pipeline

    start_engine(cockpit, ENGINE)
    layers = "".join(f" gidsrc domain=open stream=p{i} ! queue ! c.sink_{i}" for i in range(ACROSS))
    places = " ".join(f"sink_{i}::xpos={i * WIDTH}" for i in range(ACROSS))
    text = f"gidcompose name=c engine=cluster canvas=panel {places} ! video/x-raw,format=BGRx,"
    text += f"width={ACROSS * WIDTH},height={HEIGHT},framerate=30/1 ! gidsink stream=composed"
    for fourcc in OF_GSTREAMER if IS_LONG else SOME:
        wanted = [case for case in cases() if case.fourcc == fourcc]
        for i, case in enumerate(wanted):
            sender.send(f"p{i}", case)
        program = Pipeline(cockpit, "open", f"{text} sync=false {layers}")
        wait_right(tuple(wanted), lambda: snap(cockpit, "open", "composed"), program)
        program.kill()


@pytest.mark.cockpit(COCKPIT)
@pytest.mark.skipif(not (BUILD / "clients" / "gid-view").exists(), reason="there is no gid-view")
def test_gid_view(cockpit: Cockpit, sender: Sender) -> None:
    """One window of Weston, one picture after the other."""
    from lib.weston import Weston

    weston = Weston(cockpit.folder, cockpit.env("cluster")).start()
    wanted = cases() if IS_LONG else one_of_each()
    sender.send("p0", wanted[0])
    command = [BUILD / "clients" / "gid-view", "-d", "open", "-s", "p0", "-f", "--convert"]
    view = weston.client([*command, f"--place={WIDTH}x{HEIGHT}+0+0"])
    for batch in sender.send_all(wanted, 1):
        wait_right(batch, lambda: weston.screenshot()[:HEIGHT, :WIDTH, ::-1], view)
