# SPDX-License-Identifier: MIT
"""A picture of others keeps who reads it waiting for good: the display ends when it is told to."""

import signal
import time

from gid_vm.preload import Preload
from lib.cockpit import Cockpit
from lib.display import Display, start_telltale, with_deadline
from lib.program import BUILD, wait_for

STUCK = BUILD / "tests" / "safety" / "stuck_worker.so"
END_S = 8  # a second, on a busy machine


def test_the_display_ends(cockpit: Cockpit) -> None:
    """In good order, and it says why it did not wait. Until then, the role's fallback is shown."""
    preload, stuck = Preload(STUCK), cockpit.folder / "stuck"
    names = preload.env | {"STUCK_WORKER": str(stuck)}
    under = ("env", *(f"{name}={value}" for name, value in names.items()))
    display = Display(cockpit, with_deadline(500), under=under)
    preload.check("gid-cluster")
    start_telltale(cockpit, "--cycle", "40")
    display.wait_role("live")
    stuck.touch()
    display.wait_role("late", "deadline")
    began = time.monotonic()
    display.program.signal(signal.SIGTERM)
    wait_for(lambda: not display.program.is_running(), "the display to end", END_S)
    print(f"ended in {time.monotonic() - began:.2f} s")
    assert display.program.wait() == 0
    assert "a picture is being read still: it is not waited for" in display.program.stderr
