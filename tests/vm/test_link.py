# SPDX-License-Identifier: MIT
"""Streams between machines: whole, in order, not copied, whatever becomes of the machines."""

from collections.abc import Iterator

import pytest
from gid_vm.guest import why_not
from guests import Machines
from pipeline import LOSSLESS

pytestmark = [
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
    pytest.mark.timeout(300),
]


@pytest.fixture(scope="module")
def machines() -> Iterator[Machines]:
    machines = Machines()
    try:
        machines.boot("open", "cluster")
        yield machines
    finally:
        machines.close()


@pytest.mark.parametrize(
    ("owner", "reader"), [("open", "host"), ("host", "open"), ("open", "cluster")]
)
def test_300_frames(machines: Machines, owner: str, reader: str) -> None:
    watch = f"gidsrc domain={owner} stream=movie ! fakesink name=watch sync=false"
    receiver = machines.play(reader, watch, "--video-meta", "1")
    source = "videotestsrc pattern=ball num-buffers=300 ! video/x-raw,format=I420,width=320"
    source += ",height=240,framerate=60/1 ! identity name=watch"
    sender = machines.play(owner, f"{source} ! gidsink name=sink stream=movie {LOSSLESS}")
    for end in (sender, receiver):
        result = end.finish()
        assert result.code == 0, f"{result.out[-2000:]}\n{result.err[-2000:]}"
    sent, received = ([frame["sum"] for frame in end.lines("frame")] for end in (sender, receiver))
    assert len(received) == 300 and received == sent
    assert len(set(sent)) > 100
    stats = [m["fields"] for m in sender.lines("bus") if m.get("name") == "gid-sink-stats"][-1]
    assert (stats["copied-frames"], stats["copied-bytes"], stats["dropped"]) == (0, 0, 0)
