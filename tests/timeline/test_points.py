# SPDX-License-Identifier: MIT
"""gidway's own points, written by the real elements, clients and the Weston module."""

import csv
import io
import json
import time
from pathlib import Path

import independent
import pytest
from gid_timeline.cli import main
from gid_timeline.gidpoints import POINTS
from lib.cockpit import Cockpit
from lib.program import wait_for
from recording import Film
from test_real import SECONDS, check_figures

FRAMES = 100
pytestmark = pytest.mark.timeout(300 + 2 * SECONDS)


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Film:
    """The logs of a film that was shown, everybody with points on."""
    cockpit = Cockpit()
    try:
        cockpit.start_all()
        recorded = Film(cockpit, tmp_path_factory.mktemp("film"))
        time.sleep(SECONDS)
        recorded.wait("cluster", '"gid_shown"', FRAMES)
        recorded.stop()
    finally:
        cockpit.close()
    return recorded


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def time_of(line: dict, key: str = "T") -> int:
    return line[key][0] * 10**9 + line[key][1]


def points(film: Film, log: str, name: str, by: str) -> list[dict]:
    found = [line for line in lines(film.logs[log]) if line.get("N") == f"gid_{name}"]
    return [line for line in found if line["by"] == by]


def test_each_frame_is_one_line_from_capture_to_light(
    film: Film, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["join", *map(str, film.logs.values()), "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    shown = [row for row in rows if row["shown_ns"]]
    assert len(shown) >= FRAMES
    assert {(row["stream"], row["owner"], row["consumer"]) for row in shown} == {
        ("movie", "1", "2")
    }
    whole = [row for row in shown if all(row[f"{point}_ns"] for point in POINTS)]
    # The last frames were shown still when everything ended, and never went back.
    assert len(whole) >= len(shown) - 8
    for row in whole:
        time = {point: int(row[f"{point}_ns"]) for point in POINTS}
        way = [time[point] for point in ("capture", "submit", "receive", "commit", "shown")]
        assert way == sorted(way), row
        # Weston releases a buffer when it has the next one, which may be before it is shown.
        assert time["commit"] < time["released"] <= time["freed"], row
    sequences = [int(row["sequence"]) for row in rows]
    assert len(sequences) == len(set(sequences))


def test_everybody_writes_the_points_that_are_his(film: Film) -> None:
    assert points(film, "open", "capture", "gidsink")
    assert points(film, "open", "submit", "gidsink")
    assert points(film, "open", "freed", "gidsink")
    for name in ("receive", "commit", "shown", "released"):
        assert len(points(film, "cluster", name, "gid-view")) >= FRAMES - 8, name
    for name in ("commit", "shown"):
        assert len(points(film, "weston", name, "weston")) >= FRAMES - 8, name


def test_domains_of_one_kernel_say_so(film: Film, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["join", *map(str, film.logs.values())]) == 0
    assert "one clock, as both domains run on one kernel" in capsys.readouterr().out


def test_the_module_knows_when_a_frame_is_shown(film: Film) -> None:
    """It says so by the times of Weston's own timeline, and of the frames that the client hears of.

    Headless Weston presents by CLOCK_MONOTONIC_RAW, which it and the client each compare with
    CLOCK_MONOTONIC: the times differ a little.
    """
    module = [(time_of(line), line["gid"]) for line in points(film, "weston", "shown", "weston")]
    refreshes = {
        time_of(line, "vblank_monotonic")
        for line in lines(film.logs["weston"])
        if line.get("N") == "core_repaint_finished"
    }
    assert {time for time, _ in module} <= refreshes
    client = [(time_of(line), line["gid"]) for line in points(film, "cluster", "shown", "gid-view")]
    for shown, gid in client:
        assert min(module, key=lambda point: abs(point[0] - shown))[1] == gid


def test_listeners_may_come_and_go(cockpit: Cockpit, tmp_path: Path) -> None:
    """The module writes for each of them, and when there is none to the file of GID_TIMELINE."""
    film = Film(cockpit, tmp_path, scope="log")
    film.wait("weston's points", '"gid_shown"', 10)
    for number in range(3):
        log = film.logs[f"listener {number}"] = tmp_path / f"{number}.log"
        listener = film.weston.client(["weston-debug", "-o", log, "timeline"])
        film.wait(f"listener {number}", '"gid_shown"', 10)
        film.wait(f"listener {number}", '"gid_commit"', 10)
        listener.kill()
        film.wait("weston's points", '"gid_shown"', film.count("weston's points", "shown") + 10)
    film.stop()
    assert points(film, "weston's points", "commit", "weston")
    assert '"gid_' not in film.weston.read_log()


def test_the_property_of_the_elements(cockpit: Cockpit, tmp_path: Path) -> None:
    """They write where it says; where they cannot they warn, and go on."""
    logs = {name: tmp_path / f"{name}.log" for name in ("gidsink", "gidsrc")}
    source = "gst-launch-1.0 videotestsrc is-live=true ! video/x-raw,width=64,height=64 ! gidsink"
    for stream, log in (("good", logs["gidsink"]), ("bad", "/nonexistent/points.log")):
        cockpit.run("open", [*source.split(), f"stream={stream}", f"timeline={log}"])
    sink = "stream={} num-buffers=20 timeline={} ! fakesink".format
    take = ["gst-launch-1.0", "gidsrc", "domain=open"]
    good = cockpit.run("cluster", [*take, *sink("good", logs["gidsrc"]).split()])
    assert good.wait() == 0, good.stderr
    bad = cockpit.run("cluster", [*take, *sink("bad", "/nonexistent/points.log").split()])
    assert bad.wait() == 0, bad.stderr
    assert "cannot be opened: No such file or directory" in bad.stdout + bad.stderr

    def freed() -> bool:
        return any(line.get("N") == "gid_freed" for line in lines(logs["gidsink"]))

    wait_for(freed, "gidsink to have frames back")
    for program in cockpit.programs:
        program.kill()
    written = {name: [line.get("N") for line in lines(log)] for name, log in logs.items()}
    named = {
        name: [line["name"] for line in lines(log) if "id" in line] for name, log in logs.items()
    }
    assert named == {"gidsink": ["open"], "gidsrc": ["cluster"]}
    assert set(written["gidsink"]) >= {"gid_capture", "gid_submit", "gid_freed"}
    assert written["gidsrc"].count("gid_receive") >= 20
    assert written["gidsrc"].count("gid_released") >= 10
    assert {line["by"] for line in lines(logs["gidsrc"]) if "N" in line} == {"gidsrc"}


def test_every_figure_agrees_with_an_independent_computation(film: Film, tmp_path: Path) -> None:
    """Of Weston's own points, among which are ours."""
    document = check_figures(film.logs["weston"], tmp_path / "report.json")
    assert document["runs"][0]["outputs"][0]["frames"] >= FRAMES


def test_every_stage_agrees_with_an_independent_computation(
    film: Film, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["join", *map(str, film.logs.values()), "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    (stream,) = [stream for stream in document["streams"] if stream["consumer"] == 2]
    assert stream["domains"] == "open → cluster"
    assert stream["clocks"]["same"]
    consumer = {"receive", "commit", "shown", "released"}
    frames = independent.journeys(film.logs.values())
    taken = [times for times in frames.values() if consumer & set(times)]
    assert stream["frames"] == len(taken)
    assert len(stream["stages"]) == 8
    for stage, found in stream["stages"].items():
        start, end = stage.split("_to_")
        spans = [times[end] - times[start] for times in taken if start in times and end in times]
        assert found == independent.summary(sorted(spans)), stage
