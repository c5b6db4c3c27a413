# SPDX-License-Identifier: MIT
"""Quotas and floods: what one client may take, and that it takes it from nobody else."""

import errno
import fcntl
import os
import re
import signal
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from lib.cockpit import DEFAULT_CONFIG, Cockpit
from lib.gidwire import (
    GRANT,
    IMPORT,
    IMPORTED,
    PUBLISH,
    REPORT,
    RESULT,
    STATUS,
    WAIT,
    Closed,
    Connection,
    Export,
    gid,
    memfd,
    pack,
)
from lib.outcome import expect_closed, number, untouched
from lib.program import PATIENCE, TOP, wait_for

from lab.domains.configuration import configuration

QUOTAS = configuration(
    {
        "open": "local=* memory=64K client-memory=40K slabs=5 client-slabs=3 streams=3 "
        "client-streams=2 subscriptions=5 client-subscriptions=3 held=20 client-held=12 clients=6",
        "cluster": "",
    },
    {"open cluster": "*\nheld=10"},
)


def over(limit: str, of: str, has: int) -> tuple[int, int, str]:
    who = "this client has" if of == "client-" else "its clients have"
    words = f"over the limit {of}{limit} of domain open ({who} {has})"
    return number("EDQUOT"), 0, words


def export(connection: Connection, size: int) -> tuple[int, int, str]:
    fd = memfd(size)
    answer = connection.export(Export(generations=0), fd)
    os.close(fd)
    return answer


@pytest.mark.cockpit(QUOTAS)
def test_slabs(cockpit: Cockpit) -> None:
    with cockpit.connect("open") as one, cockpit.connect("open") as two:
        slabs = [export(one, 4096)[1] for _ in range(3)]
        assert export(one, 4096) == over("slabs=3", "client-", 3)
        assert [export(two, 4096)[0] for _ in range(2)] == [0, 0]
        assert export(two, 4096) == over("slabs=5", "", 5)
        one.unexport(slabs[0])
        assert export(two, 4096)[0] == 0


@pytest.mark.cockpit(QUOTAS)
def test_memory_counts_the_whole_file(cockpit: Cockpit) -> None:
    with cockpit.connect("open") as one, cockpit.connect("open") as two:
        error, slab, _ = export(one, 40 << 10)
        assert error == 0
        assert export(one, 4096) == over("memory=40960", "client-", 40960)
        assert export(two, 24 << 10)[0] == 0
        assert export(two, 4096) == over("memory=65536", "", 65536)
        # A refused export leaves nothing behind.
        used = {q["name"]: q["used"] for q in one.status()["quotas"]}
        assert (used["slabs"], used["memory"]) == (2, 65536)
        one.unexport(slab)
        assert export(one, 40 << 10)[0] == 0


@pytest.mark.cockpit(QUOTAS)
def test_streams(cockpit: Cockpit) -> None:
    with cockpit.connect("open") as one, cockpit.connect("open") as two:
        assert [one.publish(name)[0] for name in ("a", "b")] == [0, 0]
        assert one.publish("c") == over("streams=2", "client-", 2)
        assert two.publish("c")[0] == 0
        assert two.publish("d") == over("streams=3", "", 3)


@pytest.mark.cockpit(QUOTAS)
def test_subscriptions_and_frames_held(cockpit: Cockpit) -> None:
    with cockpit.connect("open") as one, cockpit.connect("open") as two:
        for i in (1, 2, 3):
            assert one.subscribe(i, "movie", credit=1, flags=WAIT) == (0, 0, "")
        full = over("subscriptions=3", "client-", 3)
        assert one.subscribe(4, "movie", credit=1, flags=WAIT) == full
        assert two.subscribe(1, "movie", credit=11, flags=WAIT) == (0, 0, "")
        assert two.subscribe(2, "movie", credit=2, flags=WAIT) == over("held=12", "client-", 11)
        assert two.subscribe(2, "movie", credit=1, flags=WAIT) == (0, 0, "")
        assert one.subscribe(4, "movie", credit=1, flags=WAIT) == full
        assert two.subscribe(3, "movie", flags=WAIT)[0] == number("EDQUOT")


@pytest.mark.cockpit(QUOTAS)
def test_frames_that_another_domain_may_hold(cockpit: Cockpit) -> None:
    with cockpit.connect("cluster") as consumer, cockpit.connect("open") as local:
        assert consumer.subscribe(1, "movie", "open", credit=9, flags=WAIT) == (0, 0, "")
        words = "over the limit held=10 of what domain open shares"
        refused = (number("EDQUOT"), 0, words)
        assert consumer.subscribe(2, "movie", "open", credit=2, flags=WAIT) == refused
        assert local.subscribe(1, "movie", credit=12, flags=WAIT) == (0, 0, "")
        assert consumer.subscribe(2, "movie", "open", credit=1, flags=WAIT) == (0, 0, "")
        consumer.end(1)
        assert consumer.subscribe(3, "movie", "open", credit=9, flags=WAIT) == (0, 0, "")


# The file that is installed, but for what only a system has.
INSTALLED = re.sub(
    r"\[cockpit\]\nruntime=.*|(?m:^group=.*)", "", (TOP / "gidd/gidway.conf.example").read_text()
)


@pytest.mark.cockpit(INSTALLED)
def test_what_is_installed_has_room_for_a_cockpit(cockpit: Cockpit) -> None:
    """For a display of four streams, an engine, and three pipelines with what they ask for."""
    with cockpit.connect("cluster") as consumer:
        for number_of_it, credit in enumerate([4, 4, 4, 4, 63, 24, 24, 24], start=1):
            asked = consumer.subscribe(number_of_it, "movie", "open", credit=credit, flags=WAIT)
            assert asked == (0, 0, "")


@pytest.mark.cockpit(QUOTAS)
def test_clients(cockpit: Cockpit) -> None:
    with untouched(cockpit):
        others = [cockpit.connect("open") for _ in range(5)]
        seventh = Connection(cockpit.socket("open"), hello=False)
        answer = seventh.receive()
        assert answer.type == RESULT
        words = "domain open has its clients=6 already"
        assert Connection.result(answer) == (number("EDQUOT"), 0, words)
        expect_closed(cockpit, seventh, "over the limit of clients")
        seventh.close()
        others.pop().close()
        wait_for(lambda: len(cockpit_clients(others[0])) == 5, "the client to be gone")
        cockpit.connect("open").close()
        for other in others:
            other.close()
        wait_for(lambda: len(cockpit.status("open")["clients"]) == 2, "the clients to be gone")


def cockpit_clients(connection: Connection) -> list:
    return connection.status()["clients"]


def test_half_of_everything_is_left_for_others(cockpit: Cockpit) -> None:
    """Without a configured limit no client can take all slabs of its domain."""
    with cockpit.connect("open") as greedy, cockpit.connect("open") as modest:
        count = 0
        while export(greedy, 4096)[0] == 0:
            count += 1
        assert count == 512
        assert export(modest, 4096)[0] == 0


# --- floods ---


def flood(connection: Connection, message: bytes, fds: list[int], limit: int = 200_000) -> int:
    """Sends without ever reading until gidd hangs up; how many went."""
    connection.socket.settimeout(0.2)
    quiet = 0
    for count in range(limit):
        try:
            connection.send_raw(message, fds)
            quiet = 0
        except TimeoutError:
            quiet += 1
            assert quiet < 300, "gidd neither reads nor hangs up"
        except Closed:
            return count
    raise AssertionError("gidd takes everything, and queues without a bound")


@pytest.mark.parametrize("message", [STATUS, IMPORT, GRANT], ids=["status", "import", "grant"])
def test_who_asks_and_never_reads_is_closed(cockpit: Cockpit, message: int) -> None:
    data = {
        STATUS: pack(STATUS, serial=1),
        IMPORT: pack(IMPORT, gid(1, 1), serial=1),
        GRANT: pack(GRANT, 1, 2, 1, 0, serial=1),
    }[message]
    with untouched(cockpit), cockpit.connect("open") as deaf:
        before = memory(cockpit)
        flood(deaf, data, [])
        cockpit.wait_log("open", "closed: does not read what is sent to it")
        wait_for(lambda: memory(cockpit) < before + (32 << 20), "gidd's memory to be bounded")


def memory(cockpit: Cockpit) -> int:
    with open(f"/proc/{cockpit.gidds['open'].pid}/statm") as statm:
        return int(statm.read().split()[1]) * 4096


def test_a_flood_leaves_the_others_their_turn(cockpit: Cockpit) -> None:
    """One client asks as fast as it can, reading its answers; another is answered all the while."""
    with cockpit.connect("open") as busy, untouched(cockpit) as calm:
        busy.socket.setblocking(False)
        question = pack(IMPORT, gid(1, 1), serial=1)
        waits = []
        for _ in range(200):
            for _ in range(100):
                try:
                    busy.socket.send(question)
                except BlockingIOError:
                    break
            start = time.monotonic()
            calm.import_(gid(1, 1))
            waits.append(time.monotonic() - start)
            while True:
                try:
                    busy.socket.recv(4096)
                except BlockingIOError:
                    break
        assert sorted(waits)[100] < 1.0


def kinds(connection: Connection, count: int) -> list[int]:
    """The types of the next answers, whose descriptors are closed."""
    types = []
    for _ in range(count):
        message = connection.receive()
        types.append(message.type)
        message.close()
    return types


def test_reports_in_flight_are_few(cockpit: Cockpit) -> None:
    """Unread reports are memory of gidd's: one for a client, and one that is shared by all."""
    asked = 100
    with untouched(cockpit) as calm, ExitStack() as stack:
        greedy = [stack.enter_context(cockpit.connect("open", "greedy")) for _ in range(3)]
        for connection in greedy:
            for _ in range(asked):
                connection.send_raw(pack(STATUS, serial=1))
        calm.status()
        for connection in greedy:
            types = kinds(connection, asked)
            # The first one waited for its time, or the second one until the first one was read.
            assert 1 <= types.count(REPORT) <= 2
            assert types.count(RESULT) == asked - types.count(REPORT) and types[-1] == REPORT


MANY = configuration({"open": "local=* slabs=8192 memory=64M"}, {})


def time_not_slept(pid: int) -> int:
    """Of its only thread so far, running or waiting for a processor, ns."""
    return sum(int(word) for word in Path(f"/proc/{pid}/schedstat").read_text().split()[:2])


@pytest.mark.cockpit(MANY)
def test_long_reports_leave_time_for_others(cockpit: Cockpit) -> None:
    """What is in a report others choose: gidd rests after it, four times as long as it took.

    But never for more than a second, and a machine that is busy makes a report last.
    """
    gidd, fd = cockpit.gidds["open"], memfd(4096)
    with cockpit.connect("open") as one, cockpit.connect("open") as two:
        for owner in (one, two):
            for _ in range(4096):
                many = Export(generations=0, description=b"x" * 2000)
                assert owner.export(many, fd)[0] == 0
        os.close(fd)
        one.status()
        begin, spent = time.monotonic_ns(), time_not_slept(gidd.pid)
        count = 4
        for _ in range(count):
            one.status()
        spent = time_not_slept(gidd.pid) - spent
        rested = time.monotonic_ns() - begin - spent
        assert rested > 0.5 * min(4 * spent, count * 1_000_000_000)


TOO_MANY = configuration({"open": "local=* slabs=32768 memory=256M"}, {})


@pytest.mark.at_length
@pytest.mark.cockpit(TOO_MANY)
def test_a_report_that_would_be_too_long_is_refused(cockpit: Cockpit) -> None:
    """Nobody takes one of more than 64 MiB: who asked lost the connection."""
    fd = memfd(4096)
    with cockpit.connect("open") as owner, cockpit.connect("open") as other:
        many = Export(generations=0, description=b'"' * 2047)  # each of which is two bytes there
        for _ in range(16000):
            assert owner.export(many, fd)[0] == 0
        os.close(fd)
        error, _, words = Connection.result(other.request(STATUS))
        assert error == -errno.EFBIG and "longer than 64 MiB" in words
        assert other.publish("movie")[0] == 0
    wait_for(lambda: not cockpit.status("open")["slabs"], "a short one")


def test_a_report_is_newer_than_its_request(cockpit: Cockpit) -> None:
    """However often they come, and whoever else has asked."""
    with untouched(cockpit) as calm, cockpit.connect("open", "other") as other:
        for number_ in range(5):
            name = f"stream-{number_}"
            other.send_raw(pack(STATUS, serial=7))
            assert calm.publish(name)[0] == 0
            assert name in [stream["name"] for stream in calm.status()["streams"]]
            assert kinds(other, 1) == [REPORT]


def test_an_importer_that_sleeps_does_not_hold_up_the_owner(cockpit: Cockpit) -> None:
    """It is told of each slab that goes; when it never reads it is closed, and nobody else is."""
    with untouched(cockpit), cockpit.connect("open") as owner:
        sleeper = cockpit.connect("open", "sleeper")
        sleeper.socket.settimeout(PATIENCE)
        fd = memfd(4096)
        for _ in range(3000):
            slab = owner.export(Export(generations=0), fd)[1]
            try:
                sleeper.send_raw(pack(IMPORT, gid(1, slab), serial=1))
            except Closed:
                break
            wait_imported(owner, slab)
            owner.unexport(slab)
        else:
            raise AssertionError("the sleeper is still there")
        os.close(fd)
        cockpit.wait_log("open", "sleeper (pid")
        cockpit.wait_log("open", "closed: does not read what is sent to it")
        sleeper.close()


def wait_imported(owner: Connection, slab: int) -> None:
    """gidd reads its clients in turn: an answer to us may come before it read the other's."""
    answer = owner.import_(gid(1, slab))
    assert answer.type == IMPORTED
    answer.close()


def test_descriptors_of_refused_messages_are_closed(cockpit: Cockpit) -> None:
    gidd = cockpit.gidds["open"]
    with untouched(cockpit):
        before = gidd.open_fds()
        fds = [memfd(4096) for _ in range(250)]
        for count in (1, 2, 3, 250):
            for message in (pack(STATUS), pack(PUBLISH, b"movie"), b"x", struct.pack("<I", 0)):
                with cockpit.connect("open") as connection:
                    connection.send_raw(message, fds[:count])
                    connection.wait_closed()
        for fd in fds:
            os.close(fd)
        wait_for(lambda: gidd.open_fds() <= before, "the descriptors to be closed")


def test_connections_that_say_nothing(cockpit: Cockpit) -> None:
    """They take places, but those that greet go on; all are gone after a while."""
    with untouched(cockpit):
        silent = []
        for _ in range(100):
            one = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            one.connect(str(cockpit.socket("open")))
            silent.append(one)
        cockpit.connect("open").close()
        for one in silent:
            one.settimeout(PATIENCE)
            assert one.recv(1) == b""
            one.close()


LITTLE = DEFAULT_CONFIG.replace("number=1", "number=1\nclients=4000")


@pytest.mark.cockpit(LITTLE)
def test_a_thousand_clients_come_and_go(cockpit: Cockpit) -> None:
    gidd = cockpit.gidds["open"]
    before = gidd.open_fds()
    for _ in range(10):
        clients = [cockpit.connect("open") for _ in range(100)]
        clients[0].export_new()
        for client in clients:
            client.close()
    wait_for(lambda: gidd.open_fds() <= before, "all of them to be gone")


@pytest.mark.cockpit(LITTLE)
def test_the_log_is_bounded(cockpit: Cockpit) -> None:
    gidd, start = cockpit.gidds["open"], time.monotonic()

    def has_left_lines_out() -> bool:
        clients = [cockpit.connect("open") for _ in range(450)]
        gidd.signal(signal.SIGSTOP)  # so as to have much to say at once
        for client in clients:
            client.send_raw(b"nonsense")
        gidd.signal(signal.SIGCONT)
        for client in clients:
            client.wait_closed()
            client.close()
        return "more lines are left out" in cockpit.log("open")

    wait_for(has_left_lines_out, "a log that is full", pause=1)
    seconds = time.monotonic() - start
    assert cockpit.log("open").count("\n") <= 201 * (seconds + 2)


def flood_log(cockpit: Cockpit, until: threading.Event) -> None:
    """A line of gidd's log for each message, as fast as gidd takes them."""
    while not until.is_set():
        with cockpit.connect("open", "floods") as client:
            for _ in range(100):
                assert client.publish("movie")[0] in (0, -errno.EEXIST)


def test_nobodys_lines_hide_anothers(cockpit: Cockpit) -> None:
    """What a link has to say stands in the log, whatever a client makes gidd write meanwhile."""
    done = threading.Event()
    flooding = threading.Thread(target=flood_log, args=(cockpit, done))
    flooding.start()
    try:
        wait_for(lambda: "because of user" in cockpit.log("open"), "a flood", pause=0.5)
        for _ in range(3):
            cockpit.kill("cluster")
            cockpit.wait_log("open", "link to cluster: lost")
            cockpit.start("cluster")
            cockpit.wait_log("open", "link to cluster: up")
    finally:
        done.set()
        flooding.join()


def listens(path: Path) -> bool:
    """Its file is there a moment sooner."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as attempt:
        return attempt.connect_ex(str(path)) == 0


def test_a_log_that_nobody_reads(make_cockpit: Callable[..., Cockpit]) -> None:
    """Whoever keeps the log may have stopped: what does not fit is lost, and nobody waits."""
    cockpit = make_cockpit(LITTLE)
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    gidd = subprocess.Popen(
        cockpit.gidd_command("open"),
        env=cockpit.env("open"),
        stderr=writer,
    )
    os.close(writer)
    try:
        wait_for(lambda: listens(cockpit.socket("open")), "gidd to listen")
        for _ in range(3):
            clients = [cockpit.connect("open") for _ in range(60)]
            for client in clients:
                client.close()
            assert cockpit.status("open")["domain"] == "open"
        # What is wrong with its file it tells without a limit.
        with cockpit.config_path.open("a") as file:
            file.write("nonsense\n" * 500)
        gidd.send_signal(signal.SIGHUP)
        wait_for(lambda: cockpit.status("open")["configuration"]["readings"] == 1, "all to be told")
        os.set_blocking(reader, False)
        told = b""

        def has_told() -> bool:
            nonlocal told
            cockpit.connect("open").close()
            with suppress(BlockingIOError):
                told += os.read(reader, 65536)
            return b"lines are lost" in told

        wait_for(has_told, "a word about what was lost", pause=0.1)
    finally:
        gidd.terminate()
        assert gidd.wait(PATIENCE) == 0
        os.close(reader)
