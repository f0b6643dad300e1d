"""The universe as people keep it: a CSV or Parquet file with a column of labels."""

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pathveil.errors import UniverseError
from pathveil.plain_files import open_named
from pathveil.universe.coordinates import (
    LATITUDE_ELSEWHERE,
    LATITUDE_NAMES,
    LONGITUDE_ELSEWHERE,
    LONGITUDE_NAMES,
    named_like,
)

MAX_HEADER = 2**20

_DELIMITERS = (",", ";", "\t", "|")  # the one that the header uses most
_LABEL_COLUMNS = ("location", "stop_id", "location_id", "label")
_ZONE_COLUMNS = ("zone", "parent_station", "parent")
_NAME_COLUMNS = ("name", "stop_name", "location_name")
_LABELS_ELSEWHERE = ("haltestellen_id", "haltestelle", "arrêt", "arret", "parada", "fermata")
_NAMES_ELSEWHERE = ("bezeichnung", "haltestellenname", "nom", "nombre", "nome")
# Of a public file the encoding may be found out: UTF-8 is hardly ever met by chance.
_ENCODINGS = ("utf-8-sig", "windows-1252")
_WIDE = (b"\xff\xfe", b"\xfe\xff")
_LATITUDE_BOUNDS = ("lat_min", "lat_max")  # of a cell: its middle is taken
_LONGITUDE_BOUNDS = ("lon_min", "lon_max")


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
    found = _roles(list(columns))
    latitude, longitude = found["latitude"], found["longitude"]
    if (latitude is None) != (longitude is None):
        there, lacking = ("latitude", "longitude") if latitude else ("longitude", "latitude")
        raise UniverseError(
            f"The universe {path} has the column {found[there]!r} for the {there} and none for the "
            f"{lacking}; name it {lacking!r}."
        )
    name = found["name"]
    return LocationColumns(
        labels=columns[found["label"] or next(iter(columns))],
        names=None if name is None else columns[name],
        latitude=_degrees(columns, latitude, _LATITUDE_BOUNDS),
        longitude=_degrees(columns, longitude, _LONGITUDE_BOUNDS),
    )


def _degrees(
    columns: dict[str, list[str]], name: str | None, bounds: Sequence[str]
) -> NDArray[np.float64] | None:
    """A column of degrees; or the middles of cells, if both their bounds are there."""
    if name is not None:
        return degrees(columns[name])
    if not _has_bounds(columns):
        return None
    middles: NDArray[np.float64] = np.mean([degrees(columns[bound]) for bound in bounds], axis=0)
    return middles


def _has_bounds(columns: Iterable[str]) -> bool:
    return {*_LATITUDE_BOUNDS, *_LONGITUDE_BOUNDS} <= set(columns)


def unused_columns(path: Path) -> list[str]:
    """The columns of a list of locations that mean nothing to us; empty if all mean something."""
    columns = list(_read_columns(path))
    found = _roles(columns)
    used = {found["label"] or columns[0], *found.values()}
    if found["latitude"] is None and _has_bounds(columns):
        used |= {*_LATITUDE_BOUNDS, *_LONGITUDE_BOUNDS}
    return [name for name in columns if name and name not in used]


def _roles(columns: Sequence[str]) -> dict[str, str | None]:
    """Which column says what; None where no column does."""
    names = {
        "label": (_LABEL_COLUMNS, _LABELS_ELSEWHERE),
        "name": (_NAME_COLUMNS, _NAMES_ELSEWHERE),
        "latitude": (LATITUDE_NAMES, LATITUDE_ELSEWHERE),
        "longitude": (LONGITUDE_NAMES, LONGITUDE_ELSEWHERE),
    }
    return {
        role: next(iter(sorted(named_like(columns, usual, others), key=_rank(usual))), None)
        for role, (usual, others) in names.items()
    }


def _rank(usual: Sequence[str]) -> Callable[[str], int]:
    """Before others comes the name that stands first in a list."""
    return lambda name: usual.index(name) if name in usual else len(usual)


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
    """Parse degrees: NaN for a blank, infinity (which is refused later) for what is no number.

    The sign before the decimals is a point, or a comma where there is no point.
    """

    def parse(text: str) -> float:
        try:
            return (
                float(text if "." in text else text.replace(",", ".")) if text.strip() else np.nan
            )
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
        with open_named(path) as file:
            return file.read()
    except OSError as error:
        raise UniverseError(f"Can't read the {what} {path}: {error.strerror or error}.") from None


def _read_columns(path: Path) -> dict[str, list[str]]:
    try:
        if path.is_dir():
            raise UniverseError(f"{path} is a folder; the universe is a CSV or Parquet file.")
        if "\0" in str(path):
            raise UniverseError("The path of the universe holds a NUL character.")
        with open_named(path) as file:
            magic = file.read(4)
        return _read_parquet(path) if magic == b"PAR1" else _read_csv(path)
    except OSError as error:
        raise UniverseError(f"Can't read the universe {path}: {error.strerror or error}.") from None


def _read_csv(path: Path) -> dict[str, list[str]]:
    csv.field_size_limit(1_000_000)
    file = io.StringIO(_decoded(path), newline="")
    try:
        first = file.readline(MAX_HEADER)
        if not first.strip():
            raise UniverseError(f"The universe {path} is empty; it needs a header and labels.")
        file.seek(0)
        reader = csv.reader(file, delimiter=max(_DELIMITERS, key=first.count), strict=True)
        header = next(reader)
        rows = [row for row in reader if row]
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


def _decoded(path: Path) -> str:
    with open_named(path) as file:
        content = file.read()
    encodings = ("utf-16",) if content.startswith(_WIDE) else _ENCODINGS
    for encoding in encodings:
        with suppress(UnicodeDecodeError):
            return content.decode(encoding)
    raise UniverseError(
        f"The universe {path} is neither UTF-8 nor Windows-1252 text; save it as UTF-8."
    )


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
