# SPDX-License-Identifier: MIT
"""The HTML report is one file, whole and harmless, whatever the log says."""

import html.parser
import json
import re
from pathlib import Path

import logs
import pytest
from gid_timeline import lanes
from gid_timeline.cli import main
from logs import MS
from test_join import POINTS, START, Cockpit, gid_line

VOID = {"meta", "link", "br", "img", "input", "hr"}


Attributes = list[tuple[str, str | None]]


class Checker(html.parser.HTMLParser):
    """Follows the nesting of elements, and collects text and what would be loaded."""

    def __init__(self) -> None:
        super().__init__()
        self.open, self.loads, self.text, self.data, self.ids = [], [], [], [], []

    def handle_starttag(self, tag: str, attributes: Attributes) -> None:
        names = ("src", "href", "xlink:href", "action", "poster")
        self.loads += [value for name, value in attributes if name in names]
        self.kind = dict(attributes).get("type")
        self.ids += [value for name, value in attributes if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: Attributes) -> None:
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            if self.kind == "application/json":
                self.data.append(json.loads(data))
        else:
            self.text.append(data)


def page(tmp_path: Path, *texts: str) -> Checker:
    paths = [tmp_path / f"{number}.log" for number, _ in enumerate(texts)]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    out = tmp_path / "out.html"
    assert main(["report", *map(str, paths), "-o", str(out)]) == 0
    checker = Checker()
    checker.raw = out.read_text()
    checker.feed(checker.raw)
    checker.close()
    assert checker.open == []
    return checker


def test_one_file_that_loads_nothing(tmp_path: Path) -> None:
    checked = page(tmp_path, logs.run(frames=100, late={10}))
    assert all(link.startswith("#") for link in checked.loads)
    assert not re.search(r"https?:|url\(|@import", checked.raw)
    text = " ".join(checked.text)
    assert "DP-1" in text and "1 × it was posted in time" in text


def test_the_lanes_have_every_frame_of_a_short_log(tmp_path: Path) -> None:
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
def test_labels_and_names_are_only_text(tmp_path: Path, label: str) -> None:
    log = logs.run(frames=30, name="<i>DP</i>").replace('"film"', f'"{label}"')
    checked = page(tmp_path, log)
    assert label in "".join(checked.text)
    assert checked.data[0]["surfaces"][0]["label"] == label
    assert "<i>" not in checked.raw


def test_a_long_log_shows_its_beginning_and_its_worst_frames(tmp_path: Path) -> None:
    checked = page(tmp_path, logs.run(frames=20000, late={15000, 19000}))
    (data,) = checked.data
    assert len(data["frames"]["begin"]) <= lanes.FRAMES_MAX
    assert sum(data["frames"]["late"]) == 2
    assert len(data["spans"]) >= 3
    assert len(checked.raw) < 2_000_000


def test_several_runs(tmp_path: Path) -> None:
    log = logs.run(frames=30) + logs.run(frames=40, start=200 * 10**9)
    checked = page(tmp_path, log)
    assert [len(data["frames"]["begin"]) for data in checked.data] == [30, 40]


def test_many_runs_show_the_longest(tmp_path: Path) -> None:
    log = "".join(logs.run(frames=3 + i, start=(100 + i) * 10**9) for i in range(20))
    checked = page(tmp_path, log)
    assert [len(data["frames"]["begin"]) for data in checked.data] == list(range(11, 23))
    assert "8 runs with fewer frames left out" in " ".join(checked.text)


# --- streams ---


def test_contents_name_each_section_that_is_there(tmp_path: Path) -> None:
    cockpit = Cockpit(frames=30)
    log = logs.run(frames=30) + logs.run(frames=40, start=200 * 10**9)
    for texts in ([log], [log, *cockpit.files.values()], [*cockpit.files.values()]):
        checked = page(tmp_path, *texts)
        assert len(checked.ids) == len(set(checked.ids))
        assert {link.removeprefix("#") for link in checked.loads} <= set(checked.ids)
        sections = [
            name for name in checked.ids if re.match("run|output|stream|frames|surf|inside", name)
        ]
        contents = checked.loads[: checked.loads.index("#about")]
        assert contents == [f"#{name}" for name in sections]
    assert "streams" in checked.ids and "frames-1" in checked.ids


def test_the_way_between_domains_comes_first(tmp_path: Path) -> None:
    """What crosses before what does not, and Weston's own after that."""
    cockpit = Cockpit(frames=30)
    cockpit.files[1] += '{ "id":1, "type":"gid_domain", "name":"open" }\n'
    cockpit.files[2] += '{ "id":2, "type":"gid_domain", "name":"cluster" }\n'
    inner = "".join(
        gid_line(START + i * MS, name, 1, "1:9.0#0", 1, stream="canvas/inner")
        for i, name in enumerate(("submit", "receive", "shown"))
    )
    checked = page(tmp_path, logs.run(frames=30), *cockpit.files.values(), inner)
    text = " ".join(checked.text)
    order = (
        "Frame by frame",
        "movie",
        "open → cluster",
        "DP-1",
        "Within one domain",
        "canvas/inner",
    )
    order += ("open → open",)
    places = [text.rindex("From domain to domain")]
    for words in order:
        places.append(text.index(words, places[-1]))
    assert "domain 1" not in text and "domain 2" not in text


@pytest.mark.parametrize("offset", [0, -3_000_000_000_123])
def test_lanes_have_each_frame_of_a_stream_on_one_clock(tmp_path: Path, offset: int) -> None:
    cockpit = Cockpit(offset=offset, frames=50)
    checked = page(tmp_path, *cockpit.files.values())
    (data,) = checked.data
    (stream,) = data["streams"]
    assert (stream["name"], stream["domains"]) == ("movie", "domain 1 → domain 2")
    assert stream["sequence"] == list(range(1, 51))
    for i, truth in enumerate(cockpit.truth):
        for point, time in zip(POINTS[:6], truth[:6], strict=True):
            found = stream[point][i] * 1000 + START
            assert abs(found - time) <= (100_000 if offset else 1)


def test_a_log_of_the_consumer_alone(tmp_path: Path) -> None:
    """It is drawn by the consumer's clock, beside what its Weston did."""
    cockpit = Cockpit(offset=5 * 10**9, frames=50)
    weston = logs.run(frames=50, start=START + 5 * 10**9)
    weston += gid_line(START + 5 * 10**9, "commit", 1, "1:42.0#0", 2, None, by="weston")
    (data,) = page(tmp_path, cockpit.files[2], weston).data
    (stream,) = data["streams"]
    assert stream["sequence"] == list(range(1, 51))
    assert stream["submit"] == [None] * 50 and None not in stream["receive"] + stream["shown"]
    assert len(data["frames"]["begin"]) == 50


def test_a_point_that_is_not_drawn(tmp_path: Path) -> None:
    """The only one of its stream."""
    (data,) = page(tmp_path, gid_line(START, "freed", 1, "1:42.0#0", 1)).data
    assert data["streams"][0]["sequence"] == []


def test_times_that_are_as_far_apart_as_can_be(tmp_path: Path) -> None:
    """As a client can forge them in Weston's log."""
    last, text = (2**32 - 1) * 10**9, ""
    for number in range(1, 5):
        gid = f"1:42.{number}#0"
        text += gid_line(0, "submit", number, gid, 1)
        text += gid_line(last if number > 2 else 0, "shown", number, gid, 1)
    (data,) = page(tmp_path, text).data
    assert data["streams"][0]["late"] == [0] * 4


def test_an_outlier_of_a_stream_is_late(tmp_path: Path) -> None:
    cockpit = Cockpit(frames=200)
    shown = [line for line in cockpit.files[2].splitlines() if "gid_shown" in line]
    time = cockpit.truth[120][POINTS.index("shown")]
    late = gid_line(time + 40 * MS, "shown", 121, "1:42.0#0", 2)
    cockpit.files[2] = cockpit.files[2].replace(shown[120] + "\n", late)
    (data,) = page(tmp_path, *cockpit.files.values()).data
    (stream,) = data["streams"]
    assert [i for i, late in enumerate(stream["late"]) if late] == [120]


def test_westons_run_is_drawn_with_the_streams_of_its_clock(tmp_path: Path) -> None:
    """Which its module tells, or that there is but one; else it is drawn for itself."""
    frames = 40
    run = logs.run(frames=frames, start=START)
    for offset, by_weston, together in (
        (0, False, True),
        (5 * 10**9, False, False),
        (5 * 10**9, True, True),
    ):
        cockpit = Cockpit(offset=offset, frames=frames)
        weston = run
        if by_weston:
            weston = logs.run(frames=frames, start=START + offset)
            weston += gid_line(START + offset, "commit", 1, "1:42.0#0", 2, None, by="weston")
        checked = page(tmp_path, weston, *cockpit.files.values())
        assert len(checked.data) == (1 if together else 2)
        first = checked.data[0]
        assert len(first["frames"]["begin"]) == (frames if together else 0)
        if together:
            begin = first["frames"]["begin"][0] * 1000
            submit = first["streams"][0]["submit"][0] * 1000
            truth = START - 7 * MS - cockpit.truth[0][POINTS.index("submit")]
            assert begin - submit == pytest.approx(truth, abs=100_000)


def test_a_long_recording_of_streams_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lanes, "FRAMES_MAX", 500)
    monkeypatch.setattr(lanes, "_BEGINNING", 100)
    monkeypatch.setattr(lanes, "_WORST", 3)
    (data,) = page(tmp_path, *Cockpit(frames=1000).files.values()).data
    (stream,) = data["streams"]
    assert 100 < len(stream["submit"]) <= 500
    assert len(data["spans"]) >= 2
    assert sum(stream["late"]) > 0


def test_the_bar_and_its_table_are_of_the_same_frames(tmp_path: Path) -> None:
    """A stream of which the display took some: the mean of all that were sent is another one."""
    cockpit = Cockpit(frames=60)
    lines = cockpit.files[1].splitlines(keepends=True)
    for sequence in range(61, 101):
        time = START + sequence * 16 * MS
        gid = f"1:42.{sequence % 4}#0"
        lines.append(gid_line(time, "capture", sequence, gid, 1))
        lines.append(gid_line(time + 100 * MS, "submit", sequence, gid, 1))
        cockpit.files[2] += gid_line(time + 101 * MS, "receive", sequence, gid, 2)
    cockpit.files[1] = "".join(lines)
    checked = page(tmp_path, *cockpit.files.values())
    text = re.sub(r"\s+", " ", " ".join(checked.text))
    assert "the mean of the 60 frames that went all of this way" in text
    part = text[text.index("Of the 60 frames that went all of this way, as in the bar") :]
    alike, _, rest = part.partition("Of all frames that have both points")
    way = [(truth[1] - truth[0]) / 1e6 for truth in cockpit.truth]
    mean = f"{sum(way) / len(way):.3f}"
    assert f"<b>{mean} ms</b> capture → submit" in checked.raw
    assert re.search(rf"capture → submit \S.*? 60 {mean} ", alike)
    assert re.search(r"capture → submit \S.*? 100 4\d\.\d+ ", rest)


def test_frames_that_all_went_the_whole_way_need_one_table(tmp_path: Path) -> None:
    text = " ".join(page(tmp_path, *Cockpit(frames=60).files.values()).text)
    assert "the mean of all 60 frames" in text
    assert "Of all frames that have both points" not in text


def test_what_a_user_need_not_do_anything_about_is_told_at_the_end(tmp_path: Path) -> None:
    checked = page(tmp_path, "Weston 14\n" * 99 + logs.run(frames=30))
    text = " ".join(checked.text)
    assert text.index("99 lines of the log") > text.index("About these figures", 2000)
    assert "note" not in re.findall(r'class="(\w+)"', checked.raw)


def test_a_log_without_frames(tmp_path: Path) -> None:
    assert "No repaint" in " ".join(page(tmp_path, logs.seat(1)).text)
