"""The universe as people keep it: a CSV or Parquet file with a column of labels."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pathveil.errors import UniverseError

MAX_HEADER = 2**20

_DELIMITERS = (",", ";", "\t", "|")  # the one that the header uses most
_LABEL_COLUMNS = ("location", "stop_id", "location_id", "label")
_ZONE_COLUMNS = ("zone", "parent_station", "parent")
_NAME_COLUMNS = ("name", "stop_name", "location_name")
_LATITUDE_COLUMNS = ("latitude", "lat", "stop_lat")
_LONGITUDE_COLUMNS = ("longitude", "lon", "lng", "stop_lon")


@dataclass(frozen=True, slots=True)
class LocationColumns:
    """What a file says about each location; see `pathveil.universe.universe.Universe`."""

    labels: list[str]
    names: list[str] | None
    latitude: NDArray[np.float64] | None
    longitude: NDArray[np.float64] | None


def read_location_file(path: Path) -> LocationColumns:
    """Read a list of locations; `Universe.read` says which columns are looked for.

    Raises:
        UniverseError: if the file can't be read or has no column for labels.
    """
    columns = _read_columns(path)
    if not columns:
        raise UniverseError(f"The universe {path} has no column that could hold labels.")
    label = next((c for c in _LABEL_COLUMNS if c in columns), next(iter(columns)))
    name, latitude, longitude = (
        next((c for c in candidates if c in columns), None)
        for candidates in (_NAME_COLUMNS, _LATITUDE_COLUMNS, _LONGITUDE_COLUMNS)
    )
    placed = latitude is not None and longitude is not None
    return LocationColumns(
        labels=columns[label],
        names=None if name is None else columns[name],
        latitude=degrees(columns[latitude]) if placed and latitude else None,
        longitude=degrees(columns[longitude]) if placed and longitude else None,
    )


def read_zone_file(path: Path) -> list[tuple[str, str]]:
    """The pairs (location label, name of its zone) of a taxonomy's file, in its order.

    Raises:
        UniverseError: if the file can't be read or lacks one of the columns.
    """
    columns = _read_columns(path)
    label, zone = (
        next((c for c in candidates if c in columns), None)
        for candidates in (_LABEL_COLUMNS, _ZONE_COLUMNS)
    )
    if label is None or zone is None:
        raise UniverseError(f"The taxonomy {path} needs the columns 'location' and 'zone'.")
    return list(zip(columns[label], columns[zone], strict=True))


def degrees(texts: Sequence[str]) -> NDArray[np.float64]:
    """Parse degrees: NaN for a blank, infinity (which is refused later) for what is no number."""

    def parse(text: str) -> float:
        try:
            return float(text) if text.strip() else np.nan
        except ValueError:
            return np.inf

    return np.array([parse(text) for text in texts], dtype=np.float64)


def open_public(path: Path, what: str) -> bytes:
    """All bytes of a public file.

    Raises:
        UniverseError: if it can't be read.
    """
    if "\0" in str(path):
        raise UniverseError(f"The path of the {what} holds a NUL character.")
    try:
        if path.is_dir():
            raise UniverseError(f"{path} is a folder; the {what} is a file.")
        return path.read_bytes()
    except OSError as error:
        raise UniverseError(f"Can't read the {what} {path}: {error.strerror or error}.") from None


def _read_columns(path: Path) -> dict[str, list[str]]:
    try:
        if path.is_dir():
            raise UniverseError(f"{path} is a folder; the universe is a CSV or Parquet file.")
        if "\0" in str(path):
            raise UniverseError("The path of the universe holds a NUL character.")
        with path.open("rb") as file:
            magic = file.read(4)
        return _read_parquet(path) if magic == b"PAR1" else _read_csv(path)
    except OSError as error:
        raise UniverseError(f"Can't read the universe {path}: {error.strerror or error}.") from None


def _read_csv(path: Path) -> dict[str, list[str]]:
    csv.field_size_limit(1_000_000)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            first = file.readline(MAX_HEADER)
            if not first.strip():
                raise UniverseError(f"The universe {path} is empty; it needs a header and labels.")
            file.seek(0)
            reader = csv.reader(file, delimiter=max(_DELIMITERS, key=first.count), strict=True)
            header = next(reader)
            rows = [row for row in reader if row]
    except UnicodeDecodeError:
        raise UniverseError(f"The universe {path} is not UTF-8 text; save it as UTF-8.") from None
    except csv.Error:
        raise UniverseError(
            f"The universe {path} is not a well-formed CSV file near line {reader.line_num}."
        ) from None
    if len(set(filter(None, header))) < len(list(filter(None, header))):
        raise UniverseError(f"The universe {path} has two columns of one name; rename one.")
    for number, row in enumerate(rows, start=1):
        if len(row) != len(header):
            raise UniverseError(
                f"Row {number} of the universe {path} has {len(row)} cells, not {len(header)}."
            )
    return {name: [row[i] for row in rows] for i, name in enumerate(header)}


def _read_parquet(path: Path) -> dict[str, list[str]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table: Any = pq.ParquetFile(path).read()
        return {
            name: table[name].cast(pa.string()).fill_null("").to_pylist()
            for name in table.column_names
            if not pa.types.is_nested(table.schema.field(name).type)
        }
    # KeyError: two columns of one name; UnicodeDecodeError: Arrow does not check its texts.
    except (pa.ArrowException, OSError, KeyError, UnicodeDecodeError):
        raise UniverseError(f"The universe {path} is not a readable Parquet file.") from None
