# SPDX-License-Identifier: MIT
"""Domains of different machines without machines: windows are files, ways to the hub are sockets.

The gidds believe that they are in guests. What they cannot see here is that memory of others really
cannot be written (tests/vm does), and clocks that differ.
"""

import mmap
import os
import struct
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from lib.cockpit import Cockpit
from lib.gidwire import WINDOW_HEADER, WINDOW_MAGIC, WINDOW_VERSION

from lab.domains.configuration import configuration

MIB = 1 << 20

# `open` and `cluster` are guests, `hud` is a domain beside the host.
CONFIG = configuration(
    {
        "open": "kind=guest window=4M local=*",
        "cluster": "kind=guest window=4M local=*",
        "host": "kind=host window=4M local=*",
        "hud": "window=4M local=*",
    },
    {
        "open cluster": "movie camera/*",
        "open host": "*",
        "host open": "*",
        "open hud": "*",
        "host hud": "*",
    },
)
NAMES = {"open": 1, "cluster": 2, "host": 3, "hud": 4}


def start(cockpit: Cockpit) -> None:
    """The host first, as for machines; nothing depends on it."""
    for domain in ("host", "open", "cluster", "hud"):
        cockpit.start(domain)
    cockpit.wait_links()
    for domain in NAMES:
        cockpit.idle_fds[domain] = cockpit.gidds[domain].open_fds()


def window_path(cockpit: Cockpit, domain: str, *readers: str) -> str:
    """The domain's window for just these readers; without any: its first, for all of them."""
    folder = cockpit.runtime / "window" / domain
    if not readers:
        return str(next(folder.glob("0.*")))
    numbers = "-".join(map(str, sorted(NAMES[reader] for reader in readers)))
    return str(next(folder.glob(f"*.{numbers}")))


def windows(cockpit: Cockpit, domain: str) -> list[str]:
    return sorted(map(str, (cockpit.runtime / "window" / domain).iterdir()))


def window_number(path: str) -> int:
    return int(path.rpartition("/")[2].partition(".")[0])


def window(cockpit: Cockpit, domain: str, *readers: str) -> AbstractContextManager[mmap.mmap]:
    """All of that window, to be read and written."""
    return map_window(window_path(cockpit, domain, *readers))


@contextmanager
def map_window(path: str) -> Iterator[mmap.mmap]:
    fd = os.open(path, os.O_RDWR)
    try:
        with mmap.mmap(fd, 0) as memory:
            yield memory
    finally:
        os.close(fd)


def header(domain: int, name: str, size: int = 4 * MIB) -> bytes:
    head = (WINDOW_MAGIC, WINDOW_VERSION, domain, size, 1, name.encode())
    return struct.pack(WINDOW_HEADER, *head, 0, 0, bytes(32))


def link(cockpit: Cockpit, domain: str, peer: str) -> dict:
    return next(link for link in cockpit.status(domain)["links"] if link["domain"] == peer)
