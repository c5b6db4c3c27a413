# SPDX-License-Identifier: MIT
"""What the exit status, the page and `compare` say of a benchmark that breaks, and of one that is a
tenth slower: the whole command, with a benchmark of the test's own."""

import functools
import html
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from evaluations import MACHINE
from gid_evaluate import cli
from gid_evaluate.result import MET, MISSED, read
from lib.program import TOP

from lab.evaluate.context import Context
from lab.evaluate.evaluate import Source

SECOND = 1 / 3600  # of the hour that the benchmark may take


Evaluate = Callable[..., tuple[int, Path]]


@pytest.fixture
def evaluate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Evaluate:
    """Runs chapter 5.18.1 with the benchmark that behaves so; its status and its folder."""
    bench = tmp_path / "bench"
    bench.mkdir()
    shutil.copy(TOP / "tests/evaluate/fake_bench.py", bench / "isolation.py")
    monkeypatch.setenv("GID_TEST_PID", str(tmp_path / "pid"))

    def run(way: str, *, patience: float = 1.0) -> tuple[int, Path]:
        monkeypatch.setenv("GID_TEST_BENCH", way)
        site, out = Source(), tmp_path / way
        site.context = functools.partial(Context, bench=bench, patience=patience)
        words = ["--chapters=5.18.1", "--guest=none", f"--out={out}"]
        return cli.main(words, site=site, describe=lambda: MACHINE | {"gstreamer": "1.26"}), out

    return run


def compare(before: Path, after: Path) -> int:
    return cli.main(["compare", str(before), str(after)], site=Source(), describe=dict)


@pytest.mark.parametrize(
    ("way", "patience", "words"),
    [
        ("ends with a message", 1.0, "ended with status 1: bench: restart: the cluster's display"),
        ("crashes", 1.0, "ended with signal 11"),
        ("hangs", 4 * SECOND, "took over"),
        ("no rows", 1.0, "it has no figures"),
        ("nothing", 1.0, "its answer is no result"),
    ],
)
def test_what_broke_is_told_by_status_page_and_compare(
    evaluate: Evaluate, capsys: pytest.CaptureFixture[str], way: str, patience: float, words: str
) -> None:
    status, good = evaluate("good")
    assert status == 0 and read(good).chapters[0].verdict == MET
    status, bad = evaluate(way, patience=patience)
    assert status == 1
    (chapter,) = read(bad).chapters
    assert chapter.verdict == MISSED and words in chapter.reason
    page = html.unescape((bad / "evaluation.html").read_text())
    assert words in page and "0 of 1 chapters with a goal are met, 1 missed" in page
    assert words in capsys.readouterr().out  # and so does the terminal
    assert compare(good, bad) == 1
    assert "no longer met   5.18.1" in capsys.readouterr().out
    assert compare(bad, bad) == 2  # there is nothing to compare


def test_a_tenth_slower_is_told_by_status_page_and_compare(
    evaluate: Evaluate, capsys: pytest.CaptureFixture[str]
) -> None:
    """Though in it all attacks leave the cluster the rate that it has undisturbed."""
    _, good = evaluate("good")
    status, slower = evaluate("a tenth slower")
    (chapter,) = read(slower).chapters
    assert status == 1 and chapter.verdict == MISSED
    assert chapter.reason.startswith("rate undisturbed, of the display's refreshes is 0.9, aim")
    page = html.unescape((slower / "evaluation.html").read_text())
    assert "restart, frames a second" in page and ">54<" in page
    capsys.readouterr()
    assert compare(good, slower) == 1
    told = capsys.readouterr().out
    assert "restart, frames a second: 60 → 54 Hz (0.90 times)" in told
    assert "no longer met   5.18.1" in told
    assert compare(slower, good) == 0
