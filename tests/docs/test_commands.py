# SPDX-License-Identifier: MIT
"""The commands of the documents, run as they stand there, in as many terminals as they say."""

import pytest
from documents import read_document
from program import TOP
from reader import Reader

pytestmark = pytest.mark.timeout(600)


def test_readme(reader: Reader) -> None:
    reader.follow(read_document(TOP / "README.md"))
    said = reader.terminal("1").text
    assert "gid-view: showing movie" in said
    assert said.count("chain") == 5, "five frames of the camera"
    assert (reader.folder / "film.mp4").stat().st_size > 100_000


def test_engine(reader: Reader) -> None:
    """The camera moves from the right to the left: the two pictures differ."""
    reader.follow(read_document(TOP / "docs/engine.md"))
    before, after = ((reader.folder / f"{name}.png").read_bytes() for name in ("before", "after"))
    assert len(before) > 1000 and len(after) > 1000
    assert before != after


def test_timeline(reader: Reader) -> None:
    """The page of a pipeline, with the names of its domains and each stage of its stream."""
    reader.follow(read_document(TOP / "docs/timeline.md"))
    assert "stream movie, open → cluster: " in reader.terminal("host").text
    page = (reader.folder / "way.html").read_text()
    for words in ("My pipeline", "open → cluster", "capture → shown", "Weston of cluster"):
        assert words in page


def test_hardware(reader: Reader) -> None:
    """Its pipeline says which frames were copied, with the decoder that every machine has."""
    reader.follow(read_document(TOP / "docs/hardware.md"))
    assert "copied-frames" in reader.terminal("1").text
