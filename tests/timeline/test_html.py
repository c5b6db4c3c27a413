# SPDX-License-Identifier: MIT
"""The HTML report is one file, whole and harmless, whatever the log says."""

import html.parser
import json
import re

import logs
import pytest
from gid_timeline import lanes
from gid_timeline.cli import main

VOID = {"meta", "link", "br", "img", "input", "hr"}


class Checker(html.parser.HTMLParser):
    """Follows the nesting of elements, and collects text and what would be loaded."""

    def __init__(self):
        super().__init__()
        self.open, self.loads, self.text, self.data = [], [], [], []

    def handle_starttag(self, tag, attributes):
        names = ("src", "href", "xlink:href", "action", "poster")
        self.loads += [value for name, value in attributes if name in names]
        self.kind = dict(attributes).get("type")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            if self.kind == "application/json":
                self.data.append(json.loads(data))
        else:
            self.text.append(data)


def page(tmp_path, log):
    (tmp_path / "tl.log").write_text(log)
    out = tmp_path / "out.html"
    assert main(["report", str(tmp_path / "tl.log"), "-o", str(out)]) == 0
    checker = Checker()
    checker.raw = out.read_text()
    checker.feed(checker.raw)
    checker.close()
    assert checker.open == []
    return checker


def test_one_file_that_loads_nothing(tmp_path):
    checked = page(tmp_path, logs.run(frames=100, late={10}))
    assert checked.loads == []
    assert not re.search(r"https?:|url\(|@import", checked.raw)
    text = " ".join(checked.text)
    assert "DP-1" in text and "1 × it was posted in time" in text


def test_the_lanes_have_every_frame_of_a_short_log(tmp_path):
    checked = page(tmp_path, logs.run(frames=100, late={10}))
    (data,) = checked.data
    frames = data["frames"]
    assert len(frames["begin"]) == 100
    assert [i for i, late in enumerate(frames["late"]) if late] == [10]
    assert all(
        round((posted - begin) * 1000) == 2 * logs.MS
        for begin, posted in zip(frames["begin"], frames["posted"], strict=True)
    )
    assert len(data["updates"]["flush"]) == 100


@pytest.mark.parametrize("label", ["</script><script>alert(1)</script>", "<b>&amp;", '"\u2028'])
def test_labels_and_names_are_only_text(tmp_path, label):
    log = logs.run(frames=30, name="<i>DP</i>").replace('"film"', f'"{label}"')
    checked = page(tmp_path, log)
    assert label in "".join(checked.text)
    assert checked.data[0]["surfaces"][0]["label"] == label
    assert "<i>" not in checked.raw


def test_a_long_log_shows_its_beginning_and_its_worst_frames(tmp_path):
    checked = page(tmp_path, logs.run(frames=20000, late={15000, 19000}))
    (data,) = checked.data
    assert len(data["frames"]["begin"]) <= lanes.FRAMES_MAX
    assert sum(data["frames"]["late"]) == 2
    assert len(data["spans"]) >= 3
    assert len(checked.raw) < 2_000_000


def test_several_runs(tmp_path):
    log = logs.run(frames=30) + logs.run(frames=40, start=200 * 10**9)
    checked = page(tmp_path, log)
    assert [len(data["frames"]["begin"]) for data in checked.data] == [30, 40]


def test_many_runs_show_the_longest(tmp_path):
    log = "".join(logs.run(frames=3 + i, start=(100 + i) * 10**9) for i in range(20))
    checked = page(tmp_path, log)
    assert [len(data["frames"]["begin"]) for data in checked.data] == list(range(11, 23))
    assert "8 runs with fewer frames left out" in " ".join(checked.text)


def test_a_log_without_frames(tmp_path):
    assert "No repaint" in " ".join(page(tmp_path, logs.seat(1)).text)
