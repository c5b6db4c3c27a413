# SPDX-License-Identifier: MIT
"""The demo's film, in folders of any name, and made by two demos at a time; and its receiver."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from demo.check import Checker, Receiver
from demo.panel import Panel
from lab.domains.program import LabError
from lab.film import clip, film

FRAMES = 132


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """By two who begin at the same time."""
    cache = tmp_path_factory.mktemp('a "b" ä')
    with ThreadPoolExecutor(2) as pool:
        files = list(pool.map(lambda _: clip._generate(cache, lambda _: None), range(2)))
    assert files[0] == files[1] and list(cache.iterdir()) == files[:1]
    return files[0]


def test_a_folder_with_any_name(made: Path, tmp_path: Path) -> None:
    assert clip.count(made) == FRAMES
    folder = tmp_path / "c d"
    folder.mkdir()
    small = clip.shrink(made, 8, folder, 5)
    assert small.parent == folder and clip.count(small) in (FRAMES // 5, FRAMES // 5 + 1)


def test_what_is_no_film_is_told(made: Path) -> None:
    text = made.with_name("text.mp4")
    text.write_text("no film")
    with pytest.raises(LabError, match=r"^text\.mp4 cannot be counted:\n.*\S"):
        clip.count(text)


def test_pictures_of_the_panel(tmp_path: Path) -> None:
    film.Gst.init(None)
    file = tmp_path / "a b.png"
    description = Panel.pipeline("map", file)
    source = film.Gst.parse_launch(f"{description} ! fakesink").iterate_sources().next()[1]
    assert source.get_property("location") == str(file)


def test_latencies_are_told_at_the_end(tmp_path: Path) -> None:
    """To sort those of an hour takes longer than the frames until the next look."""
    receiver = Receiver.__new__(Receiver)
    receiver._checker, receiver._ended = Checker({}), False
    receiver._stats = tmp_path / "check.json"
    stats = SimpleNamespace(n_fields=lambda: 0)
    source = SimpleNamespace(get_property=lambda _: stats)
    receiver._pipeline = SimpleNamespace(get_by_name=lambda _: source)
    receiver._checker.add(0, b"", 5000)
    receiver.write_stats()
    assert json.loads(receiver._stats.read_text())["latency_us"] == {}
    receiver.end()
    receiver.write_stats()
    assert json.loads(receiver._stats.read_text())["latency_us"]["p50"] == 5
