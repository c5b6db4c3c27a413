# SPDX-License-Identifier: MIT
"""SIGHUP: what the new configuration does not allow any more ends; a bad one changes nothing."""

import os
from collections.abc import Callable

import pytest
from lib.cockpit import Cockpit
from lib.gidwire import (
    GRANT,
    REVOKED,
    SUBSCRIBER,
    SUBSCRIPTION_END,
    WAIT,
    WITHDRAW,
    Connection,
    Export,
    gid,
    memfd,
)
from lib.outcome import NO_STREAM, UNREADABLE, number, untouched
from reloading import reload, reload_well
from subscribing import ended, subscribe_live

from lab.domains.configuration import configuration

DOMAINS = configuration({"open": "local=*", "cluster": "local=*"})
SHARE = "[share open cluster]\nstreams=movie camera/*\n"
CONFIG = DOMAINS + SHARE
KEPT = "the configuration stays as it was"


@pytest.fixture
def cockpit(make_cockpit: Callable[..., Cockpit]) -> Cockpit:
    cockpit = make_cockpit(CONFIG)
    cockpit.start_all()
    return cockpit


# --- what is no longer allowed ---


def test_readers_hear_that_they_may_read_no_more(cockpit: Cockpit) -> None:
    with cockpit.connect("open") as owner, cockpit.connect("cluster") as reader:
        slab, own = owner.export_new(), owner.export_new()
        owner.grant(slab, 2)
        reader.import_(gid(1, slab)).close()
        with cockpit.connect("open") as friend:
            friend.import_(gid(1, own)).close()
            reload_well(cockpit, DOMAINS, "open")
            assert reader.event(REVOKED).values == (gid(1, slab),)
            newer = "the file is newer than what gidd read: gid-cockpit reload. By that: "
            assert reader.result(reader.import_(gid(1, slab)))[::2] == (
                number("ENOENT"),
                f"{newer}{UNREADABLE}",  # its own gidd has not read it
            )
            unsealed = os.memfd_create("unsealed", os.MFD_CLOEXEC)
            os.truncate(unsealed, 8192)
            why = reader.export(Export(), unsealed)[2]
            assert why.startswith("the memfd is not sealed")  # whatever the configuration says
            os.close(unsealed)
            assert friend.events == []  # the domain's own have what they had
            friend.import_(gid(1, own)).close()
        words = "the cockpit's configuration has no [share open cluster]"
        assert owner.grant(slab, 2) == (number("EPERM"), 0, words)


def test_loans_are_revoked_with_the_share(cockpit: Cockpit) -> None:
    with cockpit.connect("open") as owner, cockpit.connect("open") as lender:
        slab = owner.export_new()
        lender.import_(gid(1, slab)).close()
        assert lender.grant(slab, 2)[0] == 0
        with cockpit.connect("cluster") as reader:
            reader.import_(gid(1, slab)).close()
            reload_well(cockpit, DOMAINS, "open")
            assert reader.event(REVOKED).values == (gid(1, slab),)
            assert lender.event(GRANT).values == (slab, 2, 0, 0)  # it would go on sending frames
            assert owner.event(REVOKED).values == (gid(1, slab),)  # to leave the memory


# --- memory that a reader keeps, whatever it is told ---

WITHOUT_MOVIE = CONFIG.replace("movie ", "")
NEXT = [WITHOUT_MOVIE, DOMAINS]


def is_left(owner: Connection, slab: int) -> bool:
    """Whether it was asked to leave that slab's memory."""
    owner.status()
    told = [event.values for event in owner.events if event.type == REVOKED]
    return (gid(1, slab),) in told


@pytest.mark.parametrize("next_", NEXT, ids=["the stream", "the share"])
def test_owners_leave_memory_that_was_read(cockpit: Cockpit, next_: str) -> None:
    """Another domain of the same kernel keeps its mapping: it would see all that comes there."""
    with cockpit.connect("open") as owner, cockpit.connect("open") as other:
        assert owner.publish("movie")[0] == other.publish("camera/rear")[0] == 0
        slab, kept = owner.export_new(), other.export_new()
        assert owner.grant(slab, 2)[0] == other.grant(kept, 2)[0] == 0
        with cockpit.connect("cluster") as reader:
            reader.import_(gid(1, slab)).close()
        reload_well(cockpit, CONFIG.replace("camera", "map camera"), "open")
        assert not is_left(owner, slab) and not is_left(other, kept)
        reload_well(cockpit, next_, "open")
        assert is_left(owner, slab)
        assert is_left(other, kept) == (next_ == DOMAINS)


def withdraw(cockpit: Cockpit) -> None:
    with cockpit.connect("open") as client:
        answer = client.request(WITHDRAW, 0, b"open", b"cluster", b"movie")
        assert Connection.result(answer)[0] == 0


@pytest.mark.parametrize("asked", ["reload", "revoke"])
def test_owners_leave_memory_that_others_sent(cockpit: Cockpit, asked: str) -> None:
    """A compositor sends what its clients draw. Who draws for nobody else stays where it is."""
    with cockpit.connect("open") as owner, cockpit.connect("open") as compositor:
        drawn, kept = owner.export_new(), owner.export_new()
        assert compositor.publish("movie")[0] == 0
        for slab in (drawn, kept):
            compositor.import_(gid(1, slab)).close()
        assert compositor.grant(drawn, 2)[0] == 0
        with cockpit.connect("cluster") as reader:
            reader.import_(gid(1, drawn)).close()
        if asked == "reload":
            reload_well(cockpit, WITHOUT_MOVIE, "open")
        else:
            withdraw(cockpit)
        assert is_left(owner, drawn) and not is_left(owner, kept)


@pytest.mark.parametrize("who", ["open", "cluster"])
def test_streams_that_are_shared_no_more_end(cockpit: Cockpit, who: str) -> None:
    """Whichever gidd reads it first. The others flow on."""
    with cockpit.connect("open") as producer, cockpit.connect("cluster") as consumer:
        for name in ("movie", "camera/rear", "camera/front"):
            assert producer.publish(name)[0] == 0
        movie = subscribe_live(producer, consumer, "movie", 1)
        subscribe_live(producer, consumer, "camera/rear", 2)
        assert consumer.subscribe(3, "camera/front", "open") == (0, 1, "")
        asked = producer.event(SUBSCRIBER)
        asked.close()
        reload_well(cockpit, WITHOUT_MOVIE.replace("*", "rear"), who)
        gone = number("ENOENT")
        ends = {producer.event(SUBSCRIPTION_END).values for _ in range(2)}
        assert ends == {(movie, gone), (asked.values[0], gone)}
        ended(consumer, 1, gone)
        ended(consumer, 3, gone)
        assert [s["stream"] for s in cockpit.status("open")["subscriptions"]] == ["camera/rear"]
        reload_well(cockpit, cockpit.config_path.read_text())
        refused = (gone, 0, NO_STREAM)
        assert consumer.subscribe(4, "movie", "open", flags=WAIT) == refused


def test_who_waits_for_a_stream_hears_of_it_too(cockpit: Cockpit) -> None:
    with cockpit.connect("cluster") as consumer:
        assert consumer.subscribe(1, "movie", "open", flags=WAIT) == (0, 0, "")
        reload_well(cockpit, DOMAINS, "open")
        ended(consumer, 1, number("ENOENT"))


def test_a_domain_reads_its_own_whatever_is_shared(cockpit: Cockpit) -> None:
    with cockpit.connect("open") as producer, cockpit.connect("open") as consumer:
        producer.publish("movie")
        subscribe_live(producer, consumer, "movie")
        reload_well(cockpit, DOMAINS)
        assert [s["state"] for s in cockpit.status("open")["subscriptions"]] == ["live"]
        assert consumer.events == [] and producer.events == []


# --- what is allowed now ---


def test_shares_may_come_and_go_and_come_back(cockpit: Cockpit) -> None:
    back = DOMAINS + SHARE + "[share cluster open]\nstreams=meter\n"
    with cockpit.connect("open") as one, cockpit.connect("cluster") as other:
        slab = other.export_new()
        assert other.grant(slab, 1)[0] == number("EPERM")
        for config in (back, DOMAINS, back):
            reload_well(cockpit, config)
        assert other.grant(slab, 1) == (0, 0, "")
        one.import_(gid(2, slab)).close()
        other.publish("meter")
        subscribe_live(other, one, "meter")


def test_domains_that_shared_nothing_are_linked(make_cockpit: Callable[..., Cockpit]) -> None:
    """And so is one that was not there at all."""
    cockpit = make_cockpit(configuration({"open": "local=*"}))
    cockpit.start("open")
    reload_well(cockpit, DOMAINS)
    cockpit.start("cluster")
    assert cockpit.status("open")["links"] == []
    cockpit.links = {"open": {"cluster"}, "cluster": {"open"}}
    reload_well(cockpit, CONFIG)
    cockpit.wait_links()
    with cockpit.connect("open") as producer, cockpit.connect("cluster") as consumer:
        producer.publish("movie")
        subscribe_live(producer, consumer, "movie")


def test_a_link_that_cannot_be_opened_keeps_out_no_other(
    make_cockpit: Callable[..., Cockpit],
) -> None:
    """One of two new domains is to be of a user whom nobody knows."""
    cockpit = make_cockpit(CONFIG)
    cockpit.start("open")
    domains = {name: "local=*" for name in ("open", "cluster", "wrong", "right")}
    domains["wrong"] += " user=nobody-has-this-name"
    config = configuration(domains, {"open wrong": "movie", "open right": "movie"}) + SHARE
    reload_well(cockpit, config, "open")
    cockpit.wait_log("open", "there is no such user")
    links = {link["domain"] for link in cockpit.status("open")["links"]}
    assert links == {"cluster", "right"}


def test_limits_hold_for_what_comes_next(cockpit: Cockpit) -> None:
    with cockpit.connect("open") as client:
        kept = [client.export_new() for _ in range(3)]
        less = CONFIG.replace("number=1\n", "number=1\nslabs=2\nclient-slabs=2\n")
        reload_well(cockpit, less, "open")
        assert client.events == []
        fd = memfd(4096)
        error, _, words = client.export(Export(generations=0), fd)
        os.close(fd)
        assert error == number("EDQUOT")
        assert words == "over the limit client-slabs=2 of domain open (this client has 3)"
        for slab in kept[:2]:
            client.unexport(slab)
        client.export_new()
        reload_well(cockpit, CONFIG, "open")
        client.export_new()
        client.export_new()


# --- what cannot be ---

RESTART = "; gidd must be restarted for that"

REFUSED: dict[str, tuple[str, list[str]]] = {
    "nonsense": (CONFIG + "nonsense\n", ["9: neither [section] nor key=value"]),
    "a number": (
        CONFIG.replace("number=2", "number=7"),
        [f"4: number= of domain cluster has changed{RESTART}"],
    ),
    "a window, a user and a group": (
        CONFIG.replace("number=1", "number=1\nwindow=4M\ndoorbell=off\nuser=nobody\ngroup=nogroup"),
        [
            f"1: {key}= of domain open has changed{RESTART}"
            for key in ("window", "doorbell", "user", "group")
        ],
    ),
    "a kind": (
        DOMAINS.replace("number=1", "number=1\nkind=host"),
        [f"1: kind= of domain open has changed{RESTART}"],
    ),
    "the places of a guest": (
        CONFIG.replace("number=2", "number=2\nwindow-device=/dev/w\ncontrol=/dev/c"),
        [
            f"4: {key}= of domain cluster has changed{RESTART}"
            for key in ("window-device", "control")
        ],
    ),
    "the runtime": (
        "[cockpit]\nruntime=/run/other\n" + CONFIG,
        [f"2: runtime= has changed{RESTART}"],
    ),
    "a domain less": (
        "[domain open]\nnumber=1\n",
        [f"0: [domain cluster] is gone{RESTART}"],
    ),
    "a guest more": (
        CONFIG.replace("number=1", "number=1\nkind=host")
        + "[domain vm]\nnumber=3\nkind=guest\n[share open vm]\n",
        [
            f"1: kind= of domain open has changed{RESTART}",
            f"10: domain vm is new, and the host or a guest{RESTART}",
            "13: domains open and vm, one of them a guest, share something for the first time"
            + RESTART,
        ],
    ),
    "a link": (
        CONFIG + "[link open cluster]\nkind=local\n",
        [f"9: [link open cluster] is new{RESTART}"],
    ),
    "a link of no kind": (
        CONFIG + "[link open cluster]\nkind=none\n",
        ['9: this gidd knows no link of kind "none"'],
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_change_is_refused_as_a_whole(cockpit: Cockpit, name: str) -> None:
    config, errors = REFUSED[name]
    with untouched(cockpit) as producer, cockpit.connect("cluster") as consumer:
        stream = producer.publish("movie")[1]
        slab = producer.export_new()
        reload(cockpit, config.replace("movie ", ""), KEPT)
        for gidd in cockpit.gidds.values():
            said = [line for line in gidd.stderr.splitlines() if str(cockpit.config_path) in line]
            assert [line.split(f"{cockpit.config_path}:")[1] for line in said] == errors
        # As it was, and not only in part.
        subscription = subscribe_live(producer, consumer, "movie")
        assert producer.grant(slab, 2) == (0, 0, "")
        consumer.import_(gid(1, slab)).close()
        consumer.end(1)
        ended(producer, subscription, 0)
        producer.unexport(slab)
        producer.unpublish(stream)
        consumer.events.clear()
