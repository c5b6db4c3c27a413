# SPDX-License-Identifier: MIT
"""When frames of live sources leave gidsink: times of a machine that lets it run."""

import json
import statistics

from lib.cockpit import Cockpit
from lib.pipeline import send

LIVE = "videotestsrc is-live=true num-buffers={} ! video/x-raw,width=320,height=240,framerate=30/1"


def delays(cockpit: Cockpit, source: str, properties: str) -> list[float]:
    """From capture to submission, ms: of each frame."""
    points = cockpit.folder / "points"
    send(cockpit, source, f'{properties} timeline="{points}"').finish()
    times: dict[str, dict[int, int]] = {"gid_capture": {}, "gid_submit": {}}
    for line in map(json.loads, points.read_text().splitlines()):
        if line.get("N") in times and line.get("sequence"):
            seconds, ns = line["T"]
            times[line["N"]][line["sequence"]] = seconds * 10**9 + ns
    captured = times["gid_capture"]
    return [(ns - captured[n]) / 1e6 for n, ns in times["gid_submit"].items() if n in captured]


def test_a_live_frame_leaves_when_it_is_there(cockpit: Cockpit) -> None:
    """Its latency is that of cameras, a frame, and 20 ms that sinks with a screen add."""
    times = delays(cockpit, LIVE.format(90), "")
    assert len(times) == 90
    assert statistics.median(times) < 15


def test_a_live_frame_can_wait_for_the_latency(cockpit: Cockpit) -> None:
    """As where it has to be in step with sound."""
    times = delays(cockpit, LIVE.format(60), "wait-for-latency=true")
    assert statistics.median(times) > 30
