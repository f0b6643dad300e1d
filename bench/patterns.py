"""Top-250 patterns of MSNBC: our miner against the PyPI package prefixspan, in one run.

    PYTHONPATH=src python bench/patterns.py

Both mine the first 50,000 sequences and must find the same supports. Then ours mines the whole
file. The first call is timed apart, in fresh processes: compiling, and loading what was compiled.
"""

import os
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from prefixspan import PrefixSpan

from pathveil.analysis.patterns import top_patterns
from pathveil.raw.database import TrajectoryDatabase
from pathveil.universe.universe import Universe

DATA = Path(__file__).resolve().parents[2] / "shared/data/msnbc/trajectories.parquet"
SAMPLE, K = 50_000, 250
FIRST_CALL = """
import time
from pathveil.analysis.patterns import top_patterns
from pathveil.universe.universe import Universe
from pathveil.raw.database import TrajectoryDatabase
database = TrajectoryDatabase.from_sequences([["A", "B"]], Universe("AB"))
start = time.perf_counter()
top_patterns(database, 1)
print(time.perf_counter() - start)
"""


def read_msnbc(rows=None):
    table = pq.read_table(DATA, columns=["trajectory_id", "location"])
    codes = table["location"].to_numpy().astype(np.int32) - 1
    ids = table["trajectory_id"].to_numpy()
    offsets = np.append(np.flatnonzero(np.diff(ids, prepend=-1)), len(ids))
    offsets = offsets if rows is None else offsets[: rows + 1]
    universe = Universe(str(page) for page in range(1, 18))
    return TrajectoryDatabase.from_arrays(offsets, codes[: offsets[-1]], universe)


def timed(function, repeats):
    """The result and the median seconds of several runs."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        seconds.append(time.perf_counter() - start)
    return result, sorted(seconds)[repeats // 2]


def first_calls():
    """Seconds of the first call with an empty cache of compiled code, then with a full one."""
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, "-c", FIRST_CALL]
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        return [
            float(subprocess.run(command, env=environment, check=True, capture_output=True).stdout)
            for _ in range(2)
        ]


def main():
    if not DATA.exists():
        sys.exit("The shared data (msnbc) is not on this machine.")
    compiling, loading = first_calls()
    print(f"first call: {compiling:.2f} s compiling, {loading:.2f} s from the cache")

    sample = read_msnbc(SAMPLE)
    rows = [sample.codes[a:b].tolist() for a, b in pairwise(sample.offsets)]
    top_patterns(sample, 1)
    ours, our_seconds = timed(lambda: top_patterns(sample, K), 9)
    theirs, their_seconds = timed(lambda: PrefixSpan(rows).topk(K), 1)
    same = [p.support for p in ours] == sorted((s for s, _ in theirs), reverse=True)
    print(f"first {SAMPLE:,}, top {K}: prefixspan {their_seconds:.2f} s, ours {our_seconds:.4f} s")
    print(f"ratio {their_seconds / our_seconds:.0f}; supports {'identical' if same else 'DIFFER'}")

    everything = read_msnbc()
    for contiguous in (False, True):
        kind = "contiguous" if contiguous else "with gaps"
        _, seconds = timed(lambda c=contiguous: top_patterns(everything, K, contiguous=c), 3)
        print(f"all {len(everything):,}, top {K} {kind}: {seconds:.2f} s")
    if not same:
        sys.exit(1)


if __name__ == "__main__":
    main()
