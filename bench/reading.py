"""Reading raw trajectories, as a multiple of what DuckDB needs to scan the file and group it.

The target (issue 2): 8 million CSV rows in at most 3 times DuckDB's time, in the same run. Three
files with the same rows: grouped by unit, in the order of time (so that a unit's rows lie far
apart, the usual tap file), and grouped with all text quoted.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import duckdb
import numpy as np
import pyarrow as pa
from pyarrow import csv

from bench.measuring import PeakMemory, row, verdict
from pathveil.raw.reading import read_trajectories
from pathveil.universe.universe import Universe

ROWS, UNITS, STOPS = 8_000_000, 1_200_000, 1_012
THREADS = 2
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def taps(generator: np.random.Generator) -> pa.Table:
    """Random visits in the order of their unit: card, seq, stop."""
    unit = np.sort(generator.integers(0, UNITS, ROWS))
    seq = np.arange(ROWS) - np.searchsorted(unit, unit)
    popularity = 1 / np.arange(1, STOPS + 1)
    stop = generator.choice(STOPS, ROWS, p=popularity / popularity.sum())
    numbers = generator.permutation(UNITS)
    cards = pa.array([f"c{number:07}" for number in numbers])
    stops = pa.array([f"S{code}" for code in range(STOPS)])
    return pa.table({
        "card": cards.take(pa.array(unit)), "seq": seq, "stop": stops.take(pa.array(stop)),
    })  # fmt: skip


def write_files(folder: Path) -> dict[str, Path]:
    """The same rows in three files."""
    generator = np.random.default_rng(1)
    table = taps(generator)
    plain = csv.WriteOptions(quoting_style="none")
    files = {name: folder / f"{name}.csv" for name in ("grouped", "by_time", "quoted")}
    csv.write_csv(table, files["grouped"], plain)
    csv.write_csv(table, files["quoted"])
    by_time = np.argsort(generator.random(ROWS) + table["seq"].to_numpy(), kind="stable")
    csv.write_csv(table.take(pa.array(by_time)), files["by_time"], plain)
    return files


def best_of_each(*jobs: Callable[[], object], times: int = 3) -> list[float]:
    """The shortest wall time of each job in seconds, run in turns so that load hits all alike."""
    best = [float("inf")] * len(jobs)
    for _ in range(times):
        for i, job in enumerate(jobs):
            start = perf_counter()
            job()
            best[i] = min(best[i], perf_counter() - start)
    return best


def compare(
    name: str, path: Path, universe: Universe, unit: str, *, target: float | None, **roles: str
) -> None:
    connection = duckdb.connect()
    connection.execute(f"SET threads = {THREADS}")
    query = f"SELECT count(*) FROM (SELECT {unit}, count(*) FROM '{path}' GROUP BY {unit})"
    ours, theirs = best_of_each(
        lambda: read_trajectories(path, universe, unit=unit, **roles),
        lambda: connection.execute(query).fetchall(),
    )
    row(name, f"{ours:.2f} s", f"DuckDB {theirs:.2f} s", f"ratio {ours / theirs:.2f}")
    if target is not None:
        verdict(f"{name}: reading / scan and group", ours / theirs, target)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:  # private: mode 700, removed at the end
        files = write_files(Path(folder))
        universe = Universe(f"S{code}" for code in range(STOPS))
        print(f"{ROWS:,} CSV rows, {UNITS:,} units, {STOPS:,} stops")
        for name, path in files.items():
            compare(f"CSV {name}", path, universe, "card", target=3, order="seq", location="stop")
        memory = PeakMemory()
        db = read_trajectories(
            files["by_time"], universe, unit="card", order="seq", location="stop"
        )
        arrays = db.codes.nbytes + db.offsets.nbytes
        peak = memory.bytes()
        row("peak memory, CSV by_time", f"{peak / 1e6:.0f} MB", f"arrays {arrays / 1e6:.0f} MB")
    shared = DATA / "stm_like"
    if not shared.exists():
        print("Parquet: skipped, the shared data is not here")
        return
    path = shared / "trajectories.parquet"
    universe = Universe.read(shared / "universe.csv")
    compare("Parquet stm_like", path, universe, "user_id", target=None)


if __name__ == "__main__":
    main()
