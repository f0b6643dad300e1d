"""A Spark session of our own, for the command line, and the tables it reads."""

import importlib.util
import logging
import os
import re
import shutil
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Any, Final, TypeVar

from pathveil.errors import InputError, ParameterError, PathveilError
from pathveil.progress_reports import report_progress
from pathveil.raw.reading_plan import Reading
from pathveil.raw.sources.raw_rows import attempt
from pathveil.raw.sources.spark_table import is_spark_frame
from pathveil.raw.spilling import spill_folder

_SETTINGS: Final = {
    # What workers write to their disks (shuffles, kept tables) is encrypted with a key that is
    # nowhere but in memory: a worker that is killed leaves nothing that can be read.
    "spark.io.encryption.enabled": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "131072",
    "spark.ui.showConsoleProgress": "false",
    # No page that shows the plan of a run to whoever can reach the port.
    "spark.ui.enabled": "false",
}
LOCAL_SETTINGS: Final = {
    # On one machine nobody else can be lost. But a process that stood still for two minutes (a
    # machine that slept, or had too much to do) is taken for a lost worker, and Spark 4.3 can't
    # register it again.
    "spark.network.timeout": "1d",
    # Spark's own 200 are for clusters: a pass over a small table took a minute for its tasks alone.
    "spark.sql.shuffle.partitions": "8",
}
_FORMATS: Final = ("delta", "iceberg", "orc", "parquet")
_MASTER: Final = re.compile(r"local(-cluster)?(\[[^\]]+\])?|yarn|(spark|k8s)://\S+")
# What Spark reads otherwise than the other engines, or not at all: one worker reads it as they do.
_NOT_FOR_SPARK: Final = re.compile(
    r"(postgres(ql)?|duckdb|sqlite):.*|.*\.(csv|tsv|txt|gz|zip|xlsx?|xlsm|db|duckdb|ddb|sqlite3?)",
    re.IGNORECASE | re.DOTALL,
)
_PARQUET_MAGIC: Final = b"PAR1"
_LACKS_READER: Final = re.compile(
    r"DATA_SOURCE_NOT_FOUND|No FileSystem for scheme|Class \S+FileSystem not found"
)
_ADDRESSES: Final = (
    "the address of a Parquet file or folder as the workers see it, or delta:PLACE, iceberg:NAME, "
    "orc:PLACE, table:NAME"
)


def check_cluster(master: str) -> None:
    """Refuse what can be refused without starting Spark: nothing is charged yet.

    Raises:
        ParameterError: if Spark is not installed, or would not understand the cluster's address.
    """
    if importlib.util.find_spec("pyspark") is None:
        raise ParameterError("The engine 'spark' needs pyspark: install pathveil[spark].")
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        raise ParameterError("The engine 'spark' needs Java 17: install it, or set JAVA_HOME.")
    if _MASTER.fullmatch(master) is None:
        raise ParameterError(
            "A Spark cluster is written spark://host:7077, yarn, k8s://… or, on this machine, "
            "local[2]."
        )


def spark_reads(source: Any, reading: Reading) -> bool:
    """Whether Spark's own readers read an input, every worker a part of it.

    Looks at its name, and at the first bytes of a file of this machine.
    """
    if is_spark_frame(source):
        return True
    if not isinstance(source, str | os.PathLike) or _NOT_FOR_SPARK.fullmatch(str(source)):
        return False
    if (reading.query, reading.table, reading.snapshot) != (None, None, None):
        return False
    try:
        with Path(source).open("rb") as file:
            return file.read(len(_PARQUET_MAGIC)) == _PARQUET_MAGIC
    except (OSError, ValueError):  # a folder, a pattern, an address
        return True


def are_files(source: Any) -> bool:
    """Whether an input that Spark reads is Parquet files: these have an order, tables have none."""
    if not isinstance(source, str | os.PathLike):
        return False
    kind, is_named, _ = str(source).partition(":")
    return not is_named or kind not in ("table", *_FORMATS)


@contextmanager
def opened_session(
    source: Any, master: str | None, spill: str | os.PathLike[str] | None = None
) -> Iterator[Any]:
    """A Spark session: that of a DataFrame, or one that the block ends.

    Args:
        source: a DataFrame, or anything else.
        master: the cluster; None for a DataFrame.
        spill: an existing folder for what a session of our own keeps on this machine: all that
            it spills if the master is "local", else broadcasts. Workers have their own.
    """
    if is_spark_frame(source):
        yield source.sparkSession
        return
    if master is None:
        raise ParameterError("Say which cluster reads the table: --master spark://host:7077.")
    check_cluster(master)
    parent = None if spill is None else Path(spill)
    with spill_folder(parent) as folder, _session(master, folder) as session:
        yield session


def read_table(session: Any, address: str) -> Any:
    """A table by its address: ``table:NAME``, ``delta:…``, ``iceberg:…``, ``orc:…``, else Parquet.

    Returns:
        A DataFrame; None if this Spark has no reader for Delta, Iceberg or the object store, which
        are libraries of their own.

    Raises:
        InputError: if Spark can't read it.
    """
    try:
        return _read_table(session, address)
    except Exception as error:  # noqa: BLE001  (whatever it is, its message may quote a row)
        if _LACKS_READER.search(str(error)):
            return None
    raise InputError(f"Spark can't read the input: give {_ADDRESSES}.")


def _read_table(session: Any, address: str) -> Any:
    kind, _, rest = str(address).partition(":")
    if kind == "table":
        return session.table(rest)
    if kind in _FORMATS:
        return session.read.format(kind).load(rest)
    return session.read.parquet(str(address))


@contextmanager
def _session(master: str, folder: Path) -> Iterator[Any]:
    from pyspark.sql import SparkSession

    handler = signal.getsignal(signal.SIGINT)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of pyspark, about the version of pandas
        builder = SparkSession.builder.master(master).appName("pathveil")
        for name, value in _settings(master, folder).items():
            builder = builder.config(name, value)
        if _is_local(master):  # else "python3" of the path, in which there may be no pathveil
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        with _silent_children():
            session = attempt(
                builder.getOrCreate,
                "Spark can't be started: it needs Java 17, and a master that can be reached. "
                "PATHVEIL_DEBUG=1 shows what it says.",
            )
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, handler)  # Spark has put its own in place
        try:
            session.sparkContext.setLogLevel("OFF")  # a stack trace may quote a row
            logging.getLogger("py4j").setLevel(logging.CRITICAL)
            yield session
        finally:
            tell_spark(session.stop)


def _settings(master: str, folder: Path) -> dict[str, str]:
    own = LOCAL_SETTINGS if _is_local(master) else {}
    return {**_SETTINGS, **own, "spark.local.dir": str(folder.absolute())}


def _is_local(master: str) -> bool:
    """Whether one process on this machine is the whole cluster."""
    return master == "local" or master.startswith("local[")


@contextmanager
def _silent_children() -> Iterator[None]:
    """What is started here says nothing on our terminal: Spark's Java, and its Python workers.

    They write where we do, and the traceback of a worker may quote a row.
    """
    if os.environ.get("PATHVEIL_DEBUG"):
        yield
        return
    kept = [os.dup(stream) for stream in (1, 2)]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        for stream in (1, 2):
            os.dup2(nowhere, stream)
        yield
    finally:
        for stream, was in zip((1, 2), kept, strict=True):
            os.dup2(was, stream)
            os.close(was)
        os.close(nowhere)


# Ask Spark and stay interruptible; do not wait for ever for workers that are gone.
#
# A standalone cluster that has lost all its workers does not fail a job: it waits for new ones, and
# would wait for ever. A run is charged by then, so we wait too, but not without an end.


T = TypeVar("T")

TIMEOUT_SETTING: Final = "spark.pathveil.workerTimeout"
_DEFAULT_TIMEOUT: Final = "600"
_TICK: Final = 1.0  # seconds between two looks at the cluster
_PATIENCE: Final = 15.0  # seconds for Spark to tidy up
_FAILED: Final = (
    "Spark could not finish: tasks kept failing on the workers (is pathveil installed there, in "
    "the version that runs here? can they read the input? is there room on their disks?), or the "
    "cluster went away. Its own logs say why."
)


def ask_spark(session: Any, call: Callable[[], T]) -> T:
    """Run a call that starts jobs.

    It runs in a thread of its own, so that a signal gets through, and under a tag, so that its
    jobs, and no others of the session, are cancelled then.

    Args:
        session: a Spark session.
        call: what to run.

    Raises:
        InputError: if the call fails with anything but an error of our own, or if there was no
            worker for as long as `TIMEOUT_SETTING` says. Nothing leads from it to Spark's
            exception, whose message may quote a row.
    """
    tag = f"pathveil-{token_hex(8)}"
    workers = _Workers(session)

    def tagged() -> T:
        session.addTag(tag)
        return call()

    answer = _begun(tagged)
    try:
        while not wait([answer], timeout=_TICK).done:
            workers.check()
            _report(session)
        return answer.result()
    except PathveilError:
        _cancel(session, tag, answer)
        raise
    except Exception:  # noqa: BLE001, S110  (whatever it is, its message may quote a row)
        pass
    except BaseException:
        _cancel(session, tag, answer)
        raise
    raise InputError(_FAILED)


def _report(session: Any) -> None:
    """Tell how many of the tasks under way are done. Of a session over Connect nobody knows."""
    with suppress(Exception):
        tracker = session.sparkContext.statusTracker()
        stages = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
        done = sum(stage.numCompletedTasks for stage in stages if stage is not None)
        every = sum(stage.numTasks for stage in stages if stage is not None)
        if every:
            report_progress(done, every)


def tell_spark(call: Callable[[], object]) -> None:
    """Run a call that tidies up. If Spark is gone it fails; if Spark hangs, it is left alone."""
    wait([_begun(call)], timeout=_PATIENCE)


def _begun(call: Callable[[], T]) -> Future[T]:
    """Run a call in a thread which does not keep Python from ending, as those of a pool would."""
    answer: Future[T] = Future()

    def work() -> None:
        try:
            answer.set_result(call())
        except BaseException as error:  # noqa: BLE001  (for whoever asks for the answer)
            answer.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    return answer


def _cancel(session: Any, tag: str, answer: Future[Any]) -> None:
    """End the jobs of a tag; more than once, because a call can be just between two jobs."""
    end = time.monotonic() + _PATIENCE
    while not answer.done() and time.monotonic() < end:
        _begun(lambda: session.interruptTag(tag))
        wait([answer], timeout=_TICK)


class _Workers:
    """Whether a session has had workers lately.

    Args:
        session: a Spark session. Of one over Connect we can't know: its server looks after it.
    """

    def __init__(self, session: Any) -> None:
        self._timeout = _seconds(session.conf.get(TIMEOUT_SETTING, _DEFAULT_TIMEOUT))
        self._seen = time.monotonic()
        self._context: Any = None
        with suppress(Exception):
            context = session.sparkContext
            is_local = str(context.master).partition("[")[0] == "local"
            self._context = None if is_local else context

    def check(self) -> None:
        """Look.

        Raises:
            InputError: if there was none for too long.
        """
        if self._context is None or self._count() > 0:
            self._seen = time.monotonic()
        elif time.monotonic() - self._seen > self._timeout:
            raise InputError(
                f"The Spark cluster has had no worker for {self._timeout:g} seconds, so the run "
                f"was given up. (To wait longer, set {TIMEOUT_SETTING}.)"
            )

    def _count(self) -> int:
        try:
            # Those that the scheduler would give a task to. (The list of who keeps tables, which
            # is Spark's public one, can name a dead one for minutes.)
            return int(self._context._jsc.sc().getExecutorIds().size())  # noqa: SLF001
        except Exception:  # noqa: BLE001  (Spark is ending: the call will fail by itself)
            return 0


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"{TIMEOUT_SETTING} is a number of seconds.") from None
