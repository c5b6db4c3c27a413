# SPDX-License-Identifier: MIT
"""gidsrc: when a producer wants its pictures to be shown, and how they are to be turned."""

import time
from collections.abc import Iterator
from pathlib import Path

import gid
import numpy as np
import pytest
from lib.cockpit import Cockpit
from lib.pipeline import Pipeline, gst_env
from lib.program import Program, wait_for

WIDTH, HEIGHT = 32, 16
HOUR, SECOND = 3600 * 10**9, 10**9
SINK = "fakesink name=watch sync=true"


@pytest.fixture
def producer(cockpit: Cockpit) -> Iterator[gid.Producer]:
    with gid.Domain(str(cockpit.socket("open"))) as domain:
        yield domain.producer("movie", "XR24", WIDTH, HEIGHT, slots=16, credit_max=16)


def read(cockpit: Cockpit, producer: gid.Producer, properties: str = "") -> Pipeline:
    receiver = Pipeline(
        cockpit, "cluster", f"gidsrc name=src domain=open stream=movie {properties} ! {SINK}"
    )
    wait_for(lambda: producer.consumers == 1, "a reader")
    return receiver


def paint(producer: gid.Producer, **said: int) -> None:
    with producer.slot(**said) as picture:
        picture[...] = 7


@pytest.mark.parametrize("ahead", [HOUR, 2**62])
def test_a_time_that_is_far_is_not_waited_for(
    cockpit: Cockpit, producer: gid.Producer, ahead: int
) -> None:
    """Neither by a sink, nor for the next producer's pictures."""
    receiver = read(cockpit, producer)
    paint(producer, present_time=min(time.monotonic_ns() + ahead, 2**63 - 1))
    paint(producer)
    receiver.wait_frames(2, timeout=20)
    assert receiver.frames[0]["pts"] < receiver.frames[1]["pts"] < 60 * SECOND


def test_a_time_that_is_far_keeps_nothing_from_being_filled_in(
    cockpit: Cockpit, producer: gid.Producer
) -> None:
    receiver = read(cockpit, producer, "fill=last forward-eos=false")
    paint(producer, present_time=time.monotonic_ns() + HOUR)
    receiver.wait_frames(1)
    producer.close()
    receiver.wait_frames(5, timeout=20)


def test_a_time_that_is_near_is_the_producers(cockpit: Cockpit, producer: gid.Producer) -> None:
    """As of a gidsink whose ts-offset= has it send each frame long before its time."""
    receiver = read(cockpit, producer)
    paint(producer)
    paint(producer, present_time=time.monotonic_ns() + 2 * SECOND)
    receiver.wait_frames(2)
    assert receiver.frames[1]["pts"] - receiver.frames[0]["pts"] > 1.9 * SECOND


def turned_back(picture: np.ndarray, transform: int) -> np.ndarray:
    """Its producer flipped it, then turned it counter-clockwise."""
    turned = np.rot90(picture, -(transform % 4))
    return turned[:, ::-1] if transform >= 4 else turned


def test_pictures_are_turned_as_their_producer_says(
    cockpit: Cockpit, producer: gid.Producer, tmp_path: Path
) -> None:
    """By a tag, as of films: it comes with a picture, and holds until the next that differs."""
    file = tmp_path / "pictures"
    text = "gidsrc domain=open stream=movie ! videoflip video-direction=auto ! "
    text += f"filesink buffer-mode=unbuffered location={file}"
    environment = gst_env(cockpit.env("cluster"), cockpit.folder / "registry.bin")
    reader = Program(["gst-launch-1.0", "-q", *text.split()], environment, cockpit.folder)
    wait_for(lambda: producer.consumers == 1, "a reader")
    corners = np.zeros((HEIGHT, WIDTH, 4), np.uint8)
    corners[:4, :8] = 250
    corners[4:, 8:] = 90
    transforms = [0, *range(8), 0]
    for transform in transforms:
        with producer.slot(transform=transform) as picture:
            picture[...] = corners

    def written() -> int:
        assert reader.is_running(), reader.stderr
        return file.stat().st_size if file.exists() else 0

    wait_for(lambda: written() >= len(transforms) * corners.nbytes, "all pictures")
    data = np.fromfile(file, np.uint8).reshape(len(transforms), -1)
    wanted = [turned_back(corners, transform) for transform in transforms]
    assert [bytes(row) == turned.tobytes() for row, turned in zip(data, wanted, strict=True)] == [
        True
    ] * len(transforms)
