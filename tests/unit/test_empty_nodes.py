"""The walk over empty pairs, step by step; its law is tested in tests/statistical."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pathveil.gate import add_noise
from pathveil.gate.add_noise import passing_empty_nodes, rank_to_pair
from pathveil.gate.randomness import Randomness

occupied_sets = st.sets(st.integers(0, 60), max_size=40)


def sorted_array(values):
    return np.array(sorted(values), dtype=np.int64)


@settings(deadline=None)
@given(occupied_sets, st.integers(0, 20))
def test_the_rank_th_empty_pair_is_found(occupied, beyond):
    pairs = max(occupied, default=0) + beyond + 1
    empty = [pair for pair in range(pairs) if pair not in occupied]
    found = rank_to_pair(np.arange(len(empty)), sorted_array(occupied))
    assert found.tolist() == empty


class ScriptedSkips:
    """Stands in for the geometric law of the skips: gives what the test says, then 'far away'."""

    def __init__(self, skips):
        self._skips = list(skips)

    def draw(self, count, _randomness):
        given_now, self._skips = self._skips[:count], self._skips[count:]
        return np.array(given_now + [2**62] * (count - len(given_now)), dtype=np.int64)


@settings(deadline=None)
@given(st.lists(st.integers(0, 3), max_size=300), st.integers(0, 400))
def test_the_walk_lands_where_the_skips_say(skips, length):
    """Against a plain loop over all pairs; long scripts cross the borders between batches."""
    landings, position = [], -1
    for skip in skips:
        position += 1 + skip
        if position < length:
            landings.append(position)
    ranks = add_noise._walk(length, ScriptedSkips(skips), Randomness())
    assert ranks.tolist() == landings


@settings(deadline=None)
@given(occupied_sets, st.integers(61, 100), st.integers(0, 5))
def test_what_passes_is_empty_sorted_and_reaches_the_threshold(occupied, pairs, threshold):
    passed, counts = passing_empty_nodes(
        sorted_array(occupied), pairs, Fraction(1, 2), threshold, Randomness()
    )
    assert np.all(np.diff(passed) > 0)
    assert not set(passed.tolist()) & occupied
    assert np.all((passed >= 0) & (passed < pairs))
    assert np.all(counts >= threshold)
    assert len(passed) == len(counts)


def test_no_pair_is_empty():
    everything = np.arange(50, dtype=np.int64)
    passed, counts = passing_empty_nodes(everything, 50, Fraction(1), 1, Randomness())
    assert len(passed) == len(counts) == 0


def test_twenty_trillion_pairs_are_not_walked_one_by_one():
    """2·10¹³ pairs with p_θ = 5.6·10⁻¹⁰: about 11,000 pass; 12 standard deviations either way."""
    pairs = 2 * 10**13
    passed, _ = passing_empty_nodes(np.array([5, 10**12]), pairs, Fraction(1), 21, Randomness())
    expected = pairs * np.exp(-21) / (1 + np.exp(-1))
    assert abs(len(passed) - expected) < 12 * np.sqrt(expected)
    assert passed[-1] < pairs
