# SPDX-License-Identifier: MIT
"""The guest beside native: ratios, their goals with KVM and without, and what is wanting."""

import os
import subprocess
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from evaluations import alone, evaluation, figure
from gid_evaluate import output, sources
from gid_evaluate.chapters import all_plans
from gid_evaluate.outcome import WANTING, Broke, NotRun
from gid_evaluate.plan import Cockpit, Context
from gid_evaluate.result import MEASURED, MET, MISSED, NOT_RUN, Chapter
from gid_evaluate.run import run_one
from gid_evaluate.systems import Booted, Native, System
from gid_vm.initramfs import CannotBoot
from lib.program import BUILD

from lab.evaluate.chapters import all_plans as every_plan

PROBE = BUILD / "tools/gid-evaluate/probe/gid-probe"


class Told(System):
    """A system whose probes say what a test says."""

    def __init__(self, name: str, figures: dict[str, float]) -> None:
        self.name, self.figures, self.asked = name, figures, 0

    def run(self, words: list[str], seconds: float) -> str:
        raise AssertionError(words)

    def probe(self, words: list[str], seconds: float = 300.0) -> list[dict[str, Any]]:
        self.asked += 1
        return [
            {"name": name, "unit": "ns", "n": 7, "value": value, "spread": (value, value)}
            for name, value in self.figures.items()
        ]


def context(native: dict[str, float], guest: dict[str, float] | None, how: str) -> Context:
    made = alone()
    made.native, made.how = Told("native", native), how
    made.guest = Told("guest", guest) if guest is not None else None
    return made


def chapter(name: str, of: Context) -> Chapter:
    (plan,) = (plan for plan in all_plans() if plan.id == name)
    return run_one(plan, of)


@pytest.mark.parametrize(
    ("name", "figure", "guest", "verdict"),
    [
        ("5.1.4", "system calls, five", 101.0, MET),
        ("5.1.4", "system calls, five", 110.0, MISSED),
        ("5.1.6", "arithmetic with doubles", 99.5, MET),
        ("5.1.6", "arithmetic with doubles", 90.0, MISSED),
        ("5.10", "a file, opened and read", 90.0, MET),
        ("5.10", "a file, opened and read", 80.0, MISSED),
        ("5.11.4", "random writes 65536 KiB", 104.0, MET),
        ("5.11.4", "random writes 65536 KiB", 110.0, MISSED),
    ],
)
def test_a_ratio_is_judged_where_nothing_is_translated(
    name: str, figure: str, guest: float, verdict: str
) -> None:
    found = chapter(name, context({figure: 100.0}, {figure: guest}, "kvm"))
    assert (found.verdict, [one.value for one in found.figures][-1]) == (verdict, guest / 100)
    translated = chapter(name, context({figure: 100.0}, {figure: guest}, "tcg"))
    assert (translated.verdict, translated.goal) == (MEASURED, "")
    assert translated.figures[-1].value == guest / 100


def test_user_mode_linux_is_a_third_column_without_a_goal() -> None:
    name = "a file, opened and read"
    of = context({name: 100.0}, {name: 90.0}, "kvm")
    of.more = (Told("uml", {name: 50.0}),)
    found = chapter("5.10", of)
    assert found.verdict == MET  # the goal is the guest's
    assert [one.value for one in found.figures if one.system == "uml"] == [50.0]
    ratios = {one.name: one.value for one in found.figures if one.system == "both"}
    assert ratios == {
        f"{name}: guest, ratio to native": 0.9,
        f"{name}: uml, ratio to native": 0.5,
    }
    ((table, (row,)),) = sources.beside(found)
    assert table.ours == ("native", "guest", "uml")
    assert [one.value for one in row.ours] == [100.0, 90.0, 50.0]
    assert "User-mode Linux" in output.render(evaluation(found))


def test_what_is_wanting_in_user_mode_linux_is_a_note() -> None:
    def boot() -> None:
        raise CannotBoot("no bison")

    of = context({"system calls, five": 1.0}, {"system calls, five": 1.0}, "tcg")
    of.more = (Booted(boot, "uml"),)
    found = chapter("5.14", of)
    assert found.verdict == MEASURED and "Not in uml: uml: no bison." in found.notes


@pytest.mark.parametrize("name", ["5.1.4", "5.1.6", "5.2.4", "5.6.3", "5.10", "5.11.4", "5.11.8"])
def test_without_a_guest_nothing_is_beside(name: str) -> None:
    found = chapter(name, context({}, None, "none"))
    assert found.verdict == NOT_RUN and "none was wanted" in found.reason


def test_the_conversion_of_addresses() -> None:
    """With the figures of 2017: its 83.56 ns."""
    names = ("random 65536 KiB", "page by page 16384 KiB", "in order 1024 KiB")
    guest = dict(zip(names, (259.59, 6.88, 0.0), strict=True))
    found = chapter("5.11.8", context(guest | {names[0]: 221.25}, guest, "kvm"))
    assert found.figures[-1].value == pytest.approx(83.56, abs=0.01)


def test_chapters_that_ask_alike_have_one_run() -> None:
    names = ("random 65536 KiB", "page by page 16384 KiB", "in order 1024 KiB")
    figures = dict.fromkeys((*names, "random writes 65536 KiB"), 1.0)
    of = context(figures, figures, "kvm")
    for name in ("5.11.4", "5.11.8"):
        chapter(name, of)
    assert (of.native.asked, of.guest.asked) == (1, 1)


@pytest.mark.parametrize("words", [["memory", "slab"], ["streams"], ["frames", "1", "1", "1"]])
def test_a_probe_without_gidd_names_what_is_wanting(tmp_path: Path, words: list[str]) -> None:
    """A crash is another status: that would be a chapter that is missed."""
    run = subprocess.run(
        [PROBE, *words],
        env=os.environ | {"GID_RUNTIME_DIR": str(tmp_path), "GID_DOMAIN": "open"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode == WANTING and "gidd" in run.stderr, run
    environment = {"GID_RUNTIME_DIR": str(tmp_path), "GID_DOMAIN": "open"}
    path = f"{PROBE.parent}:{os.environ['PATH']}"
    with pytest.raises(NotRun, match="native: gid-probe: .*gidd"):
        Native(environment=environment | {"PATH": path}).probe(words)


def test_in_a_cockpit_that_runs_it_broke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """gidd was there: what is wanting then has ended."""
    monkeypatch.setenv("PATH", f"{PROBE.parent}:{os.environ['PATH']}")
    with pytest.raises(Broke, match="gidd"):
        Cockpit(tmp_path).open.probe(["streams"])


COSTS = {f"streams: {count}, consumers: 1": 100.0 for count in (1, 4, 16, 64)}


@pytest.mark.parametrize(("fan", "verdict"), [(210.0, MET), (230.0, MISSED)])
def test_how_a_frames_price_grows_in_a_guest_is_compared_with_how_it_does_natively(
    fan: float, verdict: str
) -> None:
    """Whatever the translator makes of its price itself."""
    native = COSTS | {"streams: 1, consumers: 8": 200.0}
    guest = {
        name: 10 * value for name, value in (COSTS | {"streams: 1, consumers: 8": fan}).items()
    }
    of = context({}, guest, "tcg")
    of.is_full = True
    figures = [asdict(figure(name, value)) for name, value in native.items()]
    of.results.get(("gid-probe", "streams"), lambda: figures)
    (plan,) = (plan for plan in every_plan() if plan.id == "buffers.2")
    found = run_one(plan, of)
    assert found.verdict == verdict, found.reason
    assert found.figures[-1].value == pytest.approx(fan / 200)


def decoded(what: dict[str, float], **more: object) -> list[dict[str, Any]]:
    return [{"what": "decode", "who": who, "each": [rate] * 3} | more for who, rate in what.items()]


@pytest.mark.parametrize(("rate", "verdict"), [(9.2, MET), (9.0, MISSED)])
def test_what_gid_memory_costs_a_decoder_in_a_guest_is_compared_with_natively(
    rate: float, verdict: str
) -> None:
    of = alone()
    of.virtual = ((), ("--part=decode",))
    guest = decoded({"gid": rate, "fakesink": 10.0}, where="guest", piece="--part=decode")
    native = decoded({"gid": 300.0, "fakesink": 300.0}, where="native", piece="--part=decode")
    of.benchmark = lambda *words, **more: {  # type: ignore[method-assign]
        "rows": [*guest, *native]
    }
    of.for_chapter = lambda: of  # type: ignore[method-assign]
    (plan,) = (plan for plan in every_plan() if plan.id == "5.7.4.2")
    found = run_one(plan, of)
    assert found.verdict == verdict, found.reason
    assert [one.system for one in found.figures] == ["guest"] * 3 + ["native"] * 3 + ["both"]
