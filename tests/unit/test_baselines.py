"""The two peers' baselines: budgets, examples by hand, and edges."""

from collections import Counter
from fractions import Fraction
from itertools import pairwise
from math import sqrt

import numpy as np
import pytest
from bench.baselines import markov_plan, markov_tables
from bench.baselines.markov import publish_markov
from bench.baselines.markov_model import MarkovModel, Pairs
from bench.baselines.markov_plan import MarkovPlan
from bench.baselines.markov_trips import Trips
from bench.baselines.markov_walks import walk
from bench.baselines.ngram import publish_ngram
from bench.baselines.ngram_grams import grams_of
from bench.baselines.ngram_model import NGramModel
from bench.baselines.ngram_plan import NGramPlan
from bench.baselines.ngram_tree import explore
from bench.baselines.ngram_walks import draw_trajectories
from bench.baselines.simplex import project

from pathveil.core.parameters import Parameters
from pathveil.core.paths import WeightedPaths
from pathveil.errors import ParameterError
from pathveil.gate.randomness import Randomness
from pathveil.raw.database import TrajectoryDatabase
from pathveil.universe.universe import Universe

UNIVERSE = Universe("ABCDE")
BASELINES = [publish_ngram, publish_markov]


def seeded(seed):
    return np.random.default_rng(seed)  # noqa: TID251  (no privacy rests on a test)


def database_of(weighted, universe=UNIVERSE):
    rows = [list(row) for row, weight in weighted.items() for _ in range(weight)]
    return TrajectoryDatabase.from_sequences(rows, universe)


def rows_of(release):
    """The released trajectories as strings, with their numbers."""
    paths, labels = release.paths(), release.universe.labels
    return Counter(
        "".join(labels[code] for code in paths.codes[a:b])
        for a, b in pairwise(paths.offsets.tolist())
    )


def parameters(epsilon="1", height=12, universe_size=17, units=1):
    return Parameters.choose(
        epsilon=epsilon,
        height=height,
        universe_size=universe_size,
        max_trajectories_per_unit=units,
        method="full",
    )


@pytest.fixture
def large_universe(monkeypatch):
    """Five locations count as a large universe: only cells above a threshold are listed."""
    for module in (markov_plan, markov_tables):
        monkeypatch.setattr(module, "DENSE_CELLS", 0)
        monkeypatch.setattr(module, "INVENTED_CELLS", Fraction(1, 10))


@pytest.mark.parametrize("epsilon", ["1", "0.1", "1/3", "4"])
@pytest.mark.parametrize("universe_size", [1, 17, 64, 65, 1012, 21144])
def test_the_budgets_of_the_markov_baseline_sum_to_epsilon_exactly(epsilon, universe_size):
    plan = MarkovPlan.of(parameters(epsilon, universe_size=universe_size))
    assert sum(m.budget for m in plan.measurements.values()) == Fraction(epsilon)
    assert plan.is_small == ("visits" not in plan.measurements)


def test_the_sensitivities_of_the_markov_baseline():
    plan = MarkovPlan.of(parameters(height=12, universe_size=1012, units=3))
    caps = {name: m.sensitivity for name, m in plan.measurements.items()}
    assert caps == {
        "lengths": 3,
        "transitions": 33,
        "trips": 3,
        "visits": 36,
        "first locations": 3,
        "last locations": 3,
    }
    assert plan.measurements["visits"].epsilon == Fraction(1, 8) / 36


def test_every_path_of_the_exploration_tree_spends_epsilon_at_most():
    """Exactly ε where it is grown to its expected end, and never more."""
    database = database_of({"ABCD": 4000, "ABE": 900, "BCDA": 2000, "E": 300, "DDDDD": 700})
    plan = NGramPlan.of(parameters("2", height=6, universe_size=5))
    randomness = Randomness(seeded(0))
    levels = explore(grams_of(database, plan.height, plan.longest), plan, randomness)
    assert len(levels) == plan.longest
    spent = [np.array([Fraction(0)])]
    for level in levels:
        nodes = level.expanded
        before = spent[-1][nodes.nodes.parent]
        assert [p.left for p in (nodes.purses[i] for i in nodes.purse)] == list(2 - before)
        spent.append(before + np.array([nodes.purses[i].budget for i in nodes.purse]))
        assert max(spent[-1]) <= 2
        assert min(nodes.purses[i].budget for i in nodes.purse) > 0
    assert set(spent[-1]) == {Fraction(2)}


def test_the_exploration_tree_is_deeper_where_counts_are_large():
    database = database_of({"ABCD": 4000, "E": 300})
    plan = NGramPlan.of(parameters("1", height=6, universe_size=5))
    randomness = Randomness(seeded(0))
    levels = explore(grams_of(database, plan.height, plan.longest), plan, randomness)
    expanded = levels[1].expanded
    budget = {
        int(symbol): expanded.purses[purse].budget
        for symbol, purse in zip(expanded.nodes.location, expanded.purse, strict=True)
    }
    rare, frequent = budget[UNIVERSE.labels.index("E")], budget[UNIVERSE.labels.index("A")]
    assert rare > frequent > 0


def test_a_trajectory_becomes_the_grams_that_start_at_each_of_its_places():
    database = database_of({"AB": 1, "": 1, "CDE": 1})
    grams = grams_of(database, 2, 3)
    labels = grams.universe.labels
    rows = [
        [labels[code] for code in grams.codes[a:b]] for a, b in pairwise(grams.offsets.tolist())
    ]
    assert rows == [
        ["$", "0", "1"],
        ["0", "1", "$"],
        ["1", "$"],
        ["$", "2", "3"],
        ["2", "3", "CUT"],
        ["3", "CUT"],
    ]


@pytest.mark.parametrize("publish", BASELINES)
def test_with_hardly_any_noise_the_trajectories_are_recovered(publish):
    """B leads to C or E depending on where one came from, or on where one is going."""
    truth = {"ABC": 3000, "DBE": 2000, "A": 1000, "CD": 500}
    release = publish(database_of(truth), epsilon="100", height=5, generator=seeded(2))
    rows = rows_of(release)
    # Drawn at random, 6500 in all: off by at most 6 standard deviations and some noise. An
    # error has a probability below 10⁻⁶ over all generators; with this one there is none.
    for row, count in truth.items():
        assert abs(rows[row] - count) < 6 * sqrt(count) + 10
    assert sum(rows[row] for row in truth) > 0.99 * 6500
    assert abs(rows.total() - 6500) < 20


@pytest.mark.usefixtures("large_universe")
def test_with_hardly_any_noise_a_large_universe_is_recovered_too():
    truth = {"ABC": 3000, "DBE": 2000, "A": 1000, "CD": 500}
    rows = rows_of(publish_markov(database_of(truth), epsilon="100", height=5, generator=seeded(2)))
    for row, count in truth.items():
        assert abs(rows[row] - count) < 0.05 * count


@pytest.mark.parametrize("publish", BASELINES)
def test_transitions_of_a_long_walk_are_recovered(publish):
    """A cycle with a shortcut: A → B → C → A, and B → A one time in four."""
    draw = seeded(5)
    rows = Counter()
    for _ in range(4000):
        row = "A"
        while len(row) < 6:
            row += {"A": "B", "C": "A", "B": "C" if draw.random() < 0.75 else "A"}[row[-1]]
        rows[row] += 1
    released = rows_of(publish(database_of(rows), epsilon="100", height=6, generator=draw))

    def share(weighted):
        steps = Counter()
        for row, weight in weighted.items():
            steps.update({pair: weight * row.count("".join(pair)) for pair in set(pairwise(row))})
        return steps["B", "A"] / (steps["B", "A"] + steps["B", "C"])

    # About 8,000 steps from B on each side: a standard deviation of 0.007 for the difference.
    assert share(released) == pytest.approx(share(rows), abs=0.04)


@pytest.mark.parametrize("publish", BASELINES)
def test_trajectories_are_cut_at_the_height(publish):
    database = database_of({"ABCDE": 3000, "AB": 2000})
    release = publish(database, epsilon="100", height=3, generator=seeded(0))
    rows = rows_of(release)
    assert max(map(len, rows)) == 3
    assert rows["ABC"] == pytest.approx(3000, abs=300)


@pytest.mark.parametrize("publish", BASELINES)
@pytest.mark.parametrize("height", [1, 2])
def test_the_lowest_heights(publish, height):
    release = publish(
        database_of({"AB": 500, "C": 500}),
        epsilon="1",
        height=height,
        generator=seeded(0),
    )
    rows = rows_of(release)
    assert 0 < max(map(len, rows)) <= height
    assert rows.total() == pytest.approx(1000, abs=200)


@pytest.mark.parametrize("publish", BASELINES)
def test_nobody_at_all(publish):
    for weighted in ({}, {"": 20}):
        release = publish(database_of(weighted), epsilon="0.1", height=4, generator=seeded(1))
        lengths = release.paths().lengths
        assert len(lengths) < 2000
        assert not len(lengths) or (lengths.min() >= 1 and lengths.max() <= 4)


@pytest.mark.parametrize("publish", BASELINES)
def test_a_universe_of_one_location(publish):
    database = database_of({"A": 400, "AAA": 600}, Universe("A"))
    release = publish(database, epsilon="10", height=4, generator=seeded(1))
    assert rows_of(release)["AAA"] == pytest.approx(600, abs=120)


@pytest.mark.parametrize("publish", BASELINES)
def test_a_baseline_is_a_multiset_of_paths_that_a_generator_repeats(publish):
    database = database_of({"ABC": 300, "BD": 200})
    one, same, other = (
        publish(database, epsilon="1", height=4, generator=seeded(seed)) for seed in (3, 3, 4)
    )
    assert isinstance(one, WeightedPaths)
    assert one.universe is UNIVERSE
    assert rows_of(one) == rows_of(same) != rows_of(other)
    assert not one.is_private
    assert publish(database, epsilon="1", height=4).is_private


@pytest.mark.parametrize("publish", BASELINES)
@pytest.mark.parametrize("wrong", [{"epsilon": 0.5}, {"epsilon": "0"}, {"height": 0}])
def test_wrong_parameters_are_refused(publish, wrong):
    chosen = {"epsilon": "1", "height": 4} | wrong
    with pytest.raises(ParameterError):
        publish(database_of({"A": 1}), **chosen)


@pytest.mark.parametrize("publish", BASELINES)
def test_a_large_universe_costs_no_pairs(publish):
    """21,144 locations squared are 447 million cells; only some are listed."""
    begins = seeded(0).integers(0, 4, 4000) * 1000
    codes = np.stack((begins, begins + 7), axis=1).ravel()
    database = TrajectoryDatabase.from_arrays(
        np.arange(0, 8001, 2), codes, Universe(map(str, range(21144)))
    )
    paths = publish(database, epsilon="20", height=4, generator=seeded(0)).paths()
    assert len(paths) == pytest.approx(4000, abs=100)
    first, last = paths.codes[paths.offsets[:-1]], paths.codes[paths.offsets[1:] - 1]
    assert np.mean((first % 1000 == 0) & (last == first + 7)) > 0.9


def test_a_shorter_context_decides_only_among_what_the_longer_one_does_not_list():
    """After A half go to B, which is listed; the others do what people do elsewhere, but not B."""
    model = NGramModel(
        starts=np.array([0, 3, 4, 5]),  # the root lists A, B and the end; A lists B; $ lists A
        symbol=np.array([0, 1, 2, 1, 0]),
        child=np.array([1, -1, 2, -1, -1]),
        cumulative=np.array([1.0, 11.0, 12.0, 5.0, 9.0]),
        rest=np.array([0.0, 5.0, 0.0]),
        boundary=2,
        longest=2,
        trajectories=20_000,
    )
    offsets, codes = draw_trajectories(model, 2, seeded(0))
    rows = Counter(tuple(codes[a:b].tolist()) for a, b in pairwise(offsets.tolist()))
    assert set(rows) == {(0,), (0, 0), (0, 1)}
    # Six standard deviations each: wrong once in 10⁸. (20 draws without finding A or the end
    # happen once in 40, and then B is taken: so a little less than half is left to them.)
    found = 1 - (10 / 12) ** 20
    for row, share in (((0, 1), 1 - found / 2), ((0, 0), found / 4), ((0,), found / 4)):
        assert abs(rows[row] - 20_000 * share) < 6 * sqrt(20_000 * share * (1 - share))


def test_a_walk_has_the_law_of_the_chain_given_its_end():
    """From 0 to 3 in two steps, by 1 or by 2: in proportion to P(1|0)·P(3|1) and P(2|0)·P(3|2)."""
    steps = Pairs(
        starts=np.array([0, 2, 4, 5, 6, 6]),
        second=np.array([1, 2, 0, 3, 3, 0]),
        weight=np.array([3.0, 1.0, 3.0, 1.0, 5.0, 1.0]),
        rest_from=np.zeros(5),
        rest_to=np.zeros(5),
    )
    count = 20_000
    trips = Trips(
        first=np.zeros(count, np.int64),
        last=np.full(count, 3),
    )
    model = MarkovModel(np.array([0.0, 0.0, 1.0]), steps, steps, np.empty(0, np.int64))
    _, codes = walk(trips, model, seeded(0))
    middle = np.bincount(codes.reshape(-1, 3)[:, 1], minlength=4)
    # 3/4·1/4 against 1/4·1: three to four. Six standard deviations: wrong once in 10⁸.
    assert middle[[0, 3]].tolist() == [0, 0]
    assert abs(middle[1] - count * 3 / 7) < 6 * sqrt(count * 12 / 49)


def test_a_walk_that_can_not_arrive_is_forced():
    steps = Pairs(
        starts=np.array([0, 1, 2, 2, 2]),
        second=np.array([1, 0]),
        weight=np.ones(2),
        rest_from=np.zeros(4),
        rest_to=np.zeros(4),
    )
    trips = Trips(first=np.array([0]), last=np.array([2]))
    model = MarkovModel(np.array([0.0, 0.0, 0.0, 1.0]), steps, steps, np.empty(0, np.int64))
    _, codes = walk(trips, model, seeded(0))
    assert codes.tolist() == [0, 1, 0, 2]


@pytest.mark.parametrize(
    ("counts", "total", "expected"),
    [
        ([3, 1], 4, [3, 1]),
        ([3, -1], 4, [4, 0]),
        ([5, 4, -9], 3, [2, 1, 0]),
        ([-5, -6], 1, [1, 0]),
        ([2, 2], 0, [0, 0]),
        ([2, 2], -7, [0, 0]),
    ],
)
def test_projection_by_hand(counts, total, expected):
    assert project(np.array(counts), total).tolist() == pytest.approx(expected)
