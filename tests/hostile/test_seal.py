# SPDX-License-Identifier: MIT
"""A sealed domain grants nothing new; what it granted goes on; no stranger ends that."""

import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from gid_vm.preload import Preload
from lib.cockpit import DEFAULT_CONFIG, GIDCTL, Cockpit
from lib.counted import CountedCalls, by_object
from lib.gidwire import (
    ALLOC,
    HELLO,
    IMPORTED,
    LIVE,
    PAGE_SIZE,
    PUBLISH,
    RESULT,
    RING_SIZE,
    SEAL,
    SEALED,
    STATUS,
    SUBSCRIBER,
    VERSION,
    WAIT,
    Closed,
    Connection,
    Export,
    gid,
    memfd,
    pack,
    text,
)
from lib.outcome import number
from lib.peer import PEER, WAITING, consume, produce
from lib.program import BUILD, wait_for
from subscribing import PLACES, ended, subscribe_live

MakeCockpit = Callable[..., Cockpit]
Answer = tuple[int, int, str]

OTHER_USER = BUILD / "tests/lib/programs/other_user.so"
TAKES_SEALED = 2  # in HELLO's domain
SEALED_SINCE = re.compile(
    r"domain (\w+) is sealed since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC: nothing new is granted "
    r"until `gidctl unseal`"
)
STRANGER = "only the user of gidd may do that, or root"


@pytest.fixture
def cockpit(make_cockpit: MakeCockpit) -> Cockpit:
    cockpit = make_cockpit(DEFAULT_CONFIG)
    cockpit.start_all()
    return cockpit


def gidctl(cockpit: Cockpit, *words: str, domain: str = "open") -> tuple[int, str]:
    done = cockpit.run(domain, [GIDCTL, *words], "gidctl")
    return done.wait(), done.stderr


def set_seal(connection: Connection, on: bool) -> Answer:
    return connection.result(connection.request(SEAL, int(on), 0, 0))


@contextmanager
def sealed(cockpit: Cockpit, domain: str = "open") -> Iterator[None]:
    """By the command; and unsealed afterwards."""
    assert gidctl(cockpit, "seal", domain=domain) == (0, "")
    try:
        yield
    finally:
        assert gidctl(cockpit, "unseal", domain=domain) == (0, "")


def hearing(cockpit: Cockpit) -> Connection:
    """Of a program that is told whether the domain is sealed."""
    return Connection(cockpit.socket("open"), takes=TAKES_SEALED)


def refused(answer: Answer, domain: str = "open") -> bool:
    error, value, words = answer
    found = SEALED_SINCE.fullmatch(words)
    return (error, value) == (number("ESHUTDOWN"), 0) and found is not None and found[1] == domain


# --- what is new ------------------------------------------------------------------------------


def ask_for_all(client: Connection, slab: int, number_: int) -> dict[str, Answer]:
    """What came of each request for something new; numbers from `number_` on are free."""
    fd = memfd(8192)
    exported = client.export(Export(slot_count=1, slot_size=4096, generations=4096), fd)
    os.close(fd)
    imported = client.import_(gid(1, slab))
    imported.close()
    is_there = imported.type == IMPORTED
    return {
        "a slab": exported,
        "a grant": client.grant(slab, 2),
        "an import": (0, 0, "") if is_there else client.result(imported),
        "a stream": client.publish(f"new/{number_}"),
        "a subscription": client.subscribe(number_, "movie", flags=WAIT),
        "one of another domain": client.subscribe(number_ + 1, "film", "cluster", flags=WAIT),
    }


def test_each_new_thing_is_refused(cockpit: Cockpit) -> None:
    """And each of them works before it, and again after the unseal."""
    with cockpit.connect("open") as owner:
        slab = owner.export_new()
        for number_ in (1, 11):
            for what, answer in ask_for_all(owner, slab, number_).items():
                assert answer[0] == 0, (what, answer)
            with sealed(cockpit):
                for what, answer in ask_for_all(owner, slab, number_ + 2).items():
                    assert refused(answer), (what, answer)
                assert refused(owner.result(owner.request(ALLOC, 4096, 0, 0, b"")))


def test_what_is_given_back_is_taken(cockpit: Cockpit) -> None:
    with cockpit.connect("open") as owner, cockpit.connect("open") as reader:
        slab = owner.export_new()
        owner.grant(slab, 2)
        reader.import_(gid(1, slab)).close()
        error, stream, _ = owner.publish("movie")
        assert error == 0
        subscribe_live(owner, reader, "movie")
        with sealed(cockpit):
            assert owner.grant(slab, 2, allow=False)[0] == 0
            assert owner.unpublish(stream)[0] == 0
            assert owner.unexport(slab)[0] == 0
            ended(reader, 1, 0)


@pytest.mark.parametrize(("owner", "reader"), PLACES)
def test_what_was_asked_before_is_not_granted_after(
    cockpit: Cockpit, owner: str, reader: str
) -> None:
    """The producer's answer comes when the reader's domain is sealed."""
    with cockpit.connect(owner) as producer, cockpit.connect(reader) as consumer:
        assert producer.publish("movie")[0] == 0
        assert consumer.subscribe(1, "movie", owner) == (0, 1, "")
        asked = producer.event(SUBSCRIBER)
        asked.close()
        with sealed(cockpit, reader):
            producer.accept(asked.values[0])
            ended(consumer, 1, number("ESHUTDOWN"))
            ended(producer, asked.values[0], number("ESHUTDOWN"))


def test_a_live_one_that_it_does_not_know_ends(cockpit: Cockpit) -> None:
    """As a producer tells a gidd that is new of it; none is new while it is sealed."""
    with cockpit.connect("open") as producer:
        error, stream, _ = producer.publish("movie")
        assert error == 0
        with sealed(cockpit):
            fds = [memfd(PAGE_SIZE), memfd(RING_SIZE)]
            producer.send_raw(pack(SUBSCRIBER, 7, 1, stream, 1, LIVE, 0, 0, 0), fds)
            ended(producer, 7, number("ESHUTDOWN"))
            for fd in fds:
                os.close(fd)


def test_frames_flow_on(cockpit: Cockpit) -> None:
    """Between programs of libgid, of sealed domains. A producer that dies is not replaced."""
    producer = produce(cockpit, "movie")
    consumer = consume(cockpit, "movie", reconnect=True)
    consumer.wait_frames(100)
    with sealed(cockpit, "cluster"), sealed(cockpit):
        consumer.wait_frames(500)
        producer.program.kill()
        consumer.wait_state(WAITING)
        frames = consumer.last["frames"]
        again = cockpit.run("open", [PEER, "produce", "movie"], "producer")
        assert again.wait() != 0 and "sealed" in again.stderr
        time.sleep(2)  # in which the consumer asks again
        assert consumer.last["frames"] == frames
    produce(cockpit, "movie")
    consumer.wait_frames(100)


# --- links --------------------------------------------------------------------------------------


def link(cockpit: Cockpit, domain: str) -> dict:
    (only,) = cockpit.status(domain)["links"]
    return only


@pytest.mark.parametrize("domain", ["open", "cluster"])
def test_a_link_that_is_lost_stays_down(cockpit: Cockpit, domain: str) -> None:
    """Whichever of the two listens for the other. Both are up again after the unseal."""
    other = "cluster" if domain == "open" else "open"
    with sealed(cockpit, domain):
        cockpit.kill(other)
        cockpit.start(other)
        wait_for(lambda: link(cockpit, domain)["state"] != "up", "the link to be lost")
        time.sleep(1)  # in which the other one tries five times
        lost = link(cockpit, domain)
        assert lost["state"] != "up" and SEALED_SINCE.fullmatch(lost["why"]), lost
    cockpit.wait_links()


def test_a_link_that_was_connected_before_does_not_come_up(make_cockpit: MakeCockpit) -> None:
    """The seal comes while one gidd waits for the greeting of the other."""
    cockpit = make_cockpit(DEFAULT_CONFIG)
    cockpit.start("open")
    other = Connection(cockpit.runtime / "open/link/cluster.sock", hello=False)
    wait_for(lambda: link(cockpit, "open")["state"] == "greeting", "the link to be connected")
    with sealed(cockpit):
        other.send_raw(pack(HELLO, VERSION, 2, b"gidd", serial=0))
        with pytest.raises(Closed):
            other.receive()
        lost = link(cockpit, "open")
        assert lost["state"] != "up" and SEALED_SINCE.fullmatch(lost["why"]), lost
    other.close()


# --- who may ------------------------------------------------------------------------------------


def stranger(make_cockpit: MakeCockpit, config: str) -> Cockpit:
    """One whose gidd takes us for another user's programs."""
    cockpit = make_cockpit(config)
    preload, other = Preload(OTHER_USER), cockpit.folder / "other"
    settings = preload.env | {"OTHER_USER": str(other)}
    cockpit.start("open", ["env", *(f"{name}={value}" for name, value in settings.items())])
    preload.check("gidd")
    other.touch()
    return cockpit


ALONE = "[domain open]\nnumber=1\nlocal=*\n"


def test_a_stranger_neither_seals_nor_unseals(make_cockpit: MakeCockpit) -> None:
    cockpit = stranger(make_cockpit, ALONE + "seal=2\n")
    with hearing(cockpit) as client:
        assert client.event(SEALED).values == (0, 0, 0)
        assert set_seal(client, True) == (number("EPERM"), 0, STRANGER)
        assert client.publish("movie")[0] == 0
        assert client.event(SEALED).values[0] == 1
        assert set_seal(client, False) == (number("EPERM"), 0, STRANGER)
        assert refused(client.publish("film"))
        assert refused(client.result(client.request(STATUS)))
        status, words = gidctl(cockpit, "unseal")
        assert status == 1 and SEALED_SINCE.search(words), words
        assert refused(greet(cockpit))
        assert refused(client.publish("film"))
    cockpit.kill("open")  # it would not tell us how it is


def test_who_comes_anew_is_told_why(make_cockpit: MakeCockpit) -> None:
    """Each of them, and none takes anything of gidd: it is as large as before."""
    cockpit = stranger(make_cockpit, ALONE + "seal=1\n")
    cockpit.wait_log("open", "sealed: nothing new is granted by the configuration (seal=)")
    gidd = cockpit.gidds["open"]
    fds = gidd.open_fds()
    for _ in range(200):
        assert refused(greet(cockpit))
    wait_for(lambda: gidd.open_fds() <= fds, "its descriptors to be closed")
    cockpit.kill("open")  # it would not tell us how it is


def greet(cockpit: Cockpit) -> Answer:
    """What gidd answers to who comes anew."""
    connection = Connection(cockpit.socket("open"), hello=False)
    with suppress(Closed):  # it does not wait for a greeting
        connection.send_raw(pack(HELLO, VERSION, 0, b"test", serial=1))
    answer = connection.receive()
    connection.close()
    assert answer.type == RESULT
    error, value, words = answer.values
    return error, value, text(words)


def test_all_are_told(cockpit: Cockpit) -> None:
    """Who takes it, at each change and when it comes; nobody else gets what it does not know."""
    with hearing(cockpit) as client, cockpit.connect("open") as old:
        assert client.event(SEALED).values == (0, 0, 0)
        begin = int(time.time())
        for _ in range(3):
            with sealed(cockpit):
                on, reserved, since = client.event(SEALED).values
                assert (on, reserved) == (1, 0) and begin <= since <= time.time()
                assert cockpit.status("open")["sealed_since"] == since
                with hearing(cockpit) as late:
                    assert late.event(SEALED).values == (1, 0, since)
            assert client.event(SEALED).values == (0, 0, 0)
            assert cockpit.status("open")["sealed_since"] == 0
        assert old.status()["domain"] == "open" and old.events == []


def test_by_the_configuration(make_cockpit: MakeCockpit) -> None:
    cockpit = make_cockpit(ALONE + "seal=1\n")
    cockpit.start("open")
    with cockpit.connect("open") as client:
        assert client.publish("movie")[0] == 0
        cockpit.wait_log("open", "sealed: nothing new is granted by the configuration (seal=)")
        assert refused(client.publish("film"))
    assert gidctl(cockpit, "unseal") == (0, "")


# --- what else would be new ---------------------------------------------------------------------


def test_its_configuration_stays(cockpit: Cockpit) -> None:
    """No reading again, no revocation, which takes other memory: unseal first."""
    with sealed(cockpit):
        cockpit.gidds["open"].signal(signal.SIGHUP)
        cockpit.wait_log("open", "the configuration stays as it was")
        told = cockpit.status("open")["configuration"]
        assert told["readings"] == 1 and SEALED_SINCE.search(told["refused"])
        status, words = gidctl(cockpit, "revoke", "open", "movie")
        assert status == 1 and SEALED_SINCE.search(words), words
    cockpit.gidds["open"].signal(signal.SIGHUP)
    cockpit.wait_log("open", "configuration read again")


def test_what_others_ask_costs_nothing(make_cockpit: MakeCockpit, tmp_path: Path) -> None:
    """Thousands of requests, of clients that read the answers or not: gidd allocates nothing, and
    who does not read loses its connection.
    """
    cockpit = make_cockpit(DEFAULT_CONFIG)
    counted = CountedCalls(tmp_path)
    cockpit.start("open", counted.under)
    table = counted.of(cockpit.gidds["open"])
    with cockpit.connect("open") as polite, cockpit.connect("open") as deaf:
        assert polite.publish("movie")[0] == 0
        assert gidctl(cockpit, "seal") == (0, "")
        wait_for(lambda: len(cockpit.status("open")["clients"]) == 3, "gidctl to be gone")
        before = table.calls()
        for i in range(1000):
            assert refused(polite.publish(f"film/{i}"))
            assert refused(polite.subscribe(1, "movie"))
        deaf.socket.settimeout(30)
        with pytest.raises((BrokenPipeError, ConnectionResetError, Closed)):
            while True:
                deaf.send_raw(pack(PUBLISH, b"film", serial=1))
        made = by_object(table.calls() - before, "free", "unmap")
        assert made == {}, made
        assert refused(polite.publish("film"))
    assert gidctl(cockpit, "unseal") == (0, "")


def test_nothing_is_sealed_twice(cockpit: Cockpit) -> None:
    assert [gidctl(cockpit, word) for word in ("unseal", "seal", "seal")] == [(0, "")] * 3
    since = cockpit.status("open")["sealed_since"]
    time.sleep(1.1)
    assert gidctl(cockpit, "seal") == (0, "")
    assert cockpit.status("open")["sealed_since"] == since
    assert [gidctl(cockpit, "unseal") for _ in range(2)] == [(0, "")] * 2
