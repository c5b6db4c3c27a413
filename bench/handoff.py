#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What it costs to hand frames to another process: gid against unixfd and shm, in one run.

The producer runs on one core, the consumer on another, at 60 frames a second. The transport's CPU
time is that of both sides less the generator's alone. Beside it stand the bare limits: an eventfd
to the other core and back, reading the same bytes from private memory, and what the generator costs
more where it wakes another process on the other core for each frame: a bare one, or one with a
GStreamer source that then pushes a buffer, always the same one, into a fakesink.

At 60 frames a second both sides sleep before each frame, and most of the CPU time of any transport
goes into waking up with cold caches. So 1080p is measured at 1000 frames a second as well.
"""

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from bench import common
from lab.domains import priority
from lab.domains.program import LabError

RATE = 60
FAST_RATE, FAST_SIZE = 1000, "1080p"
TRIES = 3  # of a run that does not get going
SETTLE = 1.2  # seconds that both sides have to start before the measuring begins
SIZES = {"720p": (1280, 720), "1080p": (1920, 1080), "2160p": (3840, 2160)}
FORMATS = {"BGRx": 4.0, "I420": 1.5}  # bytes of a pixel
PEERS = ("unixfd", "shm")
WAKES = {"wake": "a bare wake-up", "wake-source": "waking a GStreamer source"}


@dataclass(frozen=True)
class Transport:
    """How a pipeline begins and ends; {socket}, {caps} and {area} are filled in."""

    send: str
    receive: str
    makes_socket: bool = True  # which the receiver finds only if it starts later
    arguments: list[str] = field(default_factory=list)


TRANSPORTS = {
    "gid": Transport(
        "gidsink stream=bench sync=false", "gidsrc domain=open stream=bench", makes_socket=False
    ),
    "unixfd": Transport(
        "unixfdsink socket-path={socket} sync=false",
        "unixfdsrc socket-path={socket}",
        # Its memory is mapped afresh for each frame: a consumer that does not read does not map.
        arguments=["--time-from-pts"],
    ),
    "shm": Transport(
        "shmsink socket-path={socket} shm-size={area} wait-for-connection=false sync=false",
        "shmsrc socket-path={socket} is-live=true ! {caps}",
    ),
}


@dataclass(frozen=True)
class Case:
    size: str
    format: str
    rate: int = RATE

    @property
    def caps(self) -> str:
        width, height = SIZES[self.size]
        size = f"width={width},height={height}"
        return f"video/x-raw,format={self.format},{size},framerate={self.rate}/1"

    @property
    def bytes(self) -> int:
        width, height = SIZES[self.size]
        return int(width * height * FORMATS[self.format])


class Bench:
    def __init__(self, folder: Path, seconds: float) -> None:
        self._folder = folder
        self._seconds = seconds
        self._sender_core, self._receiver_core = priority.two_cores()

    def transport(self, who: str, case: Case, read_all: bool) -> dict:
        """One run of both sides: {"send": {…}, "receive": {…}}. One that did not get going in time,
        as happens on a machine that is busy with other things, is repeated with more time for it,
        and told. One that crashed is not.
        """
        what, wanted = f"{who} {case.size} {case.format}, {case.rate}/s", case.rate * self._seconds
        for attempt in range(1, TRIES + 1):
            found = self._transport(who, case, read_all, SETTLE * attempt)
            frames = found["receive"]["frames"]
            if frames >= 0.5 * wanted:
                return found
            if attempt < TRIES:
                common.report_retry(f"{what}: {frames} of {wanted:.0f} frames came")
        raise LabError(f"{what}: {frames} of {wanted:.0f} frames came, {TRIES} times")

    def _transport(self, who: str, case: Case, read_all: bool, settle: float) -> dict:
        transport = TRANSPORTS[who]
        socket = self._folder / "handoff.sock"
        socket.unlink(missing_ok=True)
        fill = {"socket": socket, "caps": case.caps, "area": 12 * case.bytes}
        window = self._window(settle)
        send = self._start(
            ["send", transport.send.format(**fill), f"--caps={case.caps}"],
            self._sender_core,
            window,
            "open",
            case.rate,
        )
        if transport.makes_socket:
            _wait_for(socket, send)
        arguments = ["--read-all"] if read_all else transport.arguments
        receive = self._start(
            ["receive", transport.receive.format(**fill), *arguments],
            self._receiver_core,
            window,
            "cluster",
            case.rate,
        )
        try:
            return {"receive": _result(receive), "send": _result(send)}
        finally:
            _end(send)

    def generator(self, case: Case) -> dict:
        """The generator alone."""
        command = ["send", "fakesink sync=false", f"--caps={case.caps}"]
        return _result(self._start(command, self._sender_core, self._window(), "open", case.rate))

    def wake(self, who: str, case: Case) -> dict:
        """The generator, and what is woken on the other core for each frame: the least that a
        transport can do whose consumer sleeps."""
        command = [who, f"--caps={case.caps}", f"--peer-cpu={self._receiver_core}"]
        return _result(self._start(command, self._sender_core, self._window(), "open", case.rate))

    def private(self, case: Case) -> dict:
        command = ["private", f"--bytes={case.bytes}"]
        return _result(self._start(command, self._receiver_core, self._window(), "cluster"))

    def eventfd(self) -> dict:
        command = ["eventfd", f"--peer-cpu={self._receiver_core}"]
        return _result(self._start(command, self._sender_core, self._window(), "open"))

    def _window(self, settle: float = SETTLE) -> list[str]:
        start = time.monotonic_ns() + int(settle * 1e9)
        return [f"--from={start}", f"--until={start + int(self._seconds * 1e9)}"]

    def _start(
        self, command: list[str], core: int, window: list[str], domain: str, rate: int = RATE
    ) -> subprocess.Popen:
        return subprocess.Popen(
            ["gid-bench-handoff", *command, *window, f"--cpu={core}", f"--rate={rate}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "GID_DOMAIN": domain},
        )


def _wait_for(socket: Path, process: subprocess.Popen) -> None:
    while not socket.exists() and process.poll() is None:
        time.sleep(0.005)


def _end(process: subprocess.Popen) -> None:
    """Our own child, where the other side's failure has left it running."""
    if process.poll() is None:
        process.kill()
        process.communicate()


def _result(process: subprocess.Popen) -> dict:
    try:
        output, errors = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    if process.returncode != 0 or not output:
        raise LabError(f"{' '.join(process.args)}:\n{errors.strip()}")
    return json.loads(output)


# --- the figures ----------------------------------------------------------------------------------


def measure(bench: Bench, options: argparse.Namespace) -> list[dict]:
    """All runs, each repetition of everything after the other, so that noise meets all alike."""
    plan = [("limit", None, None)]
    for size, format in itertools.product(options.size, options.format):
        case = Case(size, format)
        plan += [(who, case, None) for who in ("generator", "private")]
        plan += [(who, case, read) for read in (False, True) for who in TRANSPORTS]
        if size == FAST_SIZE:
            plan += [(who, case, None) for who in WAKES]
            case = Case(size, format, FAST_RATE)
            plan += [(who, case, None) for who in ("generator", *WAKES)]
            plan += [(who, case, False) for who in TRANSPORTS]
    rows = {entry: [] for entry in plan}
    progress = common.Progress(len(plan) * options.repetitions)
    for _, entry in itertools.product(range(options.repetitions), plan):
        progress.step(_name(entry))
        rows[entry].append(_run(bench, *entry))
    progress.end()
    return [_row(entry, runs, rows) for entry, runs in rows.items() if entry[0] != "generator"]


def _name(entry: tuple) -> str:
    who, case, read = entry
    parts = [who, *([case.size, case.format, f"{case.rate}/s"] if case else [])]
    parts += ["reading"] if read else []
    return " ".join(parts)


def _run(bench: Bench, who: str, case: Case | None, read: bool | None) -> dict:
    if who == "limit":
        return bench.eventfd()
    if who == "generator":
        return bench.generator(case)
    if who in WAKES:
        return bench.wake(who, case)
    if who == "private":
        return bench.private(case)
    return bench.transport(who, case, read)


def _median(runs: list[dict], *path: str) -> float:
    values = []
    for run in runs:
        for key in path:
            run = run[key]
        values.append(run)
    return round(statistics.median(values), 3)


def _row(entry: tuple, runs: list[dict], rows: dict) -> dict:
    who, case, read = entry
    if who == "limit":
        figures = {key: _median(runs, key) for key in ("p50_us", "p99_us")}
        return {"bench": "handoff", "who": "limit", "what": "eventfd round trip", **figures}
    row = {"bench": "handoff", "who": who, "size": case.size, "format": case.format}
    row["rate"] = case.rate
    if who == "private":
        what = "reading private memory"
        return {**row, "who": "limit", "what": what, "read_cpu_us": _median(runs, "cpu_us")}
    generator = _median(rows["generator", case, None], "cpu_us")
    if who in WAKES:
        cpu_us = round(_median(runs, "cpu_us") - generator, 3)
        return {**row, "who": "limit", "what": WAKES[who], "transport_cpu_us": cpu_us}
    sender, receiver = _median(runs, "send", "cpu_us"), _median(runs, "receive", "cpu_us")
    costs = [cost_of_one_received(run, generator) for run in runs]
    return {
        **row,
        "read_all": read,
        "transport_cpu_us": round(statistics.median(costs), 3),
        "came_of_sent": round(min(_received_share(run) for run in runs), 4),
        "generator_cpu_us": generator,
        "sender_cpu_us": sender,
        "receiver_cpu_us": receiver,
        "latency_p50_us": _median(runs, "receive", "p50_us"),
        "latency_p99_us": _median(runs, "receive", "p99_us"),
        "frames": _median(runs, "receive", "frames"),
        "lost": max(run["receive"]["lost"] for run in runs),
    }


def _received_share(run: dict) -> float:
    """One may be on its way at either end of the time that is looked at: no more than all came."""
    return min(1.0, run["receive"]["frames"] / max(1, run["send"]["frames"]))


def cost_of_one_received(run: dict, generator_us: float) -> float:
    """What was spent on frames that were lost is spent on the others."""
    sender = run["send"]["cpu_us"] - generator_us
    return sender / max(1e-9, _received_share(run)) + run["receive"]["cpu_us"]


def ratios(rows: list[dict]) -> dict[str, float]:
    """What the project promises. Of both formats, the one where gid does worse."""
    found = {
        name: [function(rows, format) for format in FORMATS]
        for name, function in {
            "transport_cpu_1080p_vs_best_peer": _cpu_vs_peer,
            "transport_cpu_1080p_fast_vs_best_peer": _fast_cpu_vs_peer,
            "bare_wake_1080p_vs_best_peer": _wake_vs_peer,
            "woken_source_1080p_vs_best_peer": _source_vs_peer,
            "above_wake_fast_vs_best_peer": _above_wake_vs_peer,
            "transport_cpu_2160p_vs_720p": _cpu_growth,
            "read_all_1080p_vs_private": _read_vs_private,
            "latency_p50_vs_best_peer": _latency_vs_peer,
        }.items()
    }
    known = {name: [value for value in values if value] for name, values in found.items()}
    result = {name: round(max(values), 3) for name, values in known.items() if values}
    came = [row["came_of_sent"] for row in rows if row["who"] == "gid" and "came_of_sent" in row]
    return result | ({"came_of_sent_worst": min(came)} if came else {})


def _figure(rows: list[dict], key: str, **wanted) -> float | None:
    for row in rows:
        if all(row.get(name) == value for name, value in wanted.items()) and key in row:
            return row[key]
    return None


def _divide(one: float | None, other: float | None) -> float | None:
    return one / other if one and other else None


def _best_peer(rows: list[dict], key: str, **where) -> float | None:
    peers = [_figure(rows, key, who=peer, size="1080p", read_all=False, **where) for peer in PEERS]
    return min((value for value in peers if value), default=None)


def _vs_best_peer(rows: list[dict], key: str, rate: int = RATE, **where) -> float | None:
    ours = _figure(rows, key, who="gid", size="1080p", read_all=False, rate=rate, **where)
    return _divide(ours, _best_peer(rows, key, rate=rate, **where))


def _cpu_vs_peer(rows: list[dict], format: str) -> float | None:
    return _vs_best_peer(rows, "transport_cpu_us", format=format)


def _fast_cpu_vs_peer(rows: list[dict], format: str) -> float | None:
    return _vs_best_peer(rows, "transport_cpu_us", format=format, rate=FAST_RATE)


def _wake_vs_peer(rows: list[dict], format: str, who: str = "wake") -> float | None:
    where = {"format": format, "rate": RATE}
    wake = _figure(rows, "transport_cpu_us", what=WAKES[who], size="1080p", **where)
    return _divide(wake, _best_peer(rows, "transport_cpu_us", **where))


def _source_vs_peer(rows: list[dict], format: str) -> float | None:
    return _wake_vs_peer(rows, format, "wake-source")


def _above_wake_vs_peer(rows: list[dict], format: str) -> float | None:
    """At 1000 a second: what is not the waking of a source, which all of them have to do."""
    where = {"format": format, "rate": FAST_RATE}
    key, who = "transport_cpu_us", WAKES["wake-source"]
    wake = _figure(rows, key, what=who, size="1080p", **where)
    ours = _figure(rows, key, who="gid", size="1080p", read_all=False, **where)
    peer = _best_peer(rows, key, **where)
    if wake is None or ours is None or peer is None or min(ours, peer) <= wake:
        return None
    return (ours - wake) / (peer - wake)


def refusals(rows: list[dict]) -> list[dict]:
    """Where the ratio above the waking means nothing: a transport that costs no more than that."""
    found = []
    for format in FORMATS:
        where = {"format": format, "rate": FAST_RATE, "size": FAST_SIZE}
        key = "transport_cpu_us"
        wake = _figure(rows, key, what=WAKES["wake-source"], **where)
        for who in ("gid", *PEERS):
            cost = _figure(rows, key, who=who, read_all=False, **where)
            if cost is not None and wake is not None and cost <= wake:
                why = f"{who} takes {cost:.1f} µs a frame, and waking a source alone {wake:.1f} µs"
                row = {"bench": "handoff", "who": "refused", "format": format}
                found.append(row | {"what": "above_wake_fast_vs_best_peer", "why": why})
    return found


def _latency_vs_peer(rows: list[dict], format: str) -> float | None:
    return _vs_best_peer(rows, "latency_p50_us", format=format)


def _cpu_growth(rows: list[dict], format: str) -> float | None:
    small, large = (
        _figure(rows, "transport_cpu_us", who="gid", size=size, format=format, read_all=False)
        for size in ("720p", "2160p")
    )
    return _divide(large, small)


def _read_vs_private(rows: list[dict], format: str) -> float | None:
    ours = _figure(rows, "receiver_cpu_us", who="gid", size="1080p", format=format, read_all=True)
    return _divide(ours, _figure(rows, "read_cpu_us", who="limit", size="1080p", format=format))


# --- the command line -----------------------------------------------------------------------------

_TABLE = """\
{who:8} {size:6} {format:5} {rate:>5} {reading:8} {transport_cpu_us:>10} {receiver_cpu_us:>10} \
{latency_p50_us:>10} {latency_p99_us:>10}"""


def show(rows: list[dict], found: dict[str, float]) -> None:
    """The table for people."""
    heads = {
        "who": "who",
        "size": "size",
        "format": "form",
        "rate": "fps",
        "reading": "reading",
        "transport_cpu_us": "CPU µs",
        "receiver_cpu_us": "consumer",
        "latency_p50_us": "p50 µs",
        "latency_p99_us": "p99 µs",
    }
    print(_TABLE.format(**heads))
    for row in rows:
        if row["who"] in TRANSPORTS:
            print(_TABLE.format(**row, reading="all" if row["read_all"] else "nothing"))
        elif row["what"] in WAKES.values():
            waking = "(wake)" if row["what"] == WAKES["wake"] else "(source)"
            print(_TABLE.format(**dict.fromkeys(heads, "") | row | {"reading": waking}))
        elif "size" in row:
            line = dict.fromkeys(heads, "") | row | {"reading": "all"}
            print(_TABLE.format(**line | {"receiver_cpu_us": row["read_cpu_us"]}))
        else:
            print(f"limit    {row['what']}: p50 {row['p50_us']} µs, p99 {row['p99_us']} µs")
    print()
    for name, value in found.items():
        print(f"{name:36} {value:.3f}")


def main() -> int:
    parser = common.parser("handoff", __doc__)
    parser.add_argument(
        "--seconds", type=common.seconds, default=2, help="seconds of each run (default: 2)"
    )
    parser.add_argument(
        "--repetitions", type=common.count, default=5, help="of everything (default: 5)"
    )
    parser.add_argument("--size", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--format", nargs="+", choices=FORMATS, default=list(FORMATS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gidway-bench-", dir=common.memory_folder()) as folder:
        with common.cockpit(Path(folder), streams="bench"):
            rows = measure(Bench(Path(folder), options.seconds), options)
    found, refused = ratios(rows), refusals(rows)
    show(rows, found)
    for row in refused:
        print(f"{row['what']:36} means nothing ({row['format']}): {row['why']}")
    common.write(options.json, rows + refused, found)
    return 0


if __name__ == "__main__":
    sys.exit(common.run(main))
