"""Moves below the threshold: the months before tell them as far as they are right."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import pathveil as pv
from pathveil.core.noise import Gaussian
from pathveil.core.parameters import Parameters
from pathveil.gate import measure as gate
from pathveil.gate.randomness import Randomness
from pathveil.methods.calibrated.synthesis.estimates import choose_candidates
from pathveil.methods.calibrated.synthesis.rare_moves import RareMoves, alike, nearest
from pathveil.statistics.measurement_plan import MeasurementPlan
from pathveil.statistics.moves import MOVES, Moves
from pathveil.statistics.noisy_table import NoisyTable

CELLS, DEVIATION = 40_000, 45.0
STOPS_OF_LINES = 200
EVEN = np.full(CELLS, 8.0)  # what the model says: every move alike
SOME = np.where(np.arange(CELLS) % 10 == 0, 80.0, 0.0)  # the truth: a tenth of them


def estimated(true, guess, seed=1):
    draw = np.random.default_rng(seed)  # noqa: TID251
    counts = np.round(true + draw.normal(0, DEVIATION, CELLS)).astype(np.int64)
    noise = Gaussian(Fraction(int(DEVIATION**2)))
    return counts, RareMoves(NoisyTable(np.arange(CELLS), counts, CELLS, noise), guess)


def risk(values, true):
    return float(((values - true) ** 2).mean())


@pytest.mark.parametrize("seed", range(3))
def test_it_is_nearer_than_noise_and_model_whatever_the_earlier_release_says(seed):
    draw = np.random.default_rng(seed)  # noqa: TID251
    right = draw.poisson(SOME).astype(float)
    for guess, at_most in ((right, 0.2), (draw.permutation(right), 1.0), (0 * right, 1.0)):
        counts, rare = estimated(SOME, guess, seed)
        error = risk(rare.estimates(EVEN), SOME)
        best = min(risk(np.maximum(counts, 0), SOME), risk(EVEN, SOME))
        assert error <= at_most * best


def test_an_earlier_release_that_is_all_chance_is_not_followed():
    """People mix freely: what was released of each small move is noise, and the model is right."""
    draw = np.random.default_rng(1)  # noqa: TID251
    guess = draw.poisson(EVEN).astype(float)
    _, rare = estimated(EVEN, guess)
    assert risk(rare.estimates(EVEN), EVEN) <= 0.05 * risk(guess, EVEN)


def factors_by_trying(counts, guesses):
    """The oracle: least squares with every choice of guesses, of those without a negative factor.

    The best of them is the best of all: where a factor is 0 the others are as if it was not there.
    """
    found = []
    for chosen in product((False, True), repeat=len(guesses)):
        factors, used = np.zeros(len(guesses)), np.array(chosen)
        if used.any():
            factors[used] = np.linalg.lstsq(guesses[used].T, counts, rcond=None)[0]
        if np.all(factors >= 0):
            found.append((float(((counts - factors @ guesses) ** 2).sum()), tuple(factors)))
    return min(found)


@pytest.mark.parametrize("seed", range(20))
def test_factors_are_the_nearest_there_are(seed):
    draw = np.random.default_rng(seed)  # noqa: TID251
    guesses = draw.poisson(2.0, (4, 300)).astype(float)
    guesses[2] = guesses[0] if seed % 2 else 0.0  # two that are one, or one that says nothing
    counts = draw.normal(size=4) @ guesses + draw.normal(0, 5, 300)
    factors = nearest(counts, guesses)
    assert np.all(factors >= 0)
    left, _ = factors_by_trying(counts, guesses[[0, 1, 3]])
    assert ((counts - factors @ guesses) ** 2).sum() == pytest.approx(left)


def test_moves_like_it_tell_of_a_move():
    """Stops of ten lines: an earlier release that saw a sixth of the moves of each knows it."""
    draw = np.random.default_rng(1)  # noqa: TID251
    line = np.arange(STOPS_OF_LINES) % 10
    true = 20.0 * (line[:, None] == line)
    seen = true * (draw.random(true.shape) < 1 / 6)
    nearer = min(risk(one / max(one.sum(), 1) * true.sum(), true) for one in alike(seen))
    assert nearer <= 0.2 * risk(seen / seen.sum() * true.sum(), true)


def test_the_way_back_tells_of_a_move():
    draw = np.random.default_rng(1)  # noqa: TID251
    true = draw.permutation(SOME).reshape(200, 200)
    true = np.maximum(true, true.T)  # who goes there comes back
    one_way = np.where(np.triu(np.ones_like(true)) > 0, true, 0.0).ravel()
    _, rare = estimated(true.ravel(), one_way)
    lower = np.tril(np.ones_like(true), -1).ravel() > 0
    found = rare.estimates(EVEN)
    assert risk(found[lower], true.ravel()[lower]) <= 0.5 * risk(EVEN[lower], true.ravel()[lower])


def test_nobody_makes_a_move_that_can_not_be_made_and_sums_are_kept():
    model = np.where(np.arange(CELLS) % 2 == 0, 8.0, 0.0)
    true = np.where(SOME > 0, SOME, 0.0) * (model > 0)
    counts, rare = estimated(true, true)
    found = rare.estimates(model)
    assert np.all(found >= 0)
    assert not found[model == 0].any()
    noise = DEVIATION * np.sqrt(CELLS)
    assert abs(found.sum() - counts[model > 0].sum()) <= 4 * noise


STOPS = 20
UNIVERSE = pv.Universe([f"s{code:02}" for code in range(STOPS)])
PEOPLE = [[code, (code + 1 + unit % 3) % STOPS] for unit in range(30) for code in range(STOPS)]


def measured(monkeypatch, up_to=1 << 20):
    """A town whose table of moves is too large to be dense."""
    monkeypatch.setattr(Moves, "dense_up_to", 0)
    monkeypatch.setattr(Moves, "whole_up_to", up_to)
    given = Parameters.choose(epsilon="4", universe_size=STOPS, method="calibrated")
    people = [[f"s{code:02}" for code in visits] for visits in PEOPLE]
    database = pv.TrajectoryDatabase.from_sequences(people, UNIVERSE)
    return gate.measure(database, MeasurementPlan.usual(given), choose_candidates, Randomness())


def test_all_noisy_counts_of_moves_are_kept(monkeypatch):
    seen = measured(monkeypatch)
    whole, listed = seen.whole[MOVES], seen[MOVES]
    assert np.array_equal(whole.keys, np.arange(seen.scope.named**2))  # empty cells, too
    # The list is a part of the same noisy table: nothing is drawn, or paid for, twice.
    assert listed.threshold == listed.noise.threshold(whole.cells, MOVES.invented(seen.scope))
    assert np.array_equal(listed.keys, np.flatnonzero(whole.counts >= listed.threshold))
    assert np.array_equal(listed.counts, whole.counts[listed.keys])
    assert listed.cells == whole.cells


def test_a_table_that_is_too_large_lists_what_passes_and_keeps_no_more(monkeypatch):
    seen = measured(monkeypatch, up_to=4)
    assert not seen.whole
    assert seen[MOVES].threshold is not None


def test_a_table_of_occupied_cells_alone_would_be_seen(monkeypatch):
    """A mutant: only cells that somebody is in get their noise."""
    right = gate._noisy

    def occupied_only(line, exact, scope, randomness):
        blocks = list(exact)
        table = right(line, iter(blocks), scope, randomness)
        if line.statistic is not MOVES:
            return table
        kept = np.concatenate([cells for cells, _ in blocks])
        return replace(table, keys=kept, counts=table.counts[kept])

    monkeypatch.setattr(gate, "_noisy", occupied_only)
    with pytest.raises(AssertionError):
        test_all_noisy_counts_of_moves_are_kept(monkeypatch)
