"""Moves below the threshold: the months before tell them as far as they are right."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import pathveil as pv
from pathveil.core.noise import Gaussian
from pathveil.core.parameters import Parameters
from pathveil.gate import measure as gate
from pathveil.gate.randomness import Randomness
from pathveil.methods.calibrated.synthesis.estimates import choose_candidates
from pathveil.methods.calibrated.synthesis.rare_moves import RareMoves
from pathveil.statistics.measurement_plan import MeasurementPlan
from pathveil.statistics.moves import MOVES, Moves
from pathveil.statistics.noisy_table import NoisyTable

CELLS, DEVIATION = 40_000, 45.0
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


def measured(monkeypatch, *, follows, up_to=1 << 20):
    """A town whose table of moves is too large to be dense."""
    monkeypatch.setattr(Moves, "dense_up_to", 0)
    monkeypatch.setattr(Moves, "whole_up_to", up_to)
    given = Parameters.choose(epsilon="4", universe_size=STOPS, method="calibrated")
    people = [[f"s{code:02}" for code in visits] for visits in PEOPLE]
    database = pv.TrajectoryDatabase.from_sequences(people, UNIVERSE)
    return gate.measure(
        database, MeasurementPlan.usual(given), choose_candidates, Randomness(), follows=follows
    )


def test_a_release_that_follows_another_keeps_all_noisy_counts_of_moves(monkeypatch):
    seen = measured(monkeypatch, follows=True)
    whole, listed = seen.whole[MOVES], seen[MOVES]
    assert np.array_equal(whole.keys, np.arange(seen.scope.named**2))  # empty cells, too
    # The list is a part of the same noisy table: nothing is drawn, or paid for, twice.
    assert listed.threshold == listed.noise.threshold(whole.cells, MOVES.invented(seen.scope))
    assert np.array_equal(listed.keys, np.flatnonzero(whole.counts >= listed.threshold))
    assert np.array_equal(listed.counts, whole.counts[listed.keys])
    assert listed.cells == whole.cells


@pytest.mark.parametrize(("follows", "up_to"), [(False, 1 << 20), (True, 4)])
def test_others_list_what_passes_and_keep_no_more(monkeypatch, follows, up_to):
    seen = measured(monkeypatch, follows=follows, up_to=up_to)
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
        test_a_release_that_follows_another_keeps_all_noisy_counts_of_moves(monkeypatch)
