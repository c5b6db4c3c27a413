#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long a cockpit takes from its start until there is something to see.

Counted from the start of gid-cluster, and of its gidd before it: until its output shows the first
picture, and until it shows a warning light that waits for it in the other domain. And from the
start of the other domain's gidd, with Weston, until the light that is drawn there is live, and
until its view has shown the first frame of a film.
"""

import contextlib
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

from bench import common
from lab.domains.program import wait_for
from lab.isolation.pair import Cockpit

NAMES = {
    "first_picture_s": "gid-cluster's start to its first picture",
    "light_s": "gid-cluster's start to a live light that waits for it",
    "light_after_open_s": "start of the other domain to its live light",
    "film_after_open_s": "start of the other domain to the film's first picture",
}


class Bench:
    def __init__(self, cockpit: Cockpit, folder: Path) -> None:
        self._cockpit, self._folder = cockpit, folder

    def _shown(self) -> float:
        """Until the light is live on the output: when it was, on the clock of all programs."""
        self._cockpit.cluster.wait_live()
        role = self._cockpit.cluster.role
        wait_for("the light to be shown", lambda: role("telltale")["transitions"][-1]["shown_ns"])
        return role("telltale")["transitions"][-1]["shown_ns"] / 1e9

    def _first_film(self) -> float:
        """When the view has told of its first frame: its file is written at once then."""
        stats = self._folder / "view.json"

        def there() -> bool:
            return stats.exists() and json.loads(stats.read_text())["frames"] > 0

        wait_for("the film's first picture", there)
        return stats.stat().st_mtime - time.time() + time.monotonic()

    def once(self) -> dict[str, float]:
        """All of `open` starts while the cluster runs; then gid-cluster starts anew."""
        open, cluster = self._cockpit.open, self._cockpit.cluster
        times: dict[str, float] = {}
        (self._folder / "view.json").unlink(missing_ok=True)
        open.place.kill()
        open.place.forget()
        begin = time.monotonic()
        open.start()
        times["light_after_open_s"] = self._shown() - begin
        view = ["gid-view", "--stream=safety/film", "--frames=1"]
        view.append(f"--stats={self._folder / 'view.json'}")
        first = open.place.start("first-view", view)
        times["film_after_open_s"] = self._first_film() - begin
        first.output(30)
        open.place.forget("first-view")
        cluster.place["display"].kill()
        cluster.place["gidd"].kill()
        begin = time.monotonic()
        cluster.start()
        wait_for("the first picture", lambda: cluster.status()["frames"] > 0)
        times["first_picture_s"] = time.monotonic() - begin
        times["light_s"] = self._shown() - begin
        return times


def main() -> int:
    parser = common.parser("start", __doc__)
    parser.add_argument("--repetitions", type=common.count, default=10, help="default: 10")
    parser.add_argument("--film", action="store_true", help=common.FILM_HELP)
    options = parser.parse_args()
    found: dict[str, list[float]] = {name: [] for name in NAMES}
    progress = common.Progress(options.repetitions)
    # Short, for a socket's path has 108 bytes.
    with tempfile.TemporaryDirectory(prefix="gid-bench-", dir=common.memory_folder()) as name:
        cockpit = Cockpit(Path(name))
        if options.film:
            cockpit.open.play_film()
        with contextlib.ExitStack() as stack:
            stack.push(cockpit.__exit__)
            cockpit.cluster.start()
            bench = Bench(cockpit, Path(name))
            for _ in range(options.repetitions):
                progress.step("start")
                for key, value in bench.once().items():
                    found[key].append(value)
    progress.end()
    rows = [
        {
            "bench": "start",
            "what": NAMES[key],
            "seconds": round(statistics.median(values), 4),
            "seconds_min": round(min(values), 4),
            "seconds_max": round(max(values), 4),
            "n": len(values),
        }
        for key, values in found.items()
    ]
    for row in rows:
        print(f"{row['what']:55} {row['seconds']:7.3f} s, at most {row['seconds_max']:.3f} s")
    ratios = {key: round(statistics.median(values), 4) for key, values in found.items()}
    common.write(options.json, rows, ratios)
    return 0


if __name__ == "__main__":
    sys.exit(common.run(main))
