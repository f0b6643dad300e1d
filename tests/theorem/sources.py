"""Every kind of source that the product reads, with every type of column that it can carry.

A `SourceKind` writes rows to a file, a database or a table in memory and says how they are read.
"""

import gzip
import io
import os
import re
import shutil
import sqlite3
import zipfile
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from tests.theorem import columns as kinds
from tests.theorem.columns import Kind
from tests.theorem.people import Columns, Row

LABELLED = ("who", "trip", "when", "where")
LOCATED = ("who", "trip", "when", "lat", "lng")


@dataclass(frozen=True)
class Place:
    """Where a source may be written: a folder, a server of PostgreSQL or S3, a Spark session."""

    folder: Path
    server: Any = None
    session: Any = None
    store: Any = None


@dataclass(frozen=True)
class SourceKind:
    """A kind of source.

    Attributes:
        name: what it is called; the part before the colon is the family.
        columns: the kinds of its columns.
        write: rows, names and a place in, the source and how to read it out.
    """

    name: str
    columns: Columns
    write: Callable[[Sequence[Row], Sequence[str], Place], tuple[Any, dict[str, Any]]]

    @property
    def family(self) -> str:
        """CSV, Parquet, pandas and so on."""
        return self.name.partition(":")[0]

    @property
    def is_object(self) -> bool:
        """Whether it has columns of pandas' dtype object, which says nothing about the values."""
        return self.family == "pandas" and self.columns.where.name.startswith("object")


def names_of(rows: Sequence[Row]) -> Sequence[str]:
    """The names of the columns of some rows."""
    return LOCATED if len(rows[0]) == len(LOCATED) else LABELLED


# CSV: bytes, in three dialects. A cell with a delimiter, a quote or a line end is quoted, and
# some cells are left as they are, as broken exports do.


def _csv(delimiter: bytes, newline: bytes, start: bytes, *, quoted: bool):
    def cell(value: bytes | None) -> bytes:
        if value is None:
            return b""
        if quoted:
            return b'"' + value.replace(b'"', b'""') + b'"'
        return value

    def write(rows, names, place):
        lines = [delimiter.join(name.encode() for name in names)]
        lines += [delimiter.join(map(cell, row)) for row in rows]
        path = place.folder / "rows.csv"
        path.write_bytes(start + newline.join(lines))
        return path, {}

    return write


def _recoded(encoding: str, pack, *, delimiter: str, **written):
    """Another encoding, packed; a cell that is no text stays the bytes that it is."""

    def cell(value: bytes | None) -> bytes:
        quote, value = '"'.encode(encoding), value or b""
        try:
            return quote + value.decode().replace('"', '""').encode(encoding) + quote
        except UnicodeError:
            # In UTF-16 a row is a sequence of pairs of bytes, whatever they are.
            return quote + value[: len(value) // len(quote) * len(quote)] + quote

    def write(rows, names, place):
        comma, end = delimiter.encode(encoding), "\r\n".encode(encoding)
        lines = [comma.join(name.encode(encoding) for name in names)]
        lines += [comma.join(map(cell, row)) for row in rows]
        path = place.folder / "rows.csv.packed"
        path.write_bytes(pack(end.join(lines)))
        return path, {"encoding": encoding, **written}

    return write


def _zipped(content: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("rows.csv", content)
    return made.getvalue()


@dataclass(frozen=True)
class Shown:
    """A number that a sheet shows as something else: a moment, a duration."""

    number: float
    form: str


def _excel(**written):
    def write(rows, names, place):
        import xlsxwriter

        path = place.folder / "rows.xlsx"
        with xlsxwriter.Workbook(path) as book:
            sheet = book.add_worksheet("visits")
            forms = {form: book.add_format({"num_format": form}) for form in (_MOMENT, _DURATION)}
            for number, row in enumerate([names, *rows]):
                for column, value in enumerate(row):
                    if isinstance(value, datetime):
                        sheet.write_datetime(number, column, value, forms[_MOMENT])
                    elif isinstance(value, Shown):
                        sheet.write_number(number, column, value.number, forms[value.form])
                    elif isinstance(value, bool):
                        sheet.write_boolean(number, column, value)
                    elif isinstance(value, int | float):
                        sheet.write_number(number, column, value)
                    elif value and value.startswith("#"):
                        sheet.write_formula(number, column, "=1/0", None, value)
                    elif value:
                        sheet.write_string(number, column, value)
        return path, {"table": "visits", **written}

    return write


_MOMENT, _DURATION = "yyyy-mm-dd hh:mm:ss", "[hh]:mm:ss"


CSV_TEXT = Kind(
    **{
        **kinds.BYTES.__dict__,
        "where": lambda place: ("b", "a", "é", "10", "A b")[place].encode(),
        "label": str.encode,
    }
)
_BYTES = Columns(*[CSV_TEXT] * 4)
# In an encoding of one byte a character all bytes are text, and of another unit.
_NARROW = Kind(
    **{
        **CSV_TEXT.__dict__,
        "forms": tuple(f.encode() for f in kinds.TEXT_FORMS if max(f, default=" ") < "\u0100"),
    }
)
_WIDE = Kind(
    **{
        **CSV_TEXT.__dict__,
        "forms": (*(f.encode() for f in kinds.TEXT_FORMS), b"\x00\xd8"),  # half a character
        "nasty": (*CSV_TEXT.nasty, b"\x00\xd8", b"\x00\xdc\x00\xd8"),
    }
)
_GERMAN = Kind(
    **{
        **CSV_TEXT.__dict__,
        "when": lambda instant, row: kinds.dated(instant, row, "de").encode(),
        "degrees": lambda value: repr(value).replace(".", ",").encode(),
        "nasty": (*CSV_TEXT.nasty, b"31.02.2026", b"2.3.26 7:00", b"1.234,5", b"52,5", b"\x81"),
    }
)
_AMERICAN = Kind(
    **{
        **CSV_TEXT.__dict__,
        "when": lambda instant, row: kinds.dated(instant, row, "us").encode(),
        "nasty": (*CSV_TEXT.nasty, b"13/02/2026", b"2/30/2026", b"3/2/26 13:00 PM", b"3/2/26"),
    }
)
_MOMENTS = tuple(datetime.fromisoformat(text) for text in ("2026-03-02T07:00", "1999-01-01"))
# Moments and durations before and beyond all years that Python has, and a time without a day.
_BEYOND = (
    *(Shown(number, _MOMENT) for number in (1e300, 2_958_466, -5, 0.25)),
    *(Shown(number, _DURATION) for number in (1e300, 1e9, 3.5, -2)),
)
# A cell of a workbook is text, a number, a truth, a moment or an error; XML holds no NUL.
EXCEL = Kind(
    **{
        **kinds.TEXT.__dict__,
        "forms": (*(f for f in kinds.TEXT.forms if f != "\0"), kinds.HOSTILE, 4711.0),
        "nasty": (
            *(j for j in kinds.TEXT.nasty if j is None or "\0" not in j),
            7, 7.0, 1.5, -0.0, 2.0**60, True, *_MOMENTS, *_BEYOND, "#N/A", "#DIV/0!",
        ),
    }
)  # fmt: skip
# Some times are text in the format that is given, and others are moments, which have none.
EXCEL_GERMAN = Kind(
    **{
        **EXCEL.__dict__,
        "when": lambda instant, row: (
            kinds.dated(instant, row, "de") if row % 2
            else datetime.fromtimestamp(instant, UTC).replace(tzinfo=None)
        ),
        "degrees": lambda value: repr(value).replace(".", ","),
        "nasty": (*EXCEL.nasty, "31.02.2026", "2.3.26 7:00", "1.234,5", "52,5"),
    }
)  # fmt: skip


# Arrow: what Parquet, polars, pandas and Spark take over.


def arrow_table(types: dict[str, Any], rows: Sequence[Row], names: Sequence[str]) -> pa.Table:
    """Rows with columns of some types, by name; all columns that are not named are ``who``'s."""
    cells = list(zip(*rows, strict=True))
    return pa.table({
        name: _array(column, types.get(name, types["who"]))
        for name, column in zip(names, cells, strict=True)
    })  # fmt: skip


def _array(cells: Sequence[Any], kind: pa.DataType) -> pa.Array:
    if pa.types.is_dictionary(kind):
        return pa.array(cells, kind.value_type).dictionary_encode().cast(kind)
    if pa.types.is_temporal(kind):
        return pa.array(cells, pa.int32() if kind == pa.date32() else pa.int64()).view(kind)
    return pa.array(cells, kind)


def _types(who, when=None, where=None, degrees=None) -> dict[str, Any]:
    where = where or who
    degrees = degrees or where
    return {"who": who, "trip": who, "when": when or who, "where": where, "lat": degrees,
            "lng": degrees}  # fmt: skip


_STRING, _F64 = pa.string(), pa.float64()
_SMALL = pa.dictionary(pa.int8(), pa.string())
ARROW: dict[str, tuple[Columns, dict[str, Any]]] = {
    "string": (Columns(*[kinds.TEXT] * 4), _types(_STRING)),
    "large_string": (Columns(*[kinds.TEXT] * 4), _types(pa.large_string())),
    "string_view": (Columns(*[kinds.TEXT] * 4), _types(pa.string_view())),
    "binary": (Columns(*[kinds.BYTES] * 4), _types(pa.binary())),
    "dictionary": (Columns(*[kinds.TEXT] * 4), _types(pa.dictionary(pa.int32(), _STRING))),
    "int64": (Columns(*[kinds.INT64] * 4), _types(pa.int64())),
    "uint64": (Columns(*[kinds.UINT64] * 3, kinds.INT64), _types(pa.uint64(), degrees=pa.int64())),
    "decimal": (
        Columns(kinds.WHOLE_DECIMAL, kinds.DECIMAL, kinds.WHOLE_DECIMAL, kinds.DECIMAL),
        _types(pa.decimal128(38, 0), pa.decimal128(38, 6), degrees=pa.decimal128(38, 6)),
    ),
    "floats": (
        Columns(kinds.INT64, kinds.FLOAT, kinds.INT64, kinds.FLOAT),
        _types(pa.int64(), _F64, degrees=_F64),
    ),
    "float ids": (Columns(*[kinds.FLOAT_IDS] * 4), _types(_F64)),
    "date": (
        Columns(kinds.TEXT, kinds.DAYS, kinds.TEXT, kinds.FLOAT),
        _types(_STRING, pa.date32(), degrees=_F64),
    ),
    **{
        f"timestamp {kind.name} {zone or 'without zone'}": (
            Columns(kinds.TEXT, kind, kinds.TEXT, kinds.FLOAT),
            _types(_STRING, pa.timestamp(kind.name, zone), degrees=_F64),
        )
        for kind, zone in (
            (kinds.SECONDS, None), (kinds.MILLIS, "UTC"), (kinds.MICROS, "Asia/Kolkata"),
            (kinds.MICROS, None), (kinds.NANOS, None), (kinds.NANOS, "America/New_York"),
        )
    },
}  # fmt: skip
# The types that tables in lakes have; their times are in microseconds, with a zone in UTC.
_IN_UTC = {
    "timestamp us UTC": (
        Columns(kinds.TEXT, kinds.MICROS, kinds.TEXT, kinds.FLOAT),
        _types(_STRING, pa.timestamp("us", "UTC"), degrees=_F64),
    )
}
_LAKE_TYPES = ("string", "int64", "float ids", "timestamp us UTC")
_TEXT_LISTS = Columns(kinds.TEXT, kinds.TEXT, kinds.TEXT, kinds.FLOAT, is_list=True)
_INT_LISTS = Columns(kinds.INT64, kinds.INT64, kinds.INT64, kinds.FLOAT, is_list=True)
LISTS: dict[str, tuple[Columns, dict[str, Any]]] = {
    "list of string": (_TEXT_LISTS, _types(_STRING, where=pa.list_(_STRING))),
    "large_list": (_TEXT_LISTS, _types(_STRING, where=pa.large_list(pa.large_string()))),
    "list_view": (_TEXT_LISTS, _types(_STRING, where=pa.list_view(_STRING))),
    "list of int64": (_INT_LISTS, _types(pa.int64(), where=pa.list_(pa.int64()))),
}


def _arrow(types):
    return lambda rows, names, _place: (arrow_table(types, rows, names), {})


def _batches(types):
    """Two batches, so that a dictionary column has two dictionaries."""

    def write(rows, names, _place):
        parts = [rows[: len(rows) // 2], rows[len(rows) // 2 :]]
        tables = [arrow_table(types, part, names) for part in parts if part]
        return pa.concat_tables(tables), {}

    return write


def _parquet(types, **options):
    def write(rows, names, place):
        path = place.folder / "rows.parquet"
        pq.write_table(arrow_table(types, rows, names), path, **options)
        return path, {}

    return write


def _parquet_folder(types):
    def write(rows, names, place):
        folder = place.folder / "parts"
        folder.mkdir(exist_ok=True)
        half = len(rows) // 2
        for number, part in enumerate((rows[:half], rows[half:])):
            pq.write_table(arrow_table(types, part, names), folder / f"{number}.parquet")
        return folder, {}

    return write


def _folder_name(value: bytes) -> str:
    """Bytes beyond ASCII as they are, whatever they are, and of the others the signs encoded."""
    return os.fsdecode(re.sub(rb"[^\w\x80-\xff]", lambda sign: b"%%%02X" % sign[0][0], value))


def _hive(types):
    """A folder for each unit, named after it, and in it a file for every two rows."""

    def write(rows, names, place):
        folder = place.folder / "hive"
        shutil.rmtree(folder, ignore_errors=True)
        units = {}
        for row in rows:
            units.setdefault(row[0], []).append(row[1:])
        for unit, own in units.items():
            name = _folder_name(unit) if unit else "__HIVE_DEFAULT_PARTITION__"
            below = folder / f"who={name}"
            below.mkdir(parents=True, exist_ok=True)
            for at in range(0, len(own), 2):
                table = arrow_table(types, own[at : at + 2], names[1:])
                with (below / f"{unit is None}-{at:06d}.parquet").open("wb") as file:
                    pq.write_table(table, file)
        return folder, {}

    return write


def _stored(types):
    """Two files in an object store."""

    def write(rows, names, place):
        half = len(rows) // 2
        for number, part in enumerate((rows[:half], rows[half:])):
            table = arrow_table(types, part, names)
            pq.write_table(table, f"city/theorem/{number}.parquet", filesystem=place.store.files)
        return "s3://city/theorem", {}

    return write


def _delta(types):
    """A Delta table: an append of its own for each half, so that there are two files."""

    def write(rows, names, place):
        import deltalake

        folder = place.folder / "delta"
        shutil.rmtree(folder, ignore_errors=True)
        half = len(rows) // 2
        for part in (rows[:half], rows[half:]):
            deltalake.write_deltalake(str(folder), arrow_table(types, part, names), mode="append")
        return f"delta:{folder}", {}

    return write


def _iceberg(types):
    """An Iceberg table in a catalog of its own, in memory; two appends."""

    def write(rows, names, place):
        from pyiceberg.catalog.memory import InMemoryCatalog

        folder = place.folder / "iceberg"
        shutil.rmtree(folder, ignore_errors=True)
        half = len(rows) // 2
        with closing(InMemoryCatalog("theorem", warehouse=f"file://{folder}")) as catalog:
            catalog.create_namespace("of")
            schema = arrow_table(types, rows[:1], names).schema
            # Python has no date for some of the moments, of which there would be statistics.
            bare = {"write.metadata.metrics.default": "none"}
            table = catalog.create_table("of.rows", schema, properties=bare)
            for part in (rows[:half], rows[half:]):
                table.append(arrow_table(types, part, names))
        return f"iceberg:{table.metadata_location}", {}

    return write


def _polars(types, change=lambda frame: frame):
    return lambda rows, names, _place: (
        change(pl.from_arrow(arrow_table(types, rows, names))),
        {},
    )


def _pandas_arrow(types, *, chunks: int = 1):
    def write(rows, names, _place):
        size = max(-(-len(rows) // chunks), 1)
        parts = [rows[at : at + size] for at in range(0, len(rows), size)]
        table = pa.concat_tables([arrow_table(types, part, names) for part in parts])
        return table.to_pandas(types_mapper=pd.ArrowDtype), {}

    return write


def _pandas(dtypes: Callable[[str], Any]):
    """A frame whose columns are made one by one; a dtype may be a function of the cells."""

    def write(rows, names, _place):
        made = {}
        for name, column in zip(names, zip(*rows, strict=True), strict=True):
            dtype = dtypes(name)
            made[name] = dtype(column) if callable(dtype) else pd.Series(list(column), dtype=dtype)
        return pd.DataFrame(made), {}

    return write


def _objects(column):
    cells = np.empty(len(column), dtype=object)
    cells[:] = list(column)
    return pd.Series(cells, dtype=object)


def _list_objects(column):
    cells = np.empty(len(column), dtype=object)
    for i, value in enumerate(column):
        cells[i] = value
    return pd.Series(cells, dtype=object)


def _category(column):
    return pd.Series(pd.Categorical(list(column)))


def _whole(dtype):
    """Whole numbers and nulls; pandas itself would take such a list through floats."""

    def make(column):
        missing = np.array([cell is None for cell in column])
        cells = np.array([cell or 0 for cell in column], dtype=dtype)
        return pd.Series(pd.arrays.IntegerArray(cells, missing))

    return make


def _moments(zone):
    def make(column):
        ticks = [pd.NaT.value if tick is None else tick for tick in column]
        values = pd.Series(np.array(ticks, dtype=np.int64).view("datetime64[ns]"))
        return values if zone is None else values.dt.tz_localize("UTC").dt.tz_convert(zone)

    return make


def _by_role(who, when, degrees=None):
    def dtype(name):
        if name == "when":
            return when
        return degrees if degrees is not None and name in ("lat", "lng") else who

    return dtype


def _sql(create, kinds_of, insert):
    def write(rows, names, place):
        listed = ", ".join(f'"{name}" {kinds_of(name)}' for name in names)
        return insert(place, f"({listed})", rows, create)

    return write


def _sqlite(place, listed, rows, _create):
    path = place.folder / "rows.sqlite"
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"CREATE TABLE visits {listed}")
        marks = ", ".join("?" * len(rows[0]))
        connection.executemany(f"INSERT INTO visits VALUES ({marks})", rows)
    return path, {"table": "visits"}


def _duckdb(types: dict[str, Any], casts: dict[str, str]):
    """Through Arrow, which is quick; a cast gives the types that only DuckDB has."""

    def write(rows, names, place):
        import duckdb

        path = place.folder / "rows.duckdb"
        path.unlink(missing_ok=True)
        with duckdb.connect(str(path)) as connection:
            connection.register("given", arrow_table(types, rows, names))
            listed = ", ".join(
                f'CAST("{name}" AS {casts[name]}) AS "{name}"' if name in casts else f'"{name}"'
                for name in names
            )
            connection.execute(f"CREATE TABLE visits AS SELECT {listed} FROM given")
        return path, {"table": "visits"}

    return write


def _postgresql(kinds_of: Callable[[str], str], literal: Callable[[str, Any], Any]):
    def write(rows, names, place):
        import psycopg

        with psycopg.connect(place.server.owner, autocommit=True) as connection:
            listed = ", ".join(f'"{name}" {kinds_of(name)}' for name in names)
            connection.execute("DROP TABLE IF EXISTS theorem")
            connection.execute(f"CREATE TABLE theorem ({listed})")
            with connection.cursor().copy("COPY theorem FROM STDIN") as copy:
                for row in rows:
                    copy.write_row([literal(n, v) for n, v in zip(names, row, strict=True)])
        return place.server.address, {"table": "theorem"}

    return write


# PostgreSQL's text holds no NUL; its times are written as text, the infinities among them.
PG_TEXT = Kind(
    **{
        **kinds.TEXT.__dict__,
        "forms": tuple(form for form in kinds.TEXT.forms if form != "\0"),
        "nasty": tuple(junk for junk in kinds.TEXT.nasty if junk is None or "\0" not in junk),
    }
)
PG_TIMES = Kind(
    **{
        **PG_TEXT.__dict__,
        "when": kinds.iso,
        "nasty": (
            None, "infinity", "-infinity", "0001-01-01", "4713-01-01 BC", "294276-12-31",
            "9999-12-31 23:59:60",
        ),
    }
)  # fmt: skip
PG_NUMERIC = Kind(
    **{
        **kinds.DECIMAL.__dict__,
        "nasty": (None, "NaN", "Infinity", "-Infinity", "1e400", "1e-400", "1.5", "-0.0"),
    }
)
_PG_TYPES = {
    "text": (Columns(*[PG_TEXT] * 4), lambda _name: "text"),
    "bigint": (Columns(*[kinds.INT64] * 4), lambda _name: "bigint"),
    "numeric": (Columns(*[PG_NUMERIC] * 4), lambda _name: "numeric"),
    "timestamp": (
        Columns(PG_TEXT, PG_TIMES, PG_TEXT, kinds.FLOAT),
        lambda name: {"when": "timestamp", "lat": "float8", "lng": "float8"}.get(name, "varchar"),
    ),
    "timestamptz": (
        Columns(PG_TEXT, PG_TIMES, PG_TEXT, kinds.FLOAT),
        lambda name: {"when": "timestamptz", "lat": "float8", "lng": "float8"}.get(name, "text"),
    ),
    "date": (
        Columns(PG_TEXT, PG_TIMES, PG_TEXT, kinds.FLOAT),
        lambda name: {"when": "date", "lat": "float8", "lng": "float8"}.get(name, "text"),
    ),
}
_DUCKDB_TYPES = {
    "varchar": ("string", {}),
    "bigint": ("int64", {}),
    "hugeint": ("int64", {"who": "HUGEINT", "where": "HUGEINT"}),
    "decimal": ("decimal", {}),
    "timestamp": ("timestamp us without zone", {}),
    "timestamptz": ("timestamp us Asia/Kolkata", {}),
    "double": ("floats", {}),
    "float ids": ("float ids", {}),
}
_SPARK_TYPES = (
    "string", "int64", "decimal", "floats", "float ids", "date", "timestamp us without zone",
    "timestamp us Asia/Kolkata",
)  # fmt: skip


def _spark(types):
    return lambda rows, names, place: (
        place.session.createDataFrame(arrow_table(types, rows, names)).repartition(2),
        {},
    )


def _of(name: str, write) -> tuple[Columns, Any]:
    columns, types = ARROW[name]
    return columns, write(types)


def _all_sources() -> list[SourceKind]:
    found = [
        SourceKind("csv:plain", _BYTES, _csv(b",", b"\n", b"", quoted=False)),
        SourceKind("csv:quoted", _BYTES, _csv(b";", b"\r\n", b"\xef\xbb\xbf", quoted=True)),
        SourceKind("csv:tabs", _BYTES, _csv(b"\t", b"\r", b"", quoted=False)),
        SourceKind(
            "csv:German, Windows-1252",
            Columns(_NARROW, _GERMAN, CSV_TEXT, _GERMAN),
            _recoded("cp1252", bytes, delimiter=";", time_format="de", decimal_comma=True),
        ),
        SourceKind(
            "csv:American, zip",
            Columns(_NARROW, _AMERICAN, CSV_TEXT, CSV_TEXT),
            _recoded("latin-1", _zipped, delimiter=",", time_format="us"),
        ),
        SourceKind(
            "csv:UTF-16, gzip",
            Columns(*[_WIDE] * 4),
            _recoded("utf-16-le", gzip.compress, delimiter="\t"),
        ),
        SourceKind("excel:a sheet", Columns(*[EXCEL] * 4), _excel()),
        SourceKind(
            "excel:German",
            Columns(EXCEL, EXCEL_GERMAN, EXCEL, EXCEL_GERMAN),
            _excel(time_format="de", decimal_comma=True),
        ),
    ]
    found += [SourceKind(f"arrow:{n}", c, _arrow(t)) for n, (c, t) in (ARROW | LISTS).items()]
    found += [
        SourceKind(f"arrow:{name}, two batches", ARROW[name][0], _batches(ARROW[name][1]))
        for name in ("string", "dictionary")
    ]
    found += [
        SourceKind(f"parquet:{n}", c, _parquet(t, row_group_size=7))
        for n, (c, t) in (ARROW | LISTS).items()
        if "view" not in n and "timestamp s" not in n  # which Parquet does not have
    ]
    found += [
        SourceKind(f"parquet:{name}, a folder", c, _parquet_folder(t))
        for name, (c, t) in ARROW.items()
        if name in ("string", "int64")
    ]
    found.append(SourceKind("parquet:binary, Hive's folders", *_of("binary", _hive)))
    found.append(SourceKind("s3:string", *_of("string", _stored)))
    for name in _LAKE_TYPES:
        columns, types = (ARROW | _IN_UTC)[name]
        found.append(SourceKind(f"delta:{name}", columns, _delta(types)))
        found.append(SourceKind(f"iceberg:{name}", columns, _iceberg(types)))
    found += [
        SourceKind(f"polars:{n}", c, _polars(t))
        for n, (c, t) in (ARROW | LISTS).items()
        if n
        not in (
            "large_string",
            "string_view",
            "list_view",
            "large_list",
            "timestamp s without zone",
        )
    ]
    found.append(
        SourceKind(
            "polars:Categorical",
            ARROW["string"][0],
            _polars(
                ARROW["string"][1], lambda frame: frame.with_columns(pl.all().cast(pl.Categorical))
            ),
        )
    )
    found += _pandas_sources()
    found += [
        SourceKind(
            "sqlite:without types", Columns(*[kinds.SQLITE] * 4), _sql("", lambda _n: "", _sqlite)
        ),
        SourceKind("sqlite:text", Columns(*[PG_TEXT] * 4), _sql("", lambda _n: "TEXT", _sqlite)),
        SourceKind(
            "sqlite:integer", Columns(*[kinds.INT64] * 4), _sql("", lambda _n: "INTEGER", _sqlite)
        ),
        SourceKind(
            "sqlite:real",
            Columns(kinds.INT64, kinds.SQLITE, kinds.INT64, kinds.SQLITE),
            _sql("", lambda n: "REAL" if n in ("lat", "lng", "when") else "INTEGER", _sqlite),
        ),
    ]
    for name, (kind, casts) in _DUCKDB_TYPES.items():
        columns, types = ARROW[kind]
        if kind.startswith(("string", "timestamp")):
            columns = Columns(PG_TEXT, PG_TEXT if kind == "string" else columns.when, PG_TEXT,
                              PG_TEXT if kind == "string" else columns.degrees)  # fmt: skip
        found.append(SourceKind(f"duckdb:{name}", columns, _duckdb(types, casts)))
    found += [
        SourceKind(f"postgresql:{n}", c, _postgresql(t, lambda _name, value: value))
        for n, (c, t) in _PG_TYPES.items()
    ]
    for name in _SPARK_TYPES:
        found.append(SourceKind(f"spark:{name}", ARROW[name][0], _spark(ARROW[name][1])))
    for name in ("list of string", "list of int64"):
        found.append(SourceKind(f"spark:{name}", LISTS[name][0], _spark(LISTS[name][1])))
    return found


def _pandas_sources() -> list[SourceKind]:
    text, numbers = Columns(*[kinds.TEXT] * 4), Columns(*[kinds.INT64] * 4)
    times = Columns(kinds.TEXT, kinds.NANOS, kinds.TEXT, kinds.FLOAT)
    found = [
        SourceKind("pandas:object", Columns(*[kinds.OBJECT] * 4), _pandas(lambda _n: _objects)),
        SourceKind(
            "pandas:object, of times",
            Columns(*[kinds.OBJECT_TIMES] * 4),
            _pandas(lambda _n: _objects),
        ),
        SourceKind(
            "pandas:object, of numbers",
            Columns(*[kinds.OBJECT_NUMBERS] * 4),
            _pandas(lambda _n: _objects),
        ),
        SourceKind("pandas:str", text, _pandas(lambda _n: "str")),
        SourceKind("pandas:string", text, _pandas(lambda _n: "string")),
        SourceKind("pandas:string[python]", text, _pandas(lambda _n: "string[python]")),
        SourceKind("pandas:category of text", text, _pandas(lambda _n: _category)),
        SourceKind("pandas:category of numbers", numbers, _pandas(lambda _n: _category)),
        SourceKind("pandas:Int64", numbers, _pandas(lambda _n: _whole(np.int64))),
        SourceKind("pandas:int64", Columns(*[kinds.PLAIN_INT64] * 4), _pandas(lambda _n: "int64")),
        SourceKind(
            "pandas:UInt64",
            Columns(*[kinds.UINT64] * 3, kinds.FLOAT),
            _pandas(_by_role(_whole(np.uint64), _whole(np.uint64), "float64")),
        ),
        SourceKind(
            "pandas:float64 order",
            Columns(kinds.INT64, kinds.FLOAT, kinds.INT64, kinds.FLOAT),
            _pandas(_by_role(_whole(np.int64), "float64", "float64")),
        ),
        SourceKind(
            "pandas:Float64 order",
            Columns(kinds.INT64, kinds.FLOAT, kinds.INT64, kinds.FLOAT),
            _pandas(_by_role(_whole(np.int64), "Float64", "Float64")),
        ),
        SourceKind(
            "pandas:float ids", Columns(*[kinds.FLOAT_IDS] * 4), _pandas(lambda _n: "float64")
        ),
        SourceKind("pandas:datetime64", times, _pandas(_by_role("str", _moments(None), "float64"))),
        SourceKind(
            "pandas:datetime64 with zone",
            times,
            _pandas(_by_role("str", _moments("America/New_York"), "float64")),
        ),
        SourceKind(
            "pandas:lists",
            Columns(kinds.OBJECT, kinds.OBJECT, kinds.OBJECT, kinds.FLOAT, is_list=True),
            _pandas(lambda _n: _list_objects),
        ),
    ]
    found += [
        SourceKind(f"pandas:ArrowDtype {n}", c, _pandas_arrow(t))
        for n, (c, t) in (ARROW | LISTS).items()
        if "view" not in n
    ]
    found.append(
        SourceKind(
            "pandas:ArrowDtype dictionary of int8, in chunks",
            text,
            _pandas_arrow(_types(_SMALL), chunks=3),
        )
    )
    return found


SOURCES = _all_sources()
