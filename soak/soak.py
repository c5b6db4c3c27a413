# SPDX-License-Identifier: MIT
"""./run soak [--hours H]: runs a cockpit for hours under attacks, and checks that nothing grows.

The cockpit is that of `bench isolation`: in `open` Weston, a telltale, a film and its view; in
`cluster` gid-cluster with its meter. What befalls `open` there does here, case after case, and the
configuration is read again as well. In between, when all is live again, the processes that must
live are looked at: their memory, descriptors and mappings, beside the meter's rate and the latency.
"""

import argparse
import json
import signal
import sys
import tempfile
import time
from pathlib import Path

_TOP = Path(__file__).resolve().parents[1]
sys.path += [str(_TOP / "bench"), str(_TOP / "bench" / "isolation")]

import isolation  # noqa: E402
from cases import Case, Undisturbed, all_cases  # noqa: E402
from common import BenchError  # noqa: E402
from domains import Cockpit  # noqa: E402
from growth import growth  # noqa: E402
from page import Curve, write_page  # noqa: E402
from processes import wait_for  # noqa: E402

_STOPPED = 5.0  # seconds that open is stopped in one of the cases
_LEAST = {"descriptors": 1, "mappings": 1, "memory": 64}  # what counts as growth, in these units
_UNITS = {"descriptors": "", "mappings": "", "memory": "KiB"}


class Reload(Case):
    name = "reload"
    what = "both gidds read the changed configuration again"

    def __init__(self, configuration: Path) -> None:
        self._configuration = configuration
        self._slabs = 900

    def within(self, cockpit: Cockpit, seconds: float) -> None:
        self._slabs += 1 if self._slabs < 1000 else -100
        text = self._configuration.read_text()
        lines = [line for line in text.splitlines() if not line.startswith("slabs=")]
        lines.insert(lines.index("number=2") + 1, f"slabs={self._slabs}")
        self._configuration.write_text("\n".join(lines) + "\n")
        for domain in (cockpit.cluster, cockpit.open):
            domain.processes["gidd"].signal(signal.SIGHUP)
        gidd = cockpit.cluster.processes["gidd"]
        wait_for("the configuration to be read", lambda: "configuration" in gidd.said())


def look(pid: int) -> dict[str, int]:
    """What a process has. Of the program itself: taskset has become it."""
    folder = Path("/proc") / str(pid)
    memory = next(
        int(line.split()[1])
        for line in (folder / "status").read_text().splitlines()
        if line.startswith("RssAnon:")
    )
    return {
        "descriptors": len(list((folder / "fd").iterdir())),
        "mappings": len((folder / "maps").read_text().splitlines()),
        "memory": memory,
    }


class Soak:
    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self._seconds, self._every = options.hours * 3600, options.sample
        self._measure = options.seconds
        self._folder = folder
        self.samples: list[dict] = []
        self.rounds = 0

    def run(self) -> None:
        with Cockpit(self._folder) as cockpit:
            self.scheduling = cockpit.cluster.scheduling
            cases = [Undisturbed(), *all_cases(_STOPPED)]
            cases.append(Reload(self._folder / "cockpit.conf"))
            begin = sampled = time.monotonic()
            worst: dict[str, tuple[float, float]] = {}  # case: rate, gap in refreshes
            while (elapsed := time.monotonic() - begin) < self._seconds:
                case = cases[self.rounds % len(cases)]
                self.rounds += 1
                if sys.stderr.isatty():
                    print(f"\r\x1b[K{elapsed / 3600:.2f} h: {case.name}", end="", file=sys.stderr)
                found = isolation.measure(cockpit, case, self._measure)
                refresh = found.meter["interval_p50_us"]
                worst[case.name] = found.rate, found.longest_gap_us / refresh
                if time.monotonic() - sampled >= self._every or not self.samples:
                    sampled = time.monotonic()
                    self._sample(cockpit, (sampled - begin) / 3600, worst)
                    worst = {}
        if sys.stderr.isatty():
            print(file=sys.stderr)

    def _sample(self, cockpit: Cockpit, hours: float, worst: dict) -> None:
        telltale = cockpit.cluster.role("telltale")
        processes = cockpit.cluster.processes
        self.samples.append(
            {
                "hours": round(hours, 5),
                "latency_ms": telltale["latency_p50_ns"] / 1e6,
                "rate_hz": min(rate for rate, _ in worst.values()),
                "gap_refreshes": max(gap for _, gap in worst.values()),
                "gid-cluster": look(processes["display"].pid),
                "gidd": look(processes["gidd"].pid),
            }
        )

    def curves(self) -> list[Curve]:
        hours = [sample["hours"] for sample in self.samples]
        curves = []
        for program in ("gid-cluster", "gidd"):
            for what, unit in _UNITS.items():
                values = [sample[program][what] for sample in self.samples]
                found = growth(hours, values)
                grows = found.exceeds(_LEAST[what])
                curves.append(Curve(f"{program}: {what}", unit, hours, values, found, grows))
        for key, name, unit in (
            ("rate_hz", "the meter's lowest rate", "Hz"),
            ("gap_refreshes", "the meter's longest gap", "refreshes"),
            ("latency_ms", "the telltale's median latency", "ms"),
        ):
            values = [sample[key] for sample in self.samples]
            curves.append(Curve(name, unit, hours, values, growth(hours, values), None))
        return curves


def main() -> int:
    parser = argparse.ArgumentParser(prog="./run soak", description=__doc__.partition(": ")[2])
    parser.add_argument("--hours", type=float, default=2, help="for how long (default: 2)")
    parser.add_argument(
        "--seconds", type=float, default=6, help="that each case takes at least (default: 6)"
    )
    parser.add_argument(
        "--sample", type=float, default=60, metavar="S", help="a look every S s (default: 60)"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("out"), metavar="DIR", help="for soak.html and soak.json"
    )
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    # Short, for a socket's path has 108 bytes.
    with tempfile.TemporaryDirectory(prefix="gid-soak-", dir="/tmp") as folder:
        soak = Soak(options, Path(folder))
        try:
            soak.run()
        except BenchError as error:
            print(f"\nsoak: {error}", file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            print("\nsoak: interrupted", file=sys.stderr)
            if not soak.samples:
                return 130
    curves = soak.curves()
    (options.out / "soak.json").write_text(json.dumps(soak.samples, indent="\t") + "\n")
    page = options.out / "soak.html"
    write_page(page, curves, soak.rounds, soak.scheduling)
    for curve in curves:
        print(curve.verdict)
    print(page)
    return 1 if any(curve.grows for curve in curves) else 0


if __name__ == "__main__":
    sys.exit(main())
