# SPDX-License-Identifier: MIT
"""How far a statistic might have come out otherwise: the block bootstrap.

The samples are cut into blocks of neighbours, in the order of time, and blocks are drawn with
replacement: neighbouring frames are alike, and drawing single ones would promise too much
(H. R. Künsch, "The jackknife and the bootstrap for general stationary observations", 1989).
"""

from fractions import Fraction

import numpy as np

RESAMPLES = 1000
_BLOCKS_MAX = 100
_BLOCK_MIN = 5  # samples
_CELLS_MAX = 10000
_AT_ONCE = 100


def resample(
    values: np.ndarray, shares: list[Fraction], rng: np.random.Generator
) -> np.ndarray | None:
    """RESAMPLES rows of the mean and the given quantiles. None: too few samples to tell.

    Of more than ten thousand samples, quantiles are as exact as a ten-thousandth of them.
    """
    n = len(values)
    blocks = min(_BLOCKS_MAX, n // _BLOCK_MIN)
    if blocks < 2:
        return None
    block = np.arange(n) * blocks // n
    order = np.argsort(values, kind="stable")
    cells = min(n, _CELLS_MAX)
    cell = np.arange(n) * cells // n
    # How many samples of each block lie in each cell; cells are in the order of the values.
    counts = np.bincount(cell * blocks + block[order], minlength=cells * blocks)
    counts = counts.reshape(cells, blocks).astype(np.float64)
    last = np.searchsorted(cell, np.arange(cells), side="right") - 1
    cell_values = values[order][last]
    sums = np.bincount(block, weights=values, minlength=blocks)
    sizes = np.bincount(block, minlength=blocks)
    # Of each block, how many of its samples lie in a cell or below.
    below = np.cumsum(counts, axis=0)
    rows = []
    for _ in range(0, RESAMPLES, _AT_ONCE):
        draws = rng.multinomial(blocks, np.full(blocks, 1 / blocks), size=_AT_ONCE)
        drawn = draws @ sizes
        columns = [(draws @ sums) / drawn]
        for share in shares:
            wanted = np.maximum(np.ceil(float(share) * drawn - 1e-9), 1)
            columns.append(cell_values[_first_cells(below, draws, wanted)])
        rows.append(np.stack(columns, axis=1))
    return np.concatenate(rows)


def _first_cells(below: np.ndarray, draws: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The first cell up to which each draw of blocks has so many samples. Halves what may be it:
    to count the samples of each draw in each cell would take a hundred times as long."""
    low = np.zeros(len(draws), np.int64)
    high = np.full(len(draws), len(below) - 1)
    while (low < high).any():
        middle = (low + high) // 2
        is_there = np.einsum("ij,ij->i", below[middle], draws) >= wanted
        high = np.where(is_there, middle, high)
        low = np.where(is_there, low, middle + 1)
    return low


def ratio_interval(
    before: np.ndarray, after: np.ndarray, confidence: float
) -> tuple[float, float] | None:
    """Between which bounds after / before lies, by resampled statistics of both."""
    if (before <= 0).any():
        return None
    low, high = (1 - confidence) / 2, (1 + confidence) / 2
    ratios = after / before
    return float(np.quantile(ratios, low)), float(np.quantile(ratios, high))
