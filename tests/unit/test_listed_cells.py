"""Cells that a noisy table counts one by one: their intervals, how they are told and looked up."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.multisets import coded_multiset

from pathveil import TrajectoryDatabase, Universe, publish, transitions
from pathveil.analysis.count_queries import count_many, count_ordered_many
from pathveil.analysis.flows import PairCounts
from pathveil.core.error_table import (
    ANY,
    KINDS,
    LEVELS,
    MOVE,
    ORDERED,
    TRIP,
    ErrorTable,
    Estimate,
    largest_first,
)
from pathveil.core.listed_cells import ListedCells
from pathveil.core.noise import Gaussian, Laplace
from pathveil.core.parameters import Parameters
from pathveil.core.paths import Paths
from pathveil.methods.calibrated.uncertainty import listed, released_cells
from pathveil.methods.calibrated.uncertainty.factor_prior import (
    FactorPrior,
    NoisyCells,
    cells_by_step,
    steps_of,
)
from pathveil.methods.calibrated.uncertainty.listed import listed_cells
from pathveil.methods.calibrated.uncertainty.sample import Evidence
from pathveil.methods.calibrated.uncertainty.table_rows import _bounds
from pathveil.release.answering import Answering
from pathveil.statistics.constants import LISTED_TAIL
from pathveil.statistics.measurement_plan import MeasurementPlan
from pathveil.statistics.measurements import Measurements
from pathveil.statistics.moves import MOVES
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.statistics.pairs import PAIRS
from pathveil.statistics.statistic import Rows, Scope
from pathveil.statistics.trips import TRIPS
from pathveil.statistics.visits import VISITS

USUAL = LEVELS.index(90)


def seeded(seed: int) -> np.random.Generator:  # noqa: TID251
    """Reproducible; nothing is published."""
    return np.random.default_rng(seed)  # noqa: TID251


def cells(*rows: tuple[str, int, int, int, int]) -> ListedCells:
    """Rows (kind, first, second, low, high), in order; wider levels have wider intervals."""
    numbers = np.array([(KINDS.index(kind), *row) for kind, *row in rows], dtype=np.int64)
    kind, first, second, low, high = numbers.T
    off = np.arange(len(LEVELS)) - USUAL
    bounds = np.stack((low[:, None] - off, high[:, None] + off), axis=2)
    return ListedCells(kind, first, second, (low + high) // 2, bounds)


def error_table(listed_cells: ListedCells) -> ErrorTable:
    """Single locations are off by 100, several by anything."""
    rows = np.array([(0, 0, 900, 890, 910), (0, 1, 900, 800, 1000), (0, 2, 900, 0, 990)])
    kind, locations, estimate, low, high = rows.T.copy()
    bounds = np.repeat(np.stack((low, high), axis=1)[:, None], len(LEVELS), axis=1)
    return ErrorTable(locations, estimate, bounds, kind=kind, listed=listed_cells)


class TestLookingUp:
    @given(
        st.sets(st.tuples(st.integers(0, 7), st.integers(0, 9), st.integers(0, 9)), max_size=30),
        st.lists(st.tuples(st.integers(-2, 12), st.integers(-2, 12)), min_size=1, max_size=20),
        st.integers(0, 7),
    )
    def test_finds_what_is_listed_and_nothing_else(self, known, asked, kind):
        rows = sorted(known)
        columns = np.array(rows, dtype=np.int64).reshape(-1, 3).T
        bounds = np.zeros((len(rows), len(LEVELS), 2), dtype=np.int64)
        listed_cells = ListedCells(*columns, np.arange(len(rows)), bounds)
        assert listed_cells.problem(8, 10) is None
        found = listed_cells.find(kind, *np.array(asked, dtype=np.int64).T)
        for (first, second), is_known, row in zip(
            asked, found.known.tolist(), found.row.tolist(), strict=True
        ):
            assert is_known == ((kind, first, second) in known)
            if is_known:
                assert rows[row] == (kind, first, second)

    @pytest.mark.parametrize(
        ("rows", "problem"),
        [
            ([(MOVE, 0, 3, 1, 2)], "no such location"),
            ([(MOVE, 0, -1, 1, 2)], "no such location"),
            ([(MOVE, 0, 1, 9, 2)], "low is above high"),
            ([(MOVE, 0, 1, -9, 2)], "negative"),
            ([(MOVE, 1, 0, 3, 9), (MOVE, 0, 1, 3, 9)], "not in order"),
            ([(MOVE, 0, 1, 3, 9), (MOVE, 0, 1, 3, 9)], "not in order"),
            ([(MOVE, 0, 1, 3, 9), (ANY, 0, 1, 3, 9)], "not in order"),
        ],
    )
    def test_bad_cells(self, rows, problem):
        assert problem in cells(*rows).problem(len(KINDS), 3)

    def test_intervals_that_do_not_widen(self):
        good = cells((MOVE, 0, 1, 10, 20))
        bad = ListedCells(good.kind, good.first, good.second, good.best, good.bounds[:, ::-1])
        assert good.problem(len(KINDS), 2) is None
        assert "widen" in bad.problem(len(KINDS), 2)


def test_a_list_stands_in_the_order_of_what_it_shows():
    rows = [("a", Estimate(9, 1, 9, 0.9, best=4)), ("b", Estimate(8, 1, 9, 0.9, best=7)), ("c", 7)]
    ranked = largest_first(rows, lambda row: row[1])
    assert [name for name, _ in ranked] == ["b", "c", "a"]


class TestAnswers:
    RELEASED = coded_multiset(Universe(["A", "B", "C", "D"]), [[0, 1], [2, 3]], [500, 400])
    LISTED = cells((ANY, 0, 1, 480, 530), (ORDERED, 1, 0, 20, 40), (MOVE, 0, 1, 470, 520))

    def asked(self, kind, query, count, level=0.9):
        answering = Answering(error_table(self.LISTED), self.RELEASED)
        return next(answering.asked(kind, [query], np.array([count]), level).estimates())

    def test_a_listed_pair_has_its_own_interval_in_any_order(self):
        for query in ([0, 1], [1, 0], [1, 0, 1]):
            answer = self.asked(ANY, query, 500)
            assert (answer.low, answer.best, answer.high) == (480, 505, 530)
            assert (answer.mark, answer.is_bound) == ("reliable", False)

    def test_others_have_that_of_their_kind_and_size(self):
        assert self.asked(ANY, [2, 3], 400).mark == "noise"
        assert self.asked(ANY, [0, 1, 2], 400).mark == "noise"
        assert self.asked(ORDERED, [0, 1], 30).is_bound

    def test_an_order_is_one(self):
        answer = self.asked(ORDERED, [1, 0], 30)
        assert (answer.low, answer.high, answer.mark) == (20, 40, "rough")

    def test_the_mark_goes_by_the_usual_level(self):
        answer = self.asked(ORDERED, [1, 0], 30, level=0.5)
        assert (answer.low, answer.high, answer.mark) == (24, 36, "rough")

    def test_flows(self):
        answering = Answering(error_table(self.LISTED), self.RELEASED)
        flows = PairCounts(np.array([0, 2]), np.array([1, 3]), np.array([500, 400]))
        moves = answering.pairs(MOVE, flows)
        assert (moves.low.tolist(), moves.high.tolist()) == ([470, 0], [520, 500])
        assert moves.is_bound.tolist() == [False, True]
        assert answering.pairs(TRIP, flows).is_bound.tolist() == [True, True]

    def test_the_interval_holds_the_answer_and_no_more_than_there_can_be(self):
        assert self.asked(ANY, [0, 1], 470).low == 470
        assert self.asked(ANY, [0, 1], 540).high == 540
        everybody = cells((ANY, 0, 1, 480, 5000))
        answering = Answering(error_table(everybody), self.RELEASED)
        assert answering.asked(ANY, [[0, 1]], np.array([500])).high[0] == 600  # visitors of B

    def test_of_hours_nothing_is_listed(self):
        assert self.asked("hours", [0, 1], 500).is_bound


paths = st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=7), min_size=1, max_size=12)


@given(paths, st.data())
@settings(max_examples=60, deadline=None)
def test_released_counts_are_those_of_the_release(rows, data):
    """Moves, both in any order, both in order: as the questions count them."""
    labels = [f"x{i}" for i in range(6)]
    weights = data.draw(st.lists(st.integers(1, 9), min_size=len(rows), max_size=len(rows)))
    candidates = np.array(sorted(data.draw(st.sets(st.integers(0, 5), min_size=2))))
    released = coded_multiset(Universe(labels), rows, weights)
    scope = Scope(6, candidates=candidates)
    plan = MeasurementPlan.of(Parameters.choose(epsilon="1", universe_size=6))
    counted = released_cells.ReleasedCells(Measurements(scope, {}, plan), released.paths())
    pairs = [pair for pair in product(range(len(candidates)), repeat=2) if pair[0] != pair[1]]
    keys = np.array([a * len(candidates) + b for a, b in pairs])
    asked = [[labels[candidates[a]], labels[candidates[b]]] for a, b in pairs]
    either, in_order = counted.together(*np.array(pairs).T)
    assert either.tolist() == count_many(released, asked).tolist()
    assert in_order.tolist() == count_ordered_many(released, asked).tolist()
    made = {(a, b): count for a, b, count in transitions(released).to_rows(released.universe)}
    assert counted.moves(keys).tolist() == [made.get(tuple(pair), 0) for pair in asked]


@given(
    st.lists(st.integers(-3, 6), min_size=1, max_size=9),
    st.lists(st.integers(-3, 6), min_size=1, max_size=9),
)
def test_cells_by_their_guess(first, second):
    oracle = Counter(a + b for a, b in product(first, second))
    assert cells_by_step(np.array(first), np.array(second)) == oracle


@pytest.mark.parametrize("noise", [Laplace(Fraction(1, 20)), Gaussian(Fraction(28 * 28))])
@pytest.mark.parametrize("is_whole", [True, False])
def test_what_is_drawn_for_listed_cells_holds_their_true_counts(noise, is_whole):
    """200 places, some pairs of which are sought after. Seeded, so it fails always or never.

    Of some 200 listed cells 90% intervals should hold 90%, and as many lie on either side; by
    chance their share has a deviation of 0.02.
    """
    draw, places = seeded(3), 200
    visits = 150_000.0 / np.arange(1, places + 1)
    first, second = np.divmod(np.arange(places**2), places)
    guess = visits[first] * visits[second] / visits.sum()
    factor = np.exp(draw.logistic(-1.0, 0.6, places**2)) * (draw.random(places**2) < 0.4)
    true = draw.poisson(guess * factor).astype(np.float64)
    if isinstance(noise, Laplace):
        off = draw.laplace(0.0, noise.scale, places**2)
    else:
        off = draw.normal(0.0, noise.deviation, places**2)
    noisy, threshold = np.round(true + off), 160
    place = steps_of(visits)
    steps = place[first] + place[second] - int(steps_of(visits.sum(keepdims=True))[0])
    is_listed = noisy >= threshold
    seen = is_listed | is_whole
    cells = dict(Counter(steps.tolist()))
    known = NoisyCells(noisy[seen], steps[seen], is_listed[seen], cells, threshold)
    prior = FactorPrior.fit(known, noise)
    drawn = prior.draw(noisy[is_listed], steps[is_listed], 1000, draw)
    low, high = np.quantile(drawn, (0.05, 0.95), axis=1)
    inside = (low <= true[is_listed]) & (true[is_listed] <= high)
    assert 150 <= is_listed.sum() <= 500
    assert 0.84 <= inside.mean() <= 0.96
    assert noisy[is_listed].mean() > true[is_listed].mean() + 2
    assert drawn.mean() == pytest.approx(true[is_listed].mean(), abs=noise.scale / 2)


@given(st.lists(st.lists(st.integers(0, 400), min_size=40, max_size=40), min_size=1, max_size=5))
def test_quantiles_are_those_of_tables_by_kind_and_size(draws):
    true = np.sort(np.array(draws, dtype=np.float64), axis=1)
    expected = np.stack([_bounds(row, LISTED_TAIL, is_asked=True) for row in true])
    expected[..., 0] = np.minimum.accumulate(expected[..., 0], axis=1)
    expected[..., 1] = np.maximum.accumulate(expected[..., 1], axis=1)
    assert np.array_equal(listed._quantiles(true), expected)


class TestByTables:
    """Nine moves from 2i to 2i + 1, released 1000 times each; nobody does anything else."""

    NOISE = Laplace(Fraction(1))

    def told(self, statistic, noisy, table, extra=(), **more):
        """The listed cells of such a release."""
        rows = [[2 * i, 2 * i + 1] for i in range(9)]
        released = Paths(
            np.cumsum([0, *([2] * 9), *map(len, extra)]),
            np.array([code for row in [*rows, *extra] for code in row], dtype=np.int32),
            np.full(9 + len(extra), 1000),
        )
        keys = np.array([2 * i * 18 + 2 * i + 1 for i in range(9)])[: len(noisy)]
        counts = NoisyTable(keys, np.asarray(noisy), 18 * 18, self.NOISE, 100)
        visits = NoisyTable(np.arange(18), np.full(18, 1000), 18, self.NOISE)
        plan = MeasurementPlan.of(Parameters.choose(epsilon="1", universe_size=18))
        scope = Scope(18, candidates=np.arange(18))
        seen = Measurements(scope, {VISITS: visits, statistic: counts}, plan, **more)
        return listed_cells(Evidence(seen, plan, None), released, table, seeded(1))

    @pytest.mark.parametrize(
        ("statistic", "kinds"),
        [(MOVES, {MOVE, ORDERED}), (TRIPS, {TRIP}), (PAIRS, {ANY})],
    )
    def test_a_cell_is_what_its_table_says(self, statistic, kinds):
        found = self.told(statistic, np.full(9, 800), error_table(cells((MOVE, 0, 1, 0, 9))))
        assert {KINDS[kind] for kind in found.kind.tolist()} == kinds
        for kind in kinds:
            rows = found.kind == KINDS.index(kind)
            assert found.first[rows].tolist() == list(range(0, 18, 2))
            assert found.second[rows].tolist() == list(range(1, 18, 2))
        assert found.bounds[:, USUAL] == pytest.approx(
            np.tile([797, 803], (len(found), 1)), abs=25 if ANY in kinds else 2
        )

    def test_the_rest_is_off_by_itself(self):
        """Who comes back makes the move back, which no table counts: it may be half as many."""
        back = [[2 * i + 1, 2 * i, 2 * i + 1] for i in range(9)]
        table = error_table(ListedCells.nothing(len(LEVELS)))
        found = self.told(MOVES, np.full(9, 1000), table, extra=back)
        low, high = found.bounds[found.kind == KINDS.index(MOVE), USUAL].T
        assert np.all((low > 1200) & (low < 1500))
        assert np.all((high > 2700) & (high < 6000))

    def test_two_in_order_are_told_by_moves_if_most_go_straight(self):
        """Who goes by way of another location is no move, and no table counts it."""
        table = error_table(ListedCells.nothing(len(LEVELS)))
        by_way = [[2 * i, (2 * i + far) % 18, 2 * i + 1] for far in (4, 6) for i in range(9)]
        for extra, kinds in ((by_way[:9], {MOVE, ORDERED}), (by_way, {MOVE})):
            found = self.told(MOVES, np.full(9, 1000), table, extra=extra)
            assert {KINDS[kind] for kind in found.kind.tolist()} == kinds

    def test_cells_that_are_told_better_by_kind_and_size_are_not_listed(self):
        rows = np.array([(0, 1, 900, 890, 910), (3, 2, 1000, 1000, 1001)])
        kind, locations, estimate, low, high = rows.T.copy()
        bounds = np.repeat(np.stack((low, high), axis=1)[:, None], len(LEVELS), axis=1)
        certain = ErrorTable(locations, estimate, bounds, kind=kind)
        assert len(self.told(TRIPS, np.full(9, 1000), certain)) == 0

    def test_clipped_tables_tell_nothing(self):
        table = error_table(ListedCells.nothing(len(LEVELS)))
        clipped = self.told(TRIPS, np.full(9, 800), table, trips_per_weight=Fraction(2))
        assert len(clipped) == 0


def cards(seed: int, people: int, stops: int) -> list[list[str]]:
    """A few stops in a row each, the first ones of the town more often, some there and back."""
    draw, rows = seeded(seed), []
    popular = 1.0 / np.arange(1, stops + 1)
    keys = draw.gumbel(size=(people, stops)) + np.log(popular)
    order, many = np.argsort(-keys, axis=1), draw.integers(1, 4, people)
    for stopped, n, returns in zip(order.tolist(), many, draw.random(people) < 0.3, strict=True):
        rows.append([f"S{stop:02}" for stop in (*stopped[:n], *([stopped[0]] if returns else []))])
    return rows


def test_moves_and_pairs_of_a_small_city_are_shown_and_hold():
    """6,000 cards over 12 stops through the real gate, five releases at ε = 1.

    Before tables told their cells one by one no move of such a release was told from noise. Answers
    of one release err together. If the 20 largest of a release all held or all failed, and did so
    as often as 90% intervals may, three of five releases would fail, and so this test, once in 117
    times. Seeded, so it fails always or never.
    """
    stops = Universe([f"S{i:02}" for i in range(12)])
    held = []
    for seed in range(5):
        rows = cards(seed, 6000, 12)
        release = publish(
            TrajectoryDatabase.from_sequences(rows, stops), epsilon="1", generator=seeded(seed)
        )
        made = Counter(move for row in rows for move in pairwise(row))
        moves = [flow for flow in release.flows() if flow.origin != flow.destination][:20]
        assert sum(flow.count.mark != "noise" for flow in moves) >= 10
        held += [flow.count.low <= made[flow.origin, flow.destination] <= flow.count.high
                 for flow in moves]  # fmt: skip
        together = Counter(pair for row in rows for pair in combinations(sorted(set(row)), 2))
        pairs = [(release.count(pair), true) for pair, true in together.most_common(20)]
        assert sum(count.mark != "noise" for count, _ in pairs) >= 5
        held += [count.low <= true <= count.high for count, true in pairs]
    assert np.mean(held) >= 0.5


def test_rows_of_one_location_are_nowhere_together():
    either, in_order = np.zeros(1), np.zeros(1)
    rows = Rows(np.array([0, 3]), np.array([0, 0, 0], dtype=np.int32), 2)
    starts = np.array([0, 1, 1])
    released_cells.visited_together(
        rows.offsets, rows.codes, np.array([5]), starts, np.array([0]), either, in_order
    )
    assert (either[0], in_order[0]) == (5, 5)  # a location with itself: asked for by nobody
