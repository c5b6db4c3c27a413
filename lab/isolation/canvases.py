# SPDX-License-Identifier: MIT
"""What a program of `open` does to the engine while another domain's canvas is measured.

The engine runs on the cluster's core. The canvas of the domain `neighbour` has a picture to compose
at each refresh: its rate is the rate of pictures finished in time.
"""

from collections.abc import Collection
from pathlib import Path

from lab.domains import priority
from lab.domains.configuration import section
from lab.domains.program import Program
from lab.isolation.cases import Case, end_attack
from lab.isolation.pair import Cockpit


class CanvasCockpit(Cockpit):
    """A cockpit with a third domain, whose programs start when a case needs them."""

    more_domains = {"neighbour": ""}
    more_shares = {"neighbour cluster": "engine/*", "cluster neighbour": "canvas/*"}

    def __init__(
        self,
        folder: Path,
        guest: bool = False,
        is_protected: bool = True,
        contained: Collection[str] = (),
    ) -> None:
        super().__init__(folder, guest, is_protected, contained=contained)
        self.neighbour = self.place("neighbour", self.cluster_core)


class Canvas(Case):
    """Nothing happens: the reference for the other cases."""

    name = calm = "canvas"
    what = "nothing happens; this and what follows is the rate of another domain's canvas"
    in_guest = False  # the engine and its neighbour do not run in the guest
    _realtime = False

    def begin(self, cockpit: CanvasCockpit) -> None:
        if not cockpit.neighbour.is_running("gidd"):
            cockpit.neighbour.up()
        realtime = f"realtime={'on' if self._realtime else 'off'}"
        text = section("canvas innocent", f"domain=neighbour {realtime}")
        text += section("canvas hostile", f"domain=open {realtime}")
        place = cockpit.cluster.place
        configuration = place.write("engine.conf", text.encode())
        # Other work of this machine must not disturb the measurement: only the engine's threads
        # compete.
        command = priority.before_sessions(["gid-engine", f"--config={configuration}"])
        place.start("engine", command)

    def start_meter(self, cockpit: CanvasCockpit, seconds: float) -> Program:
        ms = str(round(seconds * 1000))
        command = [*priority.before_others(), "gid-bench-canvas", ms, "innocent"]
        return cockpit.neighbour.start("pace", command)

    def end(self, cockpit: CanvasCockpit) -> dict:
        cockpit.cluster.place["engine"].stop()
        cockpit.cluster.place.forget("engine")
        cockpit.neighbour.forget("pace")
        return {}


class HostileLists(Canvas):
    """What hostile-engine draws on its own canvas."""

    def __init__(self, mode: str, what: str, realtime: bool = False) -> None:
        self.name = f"lists-{mode}" + ("-realtime" if realtime else "")
        self.what = what
        self._mode, self._realtime = mode, realtime

    def begin(self, cockpit: CanvasCockpit) -> None:
        super().begin(cockpit)
        cockpit.open.place.start("lists", ["hostile-engine", self._mode, "hostile"])

    def end(self, cockpit: CanvasCockpit) -> dict:
        did = end_attack(cockpit, "lists")
        super().end(cockpit)
        return did


def canvas_cases() -> list[Canvas]:
    return [
        HostileLists("random", "batches of random lists, as fast as they are taken"),
        HostileLists("changing", "long lists that are written over while they are read"),
        HostileLists("endless", "lists that fill the canvas a thousand times each, without end"),
        HostileLists("huge", "compositions of 64 layers of 4K, turned and scaled, without end"),
        HostileLists("endless", "the same lists; both canvases have realtime=on", realtime=True),
    ]
