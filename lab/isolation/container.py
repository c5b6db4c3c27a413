# SPDX-License-Identifier: MIT
"""The domains as containers: `open`, and optionally the cluster."""

import os
from pathlib import Path

from lab.domains import contained
from lab.isolation.domains import LEAK_LIMIT, Open
from lab.isolation.limit import Limit, Whole

_MEMORY = "--memory=512m"  # of open's container; a leak reaches it within its measurement
# Lets the display use real-time priority, and lock its memory.
_BEFORE_OTHERS = ("--cap-add=SYS_NICE", "--cap-add=IPC_LOCK")
# The display's workers have no real-time priority, and a picture is shown when they have finished
# it. The same share as in packaging/containers/qm.conf.
_WEIGHT = "--cpu-shares=10000"
# Microseconds per second for real-time threads of this machine, if control groups (version 1)
# divide them.
_REAL_TIME = Path("/sys/fs/cgroup/cpu/cpu.rt_runtime_us")
_SHARE = 9, 10  # the display's share


def options_of(domain: str) -> list[str]:
    """Podman's options for this domain."""
    if domain == "cluster":
        weight = [_WEIGHT] if "cpu" in contained.controllers() else []
        return [*_BEFORE_OTHERS, *weight, *_real_time()]
    return [_MEMORY] if contained.has_groups() else []


def _real_time() -> list[str]:
    """A new group has no real-time budget, and its subgroups cannot have more than it: so it is at
    the top level.
    """
    if not contained.has_groups() or not os.access(_REAL_TIME, os.W_OK):
        return []
    parts, of = _SHARE
    runtime = int(_REAL_TIME.read_text()) * parts // of
    return ["--cgroup-parent=/", f"--cpu-rt-runtime={runtime}"] if runtime > 0 else []


class ContainedOpen(Open):
    def limit(self) -> Limit | Whole:
        if contained.has_groups():
            return Whole("the container's memory", kills=True)
        return Limit(LEAK_LIMIT, has_group=False)
