# SPDX-License-Identifier: MIT
"""Streams in both directions between a guest and its host, and a telltale: what was shown is
counted, whatever happens to the guest.
"""

import json
import signal
from collections import Counter
from contextlib import suppress
from pathlib import Path

import numpy
from guests import SECONDS
from lib.cockpit import GIDCTL, GIDD
from lib.display import ROLE, Display, telltale_picture
from lib.peer import LIVE, PEER
from lib.program import BUILD, wait_for
from saved import Savable

FRAMES = 20  # of each stream, after which it flows again
BAD = ("wrong", "older", "repeated")  # frames that a reader was shown, and should not have been
NOTHING = {"frames": 0, "reconnects": -1} | dict.fromkeys(BAD, 0)  # of a reader that has just come
LEASE = "lease_ms=600000"
TELLTALE = BUILD / "clients/gid-telltale"
PROGRAMS = [GIDD, GIDCTL, PEER, TELLTALE]  # of the guest


class Streams:
    """One in each direction, and a telltale of the guest on a display of the host.

    Programs of the guest write into its memory: what they told the host while the machine is saved
    would come in parts of two lives.
    """

    def __init__(self, machines: Savable, folder: Path, role: str = ROLE) -> None:
        self.machines, self.guest = machines, machines.guests["open"]
        self.display = Display(machines.host, role, domain="host")
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
