# SPDX-License-Identifier: MIT
"""A guest that is saved and restored while streams flow: what its programs and its gidd know goes
back, what it shares with others and they themselves do not.

Streams come back by themselves, and no reader is shown a picture that was not sent so. Few rounds,
for a translated guest takes seconds for each; vm/saved_time has 50, and its log tells of each.
"""

import json
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy
import pytest
from gid_vm.guest import why_not
from guests import SECONDS
from lib.cockpit import GIDCTL, GIDD
from lib.display import ROLE, Display, telltale_picture
from lib.peer import LIVE, PEER
from lib.program import BUILD, wait_for
from saved import Savable

from lab.domains.configuration import configuration

ROUNDS = int(os.environ.get("GIDWAY_ROUNDS", 1))
FRAMES = 20  # of each stream, after which it flows again
SLACK = 1.0  # seconds, between a guest's clock and the host's
BAD = ("wrong", "older", "repeated")  # frames that a reader was shown, and should not have been
NOTHING = {"frames": 0, "reconnects": -1} | dict.fromkeys(BAD, 0)  # of a reader that has just come
SET_BACK = "hub: domain open is gone: its machine was set back to what it was before"
LEASE = "lease_ms=600000"
TELLTALE = BUILD / "clients/gid-telltale"
SAVABLE = "doorbell=off vm-options=-global ivshmem-plain.master=on"
CONFIG = configuration(
    {
        "open": f"kind=guest window=4M window-kind=ivshmem vm-memory=256M {SAVABLE}",
        "host": "kind=host window=4M local=*",
    },
    {"open host": "*", "host open": "*"},
    runtime="/run/gidway",
)
CONFIG += "[link open host]\nkind=ivshmem\nsilence=120\n"

pytestmark = [
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
    pytest.mark.timeout(600 + 60 * ROUNDS),
]


@pytest.fixture(scope="module")
def machines() -> Iterator[Savable]:
    machines = Savable(CONFIG, [GIDD, GIDCTL, PEER, TELLTALE])
    try:
        machines.boot("open")
        yield machines
    finally:
        machines.close()


class Streams:
    """One in each direction, and a telltale of the guest on a display of the host.

    Programs of the guest write into its memory: what they told the host while the machine is saved
    would come in parts of two lives.
    """

    def __init__(self, machines: Savable, folder: Path) -> None:
        self.machines, self.guest = machines, machines.guests["open"]
        self.display = Display(machines.host, ROLE, domain="host")
        self.picture = telltale_picture(folder, 5)
        self._start("telltale", "gid-telltale --state 5")
        self._start("movie", f"stream-peer produce movie fps=50 slots=8 {LEASE}")
        self._start("reader", "stream-peer consume host camera reconnect=1 hold=2")
        words = ("produce", "camera", "fps=50", "slots=8", LEASE)
        self.camera = machines.start("host", PEER, *words)
        words = ("consume", "open", "movie", "reconnect=1", "hold=2")
        self.reader = machines.start("host", PEER, *words)

    def _start(self, name: str, command: str) -> None:
        """The last line that it said is in a file."""
        keep = f'while read -r line; do echo "$line" >/tmp/{name}; done'
        self.guest.start(["sh", "-c", f"{command} 2>&1 | {keep}"])

    def in_guest(self, name: str) -> dict:
        """What a program there said last; nothing where that is just being written."""
        text = self.guest.read(Path("/tmp", name), SECONDS) or b""
        with suppress(ValueError):
            return json.loads(text.partition(b"\n")[0])
        return {}

    def readers(self) -> list[dict]:
        """What the host's and the guest's said last."""
        assert self.reader.is_running, self.reader.err
        guest = wait_for(lambda: self.in_guest("reader"), "a line of the guest's reader", SECONDS)
        return [self.reader.lines("t")[-1], guest]

    def wait_anew(self, then: list[dict]) -> list[dict]:
        """Until each reader has connected again since and had frames, and the telltale is shown."""

        def flow() -> list[dict] | None:
            now = self.readers()
            anew = all(
                one["state"] == LIVE
                and one["reconnects"] > before["reconnects"]
                and one["frames"] > before["frames"] + FRAMES
                for one, before in zip(now, then, strict=True)
            )
            return now if anew else None

        now = wait_for(flow, "frames in both directions", SECONDS, 0.2)
        self.display.wait_role("live")
        wait_for(lambda: numpy.array_equal(self.display.region(), self.picture), "its picture")
        return now

    def end(self) -> None:
        """Nobody holds a slot of another one afterwards."""
        self.reader.signal(signal.SIGTERM)
        assert self.reader.finish().code == 0
        self.guest.run(["killall", "-TERM", "gid-telltale"])
        wait_for(lambda: is_free(self.in_guest("movie")), "the guest's slots", SECONDS)
        self.guest.run(["killall", "-TERM", "stream-peer"])
        wait_for(lambda: is_free(self.camera.lines("held")[-1]), "the host's slots", SECONDS)
        self.camera.signal(signal.SIGTERM)
        self.camera.finish()
        assert self.display.program.stop() == 0


def is_free(producer: dict) -> bool:
    """Nobody has a slot of its, nor did one get lost."""
    return [producer.get(key) for key in ("held", "out", "consumers")] == [0, 0, 0]


def bad(now: list[dict], then: list[dict]) -> Counter[str]:
    """Frames that were shown since: not what was sent, behind newer ones, or once more."""
    pairs = list(zip(now, then, strict=True))
    return Counter({key: sum(one[key] - before[key] for one, before in pairs) for key in BAD})


def has_failed_since(streams: Streams, then: int) -> bool:
    """Whether the display has seen the telltale's end since that time."""
    changes = streams.display.role()["transitions"]
    return any(change["from"] == "live" and change["shown_ns"] > then for change in changes)


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
