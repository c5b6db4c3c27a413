# SPDX-License-Identifier: MIT
"""The benchmark virtual, with one guest: what it counts is there, and of both sides.

Whether it is fast is not asserted: that depends on KVM.
"""

from pathlib import Path

import pytest
from benches import results

pytestmark = pytest.mark.timeout(900)


def test_a_guest_is_counted(tmp_path: Path) -> None:
    arguments = [
        "--seconds=3",
        "--part=load",
        "--part=repaint",
        "--run=gidctl --version",
        "--run=false",
        "--go-on",  # the others are measured all the same
    ]
    result = results("virtual", tmp_path, *arguments)
    rows: dict[str, dict[str, dict]] = {}
    for row in result["rows"]:
        rows.setdefault(row["what"], {})[row["who"]] = row
    start = {name: row["seconds"] for name, row in rows["start"].items()}
    up, live = (
        start["start of the guest to its gidd"],
        start["start of the guest to a live light, drawn without Weston"],
    )
    assert 0 < up < live
    assert live - up == pytest.approx(
        start["guest is up to a live light, drawn without Weston"], abs=0.01
    )
    assert start["start of Weston in the guest to its live light"] > 0
    run = rows["run"]
    assert "gidctl" in run["gidctl --version"]["out"]
    assert "false in open" in rows["failed"]["false"]["why"]
    cpu = {name: row["cpu_percent"] for name, row in rows["cpu"].items()}
    assert cpu["host: QEMU, with all of the guest"] > 0 and 0 <= cpu["guest: in use"] <= 100
    assert cpu["host: meter"] > 0 and rows["rate"]["cluster, with the guest running"]["rate_hz"] > 0
    for row in (rows["repaint"]["gid"], rows["repaint"]["wl_shm"]):
        assert row["repaints"] > 5 and 0 < row["p50_ms"] <= row["max_ms"]
    memory = {name: row["kib"] for name, row in rows["memory"].items()}
    assert memory["host: QEMU, with all of the guest"] > memory["guest: weston"] > 1000
    assert memory["guest: gidd"] > 100
    assert rows["latency"]["the guest's light, from its commit in Weston to light"]["n"] > 0
