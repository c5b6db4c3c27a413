# SPDX-License-Identifier: MIT
"""What a demo has shown: its figures, and whether everything is right."""

from __future__ import annotations

import itertools
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

from gid_evaluate import machine

from demo import desktops, picture, report
from demo.cluster_domain import ROLES
from demo.panel import CANVAS
from demo.streams import MOVIE_CAPS
from lab.domains.program import LabError
from lab.film import film
from lab.film.film import Frame

if TYPE_CHECKING:
    from demo.demo import Demo

_TELLTALE_STATES = 16
# So many frames show that the display goes on; how fast, depends on the machine.
GONE_ON = 10
_GREY = "while open was dead the film, which stood still, was greyed"


# Of the streams that are reported: as libgid knows them, and between which domains.
_ROUTES = {
    "movie": ("movie", "open → cluster"),
    "panel": (f"canvas/{CANVAS}", "cluster → cluster"),
    "movie-i420": ("movie-i420", "open → cluster"),
    **{display.name: (display.stream, "open → cluster") for display in desktops.DISPLAYS},
    **{name: (f"safety/{name}", "open → cluster") for name in ROLES},
}


def build(demo: Demo) -> dict:
    """The content of report.json."""
    demo.progress.begin("reading the timelines of all programs")
    ways = report.read_ways(demo.logs)
    return {
        "version": machine.gidway(),
        "date": time.strftime("%Y-%m-%d %H:%M %z"),
        "link": demo.cockpit.link,
        "clip": demo.clip.name,
        "seconds": demo.played,
        "scheduling": demo.scheduling,
        "checks": _checks(demo),
        "streams": {
            name: _with_way(figures, ways.get(_ROUTES[name]))
            for name, figures in (
                ("movie", _layer(demo, "movie", "gid-cluster, as a layer", "movie")),
                (
                    "panel",
                    _layer(demo, "panel", "gid-cluster, made by gid-engine", "map", "symbols"),
                ),
                *((display.name, _desktop(demo, display)) for display in demo.displays),
                ("movie-i420", _checked(demo)),
                *((name, _safety(demo, name)) for name in ROLES),
            )
        },
        "displays": _displays(demo),
        "meter": demo.cluster.meter,
        "loss": {name: _loss(demo, name) for name in ROLES},
        "timeline": demo.recorder.result(demo.status),
        "machine": machine.describe(),
    }


# --- figures --------------------------------------------------------------------------------------


def _copies(*counts: dict) -> dict:
    """Of all elements that a stream passes through."""
    reasons: dict[str, int] = {}
    for part in counts:
        for reason, number in part["copy-reasons"].items():
            reasons[reason] = reasons.get(reason, 0) + number
    return {
        "copied_frames": sum(part["copied-frames"] for part in counts),
        "copied_bytes": sum(part["copied-bytes"] for part in counts),
        "copy_reasons": reasons,
    }


def _layer(demo: Demo, name: str, receiver: str, *sent: str) -> dict:
    """A layer of the cluster's display; `sent`: the streams of open that are seen in it."""
    layer = next(layer for layer in demo.status["layers"] if layer["name"] == name)
    return {
        "receiver": receiver,
        "frames": layer["frames"],
        "shown": layer["shown_frames"],
        "dropped": layer["refused_frames"],
        **_copies(*(counts for stream in sent for counts in demo.open.counts(stream))),
        **_latency(layer),
    }


def _desktop(demo: Demo, display: desktops.Display) -> dict:
    """A compositor's whole output; each copy is of a whole picture."""
    whose = "Weston" if display is desktops.CENTRE else demo.open.passenger
    figures = _layer(demo, display.name, f"gid-cluster, as the {display.name} display; of {whose}")
    copied = demo.copies.get(display.stream, 0)
    if copied:
        figures["copied_frames"] = copied
        figures["copied_bytes"] = copied * display.width * display.height * 4
        figures["copy_reasons"] = {"upstream-memory": copied}
    return figures


def _latency(shown: dict) -> dict:
    """`shown`: the status of a layer or role."""
    return {
        "latency_from_to": "submit to shown",
        "latency_us": {
            "count": shown["latency_count"],
            **{key: shown[f"latency_{key}_ns"] / 1000 for key in ("p50", "p99", "max")},
        },
    }


def _checked(demo: Demo) -> dict:
    counts = demo.checked
    sinks = demo.open.counts("movie-i420")
    return {
        "receiver": "gidsrc, every frame compared",
        "sent_frames": sum(sink["frames"] for sink in sinks),
        "frames": counts["frames"],
        "wrong": counts["wrong"],
        "dropped": counts["source"]["missed"],
        **_copies(*sinks, counts["source"]),
        "latency_from_to": "submit to received",
        "latency_us": counts["latency_us"],
    }


def _with_way(figures: dict, way: report.Way | None) -> dict:
    """With what the points of all programs tell: also of the time before a frame was sent."""
    way = way or report.Way({}, {})
    for stage in ("capture_to_submit", "capture_to_shown"):
        figures[f"{stage}_us"] = way.latency(stage)
    if "histogram" not in figures["latency_us"] and way.latency("submit_to_shown"):
        figures["latency_us"]["histogram"] = way.histogram("submit_to_shown")
    return figures


def _role(demo: Demo, name: str) -> dict:
    return next(role for role in demo.status["roles"] if role["name"] == name)


def _safety(demo: Demo, name: str) -> dict:
    """A safety stream: copies by what feeds the surface, and by Weston's module."""
    role = _role(demo, name)
    sinks = demo.open.counts(name) if name == "camera" else []
    copies = _copies(*sinks)
    forwarded = demo.copies.get(role["stream"], 0)
    if forwarded:
        copies["copied_frames"] += forwarded
        copies["copy_reasons"]["forwarded"] = forwarded
    return {
        "receiver": f"gid-cluster, as {role['stream']}",
        "frames": role["frames"],
        "shown": role["shown_frames"],
        "dropped": role["refused_frames"],
        **copies,
        **_latency(role),
    }


def _displays(demo: Demo) -> dict:
    status = demo.status
    displays = {
        "cluster": {
            "repaints": status["frames"],
            "rate": demo.cluster.meter["rate"],
            "repaint_ms": {
                key: status[f"compose_{key}_ns"] / 1e6 for key in ("mean", "p50", "p99", "max")
            },
        }
    }
    for life, log in enumerate(demo.open.logs):
        for figures in report.read_displays(log).values():
            displays["open" if life == 0 else "open, after its return"] = figures
    return displays


def _loss(demo: Demo, name: str) -> dict:
    """How soon after the kill the display showed the fallback, and when it was live again."""
    transitions = _role(demo, name)["transitions"]
    lost = next(
        (t for t in transitions if t["from"] == "live" and t["decided_ns"] > demo.killed), None
    )
    back = next(
        (t for t in transitions if t["to"] == "live" and t["decided_ns"] > demo.returned), None
    )
    return {
        "reason": lost["reason"] if lost else "it was not live",
        "fallback_after_ms": round((lost["shown_ns"] - demo.killed) / 1e6, 2) if lost else 0.0,
        "live_after_ms": round((back["decided_ns"] - demo.returned) / 1e6, 2) if back else None,
    }


# --- checks ---------------------------------------------------------------------------------------


def _checks(demo: Demo) -> list[dict]:
    demo.progress.begin("comparing the pictures with each frame of the film")
    movie = film.frames(demo.clip, MOVIE_CAPS, demo.played + 10)
    again, once_more = (film.frames(demo.clip, MOVIE_CAPS, demo.played + 10) for _ in range(2))
    counts = demo.checked
    right = counts["frames"] - counts["wrong"]
    while_dead, rate = demo.recorder.frames_between(demo.killed, demo.returned)
    return [
        _check_layer(demo, "movie", movie),
        _check_layer(
            demo, "camera", itertools.islice(film.run(demo.open.camera, "video/x-raw"), 1)
        ),
        _check_panel(demo, again),
        _check_telltale(demo),
        *(_check_desktops(demo) if demo.displays else []),
        {
            "what": "every frame of movie-i420 is the decoder's, bit by bit",
            "passed": counts["wrong"] == 0 and counts["frames"] > 0,
            "found": f"{right} of {counts['frames']}",
        },
        _check_fallback(demo),
        _check_grey(demo, once_more),
        *(_has_returned(demo, name) for name in ROLES),
        {
            "what": "the cluster's display went on while open was dead",
            "passed": while_dead >= GONE_ON,
            "found": f"{rate:.1f} frames a second",
        },
    ]


def _check_layer(demo: Demo, name: str, sent: list[Frame]) -> dict:
    check = {"what": f"the cluster's display shows {name}"}
    try:
        found = picture.find(demo.pictures["cluster"], demo.cluster.tiles[name], sent)
        return {**check, "passed": True, "found": found}
    except LabError as error:
        return {**check, "passed": False, "found": str(error)}


def _check_panel(demo: Demo, sent: list[Frame]) -> dict:
    check = {"what": "the cluster's display shows panel: a map, the film and symbols in one canvas"}
    try:
        found = demo.cluster.panel.compare(demo.pictures["cluster"], sent)
        return {**check, "passed": True, "found": found}
    except LabError as error:
        return {**check, "passed": False, "found": str(error)}


def _telltale_state(demo: Demo, screenshot: Path) -> int | None:
    """Which of all that gid-telltale can draw is shown, bit for bit; it is drawn here once more."""
    tile = demo.cluster.tiles["telltale"]
    drawn = demo.folder / "telltale.png"
    for state in range(_TELLTALE_STATES):
        command = ["gid-telltale", f"--state={state}", f"--size={tile.size}", f"--png={drawn}"]
        subprocess.run(command, check=True, timeout=demo.scene.patience)
        if picture.is_same(screenshot, tile, drawn):
            return state
    return None


def _check_telltale(demo: Demo) -> dict:
    state = _telltale_state(demo, demo.pictures["cluster"])
    return {
        "what": "the cluster's display shows telltale",
        "passed": state is not None,
        "found": "none of its pictures" if state is None else f"state {state}, bit-exact",
    }


def _check_desktops(demo: Demo) -> list[dict]:
    """The two displays with ordinary windows of open, while it lives and while it is dead."""
    tiles = demo.open.tiles.values()
    centre, telltale = demo.pictures["centre"], demo.cluster.tiles["telltale"]
    same = desktops.is_mirrored(centre, demo.pictures["open"], tiles, telltale)
    shown = desktops.is_shown(demo.pictures["passenger"], demo.sent)
    what = f"the passenger's display shows ordinary windows of {demo.open.passenger}"
    layers = {layer["name"]: layer for layer in demo.status["layers"]}
    refused = sum(layers[display.name]["refused_frames"] for display in demo.displays)
    return [
        {
            "what": "the centre display shows what open's Weston shows",
            "passed": same,
            "found": "bit-exact around what moves" if same else f"see {centre}",
        },
        {
            "what": what,
            "passed": shown,
            "found": "bit-exact" if shown else f"see {demo.pictures['passenger']}",
        },
        {
            "what": "no picture of ordinary windows was refused",
            "passed": refused == 0,
            "found": f"{refused} were",
        },
    ]


def _check_fallback(demo: Demo) -> dict:
    """While open was dead: what says so of camera and panel, to the pixel, and no telltale."""
    lost, tiles = demo.pictures["cluster-lost"], demo.cluster.tiles
    fallbacks = demo.cluster.fallbacks
    passed = all(picture.is_same(lost, tiles[name], fallbacks[name]) for name in fallbacks)
    passed = passed and _telltale_state(demo, lost) is None
    return {
        "what": "while open was dead the display showed the fallbacks",
        "passed": passed,
        "found": "bit-exact" if passed else f"see {lost}",
    }


def _check_grey(demo: Demo, sent: list[Frame]) -> dict:
    """While open was dead: the film, which stood still, was not shown as if it went on."""
    lost, tile = demo.pictures["cluster-lost"], demo.cluster.tiles["movie"]
    try:
        found = f"not greyed: {picture.find(lost, tile, sent)}"
        return {"what": _GREY, "passed": False, "found": found}
    except LabError:
        return {"what": _GREY, "passed": True, "found": "greyed"}


def _has_returned(demo: Demo, name: str) -> dict:
    loss = _loss(demo, name)
    back = loss["live_after_ms"]
    return {
        "what": f"{name} was lost with open, and live again with its return",
        "passed": back is not None,
        "found": f"{loss['reason']}, fallback after {loss['fallback_after_ms']:.0f} ms"
        + (f", live {back / 1000:.1f} s after the start" if back is not None else ""),
    }
