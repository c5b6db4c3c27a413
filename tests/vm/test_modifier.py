# SPDX-License-Identifier: MIT
"""A modifier is kept from the producer to the compositor, and nobody looks into such a picture.

The modifier is one of an Intel GPU, and the memory /dev/udmabuf's: no device has made it, so that
all of gidway sees what it would see of a real one, and a compositor's driver would refuse it.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from gid_vm.own_kernel import own_kernel, why_no_kernel
from lib.pipeline import make_registry
from lib.program import BUILD, python_env

pytestmark = [
    pytest.mark.skipif(why_no_kernel() is not None, reason=str(why_no_kernel())),
    pytest.mark.timeout(1800),
]

HERE = Path(__file__).parent
HIGH, LOW = 0x01000000, 0x00000004
OFFSETS, STRIDES = [4096, 49152], [512, 128]  # of tiled_source.c: a plane more than the format has
NAME = f"XR24:0x{HIGH:08x}{LOW:08x}"


@pytest.fixture(scope="module")
def found() -> Iterator[dict]:
    environment = python_env() | {"GIDWAY_BUILD": str(BUILD)}
    with own_kernel("open") as guest:
        guest.run(["modprobe", "udmabuf"])  # or it is a part of the kernel
        result = guest.run(
            ["python3", str(HERE / "modifiers.py"), str(make_registry())],
            env=environment,
            timeout=720,
        )
        assert result.code == 0, f"{result.err[-4000:]}\n{result.out}"
        yield json.loads(result.out)


@pytest.mark.parametrize("way", ["received", "without crop", "afterwards"])
def test_gidsrc_gives_it_back(found: dict, way: str) -> None:
    """As it was, also where downstream knows no crop: its rows are not where others' are."""
    received = found[way]
    assert received["errors"] == [] and received["status"] == 0
    (caps,) = received["caps"]
    assert f"drm-format=(string){NAME}" in caps and "memory:DMABuf" in caps
    for frame in received["frames"]:
        assert frame["memory_type"] == "dmabuf"
        assert (frame["offsets"], frame["strides"]) == (OFFSETS, STRIDES)
        assert (frame["meta_width"], frame["meta_height"]) == (64, 48)
    assert {str(frame.get("crop")) for frame in received["frames"]} == {"None", "[6, 4, 58, 44]"}


def test_who_holds_all_hears_of_it(found: dict) -> None:
    """Such frames cannot be copied: no more come, which nothing else would tell."""
    held = found["held"]
    (warning,) = held["warnings"]
    assert '"film"' in warning and "DMA_DRM" in warning
    assert held["held"] == 4, "as many as its credit="
    assert (held["stats"]["copied-frames"], held["stats"]["taken"]) == (0, 0)
    assert held["errors"] == [] and held["status"] == 0


def test_the_compositor_gets_it(found: dict) -> None:
    told = found["taken"]["told"]
    assert told[:2] == ["ready", "formats"], "it is not asked before it has said what it can show"
    adds = [tuple(map(int, line.split()[3:])) for line in told if line.startswith("add ")]
    planes = zip(range(2), OFFSETS, STRIDES, strict=True)
    assert set(adds) == {(*plane, HIGH, LOW) for plane in planes}
    creates = {line for line in told if line.startswith("create ")}
    assert creates == {f"create 64 48 {int.from_bytes(b'XR24', 'little')}"}
    assert told.count("attach") >= 3


def test_a_compositor_that_fails_is_told_of(found: dict) -> None:
    assert any(line.startswith("create ") for line in found["failed"]["told"])
    assert "cannot be shown" in found["failed"]["view"]


@pytest.mark.parametrize("other", ["linear", "other"])
def test_a_compositor_without_it_is_not_asked(found: dict, other: str) -> None:
    """Neither the same format with another modifier nor another format with the same is enough."""
    said = found[other]["view"]
    assert f"XR24 with modifier 0x{HIGH:08x}{LOW:08x}" in said
    assert not [line for line in found[other]["told"] if line.split()[0] in ("add", "create")]
    assert found["source"], "the producer does not mind"
