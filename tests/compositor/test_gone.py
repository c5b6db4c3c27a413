# SPDX-License-Identifier: MIT
"""Memory that cannot be had, is taken back, or whose owner or daemon dies."""

import itertools
import time

import pytest
from lib.length import at_length_but
from lib.program import wait_for
from lib.session import Session
from lib.weston import Client

STRANGE_GIDS = {
    "nothing": 0,
    "no such domain": (200 << 56) | (1 << 32),
    "no such slab": (1 << 56) | (0xFFFFFF << 32),
    "domain 0": 1 << 32,
    "domain 255": (255 << 56) | (1 << 32),
    "slab 0": 1 << 56,
    "everything": 2**64 - 1,
}


def outcome(client: Client, gid: int, request: str) -> list[tuple[str, tuple]]:
    params = client.params(gid, 1280)
    params(request, 320, 240, 0x34325258)
    client.display.wait_until(lambda: params.events, "answer")
    client.display.roundtrip()
    return params.events


@pytest.mark.parametrize("request_name", ["create", "create_immed"])
def test_unknown_ungranted_and_revoked_look_the_same(session: Session, request_name: str) -> None:
    granted = session.slab(slots=2)
    ungranted = session.slab(slots=1, grant=False)
    withdrawn = session.slab(slots=1)
    ended = session.slab(slots=1)
    with session.client() as client:
        session.owner.call("revoke", withdrawn.index, 2)
        session.owner.call("destroy", ended.index, False)
        gids = dict(STRANGE_GIDS)
        gids["slot behind the last"] = granted.gids[0] | (2 << 16)
        gids["last slot of all"] = granted.gids[0] | (0xFFFF << 16)
        gids["another generation"] = granted.gids[0] + 1
        gids["not granted"] = ungranted.gids[0]
        gids["grant withdrawn"] = withdrawn.gids[0]
        gids["slab destroyed"] = ended.gids[0]
        for round in range(2):  # the second time libgid knows some of the slabs
            for what, gid in gids.items():
                assert outcome(client, gid, request_name) == [("failed", ())], (what, round)
        _, buffer = client.create(granted.gids[0])
        assert buffer


@pytest.mark.parametrize(
    ("how", "on_revoke", "renderer"),
    at_length_but(
        itertools.product(
            ["destroyed", "grant withdrawn", "owner killed"], ["keep", "blank"], ["pixman", "gl"]
        ),
        ("destroyed", "keep", "pixman"),
        ("grant withdrawn", "keep", "gl"),
        ("grant withdrawn", "blank", "pixman"),
        ("owner killed", "keep", "pixman"),
        ("owner killed", "blank", "gl"),
    ),
)
def test_memory_is_taken_back(session: Session, how: str, on_revoke: str, renderer: str) -> None:
    slab = session.slab(slots=2)
    session.restart(config=f"[gid]\non-revoke={on_revoke}\n", renderer=renderer)
    with session.client() as client:
        client.open_window()
        params, buffer = client.create(slab.gids[0])
        other_params, other = client.create(slab.gids[1])
        client.show(other)
        client.show(buffer)
        inode = slab.inode
        if how == "destroyed":
            session.owner.call("destroy", slab.index, False)
        elif how == "grant withdrawn":
            session.owner.call("revoke", slab.index, 2)
        else:
            session.owner.kill()
        params.wait("revoked")
        other_params.wait("revoked")
        expected = slab.pictures[0]
        if how == "grant withdrawn":
            slab.draw(0, seed=99)  # what the owner draws from now on is not seen
        wait_for(
            lambda: not session.weston.permissions_of(inode),
            "Weston to unmap what was taken back",
        )
        client.redraw()
        shot = session.screenshot()
        assert session.shows(expected) if on_revoke == "keep" else not shot.any()
        client.show(other)  # undefined content, no harm
        assert not params.events and not other_params.events


def test_a_wiped_slab_shows_nothing_more(session: Session) -> None:
    """The owner's word to make its content disappear stands above on-revoke=keep."""
    slab = session.slab(slots=1)
    with session.client() as client:
        client.open_window()
        params, buffer = client.create(slab.gids[0])
        client.show(buffer)
        session.owner.call("destroy", slab.index, True)
        params.wait("revoked")
        client.redraw()
        assert not session.screenshot().any()


def test_a_commit_under_way_finds_its_picture(session: Session) -> None:
    """The revocation comes between the client's commit and Weston's reading of it."""
    slab = session.slab(slots=2)
    with session.client() as client:
        client.open_window()
        _, first = client.create(slab.gids[0])
        params, second = client.create(slab.gids[1])
        client.show(first)
        session.owner.call("destroy", slab.index, False)
        params.wait("revoked")
        client.show(second)
        time.sleep(0.5)
        client.redraw()
        assert session.shows(slab.pictures[1])


def test_gidd_killed(session: Session) -> None:
    """What is shown stays; new memory fails, and can be had again when gidd is back."""
    slab, later = session.slab(slots=2), session.slab(slots=1)
    with session.client() as client:
        client.open_window()
        feedback = client.manager("get_feedback")
        feedback.wait("done")
        _, buffer = client.create(slab.gids[0])
        client.show(buffer)
        session.cockpit.kill("cluster")
        session.weston.wait_log("gidd of domain cluster went away")
        feedback.events.clear()
        client.display.roundtrip()
        assert client.create(later.gids[0])[1] is None
        assert client.create(slab.gids[1])[1] is not None, "a slab that is known needs no gidd"
        client.redraw()
        assert session.shows(slab.pictures[0])
        session.cockpit.start("cluster")
        session.cockpit.wait_links()
        feedback.wait("domain")
        wait_for(lambda: client.create(later.gids[0])[1] is not None, "import")


def test_gidd_of_the_owner_killed(session: Session) -> None:
    slab = session.slab(slots=1)
    with session.client() as client:
        client.open_window()
        _, buffer = client.create(slab.gids[0])
        client.show(buffer)
        session.cockpit.kill("open")
        for _ in range(20):
            client.redraw()
        assert session.shows(slab.pictures[0])


def test_no_gidd_at_start(session: Session) -> None:
    """The module loads, says once how to start gidd, and finds it when it comes."""
    slab = session.slab(slots=1)
    session.weston.stop()
    session.cockpit.kill("cluster")
    session.weston.log.unlink()
    session.weston.start()
    with session.client() as client:
        client.open_window()
        feedback = client.manager("get_feedback")
        feedback.wait("done")
        assert feedback.take("domain") is None
        assert client.create(slab.gids[0])[1] is None
        params, buffer = client.create_immed(slab.gids[0])
        params.wait("failed")
        client.show(buffer)
        time.sleep(2.5)
        assert session.weston.read_log().count("gid: no connection") == 1
        session.cockpit.start("cluster")
        session.cockpit.wait_links()
        assert feedback.wait("domain") == (2, "cluster")
        wait_for(lambda: client.create(slab.gids[0])[1] is not None, "import")


def test_stopped_gidd_does_not_stop_weston(session: Session) -> None:
    """A gidd that hangs takes connections and never answers."""
    slab = session.slab(slots=1)
    session.weston.stop()
    with session.stopped_gidd():
        session.weston.start()
        with session.client() as client:
            client.open_window()
            params, buffer = client.create_immed(slab.gids[0])
            for _ in range(120):
                client.show(buffer)
            assert not params.has("created")
