"""One law: with the same random bytes every engine gives the same tree and the same release."""

import pickle
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from tests.engines import inputs
from tests.engines.dictionary import DictionaryCounter
from tests.engines.inputs import Input

from pathveil import TimeGrid, Universe, publish, read_trajectories
from pathveil.errors import ParameterError
from pathveil.gate import add_noise, grow_hierarchy
from pathveil.raw.engines import batches, duckdb_counter
from pathveil.raw.engines.request import Request
from pathveil.raw.engines.run_files import RunFiles
from pathveil.raw.reading_plan import Reading
from pathveil.statistics.distances import DISTANCES
from pathveil.statistics.statistic import Rows, Scope
from pathveil.statistics.zones import ZONES
from pathveil.universe.lines import Lines
from pathveil.universe.taxonomy import Taxonomy

MADE_UP = inputs.made_up()
NAMED = Universe(inputs.LABELS)


def released(source, given, engine, method="full", **more):
    """Everything that a release holds, from fixed random bytes."""
    little_noise = {"epsilon": "100"}  # small inputs make deep trees
    choices = little_noise | {"height": 6, "universe": given.universe} | given.reading | more
    release = publish(
        source,
        method=method,
        engine=engine,
        generator=np.random.default_rng(7),  # noqa: TID251
        **choices,
    )
    tree, paths = release.tree, release.timed_paths()
    arrays = (tree.parent, tree.location, tree.noisy_count, paths.offsets, paths.codes)
    plan = release.parameters.planned
    return [
        *(array.tolist() for array in (*arrays, paths.weights)),
        [] if plan is None else plan.lines(),
    ]


def released_by_dictionary(source, given, method="full"):
    """The same, counted by the oracle."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grow_hierarchy, "MemoryCounter", DictionaryCounter)
        return released(source, given, "memory", method)


@pytest.mark.parametrize("method", ["basic", "full"])
@pytest.mark.parametrize("name", MADE_UP)
def test_memory_releases_what_the_dictionary_releases(name, method):
    given = MADE_UP[name]
    expected = released_by_dictionary(given.table, given, method)
    assert released(given.table, given, "memory", method) == expected


def test_the_inputs_make_trees():
    """Else the comparison below would compare nothing with nothing."""
    sizes = {n: len(released(i.table, i, "memory")[0]) for n, i in MADE_UP.items()}
    assert [name for name, size in sizes.items() if size <= 3] == ["nobody"]


@pytest.mark.parametrize("name", MADE_UP)
def test_small_files_blocks_and_ranges_give_the_same_release(name, monkeypatch):
    """As if every file were too large for the memory, and every level for a block and a range."""
    given = MADE_UP[name]
    splits, split = [], RunFiles._split
    monkeypatch.setattr(add_noise, "MOST_OCCUPIED", 7)
    monkeypatch.setattr(duckdb_counter, "_COUNTS_AT_ONCE", 2)
    monkeypatch.setattr(duckdb_counter, "_FILES_IN_MEMORY", 10**8)
    monkeypatch.setattr(
        RunFiles, "_split", lambda self, path: splits.append(path) or split(self, path)
    )
    expected = released(given.table, given, "memory")
    assert released(given.table, given, "duckdb") == expected
    assert splits or name == "nobody"


# The methods "basic" and "full" grow the same tree.
METHODS = [pytest.param("basic", marks=pytest.mark.long), "full", "calibrated"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", MADE_UP)
def test_duckdb_releases_what_memory_releases(name, method, tmp_path):
    given = MADE_UP[name]
    path = tmp_path / "rows.parquet"
    pq.write_table(given.table, path, row_group_size=97)
    expected = released(given.table, given, "memory", method)
    assert released(path, given, "duckdb", method) == expected


DISCOVER = {"universe": "discover", "delta": "1e-9"}
CHOICES = {
    "a height that is chosen": {"height": "auto"},
    "a universe that is discovered": DISCOVER,
    "both": {"height": "auto", **DISCOVER},
    "zones": {"taxonomy": Taxonomy.of(MADE_UP["texts"].universe, ["X", "Y", "Y", "X"])},
    "tables over a universe that is discovered": {"method": "calibrated", **DISCOVER},
    "tables for flows": {"method": "calibrated", "purpose": "flows"},
    "tables for hours": {"method": "calibrated", "purpose": "hours"},
    "tables by zones": {
        "method": "calibrated",
        "taxonomy": Taxonomy.of(MADE_UP["texts"].universe, ["X", "Y", "Y", "X"]),
    },
}


TAPS = MADE_UP["trips"]
IN_TRIPS = TAPS.reading
BY_DAY = {**MADE_UP["days"].reading, "max_trajectories_per_unit": 2}
UNITS = {
    "a week": Input(moments := inputs.moments(), NAMED, {**BY_DAY, "protect": "person-week"}),
    "a day": Input(moments, NAMED, {**BY_DAY, "protect": "person-day", "split": "gap:90min"}),
    "a sampled day": Input(
        moments, NAMED,
        {
            **BY_DAY,
            "protect": "person-day", "split": "gap:90min", "keep": "sample", "keep_seed": 4,
        },
    ),
    "a trip": Input(
        TAPS.table, TAPS.universe, {**IN_TRIPS, "protect": "trip", "max_trajectories_per_unit": 1}
    ),
    "a trip by its pauses": Input(
        moments, NAMED,
        {**BY_DAY, "protect": "trip", "split": "gap:90min", "max_trajectories_per_unit": 1},
    ),
    "a chosen number of trips": Input(
        TAPS.table, TAPS.universe, {**IN_TRIPS, "max_trajectories_per_unit": "auto"}
    ),
    "a chosen number of sampled trips": Input(
        TAPS.table, TAPS.universe,
        {**MADE_UP["sampled trips"].reading, "max_trajectories_per_unit": "auto"},
    ),
    "a chosen number of a week's days": Input(
        moments, NAMED,
        {**BY_DAY, "protect": "person-week", "max_trajectories_per_unit": "auto"},
    ),
}  # fmt: skip


QUICK = ("a day", "a trip", "a chosen number of sampled trips")


@pytest.mark.parametrize(
    "unit", [u if u in QUICK else pytest.param(u, marks=pytest.mark.long) for u in UNITS]
)
def test_duckdb_protects_whom_memory_protects(unit):
    given = UNITS[unit]
    for method in ("full", "calibrated"):
        expected = released(given.table, given, "memory", method)
        assert len(expected[4]) > 10
        assert released(given.table, given, "duckdb", method) == expected


@pytest.mark.parametrize("unit", UNITS)
def test_another_unit_is_another_release(unit):
    """Else the comparison of engines would not see that one forgets whom it protects."""
    given = UNITS[unit]
    plain = {**given.reading, "protect": "person"}
    if given.reading["max_trajectories_per_unit"] == "auto":
        plain["max_trajectories_per_unit"] = 1
    expected = released(given.table, given, "memory")
    assert released(given.table, given, "memory", **plain) != expected


CHOSEN = [
    *(("texts", choice) for choice in CHOICES),
    *(  # zones of a tree have no times, whatever the engine; the tables' are of another universe
        pytest.param("times", choice, marks=pytest.mark.long)
        for choice in CHOICES
        if "zones" not in choice
    ),
]


@pytest.mark.parametrize(("name", "choice"), CHOSEN)
def test_duckdb_does_all_that_memory_does(name, choice):
    given = MADE_UP[name]
    expected = released(given.table, given, "memory", **CHOICES[choice])
    assert len(expected[4]) > 3
    assert released(given.table, given, "duckdb", **CHOICES[choice]) == expected


def on_a_map():
    """A few hundred people on a large map, with lines of ten stops."""
    draw = np.random.default_rng(8)  # noqa: TID251
    size, people, visits = 6_400, 300, 4
    side = np.arange(size)
    labels = [f"m{code:04}" for code in side]
    universe = Universe(labels, latitude=45 + side // 80 / 100, longitude=side % 80 / 100)
    universe.lines = Lines.of([side[first : first + 10] for first in range(0, size, 10)])
    where = (draw.integers(0, size, people)[:, None] + draw.integers(0, 8, (people, visits))) % size
    table = pa.table(
        {
            "who": pa.array(np.repeat(np.arange(people), visits)),
            "when": pa.array(np.tile(np.arange(visits), people)),
            "where": pa.array(labels).take(pa.array(where.ravel())),
        }
    )
    return Input(table, universe, {"unit": "who", "order": "when", "location": "where"})


def test_duckdb_measures_the_zones_and_lines_of_a_map(monkeypatch):
    monkeypatch.setattr(batches, "MOST_VISITS", 500)
    monkeypatch.setattr(duckdb_counter, "MOST_VISITS", 500)
    given = on_a_map()
    expected = released(given.table, given, "memory", "calibrated")
    assert {"zones", "distances"} <= {line.name for line in expected[-1]}
    assert released(given.table, given, "duckdb", "calibrated") == expected


def without_a_map():
    """The same people; zones of a hundred stops instead of coordinates."""
    given = on_a_map()
    universe = Universe(given.universe.labels)
    taxonomy = Taxonomy.of(universe, [f"z{code // 100}" for code in range(len(universe))])
    return Input(given.table, universe, {**given.reading, "taxonomy": taxonomy})


def test_duckdb_measures_the_zones_of_a_taxonomy(monkeypatch):
    monkeypatch.setattr(batches, "MOST_VISITS", 500)
    monkeypatch.setattr(duckdb_counter, "MOST_VISITS", 500)
    given = without_a_map()
    expected = released(given.table, given, "memory", "calibrated")
    assert "zones" in {line.name for line in expected[-1]}
    assert released(given.table, given, "duckdb", "calibrated") == expected


def test_workers_are_sent_the_map_as_it_is():
    """What is sent to another process looks at the same cells there."""
    given = on_a_map()
    size = len(given.universe)
    scope = Scope(
        size, candidates=np.flatnonzero(np.arange(size) % 5), points=given.universe.points,
        lines=given.universe.lines,
    )  # fmt: skip
    third = np.arange(0, 3 * size, 3, dtype=np.int32) % size  # some of them are on one line
    rows = Rows(np.arange(0, size + 1, 8), third, size)
    for statistic in (ZONES, DISTANCES):
        looked_at = rows.among(scope.candidates) if statistic.of_candidates else rows
        expected = statistic.cells(looked_at, scope, 5)  # remembers what it found out once
        sent = pickle.loads(pickle.dumps(scope))
        assert len(np.unique(expected)) > 1
        assert statistic.cells(looked_at, sent, 5).tolist() == expected.tolist()
        assert statistic.size(sent) == statistic.size(scope)


def test_workers_are_sent_the_zones_as_they_are():
    given = without_a_map()
    size = len(given.universe)
    scope = Scope(size, taxonomy=given.reading["taxonomy"])
    rows = Rows(np.arange(0, size + 1, 8), np.arange(size, dtype=np.int32), size)
    expected = ZONES.cells(rows, scope, 5)
    sent = pickle.loads(pickle.dumps(scope))
    assert len(np.unique(expected)) == size // 100
    assert ZONES.cells(rows, sent, 5).tolist() == expected.tolist()
    assert ZONES.size(sent) == ZONES.size(scope)


# Gaussian noise, and several trips of a person: what they add is clipped.
IN_RHO = {"epsilon": None, "rho": "2", "delta": "1e-9"}
WEIGHED = {"method": "calibrated", "max_trajectories_per_unit": 5, **IN_RHO}


def test_duckdb_weighs_trips_as_memory_does():
    expected = released(TAPS.table, TAPS, "memory", **WEIGHED)
    assert any(line.clip for line in expected[-1])
    assert len(expected[4]) > 10
    assert released(TAPS.table, TAPS, "duckdb", **WEIGHED) == expected


@pytest.mark.parametrize("name", ["trips", "times"])
def test_batches_of_a_few_trajectories_and_sums_of_duckdb_give_the_same_release(name, monkeypatch):
    """As if there were many batches, and every table were too large for an array."""
    given = MADE_UP[name]
    monkeypatch.setattr(add_noise, "MOST_OCCUPIED", 7)
    expected = released(given.table, given, "memory", "calibrated")
    monkeypatch.setattr(batches, "MOST_VISITS", 50)
    monkeypatch.setattr(duckdb_counter, "MOST_VISITS", 50)
    monkeypatch.setattr(duckdb_counter, "_SUMMED_AT_ONCE", 0)
    monkeypatch.setattr(duckdb_counter, "_COUNTS_AT_ONCE", 2)
    assert released(given.table, given, "duckdb", "calibrated") == expected


@pytest.mark.parametrize("pattern", [".", "*/*.parquet", "trip=[0-2]/rows.parquet"])
def test_folders_patterns_and_partitions(tmp_path, pattern):
    given = MADE_UP["trips"]
    inputs.write_partitions(given.table, tmp_path / "rows")
    rows = [given.table.take(pa.array(range(p, given.table.num_rows, 3))) for p in range(3)]
    trips = [pa.array([str(p)] * part.num_rows) for p, part in enumerate(rows)]
    whole = pa.concat_tables(
        [part.set_column(1, "trip", trip) for part, trip in zip(rows, trips, strict=True)]
    )
    expected = released(whole, given, "memory")
    for engine in ("memory", "duckdb"):
        assert released(tmp_path / "rows" / pattern, given, engine) == expected


def test_csv_and_the_order_of_the_rows(tmp_path):
    """Without an order column the rows' own order decides, also where they are sorted."""
    taps, stops = inputs.week(100)
    given = Input(taps, stops, {"unit": "who", "location": "where"})
    pa.csv.write_csv(taps, tmp_path / "rows.csv")
    expected = released(taps, given, "memory")
    assert released(tmp_path / "rows.csv", given, "duckdb") == expected
    assert released(taps, given, "duckdb") == expected


def real(name):
    """A shared dataset by people, in long form; kosarak has a list of codes."""
    folder = inputs.DATA / name
    if not folder.exists():
        pytest.skip(f"the dataset {name} is not there")
    listed = folder / "universe.csv"
    universe = Universe.read(listed) if listed.exists() else Universe.from_codes("1..41270")
    columns = {"unit": "user_id", "trajectory": "trajectory_id", "order": "seq"}
    reading = {**columns, "location": "location", "max_trajectories_per_unit": 3}
    return Input(folder / "trajectories.parquet", universe, reading)


def timed(given, grid):
    """The same people by the times of their visits."""
    times = {"time": "time", "time_grid": TimeGrid.parse(grid), "location": "location"}
    people = {"unit": "user_id", "trajectory": "trajectory_id", "max_trajectories_per_unit": 3}
    return Input(given.table, given.universe, {**people, **times})


LONG = [pytest.param(n, marks=pytest.mark.long) for n in inputs.LARGE]
TIMED = [("nycflights13", "6h"), ("mibici", "weekday-hour"), ("cabspotting", "6h")]


def released_by_all(given, method):
    """By the dictionary; memory and DuckDB must give the same."""
    expected = released_by_dictionary(given.table, given, method)
    assert len(expected[0]) > 10  # a tree, not a stump
    assert released(given.table, given, "memory", method) == expected
    assert released(given.table, given, "duckdb", method) == expected
    return expected


@pytest.mark.parametrize("method", ["basic", "full"])
@pytest.mark.parametrize("name", [*inputs.SMALL, *LONG])
def test_real_data(name, method):
    released_by_all(real(name), method)


@pytest.mark.parametrize("method", ["basic", "full"])
@pytest.mark.parametrize(
    ("name", "grid"), [TIMED[0], *(pytest.param(*t, marks=pytest.mark.long) for t in TIMED[1:])]
)
def test_real_times(name, grid, method):
    released_by_all(timed(real(name), grid), method)


def test_an_engine_that_is_not_there():
    given = MADE_UP["week"]
    for engine, message in (("gpu", "one of"), ("spark", "master")):
        with pytest.raises(ParameterError, match=message):
            released(given.table, given, engine)
    with pytest.raises(ParameterError, match="memory"):
        released(given.table, given, "duckdb", memory="much")
    database = read_trajectories(given.table, given.universe, **given.reading)
    with pytest.raises(ParameterError, match="memory"):
        publish(database, epsilon="1", height=3, engine="duckdb")
    with pytest.raises(ParameterError, match="universe"):
        publish(given.table, epsilon="1", height=3)


PASSES = {
    "tables": ({"method": "calibrated"}, 10),
    "a tree": ({"method": "full"}, 6),
    "a tree of a height that is chosen": ({"method": "full", "height": "auto"}, 21),
    "tables over labels that are discovered": ({"method": "calibrated", **DISCOVER}, 11),
}


@pytest.mark.parametrize("kind", PASSES)
def test_no_more_passes_are_made_than_were_told(kind, monkeypatch):
    given, (choices, told) = MADE_UP["trips"], PASSES[kind]
    passes, count = [], duckdb_counter.DuckDbCounter.count_tables
    monkeypatch.setattr(
        duckdb_counter.DuckDbCounter,
        "count_tables",
        lambda self, tables: passes.append(tables) or count(self, tables),
    )
    reading = Reading.of(given.reading)
    asked = {"epsilon": "100", "height": 6, **choices, "universe": given.universe} | choices
    universe = asked.pop("universe")
    request = Request.choose(given.table, universe, reading, engine="duckdb", **asked)
    words = request.engine.needs(request.source, request.parameters)
    assert f"at most {told} times, uses about 2GB" in words
    released(given.table, given, "duckdb", **choices)
    assert 3 <= len(passes) <= told


def test_what_is_spilled_is_told_before_it_is(tmp_path):
    given = MADE_UP["trips"]
    (tmp_path / "rows.csv").write_bytes(bytes(8 * 10**6))
    reading, choices = Reading.of(given.reading), {"epsilon": "1", "engine": "duckdb"}
    request = Request.choose(tmp_path / "rows.csv", given.universe, reading, **choices)
    said = request.engine.needs(request.source, request.parameters)
    assert said.endswith("uses about 2GB of memory and spills 1 to 8 MB, encrypted")
    cluster = replace(request.engine, name="spark", master="local[2]")
    said = cluster.needs(request.source, request.parameters)
    assert "keeps 1 to 8 MB on the workers' disks and uses about 1.5 GB of memory here" in said
