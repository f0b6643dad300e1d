"""A Spark session of our own, for the command line, and the tables it reads."""

import logging
import signal
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from pathveil.errors import ParameterError
from pathveil.raw.sources.failures import attempt
from pathveil.raw.sources.spark_table import is_spark_frame

_SETTINGS: Final = {
    # What workers write to their disks (shuffles, kept tables) is encrypted with a key that is
    # nowhere but in memory: a worker that is killed leaves nothing that can be read.
    "spark.io.encryption.enabled": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "131072",
    "spark.ui.showConsoleProgress": "false",
    # No page that shows the plan of a run to whoever can reach the port.
    "spark.ui.enabled": "false",
}
_FORMATS: Final = ("delta", "iceberg", "orc", "parquet")


@contextmanager
def opened_table(source: Any, master: str | None) -> Iterator[Any]:
    """A DataFrame: the one given, or the table at a place, in a session that ends with the block.

    Args:
        source: a DataFrame, or the place of a table (`read_table`).
        master: the cluster; None for a DataFrame.
    """
    if is_spark_frame(source):
        yield source
        return
    if master is None:
        raise ParameterError("Say which cluster reads the table: --master spark://host:7077.")
    with _session(master) as session:
        yield attempt(
            lambda: read_table(session, source),
            "Spark can't read the input: give the place of a Parquet file or folder as the workers "
            "see it, or delta:PLACE, iceberg:NAME, table:NAME.",
        )


def read_table(session: Any, place: str) -> Any:
    """A table by its place: ``table:NAME``, ``delta:…``, ``iceberg:…``, ``orc:…``, else Parquet.

    Delta and Iceberg need their own libraries in Spark's configuration.
    """
    kind, _, rest = str(place).partition(":")
    if kind == "table":
        return session.table(rest)
    if kind in _FORMATS:
        return session.read.format(kind).load(rest)
    return session.read.parquet(str(place))


@contextmanager
def _session(master: str) -> Iterator[Any]:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise ParameterError("The engine 'spark' needs pyspark: install pathveil[spark].") from None
    handler = signal.getsignal(signal.SIGINT)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of pyspark, about the version of pandas
        builder = SparkSession.builder.master(master).appName("pathveil")
        for name, value in _SETTINGS.items():
            builder = builder.config(name, value)
        session = attempt(
            builder.getOrCreate,
            "Spark can't be started: it needs Java 17, and a master that can be reached.",
        )
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, handler)  # Spark has put its own in place
        try:
            session.sparkContext.setLogLevel("OFF")  # a stack trace may quote a row
            logging.getLogger("py4j").setLevel(logging.CRITICAL)
            yield session
        finally:
            session.stop()
