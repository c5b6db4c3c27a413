# SPDX-License-Identifier: MIT
"""./run soak [--hours H]: runs a cockpit for hours under attacks; nothing may grow.

The cockpit is the one of `./run bench isolation`. In the domain `open` run Weston, a telltale, and
a film with its view. In `cluster` runs gid-cluster with its meter. The soak does to `open` what
that benchmark does, one case after the other. It also kills programs one by one, and makes gidd
read its configuration again. A third domain, `rear`, has a film and a camera, which the cluster
shows.

The soak waits after each case until everything works again. Then it looks at the memory, the
descriptors and the mappings of all processes that must not end. Once in a minute it writes a
sample: the lowest of these numbers in that minute, with rates and latencies. All samples so far are
in DIR/soak.json and DIR/soak.html.

A soak of 48 hours can be done in parts: --parts FILE adds this run to those that the file has, of
this machine or of others, and says how many hours there are so far, and what broke or grew.
"""

import argparse
import dataclasses
import json
import signal
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path

import gid_console
from gid_vm.folder import memory_folder

from lab.domains.program import LabError
from lab.isolation.cases import Case, Undisturbed, all_cases
from lab.isolation.guest import GUEST_SECONDS
from lab.isolation.measure import measure
from lab.soak import parts
from lab.soak.page import Result, write_page
from lab.soak.rear import SoakCockpit
from lab.soak.samples import least, sample
from lab.soak.wear import Daemon, Kills, Reload

_STOPPED = 5.0  # seconds that open is stopped in one of the cases
BROKEN = 3  # exit status: something broke during the run
_WARM_ROUNDS = 2  # of all cases: each has run, and its one-time growth is over


@dataclass
class Minute:
    """The measurements since the last sample."""

    begin: float
    film: tuple[int, int]  # as returned by SoakCluster.film()
    losses: int  # transitions of the camera's surface
    rates: list[float] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)  # in refreshes
    late: list[float] = field(default_factory=list)  # the machine itself, in refreshes
    samples: dict[str, list[dict[str, int]]] = field(default_factory=dict)


class Soak:
    def __init__(self, options: argparse.Namespace, cases: list[Case], folder: Path) -> None:
        self._options, self._cases, self._folder = options, cases, folder
        self._seconds = options.hours * 3600
        self._case_seconds = options.seconds or (GUEST_SECONDS if options.vm else 6)
        self.result = Result()
        self._part = parts.begin()

    def run(self) -> None:
        contained = ["open"] if self._options.container else []
        with SoakCockpit(self._folder, self._options.vm, contained) as cockpit:
            self.result.scheduling = cockpit.cluster.scheduling
            self._begin = time.monotonic()
            minute = self._new_minute(cockpit)
            while self._elapsed() < self._seconds:
                case = self._cases[self.result.cases % len(self._cases)]
                self._try(cockpit, case, minute)
                if self.result.cases == _WARM_ROUNDS * len(self._cases):
                    self.result.warm_rounds = self._elapsed() / 3600
                if time.monotonic() - minute.begin >= self._options.sample:
                    self._sample(cockpit, minute)
                    minute = self._new_minute(cockpit)

    def _elapsed(self) -> float:
        return time.monotonic() - self._begin

    def _new_minute(self, cockpit: SoakCockpit) -> Minute:
        camera = cockpit.cluster.role("camera")
        return Minute(time.monotonic(), cockpit.cluster.film(), camera["transition_count"])

    def _try(self, cockpit: SoakCockpit, case: Case, minute: Minute) -> None:
        print(f"{self._elapsed() / 3600:.2f} h: {case.name}", file=sys.stderr, flush=True)
        self.result.cases += 1
        found = measure(cockpit, case, self._case_seconds)
        cockpit.wait_rear()
        refresh = found.meter["interval_p50_us"]
        minute.rates.append(found.rate)
        minute.gaps.append(found.longest_gap_us / refresh)
        minute.late.append(found.stall_us / refresh)
        for name, process in cockpit.living().items():
            minute.samples.setdefault(name, []).append(sample(process.pid))

    def _sample(self, cockpit: SoakCockpit, minute: Minute) -> None:
        cluster = cockpit.cluster
        camera = cluster.role("camera")
        frames, age = (now - then for now, then in zip(cluster.film(), minute.film, strict=True))
        self.result.samples.append(
            {
                "hours": round(self._elapsed() / 3600, 5),
                "rate_hz": min(minute.rates),
                "gap_refreshes": max(minute.gaps),
                "machine_late_refreshes": max(minute.late),
                "film_hz": frames / (time.monotonic() - minute.begin),
                "film_latency_ms": age / max(1, frames) / 1e6,
                "telltale_latency_ms": cluster.role("telltale")["latency_p50_ns"] / 1e6,
                "camera_latency_ms": camera["latency_p50_ns"] / 1e6,
                "camera_transitions": camera["transition_count"] - minute.losses,
                "programs": {name: least(samples) for name, samples in minute.samples.items()},
            }
        )
        self.write(self._options.out)

    def write(self, folder: Path) -> None:
        """Writes the results so far."""
        (folder / "soak.json").write_text(json.dumps(self.result.samples, indent="\t") + "\n")
        write_page(folder / "soak.html", self.result)
        self.tell_part(parts.RUNS)

    def tell_part(self, state: str) -> None:
        """Records the progress of this part in the file of all parts."""
        if self._options.parts is not None:
            result = self.result
            more = {"hours": result.hours, "told": result.verdict, "grows": bool(result.growing)}
            part = dataclasses.replace(self._part, state=state, **more)
            parts.add(self._options.parts, part)


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="./run soak",
        description=__doc__.partition(": ")[2],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--hours",
        type=gid_console.decimal_number(0.001, 8760),
        default=2,
        help="for how long (default: 2)",
    )
    parser.add_argument(
        "--seconds",
        type=gid_console.decimal_number(0.1, 86400),
        help=f"the shortest time of a case (default: 6, with --vm {GUEST_SECONDS:.0f})",
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--vm", action="store_true", help="open is a guest, which is also killed and reset"
    )
    where.add_argument(
        "--container",
        action="store_true",
        help="open is a container, by podman, which is also killed and updated",
    )
    parser.add_argument(
        "--case", action="append", help="run only this case; can be given several times"
    )
    parser.add_argument(
        "--sample",
        type=gid_console.decimal_number(0.1, 86400),
        default=60,
        metavar="S",
        help="seconds between samples (default: 60)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("out"),
        metavar="DIR",
        help="where the results go (default: out)",
    )
    parser.add_argument(
        "--parts", type=Path, metavar="FILE", help="adds this run to the parts of a longer soak"
    )
    return parser


def main() -> int:
    parser = make_parser()
    options = parser.parse_args()
    befalls = all_cases(_STOPPED, options.vm, options.container)
    known = [Undisturbed(), *befalls, Kills(), Daemon(), Reload()]
    names = [case.name for case in known]
    if unknown := set(options.case or ()) - set(names):
        parser.error(f"no such case: {', '.join(unknown)}; there are {', '.join(names)}")
    cases = [case for case in known if not options.case or case.name in options.case]
    if options.parts is not None and options.parts.exists():
        parts.read(options.parts)  # fails now rather than after hours
    options.out.mkdir(parents=True, exist_ok=True)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # as under nohup
            signal.signal(number, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="gid-soak-", dir=memory_folder()) as folder:
        soak = Soak(options, cases, Path(folder))
        soak.tell_part(parts.RUNS)  # an unwritable file also fails now
        try:
            soak.run()
        except (LabError, OSError) as error:
            soak.result.broken = str(error)
            print(f"soak: {error}", file=sys.stderr)
        except KeyboardInterrupt:
            print("soak: interrupted", file=sys.stderr)
        except Exception as error:  # a mistake of ours is no good end either
            soak.result.broken = f"{type(error).__name__}: {error}"
            traceback.print_exc()
    if soak.result.samples:
        soak.write(options.out)
        for curve in soak.result.curves():
            print(curve.verdict)
        print(options.out / "soak.html")
    if options.parts is not None:
        soak.tell_part(parts.BROKE if soak.result.broken else parts.ENDED)
        print(parts.summary(parts.read(options.parts)))
    print(soak.result.verdict)
    if soak.result.broken and soak.result.cases:
        return BROKEN
    return 0 if soak.result.is_good else 1


if __name__ == "__main__":
    sys.exit(gid_console.run("soak", main, trouble=(parts.BadParts,)))
