# SPDX-License-Identifier: MIT
"""The domains as containers: `open`, and the cluster as well where two are wanted."""

import os
from pathlib import Path

from lab.domains import contained
from lab.isolation.domains import LEAK_LIMIT, Open
from lab.isolation.limit import Limit, Whole

_MEMORY = "--memory=512m"  # of open's container, which a leak reaches within its measurement
# What lets the display be before others, and keep its memory.
_BEFORE_OTHERS = ("--cap-add=SYS_NICE", "--cap-add=IPC_LOCK")
# The display's workers have no real time, and a picture is shown when they are done with it. As
# packaging/containers/qm.conf has it.
_WEIGHT = "--cpu-shares=10000"
# Microseconds of each second that all of this machine may compute in real time, where control
# groups (of version 1) share that out.
_REAL_TIME = Path("/sys/fs/cgroup/cpu/cpu.rt_runtime_us")
_SHARE = 9, 10  # of it, for the display


def options_of(domain: str) -> list[str]:
    """Podman's, for this domain."""
    if domain == "cluster":
        weight = [_WEIGHT] if "cpu" in contained.controllers() else []
        return [*_BEFORE_OTHERS, *weight, *_real_time()]
    return [_MEMORY] if contained.has_groups() else []


def _real_time() -> list[str]:
    """A new group has no real time, and those below have no more than it: so it is at the top."""
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
