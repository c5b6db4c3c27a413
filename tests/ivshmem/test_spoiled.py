# SPDX-License-Identifier: MIT
"""A machine that fills all of its memory with anything, rings and pages included: nobody minds."""

import os
import random
import time
from collections.abc import Callable
from contextlib import ExitStack

import pytest
from lib.cockpit import Cockpit
from lib.machines import CONFIG, link, map_window, start, windows
from lib.peer import Peer, consume, produce
from lib.program import wait_for

SECONDS = float(os.environ.get("GIDWAY_SPOIL_SECONDS", "2"))


@pytest.fixture
def machines(make_cockpit: Callable[..., Cockpit]) -> Cockpit:
    cockpit = make_cockpit(CONFIG)
    start(cockpit)
    return cockpit


def spoil(machines: Cockpit, domain: str, seed: int) -> None:
    """As often as it can: whole pages, single words, and words that are nearly right."""
    chance = random.Random(seed)
    end = time.monotonic() + SECONDS
    with ExitStack() as stack:
        memories = [stack.enter_context(map_window(path)) for path in windows(machines, domain)]
        noise = chance.randbytes(1 << 20)
        while time.monotonic() < end:
            for memory in memories:
                for at in range(0, len(memory), len(noise)):
                    memory[at : at + len(noise)] = noise
            for _ in range(2000):
                memory = chance.choice(memories)
                at = chance.randrange(0, 1 << 17) & ~7  # rings and pages are allocated first
                old = int.from_bytes(memory[at : at + 8], "little")
                new = chance.choice(
                    (old + 1, old - 1, old ^ 1 << chance.randrange(64), 0, 2**64 - 1)
                )
                memory[at : at + 8] = (new % 2**64).to_bytes(8, "little")
            noise = bytes([chance.randrange(256)]) * len(noise)


def faults(machines: Cockpit, domain: str, peer: str = "open") -> int:
    return link(machines, domain, peer)["faults"]


def lives(peer: Peer) -> bool:
    return peer.program.is_running()


def test_who_reads_from_it(machines: Cockpit) -> None:
    """Consumers on three other machines; what else they read goes on, and so it comes back."""
    produce(machines, "movie", fps=200)
    other = produce(machines, "film", "host", fps=100, credit=32, slots=40)
    readers = [
        consume(machines, "movie", domain, reconnect=True) for domain in ("host", "cluster", "hud")
    ]
    bystander = consume(machines, "film", "hud", "host", credit=32)
    for reader in (*readers, bystander):
        reader.wait_frames(20)
    pids = {domain: machines.gidds[domain].pid for domain in ("host", "cluster", "hud")}
    before = bystander.last["frames"]
    spoil(machines, "open", 1)
    assert bystander.last["frames"] > before and bystander.last["torn"] == 0
    assert lives(other) and all(lives(reader) for reader in readers)
    for domain, pid in pids.items():
        assert machines.gidds[domain].is_running() and machines.gidds[domain].pid == pid
    assert link(machines, "host", "hud")["ups"] == 1
    # Each has closed its own link for what it saw. The same machine comes back, with its programs.
    for domain in ("host", "cluster", "hud"):
        wait_for(lambda domain=domain: faults(machines, domain) >= 1, f"{domain} to close its link")
        fault = link(machines, domain, "open")["last_fault"]
        assert fault  # by chance another one: memory of a window that there is not, for instance
        machines.wait_log(domain, f"lost: {fault}")
    for reader in readers:
        reader.wait_frames(50)
    # Its machine begins anew.
    machines.kill("open")
    for program in machines.programs[:1]:
        program.kill()
    machines.start("open")
    machines.wait_links()
    produce(machines, "movie", fps=100)
    for reader in readers:
        torn = reader.last["torn"]
        reader.wait_frames(50)
        assert reader.last["torn"] >= torn
    bystander.wait_frames(20)
    assert bystander.last["torn"] == 0


def test_who_sends_to_it(machines: Cockpit) -> None:
    """A producer reads the pages of its consumers: those that make no sense lose the stream."""
    producer = produce(machines, "film", "host", fps=200, slots=16, credit=4, lease_ms=3000)
    spoiled = [consume(machines, "film", "open", "host", hold=hold) for hold in (0, 2)]
    bystander = consume(machines, "film", "hud", "host")
    for reader in (*spoiled, bystander):
        reader.wait_frames(20)
    spoil(machines, "open", 2)
    producer.wait(lambda line: line["consumers"] == 1, "the spoiled consumers to be left")
    assert producer.last["held"] <= 4
    bystander.wait_frames(100)
    assert bystander.last["torn"] == 0 and producer.last["no_slot"] == 0
    assert all(machines.gidds[domain].is_running() for domain in ("host", "cluster", "hud"))
    wait_for(lambda: faults(machines, "host") >= 1, "the host to close its link")
    assert faults(machines, "host", "hud") == 0
