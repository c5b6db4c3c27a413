# SPDX-License-Identifier: MIT
"""Pictures that are dear to read: what they cost is not the display's thread's to pay."""

import os
import time
from pathlib import Path

import pytest
from cockpit import Cockpit
from display import Display
from program import BUILD, Program, wait_for

COSTLY = BUILD / "tests" / "hostile" / "programs" / "hostile-costly"
WIDTH, HEIGHT = 1600, 700
DISPLAY = f"[display]\nworst-frame=0\nwidth={WIDTH}\nheight={HEIGHT}\nrefresh=60\n"
ROLE = f"""
[role dear]
domain=open
x=0
y=0
width={WIDTH}
height={HEIGHT}
deadline-ms=10000
formats=any
transform=any
"""
TURNED = 1
# What role_costly of the audit had, and the widest of each kind.
KINDS = [
    ("XR30", 0),
    ("XR30", TURNED),
    ("XR12", TURNED),
    ("Y216", 0),
    ("Y216", TURNED),
    ("YUYV", TURNED),
    ("NV12", TURNED),
    ("Q410", 7),
    ("XR24", TURNED),
]


def seconds_of(pid: int, thread: int) -> float:
    """That the thread had of a processor."""
    words = Path(f"/proc/{pid}/task/{thread}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def seconds_of_others(pid: int) -> float:
    threads = [int(path.name) for path in Path(f"/proc/{pid}/task").iterdir()]
    return sum(seconds_of(pid, thread) for thread in threads if thread != pid)


def start(cockpit: Cockpit, kind: str, transform: int) -> Program:
    across, down = (HEIGHT, WIDTH) if transform % 2 else (WIDTH, HEIGHT)
    words = [COSTLY, "safety/dear", kind, across, down, transform]
    return cockpit.run("open", [*map(str, words)], name=f"costly-{kind}-{transform}")


def cost_of_a_frame(display: Display, seconds: float = 3) -> tuple[float, float]:
    """Of the display's thread, in ms; and what all others take of a processor."""
    pid = display.program.pid
    before = seconds_of(pid, pid), seconds_of_others(pid), display.status()["frames"]
    begun = time.monotonic()
    time.sleep(seconds)
    passed = time.monotonic() - begun
    frames = display.status()["frames"] - before[2]
    cost = (seconds_of(pid, pid) - before[0]) / max(frames, 1) * 1000
    return cost, (seconds_of_others(pid) - before[1]) / passed


def check_bound(display: Display) -> None:
    """In the thread's own time: what else this machine did is not its.

    But for one frame in a hundred: a virtual machine's kernel takes time in which it was not run
    for that of who runs. A loop of 6 ms was said to have taken 12 and 15 ms, twice in 1700 times,
    with no page that had to come and a wall clock of 140 and 230 ms; where the hypervisor was so
    busy that all frames took a third longer, 3 of 365 were beyond the bound. What strangers choose
    costs each frame of theirs, and there are a hundred of those.
    """
    status = display.status()
    worst, bound = status["compose_cpu_max_ns"] / 1e6, status["frame_bound_ns"] / 1e6
    print(f"the worst of {status['frames']} frames took {worst:.2f} ms of {bound:.2f} allowed")
    assert worst > 0 and status["frames"] > 100
    assert (status["over_bound_frames"] > 0) == (worst > bound)
    assert status["over_bound_frames"] <= status["frames"] // 100


@pytest.mark.parametrize(("kind", "transform"), KINDS)
def test_the_display_does_not_pay(cockpit: Cockpit, kind: str, transform: int) -> None:
    display = Display(cockpit, ROLE, display=DISPLAY)
    honest = start(cockpit, "XR24", 0)
    display.wait_role("live", name="dear")
    fair, _ = cost_of_a_frame(display)
    honest.kill()
    display.wait_role("lost", name="dear")
    start(cockpit, kind, transform)
    display.wait_role("live", name="dear")
    before = display.role("dear")["shown_frames"]
    cost, others = cost_of_a_frame(display)
    print(f"{kind} {transform}: {cost:.2f} ms a frame, XR24 {fair:.2f}; others {others:.2f}")
    assert cost < 1.6 * fair + 0.5
    assert others < 0.75, "half a processor, and what is measured in ticks"
    wait_for(lambda: display.role("dear")["shown_frames"] > before + 10, "pictures all the same")
    assert display.role("dear")["examine_max_ns"] > 0
    check_bound(display)
