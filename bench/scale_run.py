"""One run of one engine, from Parquet to the noisy tree or tables, in a process of its own.

``python -m bench.scale_run METHOD ENGINE FOLDER MEMORY EPSILON [MASTER]`` prints what it took as
one line of JSON. By ``calibrated`` the synthesis comes after that, and is told by itself.
"""

import json
import os
import resource
import sys
import time
import urllib.request
import warnings

import numpy as np

from bench.processes import descendants, peak, processes, together
from bench.scale_data import stops
from pathveil.raw.engines.spark_session import LOCAL_SETTINGS

HEIGHT = 20
READING = {"unit": "card_id", "order": "seq", "location": "stop_id"}
SETTINGS = {
    "spark.driver.memory": "512m",
    "spark.executor.memory": "1500m",
    "spark.sql.shuffle.partitions": "8",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "131072",
    "spark.io.encryption.enabled": "true",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}

# On this machine the driver's process does all the work.
ALONE = {"spark.driver.memory": "2g", **LOCAL_SETTINGS}


def count(
    method: str, engine: str, folder: str, memory: str, epsilon: str, master: str | None = None
) -> dict:
    """One tree, or all tables; what it took: seconds, bytes, nodes."""
    from pathveil import Parameters
    from pathveil.gate.randomness import Randomness
    from pathveil.publishing import publish_with
    from pathveil.raw.engines.engine import Engine
    from pathveil.raw.reading_plan import Reading

    universe = stops()
    parameters = Parameters.choose(
        epsilon=epsilon,
        height=None if method == "calibrated" else HEIGHT,
        universe_size=len(universe),
        method=method,
    )
    height = None if parameters.how.has_tables else HEIGHT
    driver = None if master is None else Driver(master)
    source = folder if driver is None else driver.session.read.parquet(folder)
    start, marks, peaks = time.perf_counter(), [], []

    def mark(*_: object) -> None:
        marks.append(time.perf_counter())
        peaks.append(together(os.getpid()) if driver is None else peak("self"))
        if driver is not None:
            driver.look()

    with Engine(engine, memory).open(source, universe, height, Reading(**READING)) as trajectories:
        read = time.perf_counter() - start
        release = publish_with(trajectories, parameters, Randomness(), mark)
        counted = marks[-1] - start
    seconds = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_SELF)
    result = {
        "seconds": counted,
        "afterwards": seconds - counted,
        "processor": used.ru_utime + used.ru_stime,
        "read": read,
        "levels": np.diff([start + read, *marks]).round(2).tolist(),
        "peak": max(*peaks, peak("self")),
        "counting": peaks[-1],
        "nodes": len(release.tree),
    }
    return result if driver is None else result | driver.end()


class Driver:
    """A session on a cluster, and what its driver's JVM holds."""

    def __init__(self, master: str) -> None:
        from pyspark.sql import SparkSession

        warnings.simplefilter("ignore")
        os.environ |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
        builder = SparkSession.builder.master(master).appName("scale")
        is_local = master.startswith("local")
        for key, value in (SETTINGS | (ALONE if is_local else {})).items():
            builder = builder.config(key, value)
        self.session = builder.getOrCreate()
        self.session.sparkContext.setLogLevel("ERROR")  # simulated rows: a trace may quote them
        self._java = self.session.sparkContext._jvm.java.lang  # noqa: SLF001  (Spark has no other)
        self._live = 0
        self._shuffled = [0]  # bytes, up to the end of each level

    def look(self) -> None:
        """After a level: what is live on the heap (uncollected garbage would hide it)."""
        self._java.System.gc()
        heap = self._java.management.ManagementFactory.getMemoryMXBean().getHeapMemoryUsage()
        self._live = max(self._live, heap.getUsed())
        written = self._written()
        if len(self._shuffled) == 1:
            self._shuffled.append(written[0])  # by bounding: the first shuffle there is
        self._shuffled.append(sum(written))

    def _written(self) -> list[int]:
        """The bytes that each stage has written for others, in the order of the stages."""
        context = self.session.sparkContext
        where = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/stages"
        with urllib.request.urlopen(where) as answer:
            stages = sorted(json.load(answer), key=lambda stage: stage["stageId"])
        return [stage["shuffleWriteBytes"] for stage in stages if stage["shuffleWriteBytes"]]

    def end(self) -> dict:
        """Memory of the JVM, processor time of all processes, bytes written to shuffles."""
        context = self.session.sparkContext
        process = self._java.ProcessHandle.current().pid()
        jvm = peak(str(process))
        executors = [p for p in processes() if context.applicationId in p.command]
        processor = time.process_time() + sum(p.seconds for p in descendants(process, executors))
        self.session.stop()
        return {
            "heap": self._live,
            "jvm": jvm,
            "processor": processor,
            "shuffled": np.diff(self._shuffled).tolist(),
        }


if __name__ == "__main__":
    print(json.dumps(count(*sys.argv[1:])))
