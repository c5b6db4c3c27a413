# SPDX-License-Identifier: MIT
"""Measures the cluster's frames while `open` is attacked."""

import json
from dataclasses import dataclass

from lab.domains.program import PATIENCE, LabError
from lab.isolation.cases import Case
from lab.isolation.pair import Cockpit


@dataclass
class Run:
    """One measurement."""

    meter: dict  # the report of gid-meter or gid-bench-canvas
    stall_us: float  # the maximum lateness of the machine itself
    meter_late_us: float | None  # the same of the meter: such gaps are not the display's
    slowness: float  # the ratio of the slowest to the fastest copy on this machine
    transitions: list[str]  # of the telltale, until it was live again
    attacker: str  # how gid-cluster judged the hostile program's own stream, if any
    # The maximum CPU time of one of gid-cluster's last 300 frames, relative to its bound; unknown
    # with GL.
    compose_vs_bound: float | None
    # The maximum time that one of them waited for the CPU, in ms.
    compose_wait_ms: float
    # The maximum delay from the planned start of one of them to its commit. The refresh still shows
    # it if the delay ends before the refresh.
    commit_late_us: float
    did: dict
    ended: list[str]  # programs of open that it killed

    @property
    def rate(self) -> float:
        return self.meter["rate"]

    @property
    def longest_gap_us(self) -> float:
        return self.meter["interval_max_us"]


def measure(cockpit: Cockpit, case: Case, seconds: float) -> Run:
    """Measures a case. Ends with all programs running and the telltale live again, or raises."""
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
