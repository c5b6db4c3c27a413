# SPDX-License-Identifier: MIT
"""Comparisons find what differs, keep quiet about what does not, and give CI its exit status."""

import json
from fractions import Fraction
from pathlib import Path

import independent
import logs
import numpy as np
import pytest
from gid_timeline.bootstrap import ratio_interval, resample
from gid_timeline.cli import main
from gid_timeline.condition import ConditionError, parse
from logs import MS

P50 = [Fraction(1, 2)]


def write_log(
    path: Path, seed: int, scale: float = 1.0, frames: int = 600, late: int = 0, name: str = "DP-1"
) -> str:
    rng = np.random.default_rng(seed)
    text, vblank = logs.output(1, name) + logs.surface(2, "film"), 100 * 10**9
    for number in range(frames):
        is_late = number < late
        text += logs.repaint(vblank, cost=int(rng.gamma(20, scale / 10) * MS), late=is_late)
        vblank += logs.REFRESH * (1 + is_late)
    path.write_text(text)
    return str(path)


@pytest.fixture
def pair(tmp_path: Path) -> list[str]:
    return [
        write_log(tmp_path / "before.log", 1),
        write_log(tmp_path / "after.log", 2, scale=1.2, late=30),
    ]


def test_figures_are_those_of_each_log_and_their_ratio(
    pair: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *pair, "--format", "json"]) == 0
    (output,) = json.loads(capsys.readouterr().out)["outputs"]
    repaint = output["figures"]["repaint"]
    for side, path in zip(("before", "after"), pair, strict=True):
        assert repaint[side] == dict(independent.figures(path))["DP-1"]["repaint"]
    assert repaint["ratio"]["p99"] == repaint["after"]["p99_ns"] / repaint["before"]["p99_ns"]
    low, high = repaint["ratio_interval"]["p50"]
    assert 1.1 < low < repaint["ratio"]["p50"] < high < 1.3
    assert (output["late_before"], output["late_after"]) == (0, 29)  # the first cannot be judged


@pytest.mark.parametrize(
    ("condition", "status"),
    [
        ("repaint_p99 > 1.05", 1),
        ("repaint_p50 > 1.15", 1),
        ("repaint_p50 > 1.5", 0),
        ("repaint_mean >= 1", 1),
        ("repaint_p50 < 0.9", 0),
        ("repaint_p99.9 > 1ms", 1),
        ("repaint_max > 100 ms", 0),
        ("late_share > 1%", 1),
        ("late_share > 10 %", 0),
        ("late_share > 1.5", 1),
        ("commit_to_shown_p50 > 1.2", 0),
    ],
)
def test_exit_status(
    pair: list[str], condition: str, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *pair, "--fail-if", condition]) == status
    assert ("failed" in capsys.readouterr().err) == bool(status)


def test_only_significant_differences(tmp_path: Path) -> None:
    """A difference that chance explains does not fail; one that it does not, does."""
    before = write_log(tmp_path / "a", 1)
    same = write_log(tmp_path / "b", 2)
    slower = write_log(tmp_path / "c", 3, scale=1.2)
    for statistic in ("p50", "p99", "mean"):
        condition = f"repaint_{statistic} > 1.0"
        options = ["--significant", "--fail-if", condition]
        assert main(["compare", before, same, *options]) == 0
        assert main(["compare", before, slower, *options]) == 1


def test_a_log_with_itself(pair: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", pair[0], pair[0], "--fail-if", "repaint_p50 > 1"]) == 0
    assert "more" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "condition",
    [
        "repaint > 1",
        "repaint_p98 > 1",
        "paint_p99 > 1",
        "repaint_p99 = 1",
        "",
        "repaint_p99 > fast",
    ],
)
def test_wrong_conditions(
    pair: list[str], condition: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ConditionError):
        parse(condition)
    assert main(["compare", *pair, "--fail-if", condition]) == 2


def test_a_condition_that_cannot_be_judged_is_no_success(
    pair: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *pair, "--fail-if", "gpu_p50 > 1"]) == 2
    assert "no output of both logs" in capsys.readouterr().err


def test_outputs_are_matched_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = write_log(tmp_path / "a", 1)
    other = write_log(tmp_path / "b", 1, name="HDMI-A-1")
    assert main(["compare", one, other]) == 0
    assert "DP-1 → HDMI-A-1" in capsys.readouterr().out
    both = tmp_path / "c"
    both.write_text((tmp_path / "a").read_text() + (tmp_path / "b").read_text())
    assert main(["compare", str(both), other]) == 0
    assert "only before: DP-1" in capsys.readouterr().out


def test_logs_without_a_common_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = (write_log(tmp_path / name, 1, frames=20, name=name) for name in ("a", "b"))
    both = tmp_path / "both"
    both.write_text((tmp_path / "a").read_text() + (tmp_path / "b").read_text())
    third = write_log(tmp_path / "c", 1, frames=20, name="c")
    no_frames = tmp_path / "none"
    no_frames.write_text(logs.output(1))
    for log, names in ((third, "c"), (str(no_frames), "none")):
        for form in ("text", "json"):
            assert main(["compare", str(both), log, "--format", form]) == 2
            printed = capsys.readouterr()
            assert not printed.out
            assert "no output in common" in printed.err
            assert f"{both} has repaints of a, b; {log} has repaints of {names}" in printed.err


@pytest.mark.at_length
def test_the_interval_holds_the_truth_as_often_as_promised() -> None:
    """Of two sets with the same distribution the true ratio is 1."""
    rng = np.random.default_rng(1)
    inside = 0
    for _ in range(100):
        drawn = [resample(rng.gamma(20, 1e5, 500).astype(np.int64), P50, rng) for _ in range(2)]
        low, high = ratio_interval(drawn[0][:, 1], drawn[1][:, 1], 0.95)
        inside += low <= 1 <= high
    assert 88 <= inside


def test_independent_samples_give_what_the_plain_bootstrap_gives() -> None:
    rng = np.random.default_rng(2)
    values = rng.gamma(20, 1e5, 2000).astype(np.int64)
    medians = resample(values, P50, rng)[:, 1]
    plain = [np.median(rng.choice(values, len(values))) for _ in range(1000)]
    assert 0.7 < np.std(medians) / np.std(plain) < 1.4


def test_frames_that_are_like_their_neighbours_promise_less() -> None:
    rng = np.random.default_rng(3)
    alike = np.repeat(rng.gamma(20, 1e5, 100), 20).astype(np.int64)
    mixed = rng.permutation(alike)
    wide, narrow = (np.std(resample(values, P50, rng)[:, 1]) for values in (alike, mixed))
    assert wide > 2 * narrow


def test_too_few_samples_give_no_interval() -> None:
    assert resample(np.arange(9), P50, np.random.default_rng(1)) is None
