# SPDX-License-Identifier: MIT
"""Safety surfaces in any order: roles, buffers and surfaces that come and go at any time."""

import random
import time
from collections.abc import Callable

import numpy
import pytest
from lib.cockpit import Cockpit
from lib.display import HEIGHT, WIDTH, telltale_picture
from lib.display import ROLE as SHOWN_ROLE
from lib.forwarding import ROLE, Forwarding, GidBuffers, ShmBuffers, random_picture
from lib.length import at_length_but
from lib.program import wait_for
from lib.session import OwnerProcess

from lab.domains.wayland import Disconnected, Object, ProtocolError
from lab.domains.wayland import Display as Connection


class Player:
    """A client that does whatever comes to its mind, as long as it is let."""

    def __init__(
        self, dice: random.Random, connection: Connection, owner: OwnerProcess, folder: object
    ) -> None:
        self.dice, self.connection = dice, connection
        self.compositor = connection.bind("wl_compositor", 4)
        self.subcompositor = connection.bind("wl_subcompositor")
        self.manager = connection.bind("gid_safety_manager_v1")
        gids = GidBuffers(connection, owner, folder, slots=6)
        self.buffers = [gids.draw(random_picture(slot)) for slot in range(6)]
        shm, small = ShmBuffers(connection), ShmBuffers(connection, WIDTH, 60)
        self.buffers += [shm.draw(random_picture(seed)) for seed in range(2)]
        self.buffers.append(small.draw(random_picture(9, WIDTH, 60)))
        self.surfaces: list[Object] = []
        self.roles: list[Object] = []
        self.children: list[Object] = []

    def pick(self, things: list[Object]) -> Object:
        return things[self.dice.randrange(len(things))]

    def create(self) -> None:
        self.surfaces.append(self.compositor("create_surface"))

    def take_role(self) -> None:
        """Often a mistake: it ends the connection."""
        if not self.roles or self.dice.random() < 0.05:
            self.roles.append(
                self.manager("get_safety_surface", self.pick(self.surfaces), "telltale")
            )

    def give_back(self) -> None:
        if self.roles:
            self.roles.pop()("destroy")

    def commit(self) -> None:
        surface = self.pick(self.surfaces)
        for _ in range(self.dice.randrange(1, 8)):
            if self.dice.random() < 0.9:
                surface("attach", self.pick([*self.buffers, None]), 0, 0)
            surface("damage_buffer", 0, 0, WIDTH, HEIGHT)
            surface("set_buffer_transform", self.dice.choice((0, 0, 0, 2, 3)))
            surface("commit")

    def nest(self) -> None:
        child = self.compositor("create_surface")
        self.subcompositor("get_subsurface", child, self.pick(self.surfaces))
        self.children.append(child)

    def destroy_child(self) -> None:
        if self.children:
            self.children.pop()("destroy")

    def destroy_surface(self) -> None:
        self.surfaces.pop(self.dice.randrange(len(self.surfaces)))("destroy")

    def destroy_buffer(self) -> None:
        if len(self.buffers) > 2:
            self.buffers.pop(self.dice.randrange(len(self.buffers)))("destroy")

    def play(self) -> None:
        moves: list[tuple[int, Callable[[], None]]] = [
            (20, self.commit),
            (5, self.create),
            (5, self.take_role),
            (4, self.give_back),
            (3, self.destroy_surface),
            (1, self.destroy_buffer),
            (1, self.nest),
            (2, self.destroy_child),
        ]
        weights, functions = zip(*moves, strict=True)
        self.create()
        for _ in range(self.dice.randrange(20, 200)):
            if not self.surfaces:
                self.create()
            self.dice.choices(functions, weights)[0]()
            if self.dice.random() < 0.1:
                self.connection.roundtrip()
        self.connection.roundtrip()


def play_for(forwarding: Forwarding, seed: int, seconds: float) -> None:
    dice = random.Random(seed)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with forwarding.owner() as owner, forwarding.connection() as connection:
            try:
                Player(dice, connection, owner, forwarding.cockpit.folder).play()
            except (ProtocolError, Disconnected):
                pass
            if dice.random() < 0.3:
                owner.kill()
        assert forwarding.weston.is_running(), forwarding.weston.read_log()


@pytest.mark.parametrize("seed", at_length_but(range(3), 0))
def test_any_order(cockpit: Cockpit, seed: int) -> None:
    forwarding = Forwarding(cockpit, ROLE, roles=SHOWN_ROLE + "transform=any\n")
    play_for(forwarding, seed, seconds=3)
    forwarding.telltale("--state", "11")
    picture = telltale_picture(cockpit.folder, 11)
    wait_for(lambda: numpy.array_equal(forwarding.display.region(), picture), "a telltale")
    forwarding.display.wait_role("live")
    assert forwarding.weston.stop() == 0, forwarding.weston.read_log()
