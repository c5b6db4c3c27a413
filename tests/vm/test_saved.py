# SPDX-License-Identifier: MIT
"""A guest that is saved and restored while streams flow: what its programs and its gidd know goes
back, what it shares with others and they themselves do not.

Streams come back by themselves, and no reader is shown a picture that was not sent so. Few rounds,
for a translated guest takes seconds for each; vm/saved_time has 50, and its log tells of each.
"""

import os
import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from both_ways import NOTHING, PROGRAMS, Streams, bad, has_failed_since
from gid_vm.guest import why_not
from saved import Savable, with_guest

ROUNDS = int(os.environ.get("GIDWAY_ROUNDS", 1))
SLACK = 1.0  # seconds, between a guest's clock and the host's
SET_BACK = "hub: domain open is gone: its machine was set back to what it was before"
CONFIG = with_guest("vm-options=-global ivshmem-plain.master=on")

pytestmark = [
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
    pytest.mark.timeout(600 + 60 * ROUNDS),
]


@pytest.fixture(scope="module")
def machines() -> Iterator[Savable]:
    machines = Savable(CONFIG, PROGRAMS)
    try:
        machines.boot("open")
        yield machines
    finally:
        machines.close()


def test_a_guest_that_is_saved_and_restored(machines: Savable, tmp_path: Path) -> None:
    """In the process that runs, in a new one, and by those who do no more than that. QEMU tells the
    hub, before the machine runs again."""
    streams = Streams(machines, tmp_path)
    dice = random.Random(36)
    now = streams.wait_anew([NOTHING, NOTHING])
    assert not +bad(now, [NOTHING, NOTHING])
    ways = [machines.restore, machines.set_back, machines.restore_anew]
    times: dict[str, list[float]] = {way.__name__: [] for way in ways}
    seen: dict[str, Counter[str]] = {name: Counter() for name in times}
    for number in range(ROUNDS):
        saved, asked = streams.readers()[1], time.monotonic()
        clock = machines.clock("open")
        machines.save("open")
        lived = time.monotonic() - asked  # at most, from that time of its clock to the saved one
        for way in ways if number % 10 == 0 else ways[:2]:
            time.sleep(dice.uniform(0, 2))
            before = streams.readers()[0]
            faults, began = machines.link("open")["faults"], time.monotonic_ns()
            way("open")
            begin, name = time.monotonic(), way.__name__
            now = streams.wait_anew([before, saved])
            seconds, found = time.monotonic() - begin, bad(now, [before, saved])
            print(f"{number + 1} of {ROUNDS}, {name}: {seconds:.1f} s, {dict(found)}", flush=True)
            times[name].append(seconds)
            seen[name].update(found)
            machines.wait_link("open", "up")
            if way == machines.set_back:
                machines.host.wait_log("host", SET_BACK)
            assert has_failed_since(streams, began)
            later = machines.clock("open") - clock
            lives = time.monotonic() - began / 1e9
            assert later < lived + lives + SLACK, "its clock did not go back as well"
            assert machines.link("open")["faults"] == faults, "it is nobody's fault"
    for name, took in times.items():
        print(f"{name}: {len(took)} times, frames flow after {max(took):.1f} s at most;", end=" ")
        print(f"bad ones: {dict(seen[name])}")
    assert not +sum(seen.values(), Counter())
    assert machines.link_of("open", "host")["state"] == "up"
    streams.end()
