# SPDX-License-Identifier: MIT
"""What a demo has shown: its figures, and whether everything is right."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import film
import picture
import report
from backdrop import Tile
from children import DemoError
from streams import CAMERA, MOVIE_CAPS

sys.path.append(str(Path(__file__).resolve().parents[1] / "bench"))
import machine  # noqa: E402

if TYPE_CHECKING:
    from demo import Demo


def build(demo: Demo) -> dict:
    """The content of report.json."""
    return {
        "link": "local",
        "clip": demo.clip.name,
        "seconds": demo.played,
        "checks": _checks(demo),
        "streams": {
            **{tile.stream: _shown(demo, tile.stream) for tile in demo.tiles},
            "movie-i420": _checked(demo),
        },
        "displays": report.read_displays(demo.display.log),
        "machine": machine.describe(),
    }


def _copies(*counts: dict) -> dict:
    """Of all elements that a stream passes through."""
    return {
        "copied_frames": sum(part["copied-frames"] for part in counts),
        "copied_bytes": sum(part["copied-bytes"] for part in counts),
        "copy_reasons": {
            reason: number for part in counts for reason, number in part["copy-reasons"].items()
        },
    }


def _shown(demo: Demo, stream: str) -> dict:
    view = demo.view(stream)
    return {
        "receiver": "gid-view, in Weston",
        "frames": view["frames"],
        "dropped": view["dropped"],
        **_copies(demo.producers.counts(stream)),
        "latency_from_to": "submit to shown",
        "latency_us": view["latency_us"],
    }


def _checked(demo: Demo) -> dict:
    counts = demo.check.counts()
    return {
        "receiver": "gidsrc, every frame compared",
        "frames": counts["frames"],
        "wrong": counts["wrong"],
        "dropped": counts["source"]["missed"],
        **_copies(demo.producers.counts("movie-i420"), counts["source"]),
        "latency_from_to": "submit to received",
        "latency_us": counts["latency_us"],
    }


def _checks(demo: Demo) -> list[dict]:
    movie = film.frames(demo.clip, MOVIE_CAPS, demo.played + 10)
    camera = film.run(CAMERA, "video/x-raw")
    senders = {"movie": movie, "camera": itertools.islice(camera, 1)}
    checks = [_look(demo, tile, senders[tile.stream]) for tile in demo.tiles]
    counts = demo.check.counts()
    right = counts["frames"] - counts["wrong"]
    checks.append(
        {
            "what": "every frame of movie-i420 is the decoder's, bit by bit",
            "passed": counts["wrong"] == 0 and counts["frames"] > 0,
            "found": f"{right} of {counts['frames']}",
        }
    )
    return checks


def _look(demo: Demo, tile: Tile, sent) -> dict:
    check = {"what": f"the display shows {tile.stream}"}
    try:
        return {**check, "passed": True, "found": picture.find(demo.picture, tile, sent)}
    except DemoError as error:
        return {**check, "passed": False, "found": str(error)}
