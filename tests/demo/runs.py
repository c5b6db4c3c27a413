# SPDX-License-Identifier: MIT
"""The demo, run as a user runs it, and what it leaves in its folder."""

import json
import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy
import pytest
from lib.program import BUILD, TOP
from lib.versions import h264_is_decoded_in_place
from PIL import Image

# In the environment of everything that a demo starts, so that it is known from other demos.
MARK = "GIDWAY_DEMO_TEST"
LAST_LINES = 12
LIVES = 2  # of the domain open; each begins the film with a flush, which is sent like a frame
BEHIND_US = 100_000  # a reader that was late by this had several frames in hand at once


@dataclass
class Run:
    folder: Path
    status: int
    errors: str

    @property
    def report(self) -> dict:
        return json.loads((self.folder / "report.json").read_text())

    def picture(self, box: tuple[int, int, int, int], name: str = "cluster.png") -> numpy.ndarray:
        with Image.open(self.folder / name) as image:
            return numpy.asarray(image.convert("RGB").crop(box), numpy.int16)


def check_copies(run: Run, stream: str, most: int) -> None:
    """Of `movie-i420` each frame, where its decoder does not decode in place."""
    figures = run.report["streams"][stream]
    if stream == "movie-i420" and not h264_is_decoded_in_place():
        # Not of those that came: of a life that is killed nobody knows what was sent at last.
        assert figures["copied_frames"] >= figures["sent_frames"] - LIVES > 0, figures
        assert figures["copy_reasons"].keys() == {"decoder-memory"}
    else:
        held = figures["copy_reasons"].get("held", 0)
        assert figures["copied_frames"] - held <= most, figures
        # A reader copies before it holds the last memory of the film: only if it is far behind.
        assert held == 0 or figures["latency_us"]["max"] > BEHIND_US, figures
    assert (figures["copied_bytes"] == 0) == (figures["copied_frames"] == 0)


def run_demo(folder: Path, *arguments: str, timeout: float = 900, under: Sequence[str] = ()) -> Run:
    """`under`: a command that runs it."""
    try:
        result = subprocess.run(
            [*under, TOP / "run", "demo", f"--out={folder}", *arguments],
            env=os.environ | {"GIDWAY_BUILD": str(BUILD), MARK: str(folder)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout,
        )
    except subprocess.TimeoutExpired as late:
        said = (late.stderr or b"").decode(errors="replace")
        # A wait in vain is what scripts/testing/one.py may try again.
        pytest.fail(f"waited {timeout} s in vain for the demo's end; it said:\n{said}")
    errors = result.stderr.decode(errors="replace")
    return Run(folder, result.returncode, errors + last_words(errors))


def last_words(errors: str) -> str:
    """The ends of the logs that a demo which failed says it has left: nobody keeps them."""
    kept = re.search(r"^The logs are in (.+)$", errors, re.MULTILINE)
    ends = ""
    for log in sorted(Path(kept[1]).glob("**/*.log")) if kept else []:
        lines = log.read_text(errors="replace").splitlines()[-LAST_LINES:]
        ends += "\n".join([f"--- {log.name}", *lines, ""])
    return ends
