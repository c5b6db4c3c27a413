# SPDX-License-Identifier: MIT
"""A guest that is killed again and again while it reads the host's frames and lends it its own."""

import random
import time
from collections.abc import Iterable
from pathlib import Path

from guests import SECONDS, Machines, Running
from lib.peer import PEER, WAITING
from lib.program import own_kib, wait_for

HELD = 3  # frames of the host that the guest holds when it is killed


def is_waiting(consumer: Running) -> bool:
    return consumer.lines("state")[-1]["state"] == WAITING


class Victim:
    """`reader`: a guest that reads the victim's frames as well, and is to hear of its death."""

    def __init__(self, machines: Machines, name: str, seed: int, reader: str | None = None) -> None:
        self.machines, self.name = machines, name
        self.dice = random.Random(seed)
        self.heard: list[float] = []  # by the host's gidd, seconds after the kill
        self.heard_by_guest: list[float] = []
        movie = [PEER, "consume", name, "movie", "reconnect=1", "hold=2"]
        self.consumers = [machines.start(place, *movie) for place in ("host", reader) if place]
        camera = [PEER, "produce", f"camera/{name}", "fps=50", "lease_ms=3600000"]
        self.lender = machines.start("host", *camera)
        self.lender.wait_lines("held", 1)  # the guest looks for its stream once

    def held(self) -> int:
        return self.lender.lines("held")[-1]["held"]

    def stream(self) -> None:
        """Frames flow both ways, and the guest holds some of them."""
        start = self.machines.start
        start(self.name, PEER, "produce", "movie", "fps=50")
        camera = f"camera/{self.name}"
        start(self.name, PEER, "consume", "host", camera, f"hold={HELD}", "credit=4")
        for consumer in self.consumers:
            consumer.wait_more(20)
        wait_for(lambda: self.held() >= HELD, f"{self.name} to hold frames", SECONDS)

    def die(self) -> None:
        """The others hear of it, and everything that was lent is back."""
        time.sleep(self.dice.uniform(0, 0.3))
        killed = time.monotonic()
        self.machines.guests[self.name].kill()
        self.machines.wait_link(self.name, "down")
        self.heard.append(time.monotonic() - killed)
        assert "silent" not in self.machines.link(self.name)["why"], "its end itself is heard of"
        for consumer in self.consumers[1:]:
            wait_for(lambda reader=consumer: is_waiting(reader), "a guest to hear", SECONDS)
            self.heard_by_guest.append(time.monotonic() - killed)
            assert "silent" not in self.machines.link_of("cluster", self.name)["why"]
        wait_for(lambda: self.held() == 0, f"what {self.name} held to be back", SECONDS)
        assert all(program.is_running for program in (*self.consumers, self.lender))

    def come_back(self) -> None:
        self.machines.guests[self.name].finish()
        self.machines.boot(self.name)
        self.stream()

    def die_and_come_back(self) -> None:
        self.die()
        self.come_back()


class Growth:
    """Whether processes of the host have more descriptors or memory than they had once."""

    def __init__(self, pids: Iterable[int]) -> None:
        self.first = {pid: usage(pid) for pid in pids}

    def check(self, slack_kib: int) -> None:
        def settled() -> bool:
            self.last = {pid: usage(pid) for pid in self.first}
            return all(
                self.last[pid][0] <= fds and self.last[pid][1] <= memory + slack_kib
                for pid, (fds, memory) in self.first.items()
            )

        try:
            wait_for(settled, "descriptors and memory to be what they were")
        except AssertionError as error:
            raise AssertionError(f"{error}: {self.first}, now {self.last}") from None


def usage(pid: int) -> tuple[int, int]:
    """Descriptors, and KiB of memory of its own."""
    return len(list(Path(f"/proc/{pid}/fd").iterdir())), own_kib(pid)


def pids(programs: Iterable[Running]) -> list[int]:
    """Of those that run on the host."""
    return [pid for program in programs if (pid := program.pid) is not None]
