"""Walkers: they begin with their prefix, and do what the model says."""

from itertools import pairwise

import numpy as np
import pytest

from pathveil import threads
from pathveil.methods.calibrated.synthesis.complete import CHUNK, complete, cut_tasks
from pathveil.methods.calibrated.synthesis.movement_model import (
    EXPLORING,
    KEPT,
    OTHER,
    OWN,
    RETURNING,
    STAYING,
    WHOLE_COLUMN,
    Destinations,
    listed_moves,
)
from pathveil.methods.calibrated.synthesis.tree_estimates import Continuations
from pathveil.methods.calibrated.synthesis.walk import walk
from pathveil.statistics.actions import BACK, END, NEW, OLDER, SHAPE, STAY, possible_actions
from pathveil.statistics.shapes import length_bins

SIZE = 4
UNNAMED = SIZE
LONGEST = 30


def ints(*values):
    return np.array(values, dtype=np.int64)


def generator(seed=0):
    return np.random.default_rng(seed)  # noqa: TID251  (synthetic trajectories)


def model(actions, *, popularity=(1, 1, 1, 1, 0), moves=(), ending=0.0, novelty=1.0):
    """Equal weights everywhere, but for what is given."""
    first, second = ints(*(a for a, _ in moves)), ints(*(b for _, b in moves))
    destinations = Destinations(
        np.ones(SIZE + 1),
        np.ones(SIZE + 1),
        np.array(popularity) / sum(popularity),
        *listed_moves(first, second, np.full(len(moves), 1e9), SIZE),
        np.arange(len(moves)),
        np.ones(SIZE),
        np.zeros(len(moves)),
    )
    weights = np.zeros(SHAPE)
    for action, value in actions.items():
        weights[..., action] = value
    weights[..., END] = 1.0
    returning = np.append(np.ones(SIZE), 0.0)
    by_length = np.column_stack((np.full(LONGEST + 1, ending), np.full(LONGEST + 1, novelty)))
    everywhere = np.ones(SIZE + 1)
    return destinations.model(
        weights * possible_actions(), returning, everywhere, everywhere, returning, by_length
    )


def work(*prefixes, ended=(), taken=()):
    """One continuation for each prefix; those in ``ended`` end, and ``taken`` holds for all."""
    padded = np.full((len(prefixes), 6), -1, dtype=np.int64)
    for row, prefix in zip(padded, prefixes, strict=True):
        row[: len(prefix)] = prefix
    count = len(prefixes)
    return Continuations(
        padded,
        ints(*map(len, prefixes)),
        np.ones(count),
        np.array([prefix in ended for prefix in prefixes], dtype=np.bool_),
        np.zeros(count, dtype=np.int64),
        np.full(count, len(taken), dtype=np.int64),
        ints(*taken),
    )


def walked(continuations, movement, rows=200, seed=7):
    jobs = np.arange(rows) % len(continuations.masses)
    offsets, codes = walk(jobs, seed, continuations, movement)
    return [codes[a:b].tolist() for a, b in pairwise(offsets)]


def test_trajectories_begin_with_their_prefix_and_end_if_they_must():
    rows = walked(work([0, 1], [2, 2, 3], ended=([2, 2, 3],)), model({NEW: 1}, ending=0.5))
    assert all(row[:2] == [0, 1] for row in rows[::2])
    assert all(row == [2, 2, 3] for row in rows[1::2])
    assert len({len(row) for row in rows[::2]}) > 1


def test_who_stays_stays_until_the_longest_length():
    assert walked(work([1]), model({STAY: 1}), rows=3) == [[1] * LONGEST] * 3


def test_who_goes_back_alternates():
    rows = walked(work([1, 3]), model({BACK: 1}), rows=3)
    assert rows == [[1, 3] * (LONGEST // 2)] * 3


def test_who_goes_back_has_been_somewhere_else():
    assert walked(work([1]), model({BACK: 1}), rows=3) == [[1]] * 3


def test_who_wants_new_places_sees_each_once_and_then_ends():
    rows = walked(work([2]), model({NEW: 1}))
    assert all(sorted(row) == [0, 1, 2, 3] for row in rows)
    assert len({tuple(row) for row in rows}) == 6


def test_unnamed_places_are_always_new():
    rows = walked(work([2]), model({NEW: 1}, popularity=(1, 1, 1, 1, 4)))
    assert all(len(row) == LONGEST for row in rows)
    assert all(max(map(row.count, range(SIZE))) == 1 for row in rows)
    assert any(row.count(UNNAMED) > SIZE for row in rows)


def test_from_an_unnamed_place_people_go_on_as_from_the_last_named_one():
    named = work([0, UNNAMED], [0, UNNAMED, UNNAMED])
    everywhere = (1, 1, 1, 1, 1)
    moves = [(0, 2), (2, 3), (3, 1)]
    rows = walked(named, model({NEW: 1}, popularity=everywhere, moves=moves))
    assert all([code for code in row if code != UNNAMED] == [0, 2, 3, 1] for row in rows)


def test_with_a_map_people_go_anywhere_from_an_unnamed_place():
    everywhere, moves = (1, 1, 1, 1, 0), [(0, 2), (2, 3), (3, 1)]
    lost = model({NEW: 1}, popularity=everywhere, moves=moves)._replace(is_lost=True)
    assert {row[2] for row in walked(work([0, UNNAMED]), lost)} == {1, 2, 3}


def test_who_lingers_goes_from_one_unnamed_place_to_another():
    lingering = model({NEW: 1}, popularity=(1, 1, 1, 1, 1e-9))._replace(lingering=1.0)
    assert walked(work([1, UNNAMED]), lingering, rows=3) == [[1] + [UNNAMED] * (LONGEST - 1)] * 3
    assert UNNAMED not in walked(work([1]), lingering, rows=1)[0]


def test_nobody_returns_to_an_unnamed_place():
    rows = walked(work([UNNAMED], [0, UNNAMED]), model({STAY: 1, BACK: 1, OLDER: 1}))
    assert [row for row in rows if row.count(UNNAMED) > 1] == []
    assert rows[0] == [UNNAMED]


def test_older_places_are_neither_here_nor_before():
    for row in walked(work([0, 1, 2]), model({OLDER: 1})):
        assert len(row) == LONGEST
        assert all(row[i] not in row[i - 2 : i] for i in range(3, LONGEST))


def test_measured_moves_are_followed():
    rows = walked(work([0]), model({NEW: 1}, moves=[(0, 2), (2, 1)]))
    assert all(row == [0, 2, 1, 3] for row in rows)


def test_a_listed_move_is_drawn_in_proportion_to_its_weight():
    """The columns of each location, taken together, hold what its moves weigh."""
    draw = generator(3)
    first = np.repeat(np.arange(SIZE), (7, 0, 1, 20))
    second, weight = draw.integers(SIZE, size=len(first)), draw.exponential(size=len(first)) ** 3
    starts, to, _, columns, listed = listed_moves(first, second, weight, SIZE)
    assert to[:-1].tolist() == second.tolist()
    for x in range(SIZE):
        part = slice(starts[x], starts[x + 1])
        kept = columns[part, KEPT] / WHOLE_COLUMN
        held = np.bincount(columns[part, OWN], kept, SIZE)
        held += np.bincount(columns[part, OTHER], 1 - kept, SIZE)
        wanted = np.bincount(second[part], weight[part], SIZE)
        assert listed[x] == pytest.approx(wanted.sum())
        assert held * listed[x] == pytest.approx(wanted * len(kept), abs=1e-6 * listed[x])


def test_returning_to_older_places_is_as_likely_as_their_factors_say():
    """Rejection sampling changes no law: of 20,000 walkers, shares within 5 standard errors."""
    movement = model({OLDER: 2, NEW: 1})
    factors = np.array([0.25, 1.0, 4.0, 1.0, 0.0])  # here is 2, before was 1: 0 is the older one
    by_location = np.column_stack((factors, movement.by_location[:, 1:]))
    rows = walked(work([0, 1, 2]), movement._replace(by_location=by_location), rows=20_000)
    share = np.mean([row[3] == 0 for row in rows])
    assert share == pytest.approx(2 * 0.25 / (2 * 0.25 + 1), abs=5 * 0.5 / np.sqrt(len(rows)))


def test_older_places_follow_the_measured_moves():
    rows = walked(work([0, 1, 2, 3]), model({OLDER: 1}, moves=[(3, 1)]))
    assert all(row[4] == 1 for row in rows)


@pytest.mark.parametrize("prefix", [[], [0], [0, 1, 2]])
def test_steps_that_kept_children_stand_for_are_not_taken(prefix):
    """Only 1 and 3 are free; ending (label 4) is not, but who finds nothing else gives up."""
    movement = model({STAY: 1, BACK: 1, OLDER: 1, NEW: 1}, ending=0.2)
    rows = walked(work(prefix, taken=(0, 2, 4)), movement, rows=500)
    steps = [row[len(prefix)] for row in rows if len(row) > len(prefix)]
    assert set(steps) == {1, 3}
    assert len(steps) > 0.95 * len(rows)


def test_the_probability_of_ending():
    """Geometric lengths: 20,000 walkers, so a mean is 5 standard errors off once in 10⁶ runs."""
    rows = walked(work([0]), model({STAY: 1, NEW: 1}, ending=0.4), rows=20_000)
    lengths = np.array([len(row) for row in rows])
    error = np.sqrt(0.6) / 0.4 / np.sqrt(len(rows))
    assert lengths.mean() == pytest.approx(1 / 0.4, abs=5 * error)


def test_first_places_follow_popularity():
    """Shares of 20,000 walkers within 5 standard errors: wrong once in 10⁵ runs, all four."""
    rows = walked(work([]), model({}, popularity=(1, 2, 3, 0, 4), ending=1.0), rows=20_000)
    shares = np.bincount([row[0] for row in rows], minlength=SIZE + 1) / len(rows)
    assert shares == pytest.approx([0.1, 0.2, 0.3, 0.0, 0.4], abs=5 * 0.5 / np.sqrt(len(rows)))


def test_novelty_by_length():
    movement = model({STAY: 1, NEW: 1}, novelty=0.0)
    assert walked(work([3]), movement, rows=3) == [[3] * LONGEST] * 3


def test_work_is_cut_in_proportion_to_the_masses():
    continuations = work([0], [1], [2])._replace(masses=np.array([1.0, 2.0, 5.0]))
    tasks = cut_tasks(continuations, 4 * CHUNK, generator())
    assert [len(task.jobs) for task in tasks] == [CHUNK] * 4
    counts = np.bincount(np.concatenate([task.jobs for task in tasks]))
    assert counts == pytest.approx(np.array([0.5, 1, 2.5]) * CHUNK, abs=1)
    assert len({task.seed for task in tasks}) == 4
    assert cut_tasks(continuations, 0.0, generator()) == []


def test_the_number_of_threads_changes_nothing(monkeypatch):
    movement = model({STAY: 1, BACK: 1, NEW: 1}, ending=0.3)
    results = []
    for count in (1, 2, 7):
        monkeypatch.setattr(threads.os, "cpu_count", lambda count=count: count)
        results.append(complete(work([], [1]), movement, 3 * CHUNK, generator(5)))
    for result in results[1:]:
        assert np.array_equal(result.offsets, results[0].offsets)
        assert np.array_equal(result.codes, results[0].codes)
    other = complete(work([], [1]), movement, 3 * CHUNK, generator(6))
    assert not np.array_equal(other.codes, results[0].codes)
    assert results[0].codes.dtype == np.uint16
    assert len(length_bins(np.diff(results[0].offsets))) == len(results[0]) == 3 * CHUNK


def test_from_some_locations_people_go_on_and_from_others_back():
    movement = model({NEW: 1, BACK: 1})
    by_location = movement.by_location.copy()
    by_location[1, EXPLORING] = 1e-9
    rows = walked(work([0, 1], [0, 2]), movement._replace(by_location=by_location))
    assert all(row[2] == 0 for row in rows[::2])
    assert 0.3 < np.mean([row[2] == 0 for row in rows[1::2]]) < 0.7


def test_at_some_locations_people_stay_and_to_others_they_come_back():
    movement = model({STAY: 1, BACK: 1})
    by_location = movement.by_location.copy()
    by_location[1, STAYING] = by_location[2, RETURNING] = 1e-9
    rows = walked(work([0, 1], [2, 3]), movement._replace(by_location=by_location))
    assert all(row[2] == 0 for row in rows[::2])
    assert all(row[2] == 3 for row in rows[1::2])
