"""Denoising: what noise hides counts as empty, what passed a threshold is drawn back."""

from fractions import Fraction

import numpy as np
import pytest

from pathveil import simulate_week
from pathveil.core.noise import Laplace
from pathveil.statistics.actions import ACTIONS, BACK, END, NEW, OLDER, STAY, possible_actions
from pathveil.statistics.actions import SHAPE as ACTION_SHAPE
from pathveil.statistics.denoise import FLAT_AFTER, posterior, sparse_estimates
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.statistics.shapes import (
    DISTINCT_BINS,
    LENGTH_BINS,
    PLAIN_MEDIAN,
    SHAPE_CELLS,
    SHAPES,
)
from pathveil.statistics.statistic import Known, Rows, Scope

# All draws are seeded: a test that passes once passes always.
SCALE = 10.0
NOISE = Laplace(Fraction(1, 10))


def laplace(size, seed):
    draw = np.random.default_rng(seed)  # noqa: TID251  (test data, nothing private)
    return np.round(draw.laplace(0, SCALE, size)).astype(np.int64)


def zipf_counts(cells):
    return (20_000 / np.arange(1, cells + 1)).astype(np.int64)


def test_without_noise_counts_stay_as_they_are():
    known = posterior(np.array([0, 3, 10]), Laplace(Fraction(100)))
    assert known.mean.tolist() == known.median.tolist() == [0, 3, 10]
    assert known.variance.tolist() == [1, 1, 1]


def test_no_cells_no_estimates():
    assert len(posterior(np.zeros(0, dtype=np.int64), NOISE).mean) == 0
    assert (
        len(sparse_estimates(np.zeros(0, dtype=np.int64), NOISE, hidden=5, threshold=9).value) == 0
    )


@pytest.mark.parametrize("seed", range(5))
def test_a_table_of_noise_is_empty(seed):
    assert not sparse_estimates(laplace(1000, seed), NOISE).value.any()


@pytest.mark.parametrize("seed", range(5))
def test_an_outlier_is_doubted_and_many_are_believed(seed):
    noisy = np.append(laplace(120, seed), [round(6 * SCALE)] * 4)
    plain = {"floor": PLAIN_MEDIAN}
    assert sparse_estimates(noisy, NOISE, doubt=5, **plain).value[-4:].min() > 4 * SCALE
    one = noisy[:-3]
    assert sparse_estimates(one, NOISE, **plain).value[-1] > SCALE
    assert not sparse_estimates(one, NOISE, doubt=5, **plain).value.any()


def test_a_count_far_below_zero_is_none():
    known = posterior(np.array([-100_000, 0, 500]), NOISE, doubt=5)
    assert known.mean[0] == pytest.approx(0, abs=0.1)
    assert known.mean[2] == 500


def test_large_counts_keep_their_value_and_the_variance_of_the_noise():
    noisy = np.array([0, 1, -5, 1000, 5000])
    known = posterior(noisy, NOISE)
    assert (noisy[3:] > FLAT_AFTER * SCALE).all()
    assert known.mean[3:].tolist() == [1000, 5000]
    assert known.variance[3:].tolist() == [2 * SCALE**2] * 2


def test_two_kinds_of_cells_are_told_apart():
    """Half the cells hold nothing and half hold 60: the posterior finds out."""
    truth = np.repeat([0, 60], 2000)
    known = posterior(truth + laplace(4000, 1), NOISE).mean
    assert np.abs(known - truth).mean() < 0.35 * SCALE  # that of the noise is SCALE
    assert known[:2000].mean() == pytest.approx(0, abs=3)
    assert known[2000:].mean() == pytest.approx(60, abs=3)


def test_denoising_beats_clipping_at_zero():
    truth = np.concatenate((zipf_counts(500), np.zeros(3000, dtype=np.int64)))
    noisy = truth + laplace(len(truth), 2)
    clipped = np.abs(np.maximum(noisy, 0) - truth).mean()
    assert np.abs(posterior(noisy, NOISE).mean - truth).mean() < 0.5 * clipped
    assert np.abs(sparse_estimates(noisy, NOISE, floor=20).value - truth).mean() < 0.5 * clipped


def test_what_passed_a_threshold_is_drawn_back():
    """A kept count is biased upwards: the likelihood that knows the threshold mends that."""
    truth = np.concatenate((zipf_counts(2000), np.zeros(20_000, dtype=np.int64)))
    noisy, threshold = truth + laplace(len(truth), 3), 50
    kept = noisy >= threshold
    near = noisy[kept] < threshold + 3 * SCALE
    known = posterior(
        noisy[kept], NOISE, hidden=int(np.count_nonzero(~kept)), threshold=threshold
    ).mean
    bias = (noisy[kept] - truth[kept])[near].mean()
    assert bias > 0.4 * SCALE
    assert abs((known - truth[kept])[near].mean()) < 0.4 * bias


def test_estimates_rise_with_the_noisy_count():
    noisy = np.sort(np.concatenate((laplace(500, 4), 30 + laplace(500, 5))))
    known = posterior(noisy, NOISE)
    assert (np.diff(known.mean) >= -0.05 * SCALE).all()  # bins of noisy counts do not quite join
    assert (np.diff(known.median) >= 0).all()
    assert (known.variance >= 1).all()


def test_a_high_floor_makes_the_median_the_ordinary_one():
    """Relative errors weigh small counts more, so without a floor the median is lower."""
    noisy = np.concatenate((laplace(500, 6), 25 + laplace(500, 7)))
    low, high = posterior(noisy, NOISE, floor=1.0), posterior(noisy, NOISE, floor=1e12)
    assert (low.median <= high.median).all()
    assert (low.median < high.median).any()


@pytest.mark.parametrize("scale", [0.2, 1.0, 1e3, 1e9, 1e12])
def test_any_scale(scale):
    noisy = np.array([-3 * int(scale) - 1, 0, 1, int(scale), 50 * int(scale) + 7])
    for hidden, threshold in ((0, None), (10**13, int(30 * scale) + 1)):
        estimates = sparse_estimates(
            noisy, Laplace(1 / Fraction(scale)), hidden=hidden, threshold=threshold
        )
        assert np.isfinite(estimates.value).all()
        assert (estimates.value >= 0).all()
        assert np.isfinite(estimates.variance).all()


def test_noise_among_the_shapes_is_not_taken_for_people_who_go_everywhere():
    """Of 10,000 riders some are long on their way; that does not make them visit all stops."""
    stops, noise = 20, Laplace(Fraction(1, 20))  # of twice the scale
    week = simulate_week(10_000, stops, seed=3)
    true = np.bincount(
        SHAPES.cell(Rows(week.offsets, week.codes, stops), Scope(stops)), minlength=SHAPE_CELLS
    )
    many, found = true.reshape(LENGTH_BINS, DISTINCT_BINS)[:, 12:].sum(), []
    for seed in range(12):
        noisy = true + 2 * laplace(SHAPE_CELLS, seed)
        table = NoisyTable(np.arange(SHAPE_CELLS), noisy, SHAPE_CELLS, noise)
        found.append(SHAPES.denoise(table, Scope(stops), Known()).value[:, 12:].sum())
    assert max(found) < 50 + many
    assert np.mean(found) < 2 * many


def test_people_who_go_everywhere_are_seen_if_they_stand_out():
    true = np.zeros((LENGTH_BINS, DISTINCT_BINS), dtype=np.int64)
    true[18:22, 12:] = 300  # long trips to many locations, and nobody else
    noisy = true.ravel() + 2 * laplace(SHAPE_CELLS, 5)
    table = NoisyTable(np.arange(SHAPE_CELLS), noisy, SHAPE_CELLS, Laplace(Fraction(1, 20)))
    found = SHAPES.denoise(table, Scope(500), Known())
    assert found.value[18:22, 12:] == pytest.approx(300, abs=120)
    assert found.value.sum() == pytest.approx(true.sum(), rel=0.1)


@pytest.mark.parametrize("seed", range(5))
def test_what_nobody_does_is_no_habit(seed):
    """Nobody stays: the noise of thirty cells must not say that some do."""
    true = np.zeros(ACTION_SHAPE, dtype=np.int64)
    true[..., NEW] = true[..., BACK] = true[..., END] = 3000
    true[~possible_actions()] = 0
    noisy = true.ravel() + laplace(true.size, seed)
    table = NoisyTable(np.arange(true.size), noisy, true.size, NOISE)
    found = ACTIONS.denoise(table, Scope(50), Known()).value
    assert not found[..., STAY].any()
    assert found[..., BACK].sum() == pytest.approx(true[..., BACK].sum(), rel=0.05)


@pytest.mark.parametrize("seed", range(5))
def test_habits_that_noise_hides_are_not_taken_for_none(seed):
    """Of few people nothing stands out; that is no reason to believe that nobody goes back."""
    true = np.zeros(ACTION_SHAPE, dtype=np.int64)
    true[..., NEW] = true[..., BACK] = true[..., END] = SCALE // 2
    true[~possible_actions()] = 0
    noisy = true.ravel() + laplace(true.size, seed)
    table = NoisyTable(np.arange(true.size), noisy, true.size, NOISE)
    assert ACTIONS.denoise(table, Scope(50), Known()).value[..., BACK].sum() > 0


@pytest.mark.parametrize("seed", range(5))
def test_a_rare_habit_that_its_sum_tells_is_one(seed):
    """No cell of it stands out; all of them together are six deviations of their noise."""
    true = np.zeros(ACTION_SHAPE, dtype=np.int64)
    true[..., NEW] = true[..., BACK] = true[..., END] = 100 * SCALE
    cells = np.count_nonzero(possible_actions()[..., OLDER])
    true[..., OLDER] = int(6 * SCALE * np.sqrt(2 / cells))
    true[~possible_actions()] = 0
    noisy = true.ravel() + laplace(true.size, seed)
    table = NoisyTable(np.arange(true.size), noisy, true.size, NOISE)
    assert ACTIONS.denoise(table, Scope(50), Known()).value[..., OLDER].sum() > 0
