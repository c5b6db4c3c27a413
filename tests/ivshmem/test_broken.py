# SPDX-License-Identifier: MIT
"""Who breaks the memory that it writes loses its link, by what gidd sees itself; it can come back.

`open` is the test itself: it writes its window, and decides in which order gidd hears what.
"""

import contextlib
import mmap
import os
import socket
import struct
import time
from collections.abc import Callable, Iterator

import pytest
from lib.cockpit import Cockpit
from lib.gidwire import (
    ACCEPT,
    ALLOC,
    BELL,
    CLOCK,
    PAGE_SIZE,
    PEER,
    PING,
    PONG,
    RESULT,
    RING_SIZE,
    SUBSCRIBE,
    SUBSCRIBED,
    SUBSCRIPTION_END,
    Connection,
    Message,
    pack,
)
from lib.holding import hold
from lib.machines import CONFIG, MIB, NAMES, link, start, window, window_path
from lib.peer import LIVE, WAITING, Peer, consume, produce
from lib.peer import PEER as PEER_PROGRAM
from lib.program import BUILD, PATIENCE, wait_for
from member import Member, envelope

HOST, HUD = 3, 4
RING, PAGE = 4096, 5 * 4096  # where they lie in the window of open
READERS = 104  # in its first page
RELEASE_TAIL = 128  # in a consumer's page
RING_MAGIC = int.from_bytes(b"gidring2", "little")
TAIL, FLOOR, HEAD = 64, 72, 64
ENOENT, EPROTO = 2, 71
ENDED_MAX = 64  # doorbells of subscriptions that are over, of one link


def ends(machines: Cockpit, one: str, other: str) -> tuple[dict, dict]:
    """What the hub knows of the two, and of the link between them."""
    for pair in machines.status("host")["pairs"]:
        found = {end["domain"]: end for end in pair["ends"]}
        if set(found) == {one, other}:
            return found[one], found[other]
    raise AssertionError(f"the hub does not join {one} and {other}")


def faults(machines: Cockpit, domain: str = "host", peer: str = "open") -> int:
    return link(machines, domain, peer)["faults"]


def up(machines: Cockpit, member: Member) -> None:
    member.join()
    member.greet(HUD)
    member.greet(HOST)
    for domain in ("host", "hud"):
        assert member.wait(lambda name=domain: link(machines, name, "open")["state"] == "up")


@pytest.fixture
def machines(make_cockpit: Callable[..., Cockpit]) -> Cockpit:
    cockpit = make_cockpit(CONFIG)
    for domain in ("host", "hud"):
        cockpit.start(domain)
    cockpit.wait_links()
    return cockpit


def write(machines: Cockpit, at: int, data: bytes) -> None:
    with window(machines, "open") as memory:
        memory[at : at + len(data)] = data


def put_word(machines: Cockpit, at: int, word: int) -> None:
    write(machines, at, struct.pack("<Q", word))


def accept(machines: Cockpit, member: Member, reader: int = HOST) -> int:
    """Answers who asks for a stream with a ring that is one; the subscription's number."""
    write(machines, RING, struct.pack("<QII", RING_MAGIC, 64, 0) + bytes(RING_SIZE - 16))
    request = member.wait_for(reader, SUBSCRIBE)
    member.send(reader, pack(RESULT, 0, 1, b"", serial=request.serial))
    member.send(reader, pack(ACCEPT, request.values[0], 0, RING))
    return request.values[0]


def subscribed(machines: Cockpit, member: Member, reader: str = "host") -> tuple[Peer, int]:
    """A consumer of that domain that has a ring of ours, and the subscription's number."""
    words = [PEER_PROGRAM, "consume", "open", "movie", "reconnect=1"]
    consumer = Peer(machines.run(reader, words, "consumer"))
    number = accept(machines, member, NAMES[reader])
    assert member.wait(lambda: bool(consumer.lines) and consumer.last.get("state") == LIVE)
    return consumer, number


def until_held(member: Member, count: int = 2) -> None:
    """gidd looks before each PING: now it has, since what was done last."""
    member.hold_pings()
    assert member.wait(lambda: sum(ping[0] == HOST for ping in member.held_pings) >= count)


def settle(member: Member) -> None:
    """Answers, and waits until the host's gidd has heard that."""
    member.answer_pings()
    member.send(HOST, pack(PING, 1))
    member.wait_for(HOST, PONG)


def until_parted(machines: Cockpit, member: Member, words: str) -> None:
    """The host closes the link, with this reason, which the machine itself hears; and no other."""
    old = member.epochs[HOST]
    member.answer_pings()
    assert member.wait(lambda: member.epochs.get(HOST) != old), "the link stays"
    now = link(machines, "host", "open")
    assert now["faults"] == 1 and words in now["last_fault"]
    wait_for(lambda: words in machines.log("host"), "a line of the log, which waits for nobody")
    assert faults(machines, "hud") == 0 and link(machines, "hud", "open")["ups"] == 1
    broke, saw = ends(machines, "open", "host")
    assert (broke["faults"], saw["faults"]) == (1, 0) and words in broke["last_fault"]
    assert link(machines, "host", "hud")["ups"] == 1
    # It may come back at once.
    assert member.wait(lambda: HOST in member.epochs)
    member.greet(HOST)
    assert member.wait(lambda: link(machines, "host", "open")["state"] == "up")


RINGS = {
    "magic": (0, 0x1234, "is not a ring"),
    "entries": (8, 65, "is not a ring"),
    "closed": (8, 64 | 7 << 32, "is not a ring"),
    "floor": (FLOOR, 5, "floor"),
}


@pytest.mark.parametrize("name", RINGS)
def test_a_broken_ring(machines: Cockpit, name: str) -> None:
    """Nobody has read it: gidd looks by itself."""
    at, word, words = RINGS[name]
    with Member(machines, "open") as member:
        up(machines, member)
        consumer, _ = subscribed(machines, member)
        put_word(machines, RING + at, word)
        until_parted(machines, member, words)
        assert consumer.program.is_running()
        # It asks again, and gets frames from a ring that is one.
        request = member.wait_for(HOST, SUBSCRIBE)
        assert request.values[5].rstrip(b"\0") == b"movie"


def test_a_ring_that_goes_back(machines: Cockpit) -> None:
    with Member(machines, "open") as member:
        up(machines, member)
        _, number = subscribed(machines, member)
        # All that was sent is taken back, at once: the consumer looks into the ring at any time.
        write(machines, RING + TAIL, struct.pack("<QQ", 64, 64))
        until_held(member)
        settle(member)
        assert faults(machines) == 0
        write(machines, RING + TAIL, struct.pack("<QQ", 3, 3))
        until_parted(machines, member, "goes back")


def test_a_broken_page(machines: Cockpit) -> None:
    """Likewise: of a consumer, whose producer is the host's."""
    film = produce(machines, "film", "host", fps=50)
    write(machines, PAGE, bytes(PAGE_SIZE))
    with Member(machines, "open") as member:
        up(machines, member)
        member.request(HOST, RESULT, SUBSCRIBE, 1 << 31 | 9, HOST, 4, 0, b"", b"film", PAGE)
        film.wait(lambda line: line["consumers"] == 1, "the consumer")
        put_word(machines, PAGE, RING_MAGIC)
        put_word(machines, PAGE + HEAD, 1)
        until_held(member)
        settle(member)
        assert faults(machines) == 0
        put_word(machines, PAGE, 5)
        # Who may not read the stream sees this, too.
        until_parted(machines, member, "the page of a stream is not a page")
        machines.wait_log("host", "the page of a stream is not a page: it is stream film")
        film.wait(lambda line: line["consumers"] == 0 and line["held"] == 0, "all to be back")


@pytest.mark.parametrize(
    ("place", "what"), [(0, b"x" * 96), (READERS, b"\xff" * 32)], ids=["whole", "readers"]
)
def test_a_broken_first_page(machines: Cockpit, place: int, what: bytes) -> None:
    """Who sees it first closes its link, and the hub writes the page again."""
    with Member(machines, "open") as member:
        up(machines, member)
        write(machines, place, what)

        def closed() -> list[str]:
            links = [link(machines, name, "open") for name in ("host", "hud")]
            return [now["last_fault"] for now in links if now["faults"] > 0]

        assert member.wait(lambda: bool(closed()))
        assert all("first page" in words for words in closed())
        up(machines, member)
        assert link(machines, "host", "hud")["ups"] == 1


def test_a_window_whose_size_changes(machines: Cockpit) -> None:
    """It is noticed by all, and the hub makes another file."""
    with Member(machines, "open") as member:
        up(machines, member)
        os.truncate(window_path(machines, "open"), 8 * MIB)
        for name in ("host", "hud"):
            assert member.wait(lambda name=name: faults(machines, name) == 1)
            assert "the size of its window" in link(machines, name, "open")["last_fault"]
        machines.wait_log("host", "window 0 of domain open is new")
        up(machines, member)
        assert os.stat(window_path(machines, "open")).st_size == 4 * MIB


def test_the_hub_hears_what_another_one_found(machines: Cockpit) -> None:
    """The memory is none of the host's business; that it was broken is."""
    with Member(machines, "open") as member:
        up(machines, member)
        subscribed(machines, member, "hud")
        old = member.epochs[HUD]
        put_word(machines, RING, 1)
        assert member.wait(lambda: member.epochs.get(HUD) != old), "the link stays"
        assert faults(machines, "hud") == 1 and faults(machines, "host") == 0
        broke, saw = ends(machines, "open", "hud")
        words = "hud says: broken memory: the ring of a stream is not a ring"
        assert (broke["faults"], broke["last_fault"]) == (1, words)
        assert (saw["faults"], saw["last_fault"]) == (0, "")
        shown = machines.run("host", [BUILD / "tools" / "gidctl" / "gidctl", "status"])
        assert shown.wait() == 0
        assert "  open and hud: " in shown.stdout
        assert (
            f"closed 1 times because open broke the protocol; last reason: {words}\n"
            in shown.stdout
        )
        assert [end["faults"] for end in ends(machines, "open", "host")] == [0, 0]


def test_what_a_machine_says_of_another_is_its_word(machines: Cockpit) -> None:
    """It may lie: the hub tells who said it, and parts the two, as it would anyway."""
    with Member(machines, "open") as member:
        up(machines, member)
        for fault in (0, 1):
            old = member.epochs[HUD]
            for _ in range(2):  # the second time it is of an epoch that is over
                member.send(0, pack(PEER, HUD, old, 0, fault, b"it stares at me"))
            assert member.wait(lambda old=old: member.epochs.get(HUD, old) != old)
            up(machines, member)
            lied, accused = ends(machines, "open", "hud")
            assert (lied["faults"], accused["faults"]) == (0, fault)
        assert accused["last_fault"] == "open says: it stares at me"
        assert faults(machines, "hud") == 0 and faults(machines) == 0


def test_memory_that_has_come_to_another_use(machines: Cockpit) -> None:
    """Its subscription was over before it changed, though the word of that comes later."""
    with Member(machines, "open") as member:
        up(machines, member)
        consumer, number = subscribed(machines, member)
        member.hold_pings()
        write(machines, RING, b"p" * RING_SIZE)  # pixels of somebody
        until_held(member)
        member.send(HOST, pack(SUBSCRIPTION_END, number, 0))
        settle(member)
        until_held(member)
        settle(member)
        now = link(machines, "host", "open")
        assert (now["faults"], now["ups"], now["state"]) == (0, 1, "up")
        assert consumer.program.is_running()


def test_a_broken_ring_of_one_that_never_answers(make_cockpit: Callable[..., Cockpit]) -> None:
    """It says other things meanwhile, so as not to be missed."""
    machines = make_cockpit(CONFIG + "[link open host]\nkind=ivshmem\nsilence=2\n")
    machines.start("host")
    with Member(machines, "open") as member:
        member.join()
        member.greet(HOST)
        assert member.wait(lambda: link(machines, "host", "open")["state"] == "up")
        subscribed(machines, member)
        epoch = member.epochs[HOST]
        put_word(machines, RING, 1)
        member.hold_pings()

        def parted() -> bool:
            member.send(HOST, pack(BELL, 1, 0), epoch)
            member.receive(0.05)
            return member.epochs.get(HOST) != epoch

        assert member.wait(parted)
        now = link(machines, "host", "open")
        assert now["faults"] == 1 and "is not a ring" in now["last_fault"]


@contextlib.contextmanager
def raw_subscription(
    machines: Cockpit, member: Member, client: Connection
) -> Iterator[tuple[Message, socket.socket, int]]:
    """A client of the host's, live at the member's stream: its page, its doorbell, its number."""
    up(machines, member)
    memory = client.request(ALLOC, PAGE_SIZE, 0, 0, b"")
    bell, other = socket.socketpair()
    with bell, other:
        values = (7, 0, 4, 0, b"open", b"movie", memory.values[0])
        client.send_raw(pack(SUBSCRIBE, *values, serial=99), [memory.fds[0], bell.fileno()])
        number = accept(machines, member)
        client.event(SUBSCRIBED).close()
        yield memory, other, number
    memory.close()


def test_a_client_of_ours_that_lies(machines: Cockpit) -> None:
    """It says that the other end broke the rules. gidd does not see that: the link stays."""
    with Member(machines, "open") as member, machines.connect("host", "liar") as liar:
        with raw_subscription(machines, member, liar) as (_, _, number):
            liar.send_raw(pack(SUBSCRIPTION_END, 7, -EPROTO))
            ended = member.wait_for(HOST, SUBSCRIPTION_END)
            assert ended.values == (number, -EPROTO)
            until_held(member)
            settle(member)
            now = link(machines, "host", "open")
            assert (now["faults"], now["ups"], now["state"]) == (0, 1, "up")


def count_bells(member: Member) -> int:
    """Of those that the host's gidd has sent before it answers two questions."""
    count = pongs = 0
    member.send(HOST, pack(PING, 1))
    while pongs < 2:
        got = member.receive(PATIENCE)
        assert got is not None, "the host says nothing"
        if got[0] == HOST and got[1].type == PONG:
            pongs += 1
            if pongs < 2:
                member.send(HOST, pack(PING, 1))
        count += got[0] == HOST and got[1].type == BELL
    return count


def test_a_client_of_ours_that_rings_all_the_time(machines: Cockpit) -> None:
    """The other machine hears one ring for each sleep and news; for each sleep 64 at most."""
    with Member(machines, "open") as member, machines.connect("host", "ringer") as ringer:
        with raw_subscription(machines, member, ringer) as (memory, other, _):
            for asleep, rings in ((0, 0), (1, 1), (2, 0), (3, 1)):
                put_word(machines, RING + 16, asleep)
                heard = 0
                for _ in range(20):
                    other.send(b"12345678")
                    heard += count_bells(member)
                assert heard + count_bells(member) == rings
            # It may have rung for an earlier sleep: with something new it is heard again.
            whole = mmap.PAGESIZE * -(-PAGE_SIZE // mmap.PAGESIZE)
            with mmap.mmap(memory.fds[0], whole, offset=memory.values[0]) as page:
                for news in range(1, 101):
                    struct.pack_into("<Q", page, RELEASE_TAIL, news)
                    other.send(b"1")
                    heard += count_bells(member) + count_bells(member)
                    # What empties the doorbell may read a ring away first: gidd's look finds it.
                    end = time.monotonic() + PATIENCE
                    while heard < min(1 + news, 64) and time.monotonic() < end:
                        heard += count_bells(member)
                    assert heard == min(1 + news, 64)


def test_a_client_that_keeps_its_doorbell_locked(machines: Cockpit) -> None:
    """Its own end, which gidd relays the rings of: gidd does not wait to read them."""
    with Member(machines, "open") as member:
        up(machines, member)
        holder = hold(machines, "host", "doorbell")
        number = accept(machines, member)
        assert machines.status("host")["domain"] == "host"
        holder.kill()
        assert member.wait_for(HOST, SUBSCRIPTION_END).values[0] == number


def ask(client: Connection, number: int, page: Message, bell: socket.socket) -> None:
    """For a stream of `open`; nobody waits for the answer."""
    values = (number, 0, 4, 0, b"open", b"movie", page.values[0])
    client.send_raw(pack(SUBSCRIBE, *values, serial=number), [page.fds[0], bell.fileno()])


def refuse(member: Member) -> None:
    request = member.wait_for(HOST, SUBSCRIBE)
    member.send(HOST, pack(RESULT, -ENOENT, 0, b"", serial=request.serial))


def test_a_client_that_keeps_the_doorbells_of_what_is_over(machines: Cockpit) -> None:
    """Of each gidd has an end: as many as are to be closed soon, however often it asked."""
    gidd = machines.gidds["host"]
    with Member(machines, "open") as member, machines.connect("host", "keeper") as keeper:
        up(machines, member)
        page = keeper.request(ALLOC, PAGE_SIZE, 0, 0, b"")
        before = gidd.open_fds()
        with contextlib.ExitStack() as kept:
            for number in range(1, 3 * ENDED_MAX + 1):
                bell, other = socket.socketpair()
                kept.enter_context(other)
                with bell:
                    ask(keeper, number, page, bell)
                refuse(member)
            settle(member)
            # The others are closed by threads beside gidd's own.
            wait_for(
                lambda: gidd.open_fds() <= before + ENDED_MAX + 4, "all but these to be closed"
            )
        wait_for(lambda: gidd.open_fds() <= before, "all to be closed")
        page.close()


def test_answers_without_an_end(machines: Cockpit) -> None:
    """Who reads from there hears of its clock as often as gidd asks for it: a busy program, which
    reads nothing meanwhile, keeps its connection.
    """
    with Member(machines, "open") as member, machines.connect("host", "busy") as busy:
        with raw_subscription(machines, member, busy):
            now = time.monotonic_ns()
            some = envelope(HOST, member.epochs[HOST], pack(PONG, now, now)) * 1000
            for _ in range(50):
                member.send_raw(some)
            settle(member)
            assert busy.status()["domain"] == "host"
            assert sum(event.type == CLOCK for event in busy.events) < 100


def test_a_subscription_without_a_number(make_cockpit: Callable[..., Cockpit]) -> None:
    """0 is none: gidd would not look at what is written into its page."""
    machines = make_cockpit(CONFIG)
    for domain in ("host", "open"):
        machines.start(domain)
    with Member(machines, "cluster") as member:
        member.join()
        member.greet(NAMES["open"])
        assert member.wait(lambda: link(machines, "open", "cluster")["state"] == "up")
        subscribe = pack(SUBSCRIBE, 0, NAMES["open"], 1, 0, b"", b"movie", PAGE)
        member.send(NAMES["open"], subscribe)
        assert member.wait(lambda: faults(machines, "open", "cluster") == 1)
        assert "number" in link(machines, "open", "cluster")["last_fault"]


def test_streams_of_an_honest_machine(make_cockpit: Callable[..., Cockpit]) -> None:
    """They begin and end again and again, and their memory goes from one use to the next."""
    machines = make_cockpit(CONFIG)
    start(machines)
    reader = consume(machines, "movie", "host", reconnect=True)
    film = produce(machines, "film", "host", fps=100)
    for _ in range(8):
        one = produce(machines, "movie", "open", fps=200, slots=32)
        other = consume(machines, "film", "open", "host", credit=8)
        reader.wait_frames(5)
        other.wait_frames(5)
        one.program.kill()
        other.program.kill()
    film.wait(lambda line: line["consumers"] == 0, "the last consumer to be missed")
    wait_for(lambda: reader.last["state"] == WAITING, "the last stream to be over")
    for one, other in (("host", "open"), ("open", "host")):
        now = link(machines, one, other)
        assert (now["faults"], now["ups"]) == (0, 1)
