# SPDX-License-Identifier: MIT
"""The verdict of a soak: what grows is found, what only varies or has warmed up is not."""

import random

import pytest

from lab.soak.growth import growth, which_grow
from lab.soak.page import Result
from lab.soak.samples import COUNTED, kinds, least

HOURS = [minute / 60 for minute in range(120)]
BESIDE = {
    "rate_hz": 60.0,
    "gap_refreshes": 1.0,
    "machine_late_refreshes": 0.1,
    "film_hz": 25.0,
    "film_latency_ms": 9.0,
    "telltale_latency_ms": 9.0,
    "camera_latency_ms": 9.0,
    "camera_transitions": 0,
}


def grows(hours: list[float], values: list[float], least: float) -> bool:
    return which_grow([(growth(hours, values), least)]) == [True]


def test_what_leaks_is_found() -> None:
    """One descriptor in ten minutes, while the number varies by four."""
    dice = random.Random(1)
    values = [20 + int(hour * 6) + dice.randint(-4, 4) for hour in HOURS]
    found = growth(HOURS, values)
    assert grows(HOURS, values, 1)
    assert abs(found.slope - 6) < 2 * found.margin


def test_what_only_varies_is_not() -> None:
    """Of 50 soaks of 40 curves without growth about one in twenty has one that seems to grow."""
    wrong = 0
    for seed in range(50):
        dice = random.Random(seed)
        noise = ([1000 + dice.gauss(0, 50) for _ in HOURS] for _ in range(40))
        wrong += any(which_grow([(growth(HOURS, values), 0) for values in noise]))
    assert wrong <= 6


def test_one_that_grows_among_many_is_found() -> None:
    dice = random.Random(3)
    curves = [[1000 + dice.gauss(0, 50) for _ in HOURS] for _ in range(39)]
    leak = [1000 + 40 * hour + dice.gauss(0, 50) for hour in HOURS]
    found = which_grow([(growth(HOURS, values), 1) for values in [*curves, leak]])
    assert found[-1] and sum(found) <= 2


def test_the_mappings_that_were_excused_grow() -> None:
    """12 more in two hours, 6.5 an hour: the soak that found it said that nothing grows, for in
    its second half alone the line was not sure enough."""
    dice = random.Random(4)
    values = [200 + 6.5 * hour + dice.gauss(0, 4) for hour in HOURS]
    assert grows(HOURS, values, 1)


def test_one_descriptor_an_hour_is_found() -> None:
    assert grows(HOURS, [20 + (minute > 30) + (minute > 90) for minute in range(120)], 1)


@pytest.mark.parametrize("minute", [30, 60, 61, 90])
def test_a_step_is_to_be_explained(minute: int) -> None:
    """After the warm-up there should be none: it is not excused."""
    assert grows(HOURS, [20 + (now > minute) for now in range(120)], 1)


def test_a_step_at_the_end_is_not_known_yet() -> None:
    assert not grows(HOURS, [20 + (now > 118) for now in range(120)], 1)


def test_little_is_no_growth() -> None:
    values = [100 + minute // 4 for minute in range(120)]
    assert grows(HOURS, values, 25) and not grows(HOURS, values, 64)


def test_a_constant_and_too_few_samples() -> None:
    assert not grows(HOURS, [7] * 120, 0)
    assert not grows([0, 1], [1, 1000], 0)
    assert not grows([], [], 0)


def test_a_sample_is_the_lowest_of_its_minute() -> None:
    low, high = dict.fromkeys(COUNTED, 5), dict.fromkeys(COUNTED, 9)
    assert least([high, low | {"heap": 11}, high]) == low | {"heap": 9}


def result(heap: list[int]) -> Result:
    """Of a soak in which one program had this heap, minute by minute."""
    had = dict.fromkeys(COUNTED, 100)
    return Result(
        samples=[
            {"hours": hour, "programs": {"gidd": had | {"heap": kib}}, **BESIDE}
            for hour, kib in zip(HOURS, heap, strict=True)
        ]
    )


def test_the_warm_up_is_not_judged() -> None:
    found = result([500 + 40 * min(minute, 80) for minute in range(120)])
    found.warm_rounds = 20 / 60  # it still grows for another hour, into the second half
    assert found.growing == ["gidd: heap"] and not found.is_good
    found.warm_rounds = 81 / 60
    assert found.growing == [] and found.is_good
    assert found.verdict == "Nothing grows."


def test_a_tenth_is_warm_up_at_the_least() -> None:
    found = result([500 if minute < 11 else 900 for minute in range(120)])
    found.warm_rounds = 1 / 60
    assert found.growing == []


@pytest.mark.parametrize(("left", "good"), [(0, False), (1, False), (2, False), (3, True)])
def test_of_fewer_than_three_samples_nobody_can_tell(left: int, good: bool) -> None:
    found = result([500] * 120)
    found.warm_rounds = (120 - left) / 60
    assert (len(found.judged), found.is_good) == (left, good)
    assert ("It was too short" in found.verdict) == (not good)


def of_noise(samples: int) -> Result:
    """Of a heap that varies by a tenth and does not grow, after the warm-up."""
    dice = random.Random(7)
    found = result([500 + dice.randint(-50, 50) for _ in HOURS])
    found.warm_rounds = (120 - samples) / 60
    return found


def test_what_could_have_doubled_is_not_good() -> None:
    """A line through three points of noise is sure of nothing."""
    found = of_noise(3)
    assert len(found.judged) == 3 and found.growing == []
    assert not found.is_good
    assert found.verdict == "It was too short: these could have doubled unnoticed: gidd: heap."
    (heap,) = [curve for curve in found.curves() if curve.name == "gidd: heap"]
    assert heap.verdict.endswith(": too few samples to tell")


@pytest.mark.parametrize("samples", [10, 108])
def test_with_more_samples_it_is(samples: int) -> None:
    found = of_noise(samples)
    assert found.is_good and found.verdict == "Nothing grows."
    (heap,) = [curve for curve in found.curves() if curve.name == "gidd: heap"]
    assert 0 < heap.unnoticed < 200


@pytest.mark.parametrize("samples", [4, 10, 100])
def test_what_grows_more_than_that_is_noticed(samples: int) -> None:
    """As many curves as a soak has: the others only vary."""
    dice = random.Random(samples)
    hours = HOURS[:samples]
    noise = [[1000 + dice.gauss(0, 20) for _ in hours] for _ in range(28)]
    rise = 1.5 * growth(hours, noise[0]).unnoticed(28)
    noise[0] = [
        value + rise * hour / hours[-1] for hour, value in zip(hours, noise[0], strict=True)
    ]
    assert which_grow([(growth(hours, values), 1) for values in noise])[0]


def test_what_was_too_short_or_broke_off_is_not_good() -> None:
    found = result([500] * 120)
    assert not found.is_good and "warm-up" in found.verdict
    found.warm_rounds = 0
    assert found.is_good
    found.broken = "Weston of rear ended, with -11"
    assert not found.is_good and "Weston of rear" in found.verdict
    assert not Result().is_good


# --- what kind of mapping it is that grows --------------------------------------------------------

MAPS = """\
55d0-55d1 r--p 00000000 00:00 1  /usr/bin/gid-cluster
55d2-55d3 rw-p 00000000 00:00 0
55d4-55d5 rw-p 00000000 00:00 0  [heap]
7f00-7f01 r--s 00000000 00:01 7  /memfd:gid-slab-17 (deleted)
7f02-7f03 r--s 00000000 00:01 8  /memfd:gid-slab-18 (deleted)
7f04-7f05 rw-s 00000000 00:02 9  /run/user 1000/gidway/open/window-3 (deleted)
7f06-7f07 rw-p 00000000 00:00 0  [anon:glibc: malloc]
"""


def test_mappings_are_told_by_their_kind() -> None:
    assert kinds(MAPS) == {
        "mappings of /usr/bin": 1,
        "mappings of anonymous": 1,
        "mappings of heap": 1,
        "mappings of memfd:gid-slab-N": 2,
        "mappings of /run/user N/gidway/open": 1,
        "mappings of anon": 1,
    }
    assert kinds("") == {}


def test_which_mappings_grow_is_said() -> None:
    """Six and a half an hour were not explained once: a number of mappings tells nothing."""
    samples = []
    for hour in HOURS:
        more = int(hour * 6.5)
        had = {"heap": 1000, "memory": 2000, "descriptors": 20, "mappings": 100 + more}
        had |= {"mappings of anonymous": 60 + more, "mappings of /usr/lib": 40}
        samples.append({"hours": hour, "programs": {"gid-cluster": had}} | BESIDE)
    result = Result(samples, cases=100, warm_rounds=0.1)
    assert result.growing == ["gid-cluster: mappings"]
    assert "gid-cluster: more mappings are of: anonymous +" in result.verdict
    assert "/usr/lib" not in result.verdict
