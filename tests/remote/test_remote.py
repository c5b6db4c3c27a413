# SPDX-License-Identifier: MIT
"""The pipelines of docs/remote.md, between two namespaces, and how old pictures are there."""

import statistics
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from lib.document_reader import Reader
from lib.documents import read_document
from lib.program import PATIENCE, TOP, devenv
from network import Network, why_not
from numbered import Sink, Source

pytestmark = [
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
    pytest.mark.timeout(600),
]

PICTURES = 90  # that have to arrive each way
WAYS = ["RTP with H.264", "Raw RTP, RFC 4175", "SRT", "RTSP"]
DOCUMENT = TOP / "docs/remote.md"


@pytest.fixture(scope="module")
def machines() -> Iterator[Reader]:
    """Both machines, with their daemons."""
    network = Network()
    before = {name: network.command(name) for name in ("sender", "receiver")}
    # Programs of the test are on both machines, too: shells of ./run have a /run of their own.
    reader = Reader(devenv(), before)
    try:
        reader.follow(read_document(DOCUMENT), "Two machines")
        yield reader
        reader.follow(read_document(DOCUMENT), "What does not cross")
    finally:
        reader.close()
        network.close()


def socket(reader: Reader, machine: str, domain: str) -> Path:
    return reader.runtime / machine / domain / "gidd.sock"


@pytest.fixture(scope="module")
def source(machines: Reader) -> Iterator[Source]:
    source = Source(str(socket(machines, "sender", "open")))
    yield source
    source.close()


def ages(sink: Sink, source: Source) -> list[float]:
    """How old pictures are when they come, in ms. They are in order, and every one is whole."""
    found: list[float] = []
    last = -1
    broken = 0
    while len(found) < PICTURES:
        number, came = sink.receive(PATIENCE)
        if number not in source.sent or number <= last:
            broken += 1  # at the beginning, or where packets were lost
            assert broken < 10 * PICTURES, "hardly a picture is whole"
            continue
        last = number
        found.append((came - source.sent[number]) * 1000)
    return found


def tell(name: str, found: list[float], record_property: Callable[[str, object], None]) -> None:
    middle = statistics.median(found)
    late = sorted(found)[len(found) * 95 // 100]
    record_property(name, f"p50 {middle:.1f} ms, p95 {late:.1f} ms")
    print(f"{name}: age of a picture p50 {middle:.1f} ms, p95 {late:.1f} ms")


def test_gid_alone(
    machines: Reader, source: Source, record_property: Callable[[str, object], None]
) -> None:
    """For comparison: another process on the sender."""
    sink = Sink(str(socket(machines, "sender", "open")))
    try:
        tell("gid alone", ages(sink, source), record_property)
    finally:
        sink.close()


@pytest.mark.parametrize("way", WAYS)
def test_a_stream_arrives(
    machines: Reader, source: Source, way: str, record_property: Callable[[str, object], None]
) -> None:
    sink = Sink(str(socket(machines, "receiver", "far")))
    try:
        machines.follow(
            read_document(DOCUMENT), way, lambda: tell(way, ages(sink, source), record_property)
        )
    finally:
        sink.close()
