# SPDX-License-Identifier: MIT
"""A producer that lies: each lie is found, named, and never shown as live."""

import signal
import subprocess

import pytest
from lib.cockpit import Cockpit
from lib.display import LIAR, Display, liar_roles
from lib.program import wait_for


@pytest.fixture
def lie() -> str:
    return "flood"


@pytest.fixture
def display(cockpit: Cockpit, lie: str) -> Display:
    hashes = subprocess.run([LIAR, "hashes"], capture_output=True, text=True, check=True).stdout
    for name, line in zip(("left", "right"), hashes.splitlines(), strict=True):
        (cockpit.folder / f"{name}.hashes").write_text("\n".join(line.split()) + "\n")
    frozen = 300 if lie in ("freeze", "padding") else 10000
    return Display(cockpit, liar_roles(f"allowed={{name}}.hashes\nfrozen-ms={frozen}\n"))


@pytest.mark.parametrize(
    ("lie", "state", "reason"),
    [
        ("flip", "wrong", "hash-mismatch"),
        ("forge", "wrong", "not-allowed"),
        ("swap", "wrong", "not-allowed"),
        ("freeze", "frozen", "frozen"),
        ("padding", "frozen", "frozen"),
        ("ahead", "wrong", "ahead"),
        ("replay", "wrong", "old-frame"),
        ("no-hash", "wrong", "no-hash"),
        ("corrupted", "wrong", "corrupted"),
        ("small", "wrong", "layout"),
        ("break", "lost", "protocol"),
    ],
)
def test_lie(cockpit: Cockpit, display: Display, lie: str, state: str, reason: str) -> None:
    liar = cockpit.run("open", [LIAR, lie])
    for name in ("left", "right"):
        display.wait_role("live", name=name)
    liar.signal(signal.SIGUSR1)
    for name in ("left", "right"):
        found = display.wait_transition(reason, name)
        assert found["to"] == state
        first = next(t for t in display.role(name)["transitions"] if t["from"] == "live")
        assert first["reason"] == reason, "and not found by another"
    liar.signal(signal.SIGUSR1)
    for name in ("left", "right"):
        wait_for(lambda name=name: display.role(name)["state"] == "live", "the way back to live")


def test_a_flood_does_not_cost_the_display(cockpit: Cockpit, display: Display) -> None:
    """Frames as fast as they can be sent: a bounded number of them is looked at."""
    cockpit.run("open", [LIAR, "flood"])
    for name in ("left", "right"):
        display.wait_role("live", name=name)
    before = display.status()
    wait_for(lambda: display.status()["frames"] > before["frames"] + 120, "two seconds of frames")
    after = display.status()
    refreshes = (after["frames"] - before["frames"]) * 1.5 + 10
    for old, new in zip(before["roles"], after["roles"], strict=True):
        assert new["frames"] - old["frames"] <= 2 * refreshes
        assert new["state"] == "live"
