"""What very many tiny files take: a folder of Hive's partitions, against one file of their rows.

``python -m bench.small_files --files 100000`` writes so many Parquet files of 8 rows (400 lines a
day), and all of their rows as one file, and asks `plan` about the folder and publishes both in
memory and with DuckDB, each by the command line. Memory is the most that a command and its
children had resident. ``--data DIR`` is where the files stay, and are taken from again.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench.large_release import run

LINES, STOPS, CARDS, ROWS, DAY = 400, 300, 60_000, 8, 86_400


def write(files: int, folder: Path) -> None:
    """The folder ``many``, the file ``one.parquet`` and the universe ``stops.csv``."""
    draw, labels = np.random.default_rng(1), np.array([f"stop-{i:04}" for i in range(STOPS)])
    tables = []
    for number in range(files):
        day, line = divmod(number, LINES)
        place = folder / "many" / f"day={day:03}" / f"line={line:03}"
        place.mkdir(parents=True)
        cards = [f"c{card:05}" for card in draw.integers(0, CARDS, ROWS)]
        at = draw.integers(0, DAY, ROWS) + day * DAY
        stops = labels[draw.integers(0, STOPS, ROWS)]
        tables.append(pa.table({"card": cards, "at": at, "stop": stops}))
        pq.write_table(tables[-1], place / "part-0.parquet", compression="none")
    pq.write_table(pa.concat_tables(tables), folder / "one.parquet")
    (folder / "stops.csv").write_text("\n".join(["location", *labels]) + "\n")


def ask(folder: Path, scratch: Path) -> None:
    """Plan, and publish."""
    asked = ("--universe", folder / "stops.csv", "--epsilon", "1")
    roles = ("--unit-column", "card", "--order-column", "at", "--location-column", "stop")
    run("plan --input, the folder", "plan", "--input", folder / "many", *asked)
    for engine in ("memory", "duckdb"):
        for name, source in {"the folder": "many", "one file": "one.parquet"}.items():
            out = scratch / f"{engine}-{source}"
            choice = ("--engine", engine, "--memory", "2GB", "--out", out)
            run(f"publish, {engine}, {name}", "publish", folder / source, *asked, *roles, *choice)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--data", type=Path, help="where the files are, or stay")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.data or Path(scratch)
        if not (folder / "stops.csv").exists():
            write(arguments.files, folder)
        ask(folder, Path(scratch))


if __name__ == "__main__":
    main()
