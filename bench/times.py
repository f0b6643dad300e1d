"""Releases with times: how far their slots are from the data's (docs/timestamps.md).

    python -m bench.times mibici cabspotting --grid 1h

Total variation distances between shares in the raw data and in the release (0 is the same, 1 has
nothing in common), ε = 1, h = 12, a trajectory as the unit. INTERNAL: it looks at raw data.
"""

import argparse

import numpy as np

from bench.accuracy import HEIGHT
from pathveil import Universe, publish, read_trajectories
from pathveil.statistics.pauses import pauses
from pathveil.times.time_grid import TimeGrid
from pathveil.trials.reproduction.datasets import find_data


def distance(raw: np.ndarray, released: np.ndarray) -> float:
    return 0.5 * float(np.abs(raw / raw.sum() - released / max(released.sum(), 1)).sum())


class Times:
    """Histograms of one side."""

    def __init__(self, offsets, codes, weights, size: int, count: int) -> None:
        slots = (codes // size).astype(np.int32)
        each = np.repeat(weights, np.diff(offsets))
        rows = np.repeat(np.arange(len(weights)), weights)
        lengths = np.diff(offsets)[rows]
        single = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths)))
        inside = np.arange(single[-1]) - np.repeat(single[:-1], lengths)
        expanded = slots[np.repeat(offsets[:-1][rows], lengths) + inside]
        self.slots = np.bincount(slots, each, count)
        self.first = np.bincount(slots[offsets[:-1]], weights, count)
        self.pauses = np.bincount(pauses(single, expanded, 10**9), minlength=count)
        self.pairs = np.bincount(codes, each, size * count)
        self.length = each.sum() / max(weights.sum(), 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--grid", default="1h")
    options = parser.parse_args()
    print(
        "| data | grid | method | first slots | pauses | slots | (location, slot) | mean length |"
    )
    print("|---|---|---|---|---|---|---|---|")
    grid = TimeGrid.parse(options.grid)
    for name in options.datasets:
        folder = find_data(name, None)
        universe = Universe.read(folder / "universe.csv")
        database = read_trajectories(
            folder / "trajectories.parquet",
            universe,
            unit="trajectory_id",
            location="location",
            time="time",
            time_grid=grid,
        )
        size, count = len(universe), len(grid)
        ones = np.ones(len(database), dtype=np.int64)
        raw = Times(database.offsets, database.codes, ones, size, count)
        print(f"| {name} | {options.grid} | raw | 0 | 0 | 0 | 0 | {raw.length:.2f} |", flush=True)
        for method in ("full", "calibrated"):
            paths = publish(database, epsilon="1", height=HEIGHT, method=method).timed_paths()
            it = Times(paths.offsets, paths.codes, paths.weights, size, count)
            cells = [
                f"{distance(getattr(raw, what), getattr(it, what)):.3f}"
                for what in ("first", "pauses", "slots", "pairs")
            ]
            row = " | ".join(cells)
            print(f"| {name} | {options.grid} | {method} | {row} | {it.length:.2f} |", flush=True)


if __name__ == "__main__":
    main()
