"""Calibration: the weights are the best ones, and cells are found as the gate counts them."""

import os
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from pathveil import Parameters
from pathveil.core.noise import Laplace
from pathveil.core.paths import Paths
from pathveil.methods.calibrated.synthesis import calibrate as calibration
from pathveil.methods.calibrated.synthesis import target_cells
from pathveil.methods.calibrated.synthesis.calibrate import calibrate
from pathveil.methods.calibrated.synthesis.estimates import Estimated
from pathveil.methods.calibrated.synthesis.quasi_newton import Point, minimise
from pathveil.methods.calibrated.synthesis.target_cells import Targets, find_cells
from pathveil.statistics.constants import LARGEST_MULTIPLIER, TRUST_IN_MODEL
from pathveil.statistics.denoise import Estimates
from pathveil.statistics.last_locations import LAST_LOCATIONS
from pathveil.statistics.measurement_plan import MeasurementPlan
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.statistics.pairs import PAIRS
from pathveil.statistics.prefix_tree import LEVELS
from pathveil.statistics.reach import POPULAR_BINS, REACH, REACHES
from pathveil.statistics.returns import KINDS, RETURNS
from pathveil.statistics.shapes import DISTINCT_BINS, LENGTH_BINS, LENGTHS, SHAPE_CELLS, SHAPES
from pathveil.statistics.statistic import Known, Rows, Scope
from pathveil.statistics.visited_sets import VISITED_SETS
from pathveil.statistics.visits import VISITS

SIZE = 3
PLAN = MeasurementPlan.of(
    Parameters.choose(epsilon="1", height=6, universe_size=SIZE, method="calibrated")
)
SCOPE = Scope(SIZE, candidates=np.arange(SIZE), popular=np.array([1, 0]))
# Position 3 is an unnamed place.
ROWS = [[0], [0, 1], [1, 0, 1], [2, 2], [2, 3, 0], [0, 1, 2, 0]]


def paths(rows, weights=None):
    return Paths(
        np.cumsum([0, *map(len, rows)], dtype=np.int64),
        np.array([code for row in rows for code in row], dtype=np.int32),
        np.array(weights or [1] * len(rows), dtype=np.int64),
    )


def targets(draw=None, variance=4.0):
    """Targets over all tables, with a cell for the pair {0, 1}, the set {0, 1} and the first
    locations 0 and 2."""

    def table(*shape):
        value = np.zeros(shape) if draw is None else draw.uniform(0, 6, shape)
        return Estimates(value, np.full(shape, variance))

    def listed(*keys):
        return replace(table(len(keys)), keys=np.array(keys))

    top = NoisyTable(np.array([0, 2, 3]), np.array([3, 2, 1]), 4, Laplace(Fraction(1)), 1)
    shapes = table(LENGTH_BINS, DISTINCT_BINS)
    tables = {
        SHAPES: shapes,
        LENGTHS: Estimates(shapes.value.sum(axis=1), shapes.variance.sum(axis=1)),
        LAST_LOCATIONS: table(SIZE),
        VISITS: table(SIZE),
        RETURNS: table(len(KINDS) * SIZE),
        PAIRS: listed(0 * SIZE + 1),
        VISITED_SETS: listed(0b11),
        REACH: table(REACHES),
        LEVELS[0]: LEVELS[0].denoise(top, SCOPE, Known()),
    }
    return Targets.of(Estimated(SCOPE, 6.0, 0.0, tables), PLAN)


def starts_of(aims):
    return {part.statistic: part.start for part in aims.parts}


def test_cells_by_hand():
    aims = targets()
    assert len(aims.counts) == LENGTH_BINS + SHAPE_CELLS + SIZE + 4 * SIZE + 1 + 1 + REACHES + 2
    assert aims.counts[-2:].tolist() == [3, 2]
    assert aims.variances[-2:].tolist() == [4.0 / 2, 4.0 / 2]  # 2/ε²
    start = starts_of(aims)
    lengths, shapes, last, visits, returns = (
        start[table] for table in (LENGTHS, SHAPES, LAST_LOCATIONS, VISITS, RETURNS)
    )
    pairs, sets, reach, first = (start[table] for table in (PAIRS, VISITED_SETS, REACH, LEVELS[0]))
    rows, cells = find_cells(paths([[0, 1, 0], [2, SIZE]]), aims)
    found = {row: sorted(cells[rows == row].tolist()) for row in (0, 1)}
    assert found[0] == sorted(
        [
            *(lengths + 2, shapes + 2 * DISTINCT_BINS + 1, last + 0, first + 0, pairs, sets),
            *(visits + 0, visits + 1, returns + 0),
            reach + 2 * POPULAR_BINS + 2,
        ]
    )
    # Ends in an unnamed place: no last location, and its visit has no cell.
    assert found[1] == sorted(
        [lengths + 1, shapes + DISTINCT_BINS + 1, first + 1, visits + 2, reach + POPULAR_BINS]
    )


def objective(weights, base, aims, rows, cells):
    """What the module's docstring says, in the primal."""
    sums = np.bincount(cells, weights[rows], len(aims.counts))
    occupied = np.bincount(cells, minlength=len(aims.counts)) > 0
    misfit = (sums - aims.counts)[occupied] ** 2 / (2 * (aims.trust * aims.variances)[occupied])
    divergence = weights * np.log(weights / base) - weights + base
    return divergence.sum() + misfit.sum()


@pytest.fixture
def to_the_end(monkeypatch):
    monkeypatch.setattr(calibration, "CLOSE_ENOUGH", 1e-7)
    monkeypatch.setattr(calibration, "MOST_STEPS", 2000)


@pytest.mark.usefixtures("to_the_end")
@pytest.mark.parametrize("seed", range(5))
def test_no_other_weights_are_better(seed, monkeypatch):
    monkeypatch.setattr(calibration, "LARGEST_MULTIPLIER", 1e3)
    draw = np.random.default_rng(seed)  # noqa: TID251  (test data, nothing private)
    aims, chunk = targets(draw), paths(ROWS, [1, 2, 3, 1, 2, 1])
    rows, cells = find_cells(chunk, aims)
    best = calibrate(chunk, aims)
    base = chunk.weights.astype(np.float64)
    least = objective(best, base, aims, rows, cells)
    assert least < objective(base, base, aims, rows, cells)
    for size in (1e-1, 1e-2, 1e-3):
        for _ in range(30):
            others = best * np.exp(draw.normal(0, size, len(best)))
            assert objective(others, base, aims, rows, cells) > least - 1e-9


@pytest.mark.usefixtures("to_the_end")
def test_rows_for_a_part_of_a_person_lead_to_the_same_table():
    """Four times as many rows, each for a quarter of a person: each weighs a quarter."""
    aims = targets(np.random.default_rng(3))  # noqa: TID251  (test data, nothing private)
    one = calibrate(paths(ROWS, [1, 2, 3, 1, 2, 1]), aims)
    four = calibrate(paths(ROWS * 4, [1, 2, 3, 1, 2, 1] * 4), aims, 1 / 4)
    assert four == pytest.approx(np.tile(one / 4, 4), rel=1e-4)


def test_small_cells_of_several_things_rather_follow_the_model():
    def trust(statistic, count):
        draw_none = targets()
        part = next(part for part in draw_none.parts if part.statistic is statistic)
        known = replace(part, estimates=Estimates(np.array([count]), np.ones(1)))
        return float(target_cells._trust(known)[0])

    assert {trust(one, 10.0) for one in (VISITS, RETURNS, REACH)} == {TRUST_IN_MODEL}
    assert trust(PAIRS, 0.0) == 1.0  # as likely as by chance alone
    assert trust(PAIRS, 9.0) == pytest.approx(0.1)
    assert trust(PAIRS, 1e6) == TRUST_IN_MODEL


@pytest.mark.usefixtures("to_the_end")
def test_tables_that_can_be_met_are_met():
    """The tables of other weights of the same rows: nothing contradicts."""
    aims = targets(variance=1.0)
    chunk = paths(ROWS)
    rows, cells = find_cells(chunk, aims)
    truth = np.array([10.0, 20.0, 30.0, 15.0, 25.0, 12.0])
    sums = np.bincount(cells, truth[rows], len(aims.counts))
    met = replace(aims, counts=sums)
    weights = calibrate(paths(ROWS, [10] * len(ROWS)), met)
    assert weights == pytest.approx(truth, abs=0.05)


def test_no_cell_moves_a_trajectory_too_far():
    aims = targets()
    chunk = paths([[0], [1]])
    huge = replace(aims, counts=aims.counts + 1e9)
    _, cells = find_cells(paths([[0]]), aims)
    weights = calibrate(chunk, huge)
    assert (weights <= 1.01 * np.exp(LARGEST_MULTIPLIER * len(cells))).all()
    assert np.isfinite(weights).all()


@pytest.mark.parametrize(("most_work", "steps"), [(10**9, 300), (1, 25)])
def test_small_problems_may_take_many_steps_and_large_ones_few(most_work, steps, monkeypatch):
    taken = []

    def counted(_function, start, _bound, _enough, most_steps):
        taken.append(most_steps)
        return start

    monkeypatch.setattr(calibration, "minimise", counted)
    monkeypatch.setattr(calibration, "MOST_WORK", most_work)
    calibrate(paths(ROWS), targets())
    assert taken == [steps]


def test_chunks_change_only_the_rounding(monkeypatch):
    draw = np.random.default_rng(1)  # noqa: TID251  (test data, nothing private)
    aims, chunk = targets(draw), paths(ROWS * 5)
    whole = calibrate(chunk, aims)
    monkeypatch.setattr(calibration, "CHUNK", 4)
    assert calibrate(chunk, aims) == pytest.approx(whole, rel=1e-6)


@pytest.mark.usefixtures("to_the_end")
def test_beginning_with_a_sample_leads_to_the_same_weights(monkeypatch):
    draw = np.random.default_rng(2)  # noqa: TID251  (test data, nothing private)
    aims, chunk = targets(draw), paths(ROWS * 5, [1, 2, 3, 9, 2, 1] * 5)
    whole = calibrate(chunk, aims)
    begun = []
    right = calibration.minimise
    monkeypatch.setattr(
        calibration,
        "minimise",
        lambda dual, start, *rest: begun.append(start) or right(dual, start, *rest),
    )
    monkeypatch.setattr(calibration, "SAMPLED_FROM", 1)
    assert calibrate(chunk, aims) == pytest.approx(whole, rel=1e-4)
    assert [start.position.any() for start in begun] == [False, True]


def test_a_sample_stands_for_all_rows_and_has_all_frequent_ones():
    aims, chunk = targets(), paths(ROWS * 80, [1, 2, 3, 99, 2, 1] * 80)
    whole = calibration._chunk(chunk, 0, aims, 1.0)
    some = calibration._sampled(whole)
    assert (some.base == 99).sum() == 80
    assert len(some.base) == 80 + 5 * 80 // calibration.SAMPLED
    assert some.base.sum() == pytest.approx(whole.base.sum(), rel=0.02)
    for row, kept in enumerate(some.order):
        at = np.flatnonzero(whole.order == kept)[0]
        theirs = whole.used[whole.cells[whole.starts[at] : whole.starts[at + 1]]]
        ours = some.used[some.cells[some.starts[row] : some.starts[row + 1]]]
        assert ours.tolist() == theirs.tolist()


def test_cells_of_a_chunk_are_numbered_as_they_are_met():
    """In two bytes each, unless there are too many of them."""
    few, used = calibration._numbered(np.array([7, 3, 7, 9], dtype=np.uint32), 10)
    assert (few.dtype, few.tolist(), used.tolist()) == (np.uint16, [0, 1, 0, 2], [7, 3, 9])
    many = np.arange(70_000, dtype=np.uint32)[::-1]
    numbers, used = calibration._numbered(many, 70_000)
    assert numbers.dtype == np.uint32
    assert np.array_equal(used[numbers], many)


def test_nothing_to_calibrate():
    assert len(calibrate(paths([]), targets())) == 0


def quadratic(matrix, vector):
    def function(x):
        gradient = matrix @ x - vector
        return Point(x, x @ matrix @ x / 2 - vector @ x, gradient, np.diag(matrix).copy())

    return function


@pytest.mark.parametrize("seed", range(5))
def test_minimise_a_quadratic_form(seed):
    draw = np.random.default_rng(seed)  # noqa: TID251  (test data, nothing private)
    half = draw.normal(size=(20, 20))
    matrix, vector = half @ half.T + np.eye(20), draw.normal(size=20)
    form = quadratic(matrix, vector)
    found = minimise(form, form(np.zeros(20)), 1e6, lambda p: np.abs(p.gradient).max() < 1e-9, 500)
    assert found.position == pytest.approx(np.linalg.solve(matrix, vector), abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_minimise_in_a_box(seed):
    """At the least point of a box, no coordinate can be moved inwards to advantage."""
    draw = np.random.default_rng(seed)  # noqa: TID251  (test data, nothing private)
    half = draw.normal(size=(8, 8))
    matrix, vector = half @ half.T + np.eye(8), 5 * draw.normal(size=8)
    form = quadratic(matrix, vector)
    found = minimise(
        form,
        form(np.zeros(8)),
        0.3,
        lambda p: np.abs(p.slope(0.3)).max() < 1e-8,
        2000,
    )
    assert (np.abs(found.position) <= 0.3).all()
    assert (np.abs(found.position) == 0.3).any()
    inside = np.abs(found.position) < 0.3
    assert np.abs(found.gradient[inside]) == pytest.approx(0, abs=1e-6)
    assert (found.gradient[~inside] * found.position[~inside] <= 0).all()


def test_minimise_stops_when_told():
    calls = []
    matrix = np.diag([1.0, 100.0])

    def counted(x):
        calls.append(x)
        return quadratic(matrix, np.ones(2))(x)

    start = quadratic(matrix, np.ones(2))(np.zeros(2))
    minimise(counted, start, 10.0, lambda _: True, 50)
    assert not calls
    minimise(counted, start, 10.0, lambda _: False, 3)
    assert 3 <= len(calls) <= 7


def test_rows_that_a_sample_leaves_out_do_not_run_away(monkeypatch):
    """A sample that never visits both 0 and 1 makes both likelier, and who visits both e¹¹ times.

    With next to no noise, and as few steps as a million rows can afford, the weights stayed there:
    releases at ε = 100 were worse than none.
    """
    monkeypatch.setattr(calibration, "SAMPLED_FROM", 1)
    rows = paths([[0]] * 40 + [[1]] * 40 + [[0, 1]] * 3)
    wanted = replace(targets(variance=1e-3), counts=np.zeros(len(targets().counts)))
    for code in (0, 1):
        wanted.counts[find_cells(paths([[code]]), wanted)[1]] = 10_000
    right, begun = calibration.minimise, []

    def watched(dual, start, *rest):
        begun.append(start.value)
        return right(dual, start, *rest)

    monkeypatch.setattr(calibration, "minimise", watched)
    calibrate(rows, wanted)
    assert begun[1] <= 83  # as many as the rows weigh: λ = 0

    monkeypatch.setattr(calibration, "_no_worse_than_none", lambda dual, start, _: dual(start))
    begun.clear()
    calibrate(rows, wanted)
    assert begun[1] > 83


def test_a_guess_that_leads_nowhere_is_given_up():
    form = quadratic(np.eye(2), np.zeros(2))
    assert calibration._no_worse_than_none(form, np.ones(2), 0.0).position.tolist() == [0, 0]
    assert calibration._no_worse_than_none(form, np.ones(2), 0.2).position.tolist() == [0.4, 0.4]


def test_listed_pairs_are_the_pairs_of_the_gate():
    draw = np.random.default_rng(2)  # noqa: TID251  (test data, nothing private)
    rows = [draw.integers(0, SIZE + 1, draw.integers(1, 9)).tolist() for _ in range(200)]
    chunk, aims = paths(rows), targets()
    found_rows, cells = find_cells(chunk, aims)
    is_pair = cells == starts_of(aims)[PAIRS]
    gate_rows, gate_cells = PAIRS.row_cells(
        Rows(chunk.offsets, chunk.codes, SIZE), SCOPE, PLAN[PAIRS].cap
    )
    assert found_rows[is_pair].tolist() == gate_rows[gate_cells == 0 * SIZE + 1].tolist()
    assert 20 < np.count_nonzero(is_pair) < 180


def test_a_product_is_the_same_on_any_number_of_cores():
    """A linear algebra library adds up in another order for each number of threads."""
    program = (
        "import numpy as np;"
        "from pathveil.methods.calibrated.synthesis.quasi_newton import dot;"
        "x = 1 / np.arange(1.0, 100_001);"
        "print(dot(x, x[::-1].copy()).hex())"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"OPENBLAS_NUM_THREADS": threads},
            capture_output=True,
            check=True,
        ).stdout
        for threads in ("1", "2", "3")
    }
    assert len(answers) == 1
