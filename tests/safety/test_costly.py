# SPDX-License-Identifier: MIT
"""Pictures that are dear to read: what they cost is not the display's thread's to pay."""

import os
import signal
import statistics
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


def seconds_of(stat: Path) -> float:
    """That the thread, or the process with all threads that it had, had of a processor."""
    words = stat.read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def seconds_of_others(pid: int) -> float:
    """Of threads that have ended as well: what the process has beyond its first thread's."""
    return seconds_of(Path(f"/proc/{pid}/stat")) - seconds_of(Path(f"/proc/{pid}/task/{pid}/stat"))


def own_ms(pid: int) -> float:
    """That its first thread had of a processor."""
    return int(Path(f"/proc/{pid}/task/{pid}/schedstat").read_text().split()[0]) / 1e6


def start(cockpit: Cockpit, kind: str, transform: int) -> Program:
    across, down = (HEIGHT, WIDTH) if transform % 2 else (WIDTH, HEIGHT)
    words = [COSTLY, "safety/dear", kind, across, down, transform]
    return cockpit.run("open", [*map(str, words)], name=f"costly-{kind}-{transform}")


def cost_of_frames(display: Display, count: int = 30) -> float:
    """Of one, to the display's thread, in ms."""
    before, spent = display.status()["frames"], own_ms(display.program.pid)
    wait_for(lambda: display.status()["frames"] >= before + count, f"{count} frames")
    return (own_ms(display.program.pid) - spent) / (display.status()["frames"] - before)


def cost_of_a_frame(display: Display) -> tuple[float, float]:
    """Of the display's thread, in ms; and what all others take of a processor.

    The middle of some rows of frames: where a hypervisor runs others meanwhile, their time is said
    to be the thread's. What a stranger's pictures cost would be in each row, as each has some.
    """
    pid = display.program.pid
    others, begun = seconds_of_others(pid), time.monotonic()
    cost = statistics.median(cost_of_frames(display) for _ in range(6))
    return cost, (seconds_of_others(pid) - others) / (time.monotonic() - begun)


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


COMERS = [("XR24", 0), ("Y216", TURNED), ("XR30", 7), ("NV12", TURNED), ("XR12", 0)]


@pytest.mark.parametrize("what", ["a role in another format each time", "a film of 4K"])
def test_who_comes_and_goes_all_the_time(cockpit: Cockpit, what: str) -> None:
    """Slabs of 200 MB that are mapped and lost again, and a format that is never that of the frame
    before: the display's frames take no more than their bound, and no picture is lost by it."""
    film = "[layer film]\ndomain=open\nstream=safety/dear\nwidth=1600\nheight=700\n"
    is_role = what.startswith("a role")
    display = Display(cockpit, ROLE if is_role else film, display=DISPLAY)

    def seen() -> dict:
        return display.status()["roles" if is_role else "layers"][0]

    for kind, transform in COMERS:
        if is_role:
            comer = start(cockpit, kind, transform)
        else:
            size = ["3840", "2160", "0"]
            comer = cockpit.run("open", [COSTLY, "safety/dear", "XR24", *size], name="film")
        shown = seen()["shown_frames"]
        wait_for(lambda shown=shown: seen()["shown_frames"] > shown, f"pictures, {kind}")
        comer.signal(signal.SIGKILL)
        comer.wait()
        wait_for(lambda: seen()["state"] != "live", "its end")
    if not is_role:  # which takes none before there are as many good ones as good-frames= has
        assert seen()["refused_frames"] == 0
    start(cockpit, "XR24", 0)
    wait_for(lambda: display.status()["frames"] > 200, "frames")
    wait_for(lambda: seen()["state"] == "live", "an honest one")
    check_bound(display)
