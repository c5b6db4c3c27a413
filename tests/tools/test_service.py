# SPDX-License-Identifier: MIT
"""gidd as systemd starts it, and as it ends."""

import signal
import socket
import time
from collections.abc import Callable

import pytest
from lib.cockpit import Cockpit
from lib.gidwire import Closed, Connection
from lib.program import PATIENCE, Program, wait_for


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_in_good_order(cockpit: Cockpit, number: signal.Signals) -> None:
    gidd = cockpit.gidds["open"]
    client = cockpit.connect("open")
    client.export_new()
    client.publish("movie")
    gidd.signal(number)
    assert gidd.wait() == 0
    with pytest.raises(Closed):
        client.receive()
    left = {path.name for path in (cockpit.runtime / "open").rglob("*")}
    assert left == {"gidd.lock", "link"}
    cockpit.start("open")
    cockpit.wait_links()


def test_sockets_that_a_dead_gidd_left_are_taken_over(cockpit: Cockpit) -> None:
    cockpit.kill("open")
    assert cockpit.socket("open").exists()
    cockpit.start("open")
    cockpit.wait_links()
    cockpit.connect("open").close()


def listens(activator: Program) -> None:
    """Until systemd-socket-activate does: its socket is in its place before."""
    wait_for(lambda: "Listening on " in activator.stderr, "the socket")


def test_it_listens_on_a_socket_that_was_made_for_it(make_cockpit: Callable[..., Cockpit]) -> None:
    """systemd-socket-activate starts it, as a socket unit would, with the first client."""
    cockpit = make_cockpit()
    path = cockpit.socket("open")
    path.parent.mkdir(parents=True)
    gidd = cockpit.run(
        "open",
        [
            "systemd-socket-activate",
            "--seqpacket",
            f"--listen={path}",
            "--setenv=GID_RUNTIME_DIR",
            *cockpit.gidd_command("open"),
        ],
    )
    listens(gidd)
    with Connection(path) as client:
        assert client.domain_name == "open"
        client.export_new()
    assert gidd.stop() == 0
    assert path.exists()  # it is systemd's


def test_no_other_sockets(make_cockpit: Callable[..., Cockpit]) -> None:
    cockpit = make_cockpit()
    cockpit.folder.mkdir(exist_ok=True)
    gidd = cockpit.run(
        "open",
        [
            "systemd-socket-activate",
            f"--listen={cockpit.folder}/stream",
            "--setenv=GID_RUNTIME_DIR",
            *cockpit.gidd_command("open"),
        ],
    )
    listens(gidd)
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(f"{cockpit.folder}/stream")
        assert gidd.wait() == 1
    words = "the socket unit must have one ListenSequentialPacket=, and nothing else"
    assert words in gidd.stderr


def test_the_journal_gets_levels(make_cockpit: Callable[..., Cockpit]) -> None:
    cockpit = make_cockpit()
    ours = 'JOURNAL_STREAM=$(stat -Lc %d:%i /proc/self/fd/2) exec "$@"'
    gidd = cockpit.run("open", ["sh", "-c", ours, "sh", *cockpit.gidd_command("open")])
    gidd.wait_output("serving in")
    assert gidd.stderr.startswith("<6>gidd[open]: serving in ")
    with Connection(cockpit.socket("open")) as client:
        client.send_raw(b"?")
        gidd.wait_output("protocol violation")
    assert "\n<4>gidd[open]: test (pid " in gidd.stderr
    assert gidd.stop() == 0


def test_the_journal_of_another_program_is_not_ours(
    make_cockpit: Callable[..., Cockpit],
) -> None:
    """A desktop's programs inherit its variable, and so do shells in its terminals."""
    cockpit = make_cockpit()
    gidd = cockpit.run("open", cockpit.gidd_command("open"), JOURNAL_STREAM="1:2")
    gidd.wait_output("serving in")
    assert gidd.stderr.startswith("gidd[open]: serving in ")
    assert gidd.stop() == 0


def test_a_stopped_gidd_is_noticed_by_the_watchdog(make_cockpit: Callable[..., Cockpit]) -> None:
    """It tells that it lives, as often as WATCHDOG_USEC asks for."""

    cockpit = make_cockpit()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.bind(f"{cockpit.folder}/notify")
        notify.settimeout(PATIENCE)
        gidd = cockpit.run(
            "open",
            cockpit.gidd_command("open"),
            NOTIFY_SOCKET=f"{cockpit.folder}/notify",
            WATCHDOG_USEC="400000",
        )
        said = [notify.recv(4096) for _ in range(4)]
        assert said.count(b"WATCHDOG=1") >= 2
        assert any(words.startswith(b"READY=1") for words in said)
        assert gidd.stop() == 0


def test_it_tells_when_it_reads_its_configuration_again(
    make_cockpit: Callable[..., Cockpit],
) -> None:
    cockpit = make_cockpit()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.bind(f"{cockpit.folder}/notify")
        notify.settimeout(PATIENCE)
        gidd = cockpit.run(
            "open", cockpit.gidd_command("open"), NOTIFY_SOCKET=f"{cockpit.folder}/notify"
        )
        assert notify.recv(4096).startswith(b"READY=1")
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        gidd.signal(signal.SIGHUP)
        reloading, since = notify.recv(4096).decode().splitlines()
        assert reloading == "RELOADING=1"
        assert int(since.removeprefix("MONOTONIC_USEC=")) >= before
        assert notify.recv(4096) == b"READY=1"
        assert gidd.stop() == 0
