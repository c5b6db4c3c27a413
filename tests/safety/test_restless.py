# SPDX-License-Identifier: MIT
"""Producers of which nothing stays as it was, beside an honest one: the display goes on."""

import itertools
import json
import signal
from pathlib import Path

import pytest
from lib import hollow
from lib.cockpit import Cockpit
from lib.company import IS_LONG
from lib.display import ROLE, Display, start_telltale
from lib.length import at_length_but
from lib.program import BUILD, wait_for

RESTLESS = BUILD / "tests" / "hostile" / "programs" / "hostile-restless"
SIZE = (300, 200)
DISPLAY = "[display]\nworst-frame=0\nwidth=640\nheight=400\nrefresh=60\n"
PLACE = f"domain=open\nx=0\ny=120\nwidth={SIZE[0]}\nheight={SIZE[1]}\n"
KINDS = {
    "role": f"[role restless]\n{PLACE}stream=restless\nformats=any\ntransform=any\n",
    "layer": f"[layer restless]\n{PLACE}fit=cover\n",
}
MODES = ["formats", "narrow", "slabs", "restarts", "dates", "swapped", "many", "leases"]
MODES += ["metadata", "at-once", "edges"] + ["hollow"] * hollow.is_told()
MORE = 24  # of either kind, whose streams come and go, or are all at their limits
FRAMES = 480 if IS_LONG else 120  # of the display, while it is attacked
SETTLES = 16 << 10  # KiB that its memory may differ by, attacked or not


def memory_kib(display: Display) -> int:
    """Of its own: what it maps of others is theirs."""
    lines = Path(f"/proc/{display.program.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon:"))


def descriptors(display: Display) -> int:
    return len(list(Path(f"/proc/{display.program.pid}/fd").iterdir()))


# Each mode once, half of them against a role and half against a layer.
USUAL = [(mode, kind) for mode, kind in zip(MODES, itertools.cycle(KINDS), strict=False)]


@pytest.mark.parametrize(("mode", "kind"), at_length_but(itertools.product(MODES, KINDS), *USUAL))
def test_the_display_goes_on(cockpit: Cockpit, mode: str, kind: str) -> None:
    sections = ROLE + KINDS[kind]
    for i in range(MORE if mode in ("many", "edges") else 0):
        sections += f"[{kind} more{i}]\ndomain=open\nstream=restless/{i}\n"
        sections += f"x={25 * i}\ny=350\nwidth=20\nheight=20\n"
    display = Display(cockpit, sections, display=DISPLAY)
    start_telltale(cockpit, "--cycle", "16")  # something new in each refresh
    display.wait_role("live")
    before, files, memory = display.status(), descriptors(display), memory_kib(display)
    restless = cockpit.run("open", [RESTLESS, mode, "restless", *map(str, SIZE)])

    def seen() -> dict:
        return next(one for one in display.status()[f"{kind}s"] if one["name"] == "restless")

    wait_for(lambda: seen()["frames"] > 5, "frames of it")
    since = display.status()["frames"]
    wait_for(lambda: display.status()["frames"] > since + FRAMES, "frames")
    assert restless.is_running()
    assert [t["reason"] for t in display.role()["transitions"]] == ["none"], "the honest one"
    assert memory_kib(display) < memory + SETTLES
    after = display.status()
    print({key: after[key] - before[key] for key in ("frames", "skipped_refreshes")})
    restless.signal(signal.SIGTERM)
    assert restless.wait() == 0, restless.stderr
    assert json.loads(restless.stdout)["filled"] == 0, "pages that the display made for it"
    wait_for(lambda: seen()["state"] != "live", "its end")
    wait_for(lambda: descriptors(display) <= files + 4, "its descriptors closed")
    assert display.status()["missed"] == before["missed"]
