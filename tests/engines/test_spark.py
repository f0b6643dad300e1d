"""Spark on a real standalone cluster: a master and two workers, each a process of its own.

Every test here is in one group, so that one cluster serves them all.
"""

import threading
import time
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import given as examples
from tests.commands import bars_of, in_a_terminal
from tests.engines import inputs
from tests.engines.cluster import environment as cluster_environment
from tests.engines.cluster import find_java
from tests.engines.conftest import in_spark
from tests.engines.inputs import Input
from tests.engines.test_counting import check_every_level, runs
from tests.engines.test_every_engine import (
    CHOICES,
    CHOSEN,
    MADE_UP,
    TAPS,
    TIMED,
    UNITS,
    WEIGHED,
    real,
    released,
    released_by_all,
    timed,
)
from tests.unit.test_unit_text import ROWS

from pathveil import publish, read_release
from pathveil.errors import InputError, ParameterError
from pathveil.progress_reports import reported_to
from pathveil.raw.engines import spark_counter, spark_session
from pathveil.raw.engines.spark_session import read_table
from pathveil.universe.universe import Universe

pytestmark = [
    pytest.mark.long,  # Spark takes a minute to install and half of one to start
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # py4j's sockets
]


def frame_of(session, table):
    return session.createDataFrame(table).repartition(3)


@pytest.mark.parametrize("name", MADE_UP)
def test_spark_releases_what_memory_releases(cluster, name):
    given = MADE_UP[name]
    frame = frame_of(cluster.session, given.table)
    for method in ("full", "calibrated"):  # "basic" grows the tree of "full"
        expected = released(given.table, given, "memory", method)
        assert released(frame, given, "auto", method) == expected


@pytest.mark.parametrize(("name", "choice"), CHOSEN)
def test_spark_does_all_that_memory_does(cluster, name, choice):
    given = MADE_UP[name]
    frame = frame_of(cluster.session, given.table)
    expected = released(given.table, given, "memory", **CHOICES[choice])
    assert released(frame, given, "spark", **CHOICES[choice]) == expected


@pytest.mark.parametrize("unit", UNITS)
def test_spark_protects_whom_memory_protects(cluster, unit):
    given = UNITS[unit]
    frame = frame_of(cluster.session, given.table)
    for method in ("full", "calibrated"):
        expected = released(given.table, given, "memory", method)
        assert released(frame, given, "spark", method) == expected


def test_spark_weighs_trips_as_memory_does(cluster):
    frame = frame_of(cluster.session, TAPS.table)
    expected = released(TAPS.table, TAPS, "memory", **WEIGHED)
    assert any(line.clip for line in expected[-1])
    assert released(frame, TAPS, "spark", **WEIGHED) == expected


def test_a_pass_tells_how_far_it_is(cluster, monkeypatch):
    given = MADE_UP["times"]
    monkeypatch.setattr(spark_session, "_TICK", 0.01)
    told = []
    with reported_to(told.append):
        released(frame_of(cluster.session, given.table), given, "spark", "full")
    assert any(0 < share < 1 for share in told)


@pytest.mark.parametrize("partitions", [1, 17])
def test_the_number_of_partitions_changes_nothing(cluster, partitions):
    given = MADE_UP["times"]
    expected = released(given.table, given, "memory", "calibrated")
    setting = "spark.sql.shuffle.partitions"
    before = cluster.session.conf.get(setting)
    cluster.session.conf.set(setting, partitions)
    try:
        frame = cluster.session.createDataFrame(given.table).repartition(partitions)
        assert released(frame, given, "spark", "calibrated") == expected
    finally:
        cluster.session.conf.set(setting, before)


def check_parquet(cluster, given, methods):
    """All of a dataset, by all engines and the dictionary."""
    frame = cluster.session.read.parquet(str(given.table))
    for method in methods:
        assert released(frame, given, "spark", method) == released_by_all(given, method)


@pytest.mark.parametrize("name", [*inputs.SMALL, *inputs.LARGE])
def test_real_data_from_parquet_files(cluster, name):
    """The methods grow the same tree: with the large ones, one of them has to do."""
    check_parquet(cluster, real(name), ("basic", "full") if name in inputs.SMALL else ("full",))


@pytest.mark.parametrize(("name", "grid"), TIMED)
def test_real_times_from_parquet_files(cluster, name, grid):
    check_parquet(cluster, timed(real(name), grid), ("basic", "full"))


def test_levels_like_the_dictionary(cluster):
    """Nodes that nobody visited, nodes that died, trajectories that end."""
    rows = [[0, 1, 2], [0, 1], [0], [2, 2, 2], [], [0, 1, 2, 1]]
    levels = [[(0, 0), (0, 1), (0, 2)], [(0, 1), (1, 0), (2, 2)], [(0, 2)]]
    check_every_level(partial(in_spark, cluster.session), (3, rows, levels))


@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@examples(run=runs())
def test_any_levels_like_the_dictionary(cluster, run):
    check_every_level(partial(in_spark, cluster.session), run)


def test_tables_of_a_catalog_and_other_formats(cluster, tmp_path):
    """What Spark can read by a name or a format; Delta and Iceberg are such formats."""
    given = MADE_UP["week"]
    frame, expected = frame_of(cluster.session, given.table), released(given.table, given, "memory")
    frame.write.orc(str(tmp_path / "orc"))
    cluster.session.sql("CREATE DATABASE IF NOT EXISTS shop")
    frame.write.option("path", str(tmp_path / "table")).saveAsTable("shop.taps")
    try:
        for place in (
            "table:shop.taps",
            f"orc:{tmp_path / 'orc'}",
            f"parquet:{tmp_path / 'table'}",
        ):
            read = read_table(cluster.session, place)
            assert released(read, given, "spark") == expected
    finally:
        cluster.session.sql("DROP DATABASE shop CASCADE")


@pytest.mark.parametrize("kind", ["delta", "iceberg"])
def test_a_format_is_left_to_spark(cluster, kind):
    """A source of our own under the format's name: its place arrives, its rows are counted."""
    from pyspark.sql import types
    from pyspark.sql.datasource import DataSource, DataSourceReader

    given = MADE_UP["week"]
    rows = given.table.select(["who", "when", "where"])

    class Reader(DataSourceReader):
        def read(self, partition):  # noqa: ARG002
            yield from rows.to_batches()

    class Format(DataSource):
        @classmethod
        def name(cls):
            return kind

        def schema(self):
            numbers = [types.StructField(name, types.LongType()) for name in ("who", "when")]
            place = {"place": self.options["path"]}
            where = types.StructField("where", types.StringType(), metadata=place)
            return types.StructType([*numbers, where])

        def reader(self, schema):  # noqa: ARG002
            return Reader()

    cluster.session.dataSource.register(Format)
    read = read_table(cluster.session, f"{kind}:some/place")
    assert read.schema["where"].metadata["place"] == "some/place"
    assert released(read, given, "spark") == released(given.table, given, "memory")


def test_list_rows_above_the_bound_are_chosen_by_their_contents(cluster):
    """The one difference: a table has no order, so the first c of a unit's rows are not known."""
    table = pa.table({"who": [1] * 40, "where": [["b"]] * 20 + [["a"]] * 20})
    given = Input(table, Universe("ab"), {"unit": "who", "location": "where"})
    one, other = (
        released(cluster.session.createDataFrame(rows).repartition(3), given, "spark")
        for rows in (table, table.take(pa.array(range(39, -1, -1))))
    )
    assert one == other


@pytest.mark.parametrize("unit_text", ["normal", "exact"])
def test_forms_of_an_id_are_one_unit_as_in_memory(cluster, unit_text):
    rows = {"who": [row[0] for row in ROWS], "when": [row[1] for row in ROWS]}
    table = pa.table(rows | {"where": [row[2] for row in ROWS]})
    roles = {"unit": "who", "order": "when", "location": "where"}
    given = Input(table, Universe(["A", "B"]), {**roles, "unit_text": unit_text})
    expected = released(table, given, "memory", "full")
    assert released(frame_of(cluster.session, table), given, "spark", "full") == expected


@pytest.mark.parametrize("column", ["who", "where"])
def test_floats_are_refused_by_their_type(cluster, column):
    rows = {"who": ["u"], "when": [1], "where": ["A"]} | {column: [7.0]}
    frame = cluster.session.createDataFrame(pa.table(rows))
    roles = {"unit": "who", "order": "when", "location": "where"}
    with pytest.raises(InputError, match="holds floats"):
        publish(frame, universe=Universe(["A"]), epsilon="1", height=2, method="full", **roles)


def test_a_table_has_no_order_of_its_own(cluster):
    given = MADE_UP["week"]
    frame = frame_of(cluster.session, given.table)
    with pytest.raises(ParameterError, match="order"):
        publish(
            frame, epsilon="1", height=3, method="full", universe=given.universe, unit="who",
            location="where",
        )  # fmt: skip


def test_a_failure_on_a_worker_is_told_in_our_words(cluster):
    """And nothing of the run is left in the session."""
    from pyspark.sql import functions as f

    frame = cluster.session.range(5).select(
        f.col("id").alias("who"), f.lit(1).alias("when"),
        f.raise_error(f.lit("SECRET")).cast("string").alias("where"),
    )  # fmt: skip
    reading = {"unit": "who", "order": "when", "location": "where"}
    with pytest.raises(InputError) as caught:
        publish(frame, epsilon="1", height=3, method="full", universe=Universe("ab"), **reading)
    assert "SECRET" not in repr(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert cluster.session.catalog.listTables() == []


KILLED = [("full", 2), *(("calibrated", stage) for stage in range(9))]  # of nine


def shuffled(cluster):
    """What workers have written for each other so far."""
    return {path for w in cluster.folder.glob("*-local") for path in w.rglob("shuffle_*")}


@pytest.mark.parametrize(("method", "stage"), KILLED)
def test_a_worker_that_is_killed_in_any_stage_changes_nothing(cluster, method, stage):
    """While rows are read and shuffled (0), or as a pass begins."""
    given = MADE_UP["week"]
    expected = released(given.table, given, "memory", method)
    frame = frame_of(cluster.session, given.table)
    killed, before = [], shuffled(cluster)

    def kill(done, _all):
        if done == stage:
            victim = next(worker for worker in cluster.workers() if worker.poll() is None)
            threading.Thread(target=cluster.kill, args=[victim]).start()
            killed.append(victim)
            time.sleep(0.5)

    def kill_while_reading():
        while not shuffled(cluster) - before:
            time.sleep(0.01)
        kill(0, None)

    if stage == 0:
        threading.Thread(target=kill_while_reading, daemon=True).start()
    try:
        assert released(frame, given, "spark", method, progress=kill) == expected
        assert killed[0].wait(30) != 0
    finally:
        cluster.add_worker()


@pytest.fixture
def small_ranges(monkeypatch):
    """So few counts at once that even a small level is fetched in several ranges."""
    monkeypatch.setattr(spark_counter, "_FETCHED_AT_ONCE", 40)


@pytest.mark.usefixtures("small_ranges")
def test_a_level_in_many_ranges(cluster):
    given = MADE_UP["week"]
    frame = frame_of(cluster.session, given.table)
    assert released(frame, given, "spark") == released(given.table, given, "memory")
    assert still_kept(cluster.session) == 0


def still_kept(session):
    """How many tables the workers keep."""
    return session.sparkContext._jsc.getPersistentRDDs().size()


@pytest.mark.parametrize("held", [0, 100])
@pytest.mark.usefixtures("small_ranges")
def test_workers_that_hold_few_sums_give_the_same_release(cluster, held, monkeypatch):
    """As if every table were too large for an array, and its sums for a worker's memory."""
    monkeypatch.setattr(spark_counter, "_SUMMED_AT_ONCE", 0)
    monkeypatch.setattr(spark_counter, "_HELD_AT_ONCE", held)
    given = MADE_UP["times"]
    expected = released(given.table, given, "memory", "calibrated")
    frame = frame_of(cluster.session, given.table)
    assert released(frame, given, "spark", "calibrated") == expected


@pytest.mark.usefixtures("small_ranges")
def test_a_worker_that_is_killed_between_two_ranges_changes_nothing(cluster, monkeypatch):
    """What it kept of the ranges that are yet to be fetched is made again, the same."""
    unpack, fetched = spark_counter._unpack, []

    def kill(block):
        fetched.append(block)
        if len(fetched) == 3:
            cluster.kill(cluster.workers()[0])
        return unpack(block)

    given = MADE_UP["week"]
    frame = frame_of(cluster.session, given.table)
    monkeypatch.setattr(spark_counter, "_unpack", kill)
    try:
        assert released(frame, given, "spark") == released(given.table, given, "memory")
        assert len(fetched) > 5
    finally:
        cluster.add_worker()


@pytest.mark.usefixtures("small_ranges")
def test_counts_that_get_lost_are_noticed(cluster, monkeypatch):
    whole = spark_counter._in_order
    monkeypatch.setattr(spark_counter, "_in_order", lambda *given: whole(*given).where("part <> 1"))
    given = MADE_UP["week"]
    with pytest.raises(InputError, match="lost some of the counts"):
        released(frame_of(cluster.session, given.table), given, "spark")


def test_the_rows_stay_away_from_the_driver(cluster, monkeypatch):
    """All that is fetched are packed counts: 24 bytes for each non-empty child."""
    fetched = []
    unpack = spark_counter._unpack

    def noted(block):
        fetched.append(unpack(block))
        return fetched[-1]

    monkeypatch.setattr(spark_counter, "_unpack", noted)
    given = MADE_UP["week"]
    released(frame_of(cluster.session, given.table), given, "spark")
    children = np.concatenate([count for _, _, count in fetched])
    assert children.min() >= 1
    units = len(set(given.table["who"].to_pylist()))
    assert fetched[0][2].sum() <= units


def test_the_command_line(tmp_path, monkeypatch):
    """With a Spark of its own, which ends with the command; bars show that it is alive."""
    if (problem := find_java()) is not None:
        pytest.skip(problem)
    monkeypatch.chdir(tmp_path)
    given = MADE_UP["week"]
    pq.write_table(given.table, tmp_path / "rows.parquet")
    lines = ["location", *given.universe.labels]
    (tmp_path / "stops.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    code, shown = in_a_terminal(
        *("publish", tmp_path / "rows.parquet", "--universe", tmp_path / "stops.csv"),
        *("--unit-column", "who", "--order-column", "when", "--location-column", "where"),
        *("--epsilon", "9", "--height", "3", "--method", "full", "--out", tmp_path / "out"),
        *("--engine", "spark", "--master", "local[1]"),
        **cluster_environment(),
    )
    assert code == 0, shown
    assert "Traceback" not in shown
    assert len(read_release(tmp_path / "out").paths()) > 0
    bars = bars_of(shown)
    assert bars["Reading"]
    assert any("left" in bar for bar in bars["Growing the noisy prefix tree"])
