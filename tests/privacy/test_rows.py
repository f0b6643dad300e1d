"""One unit's rows, whatever they hold, change no other unit's trajectories: the known ways to try.

Each test here once failed. A pair of inputs differs in one unit's rows; what is compared is what
the real code makes of all other units.
"""

import os
from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pathveil.publishing import publish
from pathveil.raw.reading import read_trajectories
from pathveil.times.time_grid import TimeGrid
from pathveil.universe.universe import Universe

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


GRID = TimeGrid.of([f"{hour:02d}:{minute:02d}" for hour in range(24) for minute in range(60)])
TIMED = {"unit": "who", "time": "when", "location": "where", "time_grid": GRID}
TIMED_OTHERS = [
    (f"u{i}", f"2024-03-05T0{7 + k}:30:00", "AB"[k]) for i in range(900) for k in (0, 1)
]


def test_one_units_labels_do_not_stop_discovery_with_a_time_grid(tmp_path, monkeypatch):
    """Pairs of so many labels and slots can't be numbered with 32 bits; of the named ones they can.

    The limit is lowered, because a unit with two million rows would take a while to write down.
    """
    monkeypatch.setattr("pathveil.times.time_grid.MAX_PAIRS", 1440 * 9)
    monkeypatch.setattr("pathveil.raw.observed.MAX_PAIRS", 1440 * 9, raising=False)
    check_junk_labels_stop_nothing(tmp_path, 200)


def check_junk_labels_stop_nothing(folder, labels):
    junk = [("x", "2024-03-05T07:30:00", f"junk {i}") for i in range(labels)]
    alone, neighbour = (
        read_trajectories(write_csv(folder / "rows.csv", rows), "discover", **TIMED)
        for rows in (TIMED_OTHERS, junk + TIMED_OTHERS)
    )
    assert trajectories(alone) == {((450, "A"), (510, "B")): 900}
    assert not trajectories(alone) - trajectories(neighbour)
    release = publish(neighbour, epsilon="6", height=3, delta="1e-9", method="full")
    assert release.universe.labels == ("A", "B")


@pytest.mark.long
def test_two_million_labels_of_one_unit_do_not_stop_discovery_with_a_time_grid(tmp_path):
    """2³¹ - 1 over 1,440 slots is 1,491,308 labels: the real limit, from a file on disk."""
    junk = [("x", "2024-03-05T07:30:00", f"{i:x}") for i in range(1_500_000)]
    path = write_csv(tmp_path / "rows.csv", junk + TIMED_OTHERS)
    db = read_trajectories(path, "discover", **TIMED)
    assert trajectories(db)[((450, "A"), (510, "B"))] == 900
    release = publish(db, epsilon="6", height=3, delta="1e-9", method="full")
    assert release.universe.labels == ("A", "B")


@pytest.mark.parametrize("cap", [1, 3])
def test_what_a_unit_introduces_is_bounded_first(tmp_path, cap):
    """Labels are those of the c trajectories that are used; no label of a dropped one is known."""
    rows = [("x", f"2024-03-{day:02d}T08:00:00", f"{day:02d}") for day in range(1, 20)]
    rules = {"split": "day", "max_trajectories_per_unit": cap}
    db = read_trajectories(write_csv(tmp_path / "rows.csv", rows), "discover", **ROLES, **rules)
    assert db.universe.labels == tuple(f"{day:02d}" for day in range(1, cap + 1))


@pytest.mark.parametrize("name", [b"who=\xff", b"who=%FF", b"who=", b"who=x\n", b"who=%00"])
def test_the_name_of_one_units_folder_stops_nothing(tmp_path, name):
    """In a table that is partitioned by people, the names of folders are values like others."""

    def write(folder):
        path = os.path.join(os.fsencode(tmp_path), folder)  # noqa: PTH118  (which takes no bytes)
        os.mkdir(path)  # noqa: PTH102
        with open(os.path.join(path, b"0.parquet"), "wb") as file:  # noqa: PTH118, PTH123
            pq.write_table(pa.table({"when": [1, 1], "where": ["B", "A"]}), file)

    for unit in (b"u1", b"u2"):
        write(b"who=" + unit)
    alone = trajectories(read_trajectories(tmp_path, Universe(["A", "B"]), **ROLES))
    write(name)
    neighbour = trajectories(read_trajectories(tmp_path, Universe(["A", "B"]), **ROLES))
    assert alone == {("A", "B"): 2}
    assert not alone - neighbour
