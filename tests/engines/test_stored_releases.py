"""Seeded releases stay what they were: their content is compared with hashes stored here.

Refactoring may not change a bit of what is released. Whoever changes it on purpose (another plan,
another post-processing) stores the new hashes, which `content_hash` prints when a test fails, and
says so in the changelog. The input is made of whole numbers, has no ties between visits, and names
its labels in the order of their text, so that nothing but the method decides about the result.
"""

import hashlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pathveil import TimeGrid, TrajectoryDatabase, Universe, publish, simulate_week
from pathveil.raw.engines import memory_counter, sums
from pathveil.release.bundle_tables import error_table_csv, listed_cells_csv
from pathveil.universe.taxonomy import Taxonomy

LABELS = [f"s{code:02}" for code in range(96)]
PEOPLE, MOST_VISITS = 3_000, 14
UNIVERSE = Universe(LABELS)
TRIPS = {"unit": "who", "trajectory": "trip", "order": "when", "max_trajectories_per_unit": 2}
TIMES = {"time": "when", "time_grid": TimeGrid.parse("6h")}
FINE_TIMES = {"time": "when", "time_grid": TimeGrid.parse("30min"), "epsilon": "16"}
ZONES = Taxonomy.of(UNIVERSE, [f"z{code // 9}" for code in range(len(LABELS))])
AUTO = {"height": "auto"}
DISCOVER = {"universe": "discover", "delta": "1e-9", "epsilon": "8"}

STORED = {
    "basic": ({"method": "basic"}, "c7066fe5e39183d61e7d1874"),
    "full": ({"method": "full"}, "19570f724e08da8ee5bfff31"),
    "full, with times": ({"method": "full", **TIMES}, "8ef1531f4615f35f942591c0"),
    "full, by zones": ({"method": "full", "taxonomy": ZONES}, "fc574cb0fe83caa03fb56006"),
    "full, height chosen": ({"method": "full", **AUTO}, "fce6ae33aa759bb83e725094"),
    "full, labels discovered": ({"method": "full", **DISCOVER}, "58c34246983250b659b3f5a0"),
    "calibrated": ({"method": "calibrated"}, "3103d83581da60fd1d413d5b"),
    "calibrated, by zones": (
        {"method": "calibrated", "taxonomy": ZONES},
        "854361909db9bf8c4fe73764",
    ),
    "calibrated, trips": ({"method": "calibrated", **TRIPS}, "55dbdeb5f58fb71cc1cf61f0"),
    "calibrated, many cells": (
        {"method": "calibrated", "epsilon": "60"},
        "6f74f164e91d22122c97a917",
    ),
    "calibrated, with times": ({"method": "calibrated", **FINE_TIMES}, "e957b546c76c7b78d75fc1df"),
    "calibrated, height chosen": ({"method": "calibrated", **AUTO}, "2df784aced2fff6b2c0be8cd"),
    "calibrated, labels discovered": (
        {"method": "calibrated", **DISCOVER},
        "aa97d0aa41d30e7b1b8a09a1",
    ),
}
# The synthesis of `calibrated` computes with floats. A processor whose exponentials differ in the
# last bit gives another release, as good as the stored one.
WEEK = "1ef7f59a697c25607f451079"
FLOATS = "92a825f393690d03"


def table():
    """Everybody's visits: most of them to a few locations, at times that never repeat."""
    draw = np.random.default_rng(20)  # noqa: TID251
    lengths = draw.integers(1, MOST_VISITS + 1, PEOPLE)
    who = np.repeat(np.arange(PEOPLE), lengths)
    turn = np.arange(len(who)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    home = draw.integers(0, 24, PEOPLE)[who] // 3
    other = draw.integers(0, 24, len(who))
    anywhere = draw.integers(0, len(LABELS), len(who))
    where = np.where(turn % 2, home, other // 2)
    where = np.choose(draw.integers(0, 4, len(who)), (other, anywhere, where, where))
    where[: len(LABELS)] = np.arange(len(LABELS))  # so the labels come in the order of their text
    minute = turn * 75 + draw.integers(0, 75, len(who))
    when = np.datetime64("2024-03-04T00:00", "s") + (minute * 60).astype("timedelta64[s]")
    return pa.table(
        {
            "who": pa.array(who),
            "trip": pa.array(turn // 5),
            "when": pa.array(when),
            "where": pa.array(LABELS).take(pa.array(where)),
        }
    )


def released(source, choices, engine):
    """A release from fixed random bytes."""
    usual = {"epsilon": "4", "height": 6, "universe": UNIVERSE, "unit": "who", "order": "when"}
    if "time" in choices:
        del usual["order"]
    return publish(
        source,
        engine=engine,
        location="where",
        generator=np.random.default_rng(7),  # noqa: TID251
        **usual | choices,
    )


def content_hash(release):
    """All that a bundle holds of the data: its tree, its trajectories and its table of errors."""
    tree, paths = release.tree, release.timed_paths()
    digest = hashlib.sha256("\n".join(release.universe.labels).encode())
    arrays = (tree.parent, tree.location, tree.noisy_count, tree.estimate)
    for array in (*arrays, paths.offsets, paths.codes, paths.weights):
        digest.update(np.ascontiguousarray(array, dtype="<i8").tobytes())
    if release.error_table is not None:
        digest.update(error_table_csv(release.error_table).encode())
        digest.update(listed_cells_csv(release.error_table.listed, release.universe).encode())
    return digest.hexdigest()[:24]


def floats():
    """How this processor rounds what the synthesis computes."""
    values = np.linspace(0.01, 40, 4001)
    made = (
        np.exp(-values),
        np.log(values),
        np.sqrt(values),
        np.power(values, 0.37),
        values.cumsum(),
    )
    return hashlib.sha256(np.concatenate(made).astype("<f8").tobytes()).hexdigest()[:16]


def stored(name):
    """The choices and the hash, if this processor can give the same release."""
    choices, expected = STORED[name]
    if choices["method"] == "calibrated" and floats() != FLOATS:
        pytest.skip("this processor rounds exponentials in another way")
    return choices, expected


@pytest.mark.parametrize("name", STORED)
def test_memory_releases_the_stored_bits(name):
    choices, expected = stored(name)
    release = released(table(), choices, "memory")
    assert len(release) > PEOPLE // 2
    assert content_hash(release) == expected


@pytest.mark.parametrize("most", [1 << 23, 200], ids=["in arrays", "merged"])
def test_the_size_of_blocks_and_how_they_are_added_up_change_nothing(most, monkeypatch):
    choices, expected = stored("calibrated, trips")
    counted = []
    right = memory_counter.MemoryTables._rows_of
    monkeypatch.setattr(
        memory_counter.MemoryTables,
        "_rows_of",
        lambda self, block: counted.append(block) or right(self, block),
    )
    monkeypatch.setattr(memory_counter, "VISITS_AT_ONCE", 1000)
    monkeypatch.setattr(memory_counter, "COUNTED_AT_ONCE", most)
    monkeypatch.setattr(sums, "_MERGED_AT_ONCE", 100)
    assert content_hash(released(table(), choices, "memory")) == expected
    assert max(counted) > 20


def test_a_week_of_40_000_has_the_stored_bits():
    """So many sums of floats that another order of adding them shows."""
    if floats() != FLOATS:
        pytest.skip("this processor rounds exponentials in another way")
    week = simulate_week(40_000, 1000, seed=1)
    database = TrajectoryDatabase.from_arrays(week.offsets, week.codes, week.universe)
    generator = np.random.default_rng(1)  # noqa: TID251
    release = publish(database, epsilon="4", height=12, generator=generator)
    assert content_hash(release) == WEEK


QUICK = ("full, with times", "full, by zones", "calibrated, with times", "calibrated, trips")
BY_DUCKDB = [
    name if name in QUICK else pytest.param(name, marks=pytest.mark.long) for name in STORED
]


@pytest.mark.parametrize("name", BY_DUCKDB)
def test_duckdb_releases_the_stored_bits(name, tmp_path):
    choices, expected = stored(name)
    path = tmp_path / "rows.parquet"
    pq.write_table(table(), path)
    assert content_hash(released(path, choices, "duckdb")) == expected


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support:FutureWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # py4j's sockets
@pytest.mark.parametrize("name", STORED)
def test_spark_releases_the_stored_bits(cluster, name):
    choices, expected = stored(name)
    frame = cluster.session.createDataFrame(table()).repartition(3)
    assert content_hash(released(frame, choices, "auto")) == expected
