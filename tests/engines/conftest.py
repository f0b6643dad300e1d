"""Every engine under one signature, and a real Spark cluster for those tests that want one."""

from contextlib import contextmanager

import pyarrow as pa
import pytest
from tests.engines.cluster import Cluster, find_java
from tests.engines.interrupted import ChargedRun

from pathveil.raw.engines.batch_counter import BatchPrefixes
from pathveil.raw.engines.duckdb_counter import DuckDbCounter
from pathveil.raw.engines.memory_counter import MemoryCounter
from pathveil.raw.engines.spark_counter import SparkCounter
from pathveil.raw.engines.spark_rows import TableRows
from pathveil.raw.reading_plan import Reading, ReadingPlan
from pathveil.raw.sources.opening import open_source
from pathveil.raw.sources.spark_table import SparkTable

LONGEST = 8  # levels that the tests of small databases count


def list_table(database):
    """A database as a table in list form, one row per trajectory, each unit with at most c."""
    labels = pa.array(database.universe.labels)
    locations = pa.ListArray.from_arrays(
        pa.array(database.offsets, pa.int32()), labels.take(pa.array(database.codes))
    )
    cap = database.max_trajectories_per_unit
    units = pa.array([i // cap for i in range(len(database))], pa.int64())
    return pa.table({"who": units, "where": locations})


def reading_of(database):
    cap = database.max_trajectories_per_unit
    return Reading(unit="who", location="where", max_trajectories_per_unit=cap)


@contextmanager
def in_memory(database, _height=LONGEST):
    yield MemoryCounter(database)


@contextmanager
def in_duckdb(database, height=LONGEST):
    source = open_source(list_table(database))
    plan = ReadingPlan.of(source, database.universe, reading_of(database))
    with DuckDbCounter(source, plan, height) as counter:
        yield BatchPrefixes(counter)


@contextmanager
def in_spark(session, database, height=LONGEST):
    table = SparkTable(session.createDataFrame(list_table(database)).repartition(3))
    plan = ReadingPlan.of(table, database.universe, reading_of(database))
    with SparkCounter(TableRows(table), plan, height) as counter:
        yield BatchPrefixes(counter)


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    """A master and two workers, processes of their own, and a session on them."""
    if (problem := find_java()) is not None:
        pytest.skip(problem)
    with Cluster(tmp_path_factory.mktemp("spark"), workers=2) as running:
        yield running


@pytest.fixture
def begin():
    """Begins a `ChargedRun`, which ends with the test at the latest."""
    runs = []

    def one(*arguments, **options):
        runs.append(ChargedRun(*arguments, **options))
        return runs[-1]

    yield one
    for run in runs:
        run.end()
