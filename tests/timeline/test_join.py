# SPDX-License-Identifier: MIT
"""Points of several domains become one line for each frame, on one clock."""

import csv
import io
import json
import random
from pathlib import Path

import logs
import pytest
from gid_timeline.cli import main
from lib.length import at_length_but
from logs import MS

POINTS = ("capture", "submit", "receive", "commit", "shown", "released", "freed")
START = 5000 * 10**9
US = 1000


def gid_line(
    time: int,
    point: str,
    sequence: int,
    gid: str,
    domain: int,
    stream: str | None = "movie",
    by: str = "test",
) -> str:
    named = f'"stream":"{stream}", "sequence":{sequence}, ' if stream else ""
    return (
        f'{{ "T":{logs.stamp(time)}, "N":"gid_{point}", {named}'
        f'"gid":"{gid}", "domain":{domain}, "by":"{by}" }}\n'
    )


class Cockpit:
    """Frames from domain 1 to domain 2, whose clock shows `offset` more (and `drift` a second)."""

    def __init__(
        self,
        offset: int = 0,
        drift: float = 0.0,
        frames: int = 200,
        seed: int = 1,
        unnamed: bool = False,
        first: int = 1,
    ) -> None:
        rng = random.Random(seed)
        lines: dict[int, list[str]] = {1: [], 2: []}
        self.truth = []
        for number in range(frames):
            sequence = first + number
            gid = f"1:42.{number % 4}#0"
            times = [START + number * 16 * MS]
            for least, spread in (
                (800, 400),
                (40, 300),
                (500, 900),
                (9000, 2000),
                (1, 2),
                (30, 90),
            ):
                times.append(times[-1] + int((least + rng.expovariate(1 / spread)) * US))
            self.truth.append(times)
            for point, time in zip(POINTS, times, strict=True):
                domain = 1 if point in ("capture", "submit", "freed") else 2
                if domain == 2:
                    time += offset + int((time - START) * drift)
                stream = None if unnamed and point in ("commit", "shown") else "movie"
                lines[domain].append(gid_line(time, point, sequence, gid, domain, stream))
        self.files = {domain: "".join(those) for domain, those in lines.items()}

    def write(self, folder: Path) -> list[str]:
        paths = []
        for domain, text in self.files.items():
            # A shared file is written to by several processes: not in the order of T.
            lines = text.splitlines(keepends=True)
            random.Random(domain).shuffle(lines)
            paths.append(folder / f"{domain}.log")
            paths[-1].write_text("".join(lines))
        return [str(path) for path in paths]


def frames_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, str]]:
    assert main(["join", *arguments, "--format", "csv"]) == 0
    return list(csv.DictReader(io.StringIO(capsys.readouterr().out)))


def times_of(row: dict[str, str]) -> list[int]:
    return [int(row[f"{point}_ns"]) for point in POINTS]


@pytest.mark.parametrize("unnamed", [False, True])
def test_one_clock(tmp_path: Path, capsys: pytest.CaptureFixture[str], unnamed: bool) -> None:
    """Also where the compositor knows only the gid, which comes again every four frames."""
    cockpit = Cockpit(unnamed=unnamed)
    rows = frames_of(capsys, *cockpit.write(tmp_path))
    assert [times_of(row) for row in rows] == cockpit.truth
    assert [row["sequence"] for row in rows] == [str(i + 1) for i in range(200)]
    assert rows[5]["gid"] == "1:42.1#0"


@pytest.mark.parametrize("offset", [-3_000_000_000_123, 7 * 10**9, 10**14])
def test_clocks_that_are_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], offset: int
) -> None:
    cockpit = Cockpit(offset=offset)
    paths = cockpit.write(tmp_path)
    assert main(["join", *paths, "--format", "json"]) == 0
    (stream,) = json.loads(capsys.readouterr().out)["streams"]
    clocks = stream["clocks"]
    assert not clocks["same"]
    assert abs(clocks["offset_ns"] - offset) <= clocks["error_ns"] < 60 * US
    for row, truth in zip(frames_of(capsys, *paths), cockpit.truth, strict=True):
        for found, true in zip(times_of(row), truth, strict=True):
            assert abs(found - true) <= clocks["error_ns"]


def named(cockpit: Cockpit, one: str, other: str) -> None:
    """The domains say which clock is theirs."""
    for domain, name, clock in ((1, "open", one), (2, "cluster", other)):
        declared = {"id": domain, "type": "gid_domain", "name": name, "clock": clock}
        cockpit.files[domain] += json.dumps(declared) + "\n"


def clocks_of(capsys: pytest.CaptureFixture[str], paths: list[str]) -> tuple[dict, dict]:
    assert main(["join", *paths, "--format", "json"]) == 0
    (stream,) = json.loads(capsys.readouterr().out)["streams"]
    return stream["clocks"], stream["stages"]


def test_one_clock_that_is_told_is_no_guess(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where a frame was taken back by force, and given back later: that looks like drift."""
    cockpit = Cockpit()
    freed = next(line for line in cockpit.files[1].splitlines(True) if "gid_freed" in line)
    cockpit.files[1] = cockpit.files[1].replace(freed, later(freed, -100 * MS))
    clocks, stages = clocks_of(capsys, cockpit.write(tmp_path))
    assert not clocks["same"]
    named(cockpit, "8f1c/4026531834", "8f1c/4026531834")
    clocks, stages = clocks_of(capsys, cockpit.write(tmp_path))
    assert clocks == {"same": True, "offset_ns": 0, "error_ns": 0}
    spans = [times[4] - times[1] for times in cockpit.truth]
    assert stages["submit_to_shown"]["min_ns"] == min(spans)
    assert main(["join", *cockpit.write(tmp_path)]) == 0
    assert "one clock, as both domains run on one kernel" in capsys.readouterr().out


@pytest.mark.parametrize("returns", [True, False])
def test_two_clocks_that_are_told_are_not_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], returns: bool
) -> None:
    """However little they are apart: as of machines that started in the same second."""
    cockpit = Cockpit(offset=20 * US)
    if not returns:
        lines = cockpit.files[1].splitlines(True)
        cockpit.files[1] = "".join(line for line in lines if "gid_freed" not in line)
    assert clocks_of(capsys, cockpit.write(tmp_path))[0]["same"]
    named(cockpit, "8f1c/4026531834", "8f1c/4026532100")
    clocks, _ = clocks_of(capsys, cockpit.write(tmp_path))
    assert not clocks["same"]
    assert clocks["error_ns"] is None or abs(clocks["offset_ns"] - 20 * US) <= clocks["error_ns"]


def test_a_domain_that_starts_again_elsewhere_has_no_one_clock(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cockpit = Cockpit(offset=-3 * 10**12)
    named(cockpit, "8f1c/1", "8f1c/1")
    named(cockpit, "8f1c/1", "77aa/1")
    clocks, _ = clocks_of(capsys, cockpit.write(tmp_path))
    assert abs(clocks["offset_ns"] + 3 * 10**12) <= clocks["error_ns"]


def test_clocks_that_drift_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cockpit = Cockpit(offset=40 * 10**9, drift=50e-6, frames=4000)
    rows = frames_of(capsys, *cockpit.write(tmp_path))
    worst = max(
        abs(found - true)
        for row, truth in zip(rows, cockpit.truth, strict=True)
        for found, true in zip(times_of(row), truth, strict=True)
    )
    assert worst < 400 * US  # 64 s of 50 ppm are 3200 µs
    assert main(["join", *cockpit.write(tmp_path)]) == 0
    assert "drifting" in capsys.readouterr().out


@pytest.mark.timeout(120)
def test_a_clock_that_jumped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By a century, for one frame: nobody looks at each ten seconds of it. The others stay."""
    cockpit = Cockpit(offset=40 * 10**9, drift=50e-6, frames=4000)
    later = 4 * 10**18
    cockpit.files[1] += gid_line(later, "submit", 9000, "1:42.0#0", 1, "movie")
    cockpit.files[2] += gid_line(later + 50 * 10**9, "receive", 9000, "1:42.0#0", 2, "movie")
    cockpit.files[2] += gid_line(later + 51 * 10**9, "released", 9000, "1:42.0#0", 2, "movie")
    cockpit.files[1] += gid_line(later + 10**9, "freed", 9000, "1:42.0#0", 1, "movie")
    paths = cockpit.write(tmp_path)
    assert len(frames_of(capsys, *paths)) == 4001
    assert main(["join", *paths, "-o", str(tmp_path / "out.html")]) == 0
    assert main(["perfetto", paths[0], "-o", str(tmp_path / "out.json")]) == 0


def test_contradicting_bounds_far_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Found by the fuzzer: no piece of time has frames of both ways."""
    text = gid_line(START, "submit", 1, "1:42.0#0", 1)
    text += gid_line(START - 10**12, "receive", 1, "1:42.0#0", 2)
    text += gid_line(START - 10**12 + MS, "released", 1, "1:42.0#0", 2)
    text += gid_line(START - 10**12 - 60 * 10**9, "freed", 1, "1:42.0#0", 1)
    (tmp_path / "all.log").write_text(text)
    assert main(["join", str(tmp_path / "all.log")]) == 0
    assert "apart" in capsys.readouterr().out


def test_frames_that_come_back_tell_as_much(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two streams in opposite directions bound the clocks from both sides, without any release."""
    there, offset = Cockpit(), 9 * 10**9
    text = "".join(line for line in there.files[1].splitlines(True) if "submit" in line)
    for i, (_, _, receive, *_) in enumerate(there.truth):
        text += gid_line(receive + offset, "receive", i + 1, f"1:42.{i % 4}#0", 2)
        text += gid_line(receive + offset, "submit", i + 1, f"2:7.{i % 4}#0", 2, "answer")
        text += gid_line(receive + 50 * US, "receive", i + 1, f"2:7.{i % 4}#0", 1, "answer")
    (tmp_path / "all.log").write_text(text)
    assert main(["join", str(tmp_path / "all.log"), "--format", "json"]) == 0
    streams = json.loads(capsys.readouterr().out)["streams"]
    assert {stream["stream"] for stream in streams} == {"movie", "answer"}
    for stream in streams:
        sign = 1 if stream["stream"] == "movie" else -1
        clocks = stream["clocks"]
        assert abs(clocks["offset_ns"] - sign * offset) <= clocks["error_ns"]


def test_stages_agree_with_the_truth(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import independent

    cockpit = Cockpit(frames=500)
    assert main(["join", *cockpit.write(tmp_path), "--format", "json"]) == 0
    (stream,) = json.loads(capsys.readouterr().out)["streams"]
    for stage, found in stream["stages"].items():
        start, end = (POINTS.index(name) for name in stage.split("_to_"))
        spans = sorted(times[end] - times[start] for times in cockpit.truth)
        assert found == independent.summary(spans)
    assert len(stream["stages"]) == 8


def test_frames_that_do_not_arrive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cockpit = Cockpit(frames=20)
    cockpit.files[2] = "".join(
        line for line in cockpit.files[2].splitlines(True) if '"sequence":7,' not in line
    )
    rows = frames_of(capsys, *cockpit.write(tmp_path))
    assert len(rows) == 20
    (lost,) = [row for row in rows if row["consumer"] == ""]
    assert lost["sequence"] == "7" and lost["shown_ns"] == "" and lost["submit_ns"] != ""


def test_two_consumers_have_a_line_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cockpit = Cockpit(frames=20)
    cockpit.files[3] = cockpit.files[2].replace('"domain":2', '"domain":3')
    rows = frames_of(capsys, *cockpit.write(tmp_path))
    assert [row["consumer"] for row in rows] == ["2"] * 20 + ["3"] * 20


@pytest.mark.parametrize("name", ["test", "other"])
def test_two_consumers_in_one_domain_share_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """It has the first to receive and the last to release, whatever the two call themselves."""
    cockpit = Cockpit(frames=40)
    others = []
    for line in cockpit.files[2].splitlines(True):
        sequence = int(line.split('"sequence":')[1].split(",")[0])
        if ("gid_receive" in line and sequence != 7) or ("gid_released" in line and sequence == 9):
            others.append(later(line, 20 * US).replace('"by":"test"', f'"by":"{name}"'))
    cockpit.files[2] += "".join(others)
    cockpit.truth[8][5] += 20 * US
    rows = frames_of(capsys, *cockpit.write(tmp_path))
    assert [times_of(row) for row in rows] == cockpit.truth


def later(line: str, ns: int) -> str:
    """The same line, that much later."""
    seconds, rest = line.split("[", 1)[1].split(", ", 1)
    time = int(seconds) * 10**9 + int(rest.split("]", 1)[0])
    return line.replace(logs.stamp(time), logs.stamp(time + ns))


@pytest.mark.parametrize("slab", [42, 43])
@pytest.mark.parametrize("consumers", [1, 2])
def test_a_producer_that_starts_again_counts_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], slab: int, consumers: int
) -> None:
    """Its second frame 1 is not its first one, even in the same slab, for any of the consumers."""
    first, second = Cockpit(frames=30), Cockpit(frames=40, seed=2)
    pause = 60 * 10**9
    for times in second.truth:
        times[:] = [time + pause for time in times]
    for domain in (1, 2):
        for line in second.files[domain].splitlines(True):
            first.files[domain] += later(line, pause).replace("1:42.", f"1:{slab}.")
    if consumers == 2:
        received = [line for line in first.files[2].splitlines(True) if "gid_receive" in line]
        first.files[2] += "".join(later(line, 5 * MS) for line in received)
    rows = frames_of(capsys, *first.write(tmp_path))
    assert [times_of(row) for row in rows] == first.truth + second.truth


def test_a_producer_that_starts_again_on_another_clock(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = Cockpit(frames=30, offset=-3 * 10**12), Cockpit(frames=40, offset=-3 * 10**12)
    for domain in (1, 2):
        for line in second.files[domain].splitlines(True):
            first.files[domain] += later(line, 60 * 10**9).replace("1:42.", "1:44.")
    rows = frames_of(capsys, *first.write(tmp_path))
    assert [int(row["sequence"]) for row in rows] == [*range(1, 31), *range(1, 41)]
    assert all(row[f"{point}_ns"] for row in rows for point in POINTS)


def test_in_the_report_as_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cockpit = Cockpit(frames=50)
    path = tmp_path / "tl.log"
    path.write_text(logs.run(frames=50) + cockpit.files[1] + cockpit.files[2])
    assert main(["report", str(path)]) == 0
    text = capsys.readouterr().out
    assert "stream movie, domain 1 → domain 2: 50 submitted" in text
    assert "capture → shown" in text
    out = tmp_path / "out.html"
    assert main(["report", str(path), "-o", str(out)]) == 0
    assert "capture → shown" in out.read_text()


def test_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of all logs, as `report` makes it: what a suffix promises."""
    cockpit = Cockpit(frames=50)
    paths = cockpit.write(tmp_path)
    weston = tmp_path / "tl.log"
    weston.write_text(logs.run(frames=50))
    joined, reported = tmp_path / "joined.html", tmp_path / "reported.html"
    assert main(["join", str(weston), *paths, "-o", str(joined)]) == 0
    assert main(["report", str(weston), *paths, "-o", str(reported)]) == 0
    assert joined.read_text() == reported.read_text()
    assert "capture → shown" in joined.read_text() and "DP-1" in joined.read_text()


def test_a_forwarded_frame_came_to_be_when_its_picture_did(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A compositor that forwards a client's buffer knows its gid, and not when it was captured."""
    cockpit = Cockpit(frames=8)
    for i, truth in enumerate(cockpit.truth):
        gid = f"1:42.{i % 4}#0"
        for point, after in (("capture", 0.4), ("submit", 0.5), ("receive", 0.6), ("shown", 5)):
            domain = 1 if point in ("capture", "submit") else 3
            time = truth[2] + int(after * MS)
            cockpit.files[domain] = cockpit.files.get(domain, "") + gid_line(
                time, point, i + 1, gid, domain, "safety/camera", "weston"
            )
    own = gid_line(START, "submit", 1, "1:77.0#0", 1, "safety/telltale", "weston")
    cockpit.files[1] += own
    rows = frames_of(capsys, *cockpit.write(tmp_path))
    forwarded = [row for row in rows if row["stream"] == "safety/camera"]
    assert [int(row["capture_ns"]) for row in forwarded] == [truth[0] for truth in cockpit.truth]
    (telltale,) = [row for row in rows if row["stream"] == "safety/telltale"]
    assert telltale["capture_ns"] == ""


def test_names_of_domains(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """libgid writes them down with each producer and consumer; nobody knows domains by number."""
    cockpit = Cockpit(frames=5)
    cockpit.files[1] += '{ "id":1, "type":"gid_domain", "name":"open" }\n'
    paths = cockpit.write(tmp_path)
    assert main(["join", *paths]) == 0
    assert "stream movie, open → domain 2: 5 submitted" in capsys.readouterr().out
    for form in ("json", "html"):
        assert main(["join", *paths, "--format", form]) == 0
        assert "open → domain 2" in capsys.readouterr().out


def test_one_point_that_is_of_no_frame(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cockpit = Cockpit(frames=5)
    cockpit.files[2] += gid_line(START, "shown", 0, "1:99.0#0", 2, stream=None)
    assert main(["join", *cockpit.write(tmp_path)]) == 0
    assert "1 point belongs to no frame" in capsys.readouterr().out


def test_no_points(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "tl.log"
    path.write_text(logs.run(frames=5))
    assert main(["join", str(path)]) == 2
    assert "GID_TIMELINE" in capsys.readouterr().err


def test_only_points_without_a_stream(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A timeline of Weston's alone knows which gids were shown, and no more."""
    path = tmp_path / "tl.log"
    path.write_text(gid_line(START, "shown", 0, "1:42.0#0", 2, stream=None, by="weston"))
    assert main(["join", str(path)]) == 2
    assert "add the file that GID_TIMELINE named" in capsys.readouterr().err


@pytest.mark.parametrize("seed", at_length_but(range(10), 0, 1, 2))
def test_damaged_points(tmp_path: Path, capsys: pytest.CaptureFixture[str], seed: int) -> None:
    rng = random.Random(seed)
    lines = "".join(Cockpit(frames=30, unnamed=True).files.values()).splitlines()
    for _ in range(60):
        i = rng.randrange(len(lines))
        cut = rng.randrange(len(lines[i]) or 1)
        lines[i] = lines[i][:cut] + rng.choice(["", "9", '"', "[", "-"]) + lines[i][cut + 1 :]
    path = tmp_path / "all.log"
    path.write_text("\n".join(lines))
    assert main(["join", str(path)]) == 0
