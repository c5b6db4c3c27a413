# SPDX-License-Identifier: MIT
"""What must come of bad input: exactly this, and nothing for anybody else."""

import errno
import fcntl
import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager

from lib.cockpit import Cockpit
from lib.gidwire import Closed, Connection

UNREADABLE = "no such slab can be read here: it is unknown, not granted, or was revoked"
NO_STREAM = "no such stream can be read here: check its name and domain, and streams= of [share]"


def number(name: str) -> int:
    """-ENOENT for "ENOENT"; 0 for "0"."""
    return 0 if name == "0" else -getattr(errno, name)


def expect_unwritable(fd: int) -> None:
    """Whoever was given this can write its memory by no way that it opens."""
    assert fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY
    again = os.open(f"/proc/self/fd/{fd}", os.O_RDWR)
    try:
        for attempt in (
            lambda: mmap.mmap(again, 0, prot=mmap.PROT_READ | mmap.PROT_WRITE),
            lambda: os.pwrite(again, b"x", 0),
            lambda: os.truncate(again, 0),
        ):
            try:
                attempt()
            except PermissionError:
                continue
            raise AssertionError("it can be written")
    finally:
        os.close(again)


@contextmanager
def untouched(cockpit: Cockpit, domain: str = "open") -> Iterator[Connection]:
    """Another client of the domain, with a slab and a stream that must outlive what happens."""
    with cockpit.connect(domain, "bystander") as bystander:
        slab = bystander.export_new()
        error, _, words = bystander.publish("bystander")
        assert error == 0, words
        yield bystander
        status = bystander.status()
        owner = f"bystander (pid {status['clients'][0]['pid']},"
        mine = [slab_ for slab_ in status["slabs"] if slab_["owner"].startswith(owner)]
        assert [slab_["gid"].split(":")[1].split(".")[0] for slab_ in mine] == [str(slab)]
        assert "bystander" in [stream["name"] for stream in status["streams"]]
        assert bystander.events == []


def expect_closed(cockpit: Cockpit, connection: Connection, why: str, domain: str = "open") -> None:
    """gidd hangs up on this connection and logs the reason."""
    try:
        connection.wait_closed()
    except Closed:
        pass
    cockpit.wait_log(domain, f"closed: {why}")


def expect_violation(
    cockpit: Cockpit, connection: Connection, why: str, domain: str = "open"
) -> None:
    expect_closed(cockpit, connection, f"protocol violation: {why}", domain)
