# SPDX-License-Identifier: MIT
"""Every kind of link: what one of them does for a stream, all of them must do."""

from collections.abc import Callable
from dataclasses import dataclass

from lib import machines
from lib.cockpit import DEFAULT_CONFIG, Cockpit
from lib.peer import Peer, consume, produce


@dataclass
class Linked:
    """An owner of the stream `movie`, and a reader behind the link."""

    cockpit: Cockpit
    owner: str
    reader: str
    memory: str  # of the owner's slabs

    def produce(self, **values: object) -> Peer:
        return produce(self.cockpit, "movie", self.owner, **values)

    def consume(self, domain: str = "", **values: object) -> Peer:
        return consume(self.cockpit, "movie", domain or self.reader, self.owner, **values)


# Whether the domains are of several machines, the owner, and the reader.
KINDS = {
    "local": (False, "open", "cluster"),
    "ivshmem": (True, "open", "host"),
    "hub": (True, "open", "cluster"),
}
WAYS = KINDS | {
    "from the host": (True, "host", "open"),
    "past the host": (True, "open", "hud"),
    "windows within a kernel": (True, "host", "hud"),
}


def link(make_cockpit: Callable[..., Cockpit], way: str) -> Linked:
    is_far, owner, reader = WAYS[way]
    cockpit = make_cockpit(machines.CONFIG if is_far else DEFAULT_CONFIG)
    if is_far:
        machines.start(cockpit)
    else:
        cockpit.start_all()
    return Linked(cockpit, owner, reader, "window" if is_far else "memfd")
