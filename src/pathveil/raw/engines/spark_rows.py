"""Where the rows of a cluster come from, and who reads them.

| source | read by |
|---|---|
| a table that Spark reads (`SparkTable`) | every worker a part, by Spark's readers |
| a CSV file, a workbook, a database, an old snapshot: an address | one worker, by our readers |
| a table in this process | this process, which has it already |

One worker reads a source exactly as the engines on one machine do: piece by piece, by the same
code, in the source's order. So a text means the same on every engine (Spark cuts CSV by rules of
its own), and rows that have an order keep it. What it has coded goes to all workers by unit, as
ever; a worker that is lost meanwhile is replaced by one that reads the source again. Nothing of it
passes through the driver.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from pathveil.raw.engines.dropped import Dropped
from pathveil.raw.engines.visit_runs import RunForm, as_binary, write_runs
from pathveil.raw.observed import LabelCollector, labels_of
from pathveil.raw.sources.arrow_table import table_pieces
from pathveil.raw.sources.columns import Columns
from pathveil.raw.sources.databases.addresses import named_database
from pathveil.raw.sources.lake_tables import LakeTable, named_table
from pathveil.raw.sources.object_store import is_stored
from pathveil.raw.sources.opening import open_source
from pathveil.raw.sources.raw_rows import RawRows, Source, attempt
from pathveil.raw.sources.spark_table import SparkTable
from pathveil.raw.steps import VisitSteps

TOLD: Final = "told"  # what a task dropped, in a row of its own; null in a row of visits
_TYPES: Final = {"binary": "binary", "int64": "bigint"}
_UNREADABLE: Final = "The rows of the table can't be read."

Piece = Callable[[], RawRows]


class SparkRows(ABC):
    """Rows that are on a cluster, or are brought to it.

    Attributes:
        source: names and types of its columns.
        session: a Spark session.
        is_ordered: whether the rows have an order of their own.
    """

    source: Source
    session: Any
    is_ordered: bool

    @abstractmethod
    def labels(self, columns: Columns) -> list[str]:
        """All labels that occur, in the order of their bytes: private, for discovery only."""

    @abstractmethod
    def runs(self, columns: Columns, steps: VisitSteps, form: RunForm) -> Any:
        """The coded rows, a DataFrame of the form's columns and `TOLD`."""


class _ReadByWorkers(SparkRows):
    """Rows that come out of Arrow batches on the workers."""

    @abstractmethod
    def _given(self, columns: Columns) -> tuple[Any, "_Pieces"]:
        """What the workers are given, and how they find rows in it."""

    def labels(self, columns: Columns) -> list[str]:
        """Each once; the driver fetches them."""
        frame, pieces = self._given(columns)
        found = frame.mapInArrow(_Labels(pieces), "label binary").distinct()
        labels = sorted(bytes(row.label) for row in found.collect())
        return [label.decode("utf-8") for label in labels]

    def runs(self, columns: Columns, steps: VisitSteps, form: RunForm) -> Any:
        """No row of it comes here."""
        frame, pieces = self._given(columns)
        return frame.mapInArrow(_Encode(pieces, steps, form), _as_spark(_told_schema(form)))


class TableRows(_ReadByWorkers):
    """A table that Spark reads.

    Args:
        table: a DataFrame.
    """

    is_ordered = False

    def __init__(self, table: SparkTable) -> None:
        self.source = table
        self.session = table.frame.sparkSession
        self._frame = table.frame

    def _given(self, columns: Columns) -> tuple[Any, "_Pieces"]:
        names = (f"`{name.replace('`', '``')}`" for name in columns.used)
        return self._frame.select(*names), _OfBatches(columns)


class AddressRows(_ReadByWorkers):
    """A source that one worker reads. It must find there what is found here.

    Args:
        session: a Spark session.
        opened: the source, opened here: its names and types are looked at, no row.
        address: its path or address.
        whereabouts: what else opening it takes (`Reading.whereabouts`).
    """

    is_ordered = True

    def __init__(
        self, session: Any, opened: Source, address: str, whereabouts: Mapping[str, Any]
    ) -> None:
        self.source = opened
        self.session = session
        # The newest state is that of now, even if a worker has to read it again.
        state = opened.snapshot if isinstance(opened, LakeTable) else None
        self._place = _Place(absolute(address), {**whereabouts, "snapshot": state})

    def _given(self, columns: Columns) -> tuple[Any, "_Pieces"]:
        one = self.session.range(0, 1, 1, 1)  # one row, so one task
        return one, _OfAddress(columns, self._place)


class HeldRows(SparkRows):
    """A table that this process holds.

    Args:
        session: a Spark session.
        opened: the table.
    """

    is_ordered = True

    def __init__(self, session: Any, opened: Source) -> None:
        self.source = opened
        self.session = session
        self._rows: list[RawRows] | None = None  # a stream can be read once only

    def labels(self, columns: Columns) -> list[str]:
        """Collected here."""
        collector = LabelCollector()
        for rows in self._read(columns):
            collector.add(rows)
        return list(collector.universe().labels)

    def runs(self, columns: Columns, steps: VisitSteps, form: RunForm) -> Any:
        """Coded here, and sent to the workers."""
        import pyarrow as pa

        pieces = ((lambda rows=rows: rows) for rows in self._read(columns))
        coded = pa.Table.from_batches(_coded(pieces, steps, form), _told_schema(form))
        self._rows = None
        return self.session.createDataFrame(coded, _as_spark(coded.schema))

    def _read(self, columns: Columns) -> list[RawRows]:
        if self._rows is None:
            self._rows = [piece() for piece in self.source.pieces(columns)]
        return self._rows


def absolute(address: str) -> str:
    """An address that means the same in whatever folder a worker runs."""
    if is_stored(address):
        return address
    database, lake = named_database(address), named_table(address)
    kind, place = database or lake or ("", address)
    if kind in ("postgresql", "iceberg") or "://" in place:
        return address
    return f"{kind}:{Path(place).absolute()}" if kind else str(Path(place).absolute())


# What runs on a worker.


class _Pieces(Protocol):
    """How a worker finds rows in what it is given."""

    def __call__(self, batches: Iterator[Any]) -> Iterator[Piece]: ...


@dataclass(frozen=True, slots=True, repr=False)
class _OfBatches:
    """The batches are the rows."""

    columns: Columns

    def __call__(self, batches: Iterator[Any]) -> Iterator[Piece]:
        import pyarrow as pa

        for batch in batches:
            yield from table_pieces(pa.Table.from_batches([batch]), self.columns)


@dataclass(frozen=True, slots=True, repr=False)
class _Place:
    """Where a source is."""

    address: str
    whereabouts: Mapping[str, Any]


@dataclass(frozen=True, slots=True, repr=False)
class _OfAddress:
    """Whoever is given a row reads the source."""

    columns: Columns
    place: _Place

    def __call__(self, batches: Iterator[Any]) -> Iterator[Piece]:
        for _ in range(sum(batch.num_rows for batch in batches)):
            source = open_source(self.place.address, **self.place.whereabouts)
            yield from source.pieces(self.columns)


@dataclass(frozen=True, slots=True, repr=False)
class _Encode:
    """Rows of the source into runs, and what was dropped of them."""

    pieces: _Pieces
    steps: VisitSteps
    form: RunForm

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        return _coded(self.pieces(batches), self.steps, self.form)


@dataclass(frozen=True, slots=True, repr=False)
class _Labels:
    """The distinct labels of rows of the source."""

    pieces: _Pieces

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for piece in self.pieces(batches):
            labels = attempt(lambda piece=piece: labels_of(piece()), _UNREADABLE)  # type: ignore[misc]
            yield pa.RecordBatch.from_arrays([as_binary(labels)], ["label"])


def _coded(pieces: Iterator[Piece], steps: VisitSteps, form: RunForm) -> Iterator[Any]:
    """The runs of some pieces, numbered as they come; at last a row that says what was dropped."""
    import pyarrow as pa

    dropped, runs = Dropped(), 0
    for piece in pieces:
        encoded = attempt(
            lambda piece=piece: steps.encode(steps.with_instants(piece())),  # type: ignore[misc]
            _UNREADABLE,
        )
        dropped.read(encoded)
        batch = attempt(lambda e=encoded, n=runs: write_runs(e, form, n), _UNREADABLE)  # type: ignore[misc]
        runs += batch.num_rows
        yield batch.append_column(TOLD, pa.nulls(batch.num_rows, pa.binary()))
    # Once for a task, however often it is tried: a DataFrame has the rows of one try.
    last = {name: pa.nulls(1, form.schema.field(name).type) for name in form.schema.names}
    last |= {"unit": pa.array([b""], pa.binary()), TOLD: pa.array([dropped.packed()], pa.binary())}
    yield pa.RecordBatch.from_pydict(last, _told_schema(form))


def untold(batches: Iterator[Any], dropped: Dropped) -> Iterator[Any]:
    """The runs among the rows of `SparkRows.runs`; what the others tell is added to ``dropped``."""
    for batch in batches:
        told = batch.column(TOLD)
        runs = batch
        if told.null_count < batch.num_rows:
            for row in told.drop_null():
                dropped.add(row.as_py())
            runs = batch.filter(told.is_null())
        yield runs.drop_columns([TOLD])


def _told_schema(form: RunForm) -> Any:
    import pyarrow as pa

    return form.schema.append(pa.field(TOLD, pa.binary()))


def _as_spark(schema: Any) -> str:
    """An Arrow schema as Spark writes it."""
    return ", ".join(f"{field.name} {_TYPES[str(field.type)]}" for field in schema)
