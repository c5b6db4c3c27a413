# SPDX-License-Identifier: MIT
"""Of the benchmarks of a cockpit what holds on any machine: who was looked at, and counts."""

import contextlib
import subprocess
from pathlib import Path

import numpy
import pytest
from benches import bench, module, results

from lab.domains.here import Here
from lab.domains.program import LabError
from lab.film import clip, film
from lab.isolation.domains import CYCLE_MS, Cluster

pytestmark = pytest.mark.timeout(600)
ENDS = ("p99", "max")
NAMES = ["bandwidth", "drawing", "load", "shown", "start", "together"]


@pytest.mark.at_length
def test_load_has_every_program_in_every_state(tmp_path: Path) -> None:
    result = results("load", tmp_path, "--seconds=1", "--film")
    cpu = {(row["state"], row["domain"], row["who"]) for row in of(result, "cpu")}
    idle = {(domain, who) for state, domain, who in cpu if state == "idle"}
    daemons = {("open", "gidd"), ("open", "weston"), ("cluster", "gidd"), ("cluster", "display")}
    assert daemons < idle
    running = {(domain, who) for state, domain, who in cpu if state == "running"}
    own = {("open", name) for name in ("telltale", "film", "view")}
    assert running - idle == own | {("cluster", "meter")}
    memory = {row["who"]: row["pss_kib"] for row in of(result, "memory")}
    assert memory["weston"] > memory["gidd"] > 100
    slabs = {row["domain"]: row for row in of(result, "slabs")}
    assert slabs["open"]["slabs"] >= 2 and slabs["open"]["kib"] > 640 * 360 * 4 // 1024
    each = of(result, "slab")
    sizes = {row["size"] for row in each if row["who"] == "python3"}
    assert "640x360" in sizes  # and what the film's frames have with them is beside it
    assert sum(row["importers"] for row in each if row["who"] == "gid-telltale") >= 1
    assert abs(sum(row["kib"] for row in each) - slabs["open"]["kib"]) <= len(each)
    assert len(of(result, "latency")) == 1


def of(result: dict, what: str) -> list[dict]:
    return [row for row in result["rows"] if row["what"] == what]


def test_the_way_to_light_begins_with_the_commit() -> None:
    load = module("load")

    role = {f"capture_latency_{name}_ns": 2e6 for name in ("p50", "p99", "max")}
    role |= {"capture_latency_count": 9, "latency_p50_ns": 1e6}
    report = {"commit_p50_us": 100, "commit_p99_us": 3000, "commit_max_us": 4000, "commits": 8}
    row = load.way_to_light(role, report)
    assert (row["p50_ms"], row["p99_ms"], row["max_ms"], row["n"]) == (2.1, 5, 6, 8)


@pytest.mark.parametrize(
    ("commit", "shown", "p99"),
    [((3.0, 4.0), (20.0, 40.0), 24.0), ((3.0, 30.0), (20.0, 22.0), 25.0)],
)
def test_no_more_than_one_of_100_changes_takes_longer(
    commit: tuple[float, float], shown: tuple[float, float], p99: float
) -> None:
    """Both 99 % together are exceeded by up to two of 100: each may be of another change."""
    role = {f"capture_latency_{name}_ns": of * 1e6 for name, of in zip(ENDS, shown, strict=True)}
    report = {f"commit_{name}_us": of * 1e3 for name, of in zip(ENDS, commit, strict=True)}
    role |= {"capture_latency_p50_ns": 1e6, "capture_latency_count": 200}
    report |= {"commit_p50_us": 1e3, "commits": 200}
    row = module("load").way_to_light(role, report)
    assert (row["p99_ms"], row["max_ms"]) == (p99, commit[1] + shown[1])


def test_a_light_changes_at_all_phases_of_a_refresh() -> None:
    """With 100 ms, which are six refreshes, all changes had the same phase, a good one."""
    changes = [number * CYCLE_MS / (1000 / Cluster.refresh) % 1 for number in range(100)]
    phases = sorted(changes)
    ends = zip(phases, [*phases[1:], phases[0] + 1], strict=True)
    assert max(after - before for before, after in ends) < 0.05


@pytest.mark.at_length
def test_the_film_is_decoded_with_its_sound(tmp_path: Path) -> None:
    """What stands for it elsewhere is a test picture, which costs next to nothing."""
    made = clip.with_sound(clip.find(None), 4, tmp_path, 30)
    frames = clip.count(made)
    assert frames > 60
    sound, picture = tmp_path / "sound", tmp_path / "picture"
    both = film.decode_both(made).replace("fakesink sync=true", f"filesink location={sound}")
    pipeline = f"{both} ! video/x-raw,format=I420 ! filesink location={picture}"
    run = subprocess.run(["gst-launch-1.0", "-q", *pipeline.split()], timeout=500)
    assert run.returncode == 0
    assert picture.stat().st_size == frames * 320 * 180 * 3 // 2
    samples = sound.read_bytes()
    assert len(samples) >= frames / 30 * 0.9 * 44100 * 2 * 2 and any(samples)


class Part:
    """A buffer of sound."""

    def __init__(self, samples: numpy.ndarray) -> None:
        self._bytes = (samples * 32767).astype("<i2").tobytes()

    def get_size(self) -> int:
        return len(self._bytes)

    def extract_dup(self, begin: int, size: int) -> bytes:
        return self._bytes[begin : begin + size]


@pytest.mark.parametrize("late", [0.0, 0.03])
def test_a_burst_is_heard_when_it_is_played_and_not_when_it_is_mixed(late: float) -> None:
    """The server has all of a mix recorded when its first sample is to be heard. Some come late."""
    together = module("together")
    second = together.SAMPLES
    at = numpy.arange(3 * second)
    loud = (at >= second) & (at % second < together.MARK * second)
    wave = numpy.sin(2 * numpy.pi * together.TONE * at / second)
    samples = numpy.where(loud, together.LOUD, together.QUIET) * wave
    sound, mix = together.Sound(), second * together.MIXED_US // 1_000_000
    for number, begin in enumerate(range(0, len(samples), mix)):
        due = 100 + begin / second + late * (number % 3 == 0)
        for half in (begin, begin + mix // 2):  # what is recorded at a time is less
            sound.take(Part(samples[half : half + mix // 2]), due)
    bursts, gaps = sound.bursts_and_gaps()
    assert bursts == pytest.approx([101, 102], abs=1e-4) and gaps == 0


PLAYER = """\
import json, pathlib, sys
stats = sys.argv[1].removeprefix("--stats=")
pathlib.Path(stats).write_text(json.dumps({"movie": {"rendered": 5}}))
sys.exit(%d)
"""


def test_a_film_that_breaks_off_was_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though all that was sent of it was."""
    shown, player = module("shown"), tmp_path / "play.py"
    told = {"frames": 5, "received": 5, "drops": {"superseded": 0, "discarded": 0}}
    told |= {"latency_us": {"p50": 9.0}}
    monkeypatch.setattr(film, "PLAY", player)
    monkeypatch.setattr(shown, "display", lambda *_: contextlib.nullcontext(lambda: told))
    places = {name: Here(name, tmp_path / "cockpit.conf") for name in ("open", "cluster")}
    player.write_text(PLAYER % 0)
    assert shown.shown(places, "gid-cluster", "none")["shown_of_sent"] == 1
    player.write_text(PLAYER % 1)
    with pytest.raises(LabError, match="the film broke off"):
        shown.shown(places, "gid-cluster", "none")


@pytest.mark.parametrize("name", NAMES)
def test_wrong_options_are_refused(name: str) -> None:
    assert bench(name, "--no-such").returncode == 2
