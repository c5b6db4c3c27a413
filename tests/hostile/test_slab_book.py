# SPDX-License-Identifier: MIT
"""After a restart of gidd a slab's number goes back to a program of the user who had it."""

import os
import struct
from collections.abc import Callable

import pytest
from lib.cockpit import Cockpit
from lib.gidwire import Connection, Export, memfd
from lib.outcome import number
from users import STRANGER, Users

BOOK_MAX = 8192


@pytest.fixture
def users(make_cockpit: Callable[..., Cockpit]) -> Users:
    users = Users(make_cockpit())
    users.start()
    return users


def ask(connection: Connection, slab: int) -> tuple[int, int, str]:
    """For the old number of a slab, of other memory."""
    fd = memfd(4096)
    answer = connection.export(Export(generations=0, slab=slab), fd)
    os.close(fd)
    return answer


def others(uid: int, slab: int) -> tuple[int, int, str]:
    return number("EEXIST"), 0, f"no program of uid {uid} had slab number {slab}"


def restart(users: Users, clean: bool = False) -> None:
    if clean:
        assert users.cockpit.gidds["open"].stop() == 0
    else:
        users.cockpit.kill("open")
    users.start()


@pytest.mark.parametrize("clean", [False, True])
def test_numbers_go_back_to_their_user(users: Users, clean: bool) -> None:
    """However gidd ended. The program that had one may still be stopped."""
    with users.mine() as one, users.stranger() as two:
        mine, theirs, gone = one.export_new(), two.export_new(), one.export_new()
        one.unexport(gone)
        restart(users, clean)
        with users.mine() as mine_again, users.stranger() as stranger:
            assert ask(stranger, mine) == others(STRANGER, mine)
            assert ask(mine_again, theirs) == others(os.getuid(), theirs)
            assert ask(mine_again, gone) == others(os.getuid(), gone)
            assert ask(mine_again, mine) == (0, mine, "")
            assert ask(mine_again, mine)[0] == number("EEXIST")
            assert ask(stranger, theirs) == (0, theirs, "")
            # What was given up, nobody has by its old name again.
            mine_again.unexport(mine)
            assert ask(mine_again, mine) == others(os.getuid(), mine)


def test_who_is_stopped_for_two_restarts(users: Users) -> None:
    with users.mine() as one:
        slab = one.export_new()
        for _ in range(2):
            restart(users)
        with users.stranger() as stranger, users.mine() as again:
            assert ask(stranger, slab) == others(STRANGER, slab)
            assert ask(again, slab) == (0, slab, "")


def test_it_is_forgotten_in_the_end(users: Users) -> None:
    """What nobody asks for in many runs, so that the book does not grow."""
    with users.mine() as one:
        slab = one.export_new()
        for _ in range(9):
            restart(users)
        with users.mine() as again:
            assert ask(again, slab) == others(os.getuid(), slab)


def test_too_many_for_the_book(users: Users) -> None:
    """That is told once, and the next run has none."""
    lock = users.cockpit.runtime / "open" / "link" / "gidd.lock"
    users.cockpit.kill("open")
    entries = [struct.pack("<4I", 1000 + place, STRANGER, 0, 0) for place in range(BOOK_MAX)]
    lock.write_bytes(b"gidbook1" + b"".join(entries))
    users.start()
    with users.mine() as one:
        slabs = [one.export_new() for _ in range(2)]
        users.cockpit.wait_log("open", f"slab's number: there are more than {BOOK_MAX} slabs")
        assert users.cockpit.log("open").count("it is not kept any more") == 1
        restart(users)
        with users.stranger() as stranger:
            assert ask(stranger, slabs[0]) == (0, slabs[0], "")


@pytest.mark.parametrize(
    "content", [b"", b"gidbook1", bytes(range(256)) * 800], ids=["none", "torn", "another file"]
)
def test_without_a_book(users: Users, content: bytes) -> None:
    """Any program has any number that is free, as always in a first run; and a new book begins."""
    lock = users.cockpit.runtime / "open" / "link" / "gidd.lock"
    with users.mine() as one:
        slab = one.export_new()
        users.cockpit.kill("open")
        lock.write_bytes(content)
        users.start()
        with users.stranger() as stranger, users.mine() as other:
            assert ask(stranger, slab) == (0, slab, "")
            restart(users)
            with users.mine() as again, users.stranger() as stranger_again:
                assert ask(again, slab) == others(os.getuid(), slab)
                assert ask(stranger_again, slab) == (0, slab, "")
            other.close()
