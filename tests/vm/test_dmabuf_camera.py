# SPDX-License-Identifier: MIT
"""A stream of dma-bufs as a camera of PipeWire: uncopied for who takes them, copied for others."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from gid_vm.own_kernel import own_kernel, why_no_kernel
from lib.pipeline import make_registry
from lib.program import BUILD, python_env

pytestmark = pytest.mark.skipif(why_no_kernel() is not None, reason=str(why_no_kernel()))

SCRIPT = Path(__file__).with_name("dmabuf_camera.py")


@pytest.fixture(scope="module")
def seen() -> Iterator[dict[str, dict]]:
    """What each group of readers saw, one after the other."""
    registry = make_registry()
    with own_kernel("open", []) as guest:
        environment = python_env() | {"GIDWAY_BUILD": str(BUILD)}
        done = guest.start(["python3", str(SCRIPT), str(registry)], env=environment).wait(420)
        assert done.code == 0, f"{done.err[-5000:]}\n{done.out}"
        yield json.loads(done.out.splitlines()[-1])


@pytest.mark.parametrize("name", ["gstreamer", "any"])
def test_who_takes_dmabufs_has_them_uncopied(seen: dict[str, dict], name: str) -> None:
    found = seen[name]
    assert found[name]["colours"] == ["ff336699"] and found[name]["dmabufs"] > 0, found
    # Memory that comes after PipeWire has asked its readers is copied: a slow sender may need more.
    assert found["counts"]["copied"] == 0 or found["counts"]["new"] > 1, found


def test_who_takes_none_has_copies_as_have_those_that_come_then(seen: dict[str, dict]) -> None:
    found = seen["files any"]
    for name in ("files", "any"):
        assert found[name] == {"colours": ["ff336699"], "dmabufs": 0}, found
    assert found["counts"]["copied"] > 0, found
