# SPDX-License-Identifier: MIT
"""The self-test of guests: steps that fail, hang or are not possible, and what its report has.

That its own steps work is tested by itself: with guests, as a user has it.
"""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from gid_vm import accel
from gid_vm.guest import why_not
from lib.pipeline import gst_env, make_registry
from lib.program import BUILD, TOP

from lab.domains.program import LabError, Wanting
from lab.domains.progress import Progress
from lab.self_test import paths, report
from lab.self_test.report import Scrubber
from lab.self_test.trial import FAILED, IMPOSSIBLE, LEFT_OUT, OK, Outcome, Step, try_all

FOLDERS = ("gidd", "clients", "cluster", "tools/gidctl", "tools/gid-cockpit", "bench/doorbell")


def good() -> dict[str, object]:
    return {"frames": 3}


def bad() -> dict[str, object]:
    raise LabError("of 120 frames came 7\nand more of it")


def odd() -> dict[str, object]:
    raise KeyError("links")


def nowhere() -> dict[str, object]:
    raise Wanting("there is no /dev/kvm")


def hang() -> dict[str, object]:
    threading.Event().wait()
    return {}


def tried(*steps: Step, tidied: str = "") -> list[Outcome]:
    return list(try_all(steps, Progress(), lambda: tidied))


def test_a_step_that_fails_costs_those_alone_that_need_it(capsys: pytest.CaptureFixture) -> None:
    outcomes = tried(
        Step("one", "first", bad, 5),
        Step("two", "second", good, 5, ("one",)),
        Step("three", "third", odd, 5),
        Step("four", "fourth", nowhere, 5),
        Step("five", "fifth", good, 5),
        Step("six", "sixth", good, 5, ("five", "four")),
        tidied="gidd said this",
    )
    results = [FAILED, LEFT_OUT, FAILED, IMPOSSIBLE, OK, LEFT_OUT]
    assert [outcome.result for outcome in outcomes] == results
    assert [outcome.why for outcome in outcomes] == [
        "of 120 frames came 7\nand more of it",
        "it needs one",
        "KeyError: 'links'",
        "there is no /dev/kvm",
        "",
        "it needs four",
    ]
    assert [outcome.logs for outcome in outcomes] == ["gidd said this", "", "gidd said this"] + [
        ""
    ] * 3
    said = capsys.readouterr().err
    assert "✗ first (0.0 s): of 120 frames came 7\n" in said and "and more of it" not in said
    assert "- fourth: not possible: there is no /dev/kvm\n" in said
    assert "✓ fifth (0.0 s): frames 3\n" in said
    assert "\x1b" not in said  # no terminal


@pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
def test_guests_are_waited_for_as_long_as_their_step_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A busy machine takes minutes to boot two that it translates."""
    monkeypatch.setenv("PATH", f"{BUILD / 'gidd'}:{os.environ['PATH']}")
    them = paths.Paths(tmp_path, "tcg")
    booting = [step for step in paths.steps(them, False) if step.run in (them.boot, them.kill)]
    assert [step.name for step in booting] == ["boot", "killed"]
    for name in paths.GUESTS:
        assert them.cockpit.place(name).patience >= max(step.seconds for step in booting)


def test_a_step_that_hangs_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """And so does what is done about it."""
    monkeypatch.setattr("lab.self_test.trial.AGAIN_SECONDS", 0.3)
    begin = time.monotonic()
    steps = [Step("one", "first", hang, 0.5), Step("two", "second", good, 5)]
    outcomes = list(try_all(steps, Progress(), lambda: str(hang())))
    assert time.monotonic() - begin < 30
    assert [outcome.result for outcome in outcomes] == [FAILED, OK]
    assert outcomes[0].why == "it was not over after 0 s"
    assert outcomes[0].logs == "programs could not be ended in time"


def swallow() -> dict[str, object]:
    """As who waits for a socket may."""
    while True:
        try:
            hang()
        except Exception:
            pass


def test_who_forgives_errors_does_not_forgive_that_time_is_over() -> None:
    assert [one.result for one in tried(Step("one", "first", swallow, 0.5))] == [FAILED]


def test_what_names_the_user_is_taken_out() -> None:
    folders = [Path("/home/anna/my clone"), Path("/home/anna")]
    clean = Scrubber(["anna", "annas-box"], folders).clean
    for text, left in {
        "anna@annas-box: no": "…@…: no",
        "Hannah and annas": "Hannah and annas",
        "/home/anna/my clone/build/gidd: no": "…/gidd: no",
        "it is in /home/anna/Films/x.mp4": "it is in …/x.mp4",
        "open('/media/anna/disk/x.mp4')": "open('…/x.mp4')",
        "/dev/shm/gid-self-x/hub/open.sock": "/dev/shm/gid-self-x/hub/open.sock",
        "mem-path=/run/user/1000/a/b,size=1": "mem-path=…/b,size=1",
        "…/anna": "…/…",
        "6.12.1-anna": "6.12.1-…",
    }.items():
        assert clean(text) == left
    assert clean({"anna": ["anna", 3, None, True]}) == {"…": ["…", 3, None, True]}
    assert Scrubber(["dev"], []).clean("dev: /dev/kvm") == "…: /dev/kvm"


def test_the_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "names", lambda: {"anna"})
    outcomes = [
        Outcome("one", "first", OK, 1.5, found={"p50": "0.3 ms"}),
        Outcome("two", "second", FAILED, 2.5, "why anna", logs="said by anna"),
        Outcome("three", "third", IMPOSSIBLE, why="no"),
    ]
    path = tmp_path / "report.json"
    report.write(path, "kvm", {"kernel": "6.12"}, outcomes)
    found = json.loads(path.read_text())
    assert found["what"] == "gidway, ./run vm --self-test"
    assert (found["good"], found["guests run by"]) == (False, "kvm")
    assert [step["result"] for step in found["steps"]] == [OK, FAILED, IMPOSSIBLE]
    assert (found["steps"][1]["why"], found["steps"][1]["logs"]) == ("why …", "said by …")
    report.write(path, "tcg", {}, [outcomes[0], outcomes[2]])
    assert json.loads(path.read_text())["good"] is True
    report.write(path, "tcg", {}, outcomes[:1], is_whole=False)  # as after Ctrl-C
    assert json.loads(path.read_text())["good"] is False


def test_kvm_is_tried_again_where_it_did_not_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is known of this boot of the host does not make a broken one "not possible"."""
    monkeypatch.setattr(accel, "DEVICE", Path("/dev/null"))
    monkeypatch.setattr(accel, "MODULES", Path("/none"))
    monkeypatch.setattr(paths, "boots_with_kvm", lambda: "no MSR")
    assert [one.result for one in tried(Step("kvm", "KVM", paths.try_kvm, 5))] == [FAILED]
    monkeypatch.setattr(accel, "DEVICE", Path("/none"))
    assert [one.result for one in tried(Step("kvm", "KVM", paths.try_kvm, 5))] == [IMPOSSIBLE]


def test_all_places_are_tidied() -> None:
    """Where one is a guest that has gone, others have programs, too."""

    class Gone:
        def stop_others(self) -> None:
            raise LabError("the guest does not answer")

    class Here:
        tidied = False

        def stop_others(self) -> None:
            self.tidied = True

    class Logs:
        def logs(self) -> str:
            return "gidd said this"

    here = Here()
    them = paths.Paths.__new__(paths.Paths)
    them.cockpit, them.places = Logs(), {"open": Gone(), "host": here}
    assert "gidd said this" in (said := them.tidy()) and "does not answer" in said
    assert here.tidied


def run(*words: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    folders = [str(BUILD / name) for name in FOLDERS]
    environment = os.environ | {
        "PATH": ":".join([*folders, os.environ["PATH"]]),
        "PYTHONPATH": ":".join(sys.path),
    }
    command = [sys.executable, "-P", TOP / "vm" / "vm.py", *words]
    environment = gst_env(environment, make_registry())
    return subprocess.run(command, capture_output=True, text=True, env=environment, **options)


def test_what_goes_with_it(tmp_path: Path) -> None:
    """Nothing is begun with wrong words."""
    for words, why in (
        (["--self-test", "open"], "goes with"),
        (["--self-test", "--arch", "arm64"], "goes with"),
        (["--self-test", "--accel", "uml"], "goes with"),
        (["--self-test", "--report", str(tmp_path / "none" / "x")], "there is no folder"),
        (["--report", "x", "open"], "--report is of --self-test"),
        ([], "NAME is missing"),
    ):
        result = run(*words)
        assert result.returncode == 2 and why in result.stderr, words


@pytest.mark.at_length
@pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
@pytest.mark.timeout(1700)
def test_all_of_it(tmp_path: Path) -> None:
    """As a user has it: each step is good, or not possible without KVM. Nothing stays behind."""
    path = tmp_path / "report.json"
    result = run("--self-test", "--report", path, cwd=tmp_path, timeout=1600)
    found = json.loads(path.read_text())
    results = {step["step"]: (step["result"], step["why"], step["logs"]) for step in found["steps"]}
    assert result.returncode == 0, f"{results}\n{result.stderr}"
    assert {name for name, (how, _, _) in results.items() if how == OK} >= {
        *("boot", "serial", "ivshmem", "guests", "readonly", "vfio", "direct", "relay", "link"),
        *("msix", "screen", "killed"),
    }
    assert all(how in (OK, IMPOSSIBLE, LEFT_OUT) for how, _, _ in results.values()), results
    assert str(Path.home()) not in path.read_text()
