# SPDX-License-Identifier: MIT
"""What gidds tell each other of their streams: only what may be read, and nothing that piles up."""

import time
from collections.abc import Callable

import pytest
from gidds import FakeGidd, FakeListener, wait_state
from lib.cockpit import Cockpit
from lib.gidwire import (
    HELLO,
    NAME_TAKES_OFFERS,
    OFFERS,
    PEER,
    PONG,
    TAKES_OFFERS,
    VERSION,
    WELCOME,
    Connection,
    Message,
    offers,
    pack,
    text,
)
from lib.outcome import number, untouched
from lib.program import wait_for
from reloading import reload_well

MakeCockpit = Callable[..., Cockpit]
DOMAINS = "[domain open]\nnumber=1\nlocal=*\n[domain cluster]\nnumber=2\nlocal=*\n"
SHARE = "[share open cluster]\nstreams=movie camera/*\n"
CONFIG = DOMAINS + SHARE


def readable(cockpit: Cockpit, domain: str = "cluster") -> list[tuple[str, str]]:
    return [(one["domain"], one["name"]) for one in cockpit.status(domain)["readable"]]


def wait_readable(cockpit: Cockpit, *names: str) -> None:
    expected = [("open", name) for name in names]
    wait_for(
        lambda: sorted(readable(cockpit)) == sorted(expected),
        lambda: f"the streams {names}, not {readable(cockpit)}",
    )


@pytest.fixture
def cockpit(make_cockpit: MakeCockpit) -> Cockpit:
    cockpit = make_cockpit(CONFIG)
    cockpit.start_all()
    return cockpit


# --- honest gidds ---


def test_what_may_be_read_and_nothing_else(cockpit: Cockpit) -> None:
    with cockpit.connect("open") as producer:
        streams = [producer.publish(name)[1] for name in ("movie", "secret", "camera/rear")]
        wait_readable(cockpit, "movie", "camera/rear")
        assert readable(cockpit, "open") == []  # nothing is shared that way
        producer.unpublish(streams[0])
        wait_readable(cockpit, "camera/rear")
        producer.unpublish(streams[1])
        producer.publish("movie")
        wait_readable(cockpit, "movie", "camera/rear")
    wait_readable(cockpit)  # it hung up


def test_more_than_a_message_has_room_for(cockpit: Cockpit) -> None:
    """As many as the domain may have: half of them each program."""
    names = [f"camera/{i}" for i in range(64)]
    with cockpit.connect("open") as one, cockpit.connect("open") as other:
        for producer, some in ((one, names[:32]), (other, names[32:])):
            assert {producer.publish(name)[0] for name in some} == {0}
        wait_readable(cockpit, *names)
    wait_readable(cockpit)


def test_gidds_are_restarted(cockpit: Cockpit) -> None:
    with cockpit.connect("open") as producer:
        producer.publish("movie")
        wait_readable(cockpit, "movie")
        cockpit.restart("cluster")
        wait_readable(cockpit, "movie")
        cockpit.kill("open")
        wait_readable(cockpit)  # nobody knows
    cockpit.start("open")


def test_the_configuration_changes(cockpit: Cockpit) -> None:
    with cockpit.connect("open") as producer:
        for name in ("movie", "secret"):
            producer.publish(name)
        wait_readable(cockpit, "movie")
        reload_well(cockpit, DOMAINS + SHARE.replace("movie", "secret"))
        wait_readable(cockpit, "secret")
        reload_well(cockpit, DOMAINS + SHARE.replace("movie ", ""))
        wait_readable(cockpit)


# --- others ---


def greet(gidd: FakeGidd, name: bytes) -> int:
    """Returns what the other one takes."""
    answer = gidd.request(HELLO, VERSION, 2, name)
    assert answer.type == WELCOME
    return answer.values[3]


def names_of(message: Message) -> list[str]:
    return [text(name) for name in message.values[2 : 2 + message.values[0]]]


def test_who_does_not_know_of_them_hears_nothing(make_cockpit: MakeCockpit) -> None:
    cockpit = make_cockpit(CONFIG)
    cockpit.start("open")
    with FakeGidd(cockpit, greet=False) as gidd, cockpit.connect("open") as producer:
        assert greet(gidd, b"gidd") == TAKES_OFFERS
        producer.publish("movie")
        with pytest.raises(TimeoutError):
            gidd.receive(timeout=0.5)


def test_names_of_others_are_not_told(make_cockpit: MakeCockpit) -> None:
    cockpit = make_cockpit(CONFIG)
    cockpit.start("open")
    with FakeGidd(cockpit, greet=False) as gidd, cockpit.connect("open") as producer:
        greet(gidd, NAME_TAKES_OFFERS)
        assert names_of(gidd.event(OFFERS)) == []
        for name in ("secret", "movie"):
            producer.publish(name)
        assert names_of(gidd.event(OFFERS)) == ["movie"]


def test_a_program_that_comes_and_goes_fast(make_cockpit: MakeCockpit) -> None:
    """The link's other end hears of it now and then: it must not drown in it. It says that it is
    there, and reads nothing meanwhile.
    """
    cockpit = make_cockpit(CONFIG)
    cockpit.start("open")
    with FakeGidd(cockpit, greet=False) as gidd, cockpit.connect("open") as producer:
        greet(gidd, NAME_TAKES_OFFERS)
        for count in range(2000):  # more messages than a link's end may leave unread
            producer.unpublish(producer.publish("movie")[1])
            if count % 50 == 0:
                gidd.send_raw(pack(PONG, 0, time.monotonic_ns()))
        producer.publish("camera/rear")
        heard = 0
        while names_of(gidd.event(OFFERS)) != ["camera/rear"]:
            heard += 1
        assert heard < 1000
        assert Connection.result(gidd.import_(0))[0] == number("ENOENT")


@pytest.fixture
def liar(make_cockpit: MakeCockpit) -> tuple[Cockpit, Connection]:
    """The gidd of `open`, played by the test."""
    cockpit = make_cockpit(CONFIG)
    listener = FakeListener(cockpit)
    cockpit.start("cluster")
    gidd = listener.accept(greet=False)
    gidd.send_raw(pack(WELCOME, VERSION, 1, b"open", TAKES_OFFERS))
    wait_state(cockpit, "cluster", "up")
    return cockpit, gidd


def test_offers_of_what_may_not_be_read(liar: tuple[Cockpit, Connection]) -> None:
    cockpit, gidd = liar
    with untouched(cockpit, "cluster"):
        gidd.send_raw(offers(b"secret", b"movie", b"safety/x"))
        wait_readable(cockpit, "movie")
        gidd.close()
        wait_readable(cockpit)


def test_endless_offers(liar: tuple[Cockpit, Connection]) -> None:
    """No more are taken than the domain may have; the list is of no use before its end."""
    cockpit, gidd = liar
    with untouched(cockpit, "cluster"):
        names = [b"camera/%d" % i for i in range(63)]
        for _ in range(500):
            gidd.send_raw(offers(*names, more=1))
        assert readable(cockpit) == []
        gidd.send_raw(offers())
        wait_for(lambda: len(readable(cockpit)) == 64, "as many as it may have")
        gidd.send_raw(offers(b"movie"))
        wait_readable(cockpit, "movie")
        gidd.close()


@pytest.mark.parametrize(
    "message",
    [
        offers(b"a//b"),
        offers(b""),
        offers(b"movie", more=2),
        pack(OFFERS, 64, 0, *[b"movie"] * 63),
        pack(OFFERS, 1, 0, *[b"movie"] * 63),
        pack(PEER, 1, 1, 1, 0, b""),
    ],
)
def test_offers_that_are_none(liar: tuple[Cockpit, Connection], message: bytes) -> None:
    cockpit, gidd = liar
    with untouched(cockpit, "cluster"):
        gidd.send_raw(message)
        gidd.wait_closed()
        cockpit.wait_log("cluster", "protocol violation")
        gidd.close()
