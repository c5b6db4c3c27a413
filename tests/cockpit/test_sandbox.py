# SPDX-License-Identifier: MIT
"""What the processes that gid-cockpit starts are kept from."""

import os
import subprocess
from pathlib import Path

import pytest
from gid_cockpit.sandbox import can_keep_from_writing, confine, guest_share, put_into_share
from test_cockpit import Tool, tool  # noqa: F401

ROOT = os.geteuid() == 0


def status(pid: int | str) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}


def test_a_gidd_gets_no_more_rights(tool: Tool) -> None:  # noqa: F811
    assert tool.run("up").returncode == 0
    for domain in tool.status().values():
        said = status(domain["pid"])
        assert said["NoNewPrivs"] == "1"
    assert tool.run("down").returncode == 0


@pytest.mark.needs_root
def test_a_gidd_of_root_keeps_three_of_its_rights(tool: Tool) -> None:  # noqa: F811
    """CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER."""
    assert tool.run("up").returncode == 0
    for domain in tool.status().values():
        said = status(domain["pid"])
        assert {int(said[key], 16) for key in ("CapBnd", "CapEff", "CapPrm")} == {0b1011}
    assert tool.run("down").returncode == 0


@pytest.mark.skipif(not can_keep_from_writing(), reason="setpriv or the kernel has no Landlock")
def test_it_writes_only_where_it_may(tmp_path: Path) -> None:
    mine, others = tmp_path / "mine", tmp_path / "others"
    for folder in (mine, others):
        folder.mkdir()
        (folder / "old").write_text("before")

    def write(path: Path) -> bool:
        words = confine(["sh", "-c", 'echo after >"$1"', "sh", str(path)], [mine], ROOT)
        return subprocess.run(words, capture_output=True).returncode == 0

    assert [write(mine / name) for name in ("old", "new")] == [True, True]
    assert [write(others / name) for name in ("old", "new")] == [False, False]
    assert (others / "old").read_text() == "before"
    assert sorted(os.listdir(others)) == ["old"]
    words = confine(["cat", str(others / "old")], [mine], ROOT)
    assert subprocess.run(words, capture_output=True, text=True).stdout == "before"


def test_a_share_where_the_groups_are_not_ours() -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        group = put_into_share(process.pid, "open", guest_share(0), Path("/proc/none"))
        rank = Path(f"/proc/{process.pid}/oom_score_adj").read_text()
        process.kill()
    assert (group, rank) == (None, "300\n")
