# SPDX-License-Identifier: MIT
"""gidway's own points, written by the real elements, clients and the Weston module."""

import csv
import io
import json

import numpy as np
import pytest
from cockpit import Cockpit
from gid_timeline.cli import main
from gid_timeline.gidpoints import POINTS
from logs import MS
from recording import Film

FRAMES = 100


@pytest.fixture(scope="module")
def film(tmp_path_factory):
    """The logs of a film that was shown, everybody with points on."""
    cockpit = Cockpit()
    try:
        cockpit.start_all()
        recorded = Film(cockpit, tmp_path_factory.mktemp("film"))
        recorded.wait("cluster", '"gid_shown"', FRAMES)
        recorded.stop()
    finally:
        cockpit.close()
    return recorded


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def time_of(line, key="T"):
    return line[key][0] * 10**9 + line[key][1]


def points(film, log, name, by):
    found = [line for line in lines(film.logs[log]) if line.get("N") == f"gid_{name}"]
    return [line for line in found if line["by"] == by]


def test_each_frame_is_one_line_from_capture_to_light(film, capsys):
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


def test_everybody_writes_the_points_that_are_his(film):
    assert points(film, "open", "capture", "gidsink")
    assert points(film, "open", "submit", "gidsink")
    assert points(film, "open", "freed", "gidsink")
    for name in ("receive", "commit", "shown", "released"):
        assert len(points(film, "cluster", name, "gid-view")) >= FRAMES - 8, name
    for name in ("commit", "shown"):
        assert len(points(film, "weston", name, "weston")) >= FRAMES - 8, name


def test_the_module_knows_when_a_frame_is_shown(film):
    """What it finds out by itself is what Weston tells the client, and its own timeline.

    Headless Weston presents by CLOCK_MONOTONIC_RAW, which each of the three compares with
    CLOCK_MONOTONIC by itself; Weston does so without a guard against being interrupted.
    """
    module = [(line["gid"], time_of(line)) for line in points(film, "weston", "shown", "weston")]
    for line in points(film, "cluster", "shown", "gid-view"):
        near = [gid for gid, time in module if abs(time - time_of(line)) < MS]
        assert near == [line["gid"]], line
    refreshes = np.array(
        [
            time_of(line, "vblank_monotonic")
            for line in lines(film.logs["weston"])
            if line.get("N") == "core_repaint_finished"
        ]
    )
    apart = [np.abs(refreshes - time).min() for _, time in module]
    assert np.median(apart) < MS / 100


def test_the_report_tells_of_the_stream_in_westons_own_log(film, capsys):
    assert main(["report", str(film.logs["weston"]), "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["other_lines"] == document["broken_lines"] == 0
    assert document["unknown_points"] == {}
