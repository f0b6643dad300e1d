"""What a person adds, clipped to a norm: it is kept however many trips there are, and mutants fail.

From files to the exact counts that the noise is put on, in memory and out of core: one unit more
changes no table of a stage by more than q·C in L2, and what it publishes keeps (ε, δ). The unit
makes many trips that are all alike, many that are all different, or both.
"""

from fractions import Fraction

import numpy as np
import pytest

from pathveil import Universe, publish, read_release
from pathveil.core.acceptance import Acceptance, least_noise, noises
from pathveil.core.noise import Gaussian
from pathveil.core.zcdp import Concentrated
from pathveil.errors import ReleaseError
from pathveil.gate import measure as gate
from pathveil.gate import weighing
from pathveil.gate.gaussian import gaussian_noise
from pathveil.gate.randomness import Randomness
from pathveil.promise.stability import CLIPPED, trip_promises, unit_promise
from pathveil.raw.engines import batches, memory_counter
from pathveil.raw.engines.engine import Engine, table_counter
from pathveil.raw.reading_plan import Reading
from pathveil.release.accepting import check_accepted
from pathveil.statistics.actions import ACTIONS
from pathveil.statistics.measurement_plan import PARTS, Line, MeasurementPlan
from pathveil.statistics.moves import MOVES
from pathveil.statistics.pairs import PAIRS
from pathveil.statistics.prefix_tree import LEVELS
from pathveil.statistics.reach import REACH
from pathveil.statistics.returns import RETURNS
from pathveil.statistics.statistic import Rows, Scope
from pathveil.statistics.trips import TRIPS
from pathveil.statistics.visits import VISITS

SIZE, MOST = 12, 9
LABELS = [f"s{code:02}" for code in range(SIZE)]
UNIVERSE = Universe(LABELS)
SCOPE = Scope(SIZE, candidates=np.arange(SIZE), popular=np.arange(4))
DELTA = Fraction(1, 100)
BUDGET = Concentrated.within(Fraction(1), DELTA).rho

# What one unit does: trips of locations. Of more than nine, nine are used.
ALIKE = [[0, 1, 2, 1]] * 30
DIFFERENT = [[code % SIZE, (5 * code + 3) % SIZE] for code in range(30)]
UNITS = {
    "alike": ALIKE,
    "different": DIFFERENT,
    "both": ALIKE[:4] + DIFFERENT[:5],
    "one trip": [[3, 4, 5]],
    "two trips": [[3, 4], [3, 4]],
    "stays": [[7] * 20] * 9,
}
CROWD = [[[code, (code + 1) % SIZE]] * (1 + code % 3) for code in range(SIZE)] * 3


def line(statistic, cap, clip):
    return Line.of(statistic, cap, BUDGET, MOST, in_rho=True, clip=clip)


# Norms that bind for some units and not for others.
STAGES = {
    "visited": (line(VISITS, 3, 40),),
    "habits": (
        line(RETURNS, 3, 60),
        line(ACTIONS, 4, 16 * MOST**2),
        line(MOVES, 3, 20),
        line(PAIRS, 3, 30),
        line(TRIPS, 1, 10),
        line(REACH, 1, MOST**2),
        line(LEVELS[0], 1, 10),
    ),
}


def written(path, people):
    rows = [
        f"u{unit},{trip},{visit},{LABELS[code]}"
        for unit, trips in enumerate(people)
        for trip, visited in enumerate(trips)
        for visit, code in enumerate(visited)
    ]
    path.write_text("\n".join(["unit,trip,seq,stop", *rows]) + "\n")
    return path


READING = {
    "unit": "unit",
    "trajectory": "trip",
    "order": "seq",
    "location": "stop",
    "max_trajectories_per_unit": MOST,
}


def counted(path, lines, engine):
    """The exact tables of a stage, as the gate has them counted before it adds noise."""
    chosen = Engine.choose(engine, str(path), memory="500MB")
    with chosen.open(str(path), UNIVERSE, None, Reading(**READING)) as opened:
        counter = table_counter(opened).among(SCOPE.candidates)
        return [
            gate.gathered(cells, line.statistic.size(SCOPE))
            for line, cells in zip(
                lines, counter.count_tables(gate.Stage(lines, SCOPE)), strict=True
            )
        ]


def changes(folder, unit, lines, engine="memory"):
    """By how much one unit changes each table, cell by cell."""
    without = counted(written(folder / "a.csv", CROWD), lines, engine)
    with_unit = counted(written(folder / "b.csv", [*CROWD, unit]), lines, engine)
    return [after - before for before, after in zip(without, with_unit, strict=True)]


def too_large(folder, engine="memory"):
    """The tables that some unit changes by more than their lines say."""
    return {
        line.name
        for lines in STAGES.values()
        for unit in UNITS.values()
        for line, change in zip(lines, changes(folder, unit, lines, engine), strict=True)
        if (change**2).sum() > line.squared_l2 or np.abs(change).sum() > line.sensitivity
    }


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_unit_changes_no_table_by_more_than_its_norm(tmp_path, engine):
    assert too_large(tmp_path, engine) == set()


def test_the_norm_is_nearly_reached_and_small_units_count_in_full(tmp_path):
    (visits,) = changes(tmp_path, ALIKE, STAGES["visited"])
    (limit,) = STAGES["visited"]
    assert 0.98 * limit.squared_l2 < (visits**2).sum() <= limit.squared_l2
    (single,) = changes(tmp_path, UNITS["one trip"], STAGES["visited"])
    assert sorted(single[single > 0]) == [PARTS] * 3


def test_all_tables_of_a_stage_are_of_the_same_weighed_trips(tmp_path):
    """Each trip is in one cell of three tables: their sums agree."""
    for unit in UNITS.values():
        found = dict(zip(STAGES["habits"], changes(tmp_path, unit, STAGES["habits"]), strict=True))
        sums = {
            int(found[one].sum()) for one in found if one.statistic in (TRIPS, REACH, LEVELS[0])
        }
        assert len(sums) == 1


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_small_blocks_and_batches_hold_whole_units(tmp_path, monkeypatch, engine):
    path = written(tmp_path / "a.csv", [*CROWD, *UNITS.values()])
    whole = counted(path, STAGES["habits"], engine)
    monkeypatch.setattr(batches, "MOST_VISITS", 7)
    monkeypatch.setattr(memory_counter, "VISITS_AT_ONCE", 7)
    monkeypatch.setattr(memory_counter, "max", min, raising=False)
    for table, again in zip(whole, counted(path, STAGES["habits"], engine), strict=True):
        assert (table == again).all()


def test_a_part_of_a_unit_is_refused():
    rows = Rows(np.arange(4), np.zeros(3, np.int32), SIZE, trips=np.array([3, -1, -2], np.int32))
    assert rows.unit.tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="one unit is not told"):
        _ = rows.block(1, 3, {}).unit
    with pytest.raises(ValueError, match="one unit is not told"):
        _ = Rows(np.arange(4), np.zeros(3, np.int32), SIZE).unit


@pytest.mark.parametrize("clip", [1, 2, 3, 7, 40, 10**6, 1 << 46])
def test_a_weight_is_the_largest_that_the_norm_allows(clip):
    norms = np.array([1, 2, 3, 4, 5, 39, 40, 41, 1000, 10**9, 7 * 10**14])
    for norm, weight in zip(
        norms.tolist(), weighing.unit_weights(norms, clip).tolist(), strict=True
    ):
        assert weight**2 * norm <= PARTS**2 * clip
        assert weight == PARTS or (weight + 1) ** 2 * norm > PARTS**2 * clip


# Mutants


def trip_by_trip(patch):
    """Each trip is clipped, not all of a person together."""
    patch.setattr(Rows, "unit", property(lambda rows: np.arange(len(rows.offsets) - 1)))


def stale(patch):
    """The norm is that of what an earlier, smaller bound would have left."""
    right = weighing.UnitCounts.squared_norms

    def norms(counts, units):
        earlier = weighing.UnitCounts(counts.unit, counts.cell, np.minimum(counts.count, 2))
        return right(earlier, units)

    patch.setattr(weighing.UnitCounts, "squared_norms", norms)


def rounded_up(patch):
    right = weighing.unit_weights
    up = lambda norms, clip: np.minimum(right(norms, clip) + 1, PARTS)
    patch.setattr(weighing, "unit_weights", up)


def l1_for_l2(patch):
    """A sum of counts in place of their squares."""

    def norms(counts, units):
        return np.bincount(counts.unit, counts.count, minlength=units).astype(np.int64)

    patch.setattr(weighing.UnitCounts, "squared_norms", norms)


def each_table_by_the_first(patch):
    """The weight of the first table for all of them."""
    right = weighing.WeighedUnits.of
    patch.setattr(
        weighing.WeighedUnits,
        "of",
        lambda lines, rows, scope: weighing.WeighedUnits(
            right(lines, rows, scope).counts, right(lines[:1], rows, scope).weights
        ),
    )


MUTANTS = [trip_by_trip, stale, rounded_up, l1_for_l2, each_table_by_the_first]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda one: one.__name__)
def test_a_wrong_way_to_clip_is_caught(tmp_path, monkeypatch, mutant):
    mutant(monkeypatch)
    assert too_large(tmp_path)


# What is published


RUNS = 4000


def lost(change, spent, randomness):
    """The δ at ε = 1 that the noise of a table leaves, and four standard errors of it.

    δ is the mean of what of 1 − e^(ε − loss) is positive, the loss being the logarithm of the ratio
    of the probabilities of what is published with and without the unit.
    """
    difference = change[change != 0]
    noise, variance = gaussian_noise(spent.noise.variance), float(spent.noise.variance)
    drawn = noise.draw(RUNS * len(difference), randomness).reshape(RUNS, -1)
    loss = ((2.0 * drawn * difference + difference.astype(float) ** 2) / (2.0 * variance)).sum(
        axis=1
    )
    excess = np.maximum(-np.expm1(1.0 - loss), 0.0)
    return excess.mean(), 4 * excess.std() / np.sqrt(RUNS)


@pytest.mark.parametrize("who", ["alike", "different"])
def test_the_loss_keeps_epsilon_and_delta(tmp_path, who):
    for lines in STAGES.values():
        for each, change in zip(lines, changes(tmp_path, UNITS[who], lines), strict=True):
            assert isinstance(each.noise, Gaussian)
            delta, error = lost(change, each, Randomness())
            assert delta <= float(DELTA) + error, each.name


@pytest.mark.parametrize("mutant", [trip_by_trip, l1_for_l2], ids=lambda one: one.__name__)
def test_the_loss_of_a_wrong_way_is_told(tmp_path, monkeypatch, mutant):
    mutant(monkeypatch)
    (change,) = changes(tmp_path, ALIKE, STAGES["visited"])
    delta, error = lost(change, STAGES["visited"][0], Randomness())
    assert delta - error > float(DELTA)


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """Three hundred people of up to five trips, by the real gate."""
    folder = tmp_path_factory.mktemp("clipped")
    people = [[[(i + j) % SIZE, (3 * i + j) % SIZE] for j in range(1 + i % 5)] for i in range(300)]
    file = written(folder / "trips.csv", people)
    reading = READING | {"max_trajectories_per_unit": 5}
    made = publish(file, universe=UNIVERSE, rho=2, delta="1e-9", **reading)
    made.write(folder / "release")
    return made, read_release(folder / "release")


def test_a_release_says_what_was_clipped_and_it_adds_up(release):
    made, again = release
    plan = MeasurementPlan.of(made.parameters)
    clipped = [each for each in plan.lines() if each.clip is not None]
    assert {each.statistic for each in clipped} >= {VISITS}
    assert MeasurementPlan.of(again.parameters) == plan
    assert again.certificate.adds_up()
    told = [line for line in again.certificate.accounting.budget if line.clip is not None]
    assert [(one.clip, one.squared_l2, one.noise) for one in told] == [
        (each.clip, PARTS**2 * each.clip, each.noise) for each in clipped
    ]
    assert all(one.depends_on.endswith(CLIPPED) for one in told)
    # In trips, and as many of them as there are.
    assert 0.8 < len(made) / sum(1 + i % 5 for i in range(300)) < 1.25


def test_rules_for_noise_are_in_trips(release):
    """A limit that only the noise on what was weighed would keep refuses the release."""
    made, _ = release
    plan = MeasurementPlan.of(made.parameters)
    told, line = noises(plan), plan[VISITS]
    for one in plan.lines():
        alike = one.statistic.bound(one.cap).squared_l2 * one.contribution**2
        if one.in_rho:  # as if nothing were clipped, at the least
            assert told[one.name] > 0.999 * (alike / (2 * one.budget)) ** 0.5
    assert line.deviation < told["visits"]
    assert least_noise(VISITS, made.parameters) < told["visits"]
    check_accepted(made, Acceptance(noise={"visits": 1.001 * told["visits"]}))
    with pytest.raises(ReleaseError, match="the noise on visits has a deviation of"):
        check_accepted(made, Acceptance(noise={"visits": (line.deviation + told["visits"]) / 2}))


def test_one_trip_of_a_clipped_unit_has_what_an_exchange_has(release):
    unit = unit_promise(release[0].parameters)
    (within, *_) = trip_promises(unit, "first")
    clipped = [table for table in unit.tables if table.is_of_units and table.in_rho]
    assert clipped
    for table in clipped:
        assert unit.pieces(table) == 1
        assert within.pieces(table) == 2
        assert table.rho(2) == 4 * table.rho(1)


def test_lines_that_can_not_be_clipped_are_refused():
    with pytest.raises(ValueError, match="clipped"):
        Line.of(VISITS, 3, BUDGET, MOST, clip=4)
    with pytest.raises(ValueError, match="clipped"):
        Line.of(VISITS, 3, BUDGET, MOST, in_rho=True, clip=0)
    with pytest.raises(ValueError, match="clipped"):
        Line.of(VISITS, 3, BUDGET, MOST, in_rho=True, clip=(1 << 46) + 1)


def test_a_stage_is_clipped_as_a_whole(release):
    plan = MeasurementPlan.of(release[0].parameters)
    spent = [each for each in plan.lines() if each.clip is None]
    last = plan[ACTIONS]
    half = Line.of(last.statistic, last.cap, last.budget, last.contribution, in_rho=True)
    with pytest.raises(ValueError, match="either all"):
        plan.adapted(plan.with_line(half), spent)
