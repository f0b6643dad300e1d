"""One unit's rows, whatever they hold, change no other unit's trajectories: the known ways to try.

Each test here once failed. A pair of inputs differs in one unit's rows; what is compared is what
the real code makes of all other units.
"""

from collections import Counter

import pytest

from pathveil.model.universe import Universe
from pathveil.raw.reading import read_trajectories

ROLES = {"unit": "who", "order": "when", "location": "where"}


def trajectories(db):
    """The multiset of trajectories, as labels (with a time grid: slots and labels)."""
    size, labels = len(db.universe), db.universe.labels
    pairs = [
        (code // size, labels[code % size]) if db.time_grid else labels[code]
        for code in db.codes.tolist()
    ]
    bounds = zip(db.offsets[:-1], db.offsets[1:], strict=True)
    return Counter(tuple(pairs[start:stop]) for start, stop in bounds)


def write_csv(path, rows):
    path.write_text("who,when,where\n" + "".join(f"{','.join(row)}\n" for row in rows))
    return path


OTHERS = [(f"u{i}", "1", where) for i in range(50) for where in ("A", "B")]


@pytest.mark.parametrize("first", ["A", "B", "C", "é", "Z", "a" * 40])
def test_a_tie_is_broken_by_the_labels_and_not_by_who_named_one_first(tmp_path, first):
    alone = read_trajectories(write_csv(tmp_path / "a.csv", OTHERS), "discover", **ROLES)
    rows = [("x", "1", first), *OTHERS]
    neighbour = read_trajectories(write_csv(tmp_path / "b.csv", rows), "discover", **ROLES)
    assert trajectories(alone) == {("A", "B"): 50}
    assert trajectories(neighbour) - trajectories(alone) == {(first,): 1}
    assert not trajectories(alone) - trajectories(neighbour)


def test_a_tie_is_broken_as_over_the_universe_that_discovery_returns(tmp_path):
    places = ["b", "a", "é", "ab", "A", "\U0001f68b", "\uffee", "10", "9"]
    rows = [(f"u{i}", "1", place) for i in range(9) for place in places[i:] + places[:i]]
    path = write_csv(tmp_path / "rows.csv", rows)
    found, given = (
        read_trajectories(path, universe, **ROLES)
        for universe in ("discover", Universe(sorted(places)))
    )
    assert found.universe.labels == given.universe.labels
    assert found.codes.tolist() == given.codes.tolist()
    assert len(read_trajectories(write_csv(tmp_path / "none.csv", []), "discover", **ROLES)) == 0


def test_threads_that_race_to_number_the_labels_change_nothing(tmp_path):
    """Some megabytes, so that there are several pieces, with labels of their own in each."""
    places = [f"{prefix}{i}" for prefix in ("z", "m", "a") for i in range(400)]
    rows = [
        (f"u{unit:05d}", "1", places[(37 * unit + step * 101) % len(places)])
        for unit in range(30_000)
        for step in range(4)
    ]
    path = write_csv(tmp_path / "rows.csv", [(*row[:2], row[2] + "-" * 20) for row in rows])
    read = [read_trajectories(path, "discover", **ROLES) for _ in range(5)]
    for db in read[1:]:
        assert db.universe.labels == read[0].universe.labels
        assert (db.codes == read[0].codes).all()
