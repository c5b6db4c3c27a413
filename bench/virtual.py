#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A cockpit whose domain `open` is a QEMU guest: its start, its load, its memory, and its reboot.

One guest boots, and from its start on is counted: until its gidd answers, until a light that is
drawn there without a compositor is live on gid-cluster's output, until Weston runs there, until a
light that Weston forwards is live, and until a film's first frame was shown. Then the processor
time of QEMU and of the host's programs, idle and running, beside what the guest's own kernel
counts; memory on both sides of the border; what a repaint takes the guest's Weston; a film that is
decoded there, and a live source, of which gid-cluster shows each frame or not; what decoding takes,
into gid memory and into a sink that drops it; and gid-cluster's
rate undisturbed; while programs of the guest leak, scribble and send random messages, and while its
devices write into memory of others by themselves (DMA); while they commit pictures without end, and
while the guest is reset and boots again, as often as is asked for.

Last, the commands of --run, each for itself in the guest.
"""

import io
import json
import re
import shlex
import statistics
import sys
import tempfile
import time
from pathlib import Path

from bench import common, load, repaint
from bench.shown import COPIES, FEW, decoding, to_decode
from lab.domains.place import Place
from lab.domains.program import LabError, wait_for
from lab.film import clip, film
from lab.isolation.cases import (
    Case,
    Dma,
    Flood,
    Leak,
    Messages,
    Reboot,
    Scribble,
    Undisturbed,
)
from lab.isolation.measure import measure
from lab.isolation.pair import Cockpit

CONFIG = """\
[shell]
panel-position=none
locking=false
startup-animation=none
close-animation=none
"""
WINDOWS = 3  # parts of each measurement of processor time
SETTLE = 2.0  # seconds
RUN_SECONDS = 1500.0  # of one command: translated code takes its time, also on a busy machine
PARTS = ("start", "load", "repaint", "film", "decode", "attacks", "reboot")
SHOWN = {"width": 320, "height": 180, "rate": 10}  # of what a translated guest decodes in time
LIVE_SECONDS = 5
STREAM = "safety/film-costly"  # of a layer that gid-cluster has anyway
LOOKS, LOOK = 100, 0.1  # times and seconds, until the last frame is light
# Streams of open and of the cluster that nobody reads.
DECODED, NATIVELY_DECODED = "safety/decoded", "meter-decoded"
DECODE_TURN = 7.0  # of the seconds of a measurement: one for each so many
NATIVELY = 10  # times as many frames: a shell tells processor time in hundredths of a second
GREAT_GUEST = (
    "local=probe-* streams=256 client-streams=256 subscriptions=256 client-subscriptions=256 "
    "slabs=256 client-slabs=256 held=4096 client-held=4096"
)
FIRST = 10  # repaints before any is counted
FILM = "safety/film"
CLIENTS = {
    "gid": ("gid-view", f"--stream={FILM}", "--fullscreen"),
    "wl_shm": (
        *("gst-launch-1.0", "-q", "gidsrc", f"stream={FILM}"),
        *("!", "waylandsink", "fullscreen=true"),
    ),
}
WATCHED = ("gidd", "weston", "gid-telltale", "gst-launch-1.0", "gid-view")
# By the shell alone: each program that starts takes a good part of a second in translated code.
PSS = (
    'for name; do for pid in $(pidof "$name"); do while read -r key kib unit; do '
    '[ "$key" != Pss: ] || echo "$name $kib"; done </proc/$pid/smaps_rollup; done; done'
)


class GuestCockpit(Cockpit):
    """Programs of the guest may have as many streams as gid-probe measures."""

    guest_keys = GREAT_GUEST

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, guest=True, starts_open=False)


class Bench:
    def __init__(self, cockpit: Cockpit, seconds: float, reboots: int) -> None:
        self._cockpit, self._seconds, self._reboots = cockpit, seconds, reboots
        self._piece = "--part=start"
        self.rows: list[dict] = []

    def _add(self, what: str, **row: object) -> None:
        """`piece`: the option that it is measured by."""
        self.rows.append({"bench": "virtual", "what": what, "piece": self._piece, **row})

    def measure(self, part: str, goes_on: bool) -> None:
        """`goes_on`: what fails is told, and costs the others nothing."""
        self._piece = f"--part={part}"
        try:
            getattr(self, part)()
        except LabError as error:
            if not goes_on:
                raise
            self._add("failed", who=part, why=str(error))

    # --- start ----------------------------------------------------------------------------------

    def start(self) -> None:
        """From the start of QEMU, and of the light from when the guest is up."""
        open, begin = self._cockpit.open, time.monotonic()
        open.place.up()
        up = time.monotonic()
        self._add_time("start of the guest to its gidd", up - begin)
        open.place.start(
            "light", ["gid-telltale", "--stream=safety/telltale", "--state=5", "--cycle=0"]
        )
        live = self._live()
        self._add_time("start of the guest to a live light, drawn without Weston", live - begin)
        self._add_time("guest is up to a live light, drawn without Weston", live - up)
        open.place["light"].kill()
        open.place.forget("light")
        wait_for("the light's end", lambda: self._role()["state"] != "live")
        # What of that is the program's own start, which translated code makes long.
        alone = time.monotonic()
        open.place.run(["gid-telltale", "--version"])
        self._add_time(
            "start of the light's program alone, which was read before", time.monotonic() - alone
        )
        again = time.monotonic()
        open.start_desktop()
        self._add_time("start of Weston in the guest", time.monotonic() - again)
        open.start()
        self._add_time("start of Weston in the guest to its live light", self._live() - again)

    def _add_time(self, name: str, seconds: float) -> None:
        self._add("start", who=name, seconds=round(seconds, 3))

    def _role(self) -> dict:
        return self._cockpit.cluster.role("telltale")

    def _live(self) -> float:
        """When the output showed it, on the clock of all programs."""
        self._cockpit.cluster.wait_live()
        wait_for("the light to be shown", lambda: self._role()["transitions"][-1]["shown_ns"])
        return self._role()["transitions"][-1]["shown_ns"] / 1e9

    # --- load and memory ------------------------------------------------------------------------

    def load(self) -> None:
        """All of open runs; the meter draws on the cluster."""
        meter = self._cockpit.cluster.start_meter(0)  # the guest may take its time to answer
        time.sleep(SETTLE)
        self._measure_cpu()
        self._measure_memory()
        report = json.loads(meter.finish())
        self._cockpit.cluster.place.forget("meter")
        self._add("rate", who="cluster, with the guest running", rate_hz=report["rate"])
        role = self._role()
        if role["capture_latency_count"] > 0:
            self._add(
                "latency",
                who="the guest's light, from its commit in Weston to light",
                p50_ms=role["capture_latency_p50_ns"] / 1e6,
                p99_ms=role["capture_latency_p99_ns"] / 1e6,
                max_ms=role["capture_latency_max_ns"] / 1e6,
                n=role["capture_latency_count"],
            )

    def _programs(self) -> dict[str, int]:
        cluster = self._cockpit.cluster.place
        named = {
            f"host: {name}": cluster[name].pid
            for name in ("gidd", "display", "meter")
            if cluster.is_running(name)
        }
        return named | {
            "host: the hub's gidd": self._cockpit.hub["gidd"].pid,
            "host: QEMU, with all of the guest": self._cockpit.open.place.qemu,
        }

    def _guest_times(self) -> tuple[int, int]:
        """Ticks that its kernel counted, in all and idle."""
        line = self._cockpit.open.place.run(["head", "-n1", "/proc/stat"])
        ticks = [int(word) for word in line.split()[1:]]
        return sum(ticks[:8]), ticks[3] + ticks[4]

    def _measure_cpu(self) -> None:
        programs = self._programs()
        samples: dict[str, list[float]] = {name: [] for name in (*programs, "guest: in use")}
        for _ in range(WINDOWS):
            before = {name: common.cpu_seconds(pid) for name, pid in programs.items()}
            ticks, begin = self._guest_times(), time.monotonic()
            time.sleep(self._seconds / WINDOWS)
            passed = time.monotonic() - begin
            for name, pid in programs.items():
                used = common.cpu_seconds(pid) - before[name]
                samples[name].append(used / passed * 100)
            ended = self._cockpit.cluster.place.ended()
            if ended:
                raise LabError(f"ended while its time was taken: {', '.join(ended)}")
            all, idle = (now - then for now, then in zip(self._guest_times(), ticks, strict=True))
            samples["guest: in use"].append(100 - idle / max(1, all) * 100)
        for name, values in samples.items():
            self._add(
                "cpu",
                who=name,
                cpu_percent=round(statistics.median(values), 2),
                cpu_percent_min=round(min(values), 2),
                cpu_percent_max=round(max(values), 2),
                n=len(values),
            )

    def _measure_memory(self) -> None:
        for name, pid in self._programs().items():
            self._add("memory", who=name, kib=load.pss_kib(pid))
        told = self._cockpit.open.place.run(["sh", "-c", PSS, "sh", *WATCHED])
        for line in told.splitlines():
            name, kib = line.split(" ")
            self._add("memory", who=f"guest: {name}", kib=int(kib))

    # --- repaint --------------------------------------------------------------------------------

    def repaint(self) -> None:
        """The guest's film full screen in a Weston of its own there, in gid memory and in wl_shm:
        from the beginning of a repaint to when it is posted, by the guest's own clock."""
        for who, client in CLIENTS.items():
            text = self._timeline(client)
            row = repaint.time_row(who, repaint.frames_of(io.BytesIO(text.encode()))[FIRST:])
            keys = ("repaints", "mean_ms", "p50_ms", "p99_ms", "max_ms", "outliers")
            self._add("repaint", who=who, **{key: row[key] for key in keys})

    def _timeline(self, client: tuple[str, ...]) -> str:
        """The log of a Weston that shows the film by this client."""
        place = self._cockpit.open.place
        config, log = place.write("repaint.ini", CONFIG.encode()), "/run/guest/repaint.log"
        command = ["weston", "--backend=headless", "--renderer=pixman", "--socket=repaint"]
        command += ["--width=320", "--height=180", "--idle-time=0", f"--config={config}"]
        command += ["--modules=gid-buffer.so", f"--log={log}", "--logger-scopes=log,timeline"]
        weston = place.start("repaint", command)
        self._until(f"grep -q 'gid: ready' {log}")
        shown = place.start("shown", client, WAYLAND_DISPLAY="repaint")
        self._until(f"test $(grep -c core_repaint_posted {log}) -gt {2 * FIRST}")
        time.sleep(self._seconds)
        shown.kill()
        weston.stop()
        place.forget("shown", "repaint")
        text = place.run(["cat", log])
        place.run(["rm", log])
        return text

    def _until(self, condition: str) -> None:
        """A command of the guest's shell."""
        self._cockpit.open.place.run(["sh", "-c", f"until {condition}; do sleep 0.2; done"])

    # --- a film and a live source ---------------------------------------------------------------

    def film(self) -> None:
        """Of the frames that the guest sends in time those that gid-cluster shows."""
        caps = "video/x-raw,format=BGRx,width={width},height={height},framerate={rate}/1"
        with tempfile.TemporaryDirectory() as name:
            original, place = clip.find(None), Path(name)
            made = clip.shrink(original, 1280 // SHOWN["width"], place, SHOWN["rate"])
            made = self._cockpit.open.place.write("film.mp4", made.read_bytes())
        sources = {
            "film": film.decode(made),
            "camera": f"videotestsrc is-live=true num-buffers={LIVE_SECONDS * SHOWN['rate']}",
        }
        for who, source in sources.items():
            self._add(
                "shown", who=who, rate=SHOWN["rate"], **self._shown(who, f"{source} ! {caps}")
            )

    def _shown(self, who: str, pipeline: str) -> dict[str, int | float]:
        place = self._cockpit.open.place
        stats = place.folder / f"{who}.json"
        sink = f"gidsink name=sink stream={STREAM} wait-for-connection=true"
        words = [f"--stats={stats}", f"{pipeline.format(**SHOWN)} ! {sink}"]
        before = self._layer()
        player = place.start(who, ["python3", str(film.PLAY), *words])
        if player.wait(RUN_SECONDS) != 0:  # all that a part of it sent may have been shown
            raise LabError(f"the {who} broke off: {player.said()[-500:]}")
        place.forget(who)
        sent = place.read_json(stats)[STREAM]["rendered"]
        if sent == 0:
            raise LabError(f"nothing was sent of the {who}: {player.said()[-500:]}")
        found = before
        for _ in range(LOOKS):
            found = self._layer()
            if found["told"] - before["told"] >= sent:
                break
            time.sleep(LOOK)
        shown = found["shown"] - before["shown"]
        return {"sent": sent, "shown": shown, "shown_of_sent": round(shown / sent, 4)}

    def _layer(self) -> dict[str, int]:
        """Frames that came to gid-cluster, and those that it has shown."""
        layers = self._cockpit.cluster.status()["layers"]
        layer = next(one for one in layers if one["stream"] == STREAM)
        return {"told": layer["frames"], "shown": layer["latency_count"]}

    # --- decoding -------------------------------------------------------------------------------

    def decode(self) -> None:
        """As fast as it goes, into gid memory and into a sink that drops it, in turns: in the
        guest and natively. The film is the same, since what either costs depends on its size."""
        with tempfile.TemporaryDirectory() as name:
            small = clip.shrink(clip.find(None), 1280 // SHOWN["width"], Path(name))
            frames = COPIES * clip.count(small)
            film = to_decode(small, Path(name)).read_bytes()
        cockpit = self._cockpit
        for where, place, times, stream in (
            ("guest", cockpit.open.place, 1, DECODED),
            ("native", cockpit.cluster.place, NATIVELY, NATIVELY_DECODED),
        ):
            path = place.write("decode.h264", film * times)
            for who, each in self._decode_rates(place, path, frames * times, stream).items():
                self._add("decode", where=where, who=who, each=each, n=len(each))

    def _decode_rates(
        self, place: Place, path: Path, frames: int, stream: str
    ) -> dict[str, list[float]]:
        sinks = {"gid": f"gidsink stream={stream} sync=false", "fakesink": "fakesink sync=false"}
        rates: dict[str, list[float]] = {who: [] for who in sinks}
        for turn in range(max(1, round(self._seconds / DECODE_TURN))):
            for who, sink in list(sinks.items())[:: 1 if turn % 2 == 0 else -1]:
                all, few = (self._decode_seconds(place, path, sink, n) for n in (None, FEW))
                rates[who].append((frames - FEW) / max(all - few, 1e-3))
        return rates

    def _decode_seconds(self, place: Place, path: Path, sink: str, frames: int | None) -> float:
        """Of the processor, as the domain's shell tells them."""
        words = decoding(path, sink, frames)
        line = f"{shlex.join(words)} </dev/null >/dev/null && times"
        told = place.run(["sh", "-c", line], patience=RUN_SECONDS)
        children = re.findall(r"(\d+)m([\d.]+)s", told.splitlines()[-1])
        return sum(int(minutes) * 60 + float(seconds) for minutes, seconds in children)

    # --- attacks, and reboots -------------------------------------------------------------------

    def attacks(self) -> None:
        self._compare({case.name: case for case in (Leak(), Scribble(), Messages(), Dma())})

    def reboot(self) -> None:
        reboots = {f"reboot {number}": Reboot() for number in range(1, self._reboots + 1)}
        self._compare({"flood": Flood()} | reboots)

    def _compare(self, cases: dict[str, Case]) -> None:
        """The cluster's rate, each compared to the undisturbed one."""
        calm = measure(self._cockpit, Undisturbed(), self._seconds)
        refresh = calm.meter["interval_p50_us"]
        for name, case in ({"undisturbed": Undisturbed()} | cases).items():
            run = calm
            if not isinstance(case, Undisturbed):
                run = measure(self._cockpit, case, self._seconds)
            self._add(
                "rate",
                who=name,
                rate_hz=round(run.rate, 3),
                frames=run.meter["shown"],
                rate_vs_undisturbed=round(run.rate / calm.rate, 4),
                longest_gap_refreshes=round(run.longest_gap_us / refresh, 2),
                machine_late_refreshes=round(run.stall_us / refresh, 2),
                did=run.did,
            )

    # --- commands -------------------------------------------------------------------------------

    def run(self, line: str, goes_on: bool) -> None:
        self._piece = f"--run={line}"
        try:
            out = self._cockpit.open.place.run(shlex.split(line), patience=RUN_SECONDS)
        except LabError as error:
            if not goes_on:
                raise
            self._add("failed", who=line, why=str(error))
        else:
            self._add("run", who=line, out=out)


def show(rows: list[dict]) -> None:
    for row in rows:
        if row["what"] == "start":
            print(f"{row['who']:60} {row['seconds']:8.3f} s")
        elif row["what"] == "cpu":
            print(f"{row['who']:60} {row['cpu_percent']:8.2f} %")
        elif row["what"] == "memory":
            print(f"{row['who']:60} {row['kib']:8} KiB")
        elif row["what"] == "rate":
            print(f"{row['who']:60} {row['rate_hz']:8.2f} Hz")
        elif row["what"] == "repaint":
            who = f"guest: repaint, {row['who']}"
            print(f"{who:60} {row['mean_ms']:8.3f} ms, at most {row['max_ms']:.3f} ms")
        elif row["what"] == "shown":
            print(f"guest: {row['who']:53} {row['shown']} of {row['sent']} frames shown")
        elif row["what"] == "decode":
            rate = statistics.median(row["each"])
            what = f"{row['where']}: decoding into {row['who']}"
            print(f"{what:60} {rate:8.1f} frames/CPU s")
        elif row["what"] == "latency":
            print(f"{row['who']:60} {row['p50_ms']:8.2f} ms, at most {row['max_ms']:.2f} ms")
        else:
            print(f"{row['who']}: {row.get('why', 'done')}")


def main() -> int:
    parser = common.parser("virtual", __doc__)
    parser.add_argument(
        "--seconds",
        type=common.seconds,
        default=20,
        help="seconds of each measurement (default: 20)",
    )
    parser.add_argument("--reboots", type=common.count, default=1, help="of the guest (default: 1)")
    parser.add_argument("--part", action="append", choices=PARTS, help="default: all of them")
    parser.add_argument("--run", action="append", default=[], metavar="COMMAND")
    parser.add_argument(
        "--go-on", action="store_true", help="what fails costs the others nothing, and is told"
    )
    options = parser.parse_args()
    parts = options.part or ([] if options.run else list(PARTS))
    progress = common.Progress(1 + len(parts) + len(options.run))
    with tempfile.TemporaryDirectory(prefix="gid-bench-", dir=common.memory_folder()) as folder:
        with GuestCockpit(Path(folder)) as cockpit:
            bench = Bench(cockpit, options.seconds, options.reboots)
            progress.step("the guest boots")
            bench.start()
            for line in options.run:
                progress.step(line)
                bench.run(line, options.go_on)
            for part in parts:
                progress.step(part)
                if part != "start":
                    bench.measure(part, options.go_on)
    progress.end()
    show(bench.rows)
    rates = {row["who"]: row for row in bench.rows if "rate_vs_undisturbed" in row}
    ratios = {
        f"rate_{name}_vs_undisturbed": row["rate_vs_undisturbed"]
        for name, row in rates.items()
        if name != "undisturbed"
    }
    common.write(options.json, bench.rows, ratios)
    return 0


if __name__ == "__main__":
    sys.exit(common.run(main))
