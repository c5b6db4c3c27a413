# SPDX-License-Identifier: MIT
"""stream-peer, one end of a stream in a process of its own, as tests drive and watch it."""

import json
from collections.abc import Callable

from lib.cockpit import Cockpit
from lib.program import BUILD, PATIENCE, Program, wait_for

PEER = BUILD / "tests/lib/programs/stream-peer"

WAITING, LIVE, ENDED = 1, 2, 3


class Peer:
    def __init__(self, program: Program) -> None:
        self.program = program
        self._parsed: list[dict] = []
        self._parsed_bytes = 0

    @property
    def pid(self) -> int:
        return self.program.pid

    @property
    def lines(self) -> list[dict]:
        """All it has said; a line that is being written is left out."""
        with self.program.output_path.open("rb") as output:
            output.seek(self._parsed_bytes)
            whole, end, _ = output.read().rpartition(b"\n")
        self._parsed_bytes += len(whole + end)
        self._parsed += map(json.loads, whole.splitlines())
        return [*self._parsed]

    @property
    def last(self) -> dict:
        lines = self.lines
        assert lines, f"it has said nothing:\n{self.program.stderr}"
        return lines[-1]

    def wait(
        self,
        condition: Callable[[dict], bool],
        what: str,
        timeout: float = PATIENCE,
        since: int | None = None,
    ) -> dict:
        """The first line that fulfils the condition, of those said from now on, or just now.

        What comes of a deed is to be looked for behind the lines there were before it: `since`.
        """
        seen = max(0, len(self.lines) - 1) if since is None else since

        def fulfilled() -> dict | None:
            status = self.program.process.poll()
            found = next((line for line in self.lines[seen:] if condition(line)), None)
            assert found or status is None, f"it ended with status {status}, not with {what}"
            return found

        try:
            return wait_for(fulfilled, what, timeout)
        except AssertionError as error:
            last = self.lines[-1:]
            raise AssertionError(f"{error}; it said {last}\n{self.program.stderr}") from None

    def wait_frames(self, more: int, timeout: float = PATIENCE) -> dict:
        """Until it has sent or received so many frames more."""
        last = self.last
        assert last["event"] != "failed", self.program.stderr
        goal = last["frames"] + more
        return self.wait(lambda line: line["frames"] >= goal, f"{more} more frames", timeout)

    def wait_state(self, state: int, timeout: float = PATIENCE) -> dict:
        return self.wait(lambda line: line["state"] == state, f"state {state}", timeout)

    def memory_kib(self) -> int:
        """Its private and shared pages that are present."""
        with open(f"/proc/{self.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))

    def maps(self) -> int:
        """Of shared memory; those of threads that close come and go."""
        with open(f"/proc/{self.pid}/maps") as maps:
            return sum("/memfd:" in line or "/window/" in line for line in maps)


def options(values: dict[str, object]) -> list[str]:
    return [f"{name}={int(value)}" for name, value in values.items()]


def produce(cockpit: Cockpit, name: str, domain: str = "open", **values: object) -> Peer:
    if values.get("lossless"):
        values.setdefault("lease_ms", 600_000)  # a consumer may be late by more than a second
    peer = Peer(cockpit.run(domain, [PEER, "produce", name, *options(values)], "producer"))
    wait_for(lambda: peer.lines, f"the producer of {name} to publish it")
    return peer


def consume(
    cockpit: Cockpit,
    name: str,
    domain: str = "cluster",
    owner: str = "open",
    **values: object,
) -> Peer:
    peer = Peer(cockpit.run(domain, [PEER, "consume", owner, name, *options(values)], "consumer"))
    wait_for(lambda: peer.lines, f"the consumer of {name} to subscribe")
    return peer
