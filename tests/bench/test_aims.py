# SPDX-License-Identifier: MIT
"""The aims of the fast path: each is of a ratio that a benchmark has, and told with it."""

import argparse
import json
from pathlib import Path

import pytest
from benches import module
from lib.program import TOP
from test_handoff import Told

from bench import aims, common


def ratios_of_frame_cost() -> set[str]:
    frame_cost = module("frame-cost")
    flows = {f"streams: {count}, consumers: 1": 1.0 for count in (1, 64)}
    bursts = {f"bursts, {where}, cycles": 50.0 for where in ("one core", "two cores")}
    return set(frame_cost.ratios_of(flows | bursts | {"streams: 1, consumers: 8": 4.0}))


def ratios_of_the_ring() -> set[str]:
    ring = module("ring")
    rows = [{"what": way, "ns": 1.0, "cycles": 2.5} for way in ring.COUNTS]
    without = ring.ratios([row | {"cycles": 0.0} for row in rows])
    assert set(without) == {"ring_vs_spin"}  # no aim is met where no cycle is counted
    return set(ring.ratios(rows))


def ratios_of_the_hand_off() -> set[str]:
    handoff = module("handoff")
    options = argparse.Namespace(size=["1080p"], format=["BGRx"], repetitions=1)
    return set(handoff.ratios(handoff.measure(Told(), options)))


def ratios_of_the_engine() -> set[str]:
    engine = module("engine")
    points = {"clip": "quarter", "ratio": 1.0, "drawn_ratio": 1.0}
    points |= dict.fromkeys(("direct_ms", "direct_cpu_ms", "cpu_ms", "engine_cpu_ms"), 1.0)
    rows = [points | {"words": words} for words in engine.WORDS]
    layers = {f"{kind}_ratio": 1.0 for kind in engine.KINDS}
    layers |= {f"{kind}_cpu_ratio": 1.0 for kind in (*engine.COSTLY, "later")}
    there = engine.ratios([*rows, *(layers | {"layers": count} for count in engine.LAYERS)])
    return {*there, *engine.ratios(rows, one_processor=True)}


def ratios_of_counts() -> set[str]:
    counts = module("counts")
    what = counts.HAND_OFF + counts.TIMELY
    rows = [
        {"what": what, "unit": f"system calls of the {who}", "count": 1.5}
        for who in ("sender", "reader")
    ]
    rows.append({"what": "ring: a frame", "unit": "instructions", "count": 291})
    return set(counts.ratios(rows))


def test_each_aim_is_of_a_ratio_that_a_benchmark_has() -> None:
    of = {
        "bench frame-cost": ratios_of_frame_cost(),
        "bench ring": ratios_of_the_ring(),
        "bench handoff": ratios_of_the_hand_off(),
        "bench engine": ratios_of_the_engine(),
        "bench counts": ratios_of_counts(),
    }
    for aim in aims.AIMS:
        bench = " ".join(aim.command.split()[:2])
        if bench in of:
            assert aim.worst(aim.ratios, dict.fromkeys(of[bench], 1.0)) == 1.0, aim.name
        elif bench == "bench drawing":
            assert f'"{aim.ratios}":' in (TOP / "bench/drawing.py").read_text()
        else:
            assert bench.startswith("evaluate "), aim.name
    assert len({aim.name for aim in aims.AIMS}) == len(aims.AIMS)


def test_of_several_the_worst_counts() -> None:
    found = {f"first_frame_cpu_vs_private_n{count}": 1.0 + count / 40 for count in (2, 4, 8)}
    (one,) = aims.reached(found | {"first_frame_drop_n2": -50.0})
    assert one["name"] == "first_frames_cpu_vs_private" and one["value"] == 1.2
    assert (one["goal"], one["verdict"]) == ("≤ 1.05", "missed")


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ([], {"points_100_vs_direct"}),
        (["--ordinary", "--helpers=0"], {"later_frames_cpu_vs_direct"}),
        (["--one-processor"], {"points_100_one_processor_vs_direct"}),
        (["--ordinary"], set()),
        (["--helpers=1", "--ordinary"], set()),
        (["--vm"], set()),
    ],
)
def test_an_aim_is_of_the_form_in_which_it_was_set(words: list[str], names: set[str]) -> None:
    engine = module("engine")
    ratios = ("points_100_vs_direct", "later_frame_cpu_vs_direct_n2")
    found = dict.fromkeys((*ratios, "points_100_one_processor_vs_direct"), 0.7)
    command = engine.command(engine.options_of(words))
    assert {one["name"] for one in aims.reached(found, command)} == names


@pytest.mark.parametrize(("value", "verdict"), [(0.994, "missed"), (0.995, "met"), (1.1, "met")])
def test_of_frames_more_is_better(value: float, verdict: str) -> None:
    (one,) = aims.reached({"frames_for_instructions_with_module_vs_without": value})
    assert (one["goal"], one["verdict"]) == ("≥ 0.995", verdict)


def test_a_benchmark_tells_its_aims_to_programs_and_to_people(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {"eight_readers_vs_one": 4.08, "burst_cycles_one_core": 41.0, "other": 9.0}
    common.write(tmp_path / "found.json", [], found)
    common.write(None, [], {"other": 9.0})
    told = capsys.readouterr().out
    assert told.splitlines() == [
        "aim: eight_readers_vs_one 4.08 (≤ 1.5): missed",
        "aim: burst_cycles_one_core 41 (≤ 98): met",
    ]
    written = json.loads((tmp_path / "found.json").read_text())
    assert written["ratios"] == found
    assert [(one["name"], one["goal"], one["verdict"]) for one in written["aims"]] == [
        ("eight_readers_vs_one", "≤ 1.5", "missed"),
        ("burst_cycles_one_core", "≤ 98", "met"),
    ]
