# SPDX-License-Identifier: MIT
"""The verdict of a soak: what grows is found, what only varies is not."""

import random
import sys

from program import TOP

sys.path.insert(0, str(TOP / "soak"))

from growth import growth, student  # noqa: E402

HOURS = [minute / 60 for minute in range(120)]


def test_what_leaks_is_found() -> None:
    """One descriptor in ten minutes, while the number varies by four."""
    dice = random.Random(1)
    values = [20 + int(hour * 6) + dice.randint(-4, 4) for hour in HOURS]
    found = growth(HOURS, values)
    assert found.exceeds(1)
    assert abs(found.slope - 6) < 2 * found.margin


def test_what_only_varies_is_not() -> None:
    """Of 200 runs without growth, about five in two hundred seem to grow by chance."""
    wrong = 0
    for seed in range(200):
        dice = random.Random(seed)
        found = growth(HOURS, [1000 + dice.gauss(0, 50) for _ in HOURS])
        wrong += found.slope - found.margin > 0
    assert wrong <= 12


def test_what_fills_at_the_begin_does_not_count() -> None:
    values = [500 if minute < 8 else 900 for minute in range(120)]
    assert not growth(HOURS, values).exceeds(1)


def test_a_constant_and_too_few_samples() -> None:
    assert not growth(HOURS, [7] * 120).exceeds(0)
    assert not growth([0, 1], [1, 1000]).exceeds(0)


def test_the_quantiles_of_student() -> None:
    assert [student(freedom) for freedom in (1, 7, 118, 5000)] == [12.706, 2.447, 2.0, 1.98]
