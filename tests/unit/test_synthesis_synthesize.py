"""The whole synthesis: faithful when the noise is small, and never at a loss."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from pathveil import Parameters, TimeGrid, TrajectoryDatabase, Universe, simulate_week, threads
from pathveil.core.paths import Paths
from pathveil.gate.measure import measure
from pathveil.gate.randomness import Randomness
from pathveil.methods.calibrated.synthesis import synthesize as synthesis
from pathveil.methods.calibrated.synthesis.canonical import SmallPaths
from pathveil.methods.calibrated.synthesis.complete import complete
from pathveil.methods.calibrated.synthesis.estimates import choose_candidates, estimate
from pathveil.methods.calibrated.synthesis.fit import fit
from pathveil.methods.calibrated.synthesis.fit_targets import FitTargets
from pathveil.methods.calibrated.synthesis.missing_trips import with_missing_trips
from pathveil.methods.calibrated.synthesis.movement_model import (
    EXPLORING,
    Destinations,
    listed_moves,
)
from pathveil.methods.calibrated.synthesis.synthesize import synthesize
from pathveil.methods.calibrated.synthesis.tree_estimates import continuations
from pathveil.statistics.actions import action_counts
from pathveil.statistics.measurement_plan import MeasurementPlan
from pathveil.statistics.moves import MOVES
from pathveil.statistics.pairs import PAIRS
from pathveil.statistics.planner import Planner
from pathveil.statistics.prefix_tree import LEVELS
from pathveil.statistics.shapes import LENGTH_BINS, length_bins
from pathveil.statistics.statistic import Rows
from pathveil.statistics.total import TOTAL
from pathveil.statistics.trips import TRIPS
from pathveil.statistics.visits import visit_cells


def generator(seed):
    return np.random.default_rng(seed)  # noqa: TID251  (reproducible noise; nothing is published)


def measured(database, epsilon, height=8, seed=0, candidates=choose_candidates, **choices):
    size = len(database.universe)
    parameters = Parameters.choose(epsilon=epsilon, height=height, universe_size=size, **choices)
    usual, planner = MeasurementPlan.usual(parameters), Planner(parameters)
    seen = measure(database, usual, candidates, Randomness(generator(seed)), adapt=planner)
    return seen, seen.plan


def database(rows, universe_size):
    offsets = np.cumsum([0, *map(len, rows)])
    codes = np.array([code for row in rows for code in row], dtype=np.int32)
    universe = Universe([str(i) for i in range(universe_size)])
    return TrajectoryDatabase.from_arrays(offsets, codes, universe)


def check(paths, universe_size):
    """All that `synthesize` promises."""
    assert paths.offsets.dtype == paths.weights.dtype == np.int64
    assert paths.codes.dtype == np.int32
    assert len(paths.offsets) == len(paths) + 1
    assert (paths.offsets[0], paths.offsets[-1]) == (0, len(paths.codes))
    assert (paths.lengths >= 1).all()
    assert (paths.weights >= 1).all()
    assert (paths.codes >= 0).all()
    assert (paths.codes < universe_size).all()
    rows = [tuple(row) for row in np.split(paths.codes, paths.offsets[1:-1])] if len(paths) else []
    assert rows == sorted(set(rows))


def expanded(paths):
    """Every trajectory on its own."""
    rows = np.repeat(np.arange(len(paths)), paths.weights)
    lengths = paths.lengths[rows]
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    shift = np.repeat(paths.offsets[rows] - offsets[:-1], lengths)
    return offsets, paths.codes[np.arange(offsets[-1]) + shift]


@pytest.fixture(scope="module")
def week():
    simulated = simulate_week(20_000, 40, seed=3)
    return TrajectoryDatabase.from_arrays(simulated.offsets, simulated.codes, simulated.universe)


@pytest.fixture(scope="module")
def faithful(week):
    """Nearly without noise: ε = 100."""
    return synthesize(*measured(week, "100"), generator(1))


def relative(found, truth):
    """The sum of all differences, in units of the sum."""
    return np.abs(found - truth).sum() / truth.sum()


def test_the_tables_are_reproduced_when_the_noise_is_small(week, faithful):
    check(faithful, 40)
    offsets, codes = expanded(faithful)
    assert len(offsets) - 1 == pytest.approx(len(week), rel=1e-3)

    def visits(offsets, codes):
        return np.bincount(visit_cells(offsets, codes, 40, 8)[1], minlength=40)

    def lengths(offsets, _):
        return np.bincount(length_bins(np.diff(offsets)), minlength=LENGTH_BINS)

    def actions(offsets, codes):
        return action_counts(offsets, codes, 40, 8)

    raw = week.offsets, week.codes
    assert relative(visits(offsets, codes), visits(*raw)) < 0.02
    assert relative(lengths(offsets, codes), lengths(*raw)) < 0.02
    assert relative(actions(offsets, codes), actions(*raw)) < 0.15


def test_pairs_that_were_not_calibrated_are_close_too(week, faithful):
    """Consecutive visits: nothing measures them all; the model has to get them right."""

    def steps(offsets, codes):
        inner = np.ones(len(codes), dtype=np.bool_)
        inner[offsets[1:] - 1] = False
        first = np.flatnonzero(inner)
        return np.bincount(codes[first] * 40 + codes[first + 1], minlength=1600)

    assert relative(steps(*expanded(faithful)), steps(week.offsets, week.codes)) < 0.25


def test_the_result_depends_on_the_draws_only(week, monkeypatch):
    measurements, plan = measured(week, "1")
    one = synthesize(measurements, plan, generator(5))
    monkeypatch.setattr(threads.os, "cpu_count", lambda: 1)
    same = synthesize(measurements, plan, generator(5))
    other = synthesize(measurements, plan, generator(6))
    for field in ("offsets", "codes", "weights"):
        assert np.array_equal(getattr(one, field), getattr(same, field))
    assert not np.array_equal(one.codes, other.codes)


def test_fewer_rows_stand_for_as_many_trajectories(week, monkeypatch):
    measurements, plan = measured(week, "10")
    monkeypatch.setattr(synthesis, "MOST_ROWS", 1000)
    paths = synthesize(measurements, plan, generator(1))
    check(paths, 40)
    assert len(paths) <= 2000  # and some for trips that none of a thousand make
    assert paths.weights.sum() == pytest.approx(len(week), rel=0.01)


@pytest.mark.parametrize("contribution", [1, 3])
@pytest.mark.parametrize("is_timed", [False, True])
def test_tables_that_say_as_much_make_as_many_rows(contribution, is_timed):
    def rows(total, epsilon):
        parameters = Parameters.choose(
            epsilon=epsilon,
            universe_size=9,
            max_trajectories_per_unit=contribution,
            time_grid=TimeGrid.parse("1h") if is_timed else None,
        )
        plan = MeasurementPlan.usual(parameters)
        return synthesis._rows_to_make(total, plan[TOTAL], is_timed=is_timed)

    assert rows(3_000_000, "1") == pytest.approx(3_000_000, rel=1e-3)
    for times in (2, 12, 50):  # as often people with as much less ε
        assert rows(1e6 * times, Fraction(1, times)) == pytest.approx(min(1e6 * times, 1 << 20))
        assert rows(2e6 * times, Fraction(1, times)) == pytest.approx(2e6, rel=1e-3)
    assert rows(5000, "0.001") == 16 * 5000  # of few people several rows each, whatever is known
    assert rows(100_000, "0.001") == 1 << 19
    assert rows(600_000, "1") == 600_000
    assert rows(1e9, "1") == 1 << 22


ROWS = {
    "empty": [],
    "empty trajectories": [[]] * 50,
    "all alike": [[0]] * 3000,
    "all stay": [[0, 0, 0]] * 3000,
    "very long": [[0, 1] * 400] * 300,
    "few": [[0, 1], [1]],
    "many": [[i % 2, (i // 2) % 2, i % 2][: 1 + i % 3] for i in range(5000)],
}


@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("universe_size", [2, 70])
@pytest.mark.parametrize("epsilon", ["1e-9", "0.01", "1", "100"])
def test_any_data_any_noise(rows, universe_size, epsilon):
    measurements, plan = measured(database(rows, universe_size), epsilon)
    check(synthesize(measurements, plan, generator(2)), universe_size)


@pytest.mark.parametrize("height", [1, 2, 40])
@pytest.mark.parametrize("epsilon", ["0.1", "30"])
def test_any_height(height, epsilon):
    rows = [[0, 1, 2, 0][: 1 + i % 4] for i in range(4000)]
    measurements, plan = measured(database(rows, 3), epsilon, height)
    check(synthesize(measurements, plan, generator(3)), 3)


@pytest.mark.parametrize("epsilon", ["1", "100"])
def test_one_location(epsilon):
    measurements, plan = measured(database([[0] * (1 + i % 5) for i in range(5000)], 1), epsilon)
    paths = synthesize(measurements, plan, generator(4))
    check(paths, 1)
    assert paths.weights.sum() == pytest.approx(5000, rel=0.2)
    assert paths.lengths.tolist()[:5] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("epsilon", ["0.01", "1", "50"])
def test_a_million_locations(epsilon):
    rows = [[7, 999_999, 7], [123_456]] * 500
    measurements, plan = measured(database(rows, 10**6), epsilon)
    paths = synthesize(measurements, plan, generator(5))
    check(paths, 10**6)
    if epsilon == "50":
        assert set(paths.codes.tolist()) == {7, 123_456, 999_999}


def test_rare_places_are_dropped_and_their_visitors_kept():
    """One location stands out; 30,000 others have one visitor each, and stay unnamed."""
    rows = [[0, 1 + i, 0] for i in range(30_000)]
    measurements, plan = measured(database(rows, 30_001), "1")
    paths = synthesize(measurements, plan, generator(6))
    check(paths, 30_001)
    assert measurements.candidates.tolist() == [0]
    assert paths.weights.sum() == pytest.approx(30_000, rel=0.05)
    # Two visits to 0 and one unnamed: mostly two are left.
    assert np.average(paths.lengths, weights=paths.weights) == pytest.approx(2, abs=0.5)


def test_no_candidates():
    nobody = np.zeros(0, dtype=np.int64)
    rows = [[0, 1]] * 3000
    measurements, plan = measured(database(rows, 3), "1", candidates=lambda _: nobody)
    assert len(synthesize(measurements, plan, generator(7))) == 0


def test_candidates_that_nobody_visits():
    everybody = np.arange(200)
    measurements, plan = measured(
        database([[0]] * 3000, 200), "100", candidates=lambda _: everybody
    )
    paths = synthesize(measurements, plan, generator(8))
    check(paths, 200)
    assert paths.weights[paths.codes[paths.offsets[:-1]] == 0].sum() > 2900


def test_a_negative_total_is_an_empty_release(week):
    measurements, plan = measured(week, "1")
    total = replace(measurements[TOTAL], counts=np.array([-1]))
    nobody = replace(measurements, tables={**measurements.tables, TOTAL: total})
    assert len(synthesize(nobody, plan, generator(9))) == 0


def test_without_a_tree_without_moves_and_pairs(week):
    measurements, plan = measured(week, "10")
    nothing = np.zeros(0, dtype=np.int64)
    moves = replace(measurements[MOVES], keys=nothing, counts=nothing, threshold=10**6)
    tables = {
        statistic: measurements[statistic] for statistic in set(measurements.tables) - {*LEVELS}
    }
    bare = replace(measurements, tables=tables | {MOVES: moves, PAIRS: moves})
    paths = synthesize(bare, plan, generator(10))
    check(paths, 40)
    assert paths.weights.sum() == pytest.approx(len(week), rel=0.01)


# Purposes, and single locations


def commuters(number, size):
    """Half go to a far end that depends on where they begin, and come from there or not."""
    draw = generator(11)
    begins = (size * draw.random(number) ** 2).astype(int)
    ends = np.where(draw.random(number) < 0.7, (7 * begins + 3) % size, draw.integers(size))
    through = draw.integers(0, size, number)
    return [
        [a, b] if i % 3 else [a, t, b]
        for i, (a, b, t) in enumerate(
            zip(*(found.tolist() for found in (begins, ends, through)), strict=True)
        )
    ]


def trips(offsets, codes, weights, size):
    ends = codes[offsets[:-1]].astype(np.int64) * size + codes[offsets[1:] - 1]
    return np.bincount(ends, weights, minlength=size * size)


def test_for_flows_the_largest_ones_are_as_good_as_a_table_of_them():
    """20 flows of 67 to 543, and all 3,600 of them together.

    A noisy table with all of ε has a mean error of 1; the release of 6 to 10, over seeds.
    """
    size, rows = 60, commuters(6000, 60)
    db = database(rows, size)
    truth = trips(db.offsets, db.codes, np.ones(len(rows)), size)
    largest = np.argsort(-truth)[:20]
    errors = {}
    for purpose in ("everything", "flows"):
        seen, plan = measured(db, "1", 40, purpose=purpose)
        released = synthesize(seen, plan, generator(12))
        found = trips(released.offsets, released.codes, released.weights, size)
        errors[purpose] = np.abs(found - truth)[largest].mean()
    noise = generator(13).geometric(1 - np.exp(-1), (2, len(truth)))
    table = np.maximum(truth + noise[0] - noise[1], 0)
    assert np.abs(found - truth).sum() < 0.6 * np.abs(table - truth).sum()
    assert errors["flows"] < 10
    assert errors["flows"] < errors["everything"] / 2


def test_a_trip_that_nobody_would_make_is_made():
    """All begin at 0 and end at 1 by way of others; the model alone never ends there from 0."""
    db = database(commuters(3000, 30), 30)
    known = estimate(measured(db, "8", 40)[0])
    own = SmallPaths.joined(
        [Paths(np.array([0, 2, 4]), np.array([0, 5, 1, 5]), np.array([1, 1]))], 30
    )
    more = with_missing_trips(own, known, generator(1))
    made = more.codes[more.offsets[:-1]] * 30 + more.codes[more.offsets[1:] - 1]
    listed = set(known.listed(TRIPS).listed_keys.tolist())
    assert set(made[2:].tolist()) <= listed
    assert len(more) > 2
    assert with_missing_trips(own, replace(known, tables={}), generator(1)) is own


@pytest.mark.parametrize(("height", "most"), [(40, 0.06), (6, 0.09)])
def test_errors_of_single_locations_are_centred(height, most):
    """Of long trajectories only some visits are counted, and hardly any are lost on average.

    Three in four trajectories have more than 6 locations. With the first ones counted instead of
    evenly spread ones the mean error was −0.13 at that height.
    """
    draw, size = generator(20), 50
    rows = [
        (size * draw.random(1 + draw.geometric(0.08)) ** 1.5).astype(int).tolist()
        for _ in range(10_000)
    ]
    db = database(rows, size)
    truth = np.bincount(visit_cells(db.offsets, db.codes, size, 10**6)[1], minlength=size)
    errors = []
    for seed in range(4):  # of one seed it is off by up to 0.1, either way
        seen, plan = measured(db, "1", height, seed=seed)
        released = synthesize(seen, plan, generator(seed))
        rows_of, cells = visit_cells(released.offsets, released.codes, size, 10**6)
        found = np.bincount(cells, released.weights[rows_of], minlength=size)
        errors.append((found - truth) / truth)
    assert abs(np.mean(errors)) < most


def some_turn_back(number):
    """From the first ten of twenty locations people go on, from the others four in five go back."""
    draw, rows = generator(4), []
    for _ in range(number):
        row = [int(draw.integers(20))]
        for _ in range(int(draw.integers(1, 7))):
            turns_back = len(row) > 1 and row[-1] >= 10 and draw.random() < 0.8
            row.append(row[-2] if turns_back else int((row[-1] + draw.integers(1, 20)) % 20))
        rows.append(row)
    return database(rows, 20)


def test_people_look_for_new_locations_from_some_and_not_from_others():
    seen, plan = measured(some_turn_back(4000), "50", height=12)
    known = estimate(seen)
    model = fit(
        FitTargets.of(known, seen),
        Destinations.of(known, plan),
        continuations(seen.tree, known.total, len(seen.candidates)),
        plan,
        generator(1),
    )
    exploring = model.by_location[:-1, EXPLORING]
    assert len(exploring) == 20
    assert exploring[:10].min() > 1.3 * exploring[10:].max()


def never_twice(people):
    """Five of eight locations each, the popular ones first: who was there goes elsewhere."""
    draw = generator(6)
    turns = np.log(draw.random((people, 8))) * 2.0 ** np.arange(8)
    return database(np.argsort(-turns, axis=1)[:, :5].tolist(), 8)


def test_the_model_makes_the_measured_moves():
    seen, plan = measured(never_twice(20_000), "20", height=12)
    known = estimate(seen)
    work = continuations(seen.tree[:1], known.total, len(seen.candidates))
    model = fit(FitTargets.of(known, seen), Destinations.of(known, plan), work, plan, generator(1))
    made = complete(work, model, known.total, generator(2))
    moves, size = known.listed(MOVES), len(seen.candidates)
    cells = MOVES.row_cells(Rows(made.offsets, made.codes, size), known.scope, plan[MOVES].cap)[1]
    counts = np.bincount(cells, minlength=size * size)[moves.listed_keys]
    assert (
        np.abs(counts - moves.value).sum() < 0.2 * moves.value.sum()
    )  # 0.34 if moves are not fitted


def test_a_move_that_nobody_makes_is_left_as_it_is():
    one = Destinations(
        np.ones(4), np.ones(4), np.full(4, 0.25),
        *listed_moves(np.array([0, 1]), np.array([1, 2]), np.array([10.0, 20.0]), 3),
        np.array([-1, 0, 1]), np.ones(3), np.zeros(3),
    )  # fmt: skip
    assert one.reweighed(np.array([9.0, 2.0, 3.0])).weight.tolist() == [20.0, 60.0, 0.0]


def test_a_path_can_stand_for_more_than_32_bits_count():
    one = SmallPaths.joined([Paths(np.array([0, 1]), np.zeros(1, np.int32), np.ones(1, int))], 2)
    weighed = synthesis.Weighed(one, np.array([5e9]), None)
    released = synthesis.rounded_paths(weighed, np.array([0]), generator(1))
    assert released.weights.tolist() == [5_000_000_000]
