# SPDX-License-Identifier: MIT
"""The other gidd of a link: played by a test, or waited for."""

import socket

from lib.cockpit import Cockpit
from lib.gidwire import HELLO, VERSION, WELCOME, Connection, pack
from lib.program import PATIENCE, wait_for


class FakeGidd(Connection):
    """The gidd of `cluster`, as the gidd of `open` sees it."""

    def __init__(self, cockpit: Cockpit, greet: bool = True) -> None:
        super().__init__(cockpit.runtime / "open" / "link" / "cluster.sock", hello=False)
        if greet:
            answer = self.request(HELLO, VERSION, 2, b"gidd")
            assert answer.type == WELCOME and answer.values[1] == 1


class FakeListener:
    """The gidd of `open`, as the gidd of `cluster` sees it, which connects."""

    def __init__(self, cockpit: Cockpit) -> None:
        folder = cockpit.runtime / "open" / "link"
        folder.mkdir(parents=True)
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(str(folder / "cluster.sock"))
        self.listener.listen()
        self.listener.settimeout(PATIENCE)

    def accept(self, greet: bool = True) -> Connection:
        connection = Connection.__new__(Connection)
        connection.socket, _ = self.listener.accept()
        connection.serial, connection.events, connection.domain = 0, [], 2
        hello = connection.receive()
        assert (hello.type, hello.values[:2]) == (HELLO, (VERSION, 2))
        if greet:
            connection.send_raw(pack(WELCOME, VERSION, 1, b"open", 0))
        return connection


def link_state(cockpit: Cockpit, domain: str) -> str:
    return cockpit.status(domain)["links"][0]["state"]


def wait_state(cockpit: Cockpit, domain: str, state: str) -> None:
    wait_for(lambda: link_state(cockpit, domain) == state, f"the link of {domain} to be {state}")


def bell() -> int:
    return socket.socketpair()[0].detach()
