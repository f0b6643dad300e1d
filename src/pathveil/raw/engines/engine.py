"""Which engine counts: in memory, out of core (DuckDB) or on a cluster (Spark). One law for all.

The choice changes how long a run takes and what it needs, never what it releases: every engine
gives the noise the same exact counts in the same order. It is made before anything is charged or
read, from what is asked for and the size of the input's files, and is not part of a release.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pathveil.core.parameters import Parameters
from pathveil.errors import InputError, ParameterError, did_you_mean
from pathveil.raw.database import TrajectoryDatabase
from pathveil.raw.engines.batch_counter import BatchCounter
from pathveil.raw.engines.input_size import InputSize
from pathveil.raw.engines.memory_counter import MemoryTables
from pathveil.raw.engines.memory_size import DEFAULT_MEMORY, parse_memory
from pathveil.raw.engines.protocol import TableCounter
from pathveil.raw.reading import Report, read
from pathveil.raw.reading_plan import Reading, ReadingPlan, check_universe, check_worth
from pathveil.raw.sources.databases.addresses import refuse_query
from pathveil.raw.sources.lake_tables import Snapshot, refuse_snapshot
from pathveil.raw.sources.opening import Opened, open_source, refuse_encoding
from pathveil.raw.sources.raw_rows import Source
from pathveil.raw.sources.spark_table import SparkTable, is_spark_frame
from pathveil.universe.universe import Universe

if TYPE_CHECKING:
    from pathveil.raw.engines.spark_rows import SparkRows

AUTO, MEMORY, DUCKDB, SPARK = "auto", "memory", "duckdb", "spark"
ENGINES: Final = (AUTO, MEMORY, DUCKDB, SPARK)
Trajectories: TypeAlias = TrajectoryDatabase | BatchCounter

_SHARE: Final = 0.5  # of the machine's memory
# Python with the synthesis (0.65 GB at 50 million) and a driver's Java (0.86 GB at most), as was
# measured on a cluster; with a `local` master Java does the workers' work, too.
_DRIVER: Final = "about 1.5 GB"


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine that is there.

    Attributes:
        name: "memory", "duckdb" or "spark".
        memory: about how much memory DuckDB's process may use.
        spill: where DuckDB, or a Spark session of our own, may write temporary files; None for
            the system's folder.
        master: the Spark cluster, if the input is not a DataFrame already.
    """

    name: str
    memory: str = DEFAULT_MEMORY
    spill: str | os.PathLike[str] | None = None
    master: str | None = None

    @classmethod
    def choose(
        cls,
        name: str,
        source: Any,
        *,
        memory: str = DEFAULT_MEMORY,
        spill: str | os.PathLike[str] | None = None,
        master: str | None = None,
        snapshot: Snapshot = None,
    ) -> "Engine":
        """Check the choice, or make it. Opens nothing (of a store, it asks how large files are).

        "auto" takes Spark for a Spark DataFrame; DuckDB for Parquet or CSV files that would fill
        half of the machine's memory (24 bytes of memory per byte of Parquet, 4 per byte of CSV),
        if DuckDB is installed; else the memory engine. Of a table that keeps its history, it is
        the files of the ``snapshot`` that is read.

        Raises:
            ParameterError: if there is no such engine, or it can't be used here.
        """
        parse_memory(memory)
        size = InputSize(source, snapshot)
        if name not in ENGINES:
            raise ParameterError(
                f"The engine is one of {', '.join(map(repr, ENGINES))}."
                f"{did_you_mean(name, ENGINES)}"
            )
        if isinstance(source, TrajectoryDatabase | BatchCounter):
            name = _engine_of(source, name)
        elif is_spark_frame(source) or master is not None:
            if name not in (AUTO, SPARK):
                raise ParameterError("A Spark table is counted by the engine 'spark' only.")
            name = SPARK
        elif name == SPARK:
            raise ParameterError(
                "The engine 'spark' needs a cluster: --master spark://host:7077 (or local[2]); in "
                "Python master=…, or a Spark DataFrame."
            )
        elif name == AUTO:
            name = DUCKDB if _is_large(size) and _has_duckdb() else MEMORY
        if name == SPARK and master is not None:
            from pathveil.raw.engines.spark_session import check_cluster

            check_cluster(master)
        if name == DUCKDB and not _has_duckdb():
            raise ParameterError("The engine 'duckdb' needs DuckDB: install pathveil[duckdb].")
        if name != MEMORY:
            _check_spill(name, None if spill is None else Path(spill), size)
        return cls(name, memory, spill, master)

    def needs(self, source: Any, parameters: Parameters, snapshot: Snapshot = None) -> str:
        """What a run will take, in words, before anything is charged or opened.

        It looks at public parameters and the size of the files.
        """
        size = InputSize(source, snapshot)
        passes = parameters.how.passes(parameters)
        if is_read(source):
            return f"engine {self.name}"
        said = f"engine {self.name}, which goes through the trajectories at most {passes} times"
        if self.name == MEMORY:
            most = size.in_memory / 10**6
            return f"{said} and uses about {most:,.0f} MB of memory for them" if most >= 1 else said
        disk = _spilled(size)
        if self.name == DUCKDB:
            return f"{said}, uses about {self.memory} of memory and spills {disk}, encrypted"
        return f"{said}, keeps {disk} on the workers' disks and uses {_DRIVER} of memory here"

    @contextmanager
    def open(
        self,
        source: Any,
        universe: Any,
        height: int | None,
        reading: Reading | None = None,
        report: Report | None = None,
        *,
        inspect: bool = False,
    ) -> Iterator[Trajectories]:
        """Read a source, and forget it when the block ends, well or not.

        Args:
            source: trajectories that are read already; or as for `read_trajectories`; for Spark
                also a DataFrame, or the address of a table (`spark_session.read_table`).
            universe: the public universe, or "discover".
            height: after how many visits trajectories may be cut; None if all are looked at.
            reading: how it is read; None if it is read already.
            report: called with what was dropped.
            inspect: whether to find out more to report, in a rehearsal.
        """
        if isinstance(source, TrajectoryDatabase | BatchCounter):
            yield source
            return
        if reading is None:
            raise ParameterError("Say how the trajectories are to be read.")
        if self.name == MEMORY:
            yield read(source, universe, reading, report, inspect=inspect)
            return
        check_universe(universe)
        if inspect and self.name == SPARK and not self._spark_reads(source, universe, reading):
            # A rehearsal quotes rows. Those that this machine can read are looked at here.
            here = replace(self, name=DUCKDB if _has_duckdb() else MEMORY, master=None)
            with here.open(source, universe, height, reading, report, inspect=True) as found:
                yield found
            return
        counting = (
            self._duckdb(source, universe, height, reading, report, inspect=inspect)
            if self.name == DUCKDB
            else self._spark(source, universe, height, reading, report)
        )
        with counting as counter:
            yield counter

    def check(self, source: Any, universe: Any, reading: Reading) -> Any:
        """Open a source and refuse it by its header or schema; no row is looked at.

        Names and types of columns are no facts about people, so this may be done, and what it says
        be told, before anything is charged. A cluster's table is left alone: it takes a session.

        Returns:
            The source to read.
        """
        if is_read(source):
            return source
        check_universe(universe)
        if self._spark_reads(source, universe, reading):
            _refuse_for_tables(reading)
            if not is_spark_frame(source):
                return source
            opened: Source = SparkTable(source)
        else:
            opened = _open(source, reading)
        plan = ReadingPlan.of(opened, universe, reading)
        check_worth(plan.rules.sentences(), plan.max_trajectories_per_unit, plan.rules.protect)
        opened.check(plan.columns)
        is_named = isinstance(source, str | os.PathLike) or is_spark_frame(source)
        return source if is_named else Opened(opened)

    @contextmanager
    def _duckdb(
        self,
        source: Any,
        universe: Universe | str,
        height: int | None,
        reading: Reading,
        report: Report | None,
        *,
        inspect: bool,
    ) -> Iterator[BatchCounter]:
        from pathveil.raw.engines.duckdb_counter import DuckDbCounter

        opened = _open(source, reading)
        plan = ReadingPlan.of(opened, universe, reading)
        plan = plan.inspected() if inspect else plan
        with DuckDbCounter(opened, plan, height, memory=self.memory, spill=self.spill) as counter:
            if report is not None:
                report(counter.dropped.as_report(plan))
            yield counter

    @contextmanager
    def _spark(
        self,
        source: Any,
        universe: Universe | str,
        height: int | None,
        reading: Reading,
        report: Report | None,
    ) -> Iterator[BatchCounter]:
        from pathveil.raw.engines.spark_counter import SparkCounter
        from pathveil.raw.engines.spark_session import opened_session

        # What is not there is found out before Spark is started.
        opened = None if self._spark_reads(source, universe, reading) else _open(source, reading)
        with opened_session(source, self.master, self.spill) as session:
            rows = self._spark_rows(session, source, opened, reading)
            plan = ReadingPlan.of(rows.source, universe, reading)
            tells = report is not None
            with SparkCounter(rows, plan, height, tells_forms=tells) as counter:
                if report is not None:
                    report(counter.dropped().as_report(plan))
                yield counter

    def _spark_reads(self, source: Any, universe: Any, reading: Reading) -> bool:
        """Whether Spark's own readers read it: not if only the order of its rows tells an order."""
        if self.name != SPARK:
            return False
        from pathveil.raw.engines.spark_session import are_files, spark_reads

        if not spark_reads(source, reading):
            return False
        names_order = reading.columns["order"] is not None
        return names_order or not are_files(source) or not _is_in_order(source, universe, reading)

    def _spark_rows(
        self, session: Any, source: Any, opened: Source | None, reading: Reading
    ) -> "SparkRows":
        from pathveil.raw.engines.spark_rows import AddressRows, HeldRows, TableRows
        from pathveil.raw.engines.spark_session import read_table

        if opened is None:
            _refuse_for_tables(reading)
            frame = source if is_spark_frame(source) else read_table(session, source)
            if frame is not None:
                return TableRows(SparkTable(frame))
            opened = _open(source, reading)
        if not isinstance(source, str | os.PathLike):
            return HeldRows(session, opened)
        return AddressRows(session, opened, os.fspath(source), reading.whereabouts)


def _refuse_for_tables(reading: Reading) -> None:
    """Refuse what says how something else than a table of Spark's is read."""
    refuse_encoding(reading.encoding)
    refuse_query(reading.query, reading.table)
    refuse_snapshot(reading.snapshot)


def _is_in_order(source: Any, universe: Any, reading: Reading) -> bool:
    """Whether visits in files come in the order of the rows; told by names and types of columns."""
    try:
        opened = _open(source, reading)
    except InputError:
        return False  # nothing that can be seen from here: Spark will say what it is
    plan = ReadingPlan.of(opened, universe, reading)
    return not plan.is_list and plan.columns.order is None


def _open(source: Any, reading: Reading) -> Source:
    return open_source(source, **reading.whereabouts)


def is_read(source: Any) -> bool:
    """Whether these are trajectories already, and not where they are."""
    return isinstance(source, TrajectoryDatabase | BatchCounter)


def table_counter(trajectories: Trajectories) -> TableCounter:
    """What counts any tables of some trajectories."""
    if isinstance(trajectories, TrajectoryDatabase):
        return MemoryTables.of(trajectories)
    return trajectories


def _engine_of(trajectories: Trajectories, asked: str) -> str:
    """The engine of trajectories that are read already."""
    name = MEMORY if isinstance(trajectories, TrajectoryDatabase) else trajectories.engine
    if asked not in (AUTO, name):
        raise ParameterError(f"These trajectories are counted by the engine {name!r} only.")
    return name


def _spilled(size: InputSize) -> str:
    """How much goes to disks, in words."""
    if not size.spilled_at_most:
        return "as much as the rows need (how large they are is not known beforehand)"
    least, most = size.spilled_at_least / 10**6, size.spilled_at_most / 10**6
    return f"{least:,.0f} to {most:,.0f} MB" if most >= 1 else "less than 1 MB"


def _check_spill(name: str, folder: Path | None, size: InputSize) -> None:
    from pathveil.raw.spilling import check_room, check_spill_folder

    if folder is not None:
        check_spill_folder(folder)
    if name == DUCKDB:
        check_room(folder, size.spilled_at_least)


def _is_large(size: InputSize) -> bool:
    """Whether the files of an input would fill the memory; a table in memory fits already."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return size.in_memory > _SHARE * memory


def _has_duckdb() -> bool:
    from importlib.util import find_spec

    return find_spec("duckdb") is not None and find_spec("cryptography") is not None
