"""The audit of what is chosen from data: the height keeps its share of ε, discovery its δ.

The attacker sees the choice and guesses whether one unit is there; bounds as in the other audits
(Clopper-Pearson, Bonferroni, false-alarm probability 10⁻⁶ in all).
"""

from fractions import Fraction

import numpy as np
import pytest

from pathveil.audit.attacking import FALSE_ALARM, epsilon_lower_bound
from pathveil.core.preparations import MOST, MOST_LABELS, Preparation, height_for
from pathveil.gate import prepare as discovery
from pathveil.gate.prepare import choose_height
from pathveil.gate.randomness import Randomness
from pathveil.raw.database import TrajectoryDatabase
from pathveil.raw.observed import ObservedUniverse
from pathveil.universe.universe import Universe

RUNS = 1500


def rows_to_database(rows, universe):
    offsets = np.cumsum([0, *map(len, rows)])
    codes = [code for row in rows for code in row]
    return TrajectoryDatabase(offsets, np.array(codes, dtype=np.int32), universe)


# The height


SHORT, LONG = [0] * 5, [0] * 15
PREPARATION = Preparation("lengths", Fraction(1, 2), 1, "")


def height_bound(choose):
    """What the chosen height proves about one long trajectory: the one beyond half of them."""
    universe, randomness = Universe("a"), Randomness()
    without = rows_to_database([SHORT] * 8 + [LONG] * 8, universe)
    with_unit = rows_to_database([SHORT] * 8 + [LONG] * 9, universe)
    coins = randomness.words(2 * RUNS) % 2 == 1
    heights = np.array([choose(with_unit if coin else without, randomness) for coin in coins])
    bounds = []
    thresholds = range(5, MOST + 1)
    for height in thresholds:
        says_with = heights >= height
        right = np.array(
            [np.count_nonzero(says_with & coins), np.count_nonzero(~says_with & ~coins)]
        )
        guesses = np.array([np.count_nonzero(says_with), np.count_nonzero(~says_with)])
        error = FALSE_ALARM / (2 * len(thresholds))
        bounds.append(epsilon_lower_bound(right, guesses, error).max())
    return float(max(bounds))


def test_the_height_keeps_its_share():
    bound = height_bound(lambda db, randomness: choose_height(db, PREPARATION, randomness))
    assert bound <= PREPARATION.budget


def test_a_height_from_exact_lengths_is_caught():
    def mutant(db, _randomness):
        lengths = np.minimum(np.diff(db.offsets), MOST)
        return height_for(np.bincount(lengths, minlength=MOST + 1)[1:])

    assert height_bound(mutant) > PREPARATION.budget


def test_a_height_from_the_number_of_long_trajectories_is_caught():
    counted = lambda db, _randomness: int((np.diff(db.offsets) > len(SHORT)).sum()) + 2
    assert height_bound(counted) > PREPARATION.budget


@pytest.mark.parametrize("length", [1, 5, MOST, MOST + 1, 10 * MOST])
@pytest.mark.parametrize("contribution", [1, 3])
def test_a_unit_changes_the_lengths_by_its_trajectories_and_no_more(
    monkeypatch, length, contribution
):
    """What the noise is put on, with and without one unit: c in L1, in one bin or more."""
    counted, right = [], discovery.dense_table

    def watched(counts, *rest):
        counted.append(counts)
        return right(counts, *rest)

    monkeypatch.setattr(discovery, "dense_table", watched)
    crowd, universe = [SHORT] * 8 + [LONG] * 8, Universe("a")
    for rows in (crowd, crowd + [[0] * length] * contribution, [*crowd, []]):
        choose_height(rows_to_database(rows, universe), PREPARATION, Randomness())
    without, with_unit, with_empty = counted
    assert np.abs(with_unit - without).sum() == contribution
    assert (with_empty == without).all()


# Discovery: a large δ, so that its event is seen


DELTA = Fraction(1, 10)
NAMING = Preparation("labels", Fraction(2), MOST_LABELS, "", DELTA)
OWN = tuple(f"own {i}" for i in range(MOST_LABELS))
LABELS = ObservedUniverse(["common", *OWN])


def betrayals(runs):
    """How often a label that one unit alone visits is named."""
    rows = [[0]] * 100 + [list(range(1, MOST_LABELS + 1))]
    db, randomness = rows_to_database(rows, LABELS), Randomness()
    named = (discovery.discover(db, NAMING, randomness).labels for _ in range(runs))
    return sum(bool(set(labels) & set(OWN)) for labels in named)


def most_allowed(runs):
    """More is seen with probability below 10⁻⁶ if the rate is at most δ (Chernoff)."""
    mean = runs * float(DELTA)
    return mean + np.sqrt(3 * mean * np.log(1e6))


def test_a_label_of_one_unit_is_named_with_probability_delta_at_most():
    found = betrayals(2000)
    assert found <= most_allowed(2000)
    assert found > 2000 * float(DELTA) / 4  # the threshold is not larger than it need be


def test_a_threshold_that_forgets_how_many_labels_a_unit_has_is_caught(monkeypatch):
    from pathveil.core.thresholds import smallest_threshold

    forgetful = lambda epsilon, _contribution, delta: smallest_threshold(epsilon, 1, delta)
    monkeypatch.setattr(discovery, "discovery_threshold", forgetful)
    assert betrayals(2000) > most_allowed(2000)


def labels_added(monkeypatch):
    """How much one unit adds to the counts of labels: without noise, over all thresholds."""
    exact = Preparation("labels", 64 * Fraction(MOST_LABELS), MOST_LABELS, "", DELTA)
    crowd = [[0]] * 10
    walker = [*range(1, 3 * MOST_LABELS + 1)] * 2
    universe = ObservedUniverse(["common", *(f"own {i}" for i in range(3 * MOST_LABELS))])
    added = 0
    for threshold in range(1, len(crowd) + 1):
        monkeypatch.setattr(discovery, "discovery_threshold", lambda *_, t=threshold: t)
        without, with_walker = (
            discovery.discover(rows_to_database(rows, universe), exact, Randomness())
            for rows in (crowd, [*crowd, walker])
        )
        added += len(with_walker) - len(without)
    return added


def test_a_trajectory_counts_for_its_first_labels_only(monkeypatch):
    assert labels_added(monkeypatch) == MOST_LABELS


def test_a_discovery_that_counts_twice_as_many_labels_is_caught(monkeypatch):
    right = discovery.first_visits
    monkeypatch.setattr(
        discovery, "first_visits", lambda *given: right(*given[:-2], 2 * given[-2], given[-1])
    )
    assert labels_added(monkeypatch) == 2 * MOST_LABELS
