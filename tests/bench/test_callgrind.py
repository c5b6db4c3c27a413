# SPDX-License-Identifier: MIT
"""bench/callgrind.py counts when it says so, also of a program that does not hear at first."""

import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench import callgrind
from lab.domains.program import LabError

pytestmark = pytest.mark.skipif(shutil.which("vgdb") is None, reason="there is no valgrind")

BUSY = ["sh", "-c", "while :; do :; done"]
ENOUGH = 1_000_000  # instructions, which it takes in less than a second


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callgrind, "ANSWER_SECONDS", 3)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "callgrind.out"


@pytest.fixture
def pid(out: Path) -> Iterator[int]:
    with subprocess.Popen([*callgrind.command(out, counts=False), *BUSY]) as process:
        try:
            yield process.pid
        finally:
            process.kill()


def in_place_of_vgdb(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    program = folder / "bin" / "vgdb"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho x >>'{folder}/calls'\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")


def count(pid: int, out: Path) -> int:
    callgrind.start(pid)
    spent = cpu_ticks(pid)
    while cpu_ticks(pid) < spent + 50:
        time.sleep(0.05)
    return sum(callgrind.read_costs(callgrind.counted(pid, out)).values())


def cpu_ticks(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11])


def test_it_counts(pid: int, out: Path) -> None:
    assert count(pid, out) > ENOUGH


def test_who_does_not_hear_is_told_again(
    pid: int, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a busy machine, where two of three words are lost."""
    heard = f"[ $(($(wc -l <'{tmp_path}/calls') % 3)) = 0 ] || exit 1"
    in_place_of_vgdb(tmp_path, monkeypatch, f'{heard}\nexec {shutil.which("vgdb")} "$@"')
    monkeypatch.setattr(callgrind, "PAUSE", 0.01)
    assert count(pid, out) > ENOUGH


@pytest.mark.parametrize("answer", ["exit 1", "echo OK", "echo instrumentation: off"])
def test_who_never_counts_is_told_of(
    pid: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    in_place_of_vgdb(tmp_path, monkeypatch, answer)
    monkeypatch.setattr(callgrind, "PAUSE", 0.01)
    with pytest.raises(LabError, match=f"callgrind counts process {pid}"):
        callgrind.start(pid, patience=0.5)


def test_who_has_ended_is_told_of(out: Path) -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    with pytest.raises(LabError, match="has ended"):
        callgrind.start(process.pid)
