"""Time and memory of every engine against |D|, from Parquet to the noisy tree.

Each run is a process of its own, so that its peak memory is its own. Times are wall clock; where
others use the machine too, processor time says more (start-up included; for Spark the time of its
tasks, which wait as well). The exponent of each engine's growth, from its three largest sizes,
stands beside that of ``np.sort`` on as many keys, measured in the same run. The data is a simulated
week in long form, |L| = 1,012, h = 20, ε = 1.

``python -m bench.scale`` goes to 5·10⁶ trajectories; ``--full`` to 5·10⁷. ``--spark`` adds Spark on
a standalone cluster (a master, two workers with a core each, all on this machine), with the
driver's memory and the bytes that each level shuffles. ``--plot`` draws the run into a file.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from bench.measuring import row, sort_seconds, verdict
from bench.scale_data import write_taps

SIZES = [100_000, 500_000, 1_000_000, 5_000_000]
LARGE = [12_000_000, 50_000_000]
COMPARED = 12_000_000  # where DuckDB stands beside memory
GIGABYTE, MEGABYTE = 1e9, 1e6


def in_process(engine: str, folder: Path, memory: str, master: str | None = None) -> dict:
    command = [sys.executable, "-m", "bench.scale_run", engine, str(folder), memory]
    done = subprocess.run(
        [*command, *([] if master is None else [master])],
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    return json.loads(done.stdout.splitlines()[-1])


def exponent(sizes: list[int], values: list[float]) -> float:
    """The slope of log value against log size."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def measure(
    engine: str, sizes: list[int], data: Path, memory: str, master: str | None
) -> dict[int, dict]:
    results = {}
    for size in sizes:
        result = in_process(engine, data / str(size), memory, master)
        results[size] = result
        row(
            f"{engine}, |D| = {size:,}",
            f"{result['seconds']:.1f} s",
            f"{result['peak'] / GIGABYTE:.2f} GB",
            f"read {result['read']:.1f} s",
            f"CPU {result['processor']:.1f} s",
        )
        print(f"    seconds per level {result['levels']}", flush=True)
        if "shuffled" in result:
            print(
                f"    driver: JVM {result['jvm'] / MEGABYTE:.0f} MB, of which live at most "
                f"{result['heap'] / MEGABYTE:.0f} MB; tasks {result['tasks']:.0f} s\n"
                f"    bytes shuffled by bounding, then by each level {result['shuffled']}",
                flush=True,
            )
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="up to 5·10⁷ trajectories")
    parser.add_argument("--spark", action="store_true", help="Spark as well")
    parser.add_argument("--spark-most", type=int, default=12_000_000, help="its largest |D|")
    parser.add_argument("--memory", default="2GB", help="for DuckDB")
    parser.add_argument("--folder", type=Path, help="where to put the data for the time of the run")
    parser.add_argument("--plot", type=Path, help="an SVG file")
    arguments = parser.parse_known_args()[0]
    sizes = [*SIZES, *(LARGE if arguments.full else [])]
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        data = Path(name)
        for size in sizes:
            write_taps(size, data / str(size))
        compare(data, sizes, arguments)


def compare(data: Path, sizes: list[int], arguments: argparse.Namespace) -> None:
    """All engines on data/⟨|D|⟩."""
    in_process("memory", data / str(sizes[0]), arguments.memory)  # compile, if need be
    sorts = {size: sort_seconds(size) for size in sizes}
    row("np.sort", *(f"{size:,}: {seconds:.3f} s" for size, seconds in sorts.items()))
    found = {
        engine: measured_growth(engine, sizes, sorts, data, arguments.memory)
        for engine in ("memory", "duckdb")
    }
    size = min(COMPARED, sizes[-1])
    for what in ("seconds", "processor"):
        ratio = found["duckdb"][size][what] / found["memory"][size][what]
        verdict(f"duckdb in times of memory, {size:,}, {what}", ratio, 6)
    if arguments.spark:
        fitting = [size for size in sizes if size <= arguments.spark_most]
        with cluster() as master:
            found["spark"] = measured_growth("spark", fitting, sorts, data, "", master)
    if arguments.plot:
        from bench.scale_plot import draw

        draw(found, sorts, arguments.plot)


def measured_growth(
    engine: str,
    sizes: list[int],
    sorts: dict[int, float],
    data: Path,
    memory: str,
    master: str | None = None,
) -> dict[int, dict]:
    """Measure an engine, and its growth against sorting's."""
    results = measure(engine, sizes, data, memory, master)
    largest = sizes[-3:]
    base = exponent(largest, [sorts[size] for size in largest])
    for what in ("seconds", "processor" if master is None else "tasks"):
        growth = exponent(largest, [results[size][what] for size in largest])
        row(f"{engine}, {what}", f"exponent {growth:.2f}", f"np.sort {base:.2f}")
        verdict(f"{engine}, {what}: growth above sorting", growth - base, 0.1)
    return results


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
