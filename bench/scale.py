"""Time and memory of every engine against |D|, from Parquet to the noisy tree, or tables.

Each run is a process of its own, so that its peak memory is its own. Times are wall clock; where
others use the machine too, processor time says more (start-up included; for Spark that of all
processes of the driver and the executors). The exponent of each engine's growth stands beside that
of ``np.sort`` on as many keys, measured in the same run (`bench.scale_fit`). The data is a
simulated week in long form, |L| = 1,012, h = 20, ε = 1.

``python -m bench.scale`` goes to 5·10⁶ trajectories; ``--most 50000000`` to 5·10⁷. ``--engines
spark`` measures Spark on a standalone cluster (a master, two workers with a core each, all on this
machine), with the driver's memory and the bytes that each level shuffles. ``--results`` keeps what
was measured, and `bench.scale_plot` draws it. ``--same-tree`` divides ε by as much as |D| grows, so
that about the same nodes survive: what grows then, grows with |D| and not with what is published.
``--method calibrated`` measures its tables (a pass for each stage) instead of a tree of h levels;
the synthesis, which sees noisy tables only, is told by itself, and is in the peak, but not in that
of counting. Peaks are of the process and its children together; with Spark of the driver's Python
alone.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from fractions import Fraction
from pathlib import Path

import numpy as np

from bench.measuring import row, verdict
from bench.scale_data import write_taps
from bench.scale_fit import print_growth

SIZES = [100_000, 500_000, 1_000_000, 5_000_000, 12_000_000, 50_000_000]
COMPARED = 12_000_000  # where DuckDB stands beside memory
GIGABYTE, MEGABYTE = 1e9, 1e6
ONE = Fraction(1)  # ε


def in_process(
    engine: str,
    folder: Path,
    arguments: argparse.Namespace,
    master: str | None = None,
    epsilon: Fraction = ONE,
) -> dict:
    command = [sys.executable, "-m", "bench.scale_run", arguments.method, engine, str(folder)]
    done = subprocess.run(
        [*command, arguments.memory, str(epsilon), *([] if master is None else [master])],
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        sys.stderr.write(done.stderr)
        raise SystemExit(f"{engine} on {folder} ended with status {done.returncode}.")
    return json.loads(done.stdout.splitlines()[-1])


def sorted_keys(size: int) -> dict:
    """The baseline, by both clocks: one np.sort of this many random keys, best of three."""
    keys = np.frombuffer(os.urandom(8 * size), dtype=np.uint64)
    walls, processors = [], []
    for _ in range(3):
        wall, processor = time.perf_counter(), time.process_time()
        np.sort(keys)
        walls.append(time.perf_counter() - wall)
        processors.append(time.process_time() - processor)
    return {"seconds": min(walls), "processor": min(processors)}


def measure(
    engine: str, sizes: list[int], data: Path, arguments: argparse.Namespace, master: str | None
) -> dict[int, dict]:
    results = {}
    for size in sizes:
        epsilon = Fraction(sizes[0], size) if arguments.same_tree else ONE
        result = in_process(engine, data / str(size), arguments, master, epsilon)
        results[size] = result
        row(
            f"{engine}, |D| = {size:,}",
            f"{result['seconds']:.1f} s",
            f"{result['peak'] / GIGABYTE:.2f} GB",
            f"counting {result['counting'] / GIGABYTE:.2f} GB",
            f"read {result['read']:.1f} s",
            f"CPU {result['processor']:.1f} s",
            f"{result['nodes']:,} nodes",
        )
        print(
            f"    seconds per level or stage {result['levels']}, and after them "
            f"{result['afterwards']:.1f}",
            flush=True,
        )
        if "shuffled" in result:
            print(
                f"    driver: JVM {result['jvm'] / MEGABYTE:.0f} MB, of which live at most "
                f"{result['heap'] / MEGABYTE:.0f} MB\n"
                f"    bytes shuffled by bounding, then by each level {result['shuffled']}",
                flush=True,
            )
    return results


def print_driver(runs: dict[int, dict]) -> None:
    """How Spark's driver grows from the smallest |D| to the largest."""
    small, large = runs[min(runs)], runs[max(runs)]
    row(
        f"spark's driver, {max(runs):,} over {min(runs):,}",
        f"Python {large['counting'] / small['counting']:.2f}",
        f"with the synthesis {large['peak'] / small['peak']:.2f}",
        f"live heap {large['heap'] / small['heap']:.2f}",
        f"nodes {large['nodes'] / small['nodes']:.2f}",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engines", default="memory,duckdb", help="of memory, duckdb, spark")
    parser.add_argument("--method", default="full", choices=["full", "calibrated"])
    parser.add_argument("--least", type=int, default=0, help="the smallest |D|")
    parser.add_argument("--most", type=int, default=5_000_000, help="the largest |D|")
    parser.add_argument("--sizes", help="these sizes instead, with commas between them")
    parser.add_argument("--same-tree", action="store_true", help="ε = smallest |D| / |D|")
    parser.add_argument("--memory", default="2GB", help="for DuckDB")
    parser.add_argument("--master", help="for Spark: local[2] instead of a cluster of its own")
    parser.add_argument("--folder", type=Path, help="where to put the data for the time of the run")
    parser.add_argument("--data", type=Path, help="where the data stays, and is taken from again")
    parser.add_argument("--results", type=Path, help="a JSON file")
    arguments = parser.parse_known_args()[0]
    sizes = [size for size in SIZES if arguments.least <= size <= arguments.most]
    if arguments.sizes:
        sizes = sorted(map(int, arguments.sizes.split(",")))
    kept = nullcontext(arguments.data)
    with kept if arguments.data else tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        data = Path(name)
        for size in (1000, *sizes):
            written(size, data)
        if sizes:
            compare(data, sizes, arguments)


def written(size: int, data: Path) -> None:
    """Make data/⟨|D|⟩, unless it is there."""
    if not (data / str(size)).exists():
        write_taps(size, data / f"{size}.part")
        (data / f"{size}.part").rename(data / str(size))


def compare(data: Path, sizes: list[int], arguments: argparse.Namespace) -> None:
    """All engines on data/⟨|D|⟩."""
    in_process("memory", data / "1000", arguments)  # compile, if need be
    sorts = {size: sorted_keys(size) for size in sizes}
    for size, sort in sorts.items():
        row(f"np.sort, {size:,} keys", f"{sort['seconds']:.3f} s", f"CPU {sort['processor']:.3f} s")
    found: dict[str, dict[int, dict]] = {}
    for engine in arguments.engines.split(","):
        is_cluster = engine == "spark" and not arguments.master
        with cluster() if is_cluster else nullcontext(arguments.master) as master:
            own = master if engine == "spark" else None
            found[engine] = measure(engine, sizes, data, arguments, own)
        if len(sizes) > 1:
            print_growth(engine, found[engine], sorts)
        if engine == "spark":
            print_driver(found[engine])
        if arguments.results:
            arguments.results.write_text(json.dumps({"found": found, "sorts": sorts}))
    size = max((size for size in sizes if size <= COMPARED), default=sizes[0])
    if {"memory", "duckdb"} <= found.keys():
        for what in ("seconds", "processor"):
            ratio = found["duckdb"][size][what] / found["memory"][size][what]
            target = 3 if arguments.method == "calibrated" else 6
            verdict(f"duckdb in times of memory, {size:,}, {what}", ratio, target)


@contextmanager
def cluster() -> Iterator[str]:
    """The tests' own cluster, without their session."""
    from tests.engines.cluster import Cluster, find_java

    if (problem := find_java()) is not None:
        raise SystemExit(f"Spark can't run: {problem}.")
    with (
        tempfile.TemporaryDirectory() as folder,
        Cluster(folder, workers=2, memory="2g", has_session=False) as running,
    ):
        yield running.master


if __name__ == "__main__":
    main()
