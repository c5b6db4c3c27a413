# SPDX-License-Identifier: MIT
"""Reads traces in Perfetto's own format, as Weston 15 makes them where it was built with Perfetto,
and makes their events such of our own traces: Chrome's JSON, at times of CLOCK_MONOTONIC.
"""

import itertools
import warnings
import zlib
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from google.protobuf.message import DecodeError

from . import perfetto
from .perfetto_schema import (
    BOOTTIME,
    COUNTER,
    INSTANT,
    MONOTONIC,
    NEEDS_STATE,
    PACKET_TAG,
    SEQUENCE_CLOCKS,
    SLICE_BEGIN,
    SLICE_END,
    STATE_CLEARED,
    Packet,
)

_FILE_MAX = 1 << 27  # bytes
_EVENTS_MAX = 500_000  # Weston's of some minutes
_BUNDLE_MAX = 1 << 26  # bytes of one bundle of packets, unpacked
_UNPACKED_MAX = _FILE_MAX  # and of all of them
_KEPT_MAX = 4_000_000  # names, tracks, clocks and parts of events: some 200 bytes each
_WRITER_PARTS = 4  # a writer is as much as so many of these
_PARENTS_MAX = 32
_PID = 40_000  # and the process's number: those below are of our own
_KINDS = (SLICE_BEGIN, SLICE_END, INSTANT, COUNTER)


class PerfettoTraceError(Exception):
    """Why it is none; the message says it."""


@dataclass(slots=True)
class _Clock:
    """One of a sequence of packets alone, from what it was set to on."""

    began: int  # its own units
    unit: int  # ns
    is_incremental: bool  # each time is the distance from the one before
    other: int  # the clock that its time is of, and that one's time then
    other_began: int


@dataclass(slots=True)
class _Sequence:
    """What packets of one writer tell of the next ones."""

    knows: bool = False  # all that has been told
    clock: int = BOOTTIME
    track: int = 0
    pid: int = 0
    clocks: dict[int, _Clock] = field(default_factory=dict)
    names: dict[int, bytes] = field(default_factory=dict)
    keys: dict[int, bytes] = field(default_factory=dict)
    texts: dict[int, bytes] = field(default_factory=dict)

    def kept(self) -> int:
        return len(self.names) + len(self.keys) + len(self.texts)

    def forget(self) -> None:
        self.knows, self.clock, self.track = True, BOOTTIME, 0
        for known in (self.clocks, self.names, self.keys, self.texts):
            known.clear()


@dataclass(slots=True)
class _Track:
    name: bytes = b""
    parent: int = 0
    pid: int = 0
    process: bytes = b""  # its name, where it is the track of one
    is_thread: bool = False
    unit: int = 1  # of a counter
    is_incremental: bool = False


@dataclass(slots=True)
class _Event:
    kind: int
    pid: int  # of who wrote it
    clock: int
    time: int
    name: bytes = b""
    value: float = 0
    args: dict[str, object] = field(default_factory=dict)
    flows: tuple[int, ...] = ()


@dataclass(slots=True)
class _Slice:
    start: int
    end: int
    event: _Event


@dataclass(slots=True)
class PerfettoTrace:
    """Events by track, in the order in which they were written, on whatever clocks they have."""

    events: dict[int, list[_Event]] = field(default_factory=lambda: defaultdict(list))
    count: int = 0
    lost: int = 0  # that cannot be understood, for what they build upon was lost
    cut: bool = False  # its end is missing
    _kept: int = 0
    _unpacked: int = 0  # bytes
    _tracks: dict[int, _Track] = field(default_factory=dict)
    _snapshots: list[dict[int, int]] = field(default_factory=list)
    _sequences: dict[int, _Sequence] = field(default_factory=lambda: defaultdict(_Sequence))
    _axes: dict[int, tuple[list[int], list[int]]] = field(default_factory=dict)

    # --- packets ---

    def add(self, packet: Any, is_packed: bool) -> None:
        if packet.compressed_packets:
            if is_packed:
                raise PerfettoTraceError("a bundle of packets is in another one")
            self._unpack(packet.compressed_packets)
            return
        if packet.trusted_packet_sequence_id not in self._sequences:
            self._keep(_WRITER_PARTS)
        sequence = self._sequences[packet.trusted_packet_sequence_id]
        if packet.incremental_state_cleared or packet.sequence_flags & STATE_CLEARED:
            self._kept -= sequence.kept()
            sequence.forget()
        elif packet.previous_packet_dropped:
            sequence.knows = False
        sequence.pid = packet.trusted_pid or sequence.pid
        if packet.HasField("clock_snapshot"):
            self._set_clocks(sequence, packet.clock_snapshot.clocks)
        if packet.HasField("trace_packet_defaults"):
            defaults = packet.trace_packet_defaults
            sequence.clock = defaults.timestamp_clock_id or BOOTTIME
            sequence.track = defaults.track_event_defaults.track_uuid
        for known, told in (
            (sequence.names, packet.interned_data.event_names),
            (sequence.keys, packet.interned_data.debug_annotation_names),
            (sequence.texts, packet.interned_data.debug_annotation_string_values),
        ):
            self._learn(known, told)
        when = self._when(sequence, packet) if packet.HasField("timestamp") else None
        if packet.HasField("track_descriptor"):
            self._describe(packet.track_descriptor)
        if packet.HasField("track_event"):
            is_known = sequence.knows or not packet.sequence_flags & NEEDS_STATE
            if when is None or not is_known or packet.track_event.type not in _KINDS:
                self.lost += 1
            elif self.count < _EVENTS_MAX:
                self._take(sequence, packet.track_event, *when)
            else:
                raise PerfettoTraceError(f"it has more than {_EVENTS_MAX} events")

    def _keep(self, count: int) -> None:
        self._kept += count
        if self._kept > _KEPT_MAX:
            raise PerfettoTraceError("it tells of more names, tracks and clocks than can be kept")

    def _learn(self, known: dict[int, bytes], told: Any) -> None:
        """Names that later packets say by their numbers. Until that is known all are new."""
        before = len(known)
        self._keep(len(told))
        known.update((one.iid, one.name) for one in told)
        self._kept -= before + len(told) - len(known)

    def _unpack(self, packed: bytes) -> None:
        unpacker = zlib.decompressobj()
        most = min(_BUNDLE_MAX, _UNPACKED_MAX - self._unpacked)
        try:
            packets = unpacker.decompress(packed, most + 1)
        except zlib.error as error:
            raise PerfettoTraceError(f"packets that cannot be unpacked: {error}") from error
        if len(packets) > _BUNDLE_MAX:
            raise PerfettoTraceError("a bundle of packets is too large")
        if len(packets) > most:
            raise PerfettoTraceError(
                f"its bundles of packets have more than {_UNPACKED_MAX >> 20} MiB"
            )
        self._unpacked += len(packets)
        self.cut |= _add_all(self, packets, is_packed=True)

    def _set_clocks(self, sequence: _Sequence, clocks: Any) -> None:
        self._keep(len(clocks))
        common = {one.clock_id: one.timestamp for one in clocks if one.clock_id < 64}
        if not common:
            return
        other = next((one for one in (MONOTONIC, BOOTTIME) if one in common), min(common))
        self._snapshots.append(common)
        for one in clocks:
            if one.clock_id in SEQUENCE_CLOCKS:
                unit = one.unit_multiplier_ns or 1
                sequence.clocks[one.clock_id] = _Clock(
                    one.timestamp, unit, one.is_incremental, other, common[other]
                )

    def _when(self, sequence: _Sequence, packet: Any) -> tuple[int, int] | None:
        """A clock of all, and its time; None: what its time is of was not told."""
        clock, time = packet.timestamp_clock_id or sequence.clock, packet.timestamp
        if clock not in SEQUENCE_CLOCKS:
            return clock, time
        own = sequence.clocks.get(clock)
        if own is None:
            return None
        passed = (time if own.is_incremental else time - own.began) * own.unit
        if own.is_incremental:
            own.other_began += passed
            return own.other, own.other_began
        return own.other, own.other_began + passed

    def _describe(self, told: Any) -> None:
        self._keep(told.uuid not in self._tracks)
        track = self._tracks[told.uuid] = _Track(told.name or told.static_name, told.parent_uuid)
        if told.HasField("process"):
            command = told.process.cmdline[0] if told.process.cmdline else b""
            track.process = told.process.process_name or command or told.name
            track.pid = told.process.pid
        elif told.HasField("thread"):
            track.name = told.thread.thread_name or told.name
            track.pid, track.is_thread = told.thread.pid, True
        elif told.HasField("counter"):
            track.unit = told.counter.unit_multiplier or 1
            track.is_incremental = told.counter.is_incremental

    def _take(self, sequence: _Sequence, told: Any, clock: int, time: int) -> None:
        flows = (*told.flow_ids, *told.terminating_flow_ids)
        self._keep(len(told.debug_annotations) + len(flows))
        event = _Event(told.type, sequence.pid, clock, time)
        event.name = told.name or sequence.names.get(told.name_iid, b"")
        event.flows = flows
        is_double = told.HasField("double_counter_value")
        event.value = told.double_counter_value if is_double else told.counter_value
        for one in told.debug_annotations:
            key = one.name or sequence.keys.get(one.name_iid, b"?")
            event.args[_text(key)] = _value(one, sequence)
        track = told.track_uuid if told.HasField("track_uuid") else sequence.track
        self.events[track].append(event)
        self.count += 1

    # --- times ---

    def _monotonic(self, clock: int, time: int) -> int | None:
        """By the last snapshot of both clocks that was before, or the first one."""
        if clock == MONOTONIC:
            return time
        if clock not in self._axes:
            both = sorted(
                (one[clock], one[MONOTONIC])
                for one in self._snapshots
                if clock in one and MONOTONIC in one
            )
            self._axes[clock] = [one[0] for one in both], [one[1] for one in both]
        theirs, ours = self._axes[clock]
        if not theirs:
            return None
        at = max(bisect_right(theirs, time) - 1, 0)
        return ours[at] + time - theirs[at]

    # --- events of JSON ---

    def json_events(self, start: int = 0, end: int = 1 << 63) -> list[dict]:
        """Those that were between two times of CLOCK_MONOTONIC, ns; without any: nothing."""
        found: list[dict] = []
        flows: dict[int, list[tuple[float, int, int]]] = defaultdict(list)
        pids: dict[int, int] = {}
        for tid, (uuid, events) in enumerate(sorted(self.events.items()), 1):
            real, process, name = self._place(uuid, events[0].pid)
            begun, rest = self._timed(events)
            slices = [one for one in begun if one.end >= start and one.start <= end]
            rest = [one for one in rest if start <= one[0] <= end]
            if not slices and not rest:
                continue
            if real not in pids:
                pids[real] = _PID + len(pids)
                found.append(perfetto.named("process_name", pids[real], 0, process))
            both = {"pid": pids[real], "tid": tid}
            found.append(perfetto.named("thread_name", *both.values(), name))
            for one in slices:
                at = perfetto.us(one.start)
                more = {"dur": perfetto.us(one.end - one.start), "args": one.event.args}
                found.append(both | {"ph": "X", "name": _text(one.event.name), "ts": at} | more)
                for flow in one.event.flows:
                    flows[flow].append((at, *both.values()))
            for time, event in rest:
                for flow in event.flows:
                    flows[flow].append((perfetto.us(time), *both.values()))
            found += self._marks(rest, both, name, self._tracks.get(uuid, _Track()))
        return found + list(_arrows(flows))

    def _timed(self, events: list[_Event]) -> tuple[list[_Slice], list[tuple[int, _Event]]]:
        """Of one track: slices from their begins to their ends; and what takes no time."""
        timed = []
        for event in events:
            if (time := self._monotonic(event.clock, event.time)) is None:
                raise PerfettoTraceError(
                    "it does not say what its times are by CLOCK_MONOTONIC: record it with "
                    "Perfetto's own service (traced), which does"
                )
            timed.append((time, event))
        timed.sort(key=lambda one: one[0])
        slices, rest, open_ = [], [], []
        for time, event in timed:
            if event.kind == SLICE_BEGIN:
                open_.append(_Slice(time, time, event))
                slices.append(open_[-1])
            elif event.kind == SLICE_END:
                if open_:  # else it began before the trace did
                    last = open_.pop()
                    last.end, last.event.args = time, last.event.args | event.args
                    last.event.flows += event.flows
            else:
                rest.append((time, event))
        for one in open_:  # they ended after the trace did
            one.end = timed[-1][0]
        return slices, rest

    def _marks(
        self, marks: list[tuple[int, _Event]], both: dict, name: str, track: _Track
    ) -> Iterator[dict]:
        total = 0.0
        for time, event in marks:
            at = both | {"ts": perfetto.us(time)}
            if event.kind == INSTANT:
                yield at | {"ph": "i", "s": "t", "name": _text(event.name), "args": event.args}
            else:
                value = float(event.value) * track.unit  # whole numbers may be of 128 bits
                total = total + value if track.is_incremental else value
                yield at | {"ph": "C", "name": name, "args": {"value": total}}

    def _place(self, uuid: int, writer: int) -> tuple[int, str, str]:
        """Of a track: the number of its process, that one's name, and its own."""
        names: list[str] = []
        pid, process = 0, b""
        for _ in range(_PARENTS_MAX):
            track = self._tracks.get(uuid)
            if track is None:
                break
            pid, process = track.pid or pid, track.process or process
            if track.name and not track.process:
                names.insert(0, _text(track.name))
            if track.is_thread or track.process:
                break
            uuid = track.parent
        pid = pid or writer
        if not process:
            process = next(
                (one.process for one in self._tracks.values() if one.process and one.pid == pid),
                b"",
            )
        told = _text(process).rpartition("/")[2] or "a process"
        return pid, f"{told} {pid}, by Perfetto", ": ".join(names) or "events"


def read(file: BinaryIO) -> PerfettoTrace:
    """Of one that was cut off, what comes before that."""
    data = file.read(_FILE_MAX + 1)
    if not data:
        raise PerfettoTraceError("it is empty")
    if len(data) > _FILE_MAX:
        raise PerfettoTraceError(f"it is larger than {_FILE_MAX >> 20} MiB")
    if data[0] != PACKET_TAG:
        raise PerfettoTraceError("it is no trace in Perfetto's own format")
    found = PerfettoTrace()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found.cut = _add_all(found, data)
    if told:  # what is an error for some versions of protobuf
        raise PerfettoTraceError(f"a packet in it is damaged: {told[0].message}")
    if not found.count:
        raise PerfettoTraceError("there is no event in it that can be understood")
    return found


def _add_all(found: PerfettoTrace, data: bytes, is_packed: bool = False) -> bool:
    """Whether its end is missing."""
    view = memoryview(data)
    at, end = 0, len(data)
    while at < end:
        if data[at] != PACKET_TAG:
            raise PerfettoTraceError(f"there is no packet at byte {at}")
        size, at = _number(data, at + 1)
        if size > end - at:
            return True
        try:
            packet = Packet.FromString(view[at : at + size].tobytes())
        except DecodeError as error:
            raise PerfettoTraceError(f"the packet at byte {at} is damaged") from error
        found.add(packet, is_packed)
        at += size
    return False


def _number(data: bytes, at: int) -> tuple[int, int]:
    """One of the wire, and where the next byte is; larger than all where its end is missing."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            break
        value |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            return value, at
    return 1 << 70, at


def _arrows(flows: dict[int, list[tuple[float, int, int]]]) -> Iterator[dict]:
    """From each slice that has the flow's number to the next one in time."""
    for number, places in flows.items():
        for (at, pid, tid), (to, to_pid, to_tid) in itertools.pairwise(sorted(places)):
            both = {"id": f"{number}/{at}", "cat": "perfetto", "name": "flow"}
            yield both | {"ph": "s", "ts": at, "pid": pid, "tid": tid}
            yield both | {"ph": "f", "bp": "e", "ts": to, "pid": to_pid, "tid": to_tid}


def _text(name: bytes) -> str:
    return name.decode(errors="replace")


def _value(told: Any, sequence: _Sequence) -> object:
    for name in ("bool_value", "uint_value", "int_value", "double_value", "pointer_value"):
        if told.HasField(name):
            return getattr(told, name)
    if told.HasField("string_value_iid"):
        return _text(sequence.texts.get(told.string_value_iid, b"?"))
    return _text(told.string_value)
