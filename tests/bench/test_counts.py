# SPDX-License-Identifier: MIT
"""No frame, picture or point takes more instructions, system calls or copied bytes than it did.

What is written down in bench/counts.json holds for one compiler. Noise does not move a count, so
that this needs no quiet machine, and finds a slowdown of a tenth, which no test of times could.
"""

from pathlib import Path

import pytest
from benches import WRITTEN, bench, results, written_counts
from gid_evaluate.outcome import WANTING
from gid_vm.preload import Preload
from lib.program import BUILD

from bench import counts

SLOWER = BUILD / "tests" / "bench" / "libslower.so"
pytestmark = pytest.mark.timeout(900)


@pytest.fixture
def written() -> dict[str, float]:
    return written_counts()


# Of many streams, many consumers and bursts: what stands in their loops is of a frame as well.
OF_MANY = {"frames"}


@pytest.mark.parametrize("of_many", [False, pytest.param(True, marks=pytest.mark.at_length)])
def test_nothing_takes_more_than_it_did(written: dict[str, float], of_many: bool) -> None:
    """But for what goes by time, which test_counts_live.py has."""
    parts = [part for part in counts.PARTS if part != "live" and (part in OF_MANY) == of_many]
    run = bench("counts", "--only", *parts, "--against", WRITTEN)
    print(run.stdout)
    assert run.returncode == 0, run.stderr


def test_a_tenth_more_is_told(written: dict[str, float]) -> None:
    """Of each count; and a tenth less, which is to be written down. At 60 a second: one call."""
    for name, count in written.items():
        more, less, same = ({name: count * share} for share in (1.1, 0.9, 1.02))
        assert counts.compare(written, same) == []
        if counts.TIMELY in name:
            more = {name: count + 1}
            assert counts.compare(written, less) == []
        elif count == 0:
            more = {name: 2 * counts.PAGE if "bytes" in name else 0.05}
        else:
            assert "is better" in counts.compare(written, less)[0]
        (said,) = counts.compare(written, more)
        assert said.startswith(f"{name} is worse")


def test_a_slower_library_is_found(
    written: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tenth more instructions for a frame, and a system call for each 20 frames: each is told.
    The call takes a few instructions, too, which are of the tenth."""
    name = "public calls: a frame"
    amount = round(written[f"{name}: instructions"] * 0.09)
    preload = Preload(SLOWER)
    slower = {"GIDWAY_SLOWER": f"instructions {amount} calls 20"}
    for key, value in (preload.env | slower).items():
        monkeypatch.setenv(key, value)
    run = bench("counts", "--only", "frame", "--against", WRITTEN)
    print(run.stdout)
    assert run.returncode == 1
    for what in ("instructions", "system calls"):
        assert f"{name}: {what} is worse" in run.stdout


def test_another_compiler_is_told(written: dict[str, float], tmp_path: Path) -> None:
    """Its counts are no others' business."""
    (tmp_path / "counts.json").write_text("{}")
    run = bench("counts", "--only", "ring", "--against", tmp_path / "counts.json")
    assert run.returncode == WANTING and counts.place(BUILD) in run.stderr


def test_form(tmp_path: Path) -> None:
    found = results("counts", tmp_path, "--only", "ring")
    (row,) = found["rows"]
    assert row["unit"] == "instructions" and 10 < row["count"] < 10_000
