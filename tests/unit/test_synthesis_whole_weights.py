"""Whole weights that owe nothing: what is visited, and the moves, sum to what they did."""

import numpy as np
import pytest

from pathveil.core.paths import Paths
from pathveil.methods.calibrated.synthesis.canonical import SmallPaths
from pathveil.methods.calibrated.synthesis.complete import rounded_weights
from pathveil.methods.calibrated.synthesis.whole_weights import whole_weights

SIZE = 12


def made(rows, draw):
    lengths = draw.integers(1, 6, rows)
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    codes = (SIZE * draw.random(offsets[-1]) ** 2).astype(np.int32)
    return SmallPaths.joined([Paths(offsets, codes, np.ones(rows, dtype=np.int64))], SIZE)


def sums(paths, weights):
    """By location, every visit counted, and by move."""
    lengths = np.diff(paths.offsets.astype(np.int64))
    row = np.repeat(np.arange(len(lengths)), lengths)
    codes = paths.codes.astype(np.int64)
    stays = row[1:] == row[:-1]
    moves = (codes[:-1] * SIZE + codes[1:])[stays]
    return (
        np.bincount(codes, weights[row], SIZE),
        np.bincount(moves, weights[row[1:][stays]], SIZE**2),
    )


@pytest.mark.parametrize("part", [1 / 16, 0.4, 3.3])
def test_each_is_rounded_and_sums_are_nearer_than_by_weights_alone(part):
    draw = np.random.default_rng(4)  # noqa: TID251  (test data, nothing private)
    paths = made(20_000, draw)
    weights = part * draw.gamma(4.0, 0.25, len(paths))
    whole = whole_weights(paths, weights, SIZE, 0.5)
    assert (np.abs(whole - weights) < 1).all()
    assert abs(int(whole.sum()) - weights.sum()) < 5
    by_weight = rounded_weights(weights, 0.5)
    for exact, ours, theirs in zip(
        sums(paths, weights), sums(paths, whole), sums(paths, by_weight), strict=True
    ):
        assert np.abs(ours - exact).sum() < 0.4 * np.abs(theirs - exact).sum()


def test_whole_weights_stay():
    draw = np.random.default_rng(5)  # noqa: TID251  (test data, nothing private)
    paths = made(500, draw)
    weights = draw.integers(0, 4, 500).astype(np.float64)
    assert whole_weights(paths, weights, SIZE, 0.99).tolist() == weights.tolist()


def test_one_row_is_rounded_up_as_often_as_its_part():
    one = SmallPaths.joined([Paths(np.array([0, 1]), np.zeros(1, np.int32), np.ones(1, int))], SIZE)
    offsets = (np.arange(1000) + 0.5) / 1000
    mean = np.mean([whole_weights(one, np.array([2.3]), SIZE, offset) for offset in offsets])
    assert mean == pytest.approx(2.0, abs=0.5)


def test_long_rows_and_none():
    long = [np.tile(np.arange(SIZE, dtype=np.int32), 50)]
    paths = SmallPaths.joined([Paths(np.array([0, 50 * SIZE]), long[0], np.ones(1, int))], SIZE)
    assert whole_weights(paths, np.array([0.9]), SIZE, 0.5).tolist() == [1]
    nothing = SmallPaths.joined([], SIZE)
    assert len(whole_weights(nothing, np.zeros(0), SIZE, 0.5)) == 0
