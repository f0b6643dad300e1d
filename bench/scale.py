"""Time and memory of every engine against |D|, from Parquet to the noisy tree.

Each run is a process of its own, so that its peak memory is its own. Times are wall clock; where
others use the machine too, processor time says more (start-up included, Spark's JVM not). The
exponent of each engine's growth, from its three largest sizes, stands beside that of ``np.sort`` on
as many keys, measured in the same run. The data is a simulated week in long form, |L| = 1,012,
h = 20, ε = 1.

``python -m bench.scale`` goes to 5·10⁶ trajectories; ``--full`` to 5·10⁷ for DuckDB (a tenth of
that for Spark). ``--spark`` adds Spark in local mode, with the bytes that each level shuffles.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import numpy as np

from bench.measuring import row, sort_seconds, verdict
from bench.scale_data import stops, write_taps

HEIGHT = 20
READING = {"unit": "card_id", "order": "seq", "location": "stop_id"}
GIGABYTE = 1e9


def count(engine: str, folder: str, memory: str) -> dict:
    """One tree; what it took. Runs in a process of its own."""
    from pathveil import Parameters
    from pathveil.mechanism.grow import grow
    from pathveil.mechanism.randomness import Randomness
    from pathveil.raw.engines import Engine

    universe = stops()
    parameters = Parameters.choose(epsilon="1", height=HEIGHT, universe_size=len(universe))
    source, session = folder, None
    if engine == "spark":
        session = _spark()
        source = session.read.parquet(folder)
    start = time.perf_counter()
    marks = []
    chosen = Engine(engine, memory)
    with chosen.open(source, universe, HEIGHT, **READING) as trajectories:
        read = time.perf_counter() - start
        tree = grow(
            trajectories, parameters, Randomness(), lambda *_: marks.append(time.perf_counter())
        )
    seconds = time.perf_counter() - start
    levels = np.diff([start + read, *marks]).round(2).tolist()
    used = resource.getrusage(resource.RUSAGE_SELF)
    result = {
        "seconds": seconds,
        "processor": used.ru_utime + used.ru_stime,
        "read": read,
        "levels": levels,
        "peak": used.ru_maxrss * 1024,
        "nodes": len(tree),
    }
    if session is not None:
        result |= _shuffled(session)
        session.stop()
    return result


def _spark():
    import warnings

    from pyspark.sql import SparkSession

    warnings.simplefilter("ignore")
    os.environ |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    settings = {
        "spark.driver.memory": "3g",
        "spark.sql.shuffle.partitions": "8",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "131072",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master("local[2]").appName("scale")
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def _shuffled(session) -> dict:
    """Bytes written to shuffles: by the bounding, and by each level after it (status API)."""
    context = session.sparkContext
    where = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/stages"
    with urllib.request.urlopen(where) as answer:
        stages = sorted(json.load(answer), key=lambda stage: stage["stageId"])
    written = [s["shuffleWriteBytes"] for s in stages if s["shuffleWriteBytes"]]
    return {"shuffled": written}


def in_process(engine: str, folder: Path, memory: str) -> dict:
    command = [sys.executable, "-m", "bench.scale", "--count", engine, str(folder)]
    done = subprocess.run(
        [*command, "--memory", memory],
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    return json.loads(done.stdout.splitlines()[-1])


def exponent(sizes: list[int], values: list[float]) -> float:
    """The slope of log value against log size."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def measure(engine: str, sizes: list[int], data: Path, memory: str) -> list[dict]:
    results = []
    for size in sizes:
        result = in_process(engine, data / str(size), memory)
        results.append(result)
        row(
            f"{engine}, |D| = {size:,}",
            f"{result['seconds']:.1f} s",
            f"{result['peak'] / GIGABYTE:.2f} GB",
            f"read {result['read']:.1f} s",
            f"CPU {result['processor']:.1f} s",
        )
        print(f"    seconds per level {result['levels']}")
        if "shuffled" in result:
            print(f"    bytes shuffled by bounding, then by each level {result['shuffled']}")
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="up to 5·10⁷ trajectories")
    parser.add_argument("--spark", action="store_true", help="Spark as well")
    parser.add_argument("--memory", default="2GB", help="for DuckDB")
    parser.add_argument("--folder", type=Path, help="where to put the data for the time of the run")
    parser.add_argument("--count", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_known_args()[0]
    if arguments.count:
        print(json.dumps(count(*arguments.count, arguments.memory)))
        return
    sizes = [100_000, 500_000, 1_000_000, 5_000_000]
    large = [12_000_000, 50_000_000] if arguments.full else []
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        data = Path(name)
        for size in [*sizes, *large]:
            write_taps(size, data / str(size))
        compare(data, sizes, large, arguments)


def compare(data: Path, sizes: list[int], large: list[int], arguments: argparse.Namespace) -> None:
    """All engines on data/⟨|D|⟩."""
    in_process("memory", data / str(sizes[0]), arguments.memory)  # compile, if need be
    sorts = {size: sort_seconds(size) for size in [*sizes, *large]}
    wanted = {"memory": large[:1], "duckdb": large}
    wanted |= {"spark": []} if arguments.spark else {}
    found = {}
    for engine, more in wanted.items():
        found[engine] = measure(engine, [*sizes, *more], data, arguments.memory)
        largest = [*sizes, *more][-3:]
        base = exponent(largest, [sorts[size] for size in largest])
        for what in ("seconds", "processor"):
            growth = exponent(largest, [result[what] for result in found[engine][-3:]])
            row(f"{engine}, {what}", f"exponent {growth:.2f}", f"np.sort {base:.2f}")
            verdict(f"{engine}, {what}: growth above sorting", growth - base, 0.1)
    both = min(len(found["memory"]), len(found["duckdb"]))
    ratio = found["duckdb"][both - 1]["seconds"] / found["memory"][both - 1]["seconds"]
    verdict("duckdb, in times of memory, largest |D| of both", ratio, 6)


if __name__ == "__main__":
    main()
