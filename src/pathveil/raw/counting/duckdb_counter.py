"""The engine out of core: DuckDB sorts, joins and counts within a memory limit, and spills.

Rows are read piece by piece and coded (`steps`), DuckDB sorts the runs by unit, the sorted runs
are bounded unit by unit (`steps` again) and written to a table with one column per level, and
`sql_counter` counts that table level by level. No step holds more than a few pieces; what does
not fit into DuckDB's share of the memory goes to a private folder (`spilling`), nowhere else.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pathveil.errors import InputError, ParameterError
from pathveil.progress_reports import portion, report_progress, told_here
from pathveil.raw.counting.memory_size import DEFAULT_MEMORY, parse_memory
from pathveil.raw.counting.protocol import ExactCounts
from pathveil.raw.counting.sql_counter import (
    SqlCounter,
    canonical,
    count_text,
    survivors_table,
)
from pathveil.raw.counting.visit_runs import (
    RunForm,
    read_runs,
    whole_units,
    wide_schema,
    write_runs,
    write_wide,
)
from pathveil.raw.reading_plan import ReadingPlan
from pathveil.raw.sources.databases.asking import ask
from pathveil.raw.sources.encoding import EncodedPiece
from pathveil.raw.sources.raw_rows import RawRows, Source
from pathveil.raw.spilling import spill_folder
from pathveil.raw.steps import VisitSteps
from pathveil.raw.threads import in_threads

# What Python, its libraries and the arrays of one level need beside DuckDB.
_SHARE: Final = 0.5
_RUNS_AT_ONCE: Final = 1 << 16
_READING: Final = 0.6  # of the time, the rest is sorting and bounding; about
_SETTINGS: Final = (
    "SET python_enable_replacements = false",  # a table's name must not mean a Python variable
    "SET preserve_insertion_order = false",
    "SET enable_progress_bar = false",
    "SET lock_configuration = true",
)
_FULL: Final = (
    "DuckDB needs more memory than it may use, or more disk than there is in the spill folder; "
    "allow more with --memory (memory=…), or name a larger place with --spill (spill=…)."
)
_FAILED: Final = (
    "DuckDB could not count the trajectories; is there room in the spill folder? Name another with "
    "--spill (spill=…)."
)


class Dropped:
    """What the encoder dropped, exact numbers: for the curator's terminal only."""

    def __init__(self) -> None:
        self.rows = self.malformed = self.unordered = self.outside = 0
        self.over_the_cap = self.repeats = self.past_the_grid = 0

    def __repr__(self) -> str:
        return "Dropped(<private>)"


class DuckDbCounter(SqlCounter):
    """Counts a source of any size. Satisfies `PrefixCounter`; close it, or use it in a ``with``.

    Args:
        source: where the rows are.
        plan: how they are read.
        height: h, the number of levels.
        memory: about how much memory the process may use: "2GB", "500MB".
        spill: an existing folder for temporary files; None for the system's.

    Raises:
        ParameterError: if the memory or the folder can't be used.
        InputError: if the source can't be read, or memory or disk are exhausted.
    """

    def __init__(
        self,
        source: Source,
        plan: ReadingPlan,
        height: int,
        *,
        memory: str = DEFAULT_MEMORY,
        spill: str | os.PathLike[str] | None = None,
    ) -> None:
        super().__init__(plan, height)
        limit = int(parse_memory(memory) * _SHARE)
        self._exit = ExitStack()
        self._connections: list[Any] = []
        self._failure: Exception | None = None
        self.dropped = Dropped()
        self._written = 0  # runs that DuckDB was given to sort
        try:
            folder = self._exit.enter_context(spill_folder(None if spill is None else Path(spill)))
            self._connect(folder, limit)
            self._load(source, plan)
        except BaseException:
            self.close()
            raise

    @property
    def engine(self) -> str:
        """The engine's name."""
        return "duckdb"

    def close(self) -> None:
        """Close DuckDB and remove the spill folder. Safe to call twice."""
        for connection in reversed(self._connections):
            connection.close()
        self._connections.clear()
        self._exit.close()

    def _connect(self, folder: Path, limit: int) -> None:
        duckdb = _driver()
        config = {
            "memory_limit": f"{limit // 1024}KiB",
            "temp_directory": str(folder / "sorting"),
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        }
        connection = self._ask(
            lambda: duckdb.connect(str(folder / "trajectories.duckdb"), config=config)
        )
        self._connections.append(connection)
        for setting in _SETTINGS:
            connection.execute(setting)

    def _load(self, source: Source, plan: ReadingPlan) -> None:
        """Read, sort and bound everything into the table of the trajectories."""
        import pyarrow as pa

        form = form_of(source, plan)
        steps = VisitSteps.of(plan)
        reading = self._connections[0]
        writing = reading.cursor()
        self._connections.append(writing)
        with portion(0, _READING):
            made = told_here(self._guarded(self._runs(source, plan, steps, form)))
        runs = pa.RecordBatchReader.from_batches(form.schema, made)
        reading.register("runs", runs)
        text = f"SELECT * FROM runs ORDER BY {', '.join(form.sort_keys)}"  # noqa: S608  (our names)
        in_order = self._ask(lambda: reading.sql(text).to_arrow_reader(_RUNS_AT_ONCE))
        with portion(_READING, 1):
            bounded = told_here(self._guarded(self._wide(in_order, steps, form)))
        wide = pa.RecordBatchReader.from_batches(wide_schema(self.height), bounded)
        writing.register("wide", wide)
        self._ask(lambda: writing.execute("CREATE TABLE trajectories AS SELECT * FROM wide"))
        writing.unregister("wide")
        reading.unregister("runs")

    def _runs(
        self, source: Source, plan: ReadingPlan, steps: VisitSteps, form: RunForm
    ) -> Iterator[Any]:
        def read(piece: Callable[[], RawRows]) -> EncodedPiece:
            return steps.encode(steps.with_instants(piece()))

        for number, piece in enumerate(in_threads(read, source.pieces(plan.columns))):
            self.dropped.rows += piece.rows
            self.dropped.malformed += piece.malformed
            self.dropped.unordered += piece.unordered
            self.dropped.outside += piece.outside
            runs = write_runs(piece, form, number)
            self._written += runs.num_rows
            yield runs

    def _wide(self, in_order: Any, steps: VisitSteps, form: RunForm) -> Iterator[Any]:
        size, read = len(self.universe), 0

        def bound(table: Any) -> tuple[Any, int, int, int, int]:
            visits = read_runs(table, form, hashed=steps.is_sample)
            bounded = steps.bound(visits, size)
            numbers = (bounded.over_the_cap, bounded.repeats, bounded.past_the_grid)
            return write_wide(bounded, self.height), table.num_rows, *numbers

        for batch, runs, over, repeated, past in in_threads(bound, whole_units(in_order)):
            self.dropped.over_the_cap += over
            self.dropped.repeats += repeated
            self.dropped.past_the_grid += past
            read += runs
            report_progress(read, self._written)
            yield batch

    def _guarded(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Remember what goes wrong while DuckDB pulls: it would wrap our error in its own."""
        try:
            yield from batches
        except Exception as error:
            self._failure = self._failure or error
            raise

    def _count(self, level: int, paths: NDArray[np.int32]) -> ExactCounts:
        connection = self._connections[0]
        connection.register("survivors", survivors_table(paths))
        text = count_text("trajectories", "survivors", level)
        table = self._ask(lambda: connection.sql(text).to_arrow_table())
        connection.unregister("survivors")
        node, location, count = (np.asarray(column) for column in table.columns)
        return canonical(node, location, count)

    def _ask(self, call: Callable[[], Any]) -> Any:
        """Call DuckDB so that Ctrl-C gets through, and its failures come in our words."""
        return ask(call, self._problem, self._interrupt)

    def _interrupt(self) -> None:
        for connection in self._connections:
            connection.interrupt()

    def _problem(self, error: Exception) -> str:
        if isinstance(self._failure, InputError | ParameterError):
            return str(self._failure)
        if type(error).__name__ in ("OutOfMemoryException", "IOException"):
            return _FULL
        return _FAILED


def form_of(source: Source, plan: ReadingPlan, *, has_places: bool = True) -> RunForm:
    """The form of the runs of a source; the order of its rows is kept only if it decides."""
    columns = plan.columns
    is_ordered = columns.order is not None
    is_whole = getattr(source, "is_whole", None)
    return RunForm(
        has_trips=columns.trajectory is not None,
        rows_are_trajectories=plan.is_list and columns.trajectory is None,
        is_ordered=is_ordered,
        has_rest=columns.order is not None
        and (plan.time_grid is not None or is_whole is None or not is_whole(columns.order)),
        has_places=has_places and not is_ordered,
    )


def _driver() -> Any:
    try:
        import duckdb
    except ImportError:
        raise ParameterError(
            "The engine 'duckdb' needs DuckDB: install pathveil[duckdb]."
        ) from None
    return duckdb
