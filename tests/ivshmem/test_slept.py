# SPDX-License-Identifier: MIT
"""A machine that was suspended: what was on its way to it is lost, and its port does not say so.

Here the port is a terminal, and a file says how often. tests/vm/test_suspended.py has a machine.
"""

import os
import pty
import select
import socket
import threading
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from gid_vm.preload import Preload
from lib.cockpit import Cockpit
from lib.machines import link
from lib.peer import consume, produce
from lib.program import BUILD, wait_for

from lab.domains.configuration import configuration

SLEEPING = BUILD / "tests" / "ivshmem" / "sleeping.so"
FRAMES = 20
JOINED = "the hub: joined"


class Port:
    """Between a machine's gidd, which opens `path`, and the hub. It can lose what comes."""

    def __init__(self) -> None:
        self.loses = False
        self.master, self.slave = pty.openpty()
        tty.setraw(self.slave)
        self.path = os.ttyname(self.slave)
        self.wake, self.wakes = os.pipe()

    @contextmanager
    def joined_to(self, hub: Path) -> Iterator[None]:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as end:
            end.connect(str(hub))
            thread = threading.Thread(target=self._pass_on, args=(end,))
            thread.start()
            try:
                yield
            finally:
                os.close(self.wakes)
                thread.join()

    def _pass_on(self, hub: socket.socket) -> None:
        while self.wake not in (ready := select.select([self.wake, self.master, hub], [], [])[0]):
            if self.master in ready:
                hub.sendall(os.read(self.master, 65536))
            if hub in ready:
                data = hub.recv(65536)
                if not self.loses:
                    self._write(data)

    def _write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self.master, data) :]


def test_it_joins_anew(
    make_cockpit: Callable[..., Cockpit], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A reader ends while the machine is asleep. Nobody tells it so: it gives nothing back before
    it joins anew, and is held by nobody then. Another reader has its frames again."""
    slept = tmp_path / "slept"
    slept.write_text("0\n")
    preload = Preload(SLEEPING)
    for name, value in (preload.env | {"GIDWAY_SLEPT": str(slept)}).items():
        monkeypatch.setenv(name, value)
    port = Port()
    domains = {
        "open": f"kind=guest window=4M local=* control={port.path}",
        "host": "kind=host window=4M local=*",
    }
    cockpit = make_cockpit(configuration(domains, {"open host": "*", "host open": "*"}))
    cockpit.start("host")
    with port.joined_to(cockpit.runtime / "hub" / "open.sock"):
        cockpit.start("open")
        cockpit.wait_log("open", JOINED)
        cockpit.wait_links()  # which asks for the time first: who subscribes before is refused
        producer = produce(cockpit, "movie", fps=50, slots=8, lease_ms=600_000)
        reader = consume(cockpit, "movie", "host", hold=2, reconnect=True)
        other = consume(cockpit, "movie", "host", hold=2)
        for one in (reader, other):
            one.wait_frames(FRAMES)
        clients = len(cockpit.status("host")["clients"])
        port.loses = True
        other.program.kill()
        wait_for(
            lambda: len(cockpit.status("host")["clients"]) < clients,
            "the hub's gidd to see its end",
        )
        port.loses = False
        slept.write_text("1\n")
        producer.wait(lambda line: line["consumers"] == 0, "nobody to be left")
        cockpit.wait_log("open", "the hub: lost: this machine was suspended")
        reader.wait(lambda line: line["reconnects"] == 1, "it to connect again")
        last = reader.wait_frames(FRAMES)
        assert [last[key] for key in ("wrong", "older", "repeated")] == [0, 0, 0]
        reader.program.kill()
        free = ("held", "out", "consumers")
        producer.wait(lambda line: not any(line[key] for key in free), "its slots")
        assert cockpit.log("open").count(JOINED) == 2, "it slept once"
        assert link(cockpit, "host", "open")["faults"] == 0
    preload.check("gidd")
