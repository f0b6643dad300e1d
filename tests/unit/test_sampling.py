"""keep="sample": a random c of a unit's trajectories, by the unit's own rows and a seed alone."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reading_oracle import trajectories

from pathveil import publish
from pathveil.errors import ParameterError
from pathveil.raw import sampling, steps
from pathveil.raw.reading import read_trajectories
from pathveil.universe.universe import Universe

LABELS = [f"p{i}" for i in range(30)]
UNIVERSE = Universe(LABELS)
NAMES = ["user_id", "trajectory_id", "seq", "location"]


def read(rows, cap=1, **options):
    """Read (unit, trajectory, seq, location) rows; what is kept, as a multiset."""
    columns = zip(*rows, strict=True)
    table = pa.table(dict(zip(NAMES, map(list, columns), strict=True)))
    options = {"unit": "user_id", "keep": "sample"} | options
    return read_trajectories(table, UNIVERSE, max_trajectories_per_unit=cap, **options)


def days(unit, number, first=0):
    """A unit with a trajectory on each of so many days; each tells its own day."""
    return [(unit, f"day {first + day}", 0, LABELS[day]) for day in range(number)]


@pytest.mark.parametrize("cap", [1, 3, 9, 10, 50])
def test_so_many_of_each_unit_are_kept_whole(cap):
    rows = [(u, f"t{t}", s, LABELS[10 * s + t]) for u in "ab" for t in range(10) for s in range(3)]
    kept = trajectories(read(rows, cap))
    assert sum(kept.values()) == 2 * min(cap, 10)
    assert all(path == (path[0], path[0] + 10, path[0] + 20) for path in kept)
    assert max(kept.values()) <= 2


def test_every_trajectory_is_as_likely_as_any_other():
    """4000 units, 2 of 10 kept of each: 800 of each expected, standard deviation 25.3.

    With 10 comparisons a false alarm (6.5 deviations) has a probability below 10⁻⁹.
    """
    rows = [row for u in range(4000) for row in days(f"u{u}", 10)]
    kept = trajectories(read(rows, 2, keep_seed=5))
    counts = np.array([kept[(day,)] for day in range(10)])
    assert counts.sum() == 8000
    assert np.abs(counts - 800).max() < 6.5 * 25.3


def test_pairs_of_trajectories_are_as_likely_as_any_other():
    """Keys of a unit do not go together: each of 45 pairs of 10, of 4500 units, about 100 times.

    100 ± 9.9; 65 of 45 comparisons are beyond 6.5 deviations with a probability below 10⁻⁷.
    """
    pairs = Counter()
    for u in range(4500):
        pairs[kept_of(f"u{u}")] += 1
    assert len(pairs) == 45
    assert max(abs(number - 100) for number in pairs.values()) < 6.5 * 9.9


def kept_of(unit):
    """Which two of ten are kept, straight from the rule."""
    from pathveil.raw.bounding import Visits, bound_contributions
    from pathveil.raw.sources.text_codes import hash_texts
    from pathveil.raw.sources.text_values import text_buffers

    number = np.arange(10, dtype=np.int32)
    visits = Visits(
        np.zeros(10, np.int32),
        number,
        None,
        None,
        number,
        1,
        hash_texts(text_buffers(pa.array([unit]))),
    )
    bounded = bound_contributions(sampling.in_random_order(visits, 11), 2)
    return frozenset(bounded.codes.tolist())


def test_units_with_the_same_days_are_not_given_the_same_days():
    rows = [row for u in range(200) for row in days(f"u{u}", 20)]
    kept = trajectories(read(rows, keep_seed=3))
    assert len(kept) == 20  # with one permutation of days for all it would be one day


def test_a_seed_repeats_the_sample_and_another_draws_another():
    rows = [row for u in range(50) for row in days(f"u{u}", 20)]
    first, again, other = (trajectories(read(rows, keep_seed=seed)) for seed in (1, 1, 2))
    assert first == again != other
    assert trajectories(read(rows)) != trajectories(read(rows))  # fresh: 20^-50 to be equal


visits = st.lists(
    st.tuples(
        st.sampled_from(["ann", "bob", "cyd", "dan"]),
        st.sampled_from(["1", "2", "10", "x", "07"]),
        st.integers(0, 3),
        st.sampled_from(["p1", "p2", "p3", "elsewhere"]),
    ),
    min_size=1,
    max_size=40,
)  # fmt: skip


@given(visits, st.integers(1, 3), st.integers(0, 2**64 - 1))
@settings(max_examples=60, deadline=None)
def test_a_unit_adds_at_most_c_and_changes_no_other_for_every_seed(rows, cap, seed):
    """The argument of `sampling`: the sensitivity is c with each seed by itself."""
    everybody = trajectories(read(rows, cap, keep_seed=seed))
    for unit in {row[0] for row in rows}:
        others = [row for row in rows if row[0] != unit]
        without = trajectories(read(others, cap, keep_seed=seed)) if others else Counter()
        assert without <= everybody
        assert sum((everybody - without).values()) <= cap


def test_a_hash_of_the_place_among_all_ids_is_caught(monkeypatch):
    """The mutant: keys by the rank of an id among everybody's. One unit then moves the others."""

    def by_rank(visits, seed):
        key = np.random.default_rng(seed).permutation(10**5)  # noqa: TID251  (test only)
        return sampling.replace(visits, trajectory=key[visits.trajectory].astype(np.int32))

    rows = [row for u in range(2000) for row in days(f"u{u}", 10, first=100)]
    newcomer = [("new", f"day {day}", 0, "p0") for day in range(100)]  # before all other ids
    monkeypatch.setattr(steps, "in_random_order", by_rank)
    without = trajectories(read(rows, keep_seed=1))
    everybody = trajectories(read([*rows, *newcomer], keep_seed=1))
    assert sum((without - everybody).values()) > 1


@pytest.mark.parametrize("split", ["day", "gap:2h"])
def test_days_and_gaps_are_sampled_too(split):
    times = [f"2024-03-{day:02}T12:00:00Z" for day in range(1, 21)]
    table = pa.table({"who": ["u"] * 20, "when": times, "where": LABELS[:20]})
    options = {"unit": "who", "order": "when", "location": "where", "split": split}
    seen = Counter()
    for seed in range(40):
        db = read_trajectories(
            table, UNIVERSE, **options, max_trajectories_per_unit=2, keep="sample", keep_seed=seed
        )
        seen += trajectories(db)
    assert sum(seen.values()) == 80
    assert len(seen) > 10


def test_lists_are_sampled_too():
    table = pa.table({"who": ["u"] * 20, "where": [[label] for label in LABELS[:20]]})
    seen = set()
    for seed in range(30):
        db = read_trajectories(
            table, UNIVERSE, unit="who", location="where", keep="sample", keep_seed=seed
        )
        seen |= set(trajectories(db))
    assert len(seen) > 5


def test_the_certificate_says_it():
    db = read(days("a", 5), 2)
    assert any("random sample" in rule for rule in db.rules)
    release = publish(db, epsilon="1", height=2)
    assert release.certificate.implementation.trajectory_rules == list(db.rules)
    assert not any("sample" in rule for rule in read(days("a", 5), 2, keep="first").rules)


@pytest.mark.parametrize(
    "options", [{"keep": "last"}, {"keep_seed": -1}, {"keep_seed": 2**64}, {"keep_seed": True}]
)
def test_rules_that_are_none_are_refused(options):
    with pytest.raises(ParameterError):
        read(days("a", 5), **options)


def test_the_seed_comes_from_the_operating_system(monkeypatch):
    drawn = []
    monkeypatch.setattr(sampling, "randbits", lambda bits: drawn.append(bits) or 7)
    assert trajectories(read(days("a", 9))) == trajectories(read(days("a", 9), keep_seed=7))
    assert drawn == [64]
