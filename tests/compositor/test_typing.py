# SPDX-License-Identifier: MIT
"""A long text, typed while the window and the desktop that take it are killed: nothing of it is
lost, doubled or stays pressed."""

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from lib.cockpit import Cockpit
from lib.input_window import InputWindow
from lib.two_desks import CONFIG, TwoDesks

KEYS = range(2, 54)  # KEY_1 to KEY_SLASH
MODIFIERS = {15, 28, 29, 42}  # what moves the focus or ends a line; a text has none of them
LETTERS = [key for key in KEYS if key not in MODIFIERS]
AT_ONCE = 20  # keys on their way
IS_LONG = "GIDWAY_LONG" in os.environ
LENGTH, VIEWS, DESKTOPS = (10_000, 40, 10) if IS_LONG else (400, 3, 1)


class Writer:
    """Types a text, and what did not arrive of it once more, as people do."""

    def __init__(self, desks: TwoDesks) -> None:
        self.desks = desks
        self.view, self.window = desks.use()
        self.arrived: list[int] = []

    def settle(self) -> None:
        """Takes what arrived, when no more of it can come. All of it was released."""
        self.take(self.desks.settle(self.window))

    def take(self, keys: list[tuple[int, int]]) -> None:
        held: set[int] = set()
        for code, state in keys:
            assert (code in held) != (state == 1), f"{code} {state} in {keys}"
            held ^= {code}
            if state == 1:
                self.arrived.append(code)
        assert not held, f"{held} stay pressed"

    def write(self, text: list[int]) -> None:
        for code in text:
            self.desks.typist.type(code)

    def kill_view(self) -> None:
        self.view.kill()
        self.view = self.desks.view()

    def kill_desktop(self) -> None:
        """With its windows. What they had got is what counts."""
        self.desks.desk.kill()
        keys = self.window.take_rest()
        self.take(keys[: len(keys) // 2 * 2])
        self.desks.desk.start()
        self.desks.wait_seat()
        self.window: InputWindow = self.desks.window()


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    cockpit = Cockpit(CONFIG)
    cockpit.start_all()
    desks = TwoDesks(cockpit, tmp_path)
    made = Writer(desks)
    yield made
    made.view.kill()
    desks.finish()
    cockpit.close()


def test_typing(writer: Writer) -> None:
    dice = random.Random(34)
    text = [dice.choice(LETTERS) for _ in range(LENGTH)]
    parts = range(0, LENGTH, AT_ONCE)
    killed = dice.sample(parts, VIEWS + DESKTOPS)
    kills = dict.fromkeys(killed[:VIEWS], writer.kill_view)
    kills |= dict.fromkeys(killed[VIEWS:], writer.kill_desktop)
    for begin in parts:
        part = text[begin : begin + AT_ONCE]
        kill = kills.get(begin)
        count = dice.randrange(len(part)) if kill is not None else len(part)
        writer.write(part[:count])
        if kill is not None:
            kill()
        writer.settle()
        there = len(writer.arrived)
        assert writer.arrived == text[:there]  # nothing is doubled, or in another order
        assert there <= begin + count
        assert kill is not None or there == begin + count  # nothing is lost
        writer.write(text[there : begin + AT_ONCE])
    writer.settle()
    assert writer.arrived == text
