#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What it costs to report a timeline log of a gigabyte: time and memory of gid-timeline.

The log is made up: one surface at 60 frames a second for eleven hours, in Weston's own lines. The
report runs pinned to one core. Beside it stands the bare limit: counting the lines with wc.
"""

import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import common
from lab.domains import priority
from lab.domains.program import LabError

REFRESH = 16_666_667
FORMS = ("text", "html", "json")
FRAMES_AT_ONCE = 2000


def main() -> int:
    parser = common.parser("timeline", __doc__)
    parser.add_argument(
        "--megabytes", type=common.count, default=1000, help="of log (default: 1000)"
    )
    options = parser.parse_args()
    progress = common.Progress(2 + len(FORMS))
    rows = []
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        log = Path(folder) / "tl.log"
        progress.step("log")
        frames = make_log(log, options.megabytes * 1_000_000)
        commands = {"wc": ["wc", "-l", str(log)]}
        for form in FORMS:
            commands[form] = ["gid-timeline", "report", str(log), f"--format={form}"]
        for what, command in commands.items():
            progress.step(what)
            cpu, wall, peak = measure(command)
            who = "limit" if what == "wc" else "gid"
            names = {"bench": "timeline", "who": who, "what": what}
            size = {"megabytes": options.megabytes, "frames": frames}
            figures = {"cpu_s": cpu, "wall_s": wall, "peak_memory_mb": peak}
            rows.append({**names, **size, **figures})
    progress.end()
    for row in rows:
        print(
            f"{row['who']:<6} {row['what']:<5} {row['cpu_s']:7.2f} s CPU {row['wall_s']:7.2f} s "
            f"wall {row['peak_memory_mb']:6.0f} MB"
        )
    common.write(options.json, rows, {"cpu_text_vs_wc": rows[1]["cpu_s"] / rows[0]["cpu_s"]})
    return 0


def measure(command: list[str]) -> tuple[float, float, float]:
    """CPU and wall seconds, and the greatest resident memory in MB, pinned to one core."""
    core, _ = priority.two_cores()
    with open(os.devnull, "wb") as nowhere:
        begin = os.times().elapsed
        process = subprocess.Popen(
            command, stdout=nowhere, preexec_fn=lambda: os.sched_setaffinity(0, {core})
        )
        _, status, used = os.wait4(process.pid, 0)
        wall = os.times().elapsed - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise LabError(f"{command[0]} failed with {process.returncode}")
    return used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024


def make_log(path: Path, size: int) -> int:
    """Writes about `size` bytes; returns the number of frames."""
    rng = random.Random(1)
    frames = 0
    vblank = 4122 * 10**9
    with path.open("w") as file:
        file.write('{ "id":1, "type":"weston_output", "name":"DP-1" }\n')
        file.write('{ "id":2, "type":"weston_surface", "desc":"film" }\n')
        while file.tell() < size:
            lines = []
            for _ in range(FRAMES_AT_ONCE):
                vblank += REFRESH
                lines += frame(vblank, rng.randrange(300_000), rng.randrange(900_000))
            file.write("".join(lines))
            frames += FRAMES_AT_ONCE
    return frames


def frame(vblank: int, lateness: int, more: int) -> list[str]:
    """The lines of one frame that is shown at `vblank`; times in ns."""
    commit, begin = vblank - 14_000_000 + more, vblank - 7_000_000 + lateness
    posted, shown = begin + 1_500_000 + more, f"[{vblank // 10**9}, {vblank % 10**9}]"
    return [
        line(commit, "core_commit_damage", '"ws":2'),
        line(commit + 9000, "core_repaint_req", '"wo":1'),
        line(begin, "core_repaint_begin", '"wo":1'),
        line(begin + 80_000, "core_flush_damage", '"ws":2, "wo":1'),
        line(posted, "core_repaint_posted", '"wo":1'),
        line(vblank + 30_000, "core_repaint_finished", f'"wo":1, "vblank_monotonic":{shown}'),
    ]


def line(time: int, name: str, rest: str) -> str:
    return f'{{ "T":[{time // 10**9}, {time % 10**9}], "N":"{name}", {rest} }}\n'


if __name__ == "__main__":
    sys.exit(common.run(main))
