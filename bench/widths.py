"""How wide 90% intervals of pairs and triples are, by this version of pathveil or an older one.

    python -m bench.widths mibici commuters:100000:220:4

To compare with the version before validation, give its source the precedence:

    mkdir old && git archive 0da88da src | tar x -C old
    PYTHONPATH=old/src python -m bench.widths mibici

Locations that reach the sanity bound, drawn alike; those count whose released answer reaches it,
too. The last column is what the median would be if all these intervals were longer or shorter by
the one factor by which just 90% hold: nobody knows it who does not know the truth. INTERNAL: it
compares raw data with a release.
"""

import argparse

import numpy as np

from bench.accuracy import line, load
from bench.regime_simulators import World
from pathveil import TrajectoryDatabase, publish
from pathveil.analysis.visit_index import VisitIndex

SANITY = 0.001
LEVEL = 0.9
ASKED = 20_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--runs", type=int, default=2)
    options = parser.parse_args()
    line(["data", "locations", "questions", "held", "median width", "width that would do"])
    line(["---"] * 6)
    for name in options.datasets:
        database = _database(name)
        for many in (2, 3):
            found = [_asked(database, many, run) for run in range(options.runs)]
            off, width = (np.concatenate(column) for column in zip(*found, strict=True))
            if len(off):
                would_do = np.median(width) * np.quantile(off, LEVEL)
                told = [f"{len(off):,}", f"{(off <= 1).mean():.3f}", f"{np.median(width):.2f}"]
                told.append(f"{would_do:.2f}")
                line([name, str(many), *told])


def _database(name: str) -> TrajectoryDatabase:
    if ":" not in name:
        return load(name)
    simulator, people, size, length = name.split(":")
    return World(simulator, int(people), int(size), length).database(with_map=False)


def _asked(database: TrajectoryDatabase, many: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """How far truths are off, where 1 is the end of an interval, and widths over the truth."""
    release = publish(database, epsilon="1")
    indices = VisitIndex.build(database), VisitIndex.build(release)
    singles = np.arange(len(database.universe) + 1)
    floor = SANITY * len(database)
    frequent = np.flatnonzero(indices[0].count_many_codes(singles, singles[:-1]) >= floor)
    drawn = np.random.default_rng(seed).choice(frequent, (ASKED, many))
    drawn = drawn[(np.diff(np.sort(drawn, axis=1), axis=1) > 0).all(axis=1)]
    offsets = np.arange(len(drawn) + 1) * many
    true, counts = (index.count_many_codes(offsets, drawn.ravel()) for index in indices)
    true, counts = true[counts >= floor], counts[counts >= floor]
    if release.error_table is None:
        raise SystemExit("A calibrated release has an error table.")
    named = np.ones(len(counts), dtype=np.bool_)
    low, high = release.error_table.intervals(np.full(len(counts), many), counts, named, LEVEL)
    half = np.where(true > counts, high - counts, counts - low)
    return np.abs(true - counts) / np.maximum(half, 1e-9), (high - low) / np.maximum(true, floor)


if __name__ == "__main__":
    main()
