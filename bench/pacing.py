#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How soon Weston shows a film: with its own repaint window, and with the module's pacing.

A film is played in one domain and shown by gid-view in a headless Weston of the other, which is
started again and again, alternately with pacing off and on, while the film runs on. The figures
are what gid-timeline reads from Weston's timeline: commit → shown of the film's surface. Headless
Weston says of a frame that comes after a pause that it is shown a whole refresh later at the
soonest: what pacing can gain ends there.

Other rates than the film's own are those of live sources, as a camera is. Their user sees the
light, and not the commit: they are judged by the time from capture to light, as gid-view tells it.

With --display vkms all of that is in a guest, whose display has a real vblank; the pictures are
then small, which any guest can draw in time. `misses_on` is the share of frames that missed the
refresh that their repaint was meant for. Only Weston's window differs.

With --compare display-sync gidsink, too, sends a film in time with the display (display-sync=true)
in every second run. That moves the commit, with which the time begins: frames are shown no sooner
after they were made, and what is less by it is no gain of pacing.
"""

import argparse
import contextlib
import functools
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import gid_console
from gid_vm.own_kernel import is_program

from bench import common, inside
from lab.domains.configuration import section
from lab.domains.display import Display
from lab.domains.place import Place
from lab.domains.program import Program, wait_for
from lab.domains.weston import Weston
from lab.film import clip
from lab.film import film as films

SETTINGS = ("off", "on")
COMPARED = ("pacing", "display-sync")
CASES = ("film@60", "24@60", "30@60", "50@60", "60@60")
VKMS_CASES = ("film@60",)
PATIENCE = 20.0
GUEST_PATIENCE = 120.0  # of a translated one


@dataclass(frozen=True)
class Screen:
    """Where Weston shows it, and what film that machine can play."""

    backend: str  # of Weston
    weston: tuple[str, ...]  # more of its options
    config: str
    film: str  # what a pipeline begins with; {film} and {rate} are filled in
    live: str  # the same of a live source; {rate} is filled in
    view: tuple[str, ...]
    patience: float


DISPLAYS = {
    "headless": Screen(
        "headless",
        ("--width=1280", "--height=720"),
        "",
        "filesrc location={film} ! decodebin3 ! videoconvert ! video/x-raw,format=BGRx",
        "videotestsrc is-live=true pattern=ball "
        "! video/x-raw,format=BGRx,width=1280,height=720,{rate}",
        (),
        PATIENCE,
    ),
    "vkms": Screen(
        "drm",
        ("--continue-without-input",),
        "[output]\nname=Virtual-1\nmode=640x480\n",
        "videotestsrc pattern=ball ! video/x-raw,format=BGRx,width=320,height=180,{rate}",
        "videotestsrc is-live=true pattern=ball "
        "! video/x-raw,format=BGRx,width=320,height=180,{rate}",
        ("--background=000000", "--place=320x180+160+150"),
        GUEST_PATIENCE,
    ),
}
# The film where gid-view would place it.
CLUSTER = section(
    "display", "worst-frame=0 output=Virtual-1 width=640 height=480 pacing={pacing}"
) + section("layer film", "domain=open x=160 y=150 width=320 height=180")
FILM_RATE = "25"  # of the film of the demo


@dataclass(frozen=True)
class Case:
    rate: str  # of the film in frames a second; "film": its own
    refresh: int  # of the output in Hz

    @property
    def is_live(self) -> bool:
        return self.rate != "film"

    def __str__(self) -> str:
        return f"{self.rate}@{self.refresh}"


def parse_case(text: str) -> Case:
    rate, _, refresh = text.partition("@")
    if not refresh.isdecimal() or not (rate == "film" or re.fullmatch(r"\d+(\.\d+)?", rate)):
        raise argparse.ArgumentTypeError(f"{text}: must be like film@60, 24@60 or 59.8@60")
    return Case(rate, int(refresh))


def framerate(rate: str) -> str:
    """In GStreamer's words."""
    exact = Fraction(rate)
    return f"framerate={exact.numerator}/{exact.denominator}"


def read_options() -> argparse.Namespace:
    parser = common.parser("pacing", __doc__)
    parser.add_argument(
        "cases",
        nargs="*",
        type=parse_case,
        metavar="RATE@HZ",
        help="the film's rate (film: its own) and the output's refresh rate "
        f"(default: {' '.join(CASES)}; with vkms: {' '.join(VKMS_CASES)})",
    )
    parser.add_argument("--clip", metavar="FILE", help="the film (default: that of the demo)")
    parser.add_argument(
        "--rounds", type=common.count, default=5, help="times off and on (default: 5)"
    )
    parser.add_argument(
        "--seconds", type=common.seconds, default=8, help="seconds of each run (default: 8)"
    )
    parser.add_argument(
        "--refreshes",
        type=common.count,
        help="how many refreshes of the output each run lasts, instead of --seconds",
    )
    parser.add_argument(
        "--display",
        choices=DISPLAYS,
        default="headless",
        help="where Weston shows it: vkms is a display with a real vblank, in a guest "
        "(default: headless)",
    )
    parser.add_argument(
        "--compositor",
        choices=SHOWN_BY,
        default="weston",
        help="who shows it (default: weston); gid-cluster only with vkms, and by what it says of "
        "the way of a frame from its producer to the screen",
    )
    parser.add_argument(
        "--miss-rate",
        type=gid_console.decimal_number(0.00001, 0.1),
        default=0.001,
        help="of frames that may be late, for Weston's pacing (default: 0.001)",
    )
    parser.add_argument(
        "--compare",
        choices=COMPARED,
        default="pacing",
        help="what is off and on in turn (default: pacing)",
    )
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)  # with vkms
    parser.add_argument("--kept-mapped", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.compositor == "gid-cluster" and options.display != "vkms":
        parser.error("gid-cluster is measured on a screen alone: --display=vkms")
    default = VKMS_CASES if options.display == "vkms" else CASES
    options.cases = list(dict.fromkeys(options.cases or map(parse_case, default)))
    if options.display == "vkms":
        if any(case.refresh != 60 for case in options.cases):
            parser.error("vkms has 60 refreshes a second")
        whole = sum(seconds_of(case, options) for case in options.cases)
        whole *= options.rounds * len(SETTINGS)
        if whole > inside.LIFE_SECONDS:
            parser.error(
                f"runs of {whole:.0f} s are more than the life of a guest, which is "
                f"{inside.LIFE_SECONDS:.0f} s: fewer --rounds, or shorter"
            )
    return options


def main() -> int:
    options = read_options()
    if options.display == "vkms" and not options.here:
        return in_guest(options)
    display = DISPLAYS[options.display]
    film = clip.find(options.clip) if "{film}" in display.film else Path()
    progress = common.Progress(len(options.cases) * options.rounds * len(SETTINGS))
    rows = []
    for case in options.cases:
        shown_by = SHOWN_BY[options.compositor]
        run = functools.partial(shown_by, display, options.miss_rate)
        play = functools.partial(playing, display, case, film)
        rows += measure(run, case, play, options, progress)
    progress.end()
    ratios = {}
    for case in options.cases:
        off, on = (row for row in rows if row["case"] == str(case))
        ratios |= ratios_of(case, off, on, options)
        show(case, off, on)
    common.write(options.json, rows, ratios)
    return 0


def ratios_of(case: Case, off: dict, on: dict, options: argparse.Namespace) -> dict[str, float]:
    """Of a live source from capture to light: what only moves the commit is no gain of it."""
    suffix = "" if len(options.cases) == 1 else f"_{case}"
    ratio = on["p50_ms"] / off["p50_ms"]
    found = {}
    if case.is_live and off["capture_p50_ms"] is not None:
        to_light = on["capture_p50_ms"] / off["capture_p50_ms"]
        found[f"capture_to_light_p50_on_vs_off_{case}"] = to_light
    if options.display == "vkms":
        found[f"commit_to_scanout_p50_on_vs_off{suffix}"] = ratio
        found[f"misses_on{suffix}"] = on["late"] / on["judged"]
    else:
        found[f"commit_to_shown_p50_{case}"] = ratio
    return found


def seconds_of(case: Case, options: argparse.Namespace) -> float:
    """How long a run is."""
    return options.refreshes / case.refresh if options.refreshes else options.seconds


def in_guest(options: argparse.Namespace) -> int:
    """This program once more, in a guest with vkms."""
    words = ["--display=vkms", f"--compositor={options.compositor}", f"--rounds={options.rounds}"]
    words += [f"--miss-rate={options.miss_rate}", f"--seconds={options.seconds}"]
    words += [f"--refreshes={options.refreshes}"] if options.refreshes else []
    words += [f"--compare={options.compare}"]
    modules = ["vkms"]
    if is_program():  # see kept_mapped.py
        words.append("--kept-mapped")
        modules.append("vivid")
    words += map(str, options.cases)
    registry = inside.OUT / "registry"
    environment = {"LIBSEAT_BACKEND": "noop", "GST_REGISTRY": str(registry)}
    environment["GST_REGISTRY_UPDATE"] = "no"

    def list_plugins(out: Path) -> None:
        """Takes a second here, and minutes in a translated guest."""
        look = os.environ | {"GST_REGISTRY": str(out / registry.name)}
        subprocess.run(["gst-inspect-1.0", "gidsink"], env=look, check=True, capture_output=True)

    found = inside.run_inside(Path(__file__), words, modules, list_plugins, **environment)
    common.write(options.json, *found)
    return 0


def show(case: Case, off: dict, on: dict) -> None:
    for row in (off, on):
        span = f"({row['p50_least_ms']:.2f} to {row['p50_most_ms']:.2f})"
        print(
            f"{case!s:<8} {row['who']:<3} commit → shown p50 {row['p50_ms']:6.2f} ms {span}  "
            f"p99 {row['p99_ms']:6.2f} ms  shown {row['frames_a_second']:5.2f}/s  "
            f"not shown {row['not_shown']}  missed {row['missed']}  "
            f"{row['cpu_us']:.0f} µs CPU a frame"
        )
    if case.is_live and off["capture_p50_ms"] is not None:
        times = " → ".join(f"{row['capture_p50_ms']:.2f}" for row in (off, on))
        print(f"{case!s:<8} capture → light p50 {times} ms")
    gain, bound = (1 - least / off["p50_ms"] for least in (on["p50_ms"], 1000 / case.refresh))
    print(f"{case!s:<8} p50 {gain:.1%} lower; down to one refresh it would be {bound:.1%}")


def measure(
    run: Callable[[Place, Case, str, float], dict],
    case: Case,
    play: Callable[[Place, str], contextlib.AbstractContextManager[None]],
    options: argparse.Namespace,
    progress: common.Progress,
) -> list[dict]:
    """A row for each setting, out of runs that alternate between them.

    The film runs on meanwhile, but where how it is played is what differs.
    """
    runs: dict[str, list[dict]] = {setting: [] for setting in SETTINGS}
    ways = {setting: way_to_play(case, setting, options) for setting in SETTINGS}
    differs = len(set(ways.values())) > 1
    with tempfile.TemporaryDirectory(prefix="gid-pacing-") as name:
        with common.cockpit(Path(name), "film") as cockpit:
            producer, shower = cockpit["open"], cockpit["cluster"]
            with contextlib.nullcontext() if differs else play(producer, ways["on"]):
                for _ in range(options.rounds):
                    for setting in SETTINGS:
                        progress.step(f"{case}, {options.compare} {setting}")
                        player = contextlib.nullcontext()
                        if differs:
                            player = play(producer, ways[setting])
                        with player, kept_mapped(producer, options):
                            found = run(shower, case, setting, seconds_of(case, options))
                            runs[setting].append(found)
    return [row(case, setting, found) for setting, found in runs.items()]


def way_to_play(case: Case, setting: str, options: argparse.Namespace) -> str:
    """Properties of gidsink."""
    follows = options.compare == "display-sync" and not case.is_live
    return "display-sync=true" if follows and setting == "on" else ""


def row(case: Case, setting: str, runs: list[dict]) -> dict:
    p50s = [run["p50_ms"] for run in runs]
    windows = [run["window_ms"] for run in runs if "window_ms" in run]
    captured = [run["capture_p50_ms"] for run in runs if "capture_p50_ms" in run]
    return {
        "bench": "pacing",
        "who": setting,
        "case": str(case),
        "refresh": case.refresh,
        "p50_ms": statistics.median(p50s),
        "p50_least_ms": min(p50s),
        "p50_most_ms": max(p50s),
        "p99_ms": statistics.median(run["p99_ms"] for run in runs),
        "capture_p50_ms": statistics.median(captured) if captured else None,  # to light
        "cpu_us": statistics.median(run["cpu_us"] for run in runs),
        "frames": sum(run["frames"] for run in runs),
        "frames_a_second": statistics.median(run["frames_a_second"] for run in runs),
        "not_shown": sum(run["not_shown"] for run in runs),
        "missed": sum(run["missed"] for run in runs),
        "late": sum(run["late"] for run in runs),
        "judged": sum(run["judged"] for run in runs),
        "window_ms": statistics.median(windows) if windows else None,  # at the end of a run
    }


@contextlib.contextmanager
def playing(display: Screen, case: Case, film: Path, place: Place, way: str) -> Iterator[None]:
    """The film runs in the domain `open`, over and over; `way`: properties of gidsink."""
    sink = f" ! gidsink stream=film name=sink {way}"
    if case.is_live:
        source = display.live.format(rate=framerate(case.rate))
    else:
        source = display.film.format(film=film, rate=framerate(FILM_RATE))
    if "{film}" in display.film and not case.is_live:
        command = films.playing(source + sink)
    else:
        command = ["gst-launch-1.0", "-q", *(source + sink).split()]
    with place.running("film", command):
        yield


def kept_mapped(
    place: Place, options: argparse.Namespace
) -> contextlib.AbstractContextManager[object]:
    """What keeps the display's pictures mapped, where that is needed."""
    if not options.kept_mapped:
        return contextlib.nullcontext()
    program = Path(__file__).with_name("kept_mapped.py")
    return place.running("kept-mapped", [sys.executable, str(program)])


def on_weston(
    display: Screen, miss_rate: float, place: Place, case: Case, setting: str, seconds: float
) -> dict:
    """One run of Weston; what its timeline and gid-view say of it."""
    timeline, stats = place.folder / "timeline.log", place.folder / "stats.json"
    pacing = f"\n[gid]\npacing={setting}\npacing-miss-rate={miss_rate}\n"
    options = list(display.weston)
    if display.backend == "headless":
        options.append(f"--refresh-rate={case.refresh * 1000}")
    kind = "desktop" if display.backend == "headless" else "kiosk"
    try:
        weston = Weston(
            place,
            [pacing, display.config],
            options,
            log=timeline,
            backend=display.backend,
            kind=kind,
        ).start()
        view_film(display, place, stats, seconds)
        cpu_ns = cpu_of(weston.program)
    finally:
        place.stop_others()
    found = figures(timeline, case)
    found["cpu_us"] = cpu_ns / 1000 / found["frames"]
    viewed = json.loads(stats.read_text())
    captured = viewed["capture_latency_us"]
    if captured["count"] > 0:
        found["capture_p50_ms"] = captured["p50"] / 1000
    return found | {"not_shown": viewed["drops"]["superseded"]}


def on_cluster(
    display: Screen, miss_rate: float, place: Place, case: Case, setting: str, seconds: float
) -> dict:
    """One run of gid-cluster; what it says of it."""
    cluster = Display(place)
    try:
        cluster.launch(CLUSTER.format(pacing=setting))
        wait_for("the film", lambda: film_on(cluster.status()) > 0, display.patience)
        before, begin = film_on(cluster.status()), time.monotonic()
        time.sleep(seconds)
        passed, says = time.monotonic() - begin, cluster.status()
        cpu_ns = cpu_of(cluster.program)
    finally:
        place.stop_others()
    (found,) = says["layers"]
    return {
        "p50_ms": found["latency_p50_ns"] / 1e6,
        "p99_ms": found["latency_p99_ns"] / 1e6,
        "cpu_us": cpu_ns / 1000 / says["frames"],
        "frames": film_on(says),
        "frames_a_second": (film_on(says) - before) / passed,
        "not_shown": found["frames"] - film_on(says),
        "missed": says["missed"],
        "late": says["paced_late"],
        "judged": says["paced_frames"],
        "window_ms": says["window_ns"] / 1e6,
        "pacing": says["pacing"],
    }


SHOWN_BY = {"weston": on_weston, "gid-cluster": on_cluster}


def film_on(says: dict) -> int:
    """Frames of the film that were on the screen."""
    (film,) = says["layers"]
    return film["latency_count"]


def view_film(display: Screen, place: Place, stats: Path, seconds: float) -> None:
    """Shows it for so long, from its first frame on."""
    stats.unlink(missing_ok=True)
    view = ["gid-view", "--domain=open", "--stream=film", "--fullscreen", *display.view]
    with place.running("view", [*view, f"--stats={stats}"]):
        place.wait_until("the film", lambda: place.read_json(stats).get("frames"), "view")
        time.sleep(seconds)


def cpu_of(program: Program) -> int:
    """In ns."""
    return int(Path(f"/proc/{program.pid}/schedstat").read_text().split()[0])


def figures(timeline: Path, case: Case) -> dict:
    command = ["gid-timeline", "report", str(timeline), "--format=json"]
    command += ["--refresh", str(case.refresh)]
    report = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    (run,) = report["runs"]
    (output,) = run["outputs"]
    found = [surface["figures"].get("commit_to_shown") for surface in run["surfaces"]]
    film = max((figure for figure in found if figure), key=lambda figure: figure["n"])
    return {
        "p50_ms": film["p50_ns"] / 1e6,
        "p99_ms": film["p99_ns"] / 1e6,
        "frames": film["n"],
        "frames_a_second": film["n"] / (run["last_ns"] - run["first_ns"]) * 1e9,
        "missed": output["refresh"]["missed_refreshes"],
        "late": output["refresh"]["late_frames"],
        "judged": output["refresh"]["judged_frames"],
    }


if __name__ == "__main__":
    sys.exit(common.run(main))
