# SPDX-License-Identifier: MIT
"""The time of day jumps by decades each second: deadlines, requests and retries keep theirs, for
gidd, gid-cluster and libgid know the monotonic clock only.
"""

import subprocess
import sys
import time
from collections.abc import Callable

import pytest
from gid_vm.preload import Preload
from lib.cockpit import Cockpit
from lib.display import Display, start_telltale
from lib.program import BUILD, wait_for

JUMPING = BUILD / "tests" / "safety" / "jumping_clock.so"
FRAMES = 240  # of the telltale, that the clock jumps meanwhile
YEAR_S = 365 * 86400


def test_the_time_of_day_jumps(
    make_cockpit: Callable[..., Cockpit], monkeypatch: pytest.MonkeyPatch
) -> None:
    preload = Preload(JUMPING)
    for name, value in preload.env.items():
        monkeypatch.setenv(name, value)
    asked = [sys.executable, "-c", "import time; print(time.time())"]
    wrong = float(subprocess.run(asked, check=True, capture_output=True, text=True).stdout)
    assert abs(wrong - time.time()) > 9 * YEAR_S

    cockpit = make_cockpit()
    cockpit.start_all()
    display = Display(cockpit)
    telltale = start_telltale(cockpit, "--cycle", "5")
    role = display.wait_role("live")
    frames, changes = role["frames"], role["transition_count"]
    wait_for(lambda: display.role()["frames"] > frames + FRAMES, "frames while the clock jumps")
    assert display.role()["transition_count"] == changes, "it stayed live"
    cockpit.restart("open")
    wait_for(lambda: cockpit.status("open")["streams"], "its producer to be back")
    telltale.kill()
    display.wait_role("lost")
    start_telltale(cockpit, "--cycle", "5")
    display.wait_role("live")
    assert display.program.stop() == 0, display.program.stderr
    preload.check("gid-cluster", "gid-telltale", "gidd")
