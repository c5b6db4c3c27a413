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


@dataclass(frozen=True)
class Way:
    """From the owner to the reader; `is_far`: the domains are of several machines. `more`: of the
    configuration, as a section [link OWNER READER]."""

    owner: str
    reader: str
    is_far: bool = False
    more: str = ""


KINDS = {
    "local": Way("open", "cluster"),
    "ivshmem": Way("open", "host", is_far=True),
    "hub": Way("open", "cluster", is_far=True),
}
WAYS = KINDS | {
    "from the host": Way("host", "open", is_far=True),
    "past the host": Way("open", "hud", is_far=True),
    "windows within a kernel": Way("host", "hud", is_far=True),
}


def link(make_cockpit: Callable[..., Cockpit], name: str) -> Linked:
    way = WAYS[name]
    cockpit = make_cockpit((machines.CONFIG if way.is_far else DEFAULT_CONFIG) + way.more)
    if way.is_far:
        machines.start(cockpit)
    else:
        cockpit.start_all()
    return Linked(cockpit, way.owner, way.reader, "window" if way.is_far else "memfd")
