"""One unit's cells, of whatever type, change no other unit's rows: tables whose columns have types.

A pair of tables differs in one unit's rows. A column is refused by its type, which is public, or
each cell is read by itself.
"""

import datetime as dt
import decimal
import sqlite3
import uuid

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.privacy.test_rows import ROLES, trajectories

from pathveil.errors import InputError
from pathveil.raw.reading import read_trajectories
from pathveil.times.time_grid import TimeGrid
from pathveil.universe.universe import Universe

NAIVE_7 = dt.datetime.fromisoformat("2024-03-05T07:00")
UTC_7 = dt.datetime(2024, 3, 5, 7, 0, tzinfo=dt.UTC)
INDIA_7 = dt.datetime(2024, 3, 5, 7, 0, tzinfo=dt.timezone(dt.timedelta(hours=5, minutes=30)))
STRANGE = [
    None, float("nan"), float("inf"), pd.NA, pd.NaT, 7, -(2**70), 10**5000, 7.0, 1.5, 2.0**60, True,
    decimal.Decimal("1.5"), decimal.Decimal("NaN"), "\ud800", "", "x", b"x", b"\xff", object(),
    ["A"], ("A",), {"A": 1}, np.array([1, 2]), np.int64(7), np.float32(0.5), np.datetime64("NaT"),
    np.datetime64("2024-03-05"), dt.date(2024, 3, 5), NAIVE_7, UTC_7, INDIA_7,
    pd.Timestamp("2024-03-05 07:00:00.123456789"), dt.timedelta(hours=1), dt.time(7, 0),
    uuid.UUID(int=7), 1j, pd.Period("2024-03"), pd.Interval(0, 1), "2024-03-05T07:00:00+02:00",
]  # fmt: skip
KINDS = {
    "who": {
        "text": [f"u{i // 2}" for i in range(20)],
        "integers": [2**60 + i // 2 for i in range(20)],
        "decimals": [decimal.Decimal(100 + i // 2) for i in range(20)],
    },
    "when": {
        "text": [f"{i % 2}" for i in range(20)],
        "integers": [i % 2 for i in range(20)],
        "times": [NAIVE_7 + dt.timedelta(minutes=30 + i % 2) for i in range(20)],
        "dates": [dt.date(2024, 3, 5 + i % 2) for i in range(20)],
    },
    "where": {
        "text": [("A", "B")[i % 2] for i in range(20)],
        "integers": [7 + i % 2 for i in range(20)],
        "decimals": [decimal.Decimal(7 + i % 2) for i in range(20)],
    },
}
UNIVERSE = Universe(["B", "A", "8", "7", "7.0", "8.0", "1.5"])


def frame_with(column, kind, cell, *, dtype=object):
    """Twenty rows of ten units, and before and after them one more unit's, with a strange cell."""
    plain = {"who": [None, "x"], "when": [None, "1"], "where": [None, "A"]}
    own = dict.fromkeys(KINDS, "text") | {column: kind}
    columns = {
        name: pd.Series(
            [cell, *KINDS[name][own[name]], cell] if name == column
            else [plain[name][1], *KINDS[name][own[name]], plain[name][1]],
            dtype=object,
        ).astype(dtype)
        for name in KINDS
    }  # fmt: skip
    return pd.DataFrame(columns)


CASES = [(column, kind) for column, kinds in KINDS.items() for kind in kinds]


@pytest.mark.parametrize(("column", "kind"), CASES)
@pytest.mark.parametrize("universe", [UNIVERSE, "discover"], ids=["given", "discovered"])
def test_a_cell_of_a_pandas_object_column_is_read_by_itself(column, kind, universe):
    alone = frame_with(column, kind, None).iloc[1:-1]
    expected = trajectories(read_trajectories(alone, universe, **ROLES))
    assert sum(expected.values()) == 10
    for cell in STRANGE:
        found = trajectories(read_trajectories(frame_with(column, kind, cell), universe, **ROLES))
        assert not expected - found, repr(cell)
        assert sum(found.values()) <= 12


def test_a_zone_of_one_unit_does_not_move_anothers_clock():
    """With a grid of hours in a zone: a naive time is a reading of the wall clock there."""
    grid = TimeGrid.parse("1h", "America/New_York")
    roles = {"unit": "who", "time": "when", "location": "where", "time_grid": grid}
    own = [NAIVE_7 + dt.timedelta(minutes=30)] * 2
    for cell in (UTC_7, INDIA_7, dt.date(2024, 3, 5), "2024-03-05T07:00Z", 1_709_622_000):
        when = pd.Series([cell, *own], dtype=object)
        frame = pd.DataFrame({"who": ["x", "u", "v"], "when": when, "where": ["A", "A", "A"]})
        db = read_trajectories(frame, Universe(["A"]), **roles)
        assert trajectories(db)[((7, "A"),)] >= 2, repr(cell)


def test_categories_of_pandas_are_read_one_by_one():
    plain = pd.DataFrame({"who": ["u", "v"], "when": [1, 1], "where": ["7", "8"]})
    for cell in (decimal.Decimal("1.5"), 7.5, dt.date(2024, 1, 1), ("A",), INDIA_7, None):
        where = pd.Series([7, 8, cell, "A"], dtype=object).astype("category")
        frame = pd.DataFrame({"who": ["u", "v", "x", "x"], "when": [1, 1, 1, 2], "where": where})
        found = trajectories(read_trajectories(frame, UNIVERSE, **ROLES))
        assert not trajectories(read_trajectories(plain, UNIVERSE, **ROLES)) - found, repr(cell)


def test_the_index_of_a_frame_is_nobodys_business():
    frame = pd.DataFrame({"who": ["u", "v"], "when": [1, 1], "where": ["A", "B"]})
    frame.index = pd.Index([1, object()], dtype=object)
    assert trajectories(read_trajectories(frame, UNIVERSE, **ROLES)) == {("A",): 1, ("B",): 1}


def test_a_lone_surrogate_in_a_column_of_text_spoils_its_own_row():
    who = pd.array(["u", "\ud800"], dtype=pd.StringDtype("python"))
    frame = pd.DataFrame({"who": who, "when": [1, 1], "where": ["A", "B"]})
    assert trajectories(read_trajectories(frame, UNIVERSE, **ROLES)) == {("A",): 1}


LARGE = 2**53 + 1
FLOATS = [pa.float16(), pa.float32(), pa.float64(), pa.dictionary(pa.int8(), pa.float64())]


@pytest.mark.parametrize("role", ["unit", "trajectory", "location"])
@pytest.mark.parametrize("kind", FLOATS, ids=str)
def test_a_column_of_floats_can_not_tell_ids_apart(role, kind, tmp_path):
    """int64 with a missing value arrives as float64, and every label above 2⁵³ is lost."""
    roles = {"unit": "who", "trajectory": "trip", "order": "when", "location": "where"}
    values = {"who": ["u", "v"], "trip": ["1", "1"], "when": [1, 1], "where": ["A", "B"]}
    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    floats = pa.array(np.array([7, 8], dtype=np.float16)).cast(inner)
    table = pa.table(values | {roles[role]: floats})
    if pa.types.is_dictionary(kind):
        table = table.set_column(
            table.column_names.index(roles[role]), roles[role], floats.dictionary_encode()
        )
    sources = [table]
    if inner != pa.float16():
        pq.write_table(table, tmp_path / "rows.parquet")
        sources += [tmp_path / "rows.parquet", table.to_pandas(), pl.from_arrow(table)]
    for source in sources:
        with pytest.raises(InputError, match=rf"{role} column.*holds floats.*Int64.*BIGINT"):
            read_trajectories(source, UNIVERSE, **roles)


def test_a_missing_number_needs_a_type_that_has_missing_numbers():
    labels = [str(LARGE + i) for i in range(4)]
    whole = pd.DataFrame({"who": [1, 2], "when": [1, 1], "where": [LARGE, LARGE + 2]})
    holed = pd.concat([whole, pd.DataFrame({"who": [3], "when": [1], "where": [None]})])
    expected = {(labels[0],): 1, (labels[2],): 1}
    universe = Universe(labels)
    assert trajectories(read_trajectories(whole, universe, **ROLES)) == expected
    floats = holed.assign(where=holed["where"].astype(float))
    with pytest.raises(InputError, match="holds floats"):
        read_trajectories(floats, universe, **ROLES)
    for kind in ("Int64", object):
        typed = holed.assign(where=holed["where"].astype(kind))
        assert trajectories(read_trajectories(typed, universe, **ROLES)) == expected


def test_lists_in_a_pandas_frame_need_a_type_that_says_so():
    frame = pd.DataFrame({"card": ["u", "v"], "stops": [["A", "B"], []]})
    roles = {"unit": "card", "location": "stops"}
    with pytest.raises(InputError, match=r"dtype object.*ArrowDtype"):
        read_trajectories(frame, UNIVERSE, **roles)
    lists = frame.astype({"stops": pd.ArrowDtype(pa.list_(pa.string()))})
    assert trajectories(read_trajectories(lists, UNIVERSE, **roles)) == {("A", "B"): 1}


@pytest.mark.parametrize("cell", [None, "x", b"\xff", 7, 7.5, 2.0**60, float("inf")])
def test_sqlite_reads_every_value_by_itself(tmp_path, cell):
    """Its columns have no types: coordinates too are read alike, whatever stands beside them."""
    grid = Universe.from_grid(114, 2, "37.7,-122.52,37.82,-122.35")
    # On a border of rows; the nearest float of its text, added up digit by digit, lies below it.
    rows = [(f"u{i}", 1, 37.76526315789474, -122.5) for i in range(5)]
    roles = {"unit": "who", "order": "t", "latitude": "lat", "longitude": "lon", "table": "gps"}

    def read(rows, name):
        path = tmp_path / name
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE gps (who, t, lat, lon)")
            connection.executemany("INSERT INTO gps VALUES (?, ?, ?, ?)", rows)
        connection.close()
        return trajectories(read_trajectories(path, grid, **roles))

    alone = read(rows, "a.db")
    for column in range(4):
        strange = ["x", 1, 37.75, -122.4]
        strange[column] = cell
        assert not alone - read([tuple(strange), *rows], f"{column}.db")
