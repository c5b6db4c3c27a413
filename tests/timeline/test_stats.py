# SPDX-License-Identifier: MIT
"""Statistics agree with a plain computation, to the last digit, also where floats would not."""

import random
from dataclasses import asdict

import independent
import numpy as np
import pytest
from gid_timeline.data import summary_data
from gid_timeline.stats import histogram, summarize


@pytest.mark.parametrize(
    "samples",
    [
        [5],
        [1, 2],
        [7] * 100,
        list(range(1000)),
        [2**53 + 1, 2**53 + 3, 2**53 + 5],
        [10**18] * 50 + [10**18 + 1],
        [random.Random(1).randrange(10**7) for _ in range(200_003)],
    ],
    ids=["one", "two", "equal", "range", "beyond doubles", "beyond sums", "many"],
)
def test_agrees_with_the_plain_computation(samples):
    summary = summarize(np.array(samples, dtype=np.int64))
    assert summary_data(summary) == independent.summary(sorted(samples))


def test_of_nothing():
    assert summarize(np.array([], dtype=np.int64)) is None


def test_outliers_are_beyond_the_outer_fence():
    samples = [*range(100), 74 + 3 * 50, 74 + 3 * 50 + 1, 10**6]
    summary = summarize(np.array(samples, dtype=np.int64))
    plain = independent.summary(sorted(samples))
    assert summary.outliers == plain["outliers"] == sum(x > plain["fence_ns"] for x in samples)
    assert asdict(summary)["max"] == 10**6


@pytest.mark.parametrize("seed", range(20))
def test_a_histogram_counts_each_sample_once(seed):
    rng = random.Random(seed)
    samples = sorted(int(rng.expovariate(1 / 10 ** rng.randrange(8))) for _ in range(500))
    edges, counts = histogram(np.array(samples, dtype=np.int64))
    assert sum(counts) == 500
    assert len(edges) == len(counts) + 1
    for low, high, count in zip(edges[:-2], edges[1:-1], counts[:-1], strict=True):
        assert count == sum(low <= sample < high for sample in samples)
