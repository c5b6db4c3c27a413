# SPDX-License-Identifier: MIT
"""Gid buffers on surfaces of every role, in any order: windows, popups, subsurfaces and surfaces
without a role, with offsets, scales, transforms and crops, by clients that come and go; in Weston
and in a compositor on wlroots."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from lib.cockpit import Cockpit
from lib.session import OwnerProcess, Slab
from lib.weston import XRGB8888, Client, Weston
from lib.wlroots_screen import WlrootsScreen

from lab.domains.wayland import Disconnected, Object, ProtocolError, protocol_files
from lab.domains.wayland import Display as Connection


class Place:
    """A compositor in `cluster`, and in `open` an owner of memory that it may read."""

    def __init__(self, cockpit: Cockpit, folder: Path, kind: str) -> None:
        self.cockpit, self.folder, self.kind = cockpit, folder, kind
        self.owner = OwnerProcess(cockpit.env("open"))
        if kind == "weston":
            self.weston = Weston(folder, cockpit.env("cluster"))
            self.socket, self.program = self.weston.socket, self.weston.start().program
        else:
            screen = WlrootsScreen(cockpit, folder)
            screen.wait_ready()
            self.socket, self.program = screen.socket, screen.program

    def slab(self) -> Slab:
        slab = Slab(self, XRGB8888, 4, 0)
        self.owner.call("grant", slab.index, 2)
        return slab

    def connect(self) -> Connection:
        return Connection(self.socket, protocol_files())

    def close(self) -> None:
        self.owner.stop()
        running = self.program.is_running()
        assert running and self.program.stop() == 0, self.program.stderr


@pytest.fixture(params=["weston", "wlroots"])
def place(request: pytest.FixtureRequest, cockpit: Cockpit, tmp_path: Path) -> Iterator[Place]:
    made = Place(cockpit, tmp_path, request.param)
    yield made
    made.close()


class Surface:
    def __init__(self, surface: Object) -> None:
        self.surface = surface
        self.roles: list[Object] = []  # in the order in which they may be destroyed
        self.viewport: Object | None = None
        self.popups = 0


class Player:
    """A client that makes no mistake of protocol, unless it is told to."""

    def __init__(
        self, dice: random.Random, connection: Connection, gids: list[int], errs: bool
    ) -> None:
        """`errs`: it destroys objects in any order, which ends its connection."""
        self.dice, self.connection, self.gids, self.errs = dice, connection, gids, errs
        self.client = Client(connection)
        self.compositor = connection.bind("wl_compositor", 5)
        self.subcompositor = connection.bind("wl_subcompositor")
        self.wm = connection.bind("xdg_wm_base", 3)
        self.viewporter = connection.bind("wp_viewporter")
        self.surfaces: list[Surface] = []
        self.params: list[Object] = []
        self.buffers: list[Object] = []
        for _ in range(3):
            self.make_buffer()

    def make_buffer(self) -> None:
        """Of gids that others use as well, and of some that there are not."""
        gid = self.dice.choice([*self.gids, *self.gids, self.gids[0] + 1])
        params, buffer = self.client.create_immed(gid)
        self.buffers.append(buffer)
        self.params.append(params)

    def destroy_buffer(self) -> None:
        """It may be shown, and about to be."""
        if len(self.buffers) > 1:
            self.buffers.pop(self.dice.randrange(len(self.buffers)))("destroy")

    def destroy_params(self) -> None:
        if self.params:
            self.params.pop(self.dice.randrange(len(self.params)))("destroy")

    def make_surface(self) -> None:
        surface = Surface(self.compositor("create_surface"))
        self.surfaces.append(surface)
        self.dice.choice([self.make_window, self.make_popup, self.make_child, lambda _: None])(
            surface
        )

    def configure(self, surface: Surface, xdg_surface: Object) -> None:
        surface.surface("commit")
        (serial,) = xdg_surface.wait("configure")
        xdg_surface("ack_configure", serial)

    def make_window(self, surface: Surface) -> None:
        xdg_surface = self.wm("get_xdg_surface", surface.surface)
        surface.roles = [xdg_surface("get_toplevel"), xdg_surface]
        self.configure(surface, xdg_surface)

    def make_popup(self, surface: Surface) -> None:
        """Of the first window, if that is mapped now."""
        windows = [one for one in self.surfaces if len(one.roles) == 2 and one is not surface]
        windows = [one for one in windows if one.roles[0].interface.name == "xdg_toplevel"]
        if not windows:
            return
        parent = windows[0]
        self.attach(parent)
        parent.surface("commit")
        positioner = self.wm("create_positioner")
        positioner("set_size", 64, 48)
        positioner("set_anchor_rect", 0, 0, 8, 8)
        xdg_surface = self.wm("get_xdg_surface", surface.surface)
        surface.roles = [xdg_surface("get_popup", parent.roles[1], positioner), xdg_surface]
        positioner("destroy")
        self.configure(surface, xdg_surface)

    def make_child(self, surface: Surface) -> None:
        parents = [one for one in self.surfaces if one is not surface]
        if parents:
            parent = self.dice.choice(parents).surface
            child = self.subcompositor("get_subsurface", surface.surface, parent)
            child(self.dice.choice(["set_sync", "set_desync"]))
            child("set_position", self.dice.randrange(-400, 400), self.dice.randrange(-300, 300))
            surface.roles = [child]

    def destroy_surface(self) -> None:
        """The last one: popups go before their parents. Its role may be gone before it."""
        surface = self.surfaces.pop()
        if surface.viewport and self.dice.random() < 0.5:
            surface.viewport("destroy")
            surface.viewport = None
        for role in surface.roles:
            role("destroy")
        surface.surface("destroy")
        if surface.viewport:
            surface.viewport("destroy")

    def destroy_anything(self) -> None:
        """Not in Weston 14, which does not survive a viewport that goes before its surface."""
        surface = self.dice.choice(self.surfaces)
        objects = [surface.surface, *surface.roles, surface.viewport]
        for one in self.dice.sample(objects, self.dice.randrange(1, len(objects))):
            if one:
                one("destroy")
        self.connection.roundtrip()

    def attach(self, surface: Surface) -> None:
        surface.surface("attach", self.dice.choice(self.buffers), 0, 0)

    def turn(self, surface: Surface) -> None:
        surface.surface("set_buffer_transform", self.dice.randrange(8))
        surface.surface("set_buffer_scale", self.dice.choice([1, 1, 2, 4]))

    def move(self, surface: Surface) -> None:
        offset = [self.dice.choice([-(2**31), -300, -1, 0, 7, 2**31 - 1]) for _ in range(2)]
        if surface.surface.version >= 5:
            surface.surface("offset", *offset)

    def crop(self, surface: Surface) -> None:
        """In 256ths of a pixel. With a scale of 4 the picture is 80x60, or 60x80 turned."""
        if surface.viewport is None:
            surface.viewport = self.viewporter("get_viewport", surface.surface)
        left, top = (self.dice.randrange(0, 30 * 256) for _ in range(2))
        width, height = (self.dice.randrange(1, 30 * 256) for _ in range(2))
        if self.dice.random() < 0.2:
            surface.viewport("set_source", -256, -256, -256, -256)
        else:
            surface.viewport("set_source", left, top, width, height)
        # Always: a source of fractions needs a size.
        surface.viewport(
            "set_destination", self.dice.randrange(1, 500), self.dice.randrange(1, 400)
        )

    def damage(self, surface: Surface) -> None:
        box = [self.dice.choice([-(2**31), -5, 0, 3, 1000, 2**31 - 1]) for _ in range(2)]
        box += [self.dice.choice([0, 1, 100, 2**31 - 1]) for _ in range(2)]
        surface.surface(self.dice.choice(["damage", "damage_buffer"]), *box)

    def detach(self, surface: Surface) -> None:
        """Not of windows and popups, which would have to be configured again."""
        if len(surface.roles) < 2:
            surface.surface("attach", None, 0, 0)

    def commit(self) -> None:
        surface = self.dice.choice(self.surfaces)
        changes = [self.turn, self.move, self.crop, self.damage, self.detach]
        for _ in range(self.dice.randrange(1, 6)):
            self.attach(surface)
            for change in self.dice.sample(changes, self.dice.randrange(len(changes))):
                change(surface)
            self.damage(surface)
            if self.dice.random() < 0.95:
                surface.surface("commit")

    def play(self) -> None:
        moves: list[tuple[int, Callable[[], None]]] = [
            (20, self.commit),
            (6, self.make_surface),
            (3, self.destroy_surface),
            (3, self.make_buffer),
            (3, self.destroy_buffer),
            (2, self.destroy_params),
            (1 if self.errs else 0, self.destroy_anything),
        ]
        weights, functions = zip(*moves, strict=True)
        for _ in range(self.dice.randrange(20, 150)):
            if not self.surfaces:
                self.make_surface()
            self.dice.choices(functions, weights)[0]()
            if self.dice.random() < 0.1:
                self.connection.roundtrip()
        if self.dice.random() < 0.5:
            self.connection.roundtrip()  # else it goes with its requests under way


def play(place: Place, dice: random.Random, slab: Slab, clients: int) -> None:
    for _ in range(clients):
        with place.connect() as connection:
            try:
                Player(dice, connection, slab.gids, place.kind == "wlroots").play()
            except (ProtocolError, Disconnected) as error:
                print(error)  # a crop of another size than the picture's, say
        assert place.program.is_running(), place.program.stderr


@pytest.mark.parametrize("seed", range(2))
def test_any_scene(place: Place, seed: int) -> None:
    slab = place.slab()
    with place.connect() as connection:
        bystander = Client(connection)
        bystander.open_window()
        _, shown = bystander.create(slab.gids[0])
        bystander.show(shown)
        play(place, random.Random(seed), slab, clients=25)
        bystander.show(shown)


def test_ten_thousand_buffers(place: Place) -> None:
    """A client gets no more than its share, and others theirs."""
    slab = place.slab()
    with place.connect() as greedy_connection, place.connect() as connection:
        greedy, modest = Client(greedy_connection), Client(connection)
        with pytest.raises((ProtocolError, Disconnected)):
            for index in range(10_000):
                greedy.create_immed(slab.gids[index % 4])
                if index % 100 == 0:
                    greedy.display.roundtrip()
            greedy.display.roundtrip()
        modest.open_window()
        for gid in slab.gids:
            _, buffer = modest.create(gid)
            modest.show(buffer)
