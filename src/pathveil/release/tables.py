"""The tables of a bundle: trajectories, prefix tree and locations, written and read back.

Rows stand in a canonical order (trajectories by location codes, nodes by level, parent and
location), and the files carry no times, no sizes of the input and no hashes of it.
"""

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pathveil.errors import ReleaseError, UniverseError
from pathveil.model.certificate import NOT_PRIVATE
from pathveil.model.noisy_tree import EstimatedTree
from pathveil.model.parameters import Parameters
from pathveil.model.paths import Paths
from pathveil.model.universe import Universe
from pathveil.release.csv_cells import escape, unescape

TRAJECTORIES, TRAJECTORIES_CSV = "trajectories.parquet", "trajectories.csv"
TREE, LOCATIONS = "prefix_tree.parquet", "locations.csv"


def write_trajectories(path: Path, paths: Paths, universe: Universe, *, is_private: bool) -> None:
    """One row per distinct trajectory: its list of locations and how often it was released."""
    locations = pa.ListArray.from_arrays(
        pa.array(paths.offsets, pa.int32()) if paths.offsets[-1] < 2**31 else _too_long(),
        _labels(universe).take(pa.array(paths.codes)),
    )
    table = pa.table({"locations": locations, "count": pa.array(paths.weights)})
    _write_parquet(path, table, is_private=is_private)


def write_trajectories_csv(path: Path, paths: Paths, universe: Universe, height: int) -> None:
    """The same as CSV: the count, then one column per position, empty after the end."""
    cells = [escape(label) for label in universe.labels]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["count", *(f"location_{i}" for i in range(1, height + 1))])
        for i, weight in enumerate(paths.weights):
            codes = paths.codes[paths.offsets[i] : paths.offsets[i + 1]]
            writer.writerow(
                [weight, *(cells[code] for code in codes), *[""] * (height - len(codes))]
            )


def write_tree(path: Path, tree: EstimatedTree, universe: Universe) -> None:
    """One row per node that passed the threshold."""
    table = pa.table(
        {
            "parent": pa.array(tree.parent),
            "level": pa.array(tree.level),
            "location": _labels(universe).take(pa.array(tree.location)),
            "noisy_count": pa.array(tree.noisy_count),
            "estimate": pa.array(tree.estimate),
        }
    )
    _write_parquet(path, table, is_private=tree.is_private)


def write_locations(path: Path, universe: Universe) -> None:
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
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(zip(*columns, strict=True))


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
    table = _read_parquet(path, ["parent", "level", "location", "noisy_count", "estimate"])
    codes = pa.compute.index_in(table["location"], value_set=_labels(universe))
    if codes.null_count:
        raise ReleaseError(f"{path} names a location that the bundle's universe does not have.")
    tree = EstimatedTree(
        parent=_numbers(table, "parent", np.int64),
        location=codes.to_numpy().astype(np.int32),
        level=_numbers(table, "level", np.int32),
        noisy_count=_numbers(table, "noisy_count", np.int64),
        estimate=_numbers(table, "estimate", np.int64),
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


def read_trajectories_table(path: Path) -> list[tuple[tuple[str, ...], int]]:
    """The distinct trajectories of a bundle with their counts, for `verify`."""
    table = _read_parquet(path, ["locations", "count"])
    return [
        (tuple(row or ()), count)
        for row, count in zip(
            table["locations"].to_pylist(), table["count"].to_pylist(), strict=True
        )
    ]


def _labels(universe: Universe) -> Any:
    return pa.array(universe.labels, pa.string())


def _too_long() -> Any:
    raise ReleaseError("The release has more than 2^31 visits; lower the height.")


def _write_parquet(path: Path, table: Any, *, is_private: bool) -> None:
    if not is_private:
        table = table.replace_schema_metadata({"pathveil": NOT_PRIVATE})
    pq.write_table(table, path, compression="zstd")


def _read_parquet(path: Path, columns: list[str]) -> Any:
    try:
        table = pq.ParquetFile(path).read()
        return table.select(columns)
    except (pa.ArrowException, KeyError, OSError):
        raise ReleaseError(f"{path} is not a readable Parquet file of a release.") from None


def _numbers(table: Any, column: str, dtype: type[np.generic]) -> NDArray[Any]:
    values = table[column]
    if values.null_count or not pa.types.is_integer(values.type):
        raise ReleaseError(f"The column {column} must hold whole numbers.")
    return np.ascontiguousarray(values.to_numpy(), dtype=dtype)
