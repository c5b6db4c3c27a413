# SPDX-License-Identifier: MIT
"""A gidd that has no descriptor left, or may send none, and what of it others feel."""

import ctypes
import errno
import os
import resource
import select
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress

import pytest
from lib.cockpit import DEFAULT_CONFIG, Cockpit
from lib.gidwire import IMPORT, IMPORTED, PONG, Closed, Connection, Export, gid, memfd, pack
from lib.program import PATIENCE, wait_for
from users import Users

MakeCockpit = Callable[..., Cockpit]
MANY = DEFAULT_CONFIG.replace("number=1\n", "number=1\nclients=4000\nslabs=4000\n", 1)

# More than so many on their way to those who do not take them, and the kernel lets none be sent.
UNTAKEN_MOST = 1000
PRODUCERS, ASKED = 6, 90
GREEDY, WANTED = 60, 30

PR_CAPBSET_DROP = 24


def be_bounded(most: int, policy: int) -> None:
    """Nothing but the number counts: root may otherwise have more on their way. Nor may it raise
    its threads above the class that it is started in.
    """
    os.sched_setscheduler(0, policy, os.sched_param(0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    for capability in range(64):
        ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


@contextmanager
def with_descriptors(
    cockpit: Cockpit,
    domain: str,
    most: int,
    policy: int = os.SCHED_OTHER,
    env: dict[str, str] | None = None,
) -> Iterator[subprocess.Popen]:
    """A gidd that cannot have more of them, whatever it asks for."""
    log = open(cockpit.folder / f"starved-{domain}.log", "wb")
    gidd = subprocess.Popen(
        cockpit.gidd_command(domain),
        env=cockpit.env(domain) | (env or {}),
        stderr=log,
        preexec_fn=lambda: be_bounded(most, policy),
    )
    log.close()
    try:
        wait_for(lambda: answers(cockpit, domain), "gidd to serve")
        yield gidd
        assert gidd.poll() is None, "it has ended"
    finally:
        gidd.send_signal(signal.SIGTERM)
        code = gidd.wait(PATIENCE)
    assert code == 0, (cockpit.folder / f"starved-{domain}.log").read_text()


def answers(cockpit: Cockpit, domain: str) -> bool:
    try:
        return cockpit.status(domain)["domain"] == domain
    except (Closed, OSError, AssertionError):
        return False


def count_fds(gidd: subprocess.Popen) -> int:
    return len(os.listdir(f"/proc/{gidd.pid}/fd"))


def take_all(cockpit: Cockpit, gidd: subprocess.Popen, most: int, stack: ExitStack) -> None:
    """Connects, and exports, until gidd has no descriptor left."""

    def is_full() -> bool:
        try:
            client = Connection(cockpit.socket("open"), "greedy", hello=False)
            client.socket.settimeout(0.2)
            stack.callback(client.close)
        except OSError:
            return True
        return count_fds(gidd) >= most

    wait_for(is_full, "gidd to have no descriptor left", pause=0)


@pytest.mark.parametrize("most", [40, 64])
def test_without_descriptors(make_cockpit: MakeCockpit, most: int) -> None:
    """Who was there is served on; who comes is let in once others have left; nothing is lost."""
    cockpit = make_cockpit(MANY)
    with with_descriptors(cockpit, "open", most) as gidd, cockpit.connect("open") as early:
        slab = early.export_new()
        before = count_fds(gidd)
        for _ in range(3):
            with ExitStack() as stack:
                take_all(cockpit, gidd, most, stack)
                fd = memfd(8192)
                error, _, words = early.export(Export(generations=4096), fd)
                os.close(fd)
                assert -error == errno.EMFILE and "can open no more files" in words
                for _ in range(5):
                    error, stream, words = early.publish("movie")
                    assert error == 0, words
                    assert early.unpublish(stream)[0] == 0
                answer = early.import_(gid(1, slab))
                assert answer.type == IMPORTED
                answer.close()
            wait_for(lambda: count_fds(gidd) <= before, "gidd to let go of them")
            assert answers(cockpit, "open")


def test_in_the_lowest_class(make_cockpit: MakeCockpit) -> None:
    """Where it may start no thread above its own class, it closes what others leave as well."""
    cockpit = make_cockpit()
    with (
        with_descriptors(cockpit, "open", 200, os.SCHED_IDLE) as gidd,
        cockpit.connect("open") as early,
    ):
        assert early.publish("movie")[0] == 0
        for _ in range(3):
            with ExitStack() as stack:
                for _ in range(20):
                    stack.enter_context(cockpit.connect("open"))
                full = count_fds(gidd)  # all have been answered; some of before may be there, too
            wait_for(lambda most=full - 20: count_fds(gidd) <= most, "gidd to let go of them")


def test_descriptors_that_nobody_takes(make_cockpit: MakeCockpit) -> None:
    """Producers never look who subscribed: others get their memory all the same."""
    cockpit = make_cockpit()
    with with_descriptors(cockpit, "open", UNTAKEN_MOST), ExitStack() as stack:
        early, consumer = (stack.enter_context(cockpit.connect("open")) for _ in range(2))
        slab = early.export_new()
        for number in range(PRODUCERS):
            producer = stack.enter_context(cockpit.connect("open", "deaf"))
            assert producer.publish(f"stream-{number}")[0] == 0
            for _ in range(ASKED):
                assert consumer.subscribe(1, f"stream-{number}")[0] == 0
                consumer.end(1)
        answer = early.import_(gid(1, slab))
        assert answer.type == IMPORTED
        answer.close()


@contextmanager
def two_users(make_cockpit: MakeCockpit) -> Iterator[tuple[Users, subprocess.Popen, int]]:
    """The domain of two users, whose gidd soon has all that may be on its way; and a slab there."""
    users = Users(make_cockpit(MANY))
    env = users.preload.env | {"OTHER_PEERS": str(users.others)}
    with with_descriptors(users.cockpit, "open", UNTAKEN_MOST, env=env) as gidd:
        users.preload.check("gidd")
        with users.mine() as owner:
            yield users, gidd, owner.export_new()


def leave(client: Connection, slab: int) -> None:
    """Asks for memory again and again, and takes none, until gidd has had enough of that."""
    with suppress(Closed):
        for _ in range(WANTED):
            client.send_raw(pack(IMPORT, gid(1, slab), serial=1))


def is_served(client: Connection, slab: int) -> bool:
    answer = client.import_(gid(1, slab))
    answer.close()
    return answer.type == IMPORTED


def test_many_connections_of_a_user(make_cockpit: MakeCockpit) -> None:
    """However many they are, programs of another user get what they ask for."""
    with two_users(make_cockpit) as (users, _, slab), ExitStack() as stack:
        stranger = stack.enter_context(users.stranger())
        for _ in range(GREEDY):
            leave(stack.enter_context(users.mine()), slab)
        for _ in range(100):  # each is a turn of gidd's, in which it answers more of them
            error, stream, words = stranger.publish("movie")
            assert error == 0, words
            assert stranger.unpublish(stream)[0] == 0
            stranger.export_new()
        assert is_served(stranger, slab)


def test_who_is_hung_up_on_and_keeps_his_end(make_cockpit: MakeCockpit) -> None:
    """What was sent to him is on its way still; and once he goes, gidd has nothing of him."""
    with two_users(make_cockpit) as (users, gidd, slab), users.stranger() as stranger:
        before = count_fds(gidd)
        with ExitStack() as stack:
            for _ in range(GREEDY):
                client = stack.enter_context(users.mine())
                leave(client, slab)
                with suppress(Closed):
                    client.send_raw(pack(PONG, 0, 0))  # which no client sends
                over = select.poll()
                over.register(client.socket, 0)
                assert over.poll(PATIENCE * 1000)
            assert is_served(stranger, slab)
        wait_for(lambda: count_fds(gidd) <= before, "gidd to let go of their sockets")


def test_who_leaves_too_much_is_not_let_in(make_cockpit: MakeCockpit) -> None:
    """What is in the queues of connections that are over is memory: a report, say."""
    with two_users(make_cockpit) as (users, _, slab):

        def comes_in(stack: ExitStack) -> bool:
            try:
                client = stack.enter_context(users.mine())
            except Closed:
                return False
            client.send_raw(pack(IMPORT, gid(1, slab), serial=1))
            poll = select.poll()
            poll.register(client.socket, select.POLLIN)
            assert poll.poll(PATIENCE * 1000)
            client.send_raw(pack(PONG, 0, 0))
            poll.modify(client.socket, 0)
            assert poll.poll(PATIENCE * 1000)
            return True

        with ExitStack() as stack:
            came = sum(comes_in(stack) for _ in range(80))
            assert 60 <= came <= 66
            with users.stranger() as stranger:
                assert stranger.publish("movie")[0] == 0
        wait_for(lambda: answers(users.cockpit, "open"), "who has left to be let in")
