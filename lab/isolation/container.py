# SPDX-License-Identifier: MIT
"""The domains as containers: `open`, and the cluster as well where two are wanted."""

from lab.domains import contained
from lab.isolation.domains import LEAK_LIMIT, Open
from lab.isolation.limit import Limit, Whole

_MEMORY = "--memory=768m"  # of open's container, beside which a leak has seconds
# What lets the display be before others, and keep its memory.
_BEFORE_OTHERS = ("--cap-add=SYS_NICE", "--cap-add=IPC_LOCK")


def options_of(domain: str) -> list[str]:
    """Podman's, for this domain."""
    if domain == "cluster":
        return list(_BEFORE_OTHERS)
    return [_MEMORY] if contained.has_groups() else []


class ContainedOpen(Open):
    def limit(self) -> Limit | Whole:
        if contained.has_groups():
            return Whole("the container's memory")
        return Limit(LEAK_LIMIT, has_group=False)
