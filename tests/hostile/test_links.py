# SPDX-License-Identifier: MIT
"""Links: gidds that come, go and hang, and gidds that lie."""

import errno
import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from cockpit import DEFAULT_CONFIG, Cockpit
from gidwire import (
    ACCEPT,
    BODIES,
    HELLO,
    IMPORT,
    IMPORTED,
    LIVE,
    LOWER_SIDE,
    PAGE_SIZE,
    RESULT,
    REVOKED,
    STATUS,
    SUBSCRIBE,
    SUBSCRIBED,
    SUBSCRIBER,
    SUBSCRIPTION_END,
    VERSION,
    WAIT,
    WELCOME,
    Connection,
    Export,
    gid,
    memfd,
    pack,
)
from outcome import NO_STREAM, UNREADABLE, number, untouched
from program import BUILD, Program, wait_for
from test_messages import FDS, valid

MakeCockpit = Callable[..., Cockpit]


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
        self.listener.settimeout(10)

    def accept(self, greet: bool = True) -> Connection:
        connection = Connection.__new__(Connection)
        connection.socket, _ = self.listener.accept()
        connection.serial, connection.events, connection.domain = 0, [], 2
        hello = connection.receive()
        assert (hello.type, hello.values[:2]) == (HELLO, (VERSION, 2))
        if greet:
            connection.send_raw(pack(WELCOME, VERSION, 1, b"open", 0))
        return connection


@pytest.fixture
def alone(make_cockpit: MakeCockpit) -> Cockpit:
    """Only the gidd of `open`; the test is the one of `cluster`."""
    cockpit = make_cockpit()
    cockpit.start("open")
    return cockpit


def link_state(cockpit: Cockpit, domain: str) -> str:
    return cockpit.status(domain)["links"][0]["state"]


def wait_state(cockpit: Cockpit, domain: str, state: str) -> None:
    wait_for(lambda: link_state(cockpit, domain) == state, f"the link of {domain} to be {state}")


# --- coming and going ---


@pytest.mark.parametrize("order", [("open", "cluster"), ("cluster", "open")])
def test_either_may_start_first(make_cockpit: MakeCockpit, order: tuple[str, str]) -> None:
    cockpit = make_cockpit()
    cockpit.start(order[0])
    assert link_state(cockpit, order[0]) == "down"
    cockpit.start(order[1])
    cockpit.wait_links()


@pytest.mark.parametrize("who", ["open", "cluster"])
def test_a_link_comes_back(cockpit: Cockpit, who: str) -> None:
    other = {"open": "cluster", "cluster": "open"}[who]
    for times in range(2, 5):
        cockpit.kill(who)
        wait_state(cockpit, other, "down")
        cockpit.restart(who)
        assert cockpit.status(other)["links"][0]["ups"] == times


def test_what_waits_on_the_link_says_so(make_cockpit: MakeCockpit) -> None:
    cockpit = make_cockpit()
    cockpit.start("cluster")
    with cockpit.connect("cluster") as client:
        words = "the link to domain open is down: is its gidd running?"
        down = (number("ENOTCONN"), 0, words)
        assert Connection.result(client.import_(gid(1, 1))) == down
        assert client.subscribe(1, "movie", "open") == down
        assert client.subscribe(1, "movie", "open", flags=WAIT) == (0, 0, "")
        link = client.status()["links"][0]
        assert link["state"] == "down"
        assert link["why"].endswith("link/cluster.sock: No such file or directory")
        cockpit.start("open")
        with cockpit.connect("open") as producer:
            assert producer.publish("movie")[0] == 0
            asked = producer.event(SUBSCRIBER)
            asked.close()
            producer.accept(asked.values[0])
            client.event(SUBSCRIBED).close()


def test_a_waiting_subscription_outlives_the_other_gidd(cockpit: Cockpit) -> None:
    """It waits again, for whichever gidd of the stream's domain comes."""
    with cockpit.connect("cluster") as client:
        assert client.subscribe(1, "movie", "open", flags=WAIT) == (0, 0, "")
        cockpit.restart("open")
        with cockpit.connect("open") as producer:
            assert producer.publish("movie")[0] == 0
            asked = producer.event(SUBSCRIBER)
            assert len(asked.fds) == 2
            asked.close()
            client.end(1)


def make_live(cockpit: Cockpit, producer: Connection, consumer: Connection) -> int:
    producer.publish("movie")
    assert consumer.subscribe(1, "movie", "open") == (0, 1, "")
    asked = producer.event(SUBSCRIBER)
    asked.close()
    producer.accept(asked.values[0])
    consumer.event(SUBSCRIBED).close()
    return asked.values[0]


def test_live_subscriptions_outlive_the_link(cockpit: Cockpit) -> None:
    with cockpit.connect("cluster") as consumer, cockpit.connect("open") as producer:
        subscription = make_live(cockpit, producer, consumer)
        cockpit.kill("open")
        wait_state(cockpit, "cluster", "down")
        assert [s["state"] for s in cockpit.status("cluster")["subscriptions"]] == ["live"]
        cockpit.start("open")
        cockpit.wait_links()
        with pytest.raises(TimeoutError):
            consumer.receive(0.3)
        # An end that nobody on the other side knows of does no harm, there or here.
        consumer.end(1)
        wait_for(lambda: cockpit.status("cluster")["subscriptions"] == [], "its end")
        assert link_state(cockpit, "open") == "up"
        assert subscription & LOWER_SIDE


def test_the_producer_ends_what_the_link_lost(cockpit: Cockpit) -> None:
    with cockpit.connect("cluster") as consumer, cockpit.connect("open") as producer:
        subscription = make_live(cockpit, producer, consumer)
        cockpit.kill("cluster")
        wait_state(cockpit, "open", "down")
        status = cockpit.status("open")["subscriptions"]
        assert [(s["state"], s["consumer"]) for s in status] == [("live", "")]
        assert producer.events == []
        producer.end(subscription, -errno.EPIPE)  # it heard the doorbell hang up
        wait_for(lambda: cockpit.status("open")["subscriptions"] == [], "its end")
        cockpit.start("cluster")
        cockpit.wait_links()


def test_what_is_asked_ends_with_the_link(cockpit: Cockpit) -> None:
    with cockpit.connect("cluster") as consumer, cockpit.connect("open") as producer:
        producer.publish("movie")
        assert consumer.subscribe(1, "movie", "open") == (0, 1, "")
        asked = producer.event(SUBSCRIBER)
        asked.close()
        cockpit.kill("cluster")
        end = producer.event(SUBSCRIPTION_END)
        assert end.values == (asked.values[0], -errno.ENOTCONN)
        cockpit.start("cluster")
        cockpit.wait_links()
    with cockpit.connect("cluster") as consumer, cockpit.connect("open") as producer:
        producer.publish("movie")
        assert consumer.subscribe(1, "movie", "open") == (0, 1, "")
        cockpit.kill("open")
        assert consumer.event(SUBSCRIPTION_END).values == (1, -errno.ENOTCONN)
        cockpit.start("open")
        cockpit.wait_links()


def test_a_stopped_gidd_holds_nobody_up(cockpit: Cockpit) -> None:
    cluster = cockpit.gidds["cluster"]
    with cockpit.connect("cluster") as early, cockpit.connect("open") as producer:
        make_live(cockpit, producer, early)
        cluster.signal(signal.SIGSTOP)
        with untouched(cockpit) as other:
            for _ in range(500):
                slab = other.export_new()
                other.grant(slab, 2)
                other.unexport(slab)
        cluster.signal(signal.SIGCONT)
        cockpit.wait_links()


def test_questions_to_a_stopped_gidd_are_bounded(cockpit: Cockpit) -> None:
    """A client that asks on has its own questions refused, and nobody else's."""
    opened = cockpit.gidds["open"]
    with cockpit.connect("cluster") as busy, cockpit.connect("cluster") as calm:
        opened.signal(signal.SIGSTOP)
        for serial in range(1, 201):
            busy.send_raw(pack(IMPORT, gid(1, 1), serial=serial))
        refused = [busy.receive() for _ in range(200 - 64)]
        words = "domain open has not answered what was asked before"
        again = (number("EAGAIN"), 0, words)
        assert {Connection.result(answer) for answer in refused} == {again}
        calm.send_raw(pack(IMPORT, gid(1, 1), serial=1))
        opened.signal(signal.SIGCONT)
        answers = [busy.receive() for _ in range(64)] + [calm.receive()]
        unreadable = (number("ENOENT"), 0, UNREADABLE)
        assert {Connection.result(answer) for answer in answers} == {unreadable}


def test_who_left_is_not_answered(cockpit: Cockpit) -> None:
    opened = cockpit.gidds["open"]
    opened.signal(signal.SIGSTOP)
    with cockpit.connect("cluster") as client:
        client.send_raw(pack(IMPORT, gid(1, 1), serial=1))
        client.send_raw(
            pack(SUBSCRIBE, 1, 0, 1, WAIT, b"open", b"movie", 0), [memfd(PAGE_SIZE), _bell()]
        )
        client.status()
    wait_for(lambda: len(cockpit.status("cluster")["clients"]) == 1, "the client to be gone")
    opened.signal(signal.SIGCONT)
    cockpit.wait_links()


def _bell() -> int:
    return socket.socketpair()[0].detach()


def test_slabs_that_outlived_their_gidd_are_still_revoked(cockpit: Cockpit) -> None:
    """The owner exports and grants again under the old number; who imported it hears of its end."""
    with cockpit.connect("cluster") as reader:
        fd = memfd(4096)
        with cockpit.connect("open") as owner:
            slab = owner.export(Export(generations=0), fd)[1]
            owner.grant(slab, 2)
            reader.import_(gid(1, slab)).close()
            cockpit.kill("open")
        wait_state(cockpit, "cluster", "down")
        cockpit.start("open")
        cockpit.wait_links()
        with cockpit.connect("open") as owner:
            again = owner.export(Export(generations=0, slab=slab), fd)
            assert again == (0, slab, "")
            owner.grant(slab, 2)
            with pytest.raises(TimeoutError):
                reader.receive(0.3)
        assert reader.event(REVOKED).values == (gid(1, slab),)
        os.close(fd)


# --- a gidd that lies ---


def expect_dropped(cockpit: Cockpit, gidd: Connection, why: str, domain: str = "open") -> None:
    gidd.wait_closed()
    cockpit.wait_log(domain, f": {why}")
    gidd.close()


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (pack(STATUS), "protocol violation: it does not begin with a greeting"),
        (pack(HELLO, 2, 2, b"gidd"), "it speaks version 2, this gidd 1"),
        (pack(HELLO, VERSION, 3, b"gidd"), "protocol violation: it says that it is another domain"),
        (pack(HELLO, VERSION, 0, b"gidd"), "protocol violation: it says that it is another domain"),
        (b"x" * 5, "protocol violation: the message is shorter than its header"),
        (b"", "hung up"),
    ],
)
def test_greetings(alone: Cockpit, message: bytes, why: str) -> None:
    with untouched(alone):
        gidd = FakeGidd(alone, greet=False)
        gidd.send_raw(message)
        expect_dropped(alone, gidd, f"not up: {why}")
        with FakeGidd(alone):
            wait_state(alone, "open", "up")


@pytest.mark.parametrize("type_", sorted(set(BODIES) - {IMPORT, REVOKED, SUBSCRIBE, ACCEPT}))
def test_what_no_gidd_sends(alone: Cockpit, type_: int) -> None:
    fds = [memfd(4096) for _ in range(FDS.get(type_, 0))]
    with untouched(alone):
        gidd = FakeGidd(alone)
        gidd.send_raw(valid(type_), fds)
        if type_ == SUBSCRIPTION_END:
            assert Connection.result(gidd.import_(gid(1, 1)))[0] == number("ENOENT")
            gidd.close()
        else:
            asked = type_ in (RESULT, IMPORTED)
            why = "it answers what it was not asked" if asked else "a message that no gidd sends"
            expect_dropped(alone, gidd, f"protocol violation: {why}")
    for fd in fds:
        os.close(fd)


def test_a_gidd_gets_what_is_granted_to_its_domain_and_nothing_else(alone: Cockpit) -> None:
    with alone.connect("open") as owner, FakeGidd(alone) as gidd:
        slabs = [owner.export_new() for _ in range(3)]
        owner.grant(slabs[1], 2)
        answers = [gidd.import_(gid(1, slab)) for slab in slabs]
        assert [answer.type for answer in answers] == [RESULT, IMPORTED, RESULT]
        assert answers[0].values == answers[2].values
        answers[1].close()
        # Not for others, and not what others own.
        for name in (gid(2, slabs[1]), gid(3, slabs[1]), 0):
            assert Connection.result(gidd.import_(name)) == (number("ENOENT"), 0, UNREADABLE)


def subscribe(gidd: Connection, number_: int, domain: int, name: bytes, flags: int = 0) -> tuple:
    fds = [memfd(PAGE_SIZE), _bell()]
    answer = gidd.request(SUBSCRIBE, number_, domain, 4, flags, b"", name, 0, fds=fds)
    for fd in fds:
        os.close(fd)
    return Connection.result(answer)


NOT_LIVE = "only a client's subscription, outside of windows, can be live already"
SECRET = DEFAULT_CONFIG.replace("streams=*", "streams=movie", 1)


def test_a_gidd_subscribes_to_what_is_shared_with_its_domain(make_cockpit: MakeCockpit) -> None:
    cockpit = make_cockpit(SECRET)
    cockpit.start("open")
    with cockpit.connect("open") as producer, FakeGidd(cockpit) as gidd:
        assert [producer.publish(name)[0] for name in ("movie", "secret")] == [0, 0]
        refused = (number("ENOENT"), 0, NO_STREAM)
        assert subscribe(gidd, 1, 1, b"secret") == refused
        assert subscribe(gidd, 1, 1, b"secret", WAIT) == refused
        assert subscribe(gidd, 1, 2, b"movie") == refused
        assert subscribe(gidd, 1, 77, b"movie") == refused
        live = (number("EINVAL"), 0, NOT_LIVE)
        assert subscribe(gidd, 1, 1, b"movie", LIVE) == live
        assert subscribe(gidd, 1, 1, b"movie") == (0, 1, "")
        assert producer.event(SUBSCRIBER).values[2] == 2  # whatever it says it is
        assert producer.events == []


def test_a_gidd_revokes_its_own_only(cockpit: Cockpit) -> None:
    cockpit.kill("cluster")
    with untouched(cockpit) as owner:
        slab = cockpit.status("open")["slabs"][0]["gid"]
        gidd = FakeGidd(cockpit)
        gidd.send_raw(pack(REVOKED, gid(1, int(slab.split(":")[1].split(".")[0]))))
        expect_dropped(cockpit, gidd, "protocol violation: it revokes a slab that is not its own")
        assert owner.events == []


@pytest.mark.parametrize(
    ("message", "fds", "why"),
    [
        (pack(ACCEPT, LOWER_SIDE | 5, 0, 0), 1, None),  # over meanwhile
        (pack(SUBSCRIPTION_END, LOWER_SIDE | 5, 0), 0, None),
        (pack(SUBSCRIPTION_END, 5, 0), 0, None),
        (pack(ACCEPT, 5, 0, 0), 1, "it accepts a subscription that nobody asked it for"),
        (
            pack(SUBSCRIBE, LOWER_SIDE | 1, 1, 1, WAIT, b"", b"movie", 0),
            2,
            "a subscription's number is in use, or not its to give",
        ),
    ],
)
def test_numbers_on_a_link(alone: Cockpit, message: bytes, fds: int, why: str | None) -> None:
    descriptors = [memfd(PAGE_SIZE), _bell()]
    with untouched(alone):
        gidd = FakeGidd(alone)
        gidd.send_raw(message, descriptors[:fds])
        if why is None:
            assert Connection.result(gidd.import_(0))[0] == number("ENOENT")
            gidd.close()
        else:
            expect_dropped(alone, gidd, f"protocol violation: {why}")
    for fd in descriptors:
        os.close(fd)


def test_a_second_gidd_takes_the_place_of_the_first(alone: Cockpit) -> None:
    with untouched(alone):
        first = FakeGidd(alone)
        with FakeGidd(alone) as second:
            expect_dropped(alone, first, "lost: another gidd came in")
            assert Connection.result(second.import_(0))[0] == number("ENOENT")


# --- answers of a gidd that lies ---

IMPORTED_HEAD = (1, 7, 1, 1, 0, 4096, 0, 0, 0)  # slab 7 of domain 1: one slot of a memfd


def imported(serial: int, *head: int) -> bytes:
    return pack(IMPORTED, *head, *Export().layout.values(), b"", serial=serial)


def file_of(kind: str) -> int:
    if kind == "pipe":
        reader, writer = os.pipe()
        os.close(writer)
        return reader
    return memfd(100 if kind == "short" else 4096, seals=0 if kind == "unsealed" else None)


@pytest.mark.parametrize(
    ("head", "kind", "why"),
    [
        ((1, 8, *IMPORTED_HEAD[2:]), "good", "it answers with another slab than it was asked for"),
        ((3, 7, *IMPORTED_HEAD[2:]), "good", "it answers with another slab than it was asked for"),
        (IMPORTED_HEAD, "pipe", "the descriptor is not a memfd"),
        (IMPORTED_HEAD, "short", "the descriptor's memory is smaller than what it is said to hold"),
        (IMPORTED_HEAD, "unsealed", "the memfd is not sealed"),
        (None, "good", "it answers an import with nothing"),
        (IMPORTED_HEAD, "good", None),
    ],
)
def test_answers_to_imports(
    make_cockpit: MakeCockpit, head: tuple | None, kind: str, why: str | None
) -> None:
    cockpit = make_cockpit()
    listener = FakeListener(cockpit)
    cockpit.start("cluster")
    with untouched(cockpit, "cluster"), cockpit.connect("cluster") as client:
        gidd = listener.accept()
        wait_state(cockpit, "cluster", "up")
        client.serial = 9
        client.send_raw(pack(IMPORT, gid(1, 7), serial=9))
        asked = gidd.receive()
        assert (asked.type, asked.values) == (IMPORT, (gid(1, 7),))
        fd = file_of(kind)
        if head is None:
            gidd.send_raw(pack(RESULT, 0, 0, b"", serial=asked.serial))
        else:
            gidd.send_raw(imported(asked.serial, *head), [fd])
        answer = client.receive()
        assert answer.serial == 9
        if why is None:
            assert answer.type == IMPORTED
            answer.close()
            gidd.close()
        else:
            words = "the link to domain open is down: is its gidd running?"
            assert Connection.result(answer) == (number("ENOTCONN"), 0, words)
            expect_dropped(cockpit, gidd, f"protocol violation: {why}", "cluster")
            listener.accept().close()  # it tries again
        os.close(fd)
    listener.listener.close()


def test_a_lying_sentence_does_not_reach_the_client(make_cockpit: MakeCockpit) -> None:
    """Whatever the other gidd says of a slab, the client hears the one sentence."""
    cockpit = make_cockpit()
    listener = FakeListener(cockpit)
    cockpit.start("cluster")
    with cockpit.connect("cluster") as client, listener.accept() as gidd:
        wait_state(cockpit, "cluster", "up")
        client.serial = 9
        for error in (errno.EPERM, errno.ENOENT, errno.EACCES):
            client.send_raw(pack(IMPORT, gid(1, 7), serial=9))
            asked = gidd.receive()
            gidd.send_raw(pack(RESULT, -error, 5, b"granted to others", serial=asked.serial))
            assert Connection.result(client.receive()) == (number("ENOENT"), 0, UNREADABLE)
    listener.listener.close()


# --- the place ---


def test_only_its_user_finds_the_place(alone: Cockpit) -> None:
    folder: Path = alone.runtime / "open"
    for place in (folder / "gidd.sock", folder / "link" / "cluster.sock"):
        assert place.stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o022 == 0


def test_there_is_one_gidd_of_a_domain(cockpit: Cockpit) -> None:
    second = Program(
        [BUILD / "gidd" / "gidd", "--config", cockpit.config_path, "--domain", "open"],
        env=cockpit.env("open"),
        log_dir=cockpit.folder,
    )
    assert second.wait() == 1
    lock = cockpit.runtime / "open" / "gidd.lock"
    assert f"another gidd runs for domain open: it holds {lock}" in second.stderr
    cockpit.connect("open").close()
