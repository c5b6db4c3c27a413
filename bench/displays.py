#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Three displays at once, as in a car: whether any pixel is wrong, and any refresh is missed.

One gid-cluster without a screen has a centre display and a cluster of 1920x720, and a head-up
display of 800x480. Each shows a warning light of the domain `open` and moving dials of its own
domain, at every refresh. Another program reads each picture that an output shows, whole: its dials
have to be a picture that was drawn, to the bit, and a later one than those before; all else has to
be the light as it is drawn without any display, on black. Who shows the same dials twice has missed
a refresh, as has who shows nothing.
"""

import argparse
import bisect
import importlib.util
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy
from PIL import Image

from bench import common
from lab.domains import priority
from lab.domains.cockpit import Cockpit
from lab.domains.display import Display
from lab.domains.program import LabError, Program, Wanting

OUTPUTS = {"centre": (1920, 720), "cluster": (1920, 720), "head-up": (800, 480)}
LIGHT = (320, 80)  # gid-telltale's size
PLACE = (40, 360)  # of the light
STATES = {"centre": 5, "cluster": 10, "head-up": 15}
DIALS = (640, 240)
DIALS_PLACE = (40, 20)
WATCH = Path(__file__).with_name("displays") / "watch.py"
PATIENCE = 60.0  # seconds


def configuration() -> str:
    text = "[display]\nworst-frame=0\n"
    for name, (width, height) in OUTPUTS.items():
        text += f"[output {name}]\nwidth={width}\nheight={height}\nrefresh=60\n"
        text += f"stream=screen/{name}\n"
        x, y = DIALS_PLACE
        text += f"[layer meter-{name}]\noutput={name}\nx={x}\ny={y}\n"
        text += f"width={DIALS[0]}\nheight={DIALS[1]}\n"
        text += f"[role {name}]\noutput={name}\ndomain=open\nx={PLACE[0]}\ny={PLACE[1]}\n"
        text += f"width={LIGHT[0]}\nheight={LIGHT[1]}\ndeadline-ms=1000\n"
    return text


Seen = tuple[int, int, int]  # a picture's number, its dials' checksum, wrong pixels elsewhere


class Displays(Display):
    """gid-cluster, and the lights that it shows."""

    def __init__(self, cockpit: Cockpit) -> None:
        super().__init__(cockpit["cluster"])
        self._open = cockpit["open"]
        self._first = priority.before_others()
        self.launch(configuration(), "--headless", "--realtime", before=self._first)
        for name, state in STATES.items():
            light = ["gid-telltale", f"--stream=safety/{name}", f"--state={state}", "--cycle=0"]
            self._open.start(f"light-{name}", light)
        for name in STATES:
            self.wait_live(name)

    def start_meters(self, seconds: float) -> None:
        options = [f"--size={DIALS[0]}x{DIALS[1]}", f"--seconds={seconds:.0f}"]
        for name in OUTPUTS:
            command = [*self._first, "gid-meter", f"--stream=meter-{name}", *options]
            self.place.start(f"meter-{name}", command)

    def watch(self, stream: str, place: tuple[int, int], *more: str) -> Program:
        """Returns when the first picture has come."""
        words = [stream, "--part", *map(str, (*place, *DIALS)), *more]
        name = f"watch-{stream.replace('/', '-')}"
        watcher = self.place.start(name, [sys.executable, str(WATCH), *words])
        self.place.wait_until(f"the first picture of {stream}", watcher.printed, name)
        return watcher

    def seen(self, watcher: Program) -> list[Seen]:
        """All pictures, once it has ended."""
        if watcher.stop() != 0:
            raise LabError(f"who compares pictures has failed:\n{watcher.last_words()}")
        return [tuple(one) for one in json.loads(watcher.printed().splitlines()[-1])]

    def rest(self, name: str) -> Path:
        """All but the dials, as it shall be shown: a file."""
        (width, height), (x, y) = OUTPUTS[name], PLACE
        picture = numpy.zeros((height, width), numpy.uint32)
        red, green, blue = numpy.moveaxis(self.light(name).astype(numpy.uint32), 2, 0)
        picture[y : y + LIGHT[1], x : x + LIGHT[0]] = red << 16 | green << 8 | blue
        path = self.place.folder / f"{name}.npy"
        numpy.save(path, picture)
        return path

    def light(self, name: str) -> numpy.ndarray:
        path = self._open.folder / f"{name}.png"
        self._open.run(["gid-telltale", f"--state={STATES[name]}", f"--png={path}"])
        return numpy.asarray(Image.open(path).convert("RGB"))


def _outputs(status: dict) -> Iterator[tuple[str, dict]]:
    return ((one["name"], one) for one in status["outputs"])


def measure(displays: Displays, seconds: float) -> list[dict]:
    displays.start_meters(seconds + 2 * PATIENCE)
    rests = {name: displays.rest(name) for name in OUTPUTS}
    drawn = {name: displays.watch(f"meter-{name}", (0, 0)) for name in OUTPUTS}
    shown = {
        name: displays.watch(f"screen/{name}", DIALS_PLACE, f"--rest={rest}")
        for name, rest in rests.items()
    }
    first = displays.status()
    before, begin = dict(_outputs(first)), time.monotonic()
    time.sleep(seconds)
    last, passed = displays.status(), (time.monotonic() - begin) * 1e9
    looks = {name: displays.seen(watcher) for name, watcher in shown.items()}
    pictures = {name: displays.seen(watcher) for name, watcher in drawn.items()}
    rows = []
    for name, after in _outputs(last):
        found = compare(pictures[name], looks[name])
        frames, skipped = (
            after[key] - before[name][key] for key in ("frames", "skipped_refreshes")
        )
        refreshes = int(passed / after["refresh_ns"])
        missed = missed_of(refreshes, frames, skipped, found["again"])
        rows.append(
            {
                "bench": "displays",
                "who": name,
                "what": f"{after['width']}x{after['height']}",
                "frames": frames,
                "refreshes": refreshes,
                "missed": missed,
                "missed_share": round(missed / refreshes, 5),
                "compose_p50_us": after["compose_p50_ns"] / 1000,
                "compose_p99_us": after["compose_p99_ns"] / 1000,
                "longest_gap_ms": after["longest_gap_ns"] / 1e6,
                "compared_share": round(min(1.0, found["compared"] / max(1, frames)), 4),
                **found,
            }
        )
    refused = (sum(role["refused_frames"] for role in one["roles"]) for one in (last, first))
    rows[0]["refused_frames"] = next(refused) - next(refused)
    return rows


def missed_of(refreshes: int, frames: int, skipped: int, again: int) -> int:
    """Two ways, of which the worse counts. Who is late a little each time misses some without a gap
    that is long; and a frame too much hides one that is missing, but not its gap."""
    return max(refreshes - frames, skipped) + again


# --- what was shown beside what was drawn ---------------------------------------------------------


def compare(drawn: Sequence[Seen], shown: Sequence[Seen]) -> dict[str, int]:
    """Each picture that was shown is one of those that were drawn, and later than the one before.

    `wrong`: pictures with dials that nobody drew, or with wrong pixels elsewhere; `again`: the
    dials of the one before; `back`: those of an earlier one. Not `compared` are dials that were
    drawn where the reader of what is drawn has missed one.
    """
    places: dict[int, list[int]] = {}
    for place, (_, checksum, _) in enumerate(drawn):
        places.setdefault(checksum, []).append(place)
    counts = dict.fromkeys(("compared", "wrong", "again", "back"), 0)
    strange: list[tuple[int | None, bool]] = []  # since which picture, and whether it is wrong
    last: int | None = None
    for _, checksum, wrong_pixels in shown:
        counts["compared"] += 1
        counts["wrong"] += wrong_pixels > 0
        known = places.get(checksum, [])
        next_one = bisect.bisect_right(known, last) if last is not None else 0
        if not known:
            strange.append((last, wrong_pixels > 0))
        elif next_one < len(known):
            _judge_strange(drawn, strange, known[next_one], counts)
            last = known[next_one]
        else:
            counts["again" if known[-1] == last else "back"] += 1
    _judge_strange(drawn, strange, None, counts)
    return counts | {"wrong_pixels": sum(one[2] for one in shown)}


def _judge_strange(
    drawn: Sequence[Seen],
    strange: list[tuple[int | None, bool]],
    until: int | None,
    counts: dict[str, int],
) -> None:
    """Dials that are none of those that were seen as they were drawn: they may be of a picture in
    between that was not seen."""
    for since, is_wrong in strange:
        if since is not None and until is not None:
            is_whole = drawn[until][0] - drawn[since][0] == until - since
        else:
            is_whole = False  # drawn before the first that was seen, or after the last
        if is_whole:
            counts["wrong"] += not is_wrong
        elif not is_wrong:
            counts["compared"] -= 1
    strange.clear()


def ratios(rows: list[dict]) -> dict[str, float]:
    return {
        "wrong_pictures": sum(row["wrong"] + row["back"] for row in rows)
        + rows[0]["refused_frames"],
        "compared_share_worst": min(row["compared_share"] for row in rows),
        "missed_share_worst": max(row["missed_share"] for row in rows),
    }


def main() -> int:
    parser = common.parser("displays", __doc__)
    parser.add_argument("--seconds", type=common.seconds, default=60, help="default: 60")
    options: argparse.Namespace = parser.parse_args()
    if importlib.util.find_spec("gid") is None:
        raise Wanting("the package gid was not built: python3-cffi is missing")
    with tempfile.TemporaryDirectory(prefix="gid-bench-", dir=common.memory_folder()) as name:
        with common.cockpit(Path(name), "safety/*") as cockpit:
            rows = measure(Displays(cockpit), options.seconds)
    for row in rows:
        print(
            f"{row['who']:8} {row['what']:9} {row['missed']} of {row['refreshes']} refreshes "
            f"missed; of {row['frames']} pictures {row['compared']} compared, "
            f"{row['wrong']} wrong, {row['again']} again, {row['back']} out of order"
        )
    common.write(options.json, rows, ratios(rows))
    return 0


if __name__ == "__main__":
    sys.exit(common.run(main))
