"""A universe of a million H3 cells: peak memory and time of a whole publish.

    python -m bench.large

Made-up people walk from popular cells to cells near by; most cells are visited by hardly anybody.
All in one process: the universe, the people, the release, its bundle on disk. The target is
2 GB. Printed as well: whether sizes and sums agree, since no noisy count can name most cells.
"""

import argparse
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

from bench.measuring import PeakMemory, row, verdict
from pathveil import TrajectoryDatabase, Universe, publish

RESOLUTION, BOX = 9, "44.0,-75.0,47.0,-71.0"
PEOPLE, HUBS = 200_000, 2_000
TARGET = 2e9


def people(universe: Universe, count: int, seed: int = 0) -> TrajectoryDatabase:
    """From a hub to cells around it: codes that are near are mostly near on the map, too."""
    draw = np.random.default_rng(seed)
    size = len(universe)
    lengths = 1 + draw.poisson(3.0, count)
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    hubs = draw.integers(0, size, HUBS)
    rank = np.minimum((HUBS ** draw.random(count)).astype(np.int64), HUBS - 1)
    away = np.round(draw.laplace(0.0, 40.0, offsets[-1])).astype(np.int64)
    away[draw.random(len(away)) < 0.5] = 0
    codes = (np.repeat(hubs[rank], lengths) + away) % size
    return TrajectoryDatabase.from_arrays(offsets, codes.astype(np.int32), universe)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=PEOPLE)
    parser.add_argument("--resolution", type=int, default=RESOLUTION)
    options = parser.parse_args()
    memory, start = PeakMemory(), time.perf_counter()
    universe = Universe.from_h3(options.resolution, BOX)
    made = time.perf_counter()
    row("cells", f"{len(universe):,}")
    row("the universe", f"{made - start:.0f} s", f"{memory.bytes() / 1e9:.2f} GB")
    database = people(universe, options.people)
    before = time.perf_counter()
    release = publish(database, epsilon="1")
    published = time.perf_counter()
    row("the release", f"{published - before:.0f} s", f"{memory.bytes() / 1e9:.2f} GB")
    with tempfile.TemporaryDirectory() as folder:
        release.write(Path(folder) / "bundle")
    row("its bundle", f"{time.perf_counter() - published:.0f} s")
    paths = release.paths()
    visits = int((paths.lengths * paths.weights).sum())
    row("trajectories", f"{int(paths.weights.sum()):,}", f"of {len(database):,}")
    row("visits", f"{visits:,}", f"of {len(database.codes):,}")
    row(
        "cells with a visitor",
        f"{len(np.unique(paths.codes)):,}",
        "of",
        f"{len(np.unique(database.codes)):,}",
    )
    whole = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    verdict("peak of the whole process, GB", whole / 1e9, TARGET / 1e9)


if __name__ == "__main__":
    main()
