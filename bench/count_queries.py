"""40,000 count queries of up to 12 locations, against a loop over Python sets in the same run.

    PYTHONPATH=src python bench/count_queries.py

Uniform queries are the paper's (locations drawn from the universe); data queries ask for the
locations of a random trajectory, so their answers are large and their lists long. The loop
answers a few queries and is scaled up. "Cut at 12" stands for a release of height 12.
"""

import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from pathveil.analysis.visit_index import VisitIndex
from pathveil.raw.database import TrajectoryDatabase
from pathveil.universe.universe import Universe

DATA = Path(__file__).resolve().parents[2] / "shared/data"
QUERIES, LONGEST, LOOPED = 40_000, 12, 8


def read(name, *, cut=None):
    table = pq.read_table(
        DATA / name / "trajectories.parquet", columns=["trajectory_id", "location"]
    )
    labels, codes = np.unique(table["location"].to_numpy(), return_inverse=True)
    ids = table["trajectory_id"].to_numpy()
    offsets = np.append(np.flatnonzero(np.diff(ids, prepend=-1)), len(ids))
    if cut is not None:
        lengths = np.diff(offsets)
        place = np.arange(len(codes)) - np.repeat(offsets[:-1], lengths)
        codes = codes[place < cut]
        offsets = np.concatenate(([0], np.cumsum(np.minimum(lengths, cut))))
    return TrajectoryDatabase.from_arrays(offsets, codes, Universe(map(str, labels)))


def uniform_queries(rng, database):
    size = len(database.universe)
    lengths = rng.integers(1, min(LONGEST, size) + 1, QUERIES)
    return [rng.choice(size, length, replace=False).tolist() for length in lengths]


def data_queries(rng, database):
    rows = rng.integers(0, len(database), QUERIES)
    starts, ends = database.offsets[rows], database.offsets[rows + 1]
    return [
        np.unique(database.codes[a:b])[:LONGEST].tolist() for a, b in zip(starts, ends, strict=True)
    ]


def main():
    if not DATA.exists():
        sys.exit("The shared data is not on this machine.")
    rng = np.random.default_rng(1)
    for name, cut in (("msnbc", None), ("stm_like", None), ("stm_like", 12), ("cabspotting", None)):
        database = read(name, cut=cut)
        VisitIndex.build(database).count([])  # compiles
        start = time.perf_counter()
        index = VisitIndex.build(database)
        building = time.perf_counter() - start
        title = name if cut is None else f"{name} cut at {cut}"
        print(f"{title}: {len(database):,} trajectories over {len(index.weights):,} sets")
        print(f"  index built in {building:.2f} s")
        sets = [set(database.codes[a:b].tolist()) for a, b in pairwise(database.offsets)]
        for kind, draw in (("uniform", uniform_queries), ("data", data_queries)):
            queries = draw(rng, database)
            texts = [[database.universe.labels[code] for code in query] for query in queries]
            start = time.perf_counter()
            answers = index.count_many(texts)
            seconds = time.perf_counter() - start
            start = time.perf_counter()
            looped = [sum(map(set(query).issubset, sets)) for query in queries[:LOOPED]]
            loop = (time.perf_counter() - start) * QUERIES / LOOPED
            if looped != answers[:LOOPED].tolist():
                sys.exit("The answers DIFFER.")
            print(f"  {QUERIES:,} {kind} queries: {seconds:.2f} s")
            print(f"    Python sets: {loop:,.0f} s, ratio {loop / seconds:,.0f}")


if __name__ == "__main__":
    main()
