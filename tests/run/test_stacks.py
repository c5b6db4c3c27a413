# SPDX-License-Identifier: MIT
"""The stacks of gid-cluster and gidd as they are."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from lib.program import BUILD, TOP

# Beside other tests each of its compilations, some hundred, waits for a processor.
pytestmark = pytest.mark.timeout(3600)


def test_nothing_recurses_and_each_stack_is_known(tmp_path: Path) -> None:
    out = tmp_path / "stack.json"
    result = subprocess.run(
        [TOP / "scripts/stack", "--json", out],
        env=os.environ | {"GIDWAY_BUILD": str(BUILD)},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    found = json.loads(out.read_text())
    assert found["problems"] == []
    threads = {
        one["program"]: {thread["function"].partition(":")[0] for thread in one["threads"]}
        for one in found["programs"]
    }
    assert threads["gidd"] == {"libgid/closer.c", "common/log/log_writer.c", "main"}
    assert {"main", "cluster/workers/worker.c"} < threads["gid-cluster"]
    assert all(one["pointer_calls"] > 0 for one in found["programs"])
