"""The planner: what it chooses for data of many kinds, and what it may never do."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pathveil import Parameters, TimeGrid, TrajectoryDatabase, Universe, publish, read_release
from pathveil.core.methods import PURPOSES
from pathveil.errors import ParameterError
from pathveil.gate.measure import measure
from pathveil.gate.randomness import Randomness
from pathveil.methods.calibrated.synthesis.estimates import choose_candidates
from pathveil.statistics.all_statistics import STATISTICS, TIME_STATISTICS
from pathveil.statistics.constants import MOST_CAP, WORTH
from pathveil.statistics.measurement_plan import MeasurementPlan
from pathveil.statistics.moves import MOVES
from pathveil.statistics.pairs import PAIRS
from pathveil.statistics.planner import Planner, _Caps, root_filling, water_filling
from pathveil.statistics.prefix_tree import LEVELS
from pathveil.statistics.returns import RETURNS
from pathveil.statistics.statistic import FIRST_LOOK
from pathveil.statistics.trips import TRIPS
from pathveil.statistics.visits import VISITS


def generator(seed):
    return np.random.default_rng(seed)  # noqa: TID251  (reproducible noise; nothing is published)


def database(rows, universe_size, grid=None, contribution=1):
    codes = np.array([code for row in rows for code in row], dtype=np.int32)
    return TrajectoryDatabase.from_arrays(
        np.cumsum([0, *map(len, rows)]),
        codes,
        Universe([str(code) for code in range(universe_size)]),
        time_grid=grid,
        max_trajectories_per_unit=contribution,
    )


def walks(number, universe_size, length, seed=1):
    """Trajectories of one length, to locations that are the rarer the larger their code."""
    draw = generator(seed)
    codes = (universe_size * draw.random((number, length)) ** 2).astype(np.int32)
    return database(codes.tolist(), universe_size)


def planned(db, seed=0, *, follows=False, **choices):
    parameters = Parameters.choose(
        **{"epsilon": "1"} | choices,
        universe_size=len(db.universe),
        time_grid=db.time_grid,
        max_trajectories_per_unit=db.max_trajectories_per_unit,
    )
    return measure(
        db,
        MeasurementPlan.usual(parameters),
        choose_candidates,
        Randomness(generator(seed)),
        adapt=Planner(parameters, follows=follows),
    ).plan


def share(plan, statistic):
    return float(plan[statistic].budget / plan.budget) if statistic in plan else 0.0


def test_water_filling_has_the_least_error():
    draw = generator(3)
    worth, need = draw.uniform(0.1, 8, 9), 10 ** draw.uniform(-4, 1, 9)
    best = water_filling(worth, need)
    assert best.sum() == pytest.approx(1)
    assert (best >= 0).all()
    error = (worth * need / (need + best)).sum()
    for _ in range(300):
        other = np.maximum(best + draw.normal(0, 0.02, 9), 0)
        other /= other.sum()
        assert (worth * need / (need + other)).sum() > error - 1e-9


def test_journeys_of_two_stops_need_no_returns_and_small_caps():
    plan = planned(walks(20_000, 50, 2))
    assert RETURNS not in plan
    assert plan[VISITS].cap == plan[PAIRS].cap == plan[MOVES].cap == 2
    assert plan[PAIRS].sensitivity == 1
    assert len(plan.tree) <= 2


def test_longer_journeys_have_larger_caps():
    short, long = (planned(walks(5000, 100, length)) for length in (4, 16))
    assert short[VISITS].cap < long[VISITS].cap


def test_where_few_are_long_more_people_have_larger_caps():
    """The noise for the long ones is on everybody's counts."""
    rows = [list(range(1 + i % 3)) for i in range(8)] + [list(range(24))]
    few, many = (planned(database(rows * times, 60)) for times in (120, 9000))
    assert few[VISITS].cap < many[VISITS].cap


def test_who_stays_in_one_place_makes_no_moves():
    plan = planned(database([[i % 5] * 4 for i in range(20_000)], 5))
    assert MOVES not in plan
    assert PAIRS not in plan
    assert RETURNS in plan


def test_few_people_are_measured_by_few_tables():
    few, many = planned(walks(1500, 100, 5)), planned(walks(100_000, 100, 5))
    assert len(few.lines()) < len(many.lines())
    assert share(few, VISITS) > share(many, VISITS)


@pytest.mark.parametrize("rows", [[], [[]] * 50, [[0, 1]] * 3], ids=["none", "empty", "three"])
def test_nothing_that_stands_out_is_measured_as_usual(rows):
    db = database(rows, 4)
    plan = planned(db)
    assert plan == MeasurementPlan.usual(Parameters.choose(epsilon="1", universe_size=4))
    assert plan.reasons == ()


@pytest.mark.parametrize("height", [1, 2, 5])
def test_no_cap_is_larger_than_the_height(height):
    plan = planned(walks(20_000, 30, 12), height=height)
    for line in plan.lines():
        assert line.cap <= max(height, 2)
    assert len(plan.tree) <= height


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 3000),
    st.integers(1, 30),
    st.integers(1, 12),
    st.integers(1, 3),
    st.sampled_from(["0.1", "1/3", "1", "7"]),
    st.sampled_from(PURPOSES),
    st.integers(0, 10**6),
)
def test_any_plan_spends_epsilon_exactly_and_keeps_the_first_look(
    number, size, length, contribution, epsilon, purpose, seed
):
    draw = generator(seed)
    rows = [draw.integers(0, size, draw.integers(1, length + 1)).tolist() for _ in range(number)]
    db = database(rows, size, contribution=contribution)
    plan = planned(db, seed, epsilon=epsilon, purpose=purpose)
    assert plan.budget == Fraction(epsilon)
    usual = MeasurementPlan.usual(
        Parameters.choose(
            epsilon=epsilon, universe_size=size, max_trajectories_per_unit=contribution
        )
    )
    first = [line for line in usual.lines() if line.statistic.stage == FIRST_LOOK]
    assert plan.lines()[: len(first)] == first
    for line in plan.lines():
        assert line.budget > 0
        assert 1 <= line.cap <= MOST_CAP
        assert line.sensitivity == line.statistic.bound(line.cap).l1 * contribution
    order = [statistic for statistic in STATISTICS if statistic in plan]
    assert [line.statistic for line in plan.lines()] == order
    levels = [level in plan for level in LEVELS]
    assert levels == sorted(levels, reverse=True)  # no level without the one above


def test_root_filling_has_the_least_error():
    draw = generator(3)
    for _ in range(20):
        worth, root = draw.random(6) * 10, 10.0 ** draw.uniform(-3, 1.5, 6)
        shares = root_filling(worth, root**2)
        assert shares.sum() == pytest.approx(1, abs=1e-6)
        others = shares * np.exp(draw.normal(0, 0.3, (50, 6)))
        others /= others.sum(axis=1, keepdims=True)
        errors = (worth * root / (root + np.sqrt([shares, *others]))).sum(axis=1)
        assert (errors[0] <= errors[1:] + 1e-9).all()


def test_the_same_noise_gives_the_same_plan():
    db = walks(5000, 40, 6)
    assert planned(db, 5) == planned(db, 5)
    assert planned(db, 5).reasons


def test_times_keep_their_share_and_have_caps_of_their_own():
    grid = TimeGrid.parse("1h")
    draw = generator(4)
    rows = [
        (np.sort(draw.integers(0, 24, 3)) * 20 + draw.integers(0, 20, 3)).tolist()
        for _ in range(20_000)
    ]
    db = database(rows, 20, grid)
    shares = {}
    for purpose in PURPOSES:
        plan = planned(db, purpose=purpose)
        times = [line for line in plan.lines() if line.statistic in TIME_STATISTICS]
        assert len(times) == len(TIME_STATISTICS)
        assert all(line.cap <= 3 for line in times)
        assert plan.budget == 1
        shares[purpose] = sum(line.budget for line in times)
    assert shares["everything"] == Fraction(1, 4)
    assert shares["hours"] == Fraction(1, 2)
    assert shares["flows"] == shares["stops"] == Fraction(1, 8)


def test_purposes_shift_budget_to_their_tables():
    db = walks(20_000, 60, 5)
    plans = {purpose: planned(db, purpose=purpose) for purpose in PURPOSES}
    usual = plans["everything"]
    assert share(plans["stops"], VISITS) > share(usual, VISITS)
    assert share(plans["flows"], TRIPS) > 0.4 > 3 * share(usual, TRIPS)
    assert share(plans["patterns"], PAIRS) > share(usual, PAIRS)
    assert plans["hours"] == usual  # without times there are no hours
    assert all(plan.budget == 1 for plan in plans.values())


def test_a_month_that_follows_another_has_visits_as_if_it_did_not_and_more_for_moves():
    db = walks(20_000, 60, 5)
    alone, following = (planned(db, follows=follows) for follows in (False, True))
    assert following[VISITS] == alone[VISITS]
    assert share(following, MOVES) > 1.2 * share(alone, MOVES)
    assert following.budget == alone.budget == 1


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"purpose": "flow"}, "Did you mean 'flows'"),
        ({"purpose": "flows", "method": "full", "height": 3}, "for the calibrated method"),
    ],
)
def test_a_purpose_that_can_not_be_is_refused(choices, words):
    with pytest.raises(ParameterError, match=words):
        Parameters.choose(epsilon="1", universe_size=3, **choices)


def test_the_plan_is_on_the_certificate_and_is_read_back(tmp_path):
    release = publish(walks(3000, 20, 3), epsilon="1/3", purpose="flows")
    certificate, plan = release.certificate, release.parameters.planned
    assert certificate.adds_up()
    assert certificate.implementation.purpose == "flows"
    lines = {line.measurement: line for line in certificate.accounting.budget}
    for line in plan.lines():
        told = lines[f"noisy counts: {line.name}"]
        assert (told.epsilon, told.cap) == (str(line.budget), line.cap)
    told = {reason.figure: reason.value for reason in certificate.accounting.plan.reasons}
    assert abs(float(told["trajectories"].replace(",", "")) - 3000) < 3000
    assert float(told["visits of a trajectory"]) == pytest.approx(3, abs=0.5)
    again = read_release(release.write(tmp_path / "release"))
    assert again.parameters == release.parameters
    assert again.parameters.planned == plan


def test_everything_that_is_planned_has_a_worth():
    kinds = {
        "prefix tree" if statistic in LEVELS else statistic.name
        for statistic in STATISTICS
        if statistic.stage != FIRST_LOOK
    }
    assert set(WORTH) == kinds


@pytest.mark.parametrize(("need", "cap"), [(0.001, 10), (10.0, 2)])
def test_what_a_cap_cuts_counts_as_far_as_the_rest_is_told(need, cap):
    """Where all is noise, a larger cap would only add to it."""
    caps = _Caps([2, 10], need * np.array([2.0, 10.0]), np.array([0.4, 0.0]), 1.0)
    assert caps.best(0.3)[0] == cap


def test_few_visits_are_cut_where_they_can_be_told():
    """100,000 people of whom some go far: a hundredth of the visits at most is left out."""
    lengths = 1 + generator(2).geometric(0.3, 100_000)
    rows = [(np.arange(length) * 7 + row) % 40 for row, length in enumerate(lengths)]
    cap = planned(database(rows, 40))[VISITS].cap
    cut = np.maximum(np.minimum(lengths, 40) - cap, 0).sum()
    assert cut < 0.01 * lengths.sum()
