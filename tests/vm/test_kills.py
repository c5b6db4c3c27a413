# SPDX-License-Identifier: MIT
"""Guests killed at random moments: the others hear of it, and get back what they had lent.

Of the suite long: a guest boots after each kill. vm/link has a guest that is killed once. The
documents tell of GIDWAY_KILLS=20.
"""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from gid_vm.guest import why_not
from guests import Machines
from kills import Growth, Victim, pids
from lib.company import IS_LONG

KILLS = int(os.environ.get("GIDWAY_KILLS", 2))
VICTIMS = ("open", "spare") if KILLS > 2 else ("open",)
GROWTH_KIB = 256  # that a process of the host may have more after all kills than after the first

pytestmark = [
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
    pytest.mark.timeout(1800 + 300 * KILLS),
]


@pytest.fixture
def machines() -> Iterator[Machines]:
    machines = Machines()
    try:
        machines.boot("cluster", *VICTIMS)
        yield machines
    finally:
        machines.close()


def test_guests_killed_at_random_moments(machines: Machines) -> None:
    """KILLS times: the others hear of it, and all that was lent is back.

    While one boots again, the other one is killed: a third guest is there all the time.
    """
    readers = {"open": "cluster"}
    victims = [
        Victim(machines, name, seed, readers.get(name)) for seed, name in enumerate(VICTIMS, 4)
    ]
    host = machines.host.gidds["host"].pid
    cluster = machines.link("cluster")["ups"]
    growth = None
    with ThreadPoolExecutor(len(victims)) as pool:
        list(pool.map(Victim.stream, victims))
        for _ in range(-(-KILLS // len(victims))):
            list(pool.map(Victim.die_and_come_back, victims))
            link = machines.link("cluster")
            assert (link["state"], link["ups"]) == ("up", cluster)
            assert machines.host.gidds["host"].pid == host
            if growth is None:
                programs = [v.lender for v in victims] + [v.consumers[0] for v in victims]
                growth = Growth([host, *pids(programs)])
            else:
                growth.check(GROWTH_KIB)
    for who, heard in (
        ("the host", [seconds for victim in victims for seconds in victim.heard]),
        ("a guest", victims[0].heard_by_guest),
    ):
        heard.sort()
        median = heard[(len(heard) - 1) // 2]
        late = sum(seconds > 1 for seconds in heard)
        print(f"{len(heard)} kills, {who} heard after {median * 1e3:.0f} ms (median), at most")
        print(f"{heard[-1] * 1e3:.0f} ms; {late} times after more than a second")
        assert median < 1 or not IS_LONG
    for victim in victims:
        for program in (*victim.consumers, victim.lender):
            program.signal(signal.SIGTERM)
