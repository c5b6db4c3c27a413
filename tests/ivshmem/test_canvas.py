# SPDX-License-Identifier: MIT
"""A canvas whose engine is on another machine: memory moves, a program is stopped; it goes on."""

import json
import signal
import subprocess
import time
from collections.abc import Callable

import pytest
from lib.cockpit import Cockpit
from lib.engine import start_engine
from lib.machines import CONFIG, start
from lib.program import BUILD, PATIENCE, Program, wait_for

ENGINE = "[canvas panel]\ndomain=open\nmemory=1M\n"
LAYOUT = "[canvas]\nengine=host\nname=panel\nwidth=64\nheight=48\nbackground=#{:06x}\n"
LEASES = 3.0  # seconds: of the engine's frames each is one


class Drawing:
    """gid-compose in a guest, which draws whenever its file changes, and gid-engine on the host."""

    def __init__(self, cockpit: Cockpit) -> None:
        self._cockpit = cockpit
        self._layout, self._stats = cockpit.folder / "panel.ini", cockpit.folder / "stats.json"
        self._write(0)
        command = [BUILD / "tools/gid-compose/gid-compose", "--stats", self._stats, self._layout]
        self.composing = cockpit.run("open", command)

    def start_engine(self) -> Program:
        return start_engine(self._cockpit, ENGINE, "host")

    def slabs(self, owner: str) -> list[str]:
        return [slab["gid"] for slab in self._cockpit.status(owner)["slabs"] if slab["owner"]]

    def revoke(self, owner: str, gid: str) -> None:
        words = [BUILD / "tools" / "gidctl" / "gidctl", "revoke", owner, gid]
        subprocess.run(words, env=self._cockpit.env("host"), check=True, timeout=PATIENCE)

    def _write(self, colour: int) -> None:
        new = self._layout.with_suffix(".new")
        new.write_text(LAYOUT.format(colour))
        new.rename(self._layout)

    def _pictures(self) -> int:
        return json.loads(self._stats.read_text())["pictures"] if self._stats.exists() else 0

    def draws(self) -> None:
        """A picture more."""
        before = self._pictures()
        self._write(before)
        try:
            wait_for(lambda: self._pictures() > before, "a picture")
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.composing.stderr}") from None

    def wait_waiting(self) -> None:
        wait_for(self._stats.exists, "it to wait for its engine")


@pytest.fixture
def machines(make_cockpit: Callable[..., Cockpit]) -> Cockpit:
    cockpit = make_cockpit(CONFIG)
    start(cockpit)
    return cockpit


@pytest.mark.parametrize("owner", ["host", "open"])
def test_memory_that_moves(machines: Cockpit, owner: str) -> None:
    """What the engine writes for the program that draws, and what that writes for the engine."""
    drawing = Drawing(machines)
    drawing.start_engine()
    drawing.draws()
    for _ in range(3):
        for gid in drawing.slabs(owner):
            drawing.revoke(owner, gid)
            wait_for(lambda gid=gid: gid not in drawing.slabs(owner), "another slab")
            drawing.draws()


@pytest.mark.parametrize("owner", ["host", "open"])
def test_memory_that_is_left_too_late(machines: Cockpit, owner: str) -> None:
    """Its content is lost, lists that nobody has read and the engine's report with it."""
    drawing = Drawing(machines)
    engine = drawing.start_engine()
    drawing.draws()
    late = engine if owner == "host" else drawing.composing
    for i in range(len(drawing.slabs(owner))):  # an engine that begins anew makes new ones
        gid = drawing.slabs(owner)[i]
        late.signal(signal.SIGSTOP)
        drawing.revoke(owner, gid)
        wait_for(lambda gid=gid: gid not in drawing.slabs(owner), "gidd to take it back")
        late.signal(signal.SIGCONT)
        drawing.draws()


def test_memory_for_which_there_is_no_room(make_cockpit: Callable[..., Cockpit]) -> None:
    """To be there twice, as what moves has to be: the engine begins anew with what is free then."""
    own = "number=3\nkind=host\n"
    assert own in CONFIG
    cockpit = make_cockpit(CONFIG.replace(own, f"{own}client-slabs=3\n"))
    start(cockpit)
    drawing = Drawing(cockpit)
    engine = drawing.start_engine()
    while engine.stderr.count("beginning anew") < 3:  # where it has fewer slabs they can move
        drawing.draws()
        gid = drawing.slabs("host")[-1]
        drawing.revoke("host", gid)
        wait_for(lambda gid=gid: gid not in drawing.slabs("host"), "another slab")
    drawing.draws()


def test_program_that_is_late(machines: Cockpit) -> None:
    """The engine says only once where its report is; a guest that was paused hears it, too."""
    drawing = Drawing(machines)
    drawing.wait_waiting()
    drawing.composing.signal(signal.SIGSTOP)
    drawing.start_engine()

    def is_sent() -> bool:
        subscriptions = machines.status("host")["subscriptions"]
        report = [one for one in subscriptions if one["stream"] == "canvas/panel/report"]
        return any(one.get("producer_counts", {}).get("frames", 0) > 0 for one in report)

    wait_for(is_sent, "the report to be sent")
    time.sleep(LEASES)
    drawing.composing.signal(signal.SIGCONT)
    drawing.draws()
