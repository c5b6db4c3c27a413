# SPDX-License-Identifier: MIT
"""Grants and imports: who may read what, and what is left when it is gone."""

import os

import pytest
from lib.cockpit import DEFAULT_CONFIG, Cockpit
from lib.gidwire import (
    IMPORT,
    IMPORTED,
    RESULT,
    REVOKED,
    UNIMPORT,
    Connection,
    Export,
    gid,
    memfd,
    pack,
)
from lib.outcome import UNREADABLE, number
from lib.program import wait_for

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


def importers(cockpit: Cockpit, domain: str) -> list[int]:
    return [slab["importers"] for slab in cockpit.status(domain)["slabs"]]


def test_what_a_reader_lets_go_of_is_forgotten(cockpit: Cockpit) -> None:
    """By its gidd, and by the owner's once no reader is left; it can be had again."""
    with (
        cockpit.connect("open") as owner,
        cockpit.connect("cluster") as reader,
        cockpit.connect("cluster") as other,
    ):
        slab = owner.export_new()
        owner.grant(slab, 2)
        for _ in range(3):
            for importer in (reader, other):
                importer.import_(gid(1, slab)).close()
            assert importers(cockpit, "cluster") == [2]
            reader.send_raw(pack(UNIMPORT, gid(1, slab)))
            wait_for(lambda: importers(cockpit, "cluster") == [1], "one to be forgotten")
            assert importers(cockpit, "open") == [1]
            other.send_raw(pack(UNIMPORT, gid(1, slab, 1, 7)))
            wait_for(lambda: importers(cockpit, "cluster") == [], "both to be forgotten")
            wait_for(lambda: importers(cockpit, "open") == [0], "the owner to hear of it")
        reader.import_(gid(1, slab)).close()
        owner.unexport(slab)
        assert reader.event(REVOKED).values == (gid(1, slab),)
        assert other.events == []


def test_a_question_is_answered_though_the_slab_is_let_go_of(cockpit: Cockpit) -> None:
    """The owner's gidd must not think that nobody has it, whichever of the two it hears first."""
    with (
        cockpit.connect("open") as owner,
        cockpit.connect("cluster") as reader,
        cockpit.connect("cluster") as other,
    ):
        for _ in range(30):
            slab = owner.export_new()
            owner.grant(slab, 2)
            reader.import_(gid(1, slab)).close()
            other.send_raw(pack(IMPORT, gid(1, slab), serial=7))
            reader.send_raw(pack(UNIMPORT, gid(1, slab)))
            answer = other.receive()
            assert answer.type == IMPORTED
            answer.close()
            owner.unexport(slab)
            assert other.event(REVOKED).values == (gid(1, slab),)


@pytest.mark.parametrize("other", [0, 1 << 63, gid(1, 0xFFFFFF), gid(2, 5), gid(77, 1)])
def test_what_nobody_has_is_let_go_of(cockpit: Cockpit, other: int) -> None:
    with cockpit.connect("open") as owner, cockpit.connect("cluster") as reader:
        slab = owner.export_new()
        owner.grant(slab, 2)
        reader.import_(gid(1, slab)).close()
        for connection in (owner, reader):
            connection.send_raw(pack(UNIMPORT, other, serial=3))
            connection.send_raw(pack(UNIMPORT, other))
        assert importers(cockpit, "cluster") == [1] == importers(cockpit, "open")
        owner.send_raw(pack(UNIMPORT, gid(1, slab)))  # it owns it, and has not imported it
        assert importers(cockpit, "open") == [1]


@pytest.mark.cockpit(THREE)
def test_loans_end_when_the_lender_lets_go(cockpit: Cockpit) -> None:
    with (
        cockpit.connect("cluster") as owner,
        cockpit.connect("cluster") as lender,
        cockpit.connect("hud") as borrower,
    ):
        slab = owner.export_new()
        lender.import_(gid(2, slab)).close()
        assert lender.grant(slab, 3) == (0, 0, "")
        borrower.import_(gid(2, slab)).close()
        lender.send_raw(pack(UNIMPORT, gid(2, slab)))
        assert borrower.event(REVOKED).values == (gid(2, slab),)
        assert lender.grant(slab, 3)[0] == number("ENOENT")


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
