# SPDX-License-Identifier: MIT
"""Events of traces in Perfetto's own format in ours: of one that Perfetto's own service recorded of
the program in tests/timeline/perfetto; and of such as it can record, too."""

import json
import os
import random
import sys
import zlib
from collections.abc import Iterable
from pathlib import Path

import logs
import pytest
from gid_timeline.cli import main
from gid_timeline.perfetto_schema import (
    BOOTTIME,
    COUNTER,
    INSTANT,
    MONOTONIC,
    NEEDS_STATE,
    SLICE_BEGIN,
    SLICE_END,
    STATE_CLEARED,
    Packet,
)
from gid_timeline.perfetto_trace import PerfettoTraceError, read
from lib.length import at_length_but
from test_incident import NOW, recording

S = 10**9
REAL = Path(__file__).parent / "weston.pftrace"
REAL_LOG = Path(__file__).parent / "weston.pftrace.log"
FRAMES = 20


def joined(tmp_path: Path, trace: Path, log: Path) -> list[dict]:
    out = tmp_path / "out.json"
    assert main(["perfetto", str(log), "--perfetto", str(trace), "-o", str(out)]) == 0
    return json.loads(out.read_bytes())["traceEvents"]


def tracks(events: list[dict]) -> dict[str, tuple[int, int]]:
    return {
        event["args"]["name"]: (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name"
    }


def on(events: list[dict], track: tuple[int, int], phase: str = "X") -> list[dict]:
    return [e for e in events if e["ph"] == phase and (e["pid"], e.get("tid")) == track]


# --- a real one ---


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> list[dict]:
    return joined(tmp_path_factory.mktemp("real"), REAL, REAL_LOG)


def test_the_same_repaints_by_both(real: list[dict]) -> None:
    """At the same times: Perfetto's are of another clock, and each lies within that of the log."""
    logged = on(real, tracks(real)["repaint"])
    named = [e for e in real if e["ph"] == "X" and e["name"] == "weston_output_repaint"]
    assert len(logged) == len(named) == FRAMES
    for log, perfetto in zip(logged, named, strict=True):
        assert log["ts"] - 50 < perfetto["ts"]
        assert perfetto["ts"] + perfetto["dur"] < log["ts"] + log["dur"] + 50
        assert perfetto["dur"] > 2000
    assert len({event["pid"] for event in named}) == 1 and named[0]["pid"] != logged[0]["pid"]


def test_times_that_weston_said_are_exact(real: list[dict]) -> None:
    """The GPU's are of the log's own clock."""
    ends = [event["ts"] + event["dur"] for event in on(real, tracks(real)["repaint"])]
    gpu = on(real, tracks(real)["DP-1: GPU activity"])
    assert [event["ts"] for event in gpu] == pytest.approx(ends, abs=0.01)
    assert [event["dur"] for event in gpu] == [3000] * FRAMES


def test_what_else_is_said(real: list[dict]) -> None:
    process = [e["args"]["name"] for e in real if e["name"] == "process_name"]
    assert any(name.startswith("weston-pftrace ") for name in process), process
    inner = [e for e in real if e["name"] == "gl_renderer_repaint_output"]
    outer = [e for e in real if e["name"] == "weston_output_repaint"]
    for one, around in zip(inner, outer, strict=True):
        assert around["ts"] <= one["ts"] and one["dur"] <= around["dur"]
    commits = [e for e in real if e["ph"] == "i" and e["name"] == "commit"]
    assert [e["args"] for e in commits] == [
        {"surface": "Kölsch 🍺", "number": number} for number in range(1, FRAMES + 1)
    ]
    values = [e["args"]["value"] for e in real if e["ph"] == "C" and e["name"] == "delay of DP-1"]
    assert values == [number / 2 for number in range(1, FRAMES + 1)]


def test_arrows_lead_to_the_gpu(real: list[dict]) -> None:
    starts = [e for e in real if e["ph"] == "s" and e["cat"] == "perfetto"]
    ends = {e["id"]: e for e in real if e["ph"] == "f" and e["cat"] == "perfetto"}
    gpu = on(real, tracks(real)["DP-1: GPU activity"])
    assert len(starts) == FRAMES
    assert [ends[e["id"]]["ts"] for e in starts] == [e["ts"] for e in gpu]


@pytest.mark.parametrize("step", at_length_but([211, 1511], 1511))
def test_one_that_is_still_written(tmp_path: Path, step: int) -> None:
    """Or whose writer was killed: what is there is there."""
    whole = REAL.read_bytes()
    counts = []
    for size in range(1, len(whole), step):
        (tmp_path / "cut").write_bytes(whole[:size])
        with (tmp_path / "cut").open("rb") as file:
            try:
                found = read(file)
                counts.append(len(found.json_events()))
            except PerfettoTraceError:
                counts.append(0)
    assert counts == sorted(counts) and counts[0] == 0 < counts[-1]


@pytest.mark.parametrize("seed", at_length_but(range(100), *range(12)))
def test_one_that_is_damaged(tmp_path: Path, seed: int) -> None:
    """It is told, or what is left of it is there."""
    chance = random.Random(seed)
    data = bytearray(REAL.read_bytes())
    for _ in range(chance.choice((1, 5, 50))):
        data[chance.randrange(len(data))] = chance.randrange(256)
    (tmp_path / "bad").write_bytes(data)
    words = ["perfetto", str(REAL_LOG), "--perfetto", str(tmp_path / "bad")]
    status = main([*words, "-o", str(tmp_path / "out")])
    assert status in (0, 2)
    if status == 0:
        json.loads((tmp_path / "out").read_bytes())


# --- those that can be ---


def file_of(packets: Iterable[object]) -> bytes:
    """As on the disk: the size of each, in groups of seven bits, before it."""
    found = b""
    for packet in packets:
        data = packet.SerializeToString()
        size, rest = b"", len(data)
        while rest >= 0x80:
            size, rest = size + bytes([rest & 0x7F | 0x80]), rest >> 7
        found += b"\x0a" + size + bytes([rest]) + data
    return found


def event(time: int, kind: int, name: str = "", **more: object) -> object:
    packet = Packet(timestamp=time, trusted_packet_sequence_id=1)
    for key in ("timestamp_clock_id", "sequence_flags", "previous_packet_dropped"):
        if key in more:
            setattr(packet, key, more.pop(key))
    packet.track_event.type = kind
    packet.track_event.track_uuid = 7
    if name:
        packet.track_event.name = name.encode()
    for key, value in more.items():
        setattr(packet.track_event, key, value)
    return packet


def snapshot(*clocks: tuple, **more: object) -> object:
    """(number, time[, is_incremental, unit])."""
    packet = Packet(trusted_packet_sequence_id=1, **more)
    for number, time, *rest in clocks:
        packet.clock_snapshot.clocks.add(
            clock_id=number,
            timestamp=time,
            **dict(zip(("is_incremental", "unit_multiplier_ns"), rest, strict=False)),
        )
    return packet


def read_packets(tmp_path: Path, *packets: object) -> list[dict]:
    (tmp_path / "made").write_bytes(file_of(packets))
    with (tmp_path / "made").open("rb") as file:
        return [e for e in read(file).json_events() if e["ph"] != "M"]


SERVICE = snapshot((BOOTTIME, 100 * S), (MONOTONIC, 40 * S))


def test_a_machine_that_slept(tmp_path: Path) -> None:
    """Meanwhile one clock stood still: the newest snapshot before an event counts."""
    later = snapshot((BOOTTIME, 200 * S), (MONOTONIC, 50 * S))
    events = [event(time * S, INSTANT) for time in (90, 105, 200, 201)]
    found = read_packets(tmp_path, SERVICE, *events, later)
    assert [e["ts"] for e in found] == [30e6, 45e6, 50e6, 51e6]


def test_times_from_one_to_the_next(tmp_path: Path) -> None:
    """By a clock of the writer's own, in its own units."""
    own = snapshot((64, 0, True, 1000), (BOOTTIME, 101 * S), sequence_flags=STATE_CLEARED)
    events = [event(time, INSTANT, timestamp_clock_id=64) for time in (5, 0, 10)]
    other = Packet(timestamp=3, timestamp_clock_id=64, trusted_packet_sequence_id=1)
    found = read_packets(tmp_path, SERVICE, own, events[0], other, *events[1:])
    assert [e["ts"] for e in found] == [41e6 + us for us in (5, 8, 18)]


def test_a_writers_clock_that_is_none_of_ours(tmp_path: Path) -> None:
    """It was told in a packet that was lost: its events are not put anywhere."""
    lost = event(5, INSTANT, timestamp_clock_id=64)
    assert len(read_packets(tmp_path, SERVICE, lost, event(101 * S, INSTANT))) == 1


def test_names_that_were_lost(tmp_path: Path) -> None:
    """What builds upon packets that are gone is left out, until the writer begins anew."""
    named = event(101 * S, INSTANT, sequence_flags=STATE_CLEARED | NEEDS_STATE, name_iid=1)
    named.interned_data.event_names.add(iid=1, name=b"known")
    more = {"name_iid": 1, "sequence_flags": NEEDS_STATE}
    good = event(102 * S, INSTANT, **more)
    lost = event(103 * S, INSTANT, previous_packet_dropped=True, **more)
    after = event(104 * S, INSTANT, **more)
    unneeded = event(105 * S, INSTANT, "its own")
    found = read_packets(tmp_path, SERVICE, named, good, lost, after, unneeded, named)
    assert [e["name"] for e in found] == ["known", "known", "known", "its own"]


def test_packets_in_bundles(tmp_path: Path) -> None:
    packed = file_of([event(101 * S, INSTANT, "within")])
    found = read_packets(tmp_path, SERVICE, Packet(compressed_packets=zlib.compress(packed)))
    assert [e["name"] for e in found] == ["within"]
    for bad in (b"no zlib", zlib.compress(bytes(1 << 27))):
        with pytest.raises(PerfettoTraceError, match="unpacked|too large"):
            read_packets(tmp_path, SERVICE, Packet(compressed_packets=bad))


def test_bundles_without_end(tmp_path: Path) -> None:
    """Of a few bytes each, which are a thousand times as many when they are unpacked."""
    large = Packet()
    large.track_descriptor.name = bytes(60 << 20)
    bundle = Packet(compressed_packets=zlib.compress(file_of([large])))
    with pytest.raises(PerfettoTraceError, match="more than 128 MiB"):
        read_packets(tmp_path, SERVICE, *[bundle] * 3, event(101 * S, INSTANT))


def told(what: str, number: int) -> object:
    packet = Packet(trusted_packet_sequence_id=number if what == "writers" else 1)
    if what == "names":
        packet.interned_data.event_names.add(iid=number, name=b"n")
    elif what == "tracks":
        packet.track_descriptor.uuid = number
    elif what == "clocks":
        packet.clock_snapshot.clocks.add(clock_id=MONOTONIC, timestamp=number)
    elif what == "annotations":
        packet = event(101 * S, INSTANT)
        packet.track_event.debug_annotations.add(name=str(number).encode(), int_value=1)
    return packet


@pytest.mark.parametrize("what", ["writers", "names", "tracks", "clocks", "annotations"])
def test_more_than_can_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    monkeypatch.setattr("gid_timeline.perfetto_trace._KEPT_MAX", 100)
    packets = [told(what, number) for number in range(1, 102)]
    with pytest.raises(PerfettoTraceError, match="than can be kept"):
        read_packets(tmp_path, SERVICE, event(101 * S, INSTANT), *packets)


def test_names_that_are_told_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after each time that a writer begins anew, which is often in a long trace."""
    monkeypatch.setattr("gid_timeline.perfetto_trace._KEPT_MAX", 100)
    again = event(101 * S, INSTANT, sequence_flags=STATE_CLEARED, name_iid=1)
    again.interned_data.event_names.add(iid=1, name=b"again")
    again.track_descriptor.uuid = 7
    assert len(read_packets(tmp_path, SERVICE, *[again] * 1000)) == 1000


def test_bundles_in_bundles(tmp_path: Path) -> None:
    """Perfetto makes none; of a thousand the innermost could not be reached."""
    packed = file_of([event(101 * S, INSTANT, "within")])
    for _ in range(sys.getrecursionlimit()):
        packed = file_of([Packet(compressed_packets=zlib.compress(packed, 0))])
    (tmp_path / "made").write_bytes(packed)
    with (
        (tmp_path / "made").open("rb") as file,
        pytest.raises(PerfettoTraceError, match="in another one"),
    ):
        read(file)


def test_slices_without_an_end_or_a_begin(tmp_path: Path) -> None:
    found = read_packets(
        tmp_path,
        SERVICE,
        event(101 * S, SLICE_END),
        event(102 * S, SLICE_BEGIN, "outer"),
        event(103 * S, SLICE_BEGIN, "inner"),
        event(104 * S, SLICE_END),
        event(105 * S, INSTANT, "last"),
    )
    slices = {e["name"]: (e["ts"], e["dur"]) for e in found if e["ph"] == "X"}
    assert slices == {"outer": (42e6, 3e6), "inner": (43e6, 1e6)}


def test_counters_that_count_on(tmp_path: Path) -> None:
    track = Packet(trusted_packet_sequence_id=1)
    track.track_descriptor.uuid = 7
    track.track_descriptor.name = b"bytes"
    track.track_descriptor.counter.is_incremental = True
    track.track_descriptor.counter.unit_multiplier = 1024
    counts = [event((101 + n) * S, COUNTER, counter_value=n) for n in range(3)]
    found = read_packets(tmp_path, SERVICE, track, *counts)
    assert [(e["name"], e["args"]["value"]) for e in found] == [
        ("bytes", 0),
        ("bytes", 1024),
        ("bytes", 3072),
    ]


def test_parents_in_a_circle(tmp_path: Path) -> None:
    circle = []
    for uuid, parent in ((7, 8), (8, 7)):
        packet = Packet(trusted_packet_sequence_id=1)
        packet.track_descriptor.uuid, packet.track_descriptor.parent_uuid = uuid, parent
        packet.track_descriptor.name = b"round"
        circle.append(packet)
    assert len(read_packets(tmp_path, SERVICE, *circle, event(101 * S, INSTANT))) == 1


# --- what is told ---


def test_what_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    alone = snapshot((BOOTTIME, 100 * S))
    late = event(900 * S, INSTANT, timestamp_clock_id=MONOTONIC)
    (tmp_path / "tl.log").write_text(logs.run(frames=5))
    for data, said in {
        b"": "it is empty",
        b'{"traceEvents":[]}': "no trace in Perfetto's own format",
        b"\x0a": "no event in it",
        file_of([SERVICE]): "no event in it",
        file_of([SERVICE]) + b"\x12\x00": "no packet at byte",
        b"\x0a\x02\x32": "no event in it",
        b"\x0a\x01\x32": "is damaged",
        file_of([alone, event(101 * S, INSTANT)]): "by CLOCK_MONOTONIC",
        file_of([SERVICE, late]): "none of its 1 event is of that time",
    }.items():
        (tmp_path / "bad").write_bytes(data)
        words = ["perfetto", str(tmp_path / "tl.log"), "--perfetto", str(tmp_path / "bad")]
        assert main([*words, "-o", str(tmp_path / "out")]) == 2
        told = capsys.readouterr().err
        assert said in told and told.count("\n") == 1, (data, told)
    words[-1] = str(tmp_path / "none")
    assert main([*words, "-o", str(tmp_path / "out")]) == 2
    assert "none: No such file" in capsys.readouterr().err


# --- pages of gid-recorder ---


def page_of(tmp_path: Path, data: bytes | None) -> str:
    """With this trace; None: with what is there."""
    (tmp_path / "incident.recording").write_bytes(recording())
    if data is not None:
        (tmp_path / "weston.pftrace").write_bytes(data)
    words = [str(tmp_path / "incident.recording"), "-o", str(tmp_path / "incident.html")]
    assert main(["incident", *words, "--perfetto", str(tmp_path / "weston.pftrace")]) == 0
    return (tmp_path / "incident.html").read_text()


def test_a_page_has_them(tmp_path: Path) -> None:
    """Those of its time, beside all that it has without."""
    times = {"within": NOW - 3 * S, "before": NOW - 31 * S, "after": NOW + 1}
    events = [
        event(time, INSTANT, name, timestamp_clock_id=MONOTONIC) for name, time in times.items()
    ]
    page = page_of(tmp_path, file_of(events))
    trace = json.loads(page.partition('id="trace">')[2].partition("</script>")[0])["traceEvents"]
    (found,) = [e for e in trace if e["pid"] >= 40_000 and e["ph"] == "i"]
    assert (found["name"], found["ts"]) == ("within", (NOW - 3 * S) / 1000)
    assert any(e["name"] == "process_name" and "roles" in e["args"]["name"] for e in trace)
    assert "What Perfetto recorded meanwhile is in the trace, too." in page


def test_a_page_has_the_largest_counts(tmp_path: Path) -> None:
    """Larger than JSON's whole numbers are for many readers."""
    track = Packet(trusted_packet_sequence_id=1)
    track.track_descriptor.uuid = 7
    track.track_descriptor.counter.unit_multiplier = 1 << 62
    clock = {"timestamp_clock_id": MONOTONIC}
    count = event(NOW - 3 * S, COUNTER, counter_value=1 << 62, **clock)
    page = page_of(tmp_path, file_of([track, count]))
    trace = json.loads(page.partition('id="trace">')[2].partition("</script>")[0])["traceEvents"]
    values = [e["args"]["value"] for e in trace if e["pid"] >= 40_000 and e["ph"] == "C"]
    assert values == [float(1 << 124)]


def test_a_page_is_made_whatever_they_are(tmp_path: Path) -> None:
    page = page_of(tmp_path, b"<script>")
    assert "Nothing that Perfetto recorded is in the trace: " in page
    assert "no trace in Perfetto&#39;s own format" in page


def test_a_page_waits_for_no_pipe(tmp_path: Path) -> None:
    """gid-recorder writes one page after the other."""
    os.mkfifo(tmp_path / "weston.pftrace")
    assert "weston.pftrace: it is no file" in page_of(tmp_path, None)
