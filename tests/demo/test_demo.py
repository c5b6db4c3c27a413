# SPDX-License-Identifier: MIT
"""The demo as a user runs it: what it shows is right, and it leaves nothing behind."""

import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy
import pytest
from gid_vm.folder import memory_folder
from lib.program import BUILD, TOP, Program
from PIL import Image
from runs import MARK, Run, check_copies, run_demo

# Where the demo puts things on the display, in pixels: left, top, right, bottom.
MOVIE = (40, 116, 1320, 836)
CAMERA = (1360, 116, 1880, 506)
TELLTALE = (1360, 582, 1680, 662)
METER = (40, 896, 1320, 1160)
PANEL = (1360, 896, 1880, 1160)
# The windows of the passenger: a map, a radio and a flower.
PASSENGER = [(200, 120, 560, 380), (720, 120, 1080, 380), (560, 460, 720, 640)]
OPEN_MOVIE = (40, 116, 840, 566)
OPEN_CAMERA = (880, 116, 1240, 386)
# The seven bars of the test picture.
BARS = [
    (255, 255, 255), (255, 255, 0), (0, 255, 255), (0, 255, 0), (255, 0, 255), (255, 0, 0),
    (0, 0, 255),
]  # fmt: skip

pytestmark = pytest.mark.timeout(1000)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Run:
    run = run_demo(tmp_path_factory.mktemp("demo"), "--seconds=5")
    assert run.status == 0, run.errors
    return run


@pytest.mark.parametrize(
    ("stream", "least"),
    [("movie", 120), ("panel", 10), ("movie-i420", 120), ("camera", 10), ("telltale", 10)],
)
def test_figures_of_each_stream(demo: Run, stream: str, least: int) -> None:
    figures = demo.report["streams"][stream]
    assert figures["frames"] >= least
    assert figures["dropped"] >= 0
    latency = figures["latency_us"]
    assert 0 < latency["p50"] <= latency["p99"] <= latency["max"]


@pytest.mark.parametrize(
    ("stream", "most"),
    [("movie", 0), ("panel", 0), ("movie-i420", 4), ("camera", 0), ("telltale", 0)],
)
def test_copies(demo: Run, stream: str, most: int) -> None:
    check_copies(demo, stream, most)


def test_every_frame_was_the_decoders(demo: Run) -> None:
    assert demo.report["streams"]["movie-i420"]["wrong"] == 0


@pytest.mark.parametrize(
    ("display", "least"), [("cluster", 120), ("open", 1), ("open, after its return", 1)]
)
def test_displays(demo: Run, display: str, least: int) -> None:
    assert demo.report["link"] == "local"
    figures = demo.report["displays"][display]
    assert figures["repaints"] >= least
    cost = figures["repaint_ms"]
    assert 0 < cost["p50"] <= cost["p99"] <= cost["max"]
    assert 0 < cost["mean"] <= cost["max"]


def bars(shown: numpy.ndarray) -> numpy.ndarray:
    height, width, _ = shown.shape
    return numpy.array([shown[height // 3, width * (2 * bar + 1) // 14] for bar in range(7)])


@pytest.mark.parametrize(
    ("box", "name"), [(CAMERA, "cluster.png"), (OPEN_CAMERA, "open.png")], ids=["cluster", "open"]
)
def test_picture_of_the_camera(demo: Run, box: tuple, name: str) -> None:
    assert numpy.abs(bars(demo.picture(box, name)) - BARS).max() <= 2


@pytest.mark.parametrize(
    ("box", "name"), [(MOVIE, "cluster.png"), (OPEN_MOVIE, "open.png")], ids=["cluster", "open"]
)
def test_picture_of_the_film(demo: Run, box: tuple, name: str) -> None:
    """Lively all over: neither blank nor partly drawn."""
    shown = demo.picture(box, name)
    parts = [
        part for row in numpy.array_split(shown, 4) for part in numpy.array_split(row, 4, axis=1)
    ]
    assert all(part.std() > 2 for part in parts)


def test_picture_of_the_panel(demo: Run) -> None:
    """Map, film and symbols; while `open` is dead there is what says so, and nothing of it."""
    shown, lost = demo.picture(PANEL), demo.picture(PANEL, "cluster-lost.png")
    assert tuple(shown[140, 86]) == (255, 200, 60), "the arrow"
    assert tuple(shown[132, 174]) == (92, 150, 220), "the road"
    assert shown[30:130, 300:480].std() > 5, "the film"
    assert not numpy.array_equal(shown, lost)
    assert tuple(lost[2, 260]) == (200, 60, 50), "the frame around NO PANEL"
    assert lost[110:154, 100:420].std() > 20, "its words"
    assert tuple(lost[200, 260]) == (38, 12, 12), "nothing else"


@pytest.mark.parametrize("stream", ["movie", "safety/camera", "safety/telltale"])
def test_the_timeline_has_the_way_of_each_frame(demo: Run, stream: str) -> None:
    page = (demo.folder / "timeline.html").read_text()
    way = re.escape(f">{stream}</a> <small>open → cluster · ")
    assert re.search(way + r"\d+ submitted, \d+ received, \d+ committed, \d+ shown", page)


def test_the_film_is_bit_exact_on_the_display(demo: Run) -> None:
    found = [check["found"] for check in demo.report["checks"] if "movie" in check["what"]]
    assert "bit-exact" in found[0]


def test_ordinary_windows(demo: Run) -> None:
    """Of Weston on one more display, and of a compositor of wlroots on another."""
    assert numpy.abs(bars(demo.picture(OPEN_CAMERA, "centre.png")) - BARS).max() <= 2
    for window in PASSENGER:
        assert demo.picture(window, "passenger.png").std() > 5
    streams, displays = demo.report["streams"], ("centre", "passenger")
    assert all(streams[name]["frames"] > 0 == streams[name]["dropped"] for name in displays)
    told = [check for check in demo.report["checks"] if "ordinary windows" in check["what"]]
    assert len(told) == 2 and all(check["passed"] for check in told)


def test_all_displays_in_one_picture(demo: Run) -> None:
    with Image.open(demo.folder / "displays.png") as image:
        assert image.size == (1920, 950)
    for left, top, right, bottom in ((40, 116, 1240, 866), (1280, 116, 1880, 491)):
        assert demo.picture((left, top, right, bottom), "displays.png").std() > 30


def test_pictures_of_the_cluster(demo: Run) -> None:
    """Live, and while `open` is dead: other safety pictures, the same meter."""
    live, lost = ((demo.picture(CAMERA, name), demo.picture(TELLTALE, name))
                  for name in ("cluster.png", "cluster-lost.png"))  # fmt: skip
    assert not numpy.array_equal(live[0], lost[0]) and not numpy.array_equal(live[1], lost[1])
    assert numpy.abs(bars(lost[0]) - BARS).max() > 50, "no camera picture"
    for name in ("cluster.png", "cluster-lost.png"):
        assert demo.picture(METER, name).std() > 5, "dials"


def test_the_film_that_stands_still_is_greyed(demo: Run) -> None:
    """What is behind it can be seen still, with less contrast."""
    shown, lost = demo.picture(MOVIE), demo.picture(MOVIE, "cluster-lost.png")
    assert 2 < lost.std() < shown.std() / 2
    (told,) = (check for check in demo.report["checks"] if "greyed" in check["what"])
    assert told["passed"]


@pytest.mark.parametrize("stream", ["movie", "camera"])
def test_the_time_before_a_frame_was_sent_is_told(demo: Run, stream: str) -> None:
    figures = demo.report["streams"][stream]
    sent, shown = figures["capture_to_submit_us"], figures["capture_to_shown_us"]
    # Not one less than the other: they are of all that were sent, and of those that were shown.
    assert sent["p50"] > 0 and shown["p50"] > 0
    assert len(figures["latency_us"]["histogram"]) > 1


@pytest.mark.parametrize("role", ["telltale", "camera"])
def test_loss_and_return(demo: Run, role: str) -> None:
    loss = demo.report["loss"][role]
    assert loss["live_after_ms"] > 0
    timeline = demo.report["timeline"]
    steps = timeline["roles"][role]
    assert {"live"} < {step["to"] for step in steps}
    (again,) = (e["at"] for e in timeline["events"] if e["what"] == "open starts again")
    assert any(step["to"] == "live" and step["at"] > again for step in steps)


def test_timeline(demo: Run) -> None:
    timeline = demo.report["timeline"]
    events = {event["what"]: event["at"] for event in timeline["events"]}
    assert 0 <= events["pictures"] < events["open is killed"] < events["open starts again"]
    assert events["open starts again"] < events["all live again"] < events["end"] == timeline["end"]
    (went_on,) = (check for check in demo.report["checks"] if "went on" in check["what"])
    assert went_on["passed"], "the cluster"
    assert any(
        events["open is killed"] <= at <= events["open starts again"]
        for at, _ in timeline["cluster_fps"]
    )
    assert demo.report["meter"]["shown"] >= 10


def test_page_stands_alone(demo: Run) -> None:
    page = (demo.folder / "report.html").read_text()
    assert page.count("data:image/png;base64,") == 5
    assert page.count("<svg") == 11  # open, two roles, the display's rate, seven histograms
    assert not re.search(r"(src|href)=\"(?!data:|timeline\.html)", page)


def test_each_step_of_its_end_is_told(demo: Run) -> None:
    """With the processors busy each takes many seconds."""
    steps = ["the receivers end, then open", "reading the timelines of all programs"]
    steps += ["comparing the pictures with each frame of the film", "writing the report"]
    told = [line for line in demo.errors.splitlines() if line in steps]
    assert told == steps


def test_its_end_says_what_to_open(demo: Run) -> None:
    page = (demo.folder / "report.html").resolve().as_uri()
    assert f"Open {page} in a browser" in demo.errors.splitlines()


def test_nothing_is_left_behind(demo: Run) -> None:
    running = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            environment = (process / "environ").read_bytes()
        except OSError:
            continue  # ended, or not ours to see
        if f"{MARK}={demo.folder}".encode() in environment.split(b"\0"):
            running.append((process / "cmdline").read_bytes())
    assert not running


@pytest.mark.at_length
def test_another_film(tmp_path: Path) -> None:
    """Small, of an odd size, in another codec, and shorter than the demo."""
    film = tmp_path / "small film's.mkv"
    pipeline = (
        "videotestsrc num-buffers=45 pattern=ball "
        "! video/x-raw,width=322,height=242,framerate=30/1 "
        f'! jpegenc ! matroskamux ! filesink location="{film}"'
    )
    subprocess.run(f"gst-launch-1.0 -q {pipeline}", shell=True, check=True, timeout=300)
    run = run_demo(tmp_path / "out", "--seconds=2", f"--clip={film}")
    assert run.status == 0, run.errors
    assert run.report["clip"] == film.name
    assert run.report["streams"]["movie-i420"]["frames"] >= 60


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for what a demo keeps only for a while."""
    with tempfile.TemporaryDirectory(prefix="gid-", dir=memory_folder()) as folder:
        monkeypatch.setenv("TMPDIR", folder)
        yield Path(folder)


def test_no_such_film(tmp_path: Path, short: Path) -> None:
    run = run_demo(tmp_path, "--clip=missing.mp4")
    assert run.status == 1
    assert "missing.mp4: there is no such file" in run.errors
    assert "logs" not in run.errors and not list(short.iterdir())


def test_no_film_at_all(tmp_path: Path, short: Path) -> None:
    """Programs run by then, whose logs may say why."""
    text = tmp_path / "text.mp4"
    text.write_text("this is no film\n" * 100)
    run = run_demo(tmp_path / "out", f"--clip={text}")
    assert run.status == 1
    assert "text.mp4" in run.errors
    (kept,) = short.iterdir()
    assert f"The logs are in {kept}" in run.errors


def test_a_full_folder_is_told_at_once(tmp_path: Path, short: Path) -> None:
    """Its name, and what to do. On a file system of a megabyte."""
    inside = 'mount -t tmpfs -o size=1M small "$0" && exec "$@"'
    under = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", inside, str(tmp_path))
    run = run_demo(tmp_path, "--seconds=2", under=under)
    assert run.status == 1
    assert f"{tmp_path} cannot take 16 MB: No space left on device. Name a folder" in run.errors
    assert not list(short.iterdir())


@pytest.mark.parametrize(
    ("number", "status"), [("INT", 130), pytest.param("TERM", 143, marks=pytest.mark.at_length)]
)
def test_an_interrupted_demo_leaves_nothing(
    tmp_path: Path, short: Path, number: str, status: int
) -> None:
    command = ["env", f"--default-signal={number}", TOP / "run", "demo", f"--out={tmp_path}"]
    demo = Program(command, os.environ | {"GIDWAY_BUILD": str(BUILD)}, tmp_path)
    demo.wait_output("cluster: gidd and gid-cluster")
    demo.signal(signal.Signals[f"SIG{number}"])
    assert demo.wait() == status, demo.stderr
    assert not list(short.iterdir())
