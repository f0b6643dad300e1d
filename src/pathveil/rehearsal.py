"""A rehearsal before ε is charged: the whole way from a file to a release, with made-up people.

What a run needs is imported, compiled and loaded on the way (kernels, drivers, templates), in the
folders that the run will use. So a broken installation, too little memory for the compiler or a
full disk is found out while it costs nothing. The people are constants, the noise is not that of
a release (it is stamped NOT PRIVATE), and all that is written is removed: nothing is told about the
data, which is not opened.
"""

import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import numpy as np

from pathveil.core.parameters import Parameters
from pathveil.core.paths import Paths
from pathveil.core.preparations import AUTO, DISCOVER
from pathveil.raw.engines.engine import MEMORY, SPARK
from pathveil.raw.engines.request import Request
from pathveil.raw.reading_plan import Reading
from pathveil.raw.sources.databases.addresses import file_of
from pathveil.universe.taxonomy import Taxonomy
from pathveil.universe.universe import Universe

_START: Final = datetime(2024, 2, 28, 7, tzinfo=UTC)
_EARLIER: Final = Paths(np.array([0, 2, 3]), np.array([0, 1, 2], dtype=np.int32), np.array([9, 9]))
_UNIVERSE: Final = Universe(["A", "B", "C"], latitude=[0, 0, 1], longitude=[0, 1, 0])  # with a map
_TEXT_NAMES: Final = (".csv", ".tsv", ".txt", ".gz", ".zip")


class NotPrivate:
    """Where a rehearsal's noise comes from; injected, so that nothing takes it for a release."""

    def bytes(self, length: int, /) -> bytes:
        """As many as are asked for."""
        return os.urandom(length)


def made_up(request: Request, folder: Path) -> Request:
    """A request of the same kind, and small, for people in a file of this folder.

    Args:
        request: the run's. Of its source only the name is looked at.
        folder: an empty one, on the disk that the run will use.
    """
    small = _small(request.parameters)
    engine = request.engine
    return Request(
        source=str(_written(folder, request.source, request.reading)),
        universe=DISCOVER if small.universe_is_open else _UNIVERSE,
        reading=_read_alike(request.reading, small),
        parameters=small,
        engine=replace(engine, name=MEMORY, master=None) if engine.name == SPARK else engine,
        about=request.about,
        background=request.background,
        earlier=None if request.earlier is None else _EARLIER,
    )


def _read_alike(reading: Reading | None, small: Parameters) -> Reading:
    """The same rules, for the columns of the made-up rows."""
    is_timed = small.time_grid is not None
    own = Reading(
        unit="unit",
        order=None if is_timed else "when",
        time="when" if is_timed else None,
        time_grid=small.time_grid,
        location="stop",
    )
    if reading is None:
        return own
    return replace(
        own,
        # A column that tells trips apart may be one that has a well-known name.
        trajectory=None if reading.is_split else "trip",
        split=reading.split,
        time_zone=reading.time_zone,
        repeats=reading.repeats,
        max_trajectories_per_unit=reading.max_trajectories_per_unit,
        keep=reading.keep,
        unit_text=reading.unit_text,
        protect=reading.protect,
        time_format=reading.time_format,
        decimal_comma=reading.decimal_comma,
    )


def _small(parameters: Parameters) -> Parameters:
    """Parameters of the same kind for three locations."""
    zones = None if parameters.taxonomy is None else Taxonomy.of(_UNIVERSE, ["X", "Y", "Y"])
    return Parameters.choose(
        epsilon="100",  # nearly no noise, so that every step has something to do
        height=AUTO if parameters.height_is_open else 2,
        universe_size=None if parameters.universe_is_open else len(_UNIVERSE),
        delta="1e-9" if parameters.universe_is_open or parameters.gaussian_delta else None,
        method=parameters.method,
        purpose=parameters.purpose,
        max_trajectories_per_unit=AUTO
        if parameters.trips_are_open
        else parameters.max_trajectories_per_unit,
        time_grid=parameters.time_grid,
        taxonomy=zones,
    )


def _rows(reading: Reading | None) -> Iterator[tuple[str, ...]]:
    """Made-up rows, their times as those of the run are written."""
    form = None if reading is None else reading.written.time_format
    example = "%Y-%m-%dT%H:%M:%S" if form is None else form.example
    yield "unit", "trip", "when", "stop"
    for n in range(30):
        when = _START + timedelta(minutes=n)
        yield f"u{n % 7}", "t", f'"{when.strftime(example)}"', "AABCBC"[n % 6]


def _written(folder: Path, source: Any, reading: Reading | None) -> Path:
    """The made-up rows, in a file of the source's kind as far as its name tells that."""
    text = "".join(",".join(row) + "\n" for row in _rows(reading))
    path = folder / "people.csv"
    path.write_text(text, encoding="utf-8")
    named = file_of(os.fspath(source)) if isinstance(source, str | os.PathLike) else None
    if named is None or named.suffix.lower() in _TEXT_NAMES:
        return path
    import pyarrow.csv
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.csv.read_csv(path), path.with_suffix(".parquet"))
    return path.with_suffix(".parquet")
