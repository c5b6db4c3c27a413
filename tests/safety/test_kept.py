# SPDX-License-Identifier: MIT
"""What Weston keeps of memory that was taken back takes memory of its own: not without end."""

from contextlib import ExitStack

import pytest
from lib.cockpit import Cockpit
from lib.forwarding import show_each
from lib.program import own_kib, wait_for
from lib.session import OwnerProcess
from lib.weston import XRGB8888, Weston

from lab.domains.wayland import Display as Connection

WIDTH, HEIGHT, WINDOWS = 3840, 2160, 6
PICTURE_KIB = WIDTH * HEIGHT * 4 // 1024
LIMIT_KIB = 128 * 1024


def test_what_is_kept_is_bounded(cockpit: Cockpit) -> None:
    weston = Weston(cockpit.folder, cockpit.env("open")).start()
    owner = OwnerProcess(cockpit.env("open"))
    with Connection(weston.socket, weston.protocols) as connection:
        _, *gids = owner.call("create", XRGB8888, WIDTH, HEIGHT, WINDOWS, 0)
        made = show_each(connection, gids, WIDTH, HEIGHT)
        before = own_kib(weston.program.pid)
        owner.kill()
        for params in made:
            params.wait("revoked")
        # Those that are not shown at the moment of revocation settle a little later.
        wait_for(lambda: own_kib(weston.program.pid) - before > PICTURE_KIB, "pictures to be kept")
        connection.roundtrip()
        grown = own_kib(weston.program.pid) - before
        assert grown < LIMIT_KIB + PICTURE_KIB, "and not all six"
        last = WINDOWS * PICTURE_KIB
        assert last > LIMIT_KIB + PICTURE_KIB, "which would have been more"


CLIENTS = 6
WINDOWS_OF_ONE = LIMIT_KIB // PICTURE_KIB
ALL_KIB = 512 * 1024


@pytest.mark.parametrize("owners", [1, CLIENTS], ids=["at once", "one after the other"])
def test_what_all_clients_keep_is_bounded(cockpit: Cockpit, owners: int) -> None:
    """A program can connect as often as it likes, and show one picture many times."""
    weston = Weston(cockpit.folder, cockpit.env("open")).start()
    with ExitStack() as stack:
        slabs = [OwnerProcess(cockpit.env("open")) for _ in range(owners)]
        gids = [owner.call("create", XRGB8888, WIDTH, HEIGHT, 1, 0)[1] for owner in slabs]
        made = []
        for number in range(CLIENTS):
            connection = stack.enter_context(Connection(weston.socket, weston.protocols))
            of_one = [gids[number % owners]] * WINDOWS_OF_ONE
            made.append(show_each(connection, of_one, WIDTH, HEIGHT))
        before = own_kib(weston.program.pid)
        for number, owner in enumerate(slabs):
            owner.kill()
            for of_one in made[number::owners]:
                for params in of_one:
                    params.wait("revoked")
        wait_for(lambda: own_kib(weston.program.pid) - before > PICTURE_KIB, "pictures to be kept")
        last = stack.enter_context(Connection(weston.socket, weston.protocols))
        last.roundtrip()
        grown = own_kib(weston.program.pid) - before
        most = LIMIT_KIB if owners == 1 else ALL_KIB
        assert grown < most + PICTURE_KIB
        assert CLIENTS * WINDOWS_OF_ONE * PICTURE_KIB > most + PICTURE_KIB, "as it would have been"
