"""Questions that nothing is fitted to: who answers which, who draws them, and what they tell."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from pathveil import TrajectoryDatabase, simulate_week
from pathveil.core.noise import Laplace
from pathveil.core.parameters import Parameters
from pathveil.core.paths import Paths
from pathveil.gate.measure import measure
from pathveil.gate.randomness import Randomness
from pathveil.methods.calibrated.synthesis.estimates import choose_candidates
from pathveil.methods.calibrated.synthesis.synthesize import synthesize
from pathveil.methods.calibrated.uncertainty.validated import Validated
from pathveil.methods.calibrated.uncertainty.what_is_left import kept_shares, taken_by
from pathveil.statistics.constants import ENOUGH_QUERIES
from pathveil.statistics.measurement_plan import MeasurementPlan
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.statistics.planner import Planner
from pathveil.statistics.statistic import Rows, Scope, Visit
from pathveil.statistics.total import TOTAL
from pathveil.statistics.validation import (
    MOVE,
    ORDERED,
    ORDERED_TRIPLE,
    PAIR,
    PREFIX,
    QUERY_KINDS,
    TRIP,
    TRIPLE,
    VALIDATION,
    Queries,
    public_queries,
    scattered,
)
from pathveil.statistics.validation_queries import drawn_queries
from pathveil.statistics.visits import VISITS

SIZE, SIZE_OF_WEEK = 6, 30


def seeded(seed: int) -> np.random.Generator:  # noqa: TID251
    """Reproducible; nothing is published."""
    return np.random.default_rng(seed)  # noqa: TID251


def answered(path, *asked):
    """The question that a trajectory answers, of some (kind, locations)."""
    kinds = np.array([kind for kind, _ in asked], dtype=np.int8)
    locations = np.array([(*where, 0)[:3] for _, where in asked], dtype=np.int32)
    scope = Scope(SIZE, candidates=np.arange(SIZE), queries=Queries(kinds, locations))
    rows = Rows(np.array([0, len(path)]), np.array(path, dtype=np.int32), SIZE)
    return int(VALIDATION.cell(rows, scope)[0])


@pytest.mark.parametrize(
    ("kind", "where", "yes", "no"),
    [
        (PAIR, (1, 2), [2, 0, 1], [1, 1, 3]),
        (TRIPLE, (1, 2, 3), [3, 2, 1], [1, 2, 0]),
        (ORDERED, (1, 2), [1, 0, 2], [2, 0, 1]),
        (ORDERED, (1, 2), [2, 1, 2], [2, 2, 1]),
        (ORDERED_TRIPLE, (1, 2, 3), [1, 3, 2, 3], [1, 3, 2, 1]),
        (MOVE, (1, 2), [1, 0, 1, 2], [1, 0, 2]),
        (TRIP, (1, 2), [1, 0, 2], [1, 2, 0]),
        (PREFIX, (1, 2), [1, 2, 0], [1, 0, 2]),
    ],
)
def test_who_answers(kind, where, yes, no):
    assert answered(yes, (kind, where)) == 0
    assert answered(no, (kind, where)) == -1


def test_a_trajectory_answers_the_first_question_only():
    assert answered([0, 1, 2, 3], (PAIR, (4, 5)), (MOVE, (2, 3)), (PAIR, (0, 1))) == 1


def test_public_numbers_are_the_same_in_every_run_and_fill_the_interval():
    assert scattered(3, 1).tolist() == [
        0.27357846347706083,
        0.9062424483978249,
        0.6012833071187135,
    ]
    numbers = scattered(10_000, 7)
    assert 0 <= numbers.min() < 0.001
    assert 0.999 < numbers.max() < 1
    assert np.bincount((10 * numbers).astype(int)).min() > 900


@pytest.mark.parametrize("named", [0, 1, 2, 3, 50])
def test_public_questions_are_about_different_locations(named):
    queries = public_queries(named)
    assert queries.can_be_asked.all()
    assert (len(queries) > 0) == (named > 1)
    assert queries.locations.max(initial=0) < max(named, 1)


@pytest.fixture(scope="module")
def measured():
    """The noisy tables of a simulated week, as a publish measures them."""
    week = simulate_week(8000, SIZE_OF_WEEK, seed=3)
    database = TrajectoryDatabase.from_arrays(week.offsets, week.codes, week.universe)
    parameters = Parameters.choose(epsilon="1", universe_size=SIZE_OF_WEEK, method="calibrated")
    return measure(
        database,
        MeasurementPlan.usual(parameters),
        choose_candidates,
        Randomness(seeded(5)),
        adapt=Planner(parameters),
        choose_queries=drawn_queries,
    )


def test_the_planner_gives_it_a_small_share(measured):
    assert Fraction(5, 1000) < measured.plan[VALIDATION].budget < Fraction(6, 100)


def test_questions_are_of_every_kind_and_follow_from_what_was_published(measured):
    queries = measured.scope.queries
    assert len(queries) == measured[VALIDATION].cells
    assert set(queries.kind.tolist()) == set(QUERY_KINDS)
    assert queries.can_be_asked.all()
    again = drawn_queries(measured)
    assert np.array_equal(again.kind, queries.kind)
    assert np.array_equal(again.locations, queries.locations)


def test_a_plan_that_does_not_validate_has_no_questions(measured):
    lines = tuple(line for line in measured.plan.lines() if line.statistic is not VALIDATION)
    assert len(drawn_queries(replace(measured, plan=MeasurementPlan(lines)))) == 0


def test_questions_are_of_all_sizes(measured):
    queries, total = measured.scope.queries, float(measured[TOTAL].counts[0])
    visitors = measured[VISITS].counts[measured.candidates]
    first, second = queries.locations[queries.kind == PAIR, :2].T
    expected = visitors[first] * visitors[second] / total
    unit = max(0.001 * total, measured[VALIDATION].scale)
    sizes = np.bincount(np.searchsorted([unit, 3 * unit], expected), minlength=3)
    assert sizes.min() >= 3


def test_questions_that_few_answer_stand_first_so_that_large_ones_take_nothing_from_them(measured):
    """Who answers a small one is not lost to a large one: of small ones more is left."""
    week = simulate_week(8000, SIZE_OF_WEEK, seed=3)
    positions = Rows(week.offsets, week.codes, SIZE_OF_WEEK).among(measured.candidates).positions
    paths = Paths(week.offsets, positions, np.ones(len(week.offsets) - 1, dtype=np.int64))
    taken = taken_by(paths, measured.scope)
    left, whole = np.diag(taken), taken.sum(axis=1)
    place, asked = np.arange(len(whole)), whole > 0
    assert np.corrcoef(place[asked], np.log(whole[asked]))[0, 1] > 0.5
    small, large = asked & (place < len(place) // 2), whole >= np.quantile(whole, 0.9)
    kept = left[small].sum() / whole[small].sum(), left[large].sum() / whole[large].sum()
    assert kept[0] > 1.5 * kept[1]


def test_no_question_of_a_kind_is_asked_twice(measured):
    queries = measured.scope.queries
    asked = queries.locations[queries.kind == MOVE, :2]
    assert len(np.unique(asked, axis=0)) == len(asked)


def test_the_synthesis_never_sees_the_answers(measured):
    table = measured[VALIDATION]
    other = NoisyTable(table.keys, table.counts[::-1] + 1000, table.cells, table.noise)
    changed = replace(measured, tables={**measured.tables, VALIDATION: other})
    ours, theirs = (synthesize(one, one.plan, seeded(9)) for one in (measured, changed))
    assert np.array_equal(ours.codes, theirs.codes)
    assert np.array_equal(ours.weights, theirs.weights)


class TestValidated:
    """Seeded, so they fail always or never."""

    @staticmethod
    def asked(bias, floor, count=1500, scale=20.0, seed=4, left=(1.0, 1.0)):
        draw = seeded(seed)
        released = np.round(10 ** draw.uniform(1, 3.5, count))
        true = released * np.exp(bias) * draw.gamma(floor**-2, floor**2, count)
        kept = draw.uniform(*left, count)
        noisy = np.round(kept * true + draw.laplace(0, scale, count))
        noise = Laplace(1 / Fraction(scale))
        return np.zeros(count, dtype=np.int64), released, kept, noisy, noise

    @pytest.mark.parametrize("left", [(1.0, 1.0), (0.2, 0.9)])
    @pytest.mark.parametrize(("bias", "floor"), [(0.0, 0.1), (0.0, 0.45), (-0.4, 0.3), (0.6, 1.0)])
    def test_finds_what_is_there(self, bias, floor, left):
        found = Validated.fit(*self.asked(bias, floor, left=left), 200.0)
        drawn = found.draw(PAIR, 1000.0, 20_000, seeded(1))
        wanted = 1000 * np.exp(bias) * seeded(2).gamma(floor**-2, floor**2, 20_000)
        low, high = np.quantile(drawn, [0.05, 0.95])
        held = ((low <= wanted) & (wanted <= high)).mean()
        # 0.85 where what is left is right and taken to be off; 0.81 if answers scatter by 1, too,
        # since the grid of biases is coarse there.
        assert (0.8 if floor == 1.0 else 0.84) <= held <= 0.96

    @pytest.mark.parametrize("floor", [0.1, 0.3])
    def test_large_answers_are_told_however_small_the_noise(self, floor):
        """Errors of large answers are far larger than noise, and none of them is impossible."""
        found = Validated.fit(*self.asked(0.0, floor, count=400, scale=2.0))
        wanted = 3000 * seeded(2).gamma(floor**-2, floor**2, 20_000)
        low, high = np.quantile(found.draw(PAIR, 3000.0, 20_000, seeded(1)), [0.05, 0.95])
        assert 0.86 <= ((low <= wanted) & (wanted <= high)).mean() <= 0.95

    def test_what_others_take_is_not_taken_for_error(self):
        """Of large answers little is left, and that is off by as much as small answers are."""
        draw, (kinds, released, *_) = seeded(6), self.asked(0.0, 0.1)
        error = np.clip(20.0 / released, 0.1, 1.0)
        kept = np.where(released > 300, 0.1, 0.9)
        true = released * draw.gamma(error**-2, error**2)
        left = np.clip(kept * np.exp(0.5 * (1 - kept) * draw.standard_normal(len(kept))), 0, 1)
        noisy = np.round(left * true + draw.laplace(0, 2.0, len(kept)))
        found = Validated.fit(kinds, released, kept, noisy, Laplace(Fraction(1, 2)), 20.0)
        low, high = np.quantile(found.draw(PAIR, 1000.0, 20_000, seeded(1)), [0.05, 0.95])
        assert high / low < np.exp(2 * 1.64 * 0.2)  # what is seen scatters by 0.46

    def test_few_questions_make_wide_intervals(self):
        widths = []
        for count in (1500, 60):
            found = Validated.fit(*self.asked(0.0, 0.3, count=count))
            drawn = found.draw(PAIR, 1000.0, 20_000, seeded(1))
            widths.append(np.diff(np.quantile(drawn, [0.05, 0.95]))[0])
        assert found.known[PAIR].max() < 60
        assert widths[1] > 1.05 * widths[0]

    def test_noise_is_not_taken_for_error(self):
        found = Validated.fit(*self.asked(0.0, 0.1, scale=100.0))
        drawn = found.draw(PAIR, 1000.0, 20_000, seeded(1))
        # The noise alone would have a deviation of 140.
        assert drawn.std() == pytest.approx(100, rel=0.35)

    def test_errors_of_one_size_are_not_those_of_another(self):
        kinds, released, kept, noisy, noise = self.asked(0.0, 0.1, count=800)
        small = released < 200
        noisy[small & (seeded(8).random(800) < 0.3)] = 0  # what the synthesis invented
        found = Validated.fit(kinds, released, kept, noisy, noise)
        drawn = [found.draw(PAIR, size, 20_000, seeded(1)) / size for size in (80.0, 2000.0)]
        assert (drawn[0] < 0.2).mean() > 0.05  # so that low at 90% is near nobody
        assert (drawn[1] < 0.2).mean() < 0.01

    def test_large_answers_are_not_biased_because_small_ones_are(self):
        """What makes answers err makes them err alike: both fall with the size."""
        draw, count = seeded(3), 800
        released = np.round(10 ** draw.uniform(1.5, 4, count))
        error = np.clip(10.0 / np.sqrt(released), 0.05, 1.0)
        true = released * np.exp(error) * draw.gamma(error**-2, error**2)
        noisy = np.round(true + draw.laplace(0, 5.0, count))
        kinds, kept = np.zeros(count, dtype=np.int64), np.ones(count)
        found = Validated.fit(kinds, released, kept, noisy, Laplace(Fraction(1, 5)))
        for size, off in ((300.0, 0.58), (10_000.0, 0.1)):
            low, high = np.quantile(found.draw(PAIR, size, 20_000, seeded(1)) / size, [0.05, 0.95])
            assert low < np.exp(off) < high
            assert high / low < np.exp(2.2 * 1.64 * off)

    def test_a_kind_with_few_questions_above_the_noise_is_not_told(self):
        kinds, released, kept, noisy, noise = self.asked(0.0, 0.3)
        assert Validated.fit(kinds, released, kept, noisy, noise).told == {PAIR}
        few = np.flatnonzero(released >= noise.scale)[: ENOUGH_QUERIES - 1]
        asked = (one[few] for one in (kinds, released, kept, noisy))
        assert not Validated.fit(*asked, noise).told


def test_what_answering_one_question_cuts_is_told_from_errors():
    # The release is the data itself, so nothing is off; but everybody answers every question, and
    # only the first is left. Taken as they stand the answers would be none of them told.
    size, people = 4, 3000
    path = np.tile(np.arange(size, dtype=np.int32), people)
    paths = Paths(np.arange(0, len(path) + 1, size), path, np.ones(people, dtype=np.int64))
    pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    locations = np.array([(*pair, 0) for pair in pairs], dtype=np.int32)
    scope = Scope(
        size, candidates=np.arange(size), queries=Queries(np.zeros(6, dtype=np.int8), locations)
    )
    taken = taken_by(paths, scope)
    assert np.diag(taken).tolist() == [people, 0, 0, 0, 0, 0]
    assert taken.sum(axis=1).tolist() == [people] * 6


@pytest.mark.parametrize("often", [0.6, 1.0, 1.7])
def test_questions_that_are_answered_more_often_than_released_take_more(often):
    # Everybody answers each of 40 questions by chance, and ``often`` times as many as the release
    # says: what is left of the last ones is far from what is left of released ones.
    people, chance = 100_000, np.geomspace(0.01, 0.08, 40)
    not_yet = np.cumprod(1.0 - np.append(0.0, chance[:-1]))
    taken = people * np.tril(np.outer(chance, chance * not_yet), -1)
    np.fill_diagonal(taken, people * chance * not_yet)
    left = np.cumprod(1.0 - often * np.append(0.0, chance[:-1]))
    noisy = people * often * chance * left + seeded(12).normal(0.0, 50.0, 40)
    kinds = np.zeros(40, dtype=np.int64)
    off = np.abs(np.log(kept_shares(kinds, taken, noisy, 50.0) / left))
    assert off.max() < max(0.1, np.abs(np.log(not_yet / left)).max() / 3)


@pytest.mark.parametrize("often", [0.5, 1.0, 1.8])
def test_many_small_questions_that_noise_hides_one_by_one_tell_together_what_they_take(often):
    # 150 questions of 100 people each, who answer none of the others, under a noise of 100. Each
    # takes eight in a thousand of those who answer the last question.
    many, large, chance = 150, 10_000, 0.008
    taken = np.zeros((many + 1, many + 1))
    np.fill_diagonal(taken, 100.0)
    taken[-1] = large * np.append(chance * (1 - chance) ** np.arange(many), (1 - chance) ** many)
    noisy = 100.0 * often + seeded(13).laplace(0.0, 100.0 / np.sqrt(2.0), many)
    left = (1.0 - often * chance) ** many
    kept = kept_shares(np.zeros(many + 1, dtype=np.int64), taken, np.append(noisy, 0.0), 100.0)
    off = abs(np.log(kept[-1] / left))
    assert off < max(0.25, abs(np.log((1 - chance) ** many / left)) / 2)


def test_all_answers_are_those_of_the_oracle_one_question_at_a_time():
    draw, people = seeded(11), 300
    lengths = draw.integers(1, 9, people)
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    codes = draw.integers(0, SIZE + 1, offsets[-1]).astype(np.int32)  # SIZE: an unnamed location
    paths = Paths(offsets, codes, draw.integers(1, 5, people))
    queries = public_queries(SIZE)
    scope = Scope(SIZE, candidates=np.arange(SIZE), queries=queries)
    whole = taken_by(paths, scope).sum(axis=1)
    visits = [
        [Visit(int(code) if code < SIZE else f"{row}, {at}") for at, code in enumerate(path)]
        for row, path in enumerate(np.split(codes, offsets[1:-1]))
    ]
    for question, kind in enumerate(queries.kind):
        alone = Queries(np.array([kind]), queries.locations[question : question + 1])
        scope = Scope(SIZE, candidates=np.arange(SIZE), queries=alone)
        answering = [len(list(VALIDATION.oracle(path, scope, 1))) for path in visits]
        assert whole[question] == paths.weights @ np.array(answering)
