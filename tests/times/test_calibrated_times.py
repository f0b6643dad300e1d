"""The calibrated method with a time grid: when synthetic visits happen."""

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from pathveil import TrajectoryDatabase, Universe, publish, read_release
from pathveil.core.methods import CALIBRATED
from pathveil.core.noise import Laplace
from pathveil.core.parameters import Parameters
from pathveil.errors import ParameterError
from pathveil.methods.calibrated.synthesis import times
from pathveil.methods.calibrated.synthesis.ridden_hours import (
    STAYS,
    _round_the_clock,
    occupied_slots,
)
from pathveil.methods.calibrated.synthesis.times import MOST_AHEAD, Clock
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.times.time_grid import TimeGrid

GRID = TimeGrid.parse("1h")
UNIVERSE = Universe(["home", "work", "bar", "nowhere"])
SIZE, HOME, WORK, BAR = 4, 0, 1, 2


def at(hour, place):
    return hour * SIZE + place


def database(rows):
    offsets = np.cumsum([0, *map(len, rows)])
    codes = np.array([code for row in rows for code in row], dtype=np.int32)
    return TrajectoryDatabase.from_arrays(offsets, codes, UNIVERSE, time_grid=GRID)


def commuters(people):
    """Home at 7, work at 9, home at 17; a third goes to a bar at 20."""
    day = [at(7, HOME), at(9, WORK), at(17, HOME)]
    return [day + ([at(20, BAR)] if i % 3 == 0 else []) for i in range(people)]


@pytest.fixture(scope="module")
def release():
    return publish(database(commuters(30_000)), epsilon="2", height=6, method="calibrated")


def test_visits_by_hour_have_intervals_that_hold(release):
    paths = release.timed_paths()
    weights = np.repeat(paths.weights, paths.lengths)
    counts = np.bincount(paths.codes // SIZE, weights, len(GRID)).astype(np.int64)
    true = np.zeros(len(GRID))
    true[[7, 9, 17, 20]] = 30_000, 30_000, 30_000, 10_000
    answers = release.answering.slots(counts)
    assert not answers.is_bound.any()
    assert ((answers.low <= true) & (true <= answers.high)).mean() >= 0.8
    assert (answers.high - answers.low)[7] < 0.1 * true[7]  # everybody would be no interval


def test_slots_never_decrease(release):
    paths = release.timed_paths()
    slots = paths.codes // SIZE
    falls = np.diff(slots) < 0
    inside = np.ones(len(slots) - 1, dtype=bool)
    inside[paths.offsets[1:-1] - 1] = False
    assert not (falls & inside).any()


def test_times_are_those_of_the_data(release):
    assert len(release) == pytest.approx(30_000, rel=0.01)
    assert release.count_ordered([("home", "07:00-08:00"), "work"]) > 27_000
    assert release.during("20:00", "21:00").count(["bar"]) == pytest.approx(10_000, rel=0.15)
    assert release.during("00:00", "06:00").count(["home"]) < 600
    assert release.during("16:00", "19:00").count(["home"]) > 24_000


@pytest.mark.parametrize("most", [1, 40, 10**6])
def test_few_copies_stand_for_all_trajectories(most, monkeypatch):
    """In proportion, one for each path at least; and all by themselves if they are not too many."""
    weights = np.array([1, 2, 3, 50, 100, 1])
    monkeypatch.setattr(times, "MOST_TIMED", most)
    rows, stand_for = times._copies(weights)
    assert np.bincount(rows, stand_for).tolist() == weights.tolist()
    assert len(rows) <= most + len(weights)
    if most > weights.sum():
        assert (stand_for == 1).all()


def test_the_budget_adds_up_with_times(release):
    certificate = release.certificate
    assert certificate.adds_up()
    names = " ".join(line.measurement for line in certificate.accounting.budget)
    assert all(table in names for table in ("first slots", "pauses", "visit slots"))


def test_it_is_read_back_as_it_was(release, tmp_path):
    again = read_release(release.write(tmp_path / "release"))
    assert np.array_equal(again.timed_paths().codes, release.timed_paths().codes)
    assert again.parameters == release.parameters
    # Its answers about places have intervals, as without times.
    bars = again.count(["bar"])
    assert bars.low is not None
    assert bars.low <= bars <= bars.high


@pytest.mark.parametrize("rows", [[], [[at(3, HOME)]], [[at(0, HOME), at(23, BAR)]] * 40])
def test_small_databases(rows):
    publish(database(rows), epsilon="1", height=3, method="calibrated")


def test_as_many_slots_as_a_table_can_hold():
    starts = [
        f"2024-01-{1 + i // 720:02}T{i % 720 // 30:02}:{2 * (i % 30):02}" for i in range(2049)
    ]
    assert len(starts) == CALIBRATED.most_slots + 1
    with pytest.raises(ParameterError, match="slots"):
        Parameters.choose(
            epsilon="1",
            height=3,
            universe_size=4,
            method="calibrated",
            time_grid=TimeGrid.of(starts),
        )


def test_the_steps_are_those_of_an_enumeration():
    """All ways to place three visits in four slots, by hand."""
    first, pauses, slots = (
        np.array(w, dtype=float) for w in ([1, 2, 3, 1], [3, 1, 2, 1], [2, 1, 1, 3])
    )
    clock = Clock(first, pauses, slots, np.zeros(0, dtype=np.int64), np.zeros(0), np.ones(1))
    begin, moves = clock.steps(3)
    assert begin.shape == (3, 4)
    weights = {
        (a, b, c): first[a] * pauses[b - a] * slots[b] * pauses[c - b] * slots[c]
        for a in range(4)
        for b in range(a, 4)
        for c in range(b, 4)
    }
    total = sum(weights.values())
    for a in range(4):
        marginal = sum(w for key, w in weights.items() if key[0] <= a) / total
        assert begin[2, a] == pytest.approx(marginal, abs=1e-6)
    after = {key: w for key, w in weights.items() if key[0] == 1}
    for b in range(4):
        marginal = sum(w for key, w in after.items() if key[1] <= b) / sum(after.values())
        assert moves[1, 1, b] == pytest.approx(marginal, abs=1e-6)


def test_long_trajectories_look_ahead_a_bounded_way():
    clock = Clock(*(np.ones(5),) * 3, np.zeros(0, dtype=np.int64), np.zeros(0), np.ones(1))
    assert clock.steps(10_000)[0].shape == (MOST_AHEAD, 5)


# Hours in which nobody rides


def week_of_commuters(people):
    """Weekdays, there between 5 and 10, back between 15 and 20; nobody rides at other hours."""
    hours = [
        [(24 * day + 5 + (person + day) % 6, HOME), (24 * day + 15 + person // 2 % 6, WORK)]
        for person in range(people)
        for day in [person % 5, *([5] if person % 2 else [])]
    ]
    ends = np.cumsum([0, *(2 if person % 2 == 0 else 4 for person in range(people))])
    codes = np.array([slot * SIZE + place for pair in hours for slot, place in pair], np.int32)
    grid = TimeGrid.parse("weekday-hour")
    return TrajectoryDatabase.from_arrays(ends, codes, UNIVERSE, time_grid=grid)


def test_hours_that_noise_explains_are_empty():
    """With a mean above 0 for each of 84 empty hours, every hour of the day had visits.

    Now and then the noise of one time of the day stands out (one in 60 does); of three never.
    """
    release = publish(week_of_commuters(20_000), epsilon="1")
    paths = release.timed_paths()
    visits = np.repeat(paths.weights, np.diff(paths.offsets))
    hours = np.bincount(paths.codes // SIZE % 24, visits, 24) / visits.sum()
    rides = np.isin(np.arange(24), [*range(5, 11), *range(15, 21)])
    assert (hours[~rides] < 0.0005).sum() >= 10
    assert (hours[rides] > 0.03).all()


def noisy(grid, by_hour, scale):
    counts = np.array([by_hour[start // 3600 % 24] for start in grid.starts], dtype=np.int64)
    return NoisyTable(np.arange(len(counts)), counts, len(counts), Laplace(1 / Fraction(scale)))


@pytest.mark.parametrize("name", ["1h", "weekday-hour"])
def test_hours_are_given_up_only_where_that_is_a_gain(name):
    grid = TimeGrid.parse(name)
    days = len(grid) // 24
    busy = np.where(np.arange(24) < 6, 0, 10_000)
    found = occupied_slots(noisy(grid, busy, 10), noisy(grid, busy // 3, 4), grid)
    assert found.reshape(days, 24).tolist() == [(busy > 0).tolist()] * days
    # Nobody begins in the evening: people ride there all the same.
    early = np.where(np.arange(24) < 18, busy // 3, 0)
    found = occupied_slots(noisy(grid, busy, 10), noisy(grid, early, 4), grid)
    assert found.reshape(days, 24).tolist() == [(busy > 0).tolist()] * days
    # Where noise explains every hour it explains nothing: all of them stay.
    faint = noisy(grid, np.full(24, 2), 10)
    assert occupied_slots(faint, faint, grid).all()


def test_all_days_together_and_beginnings_tell_what_one_hour_can_not():
    """Hours of two scales of noise each: a single count would be wrong about one in six."""
    grid, rng = TimeGrid.parse("weekday-hour"), np.random.default_rng(5)  # noqa: TID251
    by_hour = np.where(np.arange(24) < 8, 0, 200)
    truth = np.array([by_hour[start // 3600 % 24] for start in grid.starts])

    def noised(counts, scale):
        one, other = rng.geometric(1 - np.exp(-1 / scale), (2, len(counts)))
        return replace(noisy(grid, by_hour, scale), counts=counts + one - other)

    tried = [occupied_slots(noised(truth, 100), noised(truth // 3, 40), grid) for _ in range(20)]
    assert (np.array(tried) == (truth > 0)).mean() > 0.95


def test_nights_may_be_of_weekends_only():
    grid = TimeGrid.parse("weekday-hour")
    busy = np.where(np.arange(24) < 6, 0, 1_000)
    table = noisy(grid, busy, 10)
    hours = np.arange(168)
    counts = np.where((hours >= 5 * 24) & (table.counts == 0), 300, table.counts)
    found = occupied_slots(replace(table, counts=counts), table, grid)
    assert found.tolist() == (counts > 0).tolist()


@pytest.mark.parametrize("kinds", [1, 2])
def test_the_chain_of_times_is_that_of_all_ways_to_ride_or_not(kinds):
    """Against all ways, one by one: of six times, or of four on two kinds of days."""
    gained = np.array([[1.5, -2.0, 0.3, -0.4, -1.0, 4.0], [0.2, -1.0, 2.0, -3.0, 0, 0]])
    gained = gained[:kinds, : 8 - 2 * kinds]
    total = ridden = 0.0
    for stay, agree in itertools.product(STAYS, STAYS):
        weights, sum_of_chances = [], 0.0
        for flat in itertools.product((0, 1), repeat=gained.size):
            way = np.array(flat).reshape(gained.shape)
            like_before = np.where(way == np.roll(way, 1, axis=1), stay, 1 - stay).prod()
            chance = like_before * np.where(way[0] == way[-1], agree, 1 - agree).prod()
            sum_of_chances += chance
            weights.append((chance * np.exp((gained * way).sum()), way))
        total += sum(weight for weight, _ in weights) / sum_of_chances
        ridden += sum(weight * way for weight, way in weights) / sum_of_chances
    assert np.allclose(_round_the_clock(gained), ridden / total, rtol=1e-10)
