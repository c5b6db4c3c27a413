# SPDX-License-Identifier: MIT
"""The benchmark isolation runs, its attacks are made, and cost nobody but who makes them.

How many frames the cluster has meanwhile is measured: test_isolation_long.py.
"""

import json
import os
import re
import signal
import subprocess
import types
from pathlib import Path

import pytest
from benches import bench, module, results
from lib.picture_formats import FORMATS
from lib.program import BUILD, TOP, Program, wait_for

from lab.domains import contained
from lab.domains.program import LabError

pytestmark = pytest.mark.timeout(1000)
CASES = {"flood", "scribble", "restart", "messages", "status", "role-XR24"}


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> dict:
    words = [f"--case={case}" for case in sorted(CASES)]
    folder = tmp_path_factory.mktemp("isolation")
    return results("isolation", folder, "--repetitions=1", "--seconds=4", *words)


def row(result: dict, case: str) -> dict:
    return next(row for row in result["rows"] if row["case"] == case)


@pytest.mark.at_length
def test_form(result: dict) -> None:
    assert {row["case"] for row in result["rows"]} == CASES | {"undisturbed"}
    names = (
        "rate_{}_vs_undisturbed",
        "longest_gap_{}_refreshes",
        "commit_late_{}_refreshes",
        "compose_worst_vs_bound_{}",
    )
    assert set(result["ratios"]) == {name.format(case) for name in names for case in CASES}
    assert all(row["finished"] > 0 for row in result["rows"])
    for found in result["rows"]:
        assert found["machine_slow"] == max(found["machine_slow_each"]) > 1
        assert found["meter_late_refreshes"] == max(found["meter_late_refreshes_each"]) > 0


@pytest.mark.at_length
def test_what_was_done(result: dict) -> None:
    """The attacks were made, and none of them got at memory that is not its own."""
    assert row(result, "flood")["did"]["commits"] > 0
    scribble = row(result, "scribble")["did"]
    assert scribble["bytes"] > 0 and scribble["attempts"] > 0
    assert scribble["broken"] == 0
    messages = row(result, "messages")["did"]
    assert messages["gidd"]["messages"] > 0 and messages["weston"]["messages"] > 0
    for case in ("status", "role-XR24"):
        assert row(result, case)["did"]["sent"] > 0, case


@pytest.mark.at_length
@pytest.mark.parametrize("case", ["flood", "messages", "status"])
def test_nobody_else_ends(result: dict, case: str) -> None:
    """Of `open` itself: what one of its programs does costs no other one its life."""
    assert row(result, case)["ended"] == []


@pytest.mark.at_length
def test_what_was_found(result: dict) -> None:
    """Every loss is named: of the domain that was killed, and of the program that wrote over it."""
    assert "lost: died" in row(result, "restart")["telltale"]
    assert "live: none" in row(result, "restart")["telltale"]
    (scribbled,) = row(result, "scribble")["attacker"]
    assert scribbled.split(":")[0] in ("waiting", "wrong", "lost", "late")


@pytest.mark.at_length
def test_any_format(tmp_path: Path) -> None:
    """By name; and `--all-formats` has those of libgid's table."""
    cases = ("role-P012-turned", "layer-YU11-turned-scaled", "layer-R8-scaled")
    named = [f"--case={case}" for case in cases]
    found = results("isolation", tmp_path, "--repetitions=1", "--seconds=2", *named)
    for case in cases:
        assert row(found, case)["did"]["sent"] > 0, case
    command = [BUILD / "tests" / "hostile" / "programs" / "hostile-costly", "formats"]
    known = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert known.splitlines() == list(dict.fromkeys(known.splitlines()))
    assert set(known.splitlines()) == set(FORMATS)


@pytest.mark.at_length
def test_unprotected(tmp_path: Path) -> None:
    """The cluster has no priority then."""
    arguments = ["--unprotected", "--repetitions=1", "--seconds=2", "--case=gpu"]
    found = results("isolation", tmp_path, *arguments)
    assert row(found, "gpu")["scheduling"].startswith(f"nice {os.nice(0)}")
    assert row(found, "gpu")["did"]["pictures"] > 0


@pytest.mark.at_length
@pytest.mark.skipif(contained.why_not() is not None, reason=str(contained.why_not()))
def test_containers(tmp_path: Path) -> None:
    """What befalls one of them alone; its gidd lives on."""
    words = [f"--case={case}" for case in ("killed", "updated", "stop", "leak")]
    arguments = ["--containers=1", "--repetitions=1", "--seconds=3", "--stop=2", *words]
    found = results("isolation", tmp_path, *arguments)
    for case in ("killed", "updated"):
        assert "lost: died" in row(found, case)["telltale"], case
        assert "live: none" in row(found, case)["telltale"], case
        assert row(found, case)["ended"] == [], case
    assert "late: deadline" in row(found, "stop")["telltale"]
    limit = "the container's memory" if contained.has_groups() else "address space"
    assert row(found, "leak")["did"]["limit"] == limit
    assert row(found, "leak")["ended"] == []
    if contained.has_groups():  # and did not end by itself
        assert row(found, "leak")["did"]["status"] == -signal.SIGKILL


def test_what_befalls_a_container() -> None:
    """Its gidd is none of its programs: nobody in it can be a captured one."""
    isolation = module("isolation")
    here = {case.name for case in isolation.all_cases(0)}
    there = {case.name for case in isolation.all_cases(0, container=True)}
    assert here - there == {"link"}
    assert there - here == {"killed", "updated"}


def test_what_cannot_be() -> None:
    result = bench("isolation", "--vm", "--containers=1")
    assert result.returncode == 2
    assert "open is a guest or a container" in result.stderr
    result = bench("isolation", "--case=killed")
    assert result.returncode == 1
    assert "no such case here: killed" in result.stderr


def test_nothing_to_compare_with_is_told() -> None:
    isolation = module("isolation")
    (case,) = (one for one in isolation.all_cases(0) if one.name == "flood")
    still = types.SimpleNamespace(meter={"interval_p50_us": 16000}, rate=0.0)
    with pytest.raises(LabError, match="undisturbed: nothing came in time"):
        isolation.rows({"flood": [still], "undisturbed": [still]}, {"flood": case})


def test_what_came_before_something_broke_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the repetitions that are whole."""
    isolation = module("isolation")

    def counts(runs: dict[str, list], _: dict) -> list[dict]:
        return [{"case": name, "runs": len(each)} for name, each in runs.items()]

    monkeypatch.setattr(isolation, "rows", counts)
    broke = LabError("gid-cluster ended")
    measured = isolation.Measured({}, {"undisturbed": [1, 2], "flood": [1]}, "FIFO", broke)
    assert [row["runs"] for row in measured.rows()] == [1, 1]
    nothing = isolation.Measured({}, {"undisturbed": [1], "flood": []}, "FIFO", broke)
    with pytest.raises(LabError, match="gid-cluster ended"):
        nothing.rows()


def test_what_came_before_it_was_interrupted_is_kept(tmp_path: Path) -> None:
    """By Ctrl-C, as of somebody who has seen enough."""
    found = tmp_path / "found.json"
    words = ["--repetitions=1000", "--seconds=1", "--case=status", f"--json={found}"]
    environment = os.environ | {"GIDWAY_BUILD": str(BUILD), "GID_ANSWER_SECONDS": "60"}
    program = Program([TOP / "run", "bench", "isolation", *words], environment, tmp_path)
    # The third of two cases is of the second repetition.
    wait_for(lambda: re.search(r"^([3-9]|\d\d+)/2000", program.stderr, re.M), "a repetition")
    program.signal(signal.SIGINT)
    assert program.wait() == 128 + signal.SIGINT, program.stderr
    rows = json.loads(found.read_text())["rows"]
    assert {row["case"] for row in rows} == {"undisturbed", "status"}
    assert "undisturbed" in program.stdout


def test_unknown_case() -> None:
    assert bench("isolation", "--case=none").returncode == 2
