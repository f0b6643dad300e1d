"""Leaning on an earlier release: where it is right it helps, where it is wrong it does no harm."""

from fractions import Fraction

import numpy as np
import pytest

from pathveil.core.noise import Gaussian, Laplace
from pathveil.methods.calibrated.synthesis.earlier import (
    FEWEST,
    as_measured,
    leaning,
    squared_errors,
)
from pathveil.statistics.denoise import Estimates
from pathveil.statistics.noisy_table import NoisyTable

CELLS = 400
TRUE = np.round(3000.0 / np.arange(1, CELLS + 1))
GAUSSIAN, LAPLACE = Gaussian(Fraction(900)), Laplace(Fraction(1, 20))


def leaned(true, guess, seed=1, noise=GAUSSIAN):
    """A noisy table, and what comes of leaning on the guess."""
    draw = np.random.default_rng(seed)  # noqa: TID251
    drawn = (
        draw.normal(0, noise.deviation, CELLS)
        if isinstance(noise, Gaussian)
        else draw.laplace(0, noise.scale, CELLS)
    )
    counts = np.round(true + drawn).astype(np.int64)
    table = NoisyTable(np.arange(CELLS), counts, CELLS, noise)
    alone = Estimates(counts.astype(float), np.full(CELLS, 2 * noise.scale**2))
    return alone, leaning(alone, guess, squared_errors(table, guess))


def risk(value, true):
    return float(((value - true) ** 2).sum())


@pytest.mark.parametrize("noise", [GAUSSIAN, LAPLACE], ids=["gaussian", "laplace"])
@pytest.mark.parametrize(
    ("drift", "at_most"),
    # How far the earlier release is off, in deviations of the noise; of the error alone. Values
    # below 0 are left as they are in neither.
    [(0.0, 0.35), (0.5, 0.45), (1.0, 0.75), (4.0, 1.05), (100.0, 1.05)],
)
def test_the_error_falls_as_far_as_the_earlier_release_is_right(noise, drift, at_most):
    risks = np.zeros(2)
    for seed in range(20):
        draw = np.random.default_rng(100 + seed)  # noqa: TID251
        guess = np.maximum(TRUE + draw.normal(0, drift * 30, CELLS), 0)
        alone, found = leaned(TRUE + 200, guess + 200, seed, noise)
        risks += risk(alone.value, TRUE + 200), risk(found.value, TRUE + 200)
    assert risks[1] <= at_most * risks[0]


def test_a_stop_that_has_just_opened_is_not_shrunk_away():
    true = TRUE.copy()
    true[-1] = 300.0
    alone, found = leaned(true, TRUE)
    assert found.value[-1] >= alone.value[-1] - 30.0 - 1e-9  # one deviation
    assert np.all(np.abs(found.value - np.maximum(alone.value, 0)) <= 30.0 + 1e-9)


def test_an_estimate_is_never_less_certain_for_it():
    alone, found = leaned(TRUE, TRUE)
    assert np.all(found.variance <= alone.variance)
    assert np.all(found.variance >= 1.0)


def test_with_few_cells_nothing_is_moved():
    few = FEWEST - 1
    table = NoisyTable(
        np.arange(few), np.full(few, 50, dtype=np.int64), few, Gaussian(Fraction(900))
    )
    guess = np.full(few, 40.0)
    alone = Estimates(np.full(few, 50.0), np.full(few, 900.0))
    assert np.array_equal(leaning(alone, guess, squared_errors(table, guess)).value, alone.value)


@pytest.mark.parametrize(("drift", "is_taken"), [(5.0, True), (3000.0, False)])
def test_a_count_leans_as_it_was_measured_where_that_is_forecast_to_be_better(drift, is_taken):
    """Else it was drawn towards two things: what is usual in the table, and the guess."""
    draw = np.random.default_rng(1)  # noqa: TID251
    counts = np.round(TRUE + 100 + draw.normal(0, 30, CELLS)).astype(np.int64)
    table = NoisyTable(np.arange(CELLS), counts, CELLS, GAUSSIAN)
    denoised = Estimates(np.where(counts > 150, counts - 7.0, 0.0), np.full(CELLS, 800.0))
    off = squared_errors(table, np.maximum(TRUE + 100 + draw.normal(0, drift, CELLS), 0))
    base = as_measured(denoised, table, off)
    assert not base.value[counts <= 150].any()  # what can't be told from nothing stays so
    busy = counts > 150
    assert np.array_equal(base.value[busy], (counts if is_taken else counts - 7.0)[busy])
    assert np.all(base.variance[busy] == (900.0 if is_taken else 800.0))
