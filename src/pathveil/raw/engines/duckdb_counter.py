"""The engine out of core: files by unit, and DuckDB, which joins and counts within a memory limit.

Rows are read piece by piece, coded (`steps`) and written to files by unit (`run_files`). File by
file the units are bounded (`steps` again) into a table of DuckDB's with one column per level, and
`sql_counter` counts that table level by level. No step holds more than a few pieces or files; all
of this is in one private folder (`spilling`), and nothing is anywhere else.

What is written there is encrypted. DuckDB's own file has a key from the operating system's
generator, in memory only. DuckDB draws the nonces, and the key of its temporary files, from a
generator that it calls not secure itself (`docs/engines.md`).
"""

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pathveil.errors import InputError, ParameterError
from pathveil.progress_reports import portion, report_progress, reporting_here
from pathveil.raw.engines.memory_size import DEFAULT_MEMORY, parse_memory
from pathveil.raw.engines.protocol import ExactCounts
from pathveil.raw.engines.run_files import RunFiles, take_units
from pathveil.raw.engines.sql_counter import (
    ORDER,
    SqlCounter,
    count_text,
    exact_counts,
    survivors_table,
)
from pathveil.raw.engines.visit_runs import (
    RunForm,
    read_runs,
    wide_schema,
    write_runs,
    write_wide,
)
from pathveil.raw.reading_plan import ReadingPlan
from pathveil.raw.sources.databases.queries import ask
from pathveil.raw.sources.encoding import EncodedPiece
from pathveil.raw.sources.raw_rows import RawRows, Source
from pathveil.raw.spilling import spill_folder
from pathveil.raw.steps import VisitSteps
from pathveil.threads import in_threads

_SHARE: Final = 0.5  # for DuckDB; the rest is for Python, its libraries, pieces and files
_BOUNDED_AT_ONCE: Final = 4  # files; each takes some times its size, with what becomes of it
_FILES_IN_MEMORY: Final = 96
_COUNTS_AT_ONCE: Final = 1 << 16
_READING: Final = 0.6  # of the time, the rest is bounding; about
_DATABASE: Final = "spilled"
_SETTINGS: Final = (
    "SET force_mbedtls_unsafe = true",  # the cipher without an extension from the network
    "SET temp_file_encryption = true",
    "SET python_enable_replacements = false",  # a table's name must not mean a Python variable
    "SET preserve_insertion_order = false",
    "SET enable_progress_bar = false",
    "SET lock_configuration = true",
)
_FULL: Final = (
    "DuckDB needs more memory than it may use, or more disk than there is in the spill folder; "
    "allow more with --memory (memory=…), or name a larger folder with --spill (spill=…)."
)
_FAILED: Final = (
    "DuckDB could not count the trajectories; is there room in the spill folder? Name another with "
    "--spill (spill=…)."
)


class Dropped:
    """What the encoder dropped, exact numbers: for the curator's terminal only."""

    def __init__(self) -> None:
        self.rows = self.malformed = self.unordered = self.outside = 0
        self.over_the_cap = self.repeats = self.past_the_grid = self.merged_forms = 0

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
        self._memory = parse_memory(memory)
        self._exit = ExitStack()
        self._failure: Exception | None = None
        self.dropped = Dropped()
        try:
            folder = self._exit.enter_context(spill_folder(None if spill is None else Path(spill)))
            self._connection = self._connect(folder, int(self._memory * _SHARE))
            runs = folder / "runs"
            runs.mkdir(mode=0o700)
            self._load(source, plan, runs)
        except BaseException:
            self.close()
            raise

    @property
    def engine(self) -> str:
        """The engine's name."""
        return "duckdb"

    def close(self) -> None:
        """Close DuckDB and remove the spill folder. Safe to call twice."""
        self._exit.close()

    def _connect(self, folder: Path, limit: int) -> Any:
        duckdb = _driver()
        config = {
            "memory_limit": f"{limit // 1024}KiB",
            "temp_directory": str(folder / "sorting"),
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        }
        connection = self._ask(lambda: duckdb.connect(config=config))
        self._exit.enter_context(closing(connection))
        attach = _attach_text(folder / "trajectories.duckdb")
        for statement in (*_SETTINGS[:2], attach, f"USE {_DATABASE}", *_SETTINGS[2:]):
            self._ask(partial(connection.execute, statement))
        return connection

    def _load(self, source: Source, plan: ReadingPlan, folder: Path) -> None:
        """Read and bound everything into the table of the trajectories."""
        import pyarrow as pa

        form = RunForm.of(source, plan, has_forms=True)
        steps = VisitSteps.of(plan)
        with portion(0, _READING):
            files = self._written(source, plan, steps, form, folder)
        with portion(_READING, 1):
            bounded = reporting_here(self._guarded(self._wide(files, steps, form)))
        wide = pa.RecordBatchReader.from_batches(wide_schema(self.height), bounded)
        connection = self._connection
        connection.register("wide", wide)
        self._ask(lambda: connection.execute("CREATE TABLE trajectories AS SELECT * FROM wide"))
        connection.unregister("wide")

    def _written(
        self, source: Source, plan: ReadingPlan, steps: VisitSteps, form: RunForm, folder: Path
    ) -> RunFiles:
        """All rows of the source, coded and by unit, on disk."""
        files = RunFiles(folder, form.schema, self._memory // _FILES_IN_MEMORY)

        def read(piece: Callable[[], RawRows]) -> tuple[EncodedPiece, Any]:
            encoded = steps.encode(steps.with_instants(piece()))
            return encoded, write_runs(encoded, form)

        try:
            for piece, runs in in_threads(read, plan.pieces(source)):
                self.dropped.rows += piece.rows
                self.dropped.malformed += piece.malformed
                self.dropped.unordered += piece.unordered
                self.dropped.outside += piece.outside
                files.add(runs)
            files.flush()
        except OSError:
            raise InputError(_FULL) from None
        return files

    def _wide(self, files: RunFiles, steps: VisitSteps, form: RunForm) -> Iterator[Any]:
        size = len(self.universe)

        def bound(path: Path) -> tuple[Any, tuple[int, int, int, int]]:
            visits = read_runs(take_units(path, form.schema), form, hashed=steps.is_sample)
            bounded = steps.bound(visits, size)
            numbers = (bounded.over_the_cap, bounded.repeats, bounded.past_the_grid)
            return write_wide(bounded, self.height), (*numbers, bounded.merged_forms)

        for batch, numbers in in_threads(bound, files.paths(), most=_BOUNDED_AT_ONCE):
            over, repeated, past, merged = numbers
            self.dropped.over_the_cap += over
            self.dropped.repeats += repeated
            self.dropped.past_the_grid += past
            self.dropped.merged_forms += merged
            report_progress(*files.progress)
            yield batch

    def _guarded(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Remember what goes wrong while DuckDB pulls: it would wrap our error in its own."""
        try:
            yield from batches
        except Exception as error:
            self._failure = self._failure or error
            raise

    def _count(self, level: int, paths: NDArray[np.int32]) -> Iterator[ExactCounts]:
        connection = self._connection
        connection.register("survivors", survivors_table(paths))
        text = f"{count_text('trajectories', 'survivors', level)} ORDER BY {', '.join(ORDER)}"
        counted = self._ask(lambda: connection.sql(text).to_arrow_reader(_COUNTS_AT_ONCE))
        while (batch := self._ask(lambda: next(counted, None))) is not None:
            yield exact_counts(*map(np.asarray, batch.columns))
        connection.unregister("survivors")

    def _ask(self, call: Callable[[], Any]) -> Any:
        """Call DuckDB so that Ctrl-C gets through, and its failures come in our words."""
        return ask(call, self._problem, self._interrupt)

    def _interrupt(self) -> None:
        self._connection.interrupt()

    def _problem(self, error: Exception) -> str:
        if isinstance(self._failure, InputError | ParameterError):
            return str(self._failure)
        is_full = type(error).__name__ in ("OutOfMemoryException", "IOException")
        return _FULL if is_full or isinstance(self._failure, OSError | MemoryError) else _FAILED


def _attach_text(file: Path) -> str:
    """Make the file for the tables, with a key that is written nowhere."""
    quoted, key = str(file).replace("'", "''"), secrets.token_hex(32)
    return f"ATTACH '{quoted}' AS {_DATABASE} (ENCRYPTION_KEY '{key}')"


def _driver() -> Any:
    try:
        import duckdb
    except ImportError:
        raise ParameterError(
            "The engine 'duckdb' needs DuckDB: install pathveil[duckdb]."
        ) from None
    return duckdb
