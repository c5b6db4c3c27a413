# SPDX-License-Identifier: MIT
"""Readers: each way brings its pictures, the ratios are those of the rows, and faults are seen."""

import argparse
import contextlib
import ctypes
import fcntl
import mmap
import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from benches import module, results

from bench import common
from bench import readers_ways as ways
from bench.readers_crew import Crew, Process
from bench.readers_faults import MARK, mistake, write_into
from lab.domains.program import LabError

SIZE = mmap.PAGESIZE
F_SEAL_FUTURE_WRITE = 0x10


@pytest.mark.parametrize(
    "name",
    ("none/figures.json", "/proc/figures.json", "/proc/version", "file/figures.json", "folder"),
)
def test_figures_that_cannot_be_written_are_not_measured(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    Path("folder").mkdir()
    with pytest.raises(SystemExit):
        common.parser("readers", "").parse_args(["--json", name])
    assert f"{name} cannot be written: " in capsys.readouterr().err


@pytest.mark.at_length
def test_each_way_is_measured(tmp_path: Path) -> None:
    few = ("--only=cost", "--size", "1080p", "--frames=99999", "--seconds=1", "--readers", "1", "2")
    result = results("readers", tmp_path, *few)
    rows = {(row["way"], row["readers"]): row for row in result["rows"] if row["part"] == "cost"}
    absent = {row["way"]: row["why"] for row in result["rows"] if row["part"] == "missing"}
    there = set(ways.WAYS) - set(absent)
    assert {"gid", "gid in C", "gidsrc", "shared_memory", "unixfd"} <= there
    assert set(absent) == set(ways.NEVER) | (set(ways.WAYS) - there) and all(absent.values())
    failed = {(row["way"], row["readers"]) for row in result["rows"] if row["part"] == "failed"}
    assert set(rows) | failed == {(way, count) for way in there for count in (1, 2)}
    assert not {way for way, _ in failed} & {*ways.OURS, "shared_memory", "unixfd"}
    for row in rows.values():
        assert 1 <= row["frames"] < 999 and row["cpu_us"] > 1 and row["producer_cpu_us"] > 1
        assert 1 < row["latency_us"] <= row["latency_p99_us"] and row["missed"] >= 0
    peers = there - set(ways.OURS)
    best = min(row["cpu_us"] for (way, count), row in rows.items() if way in peers and count == 2)
    ratios = result["ratios"]
    of_two = ratios["python_cpu_vs_best_peer_2"]
    assert of_two == pytest.approx(rows["gid", 2]["cpu_us"] / best)
    assert ratios["python_cpu_vs_best_peer"] == max(of_two, ratios["python_cpu_vs_best_peer_1"])


def test_who_ends_while_it_is_waited_for_has_ended() -> None:
    """Right after it was asked, which broke a measurement off."""
    process = Process.__new__(Process)
    answers = iter((None, 0, 0, 0))
    process.popen = SimpleNamespace(poll=lambda: next(answers), returncode=0)
    crew = Crew("gid", ways.Place("", 8, 4, 60, 1, 0))
    crew._running.append(process)
    crew.wait("it has ended", [process], Process.has_ended)


def faults_of(folder: Path, *names: str) -> dict[str, dict]:
    result = results("readers", folder, "--only=faults", "--way", *names)
    rows = {row["way"]: row for row in result["rows"] if row["part"] == "faults"}
    assert all(row["others_saw"] > 0 for row in rows.values())
    return rows


def test_what_readers_do_to_each_other(tmp_path: Path) -> None:
    """The witness is good: where a reader can write into pictures, it sees that."""
    rows = faults_of(tmp_path, "gid", "shared_memory")
    gid, shared = rows["gid"], rows["shared_memory"]
    assert (gid["written_by"], gid["others_wrong"]) == ("refused", 0)
    assert shared["written_by"] == "pointer" and shared["others_wrong"] > 0
    assert (gid["mistake"], shared["mistake"]) == ("refused", "written")
    assert gid["producer_killed"] == "goes on" and gid["producer_again_s"] > 0
    assert 0 < gid["producer_back_s"] < 15
    assert gid["readers_killed_missed"] >= 0 and gid["daemons_killed_missed"] >= 0
    assert "daemons_killed_missed" not in shared


@pytest.mark.at_length
def test_what_readers_of_elements_do_to_each_other(tmp_path: Path) -> None:
    """And here, too."""
    unixfd = faults_of(tmp_path, "unixfd")["unixfd"]
    assert unixfd["written_by"] == "mprotect" and unixfd["others_wrong"] > 0


def test_ratios_are_of_the_worst() -> None:
    def row(way: str, size: str, readers: int, cpu: float) -> dict:
        return {"way": way, "size": size, "readers": readers, "cpu_us": cpu, "latency_us": 1.0}

    rows = [
        *(row("gid", size, 1, 30) for size in ("1080p", "2160p")),
        *(row("gid in C", size, 1, 1) for size in ("1080p", "2160p")),
        row("zenoh", "1080p", 1, 60),
        row("unixfd", "1080p", 1, 300),
        row("zenoh", "2160p", 1, 20),
    ]
    ratios = module("readers").ratios_of(rows)
    assert ratios["python_cpu_vs_best_peer_1080p_1"] == 0.5
    assert ratios["python_cpu_vs_best_peer_2160p_1"] == 1.5
    assert ratios["python_cpu_vs_best_peer_1"] == ratios["python_cpu_vs_best_peer"] == 1.5
    assert module("readers").ratios_of(rows[:4]) == {}  # nothing to compare with


class Broken:
    """A way that brings no pictures."""

    def __enter__(self) -> None:
        raise LabError("waited 40.0 s in vain: its readers were warm")

    def __exit__(self, *_: object) -> None:
        pass


def test_a_way_that_does_not_end_stops_no_other(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    readers = module("readers")
    figures = dict.fromkeys((*readers.FIGURES, "producer_cpu_us"), 7)
    monkeypatch.setattr(
        readers, "crew", lambda way, *_: Broken() if way == "zenoh" else contextlib.nullcontext()
    )
    monkeypatch.setattr(readers, "cost", lambda *_: figures)
    options = argparse.Namespace(size=["1080p"], readers=[1], frames=3, seconds=1)
    rows: list[dict] = []
    readers.measure_costs(["gid", "zenoh", "unixfd"], options, tmp_path, rows)
    assert [(row["way"], row["part"]) for row in rows] == [
        ("gid", "cost"),
        ("zenoh", "failed"),
        ("unixfd", "cost"),
    ]
    assert "zenoh" in (said := capsys.readouterr().out) and "did not work: waited 40.0 s" in said
    monkeypatch.setattr(readers.readers_faults, "SCENES", {"a reader writes": lambda _: {}})
    readers.measure_faults(["zenoh", "unixfd"], tmp_path, None, rows)
    assert [(row["way"], row["part"]) for row in rows[3:]] == [
        ("zenoh", "failed"),
        ("zenoh", "faults"),
        ("unixfd", "faults"),
    ]
    readers.show_faults([row for row in rows if row["part"] == "faults"])
    assert capsys.readouterr().out.count("failed") == 10


def test_what_a_producer_took() -> None:
    lines = ["1 0.9 7", "10 1.0 8", "20 1.001 9", "30 1.003 10", "40 1.2 11"]
    assert module("readers").producer_cpu(lines, 20, 30) == pytest.approx(200)
    assert module("readers").producer_cpu(lines, 12, 27) == pytest.approx(150)
    assert module("readers").producer_cpu(lines[1:3], 5, 99) == pytest.approx(100)


def test_the_start_of_a_program_is_not_the_readers() -> None:
    """Its first picture is sent 5 s after the last one's end, and seen 3 ms after that."""
    found = module("readers_faults").went_on(10**9, 6 * 10**9, 6 * 10**9 + 3_000_000)
    assert (found["producer_back_s"], found["producer_again_s"]) == (0.003, 5.0)


# --- a reader that writes ---


def view(descriptor: int) -> np.ndarray:
    return np.frombuffer(mmap.mmap(descriptor, SIZE, mmap.MAP_SHARED, mmap.PROT_READ), np.uint8)


def filled(descriptor: int) -> int:
    os.pwrite(descriptor, bytes(SIZE), 0)
    return descriptor


def test_how_it_writes(tmp_path: Path) -> None:
    whole = np.frombuffer(mmap.mmap(-1, SIZE), np.uint8)
    assert mistake(whole) == "written" and write_into(whole, 64) == "pointer"
    assert whole[64:].tobytes().startswith(MARK)
    memory = filled(os.memfd_create("open", os.MFD_ALLOW_SEALING))
    assert write_into(view(memory), 64) == "mprotect"
    assert os.pread(memory, len(MARK), 64) == MARK
    path = tmp_path / "picture"
    filled(os.open(path, os.O_RDWR | os.O_CREAT))
    assert write_into(view(os.open(path, os.O_RDONLY)), 128) == "file"
    assert path.read_bytes()[128:].startswith(MARK)


def test_what_it_cannot_write() -> None:
    copied = np.frombuffer(bytes(SIZE), np.uint8)
    assert mistake(copied) == "refused" and write_into(copied, 0) is None
    assert write_into(np.zeros(SIZE, np.uint8), 0) is None  # its own, too
    memory = filled(os.memfd_create("sealed", os.MFD_ALLOW_SEALING))
    fcntl.fcntl(memory, fcntl.F_ADD_SEALS, F_SEAL_FUTURE_WRITE)
    sealed = view(os.open(f"/proc/self/fd/{memory}", os.O_RDONLY))
    assert write_into(sealed, 0) is None
    assert os.pread(memory, len(MARK), 0) == bytes(len(MARK))
    by_address = (ctypes.c_uint8 * SIZE).from_address(sealed.ctypes.data)
    assert mistake(np.frombuffer(by_address, np.uint8)) == "crash"
