"""What one more trajectory can change, and what must hold of any release of a baseline."""

from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from bench.baselines import markov_plan, markov_tables
from bench.baselines.markov import publish_markov
from bench.baselines.markov_plan import MarkovPlan
from bench.baselines.markov_tables import statistic_cells
from bench.baselines.ngram import publish_ngram
from bench.baselines.ngram_grams import grams_of
from bench.baselines.ngram_plan import NGramPlan
from bench.baselines.ngram_tree import explore
from bench.baselines.simplex import project
from hypothesis import given, settings
from hypothesis import strategies as st

from pathveil.core.parameters import Parameters
from pathveil.gate.randomness import Randomness
from pathveil.raw.database import TrajectoryDatabase
from pathveil.raw.engines.memory_counter import MemoryCounter
from pathveil.raw.engines.protocol import ExactCounts
from pathveil.universe.universe import Universe

UNIVERSE = Universe("ABCD")

# The first call compiles, so no example has a deadline.
quick = settings(deadline=None, max_examples=60)
rows = st.text("ABCD", max_size=9)
databases = st.lists(rows, max_size=25)
heights = st.integers(1, 7)
seeds = st.integers(0, 2**32)


def seeded(seed):
    return np.random.default_rng(seed)  # noqa: TID251  (no privacy rests on a test)


def database_of(texts):
    return TrajectoryDatabase.from_sequences([list(row) for row in texts], UNIVERSE)


def public(height, epsilon="1"):
    return Parameters.choose(
        epsilon=epsilon, height=height, universe_size=len(UNIVERSE), method="full"
    )


@pytest.fixture(params=["small", "large"])
def universe_kind(request, monkeypatch):
    """Both ways of measuring pairs, on the same four locations."""
    if request.param == "large":
        monkeypatch.setattr(markov_plan, "DENSE_CELLS", 0)
        monkeypatch.setattr(markov_tables, "DENSE_CELLS", 0)
    return request.param


@quick
@given(databases, rows, heights)
def test_a_trajectory_changes_no_markov_table_by_more_than_its_sensitivity(texts, more, height):
    caps = {"lengths": 1, "trips": 1, "first locations": 1, "last locations": 1}
    caps |= {"transitions": max(height - 1, 1), "visits": height}
    without, with_it = (
        statistic_cells(database_of(some), height) for some in (texts, [*texts, more])
    )
    for name, cap in caps.items():
        change = Counter(with_it[name].tolist())
        change.subtract(without[name].tolist())
        assert sum(map(abs, change.values())) <= cap
    with pytest.MonkeyPatch.context() as patch:
        for dense_cells in (0, 4096):
            patch.setattr(markov_plan, "DENSE_CELLS", dense_cells)
            for measurement in MarkovPlan.of(public(height)).measurements.values():
                assert measurement.sensitivity == caps[measurement.name]


@quick
@given(databases, heights)
def test_the_markov_tables_against_an_oracle(texts, height):
    cut = [[UNIVERSE.labels.index(x) for x in row[:height]] for row in texts if row]
    size = len(UNIVERSE)
    expected = {
        "lengths": [len(row) - 1 for row in cut],
        "transitions": [a * size + b for row in cut for a, b in pairwise(row)],
        "trips": [row[0] * size + row[-1] for row in cut],
        "visits": [code for row in cut for code in row],
        "first locations": [row[0] for row in cut],
        "last locations": [row[-1] for row in cut],
    }
    cells = statistic_cells(database_of(texts), height)
    assert {name: Counter(some.tolist()) for name, some in cells.items()} == {
        name: Counter(some) for name, some in expected.items()
    }


def gram_counts(texts, plan):
    """How often every n-gram occurs: the oracle."""
    table = Counter()
    for text in filter(None, texts):
        row = [plan.boundary, *(UNIVERSE.labels.index(x) for x in text[: plan.height])]
        row.append(plan.boundary + (len(text) > plan.height))
        for start in range(len(row) - 1):
            for stop in range(start + 1, min(start + plan.longest, len(row)) + 1):
                table[tuple(row[start:stop])] += 1
    return table


@quick
@given(databases, rows, heights, st.sampled_from(["1/2", "3", "50"]), seeds)
def test_a_trajectory_changes_the_noisy_ngrams_by_epsilon_at_most(
    texts, more, height, epsilon, seed
):
    """The privacy loss: over all tables that were published, noise parameter times change in L1."""
    plan = NGramPlan.of(public(height, epsilon))
    without, with_it = (
        grams_of(database_of(some), height, plan.longest) for some in (texts, [*texts, more])
    )
    levels = explore(without, plan, Randomness(seeded(seed)))
    counters = MemoryCounter(without), MemoryCounter(with_it)
    oracle = gram_counts(texts, plan), gram_counts([*texts, more], plan)
    loss, grams = Fraction(0), [()]
    for level in levels:
        nodes = level.expanded.nodes
        if level is not levels[0]:
            grams = [
                (*grams[p], s)
                for p, s in zip(nodes.parent.tolist(), nodes.location.tolist(), strict=True)
            ]
        sides = []
        for counter, expected in zip(counters, oracle, strict=True):
            exact = ExactCounts.gathered(counter.count_children(nodes))
            entries = zip(exact.node, exact.location, exact.count, strict=True)
            sides.append({(int(n), int(s)): int(count) for n, s, count in entries})
            assert all(expected[*grams[n], s] == count for (n, s), count in sides[-1].items())
        for cell in sides[0].keys() | sides[1].keys():
            budget = level.expanded.purses[level.expanded.purse[cell[0]]].budget
            change = abs(sides[0].get(cell, 0) - sides[1].get(cell, 0))
            loss += plan.noise(budget) * change
    assert loss <= plan.epsilon


@settings(quick, suppress_health_check=["function_scoped_fixture"])
@given(databases, heights, st.sampled_from(["1/10", "1", "30"]), seeds)
def test_a_release_holds_trajectories_over_the_universe_up_to_the_height(
    universe_kind, texts, height, epsilon, seed
):
    for publish in (publish_ngram, publish_markov):
        if publish is publish_ngram and universe_kind == "large":
            continue
        release = publish(
            database_of(texts),
            epsilon=epsilon,
            height=height,
            generator=seeded(seed),
        )
        paths = release.paths()
        assert paths.offsets[0] == 0
        assert paths.offsets[-1] == len(paths.codes)
        assert np.all((paths.lengths >= 1) & (paths.lengths <= height))
        assert np.all((paths.codes >= 0) & (paths.codes < len(UNIVERSE)))


@quick
@given(st.lists(st.integers(-20, 20), min_size=1, max_size=8), st.integers(0, 40))
def test_the_projection_is_the_nearest_point(counts, total):
    """It is on the simplex, and no other corner direction leads nearer (convexity: enough)."""
    projected = project(np.array(counts), total)
    assert np.all(projected >= 0)
    assert projected.sum() == pytest.approx(total)
    corners = total * np.eye(len(counts))
    assert np.all((corners - projected) @ (np.array(counts) - projected) <= 1e-6)
