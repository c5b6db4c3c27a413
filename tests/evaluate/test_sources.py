# SPDX-License-Identifier: MIT
"""The tables of the documents that gidway comes from, with our figures beside them."""

import html
import re
from pathlib import Path

import pytest
from evaluations import chapter, evaluation, figure
from gid_evaluate import output, sources
from gid_evaluate.result import MET, Chapter, Evaluation, Figure
from lib.browser import VIEWS, Browser

from lab.evaluate.chapters import all_plans

IDS = [plan.id for plan in all_plans()]


def table(title: str) -> sources.Table:
    (found,) = (one for one in sources.tables() if one.title == title)
    return found


def rows(title: str, *figures: Figure) -> list[sources.Row]:
    one = table(title)
    found = dict(
        (other.title, rows) for other, rows in sources.beside(chapter(one.chapter, MET, *figures))
    )
    return found[title]


def test_each_table_has_its_chapter_and_says_how_it_differs() -> None:
    assert len(sources.tables()) >= 40
    for one in sources.tables():
        assert one.chapter in IDS, one.title
        assert one.measure in sources.MEASURES and one.why.endswith("."), one.title
        assert one.lines and one.theirs and one.ours


@pytest.mark.parametrize("document", ["a cockpit", "vG2D", "drawing", "packet", "ioeventfd"])
def test_each_document_is_there(document: str) -> None:
    assert any(document in one.document for one in sources.tables())


def test_what_they_printed_is_as_they_printed_it() -> None:
    """Sums of what the documents say themselves."""
    composing = table("n full-HD pictures into one, later frames")
    for line in composing.lines:
        direct, _, _, whole, slower = line.theirs
        assert (whole / direct - 1) * 100 == pytest.approx(slower, abs=0.06)
    reboots = [
        line.theirs[0] for line in table("The cluster while the other machine reboots").lines
    ]
    assert len(reboots) == 10 and sum(reboots) / 10 == 59.3
    (score,) = table("Drawing, virtualised beside native (glmark2)").lines
    assert 1 - score.theirs[1] / score.theirs[0] == pytest.approx(0.1, abs=0.001)


def test_our_figures_stand_beside_theirs_natively_and_in_a_guest() -> None:
    name = "a file, opened and read"
    native, guest = figure(name, 2000, "MB/s"), Figure(name, 1500, "MB/s", 9, (1, 2), "x", "guest")
    (row,) = rows("Reading a file (lmbench bw_file_rd)", native, guest)
    assert [one.value for one in row.theirs] == [1432.17, 1270.79]
    assert [one.value for one in row.ours] == [2000, 1500, None]
    # Each side by its own largest value.
    assert [one.width for one in row.theirs] == pytest.approx([100, 127079 / 1432.17])
    assert [one.width for one in row.ours] == [100, 75, None]
    (row,) = rows("Reading a file (lmbench bw_file_rd)", guest)
    assert [one.value for one in row.ours] == [None, 1500, None]


def test_columns_of_another_unit_have_no_bars() -> None:
    first, *_ = rows("n full-HD pictures into one, later frames")
    assert first.theirs[-1].value == 3.4 and first.theirs[-1].width is None
    assert first.theirs[0].width == pytest.approx(145700 / 10190)


def test_a_row_that_does_not_fit_its_table_is_no_row() -> None:
    with pytest.raises(ValueError, match="“a” has not as many"):
        sources._line({"name": "a", "theirs": [1, 2], "ours": ["x"]}, 1, ("here",))
    with pytest.raises(ValueError, match="“a” has not as many"):
        sources._line({"name": "a", "theirs": [1], "ours": ["x"]}, 1, ("here", "there"))


def test_an_at_sign_names_the_system() -> None:
    assert sources._figure("a@guest") == ("a", "guest")
    assert sources._figure("film@60: a") == ("film@60: a", "native")
    assert sources._figure("") is None


def whole() -> Evaluation:
    """Each chapter, with a value for each figure that stands beside one of theirs."""
    found: dict[str, Chapter] = {}
    for plan in all_plans():
        found[plan.id] = chapter(plan.id, MET, goal="")
    for one in sources.tables():
        for number, line in enumerate(one.lines):
            for name, system in filter(None, line.ours):
                more = Figure(name, number + 1.5, "ns", 3, (1, 9), "gid-probe", system)
                found[one.chapter].figures.append(more)
    return evaluation(*found.values())


def test_the_page_shows_each_table_with_its_measure() -> None:
    text = html.unescape(output.render(whole()))
    for one in sources.tables():
        assert f"{one.section}: {one.title} <span" in text, one.title
        assert one.why in text
    badges = re.findall(r'class="measure (\w+)"', text)
    assert badges.count(sources.WEAKER) > 10 and badges.count(sources.SAME) > 5
    assert "The printed report" not in text


@pytest.mark.parametrize(("view", "width", "dark"), VIEWS)
def test_page(browser: Browser, tmp_path: Path, view: str, width: int, dark: bool) -> None:
    output.write(tmp_path, whole())
    browser.open(tmp_path / "evaluation.html", width, dark)
    assert browser.errors() == []
    assert browser.overflow() <= 0
    assert browser.violations() == []
    bars = browser.run(
        "return [...document.querySelectorAll('.beside rect')]"
        ".map(one => one.getBoundingClientRect().width)"
    )
    assert len(bars) > 200 and sum(width > 1 for width in bars) > 150


def test_on_paper_no_table_is_cut(browser: Browser, tmp_path: Path) -> None:
    output.write(tmp_path, whole())
    browser.open(tmp_path / "evaluation.html", 688, True)  # A4 between its margins
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert browser.overflow() <= 0
    cut = (
        "return [...document.querySelectorAll('.beside')]"
        ".filter(one => one.scrollWidth > one.parentElement.clientWidth + 1).length"
    )
    assert browser.run(cut) == 0
    browser.shoot(tmp_path / "print.png")
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
