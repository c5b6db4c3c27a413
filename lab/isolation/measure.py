# SPDX-License-Identifier: MIT
"""The cluster's frames, measured while something befalls `open`."""

import json
from dataclasses import dataclass

from lab.domains.program import PATIENCE, LabError
from lab.isolation.cases import Case
from lab.isolation.pair import Cockpit


@dataclass
class Run:
    """One measurement."""

    meter: dict  # gid-meter's report, or that of gid-bench-canvas
    stall_us: float  # by how much the machine itself was late, at most
    meter_late_us: float | None  # likewise the meter, whose gaps then are not the display's
    slowness: float  # how many times as long the machine took for one copy as for another
    transitions: list[str]  # of the telltale, until it was live again
    attacker: str  # what gid-cluster found the hostile program's own stream to be, if it has one
    # Of gid-cluster's last 300 frames what one took of a processor at most, to what it may take;
    # with GL nobody knows that.
    compose_vs_bound: float | None
    # What one of them waited at most to get a processor, in ms: how long others had it.
    compose_wait_ms: float
    # How long after it was to begin one of them was given to the screen at most: its refresh shows
    # it all the same, unless that has passed.
    commit_late_us: float
    did: dict
    ended: list[str]  # programs of open that did not outlive it

    @property
    def rate(self) -> float:
        return self.meter["rate"]

    @property
    def longest_gap_us(self) -> float:
        return self.meter["interval_max_us"]


def measure(cockpit: Cockpit, case: Case, seconds: float) -> Run:
    """Ends with everything running and the telltale live again, or fails."""
    cluster = cockpit.cluster
    before = cluster.role("telltale")["transition_count"]
    seconds = max(seconds, case.seconds)
    case.begin(cockpit)
    stall = cluster.start_stall()
    meter = case.start_meter(cockpit, seconds)
    case.within(cockpit, seconds)
    report = meter.output(seconds + PATIENCE)
    stalled = json.loads(stall.finish())
    status = cluster.status()
    attackers = [role for role in status["roles"] if role["name"] == case.role]
    did = case.end(cockpit)
    ended = cockpit.open.place.ended()
    cockpit.open.start()
    cluster.wait_live()
    for name in ("display", "gidd"):
        if not cluster.place.is_running(name):
            raise LabError(f"{case.name}: the cluster's {name} ended")
    if not report:
        raise LabError(f"{case.name}: {meter.name} failed:\n{meter.last_words()}")
    figures = json.loads(report)
    if figures.get("measured", "shown") != "shown":
        raise LabError(f"{case.name}: gid-cluster showed nothing of the meter")
    return Run(
        meter=figures,
        stall_us=stalled["latest_us"],
        meter_late_us=figures.get("late_max_us"),
        slowness=stalled["copy_most_ns"] / stalled["copy_least_ns"],
        transitions=[
            f"{one['to']}: {one['reason']}"
            for one in cluster.role("telltale")["transitions"]
            if one["number"] > before
        ],
        attacker="".join(f"{role['state']}: {role['reason']}" for role in attackers),
        compose_vs_bound=vs_bound(status),
        compose_wait_ms=status["compose_wait_recent_max_ns"] / 1e6,
        commit_late_us=status["late_recent_max_ns"] / 1e3,
        did=did,
        ended=ended,
    )


def vs_bound(status: dict) -> float | None:
    bound = status["frame_bound_ns"]
    return status["compose_cpu_recent_max_ns"] / bound if bound > 0 else None
