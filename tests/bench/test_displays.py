# SPDX-License-Identifier: MIT
"""`./run bench displays` compares each picture that an output shows, whole, with what was drawn."""

import runpy
from pathlib import Path

import numpy
import pytest
from benches import module, results
from lib.program import TOP

NONE = {"compared": 0, "wrong": 0, "again": 0, "back": 0, "wrong_pixels": 0}
DRAWN = [(number, 100 + number, 0) for number in range(1, 9)]


def compared(*shown: int | tuple[int, int], drawn: list = DRAWN) -> dict[str, int]:
    """Of checksums, some with wrong pixels elsewhere; what is not 0."""
    pairs = [one if isinstance(one, tuple) else (one, 0) for one in shown]
    looks = [(number, checksum, wrong) for number, (checksum, wrong) in enumerate(pairs, 1)]
    found = module("displays").compare(drawn, looks)
    assert found.keys() == NONE.keys()
    return {name: count for name, count in found.items() if count}


def test_what_was_drawn_comes_once_and_in_order() -> None:
    assert compared(*range(101, 109)) == {"compared": 8}
    assert compared(101, 103, 108) == {"compared": 3}  # others came too late: that is no mistake


def test_the_same_dials_twice_are_a_refresh_missed() -> None:
    """In a sum of frames the one too much would hide the one that is missing."""
    assert compared(101, 102, 102, 104, 105) == {"compared": 5, "again": 1}


@pytest.mark.parametrize(
    ("refreshes", "frames", "skipped", "again", "missed"),
    [
        (600, 600, 0, 0, 0),
        (600, 590, 10, 0, 10),
        (600, 600, 3, 0, 3),  # a frame too much hides no gap
        (600, 400, 5, 0, 200),  # each a little late
        (600, 590, 10, 4, 14),
        (600, 601, 0, 0, 0),
    ],
)
def test_of_two_ways_to_count_the_worse_counts(
    refreshes: int, frames: int, skipped: int, again: int, missed: int
) -> None:
    assert module("displays").missed_of(refreshes, frames, skipped, again) == missed


def test_an_older_picture_is_out_of_order() -> None:
    assert compared(101, 104, 102, 105) == {"compared": 4, "back": 1}


def test_dials_that_nobody_drew_are_wrong() -> None:
    assert compared(101, 999, 102) == {"compared": 3, "wrong": 1}
    assert compared(101, 999, 104) == {"compared": 3, "wrong": 1}


def test_what_the_reader_has_missed_is_not_judged() -> None:
    """Nor called compared."""
    holed = [one for one in DRAWN if one[0] != 3]
    assert compared(102, 103, 104, drawn=holed) == {"compared": 2}
    assert compared(100, 101, 102) == {"compared": 2}  # before the first
    assert compared(108, 109) == {"compared": 1}  # after the last
    assert compared() == {}


def test_a_wrong_pixel_elsewhere_is_found() -> None:
    assert compared(101, (102, 7), 103) == {"compared": 3, "wrong": 1, "wrong_pixels": 7}
    assert compared(101, (999, 1), 102) == {"compared": 3, "wrong": 1, "wrong_pixels": 1}


def test_wrong_pixels_are_counted_outside_of_the_part() -> None:
    rest_of = runpy.run_path(str(TOP / "bench/displays/watch.py"))["Rest"]
    wanted = numpy.arange(80, dtype=numpy.uint32).reshape(8, 10)
    rest = rest_of(wanted, (slice(2, 5), slice(3, 6)))
    picture = wanted | numpy.uint32(0xFF000000)  # a byte that means nothing
    assert rest.wrong(picture) == 0
    picture[2:5, 3:6] = 7
    assert rest.wrong(picture) == 0
    for row, column in ((0, 0), (3, 2), (3, 6), (5, 4), (7, 9)):
        bad = picture.copy()
        bad[row, column] ^= 1
        assert rest.wrong(bad) == 1, (row, column)
    assert rest.wrong(picture) == 0
    assert rest.wrong(picture[:, 1:]) > 0  # of another size


@pytest.mark.timeout(300)
def test_three_displays_have_no_wrong_picture(tmp_path: Path) -> None:
    result = results("displays", tmp_path, "--seconds=3")
    sizes = {row["who"]: row["what"] for row in result["rows"]}
    assert sizes == {"centre": "1920x720", "cluster": "1920x720", "head-up": "800x480"}
    for row in result["rows"]:
        assert row["frames"] > 0 and row["compared"] > 0
        assert row["wrong"] == row["back"] == row["wrong_pixels"] == 0
        assert row["missed"] >= row["refreshes"] - row["frames"] + row["again"]
    assert result["ratios"]["wrong_pictures"] == 0
