"""What an attacker reads off a bundle: every number that it holds or that follows from it.

The attacker sees the files that `pathveil publish --out` wrote, and nothing else.
"""

import csv
import json
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, pairwise
from pathlib import Path

import pyarrow.parquet as pq

LONGEST = 4  # visits of a trajectory that are looked at in detail: the attacked unit's have as many
Features = dict[str, float]
"""What each number is, in words, and its value; what is not listed is 0."""


def features(bundle: Path) -> Features:
    """All numbers of a release; one that was not written has none but the fact."""
    if not (bundle / "privacy-certificate.json").exists():
        return {"no release": 1.0}
    found: Counter[str] = Counter()
    for name, value in (*_trajectories(bundle), *_tree(bundle), *_tables(bundle)):
        found[name] += value
    return dict(found)


def _trajectories(bundle: Path) -> Iterator[tuple[str, float]]:
    table = pq.read_table(bundle / "trajectories.parquet").to_pydict()
    times = table.get("times") or [[]] * len(table["count"])
    yield "distinct trajectories", len(table["count"])
    for path, slots, count in zip(table["locations"], times, table["count"], strict=True):
        visits = list(dict.fromkeys(path))[:LONGEST]
        yield "trajectories", count
        yield "visits", count * len(path)
        yield f"length {min(len(path), LONGEST + 1)}", count
        yield f"first {path[0]}", count
        yield f"last {path[-1]}", count
        yield f"path {'>'.join(path[:LONGEST])}", count
        yield from ((f"visits {place}", count) for place in visits)
        yield from ((f"pair {a}>{b}", count) for a, b in combinations(visits, 2))
        yield from ((f"step {a}>{b}", count) for a, b in pairwise(path))
        yield from ((f"at {place} {slot}", count) for place, slot in zip(path, slots, strict=False))


def _tree(bundle: Path) -> Iterator[tuple[str, float]]:
    table = pq.read_table(bundle / "prefix_tree.parquet").to_pylist()
    paths: list[str] = []
    yield "nodes", len(table)
    for node in table:
        above = paths[node["parent"]] + ">" if node["parent"] >= 0 else ""
        paths.append(f"{above}{node['location']}{node.get('time') or ''}")
        yield f"node {paths[-1]}", 1
        yield f"noisy count {paths[-1]}", node["noisy_count"]
        yield f"estimate {paths[-1]}", node["estimate"]


def _tables(bundle: Path) -> Iterator[tuple[str, float]]:
    """The universe, the errors and the certificate."""
    with (bundle / "locations.csv").open(newline="", encoding="utf-8") as file:
        yield from ((f"named {row['location']}", 1) for row in csv.DictReader(file))
    if (bundle / "error_table.csv").exists():
        yield from _errors(bundle / "error_table.csv")
    if (bundle / "listed_cells.csv").exists():
        yield from _cells(bundle / "listed_cells.csv")
    certificate = json.loads((bundle / "privacy-certificate.json").read_text(encoding="utf-8"))
    for name, value in certificate["implementation"].items():
        if isinstance(value, int) and not isinstance(value, bool):
            yield f"certificate: {name}", value
    for reason in (certificate["accounting"].get("plan") or {"reasons": []})["reasons"]:
        value = reason["value"].replace(",", "").removesuffix("%")
        yield f"planned for: {reason['figure']}", float(value)
    for name, about in certificate["files"].items():
        yield f"bytes of {name}", about["bytes"]


def _errors(table: Path) -> Iterator[tuple[str, float]]:
    """How many rows each part of the error table has, and its first and last interval."""
    parts: dict[str, list[dict[str, str]]] = {}
    with table.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            parts.setdefault(row["locations"], []).append(row)
    for part, rows in parts.items():
        yield f"rows of errors of {part}", len(rows)
        for name, row in (("first", rows[0]), ("last", rows[-1])):
            yield f"{name} error of {part}, low", float(row["low_50"])
            yield f"{name} error of {part}, high", float(row["high_50"])


def _cells(table: Path) -> Iterator[tuple[str, float]]:
    """Which cells have an interval of their own, and which one."""
    with table.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            cell = f"{row['kind']} {row['first']}>{row['second']}"
            yield f"cell {cell}, low", float(row["low_50"])
            yield f"cell {cell}, high", float(row["high_50"])


def claim(bundle: Path, measurement: str | None) -> tuple[Fraction, Fraction]:
    """The ε and δ of the certificate: of the release, or of one of its measurements."""
    certificate = json.loads((bundle / "privacy-certificate.json").read_text(encoding="utf-8"))
    if measurement is None:
        parameters = certificate["privacy_loss"]["privacy_parameters"]
        return Fraction(parameters["epsilon"]), Fraction(parameters["delta"])
    budget = {line["measurement"]: line for line in certificate["accounting"]["budget"]}
    return Fraction(budget[measurement]["epsilon"]), Fraction(0)
