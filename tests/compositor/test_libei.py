# SPDX-License-Identifier: MIT
"""gid-input --libei: a real EIS server takes the input of another domain, or does not."""

import re
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from lib.cockpit import Cockpit
from lib.input_window import FIXED
from lib.program import BUILD, Program, own_kib, wait_for
from lib.two_desks import CONFIG, TwoDesks
from lib.typist import (
    AXIS,
    BUTTON,
    FULL,
    KEY,
    MOTION,
    RELATIVE,
    TOUCH_DOWN,
    TOUCH_MOTION,
    TOUCH_UP,
    Typist,
)

KEY_A, KEY_B, BTN_LEFT = 30, 48, 0x110


class Server:
    """eis-peer, and the gid-input that it is told of."""

    def __init__(self, cockpit: Cockpit, folder: Path, way: str = "plain", *options: str) -> None:
        self.cockpit = cockpit
        self.folder = folder
        self.said = folder / "eis.out"
        with self.said.open("wb") as out:
            self.process = subprocess.Popen(
                [BUILD / "tests/lib/programs/eis-peer", folder / "eis.sock", way],
                stdin=subprocess.PIPE,
                stdout=out,
                text=True,
            )
        self.read = 0
        self.wait("ready")
        self.taker = take(cockpit, folder, *options)

    def typist(self) -> Typist:
        typist = Typist(self.cockpit.env("cluster"), "input/desk")
        for name in ("keyboard", "mouse", "pointer", "touch"):
            self.wait(f"device {name}")
        return typist

    def order(self, command: str) -> None:
        self.process.stdin.write(f"{command}\n")
        self.process.stdin.flush()

    def tell(self, command: str) -> None:
        """Until the client has heard of it, too."""
        self.order(command)
        self.wait("done")

    def lines(self) -> list[str]:
        return self.said.read_text().splitlines()[self.read :]

    def wait(self, line: str) -> None:
        """That it says so; what it said before is done with."""
        wait_for(lambda: line in self.lines(), lambda: f"{line!r} in {self.lines()}")
        self.read += self.lines().index(line) + 1

    def expect(self, *lines: str) -> None:
        """The next ones, all of them."""
        wait_for(lambda: len(self.lines()) >= len(lines), lambda: f"{lines} in {self.lines()}")
        assert self.lines()[: len(lines)] == list(lines)
        self.read += len(lines)

    def stop(self) -> None:
        self.process.kill()
        self.process.communicate()
        self.taker.kill()


def take(cockpit: Cockpit, folder: Path, *options: str) -> Program:
    command = [BUILD / "clients/gid-input", "--domain=cluster", "--stream=desk", "--libei"]
    command += options
    environment = cockpit.env("open") | {"LIBEI_SOCKET": f"{folder}/eis.sock"}
    return Program(command, environment, folder)


@pytest.fixture
def server(cockpit: Cockpit, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Server]:
    made = Server(cockpit, tmp_path, *getattr(request, "param", "plain").split())
    yield made
    made.stop()


def test_all_that_there_is(server: Server) -> None:
    with server.typist() as typist:
        typist.type(KEY_A)
        server.expect(f"key {KEY_A} 1", "frame", f"key {KEY_A} 0", "frame")
        typist.do((MOTION, 0, 0, FULL // 4, FULL // 2))
        typist.do((RELATIVE, 0, 0, 384, -FIXED, 999, 999))
        server.expect("motion 300 300", "frame", "relative 1.5 -1", "frame")
        typist.click()
        server.expect(f"button {BTN_LEFT} 1", "frame", f"button {BTN_LEFT} 0", "frame")
        typist.do((AXIS, 0, 1, 15 * FIXED, 120))
        typist.do((AXIS, 1, 1, -15 * FIXED, -60))
        server.expect("wheel 0 120", "frame", "wheel -60 0", "frame")
        typist.do((AXIS, 0, 2, 640, 0))
        typist.do((AXIS, 0, 2, 0, 0))
        server.expect("scroll 0 2.5", "frame", "stop 0 1", "frame")
        typist.do((TOUCH_DOWN, 3, 0, 0, FULL // 2), (TOUCH_DOWN, 5, 0, FULL * 3 // 4, 0))
        typist.do((TOUCH_MOTION, 5, 0, FULL // 2, FULL // 2))
        typist.do((TOUCH_UP, 3, 0))
        server.expect("down 0 300", "down 900 0", "frame", "move 600 300", "frame", "up", "frame")
    server.expect("up", "frame")  # the other finger, as the sender ends


@pytest.mark.parametrize("server", ["vast"], indirect=True)
def test_a_screen_whose_size_is_not_told(server: Server) -> None:
    """Rather nothing than a click somewhere else; what has no place goes on."""
    with server.typist() as typist:
        typist.do((MOTION, 0, 0, FULL // 4, FULL // 2), (TOUCH_DOWN, 3, 0, 0, FULL // 2))
        typist.do((TOUCH_MOTION, 3, 0, FULL // 2, FULL // 2), (TOUCH_UP, 3, 0))
        typist.do((RELATIVE, 0, 0, 384, -FIXED, 999, 999))
        server.expect("relative 1.5 -1", "frame")
        assert server.taker.stop() == 0
        assert server.taker.stderr.count("name it by --size") == 1


@pytest.mark.parametrize("server", ["vast --size=800x600", "plain --size=800x600"], indirect=True)
def test_a_screen_whose_size_is_named(server: Server) -> None:
    with server.typist() as typist:
        typist.do((MOTION, 0, 0, FULL // 4, FULL // 2), (TOUCH_DOWN, 3, 0, 0, FULL // 2))
        server.expect("motion 200 300", "frame", "down 0 300", "frame")


@pytest.mark.parametrize("end", ["sender", "taker"])
def test_nothing_stays_pressed(server: Server, end: str) -> None:
    typist = server.typist()
    typist.do((KEY, KEY_A, 1), (BUTTON, BTN_LEFT, 1), (TOUCH_DOWN, 0, 0, 0, 0))
    server.wait("down 0 0")
    if end == "sender":
        typist.kill()
    else:
        assert server.taker.stop() == 0
        server.wait("gone")
        server.read = 0
    for line in (f"key {KEY_A} 0", f"button {BTN_LEFT} 0", "up"):
        assert_said(server, line)
    typist.stop()


def assert_said(server: Server, line: str) -> None:
    wait_for(lambda: line in server.lines(), lambda: f"{line!r} in {server.lines()}")


def test_clicks_where_there_is_no_live_picture(
    make_cockpit: Callable[..., Cockpit], tmp_path: Path
) -> None:
    """Of a stream that was never there nothing is sent; of one whose producer is gone keys are, and
    neither clicks nor touches."""
    cockpit = make_cockpit(CONFIG)
    cockpit.start_all()
    desks = TwoDesks(cockpit, tmp_path, name="other")
    server = Server(cockpit, tmp_path)
    view = desks.start("--domain=open", "--stream=desk", "--input", "--output=screen")
    typist = desks.typist
    peer = BUILD / "tests/lib/programs/stream-peer"

    def use(point: float) -> None:
        typist.point(point, point)
        typist.click()
        typist.do((TOUCH_DOWN, 0, 0, FULL // 2, FULL // 2))
        typist.do((TOUCH_UP, 0, 0))
        typist.type(KEY_B)

    def used(point: float) -> list[str]:
        """What came of it, but for the key."""
        use(point)
        wait_for(lambda: f"key {KEY_B} 0" in server.lines(), "a key")
        came = [line for line in server.lines() if not line.startswith(("key", "frame"))]
        server.wait(f"key {KEY_B} 0")
        return came

    try:
        for name in ("keyboard", "mouse", "pointer", "touch"):
            server.wait(f"device {name}")
        use(0.25)
        use(0.5)
        producer = cockpit.run("open", [peer, "produce", "desk"])
        wait_for(lambda: typed(typist, server, KEY_A), "the view to have the keyboard")
        assert {line.split()[0] for line in server.lines()} <= {"frame", "key", "motion"}
        wait_for(lambda: f"button {BTN_LEFT} 1" in used(0.5), "the picture", pause=0.2)
        assert {line.split()[0] for line in used(0.25)} >= {"motion", "button", "down", "up"}
        producer.kill()
        wait_for(lambda: used(0.5) == [], "the picture to be old", pause=0.2)
        assert used(0.25) == used(0.75) == []
        assert view.stop() == 0
    finally:
        server.stop()
        desks.finish()


def test_devices_that_are_others_now(server: Server) -> None:
    with server.typist() as typist:
        typist.press(KEY_A)
        server.wait(f"key {KEY_A} 1")
        server.tell("swap")
        typist.lift(KEY_A)  # of a device that is gone
        wait_for(lambda: typed(typist, server, KEY_B), "the new keyboard")


def typed(typist: Typist, server: Server, code: int) -> bool:
    typist.type(code)
    return f"key {code} 1" in server.lines()


@pytest.mark.parametrize("server", ["keymap"], indirect=True)
def test_a_keymap_of_a_gigabyte(server: Server) -> None:
    before = own_kib(server.taker.pid)
    with server.typist() as typist:
        typist.type(KEY_A)
        server.wait(f"key {KEY_A} 0")
        assert own_kib(server.taker.pid) - before < 1024


@pytest.mark.parametrize(
    "server,why",
    [
        ("refuse", "ended the connection"),
        ("many", "has more than 16 devices"),
        ("flood", "ended the connection|has more than 16 devices"),
    ],
    indirect=["server"],
)
def test_servers_that_are_of_no_use(server: Server, why: str) -> None:
    """Also one that has gone by the time that something is said to it."""
    with Typist(server.cockpit.env("cluster"), "input/desk", heard=False):
        assert server.taker.wait() == 1
        assert re.search(why, server.taker.stderr)


@pytest.mark.parametrize("how", ["end", "kill"])
def test_one_that_goes(server: Server, how: str) -> None:
    with server.typist() as typist:
        typist.press(KEY_A)
        server.wait(f"key {KEY_A} 1")
        if how == "end":
            server.order("end")
        else:
            server.process.kill()
        assert server.taker.wait() == 1
        assert "the EIS server ended the connection" in server.taker.stderr


def test_one_that_stands_still(server: Server) -> None:
    """It is waited for ten seconds; meanwhile the input is read, and no memory is filled."""
    with server.typist() as typist:
        server.process.send_signal(signal.SIGSTOP)
        before = own_kib(server.taker.pid)
        for _ in range(100):
            typist.do(*((MOTION, 0, 0, i * 200, 0) for i in range(100)))
        assert own_kib(server.taker.pid) - before < 8 * 1024
        assert server.taker.wait() == 1
        assert "the EIS server has answered nothing for 10 s" in server.taker.stderr


def test_one_that_never_answers(cockpit: Cockpit, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{tmp_path}/eis.sock")
        listener.listen()
        taker = take(cockpit, tmp_path)
        taker.wait_output("waiting for input/desk")
        assert taker.wait() == 1
        assert "the EIS server has answered nothing for 10 s" in taker.stderr


def test_one_that_takes_no_more(cockpit: Cockpit, tmp_path: Path) -> None:
    """A full queue of its socket, in which connect() would wait."""
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as other:
        listener.bind(f"{tmp_path}/eis.sock")
        listener.listen(0)
        other.connect(f"{tmp_path}/eis.sock")
        taker = take(cockpit, tmp_path)
        assert taker.wait() == 1
        assert re.search("no EIS server at LIBEI_SOCKET=.*: Resource temp", taker.stderr)


@pytest.mark.parametrize("byte", [0, 1, 255])
def test_one_that_talks_nonsense(cockpit: Cockpit, tmp_path: Path, byte: int) -> None:
    """libei 1.3.901 itself aborts where a message has no length."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{tmp_path}/eis.sock")
        listener.listen()
        taker = take(cockpit, tmp_path)
        connection, _ = listener.accept()
        with connection:
            connection.sendall(bytes([byte]) * 4096)
            assert taker.wait() == (-signal.SIGABRT if byte == 0 else 1)


def test_none(cockpit: Cockpit, tmp_path: Path) -> None:
    taker = take(cockpit, tmp_path)
    assert taker.wait() == 1
    assert "no EIS server at LIBEI_SOCKET=" in taker.stderr
