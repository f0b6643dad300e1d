"""Visits from Delta and Iceberg tables: every state of them is read as a file of its rows."""

import json
import re
import shutil
import subprocess
import sys
import traceback
from collections import Counter
from pathlib import Path
from secrets import token_bytes

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.commands import finish, spawn, tree_of_files
from tests.databases.visits import COLUMNS, OPTIONS, PLACE, ROWS, UNIT, UNIVERSE, sequences
from tests.engines.cluster import find_java
from tests.lakes import tables
from tests.lakes.tables import GONE, STATES, as_table

import pathveil as pv
from pathveil.progress_reports import reported_to
from pathveil.raw.engines import engine as choosing
from pathveil.raw.engines.input_size import InputSize
from pathveil.raw.sources.lake_tables import named_table, open_table


def read(source, **options):
    reports = []
    database = pv.read_trajectories(source, UNIVERSE, **(COLUMNS | options), report=reports.append)
    return sequences(database), reports[0].rows


def refused(source, **options):
    """The message of a refusal, from which nothing leads to what a package said."""
    with pytest.raises(pv.errors.PathveilError) as caught:
        read(source, **options)
    shown = "".join(traceback.format_exception(caught.value))
    assert [text for text in (UNIT, PLACE, "zq7") if text in shown] == []
    assert caught.value.__cause__ is None
    return str(caught.value)


@pytest.mark.parametrize("state", range(len(STATES)))
def test_every_state_is_read_as_its_rows_are(history, state):
    """Appends, a delete, a change of the schema, an append after it; nulls among the units."""
    expected = read(as_table(STATES[state]))
    location = history.locations[state]
    found = read(history.source, snapshot=history.snapshots[state], location=location)
    assert found == expected
    assert expected[1] == len(STATES[state])


def test_the_newest_state_is_read_without_a_snapshot(history):
    found = read(history.source, location=history.locations[-1])
    assert found == read(as_table(STATES[-1]))
    assert Counter(found[0]) - Counter(read(as_table(STATES[-2]))[0])  # the late one is among them


def released(source, engine, **reading):
    release = pv.publish(
        source, universe=UNIVERSE, epsilon="50", height=3, method="full", engine=engine,
        generator=np.random.default_rng(7),  # noqa: TID251
        **(COLUMNS | reading),
    )  # fmt: skip
    paths = release.paths()
    arrays = (release.tree.noisy_count, paths.offsets, paths.codes, paths.weights)
    return [array.tolist() for array in arrays]


def test_every_engine_releases_the_same_of_an_old_state(history):
    expected = released(as_table(STATES[1]), "memory")
    for engine in ("memory", "duckdb"):
        assert released(history.source, engine, snapshot=history.snapshots[1]) == expected


def test_auto_goes_by_the_size_of_its_files(history, monkeypatch):
    assert choosing.Engine.choose("auto", history.source).name == "memory"
    monkeypatch.setattr(choosing, "_SHARE", 1e-9)
    assert choosing.Engine.choose("auto", history.source).name == "duckdb"


def test_its_size_is_that_of_one_snapshot(tmp_path):
    """Not of the files that deletes and compactions left behind."""
    import deltalake

    place = tmp_path / "table"
    deltalake.write_deltalake(str(place), as_table(ROWS))
    (only,) = place.glob("*.parquet")
    deltalake.write_deltalake(str(place), as_table(ROWS[:3]), mode="overwrite")
    newest, first = (InputSize(f"delta:{place}", snapshot).in_memory for snapshot in (None, 0))
    assert 0 < newest < first == 24 * only.stat().st_size


def test_what_a_run_takes_is_told_of_the_snapshot_that_is_read(tmp_path, monkeypatch):
    """By `plan` and by `publish`, which read no row for it."""
    import deltalake

    def heavy(rows):
        return as_table(rows).append_column("note", pa.array(map(token_bytes, [2**16] * len(rows))))

    monkeypatch.chdir(tmp_path)
    deltalake.write_deltalake("table", heavy(ROWS))
    deltalake.write_deltalake("table", heavy(ROWS[:3]), mode="overwrite")
    (tmp_path / "stops.csv").write_text("stop\n" + "\n".join(UNIVERSE.labels) + "\n")
    plan = ("plan", "--universe", "stops.csv", "--epsilon", "1", "--input", "delta:table")
    run = ("publish", "delta:table", "--universe", "stops.csv", "--epsilon", "1", "--dry-run")
    columns = [f"--{role}-column={name}" for role, name in COLUMNS.items()]
    for command in ((*plan, "--engine", "duckdb"), (*run, "--engine", "duckdb", *columns)):
        said = {}
        for snapshot in ((), ("--snapshot", "1"), ("--snapshot", "0")):
            done = finish(spawn(*command, *snapshot))
            assert done.code == 0, done.err
            said[snapshot] = re.search(r"spills (.*?),", done.out + done.err)[1]
        assert said[()] == said["--snapshot", "1"] != said["--snapshot", "0"]
    for wrong, words in (("7", "no version 7"), ("newest", "number of a version")):
        refused = finish(spawn(*plan, "--snapshot", wrong))
        assert (refused.code, refused.out) == (2, "")
        assert words in refused.err


def test_reading_tells_how_far_it_is(history):
    table, told = open_table(*named_table(history.source), None)._lake, []
    with reported_to(told.append):
        assert sum(batch.num_rows for batch in table.batches(["card"])) == len(STATES[-1])
    assert told == sorted(told)
    assert any(share < 1 for share in told)
    assert told[-1] == 1


def test_rows_in_any_order_are_the_same_table(tmp_path):
    """Files that are written anew, in another order and size, hold the same trajectories."""
    import deltalake

    shuffled = [ROWS[i] for i in np.random.default_rng(5).permutation(len(ROWS))]  # noqa: TID251
    place = str(tmp_path / "table")
    for start in range(0, len(shuffled), 61):
        part = as_table(shuffled[start : start + 61])
        deltalake.write_deltalake(place, part, mode="append")
    expected = read(as_table(ROWS))
    assert read(f"delta:{place}") == expected
    deltalake.DeltaTable(place).optimize.z_order(["stop"])
    assert read(f"delta:{place}") == expected


def publish(source, *more):
    privacy = ["--universe", "stops.csv", "--epsilon", "3", "--height", "3", "--method", "full"]
    return ["publish", source, *OPTIONS, *privacy, *more]


@pytest.mark.usefixtures("stops")
def test_the_command_line_reads_an_old_state(history, folder, pathveil):
    snapshot = ["--snapshot", history.snapshots[0]]
    rehearsed = pathveil(*publish(history.source, "--dry-run", *snapshot))
    assert rehearsed.code == 0, rehearsed
    assert f"{len(STATES[0]):,}" in next(
        line for line in rehearsed.err.splitlines() if " read " in line
    )
    before = tree_of_files(folder.parent)
    published = pathveil(*publish(history.source, "--out", "out", *snapshot))
    assert published.code == 0, published
    new = [Path(name) for name in tree_of_files(folder.parent) - before]
    assert {path.relative_to(folder).parts[0] for path in new} == {"out"}
    assert not any(UNIT.encode() in path.read_bytes() for path in new if path.is_file())


@pytest.mark.usefixtures("stops")
def test_a_snapshot_that_is_not_there_is_refused_before_the_charge(history, pathveil):
    for snapshot in ("99", "no-such"):
        message, spent = charged(pathveil, history.source, "--snapshot", snapshot)
        # Which there are is said, too.
        assert (
            "its newest is 4" in message
            or "number of a version" in message
            or (f"Its newest: {history.snapshots[-1]} (" in message)
        )
        assert spent == "0"


@pytest.mark.parametrize("snapshot", [-1, True, 1.5, "", " ", "a\nb", b"1"])
def test_what_can_not_be_a_snapshot(snapshot):
    with pytest.raises(pv.errors.ParameterError, match="A snapshot is the version"):
        pv.Reading(unit="card", snapshot=snapshot)


@pytest.mark.usefixtures("stops")
def test_a_snapshot_of_what_has_none(folder, refuses):
    (folder / "taps.csv").write_text("card,seq,stop\na,1,S1\n")
    says = "A snapshot is for tables that keep their history"
    refuses(*publish("taps.csv", "--dry-run", "--snapshot", "1"), says=says)
    assert says in refused(folder / "taps.csv", snapshot=1)
    assert says in refused(as_table(ROWS), snapshot=1)


def test_a_table_has_no_order_and_no_query(history):
    newest = {"location": history.locations[-1]}
    assert "A table returns rows in no order of its own" in refused(
        history.source, order=None, trajectory="seq", **newest
    )
    assert "for databases only" in refused(history.source, table="taps", **newest)
    assert "An encoding is for CSV files" in refused(history.source, encoding="latin-1", **newest)
    assert "There is no column 'nowhere'" in refused(history.source, location="nowhere")


def test_lists_are_refused(tmp_path):
    import deltalake

    place = str(tmp_path / "table")
    lists = pa.table({"card": ["zq7"], "stop": pa.array([["S1"]], pa.list_(pa.string()))})
    deltalake.write_deltalake(place, lists)
    assert "one row per visit" in refused(f"delta:{place}", order=None)


@pytest.mark.parametrize(
    ("source", "package", "extra"),
    [("delta:x", "deltalake", "delta"), ("iceberg:a.b", "pyiceberg.catalog", "iceberg")],
)
@pytest.mark.usefixtures("stops")
def test_a_missing_package_is_named(source, package, extra, refuses, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    says = f"install pathveil[{extra}]"
    refuses(*publish(source, "--dry-run"), says=says)


@pytest.mark.usefixtures("stops")
def test_tables_that_are_not_there(folder, refuses, monkeypatch):
    import pyiceberg.catalog
    from pyiceberg.utils.config import Config

    for source in (f"delta:{folder}/nothing", "delta:", f"iceberg:{folder}/no.metadata.json"):
        refuses(*publish(source, "--dry-run"), says="Can't read the")
    monkeypatch.setenv("PYICEBERG_CATALOG__DEFAULT__URI", f"sqlite:///{folder}/no.db")
    monkeypatch.setattr(pyiceberg.catalog, "_ENV_CONFIG", Config())
    result = refused("iceberg:city.taps")
    assert "the catalog does not have it" in result


def test_a_table_by_its_name_in_a_catalog(tmp_path, monkeypatch):
    """A catalog in a SQLite file, which pyiceberg's own configuration names; nothing is written."""
    import pyiceberg.catalog
    from pyiceberg.utils.config import Config

    history = tables.iceberg_history(tmp_path / "lake")
    monkeypatch.setenv("PYICEBERG_CATALOG__DEFAULT__URI", f"sqlite:///{tmp_path}/lake/catalog.db")
    monkeypatch.setattr(pyiceberg.catalog, "_ENV_CONFIG", Config())
    before = tree_of_files(tmp_path)
    found = read("iceberg:city.taps", location="station")
    assert found == read(history.source, location="station")
    assert "the catalog does not have it" in refused("iceberg:city.zq")
    assert tree_of_files(tmp_path) == before


def test_a_tag_of_an_iceberg_table(tmp_path):
    catalog = tables.iceberg_catalog(tmp_path / "lake")
    catalog.create_namespace("city")
    table = catalog.create_table("city.taps", schema=tables.SCHEMA)
    table.append(as_table(STATES[0]))
    table.manage_snapshots().create_tag(table.current_snapshot().snapshot_id, "march").commit()
    table.append(as_table(ROWS[tables.HALF :]))
    source = f"iceberg:{table.metadata_location}"
    catalog.close()
    assert read(source, snapshot="march") == read(as_table(STATES[0]))
    assert read(source, snapshot="main") == read(as_table(ROWS))


# What only one of them has.


@pytest.fixture
def delta(tmp_path):
    """A Delta table of one file."""
    import deltalake

    deltalake.write_deltalake(str(tmp_path / "table"), as_table(ROWS))
    return tmp_path / "table"


def test_deletion_vectors_delete(delta):
    gone = [i for i, row in enumerate(ROWS) if row[0] in GONE]
    tables.delete_by_vector(delta, gone)
    assert read(f"delta:{delta}") == read(as_table(tables.STAYED))
    assert read(f"delta:{delta}", snapshot=0) == read(as_table(ROWS))


def test_columns_by_other_names_than_in_the_files(delta):
    """Column mapping: the schema of the log holds, whatever the files call their columns."""
    import json

    entry = tables.first_entry(delta)
    schema = json.loads(entry["metaData"]["schemaString"])
    for number, field in enumerate(schema["fields"], start=1):
        field["metadata"] = {
            "delta.columnMapping.id": number,
            "delta.columnMapping.physicalName": field["name"],
        }
        field["name"] = f"my {field['name']}"
    mapped = {
        **entry["metaData"],
        "schemaString": json.dumps(schema),
        "configuration": {
            "delta.columnMapping.mode": "name",
            "delta.columnMapping.maxColumnId": "3",
        },
    }
    tables.log_entry(delta, tables.features("columnMapping"), {"metaData": mapped})
    named = {"unit": "my card", "order": "my seq", "location": "my stop"}
    assert read(f"delta:{delta}", **named) == read(as_table(ROWS))
    assert read(f"delta:{delta}", snapshot=0) == read(as_table(ROWS))


def charged(pathveil, source, *more):
    """A run with a ledger that fails: its message, and what was charged."""
    pathveil("ledger", "init", "taps", "--limit", "5")
    asked = publish(source, "--out", "out", "--dataset", "taps", "--yes", *more)
    result = pathveil(*asked)
    assert result.code == 2, result
    return result.err, pathveil("ledger", "show", "taps", "--json").json()["datasets"][0]["spent"]


@pytest.mark.usefixtures("stops")
def test_a_feature_that_can_not_be_read_is_refused_before_the_charge(delta, pathveil):
    tables.log_entry(delta, tables.features("farFuture"))
    message, spent = charged(pathveil, f"delta:{delta}")
    assert "it has the feature 'farFuture'" in message
    assert spent == "0"


@pytest.mark.usefixtures("stops")
def test_a_version_whose_files_are_gone_is_refused_before_the_charge(delta, pathveil):
    import deltalake

    table = deltalake.DeltaTable(str(delta))
    table.delete("card = 'c1'")
    table.vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False)
    message, spent = charged(pathveil, f"delta:{delta}", "--snapshot", "0")
    assert "removed by VACUUM" in message
    assert spent == "0"


def table_with_deletes(folder, kind, file=None, **more):
    """An Iceberg table of all visits, and a file of deletes of some kind; pyiceberg writes none.

    Args:
        folder: where.
        kind: of `DataFileContent`.
        file: makes the file of deletes, from that of the rows; without it, that one itself.
        more: what the manifest says of it.
    """
    from pyiceberg.manifest import DataFile, DataFileContent

    catalog = tables.iceberg_catalog(folder)
    catalog.create_namespace("city")
    table = catalog.create_table("city.taps", schema=tables.SCHEMA)
    table.append(as_table(ROWS))
    (task,) = table.scan().plan_files()
    names = ("file_path", "file_format", "partition", "record_count", "file_size_in_bytes")
    said = {name: getattr(task.file, name) for name in names} | more
    if file is not None:
        said |= file(task.file.file_path)
    deletes = DataFile.from_args(**said, content=DataFileContent[kind])
    deletes.spec_id = 0
    with table.transaction() as change, change.update_snapshot().fast_append() as append:
        append.append_data_file(deletes)
    catalog.close()
    return f"iceberg:{table.metadata_location}"


@pytest.mark.usefixtures("stops")
def test_equality_deletes_are_refused_before_the_charge(tmp_path, pathveil):
    source = table_with_deletes(tmp_path / "lake", "EQUALITY_DELETES", equality_ids=[1])
    message, spent = charged(pathveil, source)
    assert "it has equality deletes, which pyiceberg can't read" in message
    assert spent == "0"


def test_rows_that_position_deletes_name_are_left_out(tmp_path):
    def written(rows_file):
        path = tmp_path / "deletes.parquet"
        gone = pa.table({"file_path": [rows_file] * 3, "pos": [0, 5, 6]})
        pq.write_table(gone, path)
        return {
            "file_path": f"file://{path}",
            "record_count": 3,
            "file_size_in_bytes": path.stat().st_size,
        }

    found = read(table_with_deletes(tmp_path / "lake", "POSITION_DELETES", written))
    assert found == read(as_table([row for i, row in enumerate(ROWS) if i not in (0, 5, 6)]))
    assert found[1] == len(ROWS) - 3


def test_a_damaged_table_is_not_quoted(tmp_path):
    """A partition's folder is named after a person, and the package's message names the folder."""
    import deltalake

    place = tmp_path / "table"
    deltalake.write_deltalake(
        str(place), as_table([row for row in ROWS if row[0]]), partition_by=["card"]
    )
    assert read(f"delta:{place}")[0] == read(as_table(ROWS))[0]
    (damaged,) = (place / f"card={UNIT}").glob("*.parquet")
    damaged.write_bytes(b"PAR1" * 40)
    assert "files are missing or damaged" in refused(f"delta:{place}")
    shutil.rmtree(place / f"card={UNIT}")
    assert "Files of the Delta table" in refused(f"delta:{place}")


def test_dictionaries_and_categories_are_what_they_say(tmp_path):
    import deltalake

    place = str(tmp_path / "table")
    rows = as_table(ROWS)
    coded = rows.set_column(2, "stop", rows["stop"].dictionary_encode())
    deltalake.write_deltalake(place, coded)
    assert read(f"delta:{place}") == read(rows)


SPARK = """
import json, sys
import numpy as np
import pathveil as pv
source, choices, labels = json.loads(sys.argv[1])
release = pv.publish(
    source, universe=pv.Universe(labels), epsilon="50", height=3, method="full",
    engine="spark", master="local[1]", generator=np.random.default_rng(7), **choices,
)
paths = release.paths()
arrays = (release.tree.noisy_count, paths.offsets, paths.codes, paths.weights)
print(json.dumps([array.tolist() for array in arrays]))
"""


def released_by_spark(source, **reading):
    """In a process of its own: it ends the session."""
    if (problem := find_java()) is not None:
        pytest.skip(problem)
    given = json.dumps([source, COLUMNS | reading, list(UNIVERSE.labels)])
    command = [sys.executable, "-c", SPARK, given]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.long
def test_spark_releases_the_same_of_any_state_without_readers_of_its_own(history):
    """One worker reads it; a Spark that is set up for such tables reads the newest itself."""
    old = {"snapshot": history.snapshots[1], "location": history.locations[1]}
    assert released_by_spark(history.source, **old) == released(as_table(STATES[1]), "memory")
    newest = released_by_spark(history.source, location=history.locations[-1])
    assert newest == released(as_table(STATES[-1]), "memory")
