# SPDX-License-Identifier: MIT
"""A machine that is set back to what it was before: QEMU says so to the hub and waits, and who
reads what the machine shares sees it by himself, before it runs again.

Here the test is QEMU, and asks with the same library. tests/vm/test_saved.py has a machine.
"""

import os
import re
import select
import signal
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

import pytest
from gi.repository import Gio, GLib
from lib.cockpit import Cockpit
from lib.machines import CONFIG, link, map_window, start, windows
from lib.peer import consume, produce
from lib.program import wait_for
from member import Member

from lab.domains.configuration import configuration

HOST = 3
BUS, STATE = "org.freedesktop.DBus", "org.qemu.VMState1"
COOKIE = 24  # of a window's first page
PAGE = 4096


@pytest.fixture
def hub(make_cockpit: Callable[..., Cockpit]) -> Cockpit:
    cockpit = make_cockpit(CONFIG)
    cockpit.start("host")
    return cockpit


@pytest.fixture
def machines(make_cockpit: Callable[..., Cockpit]) -> Cockpit:
    cockpit = make_cockpit(CONFIG)
    start(cockpit)
    return cockpit


def bus_path(cockpit: Cockpit, domain: str) -> Path:
    return cockpit.runtime / "hub" / f"{domain}.bus"


class Qemu:
    """What QEMU's object dbus-vmstate does with its bus."""

    def __init__(self, cockpit: Cockpit, domain: str) -> None:
        flags = Gio.DBusConnectionFlags
        self.bus = Gio.DBusConnection.new_for_address_sync(
            f"unix:path={quote(str(bus_path(cockpit, domain)))}",
            flags.AUTHENTICATION_CLIENT | flags.MESSAGE_BUS_CONNECTION,
            None,
            None,
        )

    def proxy(self, name: str, path: str, interface: str) -> Gio.DBusProxy:
        return Gio.DBusProxy.new_sync(
            self.bus, Gio.DBusProxyFlags.NONE, None, name, path, interface, None
        )

    def helpers(self) -> list[Gio.DBusProxy]:
        """All that have a part of the machine's state."""
        daemon = self.proxy(BUS, "/org/freedesktop/DBus", BUS)
        names = call(daemon, "ListQueuedOwners", "(s)", STATE)[0]
        return [self.proxy(name, "/org/qemu/VMState1", STATE) for name in names]

    def restore(self) -> None:
        for helper in self.helpers():
            assert helper.get_cached_property("Id").unpack() == "org.gidway"
            saved = bytes(call(helper, "Save", "()")[0])
            assert saved, "QEMU does not take nothing for a state"
            call(helper, "Load", "(ay)", saved)


def call(proxy: Gio.DBusProxy, name: str, types: str, *values: object) -> tuple:
    words = GLib.Variant(types, values)
    return proxy.call_sync(name, words, Gio.DBusCallFlags.NO_AUTO_START, -1, None).unpack()


def cookies(cockpit: Cockpit, domain: str) -> dict[str, int]:
    """By window."""

    def read(path: str) -> int:
        with open(path, "rb") as file:
            file.seek(COOKIE)
            return struct.unpack("<Q", file.read(8))[0]

    return {path: read(path) for path in windows(cockpit, domain)}


def test_qemu_tells_the_hub(hub: Cockpit) -> None:
    """Whoever is joined to the machine is parted before QEMU has its answer; it joins anew."""
    qemu = Qemu(hub, "open")
    with Member(hub, "open") as member:
        member.join()
        member.greet(HOST)
        wait_for(lambda: link(hub, "host", "open")["state"] == "up", "the link")
        before, others = cookies(hub, "open"), cookies(hub, "host")
        qemu.restore()
        now = cookies(hub, "open")
        assert now.keys() == before.keys() and all(now[path] != before[path] for path in now)
        assert cookies(hub, "host") == others
        assert "set back" in link(hub, "host", "open")["why"]
        assert member.wait(lambda: member.joined[-1] == 0)
        member.join()
        member.greet(HOST)
        wait_for(lambda: link(hub, "host", "open")["state"] == "up", "the link again")
        assert link(hub, "host", "open")["faults"] == 0
    assert cookies(hub, "open") == now, "who comes and goes lives on"
    qemu.restore()  # while nobody is there
    assert all(cookies(hub, "open")[path] != now[path] for path in now)


def test_lives_outlast_a_hub(hub: Cockpit) -> None:
    before = cookies(hub, "open")
    hub.kill("host")
    hub.start("host")
    assert cookies(hub, "open") == before
    Qemu(hub, "open").restore()
    assert cookies(hub, "open") != before


def test_only_guests_have_one(hub: Cockpit) -> None:
    found = sorted(path.name for path in (hub.runtime / "hub").glob("*.bus"))
    assert found == ["cluster.bus", "open.bus"]
    assert os.stat(bus_path(hub, "open")).st_mode & 0o777 == 0o600


@contextmanager
def said(hub: Cockpit, words: bytes) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as end:
        end.connect(str(bus_path(hub, "open")))
        end.sendall(words)
        yield end


def greeting() -> bytes:
    return b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\nBEGIN\r\n"


def test_who_reads_no_answer(hub: Cockpit) -> None:
    """Each one would wait in the hub's memory: it keeps a few, and hangs up."""
    question = Gio.DBusMessage.new_method_call(
        ":1.1", "/org/qemu/VMState1", "org.freedesktop.DBus.Introspectable", "Introspect"
    )
    question.set_serial(1)
    words = question.to_blob(Gio.DBusCapabilityFlags.NONE)
    with said(hub, greeting()) as end, pytest.raises((BrokenPipeError, ConnectionResetError)):
        for _ in range(1000):
            end.sendall(16 * words)
            time.sleep(0.002)  # more at once would be reason enough
    Qemu(hub, "open").restore()


def load(size: int) -> bytes:
    """With a state of so many bytes."""
    question = Gio.DBusMessage.new_method_call(":1.1", "/org/qemu/VMState1", STATE, "Load")
    state = GLib.Variant.new_from_bytes(GLib.VariantType("ay"), GLib.Bytes.new(bytes(size)), True)
    question.set_body(GLib.Variant.new_tuple(state))
    question.set_serial(1)
    return question.to_blob(Gio.DBusCapabilityFlags.NONE)


def test_a_message_without_an_end(hub: Cockpit) -> None:
    """The bus would take 128 MiB of it: the hub hangs up on who sends more than a state can be."""
    before = cookies(hub, "open")
    with said(hub, greeting()) as end, pytest.raises((BrokenPipeError, ConnectionResetError)):
        end.settimeout(60)
        end.sendall(load(16 << 20))
    with said(hub, greeting()) as end, pytest.raises((BrokenPipeError, ConnectionResetError)):
        end.settimeout(60)
        words = load(16 << 20)
        for at in range(0, len(words), 1000):  # piece by piece
            end.sendall(words[at : at + 1000])
    assert cookies(hub, "open") == before
    with said(hub, greeting()) as end:
        end.sendall(load(60_000))
        wait_for(lambda: cookies(hub, "open") != before, "one that is long, but not too long")
    Qemu(hub, "open").restore()


def test_whatever_else_is_said_there(hub: Cockpit) -> None:
    """By a QEMU that is another's: it loses its own connection, or has no answer."""
    pid, before = hub.gidds["host"].pid, cookies(hub, "open")
    begin = greeting()
    for words in (b"", b"\0", b"x" * 100_000, begin, begin + os.urandom(5000), begin + b"l\1\0\1"):
        with said(hub, words) as end:
            end.settimeout(0.2)
            try:
                while end.recv(4096):
                    pass
            except (TimeoutError, ConnectionResetError):
                pass
    qemu = Qemu(hub, "open")
    for path, interface, name in (
        ("/", STATE, "Load"),
        ("/org/qemu/VMState1", STATE, "Unload"),
        ("/org/freedesktop/DBus", BUS, "RequestName"),
    ):
        with pytest.raises(GLib.Error, match="Unknown|unknown"):
            call(qemu.proxy(":1.1", path, interface), name, "()")
    with pytest.raises(GLib.Error, match="InvalidArgs|Invalid"):
        call(qemu.helpers()[0], "Load", "(s)", "text")
    assert cookies(hub, "open") == before and hub.gidds["host"].pid == pid
    other = Qemu(hub, "open")  # takes the place of the one before
    other.restore()
    with pytest.raises(GLib.Error, match="closed"):
        qemu.restore()
    assert hub.gidds["host"].is_running()


def overwrite_pictures(path: str) -> int:
    """As a machine may that believes them to be free. Returns how many it has found."""
    found = 0
    with map_window(path) as memory:
        for at in range(PAGE, len(memory), PAGE):
            word = memory[at : at + 8]
            if word != bytes(8) and memory[at : at + PAGE] == word * (PAGE // 8):
                memory[at : at + PAGE] = b"w" * PAGE
                found += 1
    return found


@pytest.mark.parametrize("whose", ["producer", "reader"])
def test_who_reads_sees_the_end_of_a_life(machines: Cockpit, whose: str) -> None:
    """Without a word of anybody: what is held is nobody's from then on, and what comes is not taken
    for what was sent."""
    producer = produce(machines, "movie", fps=50, slots=8, lease_ms=600_000)
    reader = consume(machines, "movie", "host", hold=2, reconnect=True)
    holder = consume(machines, "movie", "host", hold=2, reconnect=True)
    local = consume(machines, "movie", "open", hold=2, reconnect=True)
    for one in (reader, holder, local):
        one.wait_frames(20)
    os.kill(producer.pid, signal.SIGSTOP)
    wait_for(lambda: is_stopped(producer.pid), "it to stand still")
    owner = {"producer": "open", "reader": "host"}[whose]
    for path in windows(machines, owner):
        with map_window(path) as memory:
            memory[COOKIE : COOKIE + 8] = os.urandom(8)
    assert sum(overwrite_pictures(path) for path in windows(machines, "open")) >= 2
    os.kill(holder.pid, signal.SIGTERM)  # it looks at what it holds, and has heard nothing new
    assert holder.wait(lambda line: line["event"] == "ending", "its end")["wrong"] == 0
    os.kill(producer.pid, signal.SIGCONT)
    last = reader.wait(lambda line: line["reconnects"] == 1, "it to connect again")
    assert last["wrong"] == 0
    last = reader.wait_frames(50)
    assert [last[key] for key in ("wrong", "older", "repeated", "reconnects")] == [0, 0, 0, 1]
    # Within one machine a life ends for all: there the same is wrong.
    assert local.last["reconnects"] == 0 and local.last["wrong"] > 0
    assert link(machines, "host", "open")["faults"] == 0


class Port:
    """QEMU's, between a machine's gidd and the hub."""

    def __init__(self, path: Path, hub: Path) -> None:
        self.hub, self.lock = hub, threading.Lock()
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(str(path))
        self.listener.listen()
        self.others: dict[socket.socket, socket.socket] = {}  # of each end
        threading.Thread(target=self._pass_on, daemon=True).start()

    def _pass_on(self) -> None:
        """What comes by one end goes out by the other, until one has hung up."""
        self._join(self.listener.accept()[0])
        data = b"x"
        with suppress(ConnectionError):
            while data:
                with self.lock:
                    for end in select.select([*self.others], [], [], 0.01)[0]:
                        data = end.recv(65536)
                        self.others[end].sendall(data)
        for end in (self.listener, *self.others):
            end.close()

    def _join(self, gidd: socket.socket) -> None:
        hub = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        hub.connect(str(self.hub))
        self.others = {gidd: hub, hub: gidd}

    def restore(self) -> None:
        """The machine stands still, and QEMU connects anew: the hub's greeting lies in memory that
        becomes what it was before."""
        with self.lock:
            gidd, hub = self.others
            hub.close()
            self._join(gidd)
            assert self.others[gidd].recv(65536), "the hub says nothing"


def test_who_was_restored_to_be_alone(make_cockpit: Callable[..., Cockpit], tmp_path: Path) -> None:
    """Nobody else was there, and its QEMU told nobody. The hub knows it all the same, when another
    one comes."""
    control = tmp_path / "control.sock"
    config = configuration(
        {
            "open": f"kind=guest window=4M control={control}",
            "cluster": "kind=guest window=4M",
            "host": "kind=host",
        },
        {"open cluster": "*"},
    )
    cockpit = make_cockpit(config)
    cockpit.start("host")
    port = Port(control, cockpit.runtime / "hub" / "open.sock")
    cockpit.start("open")
    cockpit.wait_log("open", "the hub: joined")
    port.restore()
    cockpit.wait_log("host", "domain open is gone")
    cockpit.start("cluster")
    wait_for(lambda: link(cockpit, "cluster", "open")["state"] == "up", "the link")
    assert link(cockpit, "cluster", "open")["faults"] == 0


def is_stopped(pid: int) -> bool:
    status = Path(f"/proc/{pid}/status").read_text()
    return re.search(r"^State:\s+T", status, re.MULTILINE) is not None
