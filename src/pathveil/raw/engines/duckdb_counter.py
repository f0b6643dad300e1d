"""The engine out of core: files by unit, batches of trajectories, and DuckDB, which sums and sorts.

Rows are read piece by piece, coded (`steps`) and written to files by unit (`run_files`). File by
file the units are bounded (`steps` again), and their trajectories written to one more file, in
batches. A pass reads that file from its beginning to its end and counts batch by batch, in threads
(`batches`). Tables of a few million cells are summed in arrays; of larger ones DuckDB adds up and
sorts what the batches gave, within its memory limit. No step holds more than a few pieces, files or
batches; all of this is in one private folder (`spilling`), and nothing is anywhere else.

What is written there is encrypted. DuckDB's own file has a key from the operating system's
generator, in memory only. DuckDB draws the nonces, and the key of its temporary files, from a
generator that it calls not secure itself (`docs/engines.md`).
"""

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pathveil.errors import InputError, ParameterError
from pathveil.progress_reports import portion, report_progress, reporting_here
from pathveil.raw.bounding import BoundedTrajectories, join
from pathveil.raw.engines.batch_counter import BatchCounter
from pathveil.raw.engines.batches import MOST_VISITS, Block, SortedSums, packed
from pathveil.raw.engines.dropped import Dropped
from pathveil.raw.engines.memory_size import DEFAULT_MEMORY, parse_memory
from pathveil.raw.engines.protocol import Cells, Tables
from pathveil.raw.engines.run_files import RunFiles, sealed, sealed_pieces, take_units, unsealed
from pathveil.raw.engines.sums import SmallSums
from pathveil.raw.engines.visit_runs import RunForm, read_runs, write_runs
from pathveil.raw.observed import LabelCollector
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
_SUMMED_AT_ONCE: Final = 1 << 21  # cells of a table that is summed in an array
_READING: Final = 0.6  # of the time, the rest is bounding; about
_BATCHES_AT_ONCE: Final = 4  # each takes some hundred bytes for a trajectory, while it is counted
_DATABASE: Final = "spilled"
_SUMS: Final = (
    "SELECT number, cell, CAST(sum(trajectories) AS BIGINT) AS trajectories FROM parts "
    "GROUP BY number, cell ORDER BY number, cell"
)
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


class DuckDbCounter(BatchCounter):
    """Counts a source of any size. Satisfies `TableCounter`; close it, or use it in a ``with``.

    Args:
        source: where the rows are.
        plan: how they are read.
        height: after how many visits trajectories are cut, if nothing looks further; else None.
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
        height: int | None,
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
            self._batches = folder / "trajectories.batches"
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
        attach = _attach_text(folder / "sums.duckdb")
        for statement in (*_SETTINGS[:2], attach, f"USE {_DATABASE}", *_SETTINGS[2:]):
            self._ask(partial(connection.execute, statement))
        return connection

    def _load(self, source: Source, plan: ReadingPlan, folder: Path) -> None:
        """Read and bound everything into batches of trajectories."""
        form = RunForm.of(source, plan, has_forms=True)
        steps = VisitSteps.of(plan)
        labels = None
        if isinstance(plan.universe, str):
            labels = LabelCollector(steps.times, exact_units=plan.rules.exact_units)
        else:
            self._over(plan.universe)
        code_of = None
        try:
            with portion(0, _READING):
                files = self._written(source, plan, labels or steps, steps, form, folder)
            if labels is not None:
                self._over(labels.universe())
                code_of = labels.codes()
            with portion(_READING, 1):
                self._bound(files, steps, form, code_of)
        except (OSError, MemoryError):
            raise InputError(_FULL) from None

    def _written(
        self,
        source: Source,
        plan: ReadingPlan,
        encoder: VisitSteps | LabelCollector,
        steps: VisitSteps,
        form: RunForm,
        folder: Path,
    ) -> RunFiles:
        """All rows of the source, coded and by unit, on disk."""
        files = RunFiles(folder, form.schema, self._memory // _FILES_IN_MEMORY)

        def read(piece: Callable[[], RawRows]) -> tuple[EncodedPiece, Any]:
            encoded = encoder.encode(steps.with_instants(piece()))
            return encoded, write_runs(encoded, form)

        for piece, runs in in_threads(read, plan.pieces(source)):
            self.dropped.read(piece)
            files.add(runs)
        files.flush()
        return files

    def _bound(
        self,
        files: RunFiles,
        steps: VisitSteps,
        form: RunForm,
        code_of: NDArray[np.int32] | None,
    ) -> None:
        """The trajectories of all files, in batches, in one file."""
        size = len(self.universe)

        def bound(path: Path) -> BoundedTrajectories:
            visits = read_runs(take_units(path, form.schema), form, hashed=steps.is_sample)
            if code_of is not None:
                visits = replace(visits, location=code_of[visits.location])
            return steps.bound(visits, size)

        with self._batches.open("wb") as sink:
            small: list[BoundedTrajectories] = []
            for bounded in in_threads(bound, files.paths(), most=_BOUNDED_AT_ONCE):
                self.dropped.bound(bounded)
                small.append(bounded)
                if sum(len(part.codes) for part in small) >= MOST_VISITS:
                    sink.writelines(map(sealed, packed(join(small), self.height)))
                    small.clear()
                report_progress(*files.progress)
            if small:
                sink.writelines(map(sealed, packed(join(small), self.height)))

    def count_tables(self, tables: Tables) -> Iterator[Iterator[Cells]]:
        """One pass over the batches; large tables are added up and sorted by DuckDB."""
        small = SmallSums(tables, _SUMMED_AT_ONCE)
        parts = self._parts(small)
        if all(table in small for table in range(len(tables.sizes))):
            sums = SortedSums(parts)
        else:
            sums = SortedSums(self._summed(parts))
        for table in range(len(tables.sizes)):
            yield iter((small.cells(table),)) if table in small else sums.of(table)

    def _parts(self, small: SmallSums) -> Iterator[Block]:
        """What each batch adds to the large tables; the small ones are summed on the way."""
        pieces = sealed_pieces(self._batches)
        try:
            for parts in in_threads(
                lambda piece: small.add(self._view.rows(unsealed(piece))),
                pieces,
                most=_BATCHES_AT_ONCE,
            ):
                for table, (cells, counts) in parts:
                    yield np.full(len(cells), table), cells, counts
        except (OSError, MemoryError):
            raise InputError(_FULL) from None

    def _summed(self, parts: Iterator[Block]) -> Iterator[Block]:
        """The same, added up and in order."""
        import pyarrow as pa

        names = ("number", "cell", "trajectories")
        schema = pa.schema([(name, pa.int64()) for name in names])
        batches = (
            pa.RecordBatch.from_arrays(list(map(pa.array, part)), schema=schema) for part in parts
        )
        connection = self._connection
        given = pa.RecordBatchReader.from_batches(schema, self._guarded(reporting_here(batches)))
        connection.register("parts", given)
        counted = self._ask(lambda: connection.sql(_SUMS).to_arrow_reader(_COUNTS_AT_ONCE))
        while (batch := self._ask(lambda: next(counted, None))) is not None:
            yield as_block(*map(np.asarray, batch.columns))
        connection.unregister("parts")

    def _guarded(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Remember what goes wrong while DuckDB pulls: it would wrap our error in its own."""
        try:
            yield from batches
        except Exception as error:
            self._failure = self._failure or error
            raise

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


def as_block(*columns: NDArray[np.int64]) -> Block:
    """A block of what DuckDB summed."""
    number, cell, trajectories = columns
    return number, cell, trajectories


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
