"""One unit changes each table by at most its sensitivity, whatever engine counts.

The rows of everybody, and then those of one unit more, go through an engine and the real gate, with
noise that is 0 (`tests.property.test_sensitivity` does the same in memory). The unit does more than
any cap lets through, so every bound is reached: an engine that counts a batch of trajectories twice
or loses one, or cuts a trajectory in two, is caught. Files and batches are small, so that there are
many of both.
"""

import numpy as np
import pytest
from tests.property import test_sensitivity as memory
from tests.property.test_sensitivity import READING, UNIVERSE, plan_of, table_of, too_large

from pathveil.raw.bounding import BoundedTrajectories
from pathveil.raw.engines import batches, duckdb_counter, run_files, sums
from pathveil.raw.engines.engine import Engine
from pathveil.raw.engines.spark_counter import SparkCounter
from pathveil.raw.reading_plan import Reading

HEIGHT, CAP = 10, 2
# More visitors of each location than of the one before, by more than the unit has trips: the order
# of the popular ones, which follows from the counts, is the same with the unit and without it.
CROWD = [[[(code, 0)]] for code in range(memory.SIZE) for _ in range((CAP + 1) * code)]


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(run_files, "_BITS", 3)
    monkeypatch.setattr(batches, "MOST_VISITS", 60)
    monkeypatch.setattr(duckdb_counter, "MOST_VISITS", 60)


def changes(engine, source=lambda table: table):
    """By how much the walker's trips change each table, and the plan."""
    plan = plan_of(HEIGHT, CAP)
    reading = Reading(max_trajectories_per_unit=CAP, **READING)
    found = []
    for people in (CROWD, [*CROWD, memory.WALKER]):
        table = source(table_of(people))
        chosen = Engine.choose(engine, table, memory="256MB")
        with chosen.open(table, UNIVERSE, None, reading) as counter:
            found.append(memory.measured(counter, plan, memory.EVERYWHERE))
    old, new = found
    changed = {}
    for line in plan.lines():
        a, b = (tables.get(line.name, {}) for tables in (old, new))
        cells = a.keys() | b.keys()
        changed[line.name] = np.array([b.get(c, 0) - a.get(c, 0) for c in cells] or [0])
    return changed, plan


def check_reached(changed, plan):
    assert too_large(changed, plan) == set()
    sums = {name: int(np.abs(change).sum()) for name, change in changed.items()}
    assert sums == {line.name: line.sensitivity for line in plan.lines()}


@pytest.mark.usefixtures("small_batches")
def test_the_bounds_are_kept_and_reached_by_duckdb():
    check_reached(*changes("duckdb"))


def counted_twice(patch):
    """Each batch is read twice."""
    right = duckdb_counter.sealed_pieces
    patch.setattr(
        duckdb_counter, "sealed_pieces", lambda path: (p for p in right(path) for _ in range(2))
    )


def every_second_one_lost(patch):
    """Every second batch, by size, is never read: whose they are depends on everybody.

    So would an engine that sorts its work and stops too early. Every second one in the order of the
    file is no breach by these rows any more: a batch has whole units, the unit more makes one batch
    larger and moves no cut, and the same batches are lost with it and without it. By size that
    batch has another place, and those of others are lost, or not, because of it.
    """
    right = duckdb_counter.sealed_pieces
    patch.setattr(duckdb_counter, "sealed_pieces", lambda path: sorted(right(path), key=len)[1::2])


def cut_in_two(patch):
    """A batch may begin within a trajectory."""
    right = duckdb_counter.packed

    def packed(bounded, height):
        stops = np.arange(0, len(bounded.codes), 25)
        offsets = np.unique(np.concatenate((bounded.offsets, stops)))
        return right(BoundedTrajectories(offsets, bounded.codes, 0, 0, 0, 0), height)

    patch.setattr(duckdb_counter, "packed", packed)


def summed_twice(patch):
    """What a batch adds to a small table is added twice."""
    right = sums.SmallSums.add

    def add(self, rows):
        right(self, rows)
        return right(self, rows)

    patch.setattr(sums.SmallSums, "add", add)


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("mutant", [counted_twice, every_second_one_lost, cut_in_two, summed_twice])
def test_an_engine_is_caught(mutant, monkeypatch):
    mutant(monkeypatch)
    assert "total" in too_large(*changes("duckdb"))


@pytest.mark.parametrize("spoiled", [lambda pack: pack[:-4], lambda pack: pack + bytes(4)])
def test_a_batch_that_is_not_whole_is_refused(spoiled):
    offsets, codes = np.array([0, 2, 3]), np.array([5, 6, 7], dtype=np.int32)
    (pack,) = batches.packed(BoundedTrajectories(offsets, codes, 0, 0, 0, 0), None)
    assert [part.tolist() for part in batches.unpacked(pack)] == [[0, 2, 3], [5, 6, 7]]
    with pytest.raises(RuntimeError, match="not whole"):
        batches.unpacked(spoiled(pack))


def test_a_unit_is_in_one_batch(monkeypatch):
    """Where its trajectories are told apart: what is bounded for a unit can be so in a batch."""
    monkeypatch.setattr(batches, "MOST_VISITS", 7)
    units = [1, 4, 30, 1, 1, 12, 2] * 5  # trajectories; each but every third has two visits
    trips = np.concatenate([[n, *range(-1, -n, -1)] for n in units]).astype(np.int32)
    lengths = np.where(np.arange(len(trips)) % 3, 2, 0)
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    codes = np.arange(offsets[-1], dtype=np.int32)
    bounded = BoundedTrajectories(offsets, codes, 0, trips=trips)
    packs = list(batches.packed(bounded, None))
    parts = [batches.unpacked_trips(pack) for pack in packs]
    assert len(parts) > len(units) / 3
    assert all(part[0] > 0 for part in parts)
    assert np.concatenate(parts).tolist() == trips.tolist()
    assert np.concatenate([batches.unpacked(p)[1] for p in packs]).tolist() == codes.tolist()


def test_sums_that_come_too_late_are_refused():
    one = np.ones(2, dtype=np.int64)
    blocks = iter([(0 * one, np.arange(2), one), (one, np.arange(2), one)])
    sums = batches.SortedSums(blocks)
    assert len(list(sums.of(0))) == 1
    with pytest.raises(RuntimeError, match="too late"):
        list(sums.of(2))


ON_A_CLUSTER = [
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # py4j's sockets
]


@pytest.mark.parametrize("is_broken", [False, True])
@pytest.mark.parametrize("engine", [pytest.param("spark", marks=ON_A_CLUSTER)])
def test_the_bounds_on_a_cluster(cluster, engine, is_broken, monkeypatch):
    """And a cluster that adds the parts of two passes up is caught."""
    frame = lambda table: cluster.session.createDataFrame(table).repartition(3)
    if not is_broken:
        check_reached(*changes(engine, frame))
        return
    right = SparkCounter._parts_of
    monkeypatch.setattr(
        SparkCounter,
        "_parts_of",
        lambda self, tables: right(self, tables).union(right(self, tables)),
    )
    changed, plan = changes(engine, frame)
    assert {line.name for line in plan.lines()} == too_large(changed, plan)
