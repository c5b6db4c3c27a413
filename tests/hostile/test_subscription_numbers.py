# SPDX-License-Identifier: MIT
"""The numbers of a subscription: its credit, its flags, and what it is called by whom."""

import errno

import pytest
from lib.cockpit import Cockpit
from lib.gidwire import (
    LOWER_SIDE,
    SUBSCRIBED,
    SUBSCRIBER,
    WAIT,
    Closed,
)
from lib.outcome import expect_violation, untouched
from lib.program import wait_for
from subscribing import ended, subscribe_live

EPIPE = -errno.EPIPE


# --- numbers ---


@pytest.mark.parametrize("credit", [0, 64, 2**32 - 1])
def test_credit_has_limits(cockpit: Cockpit, credit: int) -> None:
    with untouched(cockpit), cockpit.connect("open") as consumer:
        with pytest.raises(Closed):
            consumer.subscribe(1, "movie", credit=credit, flags=WAIT)
        expect_violation(cockpit, consumer, "the domain or the credit is out of range")


@pytest.mark.parametrize("flags", [4, 16, 1 << 31])
def test_unknown_flags(cockpit: Cockpit, flags: int) -> None:
    with untouched(cockpit), cockpit.connect("open") as consumer:
        with pytest.raises(Closed):
            consumer.subscribe(1, "movie", flags=flags)
        expect_violation(cockpit, consumer, "a flag is unknown")


def test_a_number_names_one_subscription(cockpit: Cockpit) -> None:
    why = "a subscription's number is in use, or this side may not choose it"
    with untouched(cockpit):
        with cockpit.connect("open") as consumer:
            assert consumer.subscribe(1, "movie", flags=WAIT)[0] == 0
            with pytest.raises(Closed):
                consumer.subscribe(1, "other", flags=WAIT)
            expect_violation(cockpit, consumer, why)


def test_a_client_does_not_give_gidds_numbers(cockpit: Cockpit) -> None:
    why = "a subscription's number is in use, or this side may not choose it"
    with cockpit.connect("open") as consumer:
        with pytest.raises(Closed):
            consumer.subscribe(LOWER_SIDE | 1, "movie", flags=WAIT)
        expect_violation(cockpit, consumer, why)


def test_nobody_accepts_what_others_were_asked_for(cockpit: Cockpit) -> None:
    with untouched(cockpit), cockpit.connect("open") as consumer:
        with cockpit.connect("open") as producer, cockpit.connect("open") as thief:
            producer.publish("movie")
            assert consumer.subscribe(1, "movie") == (0, 1, "")
            asked = producer.event(SUBSCRIBER)
            asked.close()
            thief.accept(asked.values[0])
            thief.end(asked.values[0])
            thief.end(1)
            assert thief.status()["domain"] == "open"  # still there, and all it said was handled
            producer.accept(asked.values[0])
            assert consumer.event(SUBSCRIBED).values == (1, 1, 0)


def test_a_consumer_accepts_nothing(cockpit: Cockpit) -> None:
    with untouched(cockpit), cockpit.connect("open") as consumer:
        consumer.accept(1)
        expect_violation(cockpit, consumer, "it accepts a subscription that nobody asked it for")


def test_a_subscription_is_accepted_once(cockpit: Cockpit) -> None:
    with cockpit.connect("open") as producer, cockpit.connect("cluster") as consumer:
        producer.publish("movie")
        subscription = subscribe_live(producer, consumer, "movie")
        producer.accept(subscription)
        expect_violation(cockpit, producer, "the subscription is live already")
        ended(consumer, 1, EPIPE)


def test_many_cycles_leave_nothing(cockpit: Cockpit) -> None:
    """The fixture then compares descriptors and everything that gidd still holds."""
    with cockpit.connect("open") as producer, cockpit.connect("cluster") as consumer:
        producer.publish("movie")
        subscription = subscribe_live(producer, consumer, "movie")
        consumer.end(1)
        ended(producer, subscription, 0)
        before = {name: gidd.open_fds() for name, gidd in cockpit.gidds.items()}
        maps = {name: _maps(gidd.pid) for name, gidd in cockpit.gidds.items()}
        for _ in range(300):
            subscription = subscribe_live(producer, consumer, "movie")
            consumer.end(1)
            ended(producer, subscription, 0)
        for name, gidd in cockpit.gidds.items():
            wait_for(lambda g=gidd, n=name: g.open_fds() <= before[n], "descriptors to be closed")
            wait_for(lambda g=gidd, n=name: _maps(g.pid) <= maps[n], "rings to be unmapped")


def _maps(pid: int) -> int:
    """Mappings of rings and pages."""
    with open(f"/proc/{pid}/maps") as maps:
        return sum("memfd:" in line for line in maps)
