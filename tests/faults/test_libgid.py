# SPDX-License-Identifier: MIT
"""libgid where memory runs out: each allocation of its public calls fails once, in a producer and
in a consumer. The calls say so; nothing crashes, and gidd and the other end are none the worse.
"""

import os
import signal

import pytest
from gid_vm.preload import Preload
from lib.cockpit import Cockpit
from lib.peer import PEER, Peer
from lib.program import BUILD, Program

PRELOADED = BUILD / "tests" / "faults" / "failing_malloc.so"
MOST = 400  # allocations until the first frames have gone


def was_told(reader: int) -> bool:
    try:
        return bool(os.read(reader, 1))
    except BlockingIOError:
        return False


def run_failing(cockpit: Cockpit, domain: str, words: list[str], number: int) -> tuple[int, bool]:
    """The exit status, and whether there was an allocation with this number."""
    reader, writer = os.pipe()
    preload = Preload(PRELOADED)
    settings = {"FAILING_MALLOC": str(number), "FAILING_MALLOC_FD": str(writer)}
    # A sanitizer has an allocator of its own; this is about the build without one.
    env = cockpit.env(domain) | preload.env | settings
    program = Program([PEER, *words], env, cockpit.folder, pass_fds=(writer,))
    os.close(writer)
    peer = Peer(program)
    try:
        peer.wait(
            lambda line: line.get("event") == "failed" or line.get("frames", 0) >= 5,
            "frames or a failure",
            since=0,
        )
    except AssertionError:
        if program.is_running():
            raise
    preload.check(PEER.name)
    os.set_blocking(reader, False)
    hit = was_told(reader)
    if hit or not program.is_running():
        status = program.stop()
    else:  # what it allocates at its end is not libgid's: where lines are counted it is theirs
        program.kill()
        status = 0
    os.close(reader)
    assert status >= 0, f"allocation {number}: {signal.Signals(-status).name}\n{program.stderr}"
    assert status == 0 or program.stderr.strip(), f"allocation {number}: ended without a word"
    return status, hit


@pytest.mark.parametrize("end", ["produce", "consume"])
@pytest.mark.timeout(900)
def test_each_allocation_fails_once(cockpit: Cockpit, end: str) -> None:
    other = ["consume", "open", "movie", "reconnect=1"]
    words = ["produce", "movie"]
    if end == "consume":
        words, other = ["consume", "open", "movie"], words
    domains = {"produce": "open", "consume": "cluster"}
    healthy = cockpit.run(domains[other[0]], [PEER, *other])
    failures = 0
    for number in range(MOST):
        status, hit = run_failing(cockpit, domains[end], words, number)
        failures += status != 0
        if not hit:
            break
    assert not hit, f"there are more than {MOST} allocations"
    assert number > 3 and failures > 0
    assert healthy.is_running(), healthy.stderr
    print(f"{number} allocations failed, {failures} of them were told")
