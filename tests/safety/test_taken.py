# SPDX-License-Identifier: MIT
"""A stream is taken from a domain of the same kernel, which keeps what it had mapped of it."""

import mmap
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from lib.cockpit import Cockpit
from lib.display import start_telltale
from lib.gidwire import SUBSCRIBED, Connection, gid
from lib.program import wait_for

from lab.domains.configuration import configuration

DOMAINS = {"open": "local=*", "cluster": "local=*"}
BEFORE = configuration(DOMAINS, {"open cluster": "safety/* movie"})
AFTER = configuration(DOMAINS, {"open cluster": "movie"})
LOOK_S = 0.5  # in which the light changes ten times and more


def lent(cockpit: Cockpit) -> list[tuple[int, int]]:
    """Slabs of `open` that `cluster` may read, with their bytes."""
    return [
        (int(slab["gid"].split(":")[1].split(".")[0]), slab["bytes"])
        for slab in cockpit.status("open")["slabs"]
        if slab["domain"] == "open" and "cluster" in slab.get("grants", ())
    ]


@contextmanager
def mapped(cockpit: Cockpit, spy: Connection) -> Iterator[list[mmap.mmap]]:
    """What it may read now, for good."""
    with ExitStack() as stack:
        views = []
        for slab, size in lent(cockpit):
            answer = spy.import_(gid(1, slab))
            view = mmap.mmap(answer.fds[0], size, prot=mmap.PROT_READ)
            views.append(stack.enter_context(view))
            answer.close()
        yield views


def count_pictures(views: list[mmap.mmap]) -> int:
    """That are seen there in a while."""
    seen, end = set(), time.monotonic() + LOOK_S
    while time.monotonic() < end:
        seen.add(b"".join(view[:] for view in views))
    return len(seen)


def are_blank(views: list[mmap.mmap]) -> bool:
    """But for the numbers of their slots, in the last page."""
    return all(view[:-4096] == bytes(len(view) - 4096) for view in views)


def test_what_it_kept_shows_nothing_more(make_cockpit: Callable[..., Cockpit]) -> None:
    """Nor what was shown last. The light burns on."""
    cockpit = make_cockpit(BEFORE)
    cockpit.start_all()
    telltale = start_telltale(cockpit, "--cycle", "40")
    wait_for(lambda: cockpit.status("open")["streams"], "the light")
    with cockpit.connect("cluster") as spy:
        assert spy.subscribe(1, "safety/telltale", "open")[0] == 0
        spy.event(SUBSCRIBED).close()
        wait_for(lambda: lent(cockpit), "memory of the light")
        with mapped(cockpit, spy) as views:
            wait_for(lambda: count_pictures(views) > 1, "pictures of it")
            cockpit.config_path.write_text(AFTER)
            cockpit.gidds["open"].signal(signal.SIGHUP)
            cockpit.wait_log("open", "configuration read again")
            wait_for(lambda: are_blank(views), "the end of what is seen there")
            assert count_pictures(views) == 1
    assert telltale.is_running() and not lent(cockpit)
