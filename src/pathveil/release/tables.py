"""The tables of a bundle: trajectories, prefix tree and locations, written and read back.

Rows stand in a canonical order (trajectories by location codes, nodes by level, parent and
location), and the files carry no times, no sizes of the input and no hashes of it.
"""

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pathveil.errors import ReleaseError, UniverseError
from pathveil.model.certificate import NOT_PRIVATE
from pathveil.model.noisy_tree import EstimatedTree
from pathveil.model.parameters import Parameters
from pathveil.model.paths import Paths
from pathveil.model.universe import Universe
from pathveil.release.canonical_order import in_canonical_order
from pathveil.release.csv_cells import escape, unescape

TRAJECTORIES, TRAJECTORIES_CSV = "trajectories.parquet", "trajectories.csv"
TREE, LOCATIONS = "prefix_tree.parquet", "locations.csv"

_TRAJECTORIES_SCHEMA = pa.schema({"locations": pa.list_(pa.string()), "count": pa.int64()})
_TREE_SCHEMA = pa.schema(
    {
        "parent": pa.int64(),
        "level": pa.int32(),
        "location": pa.string(),
        "noisy_count": pa.int64(),
        "estimate": pa.int64(),
    }
)


def write_trajectories(path: Path, paths: Paths, universe: Universe, *, is_private: bool) -> None:
    """One row per distinct trajectory: its list of locations and how often it was released."""
    _write_parquet(path, _trajectories(paths, universe), is_private=is_private)


def same_trajectories(path: Path, paths: Paths, universe: Universe) -> bool:
    """Whether a file of a bundle holds exactly these trajectories, in this order."""
    found = _read_parquet(path, _TRAJECTORIES_SCHEMA)
    return bool(found.equals(_trajectories(paths, universe)))


def read_trajectories(path: Path, universe: Universe) -> Paths:
    """The distinct trajectories of a bundle, checked to be in canonical order."""
    table = _read_parquet(path, _TRAJECTORIES_SCHEMA)
    lists = table["locations"].combine_chunks()
    codes = pc.index_in(lists.flatten(), value_set=_labels(universe))
    paths = Paths(
        np.concatenate((np.zeros(1, np.int64), pc.list_value_length(lists).to_numpy().cumsum())),
        codes.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32),
        table["count"].to_numpy(),
    )
    if np.any(paths.codes < 0) or np.any(paths.weights < 1) or not in_canonical_order(paths):
        raise ReleaseError(f"{path} does not hold trajectories that pathveil wrote.")
    return paths


def trajectories_csv(paths: Paths, universe: Universe, longest: int) -> str:
    """The same as CSV: the count, then one column per position, empty after the end."""
    cells = [escape(label) for label in universe.labels]
    codes, offsets = paths.codes.tolist(), paths.offsets.tolist()
    header = ["count", *(f"location_{i}" for i in range(1, longest + 1))]
    rows = (
        [weight, *(cells[code] for code in codes[a:b]), *[""] * (longest - (b - a))]
        for a, b, weight in zip(offsets[:-1], offsets[1:], paths.weights.tolist(), strict=True)
    )
    return _csv(header, rows)


def write_tree(path: Path, tree: EstimatedTree, universe: Universe) -> None:
    """One row per node that passed the threshold."""
    table = pa.table(
        {
            "parent": pa.array(tree.parent),
            "level": pa.array(tree.level),
            "location": _labels(universe).take(pa.array(tree.location)),
            "noisy_count": pa.array(tree.noisy_count),
            "estimate": pa.array(tree.estimate),
        },
        schema=_TREE_SCHEMA,
    )
    _write_parquet(path, table, is_private=tree.is_private)


def locations_csv(universe: Universe) -> str:
    """The public universe, in order."""
    header, columns = ["location"], [[escape(label) for label in universe.labels]]
    if universe.names is not None:
        header.append("name")
        columns.append([escape(name) for name in universe.names])
    if universe.latitude is not None and universe.longitude is not None:
        header += ["latitude", "longitude"]
        columns += [
            [repr(float(degrees)) for degrees in coordinate]
            for coordinate in (universe.latitude, universe.longitude)
        ]
    return _csv(header, zip(*columns, strict=True))


def read_locations(path: Path) -> Universe:
    """The universe of a bundle."""
    try:
        text = path.read_text(encoding="utf-8")
        header, *rows = csv.reader(io.StringIO(text), strict=True)
        columns = dict(zip(header, zip(*rows, strict=True), strict=True))
        degrees = {c: np.array(columns[c], float) for c in header if c.endswith("itude")}
        return Universe(
            [unescape(cell) for cell in columns["location"]],
            names=[unescape(cell) for cell in columns["name"]] if "name" in columns else None,
            latitude=degrees.get("latitude"),
            longitude=degrees.get("longitude"),
        )
    except (ValueError, KeyError, csv.Error, UniverseError):
        raise ReleaseError(f"{path} is not a list of locations that pathveil wrote.") from None


def read_tree(
    path: Path, universe: Universe, parameters: Parameters, *, is_private: bool
) -> EstimatedTree:
    """The prefix tree of a bundle, checked to be one."""
    table = _read_parquet(path, _TREE_SCHEMA)
    if is_private == _is_stamped(table):
        raise ReleaseError(f"{path} and the certificate disagree on whether it is private.")
    codes = pc.index_in(table["location"], value_set=_labels(universe))
    if codes.null_count:
        raise ReleaseError(f"{path} names a location that the bundle's universe does not have.")
    tree = EstimatedTree(
        parent=table["parent"].to_numpy(),
        location=codes.to_numpy().astype(np.int32),
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
    if np.any(parent < -1) or np.any(parent >= index):
        return "a parent does not come before its child"
    order = np.lexsort((tree.location, parent, level))
    repeated = (np.diff(parent) == 0) & (np.diff(tree.location) == 0)
    problems = {
        "a level is not its parent's plus one": np.any(level[~inner] != 1)
        or np.any(level[inner] != level[parent[inner]] + 1),
        "it is higher than the certificate says": np.any(level > tree.parameters.height),
        "the nodes are not in canonical order": np.any(order != index) or np.any(repeated),
        "a noisy count is below the threshold": np.any(
            tree.noisy_count < tree.parameters.threshold
        ),
        "an estimate is negative or below the sum of its children": np.any(tree.estimate < 0)
        or np.any(tree.terminal() < 0),
    }
    return next((problem for problem, found in problems.items() if found), None)


def _trajectories(paths: Paths, universe: Universe) -> Any:
    if paths.offsets[-1] >= 2**31:
        raise ReleaseError("The release has more than 2^31 visits; lower the height.")
    locations = pa.ListArray.from_arrays(
        pa.array(paths.offsets, pa.int32()), _labels(universe).take(pa.array(paths.codes))
    )
    return pa.table({"locations": locations, "count": pa.array(paths.weights)})


def _labels(universe: Universe) -> Any:
    return pa.array(universe.labels, pa.string())


def _csv(header: list[str], rows: Iterable[Iterable[object]]) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def _write_parquet(path: Path, table: Any, *, is_private: bool) -> None:
    if not is_private:
        table = table.replace_schema_metadata({"pathveil": NOT_PRIVATE})
    pq.write_table(table, path, compression="zstd")


def _is_stamped(table: Any) -> bool:
    return b"pathveil" in (table.schema.metadata or {})


def _read_parquet(path: Path, schema: Any) -> Any:
    """A table of a bundle, with exactly the columns that we write and no missing values."""
    try:
        with pq.ParquetFile(path) as file:
            table = file.read()
    except (pa.ArrowException, OSError):
        raise ReleaseError(f"{path} is not a readable Parquet file.") from None
    if not table.schema.equals(schema) or any(column.null_count for column in table.columns):
        raise ReleaseError(f"{path} does not have the columns of a release.")
    return table
