#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Three displays at once, as in a car: whether any pixel is wrong, and any refresh is missed.

One gid-cluster without a screen has a centre display and a cluster of 1920x720, and a head-up
display of 800x480. Each shows a warning light of the domain `open` and moving dials of its own
domain, at every refresh. gid-cluster itself compares the light's pixels of each picture before it
shows it; here, once a second, what an output shows there is copied and compared with the light as
it is drawn without any display. A refresh without a new picture is missed.
"""

import argparse
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import common
import numpy
import priority  # common has its folder
from PIL import Image

OUTPUTS = {"centre": (1920, 720), "cluster": (1920, 720), "head-up": (800, 480)}
LIGHT = (320, 80)  # gid-telltale's size
PLACE = (40, 360)  # of the light
STATES = {"centre": 5, "cluster": 10, "head-up": 15}
DIALS = (640, 240)
PATIENCE = 60.0  # seconds


def configuration() -> str:
    text = "[display]\nworst-frame=0\n"
    for name, (width, height) in OUTPUTS.items():
        text += f"[output {name}]\nwidth={width}\nheight={height}\nrefresh=60\n"
        text += f"stream=screen/{name}\n"
        text += f"[layer meter-{name}]\noutput={name}\nx=40\ny=20\n"
        text += f"width={DIALS[0]}\nheight={DIALS[1]}\n"
        text += f"[role {name}]\noutput={name}\ndomain=open\nx={PLACE[0]}\ny={PLACE[1]}\n"
        text += f"width={LIGHT[0]}\nheight={LIGHT[1]}\ndeadline-ms=1000\n"
    return text


class Displays:
    """All programs, which end with the block."""

    def __init__(self, folder: Path, stack: contextlib.ExitStack) -> None:
        self._folder, self._stack = folder, stack
        config = folder / "displays.conf"
        config.write_text(configuration())
        self._first = priority.before_others()
        command = [*self._first, "gid-cluster", "--headless", f"--config={config}", "--realtime"]
        command += [f"--status={folder / 'status'}"]
        self.start("cluster", command)
        self.wait("gid-cluster", (folder / "status").exists)
        for name, state in STATES.items():
            light = ["gid-telltale", f"--stream=safety/{name}", f"--state={state}", "--cycle=0"]
            self.start("open", light)
        self.wait("the lights", self.are_live)

    def start(self, domain: str, command: list[str]) -> subprocess.Popen:
        environment = {"GID_DOMAIN": domain, "XDG_RUNTIME_DIR": str(self._folder)}
        log = self._stack.enter_context((self._folder / "displays.log").open("ab"))
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            env=os.environ | environment,
        )
        self._stack.callback(_end, process)
        return process

    def start_meters(self, seconds: float) -> list[subprocess.Popen]:
        size = f"--size={DIALS[0]}x{DIALS[1]}"
        options = [size, f"--seconds={seconds:.0f}"]
        return [
            self.start("cluster", [*self._first, "gid-meter", f"--stream=meter-{name}", *options])
            for name in OUTPUTS
        ]

    def wait(self, what: str, condition) -> None:
        end = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > end:
                log = (self._folder / "displays.log").read_text(errors="replace")[-1000:]
                raise common.BenchError(f"waited in vain for {what}:\n{log}")
            time.sleep(0.02)

    def status(self) -> dict:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(10)
            connection.connect(str(self._folder / "status"))
            with connection.makefile("rb") as answer:
                return json.load(answer)

    def are_live(self) -> bool:
        return all(role["state"] == "live" for role in self.status()["roles"])

    def wrong_pixels(self, name: str, light: numpy.ndarray) -> int:
        """Of the light, as the output shows it now."""
        path, (x, y) = self._folder / "screen.png", PLACE
        snap = self.start("cluster", ["gidctl", "snap", f"screen/{name}", "-o", str(path)])
        if snap.wait(PATIENCE) != 0:
            raise common.BenchError(f"gidctl gets no picture of the output {name}")
        shown = numpy.asarray(Image.open(path).convert("RGB"))
        part = shown[y : y + LIGHT[1], x : x + LIGHT[0]]
        return int((part != light).any(axis=2).sum())

    def light(self, name: str) -> numpy.ndarray:
        path = self._folder / f"{name}.png"
        draw = ["gid-telltale", f"--state={STATES[name]}", f"--png={path}"]
        if self.start("open", draw).wait(PATIENCE) != 0:
            raise common.BenchError("gid-telltale cannot draw a picture")
        return numpy.asarray(Image.open(path).convert("RGB"))


def _end(process: subprocess.Popen) -> None:
    if process.poll() is None:
        process.terminate()
    process.communicate(timeout=PATIENCE)


def _outputs(status: dict) -> Iterator[tuple[str, dict]]:
    return ((one["name"], one) for one in status["outputs"])


def measure(displays: Displays, seconds: float) -> list[dict]:
    lights = {name: displays.light(name) for name in OUTPUTS}
    displays.start_meters(seconds + 5)
    time.sleep(2)  # until the dials move
    begin, before = time.monotonic(), dict(_outputs(displays.status()))
    refused = sum(role["refused_frames"] for role in displays.status()["roles"])
    wrong, looks = dict.fromkeys(OUTPUTS, 0), 0
    while time.monotonic() < begin + seconds:
        for name, light in lights.items():
            wrong[name] += displays.wrong_pixels(name, light)
        looks += 1
        time.sleep(min(1.0, max(0.0, begin + seconds - time.monotonic())))
    status = displays.status()
    passed = (time.monotonic() - begin) * 1e9
    rows = []
    for name, after in _outputs(status):
        expected = int(passed / after["refresh_ns"])
        frames = after["frames"] - before[name]["frames"]
        missed = max(0, expected - frames)
        rows.append(
            {
                "bench": "displays",
                "who": name,
                "what": f"{after['width']}x{after['height']}",
                "frames": frames,
                "refreshes": expected,
                "missed": missed,
                "missed_share": round(missed / expected, 5),
                "compose_p50_us": after["compose_p50_ns"] / 1000,
                "compose_p99_us": after["compose_p99_ns"] / 1000,
                "longest_gap_ms": after["longest_gap_ns"] / 1e6,
                "looks": looks,
                "wrong_pixels": wrong[name],
            }
        )
    rows[0]["refused_frames"] = sum(role["refused_frames"] for role in status["roles"]) - refused
    return rows


def ratios(rows: list[dict]) -> dict[str, float]:
    return {
        "wrong_pixels": sum(row["wrong_pixels"] for row in rows) + rows[0]["refused_frames"],
        "missed_share_worst": max(row["missed_share"] for row in rows),
    }


def main() -> int:
    parser = common.parser("displays", __doc__)
    parser.add_argument("--seconds", type=float, default=60, help="default: 60")
    options: argparse.Namespace = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gid-bench-", dir=common.memory_folder()) as name:
        folder = Path(name)
        with common.cockpit(folder, "safety/*"), contextlib.ExitStack() as stack:
            rows = measure(Displays(folder, stack), options.seconds)
    for row in rows:
        print(
            f"{row['who']:8} {row['what']:9} {row['missed']} of {row['refreshes']} refreshes "
            f"missed, {row['wrong_pixels']} wrong pixels in {row['looks']} looks"
        )
    common.write(options.json, rows, ratios(rows))
    return 0


if __name__ == "__main__":
    sys.exit(common.run(main))
