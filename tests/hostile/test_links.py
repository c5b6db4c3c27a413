# SPDX-License-Identifier: MIT
"""Links: gidds that come, go and hang."""

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from gid_vm.preload import Preload
from gidds import bell, link_state, wait_state
from lib.cockpit import Cockpit
from lib.gidwire import (
    IMPORT,
    LOWER_SIDE,
    PAGE_SIZE,
    REVOKED,
    SUBSCRIBE,
    SUBSCRIBED,
    SUBSCRIBER,
    SUBSCRIPTION_END,
    WAIT,
    Connection,
    Export,
    gid,
    memfd,
    pack,
)
from lib.outcome import UNREADABLE, number, untouched
from lib.program import BUILD, PATIENCE, wait_for

from lab.domains.configuration import configuration

OTHER_USER = BUILD / "tests/lib/programs/other_user.so"
MakeCockpit = Callable[..., Cockpit]
REVALIDATE_AFTER_S = 5  # of the link


# --- who may come in ---

CONNECT = f"""
import socket, sys
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as gidd:
    gidd.connect(sys.argv[1])
    gidd.settimeout({PATIENCE})
    sys.exit("hung up" if gidd.recv(1) == b"" else 0)
"""
NOBODY = 65534


def connect_as(user: int, path: Path) -> str:
    """What becomes of a program of this user that connects there, and says nothing."""
    command = [sys.executable, "-c", CONNECT, path]
    return subprocess.run(command, capture_output=True, text=True, user=user).stderr


@pytest.mark.needs_root
def test_no_other_user_takes_a_link(cockpit: Cockpit) -> None:
    """A link is its gidd's user's: not even where the socket's own rights would let others in."""
    path = cockpit.runtime / "open" / "link" / "cluster.sock"
    for folder in path.parents[:4]:
        if cockpit.folder in (folder, *folder.parents):
            folder.chmod(0o755)
    assert path.stat().st_mode & 0o777 == 0o600
    assert "PermissionError" in connect_as(NOBODY, path)
    path.chmod(0o666)
    assert "hung up" in connect_as(NOBODY, path)
    cockpit.wait_log("open", "refused: user= of domain cluster is another user")
    assert link_state(cockpit, "open") == "up"
    assert "in its place" not in cockpit.log("open")


def test_no_other_user_listens(make_cockpit: MakeCockpit) -> None:
    """In the other gidd's place: what is shared with a domain goes to its user alone."""
    cockpit = make_cockpit()
    preload, others = Preload(OTHER_USER), cockpit.folder / "others"
    settings = preload.env | {"OTHER_PEERS": str(others)}
    cockpit.start("cluster", ["env", *(f"{name}={value}" for name, value in settings.items())])
    preload.check("gidd")
    others.touch()
    cockpit.start("open")
    words = "link/cluster.sock: refused: user= of domain open is another user"
    cockpit.wait_log("cluster", words)
    wait_for(
        lambda: cockpit.log("open").count(" connects") > 2,
        "it to try again, and not to say so again",
    )
    others.unlink()
    cockpit.wait_links()
    assert cockpit.log("cluster").count(words) == 1
    assert link_state(cockpit, "cluster") == "up"


def test_whatever_the_umask(make_cockpit: MakeCockpit) -> None:
    """Of whoever starts it: the other gidd and the programs may be other users'."""
    cockpit = make_cockpit()
    before = os.umask(0o077)
    try:
        cockpit.start_all()
    finally:
        os.umask(before)
    own = cockpit.runtime / "open"
    modes = [path.stat().st_mode & 0o777 for path in (cockpit.runtime, own, own / "link")]
    assert modes == [0o755, 0o755, 0o711]


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


def test_floods_leave_gidd_its_own_questions(cockpit: Cockpit) -> None:
    """Whether memory is there still, of which it was not told while the link was lost. Programs ask
    for as much as they may, while no answer comes.
    """
    with ExitStack() as stack:
        reader = stack.enter_context(cockpit.connect("cluster"))
        with cockpit.connect("open") as owner:
            slab = owner.export_new()
            assert owner.grant(slab, 2)[0] == 0
            reader.import_(gid(1, slab)).close()
            cockpit.restart("open")
        cockpit.gidds["open"].signal(signal.SIGSTOP)
        for _ in range(70):
            busy = stack.enter_context(cockpit.connect("cluster"))
            for serial in range(1, 65):
                busy.send_raw(pack(IMPORT, gid(1, slab + 1), serial=serial))
        time.sleep(REVALIDATE_AFTER_S + 1)
        cockpit.gidds["open"].signal(signal.SIGCONT)
        assert reader.event(REVOKED).values == (gid(1, slab),)
        assert cockpit.status("cluster")["links"][0]["ups"] == 2
        # More than all together may ask was refused, and that alone.
        assert Connection.result(busy.receive())[0] == number("EAGAIN")


def test_who_left_is_not_answered(cockpit: Cockpit) -> None:
    opened = cockpit.gidds["open"]
    opened.signal(signal.SIGSTOP)
    with cockpit.connect("cluster") as client:
        client.send_raw(pack(IMPORT, gid(1, 1), serial=1))
        client.send_raw(
            pack(SUBSCRIBE, 1, 0, 1, WAIT, b"open", b"movie", 0), [memfd(PAGE_SIZE), bell()]
        )
        client.status()
    wait_for(lambda: len(cockpit.status("cluster")["clients"]) == 1, "the client to be gone")
    opened.signal(signal.SIGCONT)
    cockpit.wait_links()


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


# --- the place ---


def test_only_its_user_finds_the_place(cockpit: Cockpit) -> None:
    folder: Path = cockpit.runtime / "open"
    for place in (folder / "gidd.sock", folder / "link" / "cluster.sock"):
        assert place.stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o022 == 0


@pytest.mark.parametrize("place", ["", "open", "open/link"])
@pytest.mark.parametrize("how", ["writable", "link"])
def test_a_place_that_others_could_change_is_refused(
    cockpit: Cockpit, place: str, how: str
) -> None:
    """Whoever takes the socket's place is gidd to all clients."""
    if (place, how) == ("", "link"):
        pytest.skip("where the folder of all domains is, its owner decides")
    cockpit.kill("open")
    folder = cockpit.runtime / place
    if how == "writable":
        folder.chmod(0o777)
    else:
        folder.rename(cockpit.folder / "elsewhere")
        folder.symlink_to(cockpit.folder / "elsewhere")
    refused = cockpit.run("open", cockpit.gidd_command("open"))
    assert refused.wait() == 1
    assert f"{folder}: chmod" in refused.stderr or f"{folder} must be" in refused.stderr
    if how == "writable":
        folder.chmod(0o1777 if place == "" else 0o755)
        cockpit.restart("open")


HUB = configuration(
    {"open": "kind=host window=1M", "cluster": "kind=guest window=1M"}, {"open cluster": "movie"}
)


@pytest.mark.needs_root
@pytest.mark.parametrize(
    "place", ["", "open", "open/link", "bell", "hub", "window", "window/open", "window/cluster"]
)
def test_nor_one_that_is_anothers(make_cockpit: MakeCockpit, place: str) -> None:
    """Root's gidd gives what it makes in them to users: where a link led, too."""
    cockpit = make_cockpit(HUB)
    folder = cockpit.runtime / place
    folder.mkdir(parents=True, exist_ok=True)
    os.chown(folder, 65534, 65534)
    refused = cockpit.run("open", cockpit.gidd_command("open"))
    assert refused.wait() == 1
    said = "belongs to the user 65534" if place == "" else "must be a folder that belongs"
    assert f"{folder} {said}" in refused.stderr
    assert list(folder.iterdir()) == []


@pytest.mark.needs_root
@pytest.mark.parametrize("how", ["above", "open", "link"])
def test_nor_one_that_others_could_move(make_cockpit: MakeCockpit, how: str) -> None:
    """Root's own folder in another user's, who can put his in its place at any time."""
    cockpit = make_cockpit()
    above = cockpit.folder / "above"
    place, refused = above / "run", above
    (above / "real").mkdir(parents=True)
    if how == "link":
        place.symlink_to(above / "real")
        os.chown(place, 65534, 65534, follow_symlinks=False)
        refused = place
    elif how == "open":
        above.chmod(0o777)
    else:
        os.chown(above, 65534, 65534)
    command = ["env", f"GID_RUNTIME_DIR={place}", *cockpit.gidd_command("open")]
    gidd = cockpit.run("open", command)
    assert gidd.wait() == 1
    assert f"{place}: others than root may change {refused}, and" in gidd.stderr
    assert not (place / "open").exists()


def test_there_is_one_gidd_of_a_domain(cockpit: Cockpit) -> None:
    second = cockpit.run("open", cockpit.gidd_command("open"))
    assert second.wait() == 1
    lock = cockpit.runtime / "open" / "link" / "gidd.lock"
    assert f"another gidd runs for domain open: it holds {lock}" in second.stderr
    cockpit.connect("open").close()
