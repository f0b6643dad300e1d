"""The tables of a bundle, written and read back: trajectories, tree, locations, times, errors.

Rows stand in a canonical order (trajectories by location codes, shorter ones first; nodes by level,
parent and location), and the files carry no times, no sizes of the input and no hashes of it.
"""

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pathveil.compiled import njit
from pathveil.core.error_table import KINDS, LEVELS, ErrorTable
from pathveil.core.listed_cells import ListedCells
from pathveil.core.noisy_tree import EstimatedTree
from pathveil.core.parameters import Parameters
from pathveil.core.paths import Paths
from pathveil.core.texts import escape, unescape
from pathveil.errors import ReleaseError, UniverseError
from pathveil.plain_files import read_plain
from pathveil.promise.accounting import TimeGridRecord
from pathveil.release.parquet_tables import (
    ROWS_AT_ONCE,
    is_stamped,
    positions,
    read_parquet,
    write_parquet,
)
from pathveil.release.zone_checks import thresholds, visits, zone_problem
from pathveil.times.time_grid import FILE, TimeGrid
from pathveil.universe.taxonomy import Taxonomy
from pathveil.universe.universe import LISTED, Universe

TRAJECTORIES, TRAJECTORIES_CSV = "trajectories.parquet", "trajectories.csv"
TREE, LOCATIONS, TIMES = "prefix_tree.parquet", "locations.csv", "times.csv"
ZONE = "zone"
MOST_TRAJECTORIES = 10**12
LARGEST_SUM = 2.0**53
ERROR_TABLE = "error_table.csv"
LISTED_CELLS = "listed_cells.csv"


def in_canonical_order(paths: Paths) -> bool:
    """Whether each path is not empty and comes strictly before the next."""
    return bool(np.all(paths.lengths > 0)) and bool(_rises(paths.offsets, paths.codes))


@njit(cache=True)
def _rises(offsets: NDArray[np.int64], codes: NDArray[np.int32]) -> bool:
    for i in range(len(offsets) - 2):
        a, a_end, b, b_end = offsets[i], offsets[i + 1], offsets[i + 1], offsets[i + 2]
        while a < a_end and b < b_end and codes[a] == codes[b]:
            a += 1
            b += 1
        if b == b_end or (a < a_end and codes[a] > codes[b]):
            return False
    return True


def write_trajectories(
    path: Path, paths: Paths, universe: Universe, grid: TimeGrid | None, *, is_private: bool
) -> None:
    """One row per distinct trajectory: its locations, their times, how often it was released.

    Some rows at a time: their texts take far more memory than their codes.
    """
    if paths.offsets[-1] >= 2**31:
        raise ReleaseError("The release has more than 2^31 visits; lower the height.")
    parts = (
        _trajectories(_part(paths, start, start + ROWS_AT_ONCE), universe, grid)
        for start in range(0, max(len(paths), 1), ROWS_AT_ONCE)
    )
    schema = _trajectories(_part(paths, 0, 0), universe, grid).schema
    write_parquet(path, schema, parts, is_private=is_private)


def same_trajectories(path: Path, paths: Paths, universe: Universe, parameters: Parameters) -> bool:
    """Whether a file of a bundle holds exactly these trajectories, in this order.

    With zones the order is that of the tree, which is not that of the codes.
    """
    found = _listed(path, universe, parameters)
    return (
        np.array_equal(found.offsets, paths.offsets)
        and np.array_equal(found.codes, paths.codes)
        and np.array_equal(found.weights, paths.weights)
    )


def read_trajectories(path: Path, universe: Universe, parameters: Parameters) -> Paths:
    """The distinct trajectories of a bundle, checked to be in canonical order."""
    paths = _listed(path, universe, parameters)
    pa.default_memory_pool().release_unused()  # their texts: as much as they take themselves
    if not in_canonical_order(paths):
        raise ReleaseError(f"{path} does not hold trajectories that pathveil wrote.")
    return paths


def _listed(path: Path, universe: Universe, parameters: Parameters) -> Paths:
    """The trajectories of a bundle as they are listed; every count is one that there can be."""
    grid = parameters.time_grid
    nothing = Paths(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.int64))
    table = read_parquet(path, _trajectories(nothing, universe, grid).schema)
    lists = table["locations"].chunks
    lengths = _lengths(lists)
    times = None if grid is None else table["times"].chunks
    if times is not None and not np.array_equal(_lengths(times), lengths):
        raise ReleaseError(f"{path} does not have one time for each location.")
    slots = None if times is None else [one.flatten() for one in times]
    paths = Paths(
        np.concatenate((np.zeros(1, np.int64), lengths.cumsum())),
        _codes([one.flatten() for one in lists], slots, universe, grid),
        table["count"].to_numpy(),
    )
    if np.any(paths.codes < 0) or np.any(paths.weights < 1):
        raise ReleaseError(f"{path} does not hold trajectories that pathveil wrote.")
    if absurd(paths.weights, parameters):
        raise ReleaseError(f"{path} holds counts that no release can have.")
    return paths


def trajectories_csv(paths: Paths, universe: Universe, grid: TimeGrid | None, longest: int) -> str:
    """The same as CSV: the count, then one column (two with times) per position, else empty."""
    cells = [escape(label) for label in universe.labels]
    names = ("location",) if grid is None else ("location", "time")

    def fields_of(code: int) -> tuple[str, ...]:
        slot, location = divmod(code, len(cells))
        return (cells[location],) if grid is None else (cells[location], grid.labels[slot])

    codes, offsets = paths.codes.tolist(), paths.offsets.tolist()
    header = ["count", *(f"{name}_{i}" for i in range(1, longest + 1) for name in names)]
    rows = (
        [
            weight,
            *(field for code in codes[a:b] for field in fields_of(code)),
            *[""] * (len(names) * (longest - (b - a))),
        ]
        for a, b, weight in zip(offsets[:-1], offsets[1:], paths.weights.tolist(), strict=True)
    )
    return _csv(header, rows)


def write_tree(path: Path, tree: EstimatedTree, universe: Universe) -> None:
    """One row per node that passed the threshold."""
    grid = tree.parameters.time_grid
    location, time = _label_columns(tree.location, universe, grid)
    table = pa.table(
        {
            "parent": pa.array(tree.parent),
            "level": pa.array(tree.level),
            "location": location,
            **({} if time is None else {"time": time}),
            "noisy_count": pa.array(tree.noisy_count),
            "estimate": pa.array(tree.estimate),
        },
        schema=_tree_schema(grid),
    )
    write_parquet(path, table.schema, [table], is_private=tree.is_private)


def locations_csv(universe: Universe, taxonomy: Taxonomy | None = None) -> str:
    """The public universe, in order; with a taxonomy also the label of each location's zone.

    The zones themselves, where they are locations of a tree, come last and have none.
    """
    header, columns = ["location"], [[escape(label) for label in universe.labels]]
    if universe.names is not None:
        header.append("name")
        columns.append([escape(name) for name in universe.names])
    if universe.latitude is not None and universe.longitude is not None:
        header += ["latitude", "longitude"]
        columns += [
            ["" if np.isnan(degrees) else repr(float(degrees)) for degrees in coordinate]
            for coordinate in (universe.latitude, universe.longitude)
        ]
    if taxonomy is not None:
        header.append(ZONE)
        zones = [escape(label) for label in taxonomy.labels]
        of_zones = [""] * (len(universe) - taxonomy.locations)
        columns.append([zones[zone] for zone in taxonomy.zone_of.tolist()] + of_zones)
    return _csv(header, zip(*columns, strict=True))


def read_locations(path: Path, origin: str = LISTED) -> Universe:
    """The universe of a bundle, of which the certificate says how it was made."""
    try:
        header, *rows = csv.reader(io.StringIO(read_plain(path).decode()), strict=True)
        columns = dict(zip(header, zip(*rows, strict=True), strict=True))
        degrees = {
            c: np.array([field or "nan" for field in columns[c]], float)
            for c in header
            if c.endswith("itude")
        }
        return Universe(
            [unescape(field) for field in columns["location"]],
            names=[unescape(field) for field in columns["name"]] if "name" in columns else None,
            latitude=degrees.get("latitude"),
            longitude=degrees.get("longitude"),
            origin=origin,
        )
    except (ValueError, KeyError, csv.Error, UniverseError):
        raise ReleaseError(f"{path} is not a list of locations that pathveil wrote.") from None


def read_tree(
    path: Path, universe: Universe, parameters: Parameters, *, is_private: bool
) -> EstimatedTree:
    """The prefix tree of a bundle, checked to be one."""
    grid = parameters.time_grid
    table = read_parquet(path, _tree_schema(grid))
    if is_private == is_stamped(table):
        raise ReleaseError(f"{path} and the certificate disagree on whether it is private.")
    slots = None if grid is None else table["time"].chunks
    codes = _codes(table["location"].chunks, slots, universe, grid)
    if np.any(codes < 0):
        raise ReleaseError(
            f"{path} names a location or a time that the bundle's lists do not have."
        )
    tree = EstimatedTree(
        parent=table["parent"].to_numpy(),
        location=codes,
        level=table["level"].to_numpy(),
        noisy_count=table["noisy_count"].to_numpy(),
        estimate=table["estimate"].to_numpy(),
        parameters=parameters,
        is_private=is_private,
    )
    problem = tree_problem(tree)
    if problem:
        raise ReleaseError(f"{path} is not a prefix tree: {problem}.")
    return tree


def tree_problem(tree: EstimatedTree) -> str | None:
    """What is wrong with a tree that claims to be released, or None."""
    parent, level = tree.parent, tree.level
    index = np.arange(len(tree))
    inner = parent >= 0
    if absurd(tree.noisy_count, tree.parameters, summed=False) or absurd(
        tree.estimate, tree.parameters
    ):
        return "a count is larger than any release can have"
    if np.any(parent < -1) or np.any(parent >= index):
        return "a parent does not come before its child"
    slot = tree.location // tree.parameters.universe_size if tree.parameters.time_grid else parent
    order = np.lexsort((tree.location, parent, level))
    repeated = (np.diff(parent) == 0) & (np.diff(tree.location) == 0)
    problems = {
        "a level is not its parent's plus one": np.any(level[~inner] != 1)
        or np.any(level[inner] != level[parent[inner]] + 1),
        "a time is before that of its parent": np.any(slot[inner] < slot[parent[inner]]),
        "it is higher than the certificate says": np.any(visits(tree) > tree.parameters.height),
        "the nodes are not in canonical order": np.any(order != index) or np.any(repeated),
        "a noisy count is below the threshold": np.any(tree.noisy_count < thresholds(tree)),
        "a location is not below its zone": zone_problem(tree),
        "an estimate is negative or below the sum of its children": np.any(tree.estimate < 0)
        or np.any(tree.terminal() < 0),
    }
    return next((problem for problem, found in problems.items() if found), None)


def absurd(counts: NDArray[np.int64], parameters: Parameters, *, summed: bool = True) -> bool:
    """Whether counts are too large to be noisy counts of people, or their sum leaves 64 bits.

    Each is at most 10¹² trajectories (a hundred for everybody alive) and a thousand times the
    scale of the noise. The sum is bounded so that no part of it overflows, times lengths either.
    """
    sizes = np.abs(counts.astype(np.float64))  # of the least int64 there is no absolute value
    most = MOST_TRAJECTORIES + 1000 / float(parameters.level_epsilon)
    return bool(sizes.max(initial=0) > most or (summed and sizes.sum() > LARGEST_SUM))


def times_csv(grid: TimeGrid) -> str:
    """The public time grid, in order: each slot by its start, and its end."""
    return _csv(["time", "end"], zip(grid.labels, grid.ends_as_texts(), strict=True))


def read_times(path: Path, record: TimeGridRecord) -> TimeGrid:
    """The time grid of a bundle, checked to be the one that the certificate names."""
    try:
        header, *rows = csv.reader(io.StringIO(read_plain(path).decode()), strict=True)
        starts, ends = zip(*rows, strict=True)
        grid = TimeGrid.of(starts, ends, time_zone=record.time_zone, name=record.name)
        is_right = header == ["time", "end"] and record == TimeGridRecord.of(grid)
        if record.name != FILE:
            is_right &= grid == TimeGrid.parse(record.name, record.time_zone)
    except (ValueError, csv.Error):
        is_right = False
    if not is_right:
        raise ReleaseError(f"{path} is not the time grid that the certificate names.")
    return grid


def _tree_schema(grid: TimeGrid | None) -> Any:
    return pa.schema(
        {
            "parent": pa.int64(),
            "level": pa.int32(),
            "location": pa.string(),
            **({} if grid is None else {"time": pa.string()}),
            "noisy_count": pa.int64(),
            "estimate": pa.int64(),
        }
    )


def _part(paths: Paths, start: int, stop: int) -> Paths:
    """The paths from ``start`` to before ``stop``, or the last one."""
    offsets = paths.offsets[start : stop + 1]
    return Paths(
        offsets - offsets[0], paths.codes[offsets[0] : offsets[-1]], paths.weights[start:stop]
    )


def _trajectories(paths: Paths, universe: Universe, grid: TimeGrid | None) -> Any:
    offsets = pa.array(paths.offsets, pa.int32())
    locations, times = _label_columns(paths.codes, universe, grid)
    columns = {"locations": pa.ListArray.from_arrays(offsets, locations)}
    if times is not None:
        columns["times"] = pa.ListArray.from_arrays(offsets, times)
    return pa.table({**columns, "count": pa.array(paths.weights)})


def _label_columns(
    codes: NDArray[np.int32], universe: Universe, grid: TimeGrid | None
) -> tuple[Any, Any]:
    """The labels of the locations, and of the slots (None without a grid)."""
    labels = pa.array(universe.labels, pa.string())
    if grid is None:
        return labels.take(pa.array(codes)), None
    slot, location = np.divmod(codes, np.int32(len(universe)))
    times = pa.array(grid.labels, pa.string()).take(pa.array(slot))
    return labels.take(pa.array(location)), times


def _lengths(lists: list[Any]) -> NDArray[np.int64]:
    parts = [pc.list_value_length(one).to_numpy() for one in lists]
    return np.concatenate([np.empty(0, np.int64), *parts])


def _codes(
    locations: list[Any], times: list[Any] | None, universe: Universe, grid: TimeGrid | None
) -> NDArray[np.int32]:
    """The codes of labels; negative where a location or a slot is not known."""
    location = positions(locations, universe.labels)
    if grid is None or times is None:
        return location
    slot = positions(times, grid.labels).astype(np.int64)
    known = (location >= 0) & (slot >= 0)
    return np.where(known, slot * len(universe) + location, -1).astype(np.int32)


def _csv(header: list[str], rows: Iterable[Iterable[object]]) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


# The error table in a bundle: one row per kind of question, number of locations and size of answer.


_BOUNDS = tuple(f"{bound}_{level}" for level in LEVELS for bound in ("low", "high"))
COLUMNS = ("kind", "locations", "estimate", "best", *_BOUNDS)
COLUMNS_BEFORE = ("locations", "estimate", *_BOUNDS)  # before there were kinds
CELL_COLUMNS = ("kind", "first", "second", "best", *_BOUNDS)


def error_table_csv(table: ErrorTable) -> str:
    """The table as text: a word and whole numbers."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    cells = (
        table.locations[:, None],
        table.estimate[:, None],
        table.best[:, None],
        table.bounds.reshape(len(table.estimate), -1),
    )
    writer.writerows(
        [KINDS[kind], *row]
        for kind, row in zip(table.kind.tolist(), np.hstack(cells).tolist(), strict=True)
    )
    return text.getvalue()


def read_error_table(path: Path) -> ErrorTable:
    """The error table of a bundle, checked to be one.

    Raises:
        ReleaseError: if it is not.
    """
    try:
        header, *rows = csv.reader(io.StringIO(read_plain(path).decode()), strict=True)
        kinds = [KINDS.index(row[0]) for row in rows] if header[:1] == ["kind"] else []
        cells = np.array(
            [[int(field) for field in row[bool(kinds) :]] for row in rows], dtype=np.int64
        )
    except (OSError, ValueError, OverflowError, IndexError, csv.Error):
        raise ReleaseError(f"{path} is not an error table that pathveil wrote.") from None
    columns = COLUMNS if kinds else COLUMNS_BEFORE
    if tuple(header) != columns or cells.shape != (len(rows), len(columns) - bool(kinds)):
        raise ReleaseError(f"{path} does not have the columns of an error table.")
    bounds = cells[:, -len(_BOUNDS) :].reshape(-1, len(LEVELS), 2)
    best = cells[:, 2].copy() if kinds else cells[:, 1].copy()
    table = ErrorTable(
        cells[:, 0].copy(), cells[:, 1].copy(), bounds, np.array(kinds, dtype=np.int64), best
    )
    problem = table.problem()
    if problem:
        raise ReleaseError(f"{path} is not an error table: {problem}.")
    return table


# Beside it: the cells that have an interval of their own.


def listed_cells_csv(listed: ListedCells, universe: Universe) -> str:
    """The cells as text: a word, two labels and whole numbers."""
    labels = [escape(label) for label in universe.labels]
    numbers = np.column_stack((listed.best, listed.bounds.reshape(-1, len(_BOUNDS)))).tolist()
    ends = zip(listed.kind.tolist(), listed.first.tolist(), listed.second.tolist(), strict=True)
    rows = (
        [KINDS[kind], labels[first], labels[second], *row]
        for (kind, first, second), row in zip(ends, numbers, strict=True)
    )
    return _csv(list(CELL_COLUMNS), rows)


def read_listed_cells(path: Path, universe: Universe) -> ListedCells:
    """The listed cells of a bundle, checked to be some.

    Raises:
        ReleaseError: if they are not.
    """
    codes = {label: code for code, label in enumerate(universe.labels)}
    try:
        header, *rows = csv.reader(io.StringIO(read_plain(path).decode()), strict=True)
        kinds = np.array([KINDS.index(row[0]) for row in rows], dtype=np.int64)
        ends = np.array([[codes[unescape(field)] for field in row[1:3]] for row in rows], np.int64)
        numbers = np.array([[int(field) for field in row[3:]] for row in rows], dtype=np.int64)
    except (OSError, ValueError, OverflowError, IndexError, KeyError, csv.Error):
        raise ReleaseError(f"{path} does not list cells that pathveil wrote.") from None
    if tuple(header) != CELL_COLUMNS or (
        rows and numbers.shape != (len(rows), len(CELL_COLUMNS) - 3)
    ):
        raise ReleaseError(f"{path} does not have the columns of listed cells.")
    if not rows:
        return ListedCells.nothing(len(LEVELS))
    bounds = numbers[:, 1:].reshape(-1, len(LEVELS), 2)
    first, second = ends.T.copy()
    listed = ListedCells(kinds, first, second, numbers[:, 0].copy(), bounds)
    problem = listed.problem(len(KINDS), len(universe))
    if problem:
        raise ReleaseError(f"{path} does not list cells that pathveil wrote: {problem}.")
    return listed
