"""Coded visits as rows for files and shuffles: one row per run of a unit's visits.

An engine out of core has one thing to do with them: bring the rows of a unit together. The rest
(what a row means, which trajectories of a unit are kept) is done by `steps` before and after, so
no text of a cell, no order value and no rule has to be written a second time in SQL.

| column | type | what it holds |
|---|---|---|
| unit | binary | the unit's id |
| at | int64 | which run of the source it is; only if that is what orders the visits |
| form | int64 | in which form the id was written; only if somebody wants to know |
| trip | binary | the trajectory's id; only if the data has such ids |
| visits | binary | the visits, a record of fixed size each |
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pathveil.errors import InputError
from pathveil.raw.bounding import Visits
from pathveil.raw.reading_plan import ReadingPlan
from pathveil.raw.sources.encoding import EncodedPiece
from pathveil.raw.sources.raw_rows import Source
from pathveil.raw.sources.text_codes import TextCodes, copied, hash_texts, repeats
from pathveil.raw.sources.text_columns import Texts
from pathveil.raw.sources.text_values import text_buffers
from pathveil.raw.sources.unit_text import merged_forms
from pathveil.raw.trajectory_ids import rank_trajectory_ids

_MOST_BYTES = 2**31 - 1  # of a column of a batch


@dataclass(frozen=True, slots=True)
class RunForm:
    """Which columns and fields there are; it follows from the schema alone, which is public.

    Attributes:
        has_trips: whether runs have trajectory ids.
        rows_are_trajectories: whether each run is a trajectory (list form without ids).
        is_ordered: whether visits have order values; else their order is that of the source.
        has_rest: whether order values can be other than whole numbers.
        has_forms: whether runs say in which form their unit was written.
        is_numbered: whether runs say which of the source they are, for an engine that mixes them.
    """

    has_trips: bool
    rows_are_trajectories: bool
    is_ordered: bool
    has_rest: bool
    has_forms: bool = False
    is_numbered: bool = False

    @classmethod
    def of(
        cls,
        source: Source,
        plan: ReadingPlan,
        *,
        has_forms: bool = False,
        is_numbered: bool = False,
    ) -> "RunForm":
        """The form of the runs of a source.

        Args:
            source: where the rows are.
            plan: how they are read.
            has_forms: whether units' forms are to be told.
            is_numbered: whether the order of the source must be told, where it decides.
        """
        columns = plan.columns
        is_integer = getattr(source, "is_integer", None)
        return cls(
            has_trips=columns.trajectory is not None,
            rows_are_trajectories=plan.is_list and columns.trajectory is None,
            is_ordered=columns.order is not None,
            has_rest=columns.order is not None
            and (plan.time_grid is not None or is_integer is None or not is_integer(columns.order)),
            has_forms=has_forms and not plan.rules.exact_units,
            is_numbered=is_numbered and columns.order is None,
        )

    @property
    def record(self) -> np.dtype[np.void]:
        """What is stored of a visit."""
        fields = [("integer", "<i8")] if self.is_ordered else []
        fields += [("rest", "<u8")] if self.has_rest else []
        return np.dtype([*fields, ("location", "<i4")])

    @property
    def schema(self) -> Any:
        """The Arrow schema of the rows."""
        import pyarrow as pa

        fields = [("unit", pa.binary())]
        fields += [("at", pa.int64())] if self.is_numbered else []
        fields += [("form", pa.int64())] if self.has_forms else []
        fields += [("trip", pa.binary())] if self.has_trips else []
        return pa.schema([*fields, ("visits", pa.binary())])

    @property
    def sort_keys(self) -> tuple[str, ...]:
        """By which columns a cluster sorts, so that a unit's rows come together in a fixed order.

        Where the order of the source would decide, and a cluster's table has none, the contents
        decide: a function of the unit's own rows, so no other unit can change it. (In which form
        a unit is written decides nothing: whether that is told must not change a release.)
        """
        if self.is_ordered:
            return ("unit",)
        if self.is_numbered:
            return ("unit", "at")
        return tuple(name for name in self.schema.names if name != "form")


def write_runs(piece: EncodedPiece, form: RunForm, first: int = 0) -> Any:
    """The runs of a piece as an Arrow batch, in the order of the piece; numbered from ``first``."""
    import pyarrow as pa

    runs = np.arange(len(piece.unit), dtype=np.int64)
    columns = {"unit": as_binary(copied(piece.unit, runs))}
    if form.is_numbered:
        columns["at"] = pa.array(first + runs)
    if form.has_forms:
        forms = np.zeros(len(runs), np.uint64) if piece.unit_forms is None else piece.unit_forms
        columns["form"] = pa.array(forms.view(np.int64))
    if piece.trajectory is not None:
        columns["trip"] = as_binary(copied(piece.trajectory, runs))
    records = np.empty(len(piece.location), dtype=form.record)
    records["location"] = piece.location
    if piece.order is not None and form.is_ordered:
        records["integer"] = piece.order.integer
        if form.has_rest:
            records["rest"] = 0 if piece.order.rest is None else piece.order.rest
    starts = piece.run_starts * form.record.itemsize
    columns["visits"] = as_binary(Texts.from_offsets(starts, records.view(np.uint8)))
    arrays = [columns[name] for name in form.schema.names]
    return pa.RecordBatch.from_arrays(arrays, schema=form.schema)


def complete_units(batches: Iterable[Any]) -> Iterator[Any]:
    """Cut sorted batches into tables that hold all runs of each of their units."""
    import pyarrow as pa

    waiting: list[Any] = []  # runs of one unit, which may go on in the next batch
    for batch in batches:
        if batch.num_rows == 0:
            continue
        starts = _unit_starts(waiting, batch)
        table = pa.Table.from_batches([batch])
        if len(starts) == 0:
            waiting.append(table)
            continue
        complete = [*waiting, table.slice(0, starts[-1])]
        waiting = [table.slice(starts[-1])]
        if sum(part.num_rows for part in complete):
            yield pa.concat_tables(complete).combine_chunks()
    if waiting:
        yield pa.concat_tables(waiting).combine_chunks()


def read_runs(table: Any, form: RunForm, *, hashed: bool) -> Visits:
    """The visits of some runs, all runs of a unit together.

    Args:
        table: an Arrow table of `complete_units`.
        form: which columns there are.
        hashed: whether the hashes of the units are wanted too.
    """
    units = unit_texts(table)
    hashes = hash_texts(units)
    rows = np.arange(len(units), dtype=np.int64)
    is_first = ~repeats(units.starts, units.stops, units.data, hashes, rows)
    visits = _texts(table, "visits")
    records = np.frombuffer(visits.data, dtype=np.uint8)[_span(visits)].view(form.record)
    sizes = (visits.stops - visits.starts) // form.record.itemsize
    trajectory = _trajectories(table, form)
    unit = (np.cumsum(is_first) - 1).astype(np.int32)
    count = int(np.count_nonzero(is_first))
    forms = np.asarray(table.column("form")).view(np.uint64) if form.has_forms else None
    return Visits(
        unit=np.repeat(unit, sizes),
        trajectory=None if trajectory is None else np.repeat(trajectory, sizes),
        integer=np.ascontiguousarray(records["integer"]) if form.is_ordered else None,
        rest=np.ascontiguousarray(records["rest"]) if form.has_rest else None,
        location=np.ascontiguousarray(records["location"]),
        units=count,
        unit_hash=hashes[is_first] if hashed else None,
        merged_forms=merged_forms(unit, forms, count),
    )


def _trajectories(table: Any, form: RunForm) -> NDArray[np.int32] | None:
    """The rank of each run's trajectory; None if a unit has only one."""
    if form.rows_are_trajectories:
        return np.arange(table.num_rows, dtype=np.int32)
    if not form.has_trips:
        return None
    trips, codes = _texts(table, "trip"), TextCodes()
    code = codes.add(trips, hash_texts(trips))
    return rank_trajectory_ids(codes.values)[code]


def _unit_starts(waiting: list[Any], batch: Any) -> NDArray[np.int64]:
    """The rows of a batch whose unit is not that of the row before; ``waiting`` came before it."""
    import pyarrow as pa

    units = batch.column("unit").cast(pa.binary())
    if waiting:
        before = waiting[-1].column("unit").slice(waiting[-1].num_rows - 1)
        units = pa.concat_arrays([*before.cast(pa.binary()).chunks, units])
    texts = text_buffers(units)
    rows = np.arange(len(texts), dtype=np.int64)
    is_first = ~repeats(texts.starts, texts.stops, texts.data, hash_texts(texts), rows)
    return np.flatnonzero(is_first[1:] if waiting else is_first)


def unit_texts(runs: Any) -> Texts:
    """The units of an Arrow batch of runs, or of a table of one chunk."""
    return _texts(runs, "unit")


def _texts(runs: Any, column: str) -> Texts:
    values = runs.column(column)
    return text_buffers(values.combine_chunks() if hasattr(values, "chunks") else values)


def _span(texts: Texts) -> slice:
    return slice(int(texts.starts[0]), int(texts.stops[-1])) if len(texts) else slice(0, 0)


def as_binary(texts: Texts) -> Any:
    """Texts that lie one after the other as an Arrow array of bytes."""
    import pyarrow as pa

    offsets = np.append(texts.starts, texts.stops[-1:] if len(texts) else 0)
    if offsets[-1] > _MOST_BYTES:  # else numbers would wrap, and rows take others' bytes
        raise InputError("Some consecutive rows hold more than 2 GB; use the engine 'memory'.")
    buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(texts.data)]
    return pa.Array.from_buffers(pa.binary(), len(texts), buffers)
