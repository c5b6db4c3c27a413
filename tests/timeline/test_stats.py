# SPDX-License-Identifier: MIT
"""Statistics agree with a plain computation, to the last digit, also where floats would not."""

import random
from collections.abc import Iterable
from fractions import Fraction

import independent
import numpy as np
import pytest
from gid_timeline import samples as samples_module
from gid_timeline.json_csv import summary_data
from gid_timeline.samples import Samples, quantiles
from gid_timeline.stats import describe


def samples_of(values: Iterable[int], piece: int | None = None) -> Samples:
    array = np.array(values, dtype=np.int64)
    if piece is None:
        return Samples.of(array)
    starts = range(0, len(array), piece)
    return Samples(len(array), lambda: (array[start : start + piece] for start in starts))


SETS = {
    "one": [5],
    "two": [1, 2],
    "equal": [7] * 100,
    "range": list(range(1000)),
    "beyond doubles": [2**53 + 1, 2**53 + 3, 2**53 + 5],
    "beyond sums": [10**18] * 50 + [10**18 + 1],
    "many": [random.Random(1).randrange(10**7) for _ in range(200_003)],
    "negative": [-5, -7, 0, 3, -(10**12)],
    "wide": [random.Random(2).randrange(2**60) for _ in range(5000)],
    "spikes": [10**6] * 9000 + [10**10] * 7 + [1],
}


@pytest.mark.parametrize("values", SETS.values(), ids=SETS)
def test_agrees_with_the_plain_computation(values: list[int]) -> None:
    summary, _ = describe(samples_of(values))
    assert summary_data(summary) == independent.summary(sorted(values))


@pytest.mark.parametrize("values", SETS.values(), ids=SETS)
def test_the_same_when_not_all_are_in_memory(
    values: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(samples_module, "IN_MEMORY", 0)
    summary, _ = describe(samples_of(values, piece=999))
    assert summary_data(summary) == independent.summary(sorted(values))


@pytest.mark.parametrize("seed", range(30))
def test_any_quantile_of_any_samples(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples_module, "IN_MEMORY", 0)
    rng = random.Random(seed)
    reach = 10 ** rng.randrange(1, 18)
    values = [rng.randrange(reach) for _ in range(rng.randrange(1, 400))]
    shares = [Fraction(rng.randrange(1001), 1000) for _ in range(5)]
    plain = [sorted(values)[max(-(-len(values) * share // 1), 1) - 1] for share in shares]
    assert quantiles(samples_of(values, piece=50), shares) == plain


def test_outliers_are_beyond_the_outer_fence() -> None:
    values = [*range(100), 74 + 3 * 50, 74 + 3 * 50 + 1, 10**6]
    summary, _ = describe(samples_of(values))
    plain = independent.summary(sorted(values))
    assert summary.outliers == plain["outliers"] == sum(x > plain["fence_ns"] for x in values)
    assert summary.max == 10**6


@pytest.mark.parametrize("seed", range(20))
def test_a_histogram_counts_each_sample_once(seed: int) -> None:
    rng = random.Random(seed)
    values = [int(rng.expovariate(1 / 10 ** rng.randrange(8))) for _ in range(500)]
    _, histogram = describe(samples_of(values, piece=77))
    edges, counts = histogram.edges, histogram.counts
    assert sum(counts) == 500
    assert len(edges) == len(counts) + 1
    for low, high, count in zip(edges[:-2], edges[1:-1], counts[:-1], strict=True):
        assert count == sum(low <= value < high for value in values)
