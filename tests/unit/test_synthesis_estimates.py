"""The first stage denoised, and the candidates chosen from it."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from pathveil import Parameters
from pathveil.core.noise import Laplace
from pathveil.methods.calibrated.synthesis.estimates import choose_candidates, estimate_popularity
from pathveil.statistics.last_locations import LAST_LOCATIONS
from pathveil.statistics.measurement_plan import MeasurementPlan
from pathveil.statistics.measurements import Measurements
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.statistics.returns import COMING_BACK, RETURNS, STAYING
from pathveil.statistics.shapes import (
    DISTINCT_BINS,
    LENGTH_BINS,
    LENGTHS,
    SHAPE_CELLS,
    SHAPES,
    possible_shapes,
)
from pathveil.statistics.statistic import Known, Scope
from pathveil.statistics.total import TOTAL
from pathveil.statistics.visits import VISITS

# All draws are seeded: a test that passes once passes always.


def table(counts, scale, seed=None):
    counts = np.asarray(counts, dtype=np.int64)
    if seed is not None:
        draw = np.random.default_rng(seed)  # noqa: TID251  (test data, nothing private)
        counts = counts + np.round(draw.laplace(0, scale, len(counts))).astype(np.int64)
    return NoisyTable(np.arange(len(counts)), counts, len(counts), Laplace(Fraction(1, scale)))


PLAN = MeasurementPlan.usual(Parameters.choose(epsilon="1", universe_size=2))


def popularity(total, visits, *, noise=10, seed=None, returns=None):
    """Trajectories of one visit each, unless there are returns."""
    size = len(visits)
    shapes = np.zeros(SHAPE_CELLS, dtype=np.int64)
    shapes[0] = total
    tables = {
        TOTAL: table([total], 1),
        SHAPES: table(shapes, noise, seed),
        LAST_LOCATIONS: table(visits, noise, seed),
        VISITS: table(visits, noise, seed),
        **({} if returns is None else {RETURNS: table(returns, noise, seed)}),
    }
    return Measurements(Scope(size), tables, PLAN)


def changed(noisy, statistic, other):
    return replace(noisy, tables={**noisy.tables, statistic: other})


ANY = TOTAL, table([1000], 400)  # so that the shapes decide


def test_what_stands_out_is_a_candidate():
    visits = np.zeros(400, dtype=np.int64)
    visits[[3, 70, 399]] = [500, 2000, 900]
    noisy = popularity(3400, visits, seed=1)
    assert choose_candidates(noisy).tolist() == [3, 70, 399]
    estimates = estimate_popularity(noisy)
    assert estimates.total == 3400
    assert estimates[VISITS].value[70] == pytest.approx(2000, abs=100)
    assert estimates[LENGTHS].value.sum() == pytest.approx(3400)
    assert estimates.unnamed_visits == 0


def test_candidates_keep_their_columns():
    visits = np.zeros(400, dtype=np.int64)
    visits[[3, 70, 399]] = [500, 2000, 900]
    whole = estimate_popularity(popularity(3400, visits, seed=1))
    chosen = np.array([3, 399])
    some = {statistic: statistic.among(known, chosen) for statistic, known in whole.tables.items()}
    assert some[VISITS].value.tolist() == whole[VISITS].value[chosen].tolist()
    assert some[LAST_LOCATIONS].variance.tolist() == whole[LAST_LOCATIONS].variance[chosen].tolist()
    assert some[SHAPES] is whole[SHAPES]


@pytest.mark.parametrize("seed", range(5))
def test_noise_alone_has_no_candidates(seed):
    noisy = changed(popularity(0, np.zeros(1000), seed=seed), *ANY)
    assert len(choose_candidates(noisy)) == 0
    assert estimate_popularity(noisy).total == 0


@pytest.mark.parametrize("total", [-500, 0])
def test_a_negative_total_is_none(total):
    noisy = popularity(1000, np.array([1000, 0]))
    noisy = changed(noisy, TOTAL, table([total], 1))
    assert estimate_popularity(noisy).total == 0
    assert len(choose_candidates(noisy)) == 0


def test_impossible_shapes_stay_empty():
    noisy = popularity(50_000, np.array([30_000, 20_000]), noise=1000, seed=3)
    shapes = estimate_popularity(noisy)[SHAPES].value
    assert shapes.shape == (LENGTH_BINS, DISTINCT_BINS)
    assert not shapes[~possible_shapes(2)].any()
    assert shapes.sum() == pytest.approx(50_000)


def test_nobody_returns_more_than_three_times():
    returns = [300, 4000, 0, 0, 0, 0]
    estimates = estimate_popularity(popularity(9000, [9000, 500], returns=returns))
    assert estimates[VISITS].value.tolist() == [9000, 500]
    assert estimates[RETURNS].value[:2].tolist() == [300, 1500]


def noisy_returns(coming_back, staying, *, noise, seed):
    true = np.concatenate((coming_back, staying, np.zeros_like(staying)))
    return RETURNS.denoise(table(true, noise, seed), Scope(len(staying)), Known()).value.reshape(
        3, -1
    )


@pytest.mark.parametrize("seed", range(4))
def test_where_nobody_stays_no_noise_says_that_some_do(seed):
    back = np.full(100, 900)
    found = noisy_returns(back, 0 * back, noise=30, seed=seed)
    assert not found[STAYING].any()
    assert found[COMING_BACK] == pytest.approx(back, abs=400)


@pytest.mark.parametrize("seed", range(4))
def test_where_noise_hides_who_stays_they_are_as_many_as_everywhere(seed):
    """A tenth stays at each location: a single one is below the noise, all of them are not."""
    back, staying = np.full(400, 900), np.full(400, 100)
    found = noisy_returns(back, staying, noise=100, seed=seed)
    assert np.abs(found[STAYING] - staying).mean() < 50  # 100 with the noisy counts themselves
    assert found[STAYING].sum() == pytest.approx(staying.sum(), rel=0.35)


@pytest.mark.parametrize("seed", range(4))
def test_where_people_rather_stay_is_told(seed):
    back, staying = np.tile([5000, 200], 20), np.tile([200, 5000], 20)
    found = noisy_returns(back, staying, noise=30, seed=seed)
    assert np.abs(found[COMING_BACK] - back).mean() < 100
    assert np.abs(found[STAYING] - staying).mean() < 100


def test_what_is_below_a_noise_scale_has_no_name():
    """And what stands out a little is not drawn to 0 by the many that are nothing."""
    visits = np.zeros(400, dtype=np.int64)
    visits[:40] = 60
    estimates = estimate_popularity(popularity(2400, visits, noise=10, seed=1))
    value = estimates[VISITS].value
    assert ((value == 0) | (value >= 10)).all()
    assert np.count_nonzero(value[40:]) < 10
    assert np.median(value[:40]) == pytest.approx(60, abs=10)


def test_visits_to_rare_places_stay_unnamed():
    """100,000 places with 2 visitors each: none stands out, but their sum does."""
    visits = np.full(100_000, 2)
    visits[7] = 300_000
    noisy = popularity(300_000, visits, noise=20, seed=4)
    estimates = estimate_popularity(noisy)
    assert choose_candidates(noisy).tolist() == [7]
    assert estimates.unnamed_visits == pytest.approx(200_000, rel=0.15)


@pytest.mark.parametrize("seed", range(5))
def test_noise_does_not_make_short_trajectories_long(seed):
    """2,000 trajectories of 1 to 8 visits: none is taken for a longer one.

    Denoised together with the short ones, so that an outlier is as likely as any of those, 370 to
    1,050 of them were taken for trajectories of more than 16 visits.
    """
    possible = possible_shapes(20)
    shapes = np.zeros(possible.shape, dtype=np.int64)
    shapes[:8][possible[:8]] = 2000 // np.count_nonzero(possible[:8])
    noisy = popularity(2000, np.full(20, 400), seed=seed)
    noisy = changed(noisy, SHAPES, table(shapes.ravel(), 20, seed))
    estimated = estimate_popularity(noisy)[LENGTHS].value
    assert estimated[8:].sum() == 0
    assert estimated[:8].sum() == pytest.approx(2000)


def test_a_number_that_is_no_noise_is_believed_though_no_shape_stands_out():
    """400 trajectories of 30 shapes: each is lost in its noise, and they are there."""
    possible = possible_shapes(20)
    shapes = np.zeros(possible.shape, dtype=np.int64)
    shapes[:8][possible[:8]] = 400 // np.count_nonzero(possible[:8])
    for seed in range(5):
        noisy = changed(
            popularity(400, np.full(20, 60), seed=seed), SHAPES, table(shapes.ravel(), 20, seed)
        )
        lost = changed(noisy, TOTAL, table([400], 400))
        assert estimate_popularity(lost).total in (0, 400)
        known = estimate_popularity(changed(noisy, TOTAL, table([400], 100)))
        assert known.total == 400
        assert known[LENGTHS].value.sum() == pytest.approx(400)
        assert len(choose_candidates(noisy)) > 15


def test_noise_alone_is_hardly_ever_a_trajectory():
    """Measured: 21 of 600. With every length under one prior 181 were, so 30 of 100."""
    some = [
        estimate_popularity(changed(popularity(0, np.zeros(20), noise=20, seed=seed), *ANY)).total
        for seed in range(100)
    ]
    assert np.count_nonzero(some) < 10
