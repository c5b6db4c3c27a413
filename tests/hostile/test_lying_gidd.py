# SPDX-License-Identifier: MIT
"""A gidd at the other end of a link that lies: what it asks for, says, and answers."""

import errno
import os
import struct
from collections.abc import Callable

import pytest
from gidds import FakeGidd, FakeListener, bell, wait_state
from lib.cockpit import DEFAULT_CONFIG, Cockpit
from lib.gidwire import (
    ACCEPT,
    BODIES,
    HELLO,
    IMPORT,
    IMPORTED,
    LIVE,
    LOWER_SIDE,
    OFFERS,
    PAGE_SIZE,
    PING,
    PONG,
    RESULT,
    REVOKED,
    STATUS,
    SUBSCRIBE,
    SUBSCRIBER,
    SUBSCRIPTION_END,
    UNIMPORT,
    VECTOR,
    VERSION,
    WAIT,
    Closed,
    Connection,
    Export,
    gid,
    memfd,
    pack,
)
from lib.outcome import NO_STREAM, UNREADABLE, number, untouched
from lib.program import PATIENCE
from lib.sample_messages import FDS, valid

from lab.domains.configuration import configuration

MakeCockpit = Callable[..., Cockpit]


@pytest.fixture
def alone(make_cockpit: MakeCockpit) -> Cockpit:
    """Only the gidd of `open`; the test is the one of `cluster`."""
    cockpit = make_cockpit()
    cockpit.start("open")
    return cockpit


# --- a gidd that lies ---


def expect_dropped(cockpit: Cockpit, gidd: Connection, why: str, domain: str = "open") -> None:
    gidd.wait_closed()
    cockpit.wait_log(domain, f": {why}")
    gidd.close()


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (pack(STATUS), "protocol violation: it does not begin with a greeting"),
        (
            pack(HELLO, VERSION + 1, 2, b"gidd"),
            f"it speaks version {VERSION + 1}, this gidd {VERSION}",
        ),
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
        if type_ in (SUBSCRIPTION_END, OFFERS, UNIMPORT, PING, PONG):
            assert Connection.result(gidd.import_(gid(1, 1)))[0] == number("ENOENT")
            gidd.close()
        else:
            asked = "it answers what it was not asked"
            whys = {RESULT: asked, IMPORTED: asked, VECTOR: "a vector where there is no device"}
            why = whys.get(type_, "a message that no gidd sends")
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
    fds = [memfd(PAGE_SIZE), bell()]
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
            "a subscription's number is in use, or this side may not choose it",
        ),
    ],
)
def test_numbers_on_a_link(alone: Cockpit, message: bytes, fds: int, why: str | None) -> None:
    descriptors = [memfd(PAGE_SIZE), bell()]
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
            expect_dropped(alone, first, "lost: another gidd connected in its place")
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
        (IMPORTED_HEAD, "pipe", "the descriptor is not a memfd with ordinary pages"),
        (IMPORTED_HEAD, "short", "the descriptor's memory is smaller than stated"),
        (IMPORTED_HEAD, "unsealed", "the memfd is not sealed"),
        (None, "good", "its answer to an import has no slab"),
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


def test_who_says_nothing_is_gone(alone: Cockpit) -> None:
    """It is asked whether it is there, in each second from the third to the tenth."""
    with untouched(alone):
        gidd = FakeGidd(alone)
        said = []
        gidd.socket.settimeout(PATIENCE)
        while data := gidd.socket.recv(8192):
            said.append(struct.unpack_from("<I", data)[0])
        assert said == [PING] * 8
        alone.wait_log("open", "lost: it has been silent for too long")
        gidd.close()


def test_who_answers_that_it_is_there_stays(alone: Cockpit) -> None:
    with FakeGidd(alone) as gidd:
        gidd.socket.settimeout(PATIENCE)
        for _ in range(11):  # a second between two of them, and some before the first one
            type_, _, _, _, asked = struct.unpack_from("<IIIIQ", gidd.socket.recv(8192))
            assert type_ == PING
            gidd.send_raw(pack(PONG, asked, 1))
        assert alone.status("open")["links"][0]["ups"] == 1


def test_who_answers_no_request_loses_the_link(make_cockpit: MakeCockpit) -> None:
    """Though it is there, and says so."""
    cockpit = make_cockpit()
    listener = FakeListener(cockpit)
    cockpit.start("cluster")
    with cockpit.connect("cluster") as client, listener.accept() as gidd:
        wait_state(cockpit, "cluster", "up")
        client.send_raw(pack(IMPORT, gid(1, 7), serial=9))
        assert gidd.receive().type == IMPORT
        try:
            gidd.receive()
            raise AssertionError("nothing else is asked")
        except Closed:
            pass
        assert Connection.result(client.receive())[0] == number("ENOTCONN")
        cockpit.wait_log("cluster", "lost: it does not answer what it was asked")
    listener.listener.close()


LIMITED = configuration(
    {"open": "memory=64K slabs=3 local=*", "cluster": "local=*"}, {"open cluster": "*"}
)
OVER = (
    "domain open shares more than memory=65536 and slabs=3 of it allow: its gidd has another "
    "configuration, or was taken over"
)


@pytest.mark.parametrize(("size", "fits"), [(4096, 3), (40 << 10, 1), (65 << 10, 0)])
def test_a_domain_shares_no_more_than_its_limits(
    make_cockpit: MakeCockpit, size: int, fits: int
) -> None:
    """Its gidd should see to that; where it does not, the readers' gidd does."""
    cockpit = make_cockpit(LIMITED)
    listener = FakeListener(cockpit)
    cockpit.start("cluster")
    with cockpit.connect("cluster") as client, listener.accept() as gidd:
        wait_state(cockpit, "cluster", "up")
        for slab in range(1, fits + 3):
            client.send_raw(pack(IMPORT, gid(1, slab), serial=9))
            asked = gidd.receive()
            fd = memfd(size)
            gidd.send_raw(imported(asked.serial, 1, slab, *IMPORTED_HEAD[2:]), [fd])
            os.close(fd)
            answer = client.receive()
            if slab <= fits:
                assert answer.type == IMPORTED
                answer.close()
            else:
                assert Connection.result(answer) == (number("EDQUOT"), 0, OVER)
        if fits > 0:
            # What is gone does not count any more.
            gidd.send_raw(pack(REVOKED, gid(1, 1)))
            client.event(REVOKED)
            client.send_raw(pack(IMPORT, gid(1, 9), serial=9))
            fd = memfd(size)
            gidd.send_raw(imported(gidd.receive().serial, 1, 9, *IMPORTED_HEAD[2:]), [fd])
            os.close(fd)
            answer = client.receive()
            assert answer.type == IMPORTED
            answer.close()
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
