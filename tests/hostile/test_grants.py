# SPDX-License-Identifier: MIT
"""Grants and imports: who may read what, and what is left when it is gone."""

import os

import pytest
from cockpit import DEFAULT_CONFIG, Cockpit
from gidwire import (
    IMPORT,
    IMPORTED,
    RESULT,
    REVOKED,
    Connection,
    Export,
    gid,
    memfd,
    pack,
)
from outcome import UNREADABLE, number
from program import wait_for

# --- who may read what ---


def ask(connection: Connection, name: int) -> tuple:
    """The whole answer, but for the serial."""
    answer = connection.import_(name)
    assert answer.type == RESULT
    return answer.values


def test_unknown_ungranted_and_revoked_look_the_same(cockpit: Cockpit) -> None:
    with cockpit.connect("open") as owner, cockpit.connect("cluster") as reader:
        ungranted, revoked, unexported = (owner.export_new() for _ in range(3))
        for slab in (revoked, unexported):
            assert owner.grant(slab, 2) == (0, 0, "")
            answer = reader.import_(gid(1, slab))
            assert answer.type == IMPORTED
            answer.close()
        assert owner.grant(revoked, 2, allow=False) == (0, 0, "")
        assert reader.event(REVOKED).values == (gid(1, revoked),)
        assert owner.unexport(unexported) == (0, 0, "")
        assert reader.event(REVOKED).values == (gid(1, unexported),)
        unknown = max(ungranted, revoked, unexported) % 0xFFFFFF + 1000
        names = {
            "ungranted": gid(1, ungranted),
            "revoked": gid(1, revoked),
            "gone": gid(1, unexported),
            "unknown": gid(1, unknown),
            "another slot": gid(1, unknown, 4095, 65535),
            "our own, unknown": gid(2, 1),
            "none": 0,
            "no slab": gid(1, 0),
            "no such domain": gid(77, 1),
            "domain 0": gid(0, 1),
            "domain 255": gid(255, 0xFFFFFF, 65535, 65535),
        }
        answers = {name: ask(reader, value) for name, value in names.items()}
        expected = (number("ENOENT"), 0, UNREADABLE.encode().ljust(192, b"\0"))
        assert answers == {name: expected for name in names}


def test_no_descriptor_without_a_grant(cockpit: Cockpit) -> None:
    with cockpit.connect("open") as owner, cockpit.connect("cluster") as reader:
        slabs = [owner.export_new() for _ in range(4)]
        owner.grant(slabs[2], 2)
        got = [reader.import_(gid(1, slab)) for slab in slabs]
        assert [len(answer.fds) for answer in got] == [0, 0, 1, 0]
        got[2].close()


def test_the_own_domain_may_always_read(cockpit: Cockpit) -> None:
    with cockpit.connect("open") as owner, cockpit.connect("open") as other:
        answer = other.import_(gid(1, owner.export_new()))
        assert answer.type == IMPORTED
        answer.close()


def test_only_the_owner_grants_and_takes_back(cockpit: Cockpit) -> None:
    with cockpit.connect("open") as owner, cockpit.connect("open") as other:
        slab = owner.export_new()
        none = (number("ENOENT"), 0, f"this client has no slab {slab}")
        assert other.grant(slab, 2) == none
        assert other.unexport(slab) == none
        assert owner.unexport(slab) == (0, 0, "")
        assert owner.unexport(slab) == none
        assert owner.grant(slab, 2) == none


THREE = DEFAULT_CONFIG + "[domain hud]\nnumber=3\n[share cluster hud]\nstreams=*\n"


@pytest.mark.cockpit(THREE)
def test_grants_need_a_share(cockpit: Cockpit) -> None:
    with cockpit.connect("open") as owner:
        slab = owner.export_new()
        why = "the cockpit's configuration has no [share open {}]"
        assert owner.grant(slab, 3) == (number("EPERM"), 0, why.format("hud"))
        assert owner.grant(slab, 77) == (number("EPERM"), 0, why.format("…"))
        assert owner.grant(slab, 2) == (0, 0, "")
        with cockpit.connect("hud") as hud:
            assert ask(hud, gid(1, slab))[0] == number("ENOENT")


@pytest.mark.cockpit(THREE)
def test_a_grant_is_for_one_domain(cockpit: Cockpit) -> None:
    with cockpit.connect("cluster") as owner:
        slab = owner.export_new()
        owner.grant(slab, 3)
        with cockpit.connect("open") as other, cockpit.connect("hud") as reader:
            assert ask(other, gid(2, slab))[0] == number("ENOENT")
            answer = reader.import_(gid(2, slab))
            assert answer.type == IMPORTED
            answer.close()
            owner.grant(slab, 1)
            answer = other.import_(gid(2, slab))
            assert answer.type == IMPORTED
            answer.close()
            owner.grant(slab, 3, allow=False)
            assert reader.event(REVOKED).values == (gid(2, slab),)
            answer = other.import_(gid(2, slab))
            assert answer.type == IMPORTED and other.events == []
            answer.close()


def test_a_grant_can_be_given_again(cockpit: Cockpit) -> None:
    with cockpit.connect("open") as owner, cockpit.connect("cluster") as reader:
        slab = owner.export_new()
        for _ in range(3):
            owner.grant(slab, 2)
            answer = reader.import_(gid(1, slab))
            assert answer.type == IMPORTED
            answer.close()
            owner.grant(slab, 2, allow=False)
            assert reader.event(REVOKED).values == (gid(1, slab),)


# --- the end of an owner ---


def test_all_slabs_of_a_dead_client_are_revoked_at_once(cockpit: Cockpit) -> None:
    with cockpit.connect("cluster") as reader, cockpit.connect("open") as local:
        owner = cockpit.connect("open", "owner")
        slabs = [owner.export_new() for _ in range(20)]
        for slab in slabs:
            owner.grant(slab, 2)
            for importer in (reader, local):
                importer.import_(gid(1, slab)).close()
        owner.close()
        for importer in (reader, local):
            heard = [importer.event(REVOKED).values[0] for _ in slabs]
            assert sorted(heard) == sorted(gid(1, slab) for slab in slabs)


def test_an_importer_that_died_is_forgotten(cockpit: Cockpit) -> None:
    with cockpit.connect("open") as owner:
        slab = owner.export_new()
        owner.grant(slab, 2)
        with cockpit.connect("cluster") as reader:
            reader.import_(gid(1, slab)).close()
            assert len(cockpit.status("cluster")["slabs"]) == 1
        wait_for(lambda: cockpit.status("cluster")["slabs"] == [], "the import to be forgotten")
        assert owner.unexport(slab) == (0, 0, "")


def test_numbers_are_not_used_again(cockpit: Cockpit) -> None:
    with cockpit.connect("open") as owner:
        seen = set()
        for _ in range(50):
            slab = owner.export_new()
            assert slab not in seen
            seen.add(slab)
            owner.unexport(slab)
        used = min(seen)
        fd = memfd(4096)
        answer = owner.export(Export(generations=0, slab=used), fd)
        why = f"another slab has number {used} now"
        assert answer == (number("EEXIST"), 0, why)
        os.close(fd)


def test_nobody_takes_the_number_of_another(cockpit: Cockpit) -> None:
    with cockpit.connect("open") as owner, cockpit.connect("open") as thief:
        fd = memfd(4096)
        error, slab, _ = owner.export(Export(generations=0, slab=1234), fd)
        assert (error, slab) == (0, 1234)
        assert thief.export(Export(generations=0, slab=1234), fd)[0] == number("EEXIST")
        os.close(fd)


def test_an_import_is_answered_in_its_turn(cockpit: Cockpit) -> None:
    """Many questions at once, before any answer was read: each is answered under its serial."""
    with cockpit.connect("open") as owner, cockpit.connect("cluster") as reader:
        slab = owner.export_new()
        owner.grant(slab, 2)
        count = 60
        for _ in range(count):
            reader.serial += 1
            reader.send_raw(pack(IMPORT, gid(1, slab), serial=reader.serial))
        serials = []
        for _ in range(count):
            answer = reader.receive()
            assert answer.type == IMPORTED
            serials.append(answer.serial)
            answer.close()
        assert serials == sorted(serials)
