# SPDX-License-Identifier: MIT
"""A gidd is killed and comes back: the reader's, the owner's, the host's, and what is left of it.

Between machines a stream ends with a gidd on its way, for its doorbell went through that, and
begins anew by itself. Within one kernel it flows on, in windows too. Nothing may pile up.
"""

import mmap
import os
import signal
from collections.abc import Callable

import pytest
from lib.cockpit import Cockpit
from lib.machines import CONFIG, start
from lib.peer import LIVE, WAITING, Peer, consume, produce
from lib.program import wait_for

ROUNDS = 3
READERS = ["host", "cluster", "hud"]


@pytest.fixture
def machines(make_cockpit: Callable[..., Cockpit]) -> Cockpit:
    cockpit = make_cockpit(CONFIG)
    start(cockpit)
    return cockpit


def live(machines: Cockpit, domain: str) -> list[tuple[str, str, str]]:
    """Stream, owner and reader of what the domain's gidd knows; nothing unless all are live."""
    found = machines.status(domain)["subscriptions"]
    if any(one["state"] != "live" for one in found):
        return []
    return sorted((one["stream"], one["domain"], one["reader"]) for one in found)


def used(machines: Cockpit, domain: str) -> dict[str, int]:
    found = {quota["name"]: quota["used"] for quota in machines.status(domain)["quotas"]}
    del found["clients"]  # who asks is one
    return found


def mapped(peer: Peer) -> int:
    """Windows that the program has mapped, ranges of one counted each."""
    with open(f"/proc/{peer.pid}/maps") as maps:
        return sum("/window/" in line for line in maps)


@pytest.mark.parametrize("killed", ["cluster", "open", "host"])
def test_streams_between_machines_come_back(machines: Cockpit, killed: str) -> None:
    """Each that went by the killed one, again and again, and nothing is left of the last."""
    produce(machines, "movie", "open", fps=100, slots=16)
    produce(machines, "film", "host", fps=100, slots=16)
    readers = [consume(machines, "movie", name, "open", reconnect=True) for name in READERS]
    readers.append(consume(machines, "film", "open", "host", reconnect=True))
    away = {"cluster": [1], "open": [0, 1, 2, 3], "host": [0, 1, 2, 3]}[killed]
    expected = {
        "open": [("film", "host", "open"), *(("movie", "open", name) for name in sorted(READERS))],
        "cluster": [("movie", "open", "cluster")],
        "host": [("film", "host", "open"), ("movie", "open", "host")],
        "hud": [("movie", "open", "hud")],
    }

    def settled() -> bool:
        return all(live(machines, name) == sorted(expected[name]) for name in expected)

    def counts() -> list[int]:
        """All that may pile up."""
        found = [number for name in expected for number in used(machines, name).values()]
        found += [mapped(reader) for reader in readers]
        return found + [len(os.listdir(f"/proc/{reader.pid}/fd")) for reader in readers]

    wait_for(settled, "all to be live")
    first: list[int] = []
    for _ in range(ROUNDS):
        before = [reader.last["reconnects"] for reader in readers]
        machines.restart(killed)
        for at in away:
            readers[at].wait(
                lambda line, at=at, before=before: (
                    line["reconnects"] > before[at] and line["state"] == LIVE
                ),
                "the stream to come back",
            )
        for reader in readers:
            assert reader.wait_frames(20)["torn"] == 0
        wait_for(settled, "each to be there once, and no other")
        first = first or counts()
    # One more may be there for a moment; what is left behind each time is more than that.
    wait_for(
        lambda: all(now <= then + 1 for now, then in zip(counts(), first, strict=True)),
        f"no more of anything than {first}",
    )
    for at in set(range(4)) - set(away):
        assert readers[at].last["reconnects"] == 0


@pytest.mark.parametrize(
    ("owner", "reader", "killed"),
    [("open", "open", "open"), ("host", "hud", "host"), ("host", "hud", "hud")],
)
def test_streams_within_a_kernel_flow_on(
    machines: Cockpit, owner: str, reader: str, killed: str
) -> None:
    """In windows, of which the gidd that comes back is told by the producer: it knows of all that
    others have of its domain.
    """
    producer = produce(machines, "movie", owner, fps=100, slots=16)
    consumer = consume(machines, "movie", reader, owner, reconnect=True)
    consumer.wait_frames(20)
    one = [("movie", owner, reader)]
    before = used(machines, owner)["memory"]
    for _ in range(ROUNDS):
        machines.restart(killed)
        wait_for(lambda: live(machines, owner) == one, "the owner's gidd to know of it")
        assert consumer.wait_frames(20)["state"] == LIVE
        # The ring and the slab are the producer's still.
        wait_for(lambda: used(machines, owner)["memory"] >= before - mmap.PAGESIZE, "its memory")
    assert consumer.last["reconnects"] == 0 and consumer.last["torn"] == 0
    consumer.program.kill()
    producer.wait(lambda line: line["consumers"] == 0 and line["held"] == 0, "it to be missed")
    wait_for(lambda: live(machines, owner) == [], "its end")


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize(("owner", "reader"), [("open", "open"), ("host", "hud")])
def test_a_consumer_that_its_gidd_does_not_know_hears_of_the_end(
    machines: Cockpit, owner: str, reader: str, end: signal.Signals
) -> None:
    """It does not tell a gidd that came back of its subscription: doorbell and ring tell it all."""
    producer = produce(machines, "movie", owner, fps=100, slots=16)
    consumer = consume(machines, "movie", reader, owner, reconnect=True)
    consumer.wait_frames(20)
    machines.restart(reader)
    consumer.wait_frames(20)
    said = len(consumer.lines)
    producer.program.signal(end)
    producer.program.wait()
    consumer.wait(lambda line: line["state"] == WAITING, "the end", since=said)
    produce(machines, "movie", owner, fps=100, slots=16)
    consumer.wait(lambda line: line["reconnects"] == 1, "the next producer", since=said)
    assert consumer.wait_frames(20)["torn"] == 0
    one = [("movie", owner, reader)]
    wait_for(lambda: live(machines, reader) == one, "its gidd to know of it again")


@pytest.mark.parametrize("killed", ["open", "host"])
def test_a_consumer_that_waits_has_its_doorbell_still(machines: Cockpit, killed: str) -> None:
    """It is asked for anew when the link is back, and begins once."""

    def is_known() -> bool:
        return bool(machines.status("open")["subscriptions"])

    consumer = consume(machines, "movie", "cluster", reconnect=True)
    wait_for(is_known, "the owner's gidd to know that it waits")
    machines.restart(killed)
    wait_for(is_known, "it to be asked for anew")
    produce(machines, "movie", "open", fps=100)
    assert consumer.wait_frames(20)["reconnects"] == 0


def test_what_is_shared_no_more_ends_after_a_restart(machines: Cockpit) -> None:
    """The owner's gidd keeps a hand on what began with the one before."""
    producer = produce(machines, "movie", "host", fps=100)
    consumer = consume(machines, "movie", "hud", "host", reconnect=True)
    consumer.wait_frames(20)
    machines.restart("host")
    wait_for(lambda: live(machines, "host"), "the host's gidd to know of it")
    text = CONFIG.replace("[share host hud]\nstreams=*", "[share host hud]\nstreams=camera/*")
    machines.config_path.write_text(text)
    machines.gidds["host"].signal(signal.SIGHUP)
    machines.wait_log("host", "configuration read again: 1 subscriptions ended")
    producer.wait(lambda line: line["consumers"] == 0 and line["held"] == 0, "it to end")
    consumer.wait(lambda line: line["state"] != LIVE, "the consumer to lose it")


def test_memory_of_one_that_hangs_is_not_dealt_out(machines: Cockpit) -> None:
    """Stopped while its gidd is killed: its page stays its own until it has let go."""
    produce(machines, "movie", "open", fps=100)
    consumer = consume(machines, "movie", "host", reconnect=True)
    consumer.wait_frames(20)
    before = consumer.last["reconnects"]
    consumer.program.signal(signal.SIGSTOP)
    for _ in range(ROUNDS):
        machines.restart("host")
    other = consume(machines, "movie", "host", reconnect=True)
    other.wait_frames(20)
    consumer.program.signal(signal.SIGCONT)
    consumer.wait(
        lambda line: line["reconnects"] > before and line["state"] == LIVE, "it to come back"
    )
    for one in (consumer, other):
        assert one.wait_frames(20)["torn"] == 0
    wait_for(lambda: len(live(machines, "host")) == 2, "both to be there once")
