"""The universe of locations: a public, ordered list of labels (the paper's 𝓛).

It is an input, like ε: a stop list, a grid, a code list. It is never read off the trajectories,
because which locations occur is itself a fact about people.
"""

import csv
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pathveil.errors import UniverseError

MAX_LABEL_LENGTH = 500
MAX_SIZE = 2**31 - 1

MAX_HEADER = 2**20

_DELIMITERS = (",", ";", "\t", "|")  # the one that the header uses most
_LABEL_COLUMNS = ("location", "stop_id", "location_id", "label")
_NAME_COLUMNS = ("name", "stop_name", "location_name")
_LATITUDE_COLUMNS = ("latitude", "lat", "stop_lat")
_LONGITUDE_COLUMNS = ("longitude", "lon", "lng", "stop_lon")


class Universe:
    """An ordered list of distinct location labels, with optional names and coordinates.

    The order is part of the universe: the code of a location is its position. Labels are kept
    exactly as given. A label that a spreadsheet would take for a formula, or a browser for
    markup, is a legitimate label (stop codes begin with ``-``); it is escaped wherever it is
    written as CSV or HTML. Control characters are refused.

    Args:
        labels: the location labels, in order.
        names: a display name per label, or "" for a location without one.
        latitude: degrees north per label, together with ``longitude``.
        longitude: degrees east per label.

    Raises:
        UniverseError: if the list is empty, a label is empty or repeated, or a label or a name
            is too long or holds a control character.
    """

    __slots__ = ("__dict__", "labels", "latitude", "longitude", "names")

    def __init__(
        self,
        labels: Iterable[str],
        *,
        names: Sequence[str] | None = None,
        latitude: Sequence[float] | NDArray[np.float64] | None = None,
        longitude: Sequence[float] | NDArray[np.float64] | None = None,
    ) -> None:
        self.labels: tuple[str, ...] = tuple(labels)
        _check_labels(self.labels)
        self.names = None if names is None else tuple(names)
        if self.names is not None:
            _check_length("names", len(self.names), len(self.labels))
            _check_texts("name", self.names)
        if (latitude is None) != (longitude is None):
            raise UniverseError("Coordinates need both latitude and longitude; give both or none.")
        self.latitude = _coordinates("latitude", latitude, len(self.labels), 90.0)
        self.longitude = _coordinates("longitude", longitude, len(self.labels), 180.0)

    @classmethod
    def read(cls, path: str | Path) -> "Universe":
        """Read a universe from a CSV or Parquet file.

        The label is the column ``location`` (or ``stop_id``, ``location_id``, ``label``), else
        the first column. Names are taken from ``name`` or ``stop_name``, and coordinates from
        ``latitude``/``longitude``, ``lat``/``lon`` or ``stop_lat``/``stop_lon``, where present and
        not left empty for any location.
        """
        path = Path(path)
        columns = _read_columns(path)
        if not columns:
            raise UniverseError(f"The universe {path} has no column that could hold labels.")
        label = next((c for c in _LABEL_COLUMNS if c in columns), next(iter(columns)))
        name, latitude, longitude = (
            next((c for c in candidates if c in columns), None)
            for candidates in (_NAME_COLUMNS, _LATITUDE_COLUMNS, _LONGITUDE_COLUMNS)
        )
        if (
            latitude is None
            or longitude is None
            or not all(map(str.strip, columns[latitude] + columns[longitude]))
        ):
            latitude = longitude = None  # a map needs all of them
        return cls(
            columns[label],
            names=None if name is None else columns[name],
            latitude=None if latitude is None else _degrees(columns[latitude]),
            longitude=None if longitude is None else _degrees(columns[longitude]),
        )

    def __len__(self) -> int:
        return len(self.labels)

    def __contains__(self, label: object) -> bool:
        return label in self._codes

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Universe) and self.labels == other.labels

    def __hash__(self) -> int:
        return hash(self.labels)

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self.labels[:3])) + (", …" if len(self) > 3 else "")  # noqa: PLR2004
        return f"Universe({len(self)} locations: {shown})"

    @property
    def has_coordinates(self) -> bool:
        """Whether every location can be placed on a map."""
        return self.latitude is not None

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {label: code for code, label in enumerate(self.labels)}

    def code(self, label: str) -> int:
        """The code (position) of a label.

        Raises:
            UniverseError: if the universe has no such label.
        """
        if not isinstance(label, str):
            raise UniverseError(f"A location label is text, not {type(label).__name__}.")
        try:
            return self._codes[label]
        except KeyError:
            raise UniverseError(_unknown(label, self.labels)) from None

    def codes(self, labels: Iterable[str]) -> list[int]:
        """The codes of several labels, in their order."""
        return [self.code(label) for label in labels]


def _unknown(label: str, labels: Sequence[str]) -> str:
    """Name a label of the asker's own that the universe lacks, with its nearest neighbour."""
    from difflib import get_close_matches

    near = get_close_matches(label, labels[:20_000], n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"The universe has no location {label[:80]!r}.{hint}"


def _check_labels(labels: tuple[str, ...]) -> None:
    if not labels:
        raise UniverseError("The universe has no locations; give at least one label.")
    if len(labels) > MAX_SIZE:
        raise UniverseError(f"The universe has more than {MAX_SIZE} locations.")
    _check_texts("label", labels)
    for position, label in enumerate(labels, start=1):
        if not label.strip():
            raise UniverseError(f"The label of location {position} is empty.")
    if len(set(labels)) != len(labels):
        first: dict[str, int] = {}
        for position, label in enumerate(labels, start=1):
            if label in first:
                raise UniverseError(
                    f"Location {position} has the same label as location {first[label]}; "
                    "every label must be listed once."
                )
            first[label] = position


def _check_texts(what: str, texts: tuple[object, ...]) -> None:
    # Positions only: if somebody passes raw data as the universe, nothing of it is echoed.
    for position, text in enumerate(texts, start=1):
        problem = _text_problem(text)
        if problem:
            raise UniverseError(f"The {what} of location {position} {problem}.")


def _text_problem(text: object) -> str | None:
    if not isinstance(text, str):
        return f"is a {type(text).__name__}, not text; convert it to str"
    if len(text) > MAX_LABEL_LENGTH:
        return f"is longer than {MAX_LABEL_LENGTH} characters"
    if not text.isprintable() and any(_is_control(character) for character in text):
        return "holds a control character"
    return None


def _is_control(character: str) -> bool:
    from unicodedata import category

    return category(character) in {"Cc", "Cs", "Zl", "Zp"}


def _check_length(what: str, length: int, expected: int) -> None:
    if length != expected:
        raise UniverseError(f"There are {length} {what} for {expected} labels; give one each.")


def _coordinates(
    what: str, values: Sequence[float] | NDArray[np.float64] | None, size: int, limit: float
) -> NDArray[np.float64] | None:
    if values is None:
        return None
    try:
        array = np.asarray(values, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError):
        raise UniverseError(f"The {what} must be one number per label.") from None
    _check_length(f"values of {what}", len(array), size)
    bad = np.flatnonzero(~(np.abs(array) <= limit))
    if len(bad):
        raise UniverseError(
            f"The {what} of location {bad[0] + 1} is not a number between -{limit:g} and {limit:g}."
        )
    return array


def _degrees(texts: Sequence[str]) -> NDArray[np.float64]:
    """Parse degrees; what is not a number becomes NaN and is reported with its position."""

    def parse(text: str) -> float:
        try:
            return float(text)
        except ValueError:
            return float("nan")

    return np.array([parse(text) for text in texts], dtype=np.float64)


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
    except (pa.ArrowException, OSError, KeyError):  # KeyError: two columns of one name
        raise UniverseError(f"The universe {path} is not a readable Parquet file.") from None
