"""The distributed engine: Apache Spark 4, through DataFrames and SQL.

Workers code the rows (`spark_rows`, in Python beside each executor, so pathveil must be installed
there), Spark shuffles them by unit and sorts each partition, and workers bound the units
of a partition (`steps` again) into batches of trajectories, which they keep. A pass counts batch by
batch, in Python beside each executor (`batches`), and Spark adds up. Only the counts of tables come
to the driver, sorted and in blocks of bounded size; no row ever does. If the universe is yet to be
discovered, so do the labels that occur, each once.

What a lost worker held is computed again from the source: every step is a function of the rows it
is given, with ties broken by their contents.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import numpy as np

from pathveil.errors import InputError
from pathveil.raw.engines.batch_counter import BatchCounter
from pathveil.raw.engines.batches import Block, SortedSums, View, packed
from pathveil.raw.engines.dropped import Dropped
from pathveil.raw.engines.protocol import Cells, Tables
from pathveil.raw.engines.spark_rows import TOLD, SparkRows, untold
from pathveil.raw.engines.spark_session import ask_spark, tell_spark
from pathveil.raw.engines.sums import MergedSums, SmallSums
from pathveil.raw.engines.visit_runs import RunForm, complete_units, read_runs
from pathveil.raw.observed import ObservedUniverse
from pathveil.raw.reading_plan import ReadingPlan
from pathveil.raw.sources.columns import Columns
from pathveil.raw.steps import VisitSteps

_FETCHED_AT_ONCE: Final = 1 << 17  # counts, of 24 bytes
_SUMMED_AT_ONCE: Final = 1 << 20  # cells of a table that a worker sums in an array
_HELD_AT_ONCE: Final = 1 << 22  # cells of larger tables that a worker holds, in sums of 16 bytes
_ORDER: Final = ("number", "cell")


class SparkCounter(BatchCounter):
    """Counts rows on a cluster. Satisfies `TableCounter`; close it, or use it in a ``with``.

    Args:
        rows: where the rows come from.
        plan: how they are read.
        height: after how many visits trajectories are cut, if nothing looks further; else None.
        tells_forms: whether it is to be told in how many forms units are written.

    Raises:
        ParameterError: if the order of the rows would decide: a DataFrame has none.
        InputError: if a column's type can't be read.
    """

    def __init__(
        self,
        rows: SparkRows,
        plan: ReadingPlan,
        height: int | None,
        *,
        tells_forms: bool = False,
    ) -> None:
        super().__init__(plan, height)
        rows.source.check(plan.columns)
        form = RunForm.of(rows.source, plan, has_forms=tells_forms, is_numbered=rows.is_ordered)
        self._session = rows.session
        self._kept: Any = None
        universe = plan.universe
        if isinstance(universe, str):
            labels = ask_spark(self._session, lambda: rows.labels(plan.columns))
            universe = ObservedUniverse(labels)
        self._over(universe)
        steps = VisitSteps.of(replace(plan, universe=universe))
        ask_spark(self._session, lambda: self._prepare(rows, plan.columns, steps, form))

    @property
    def engine(self) -> str:
        """The engine's name."""
        return "spark"

    def close(self) -> None:
        """Forget the batches of this run. Safe to call twice."""
        kept, self._kept = self._kept, None
        if kept is not None:
            tell_spark(kept.unpersist)  # a session that is gone has forgotten them already

    def dropped(self) -> Dropped:
        """What was dropped. Has the batches made, if they are not yet."""
        found = Dropped()
        told = self._kept.where(f"{TOLD} IS NOT NULL").select(TOLD)
        for row in ask_spark(self._session, told.collect):
            found.add(bytes(row[0]))
        return found

    def _prepare(self, rows: SparkRows, columns: Columns, steps: VisitSteps, form: RunForm) -> None:
        """Say how the batches of trajectories are made; Spark makes them for the first pass."""
        bound = _Bound(steps, form, len(self.universe), self.height)
        # A number of partitions of our own: Spark may then neither merge nor split them, and to
        # split one would be to take a unit for two.
        partitions = int(self._session.conf.get("spark.sql.shuffle.partitions"))
        from pyspark import StorageLevel

        trajectories = (
            rows.runs(columns, steps, form)
            .repartition(partitions, "unit")
            .sortWithinPartitions(*form.sort_keys)
            .mapInArrow(bound, f"batch binary, {TOLD} binary")
        )
        # On disk, where every pass reads them batch by batch. What Spark keeps in memory too it
        # takes from a worker's heap: 50 million trajectories left too little of 2 GB to count in.
        self._kept = trajectories.persist(StorageLevel.DISK_ONLY)

    def count_tables(self, tables: Tables) -> Iterator[Iterator[Cells]]:
        """One pass over the batches, wherever they are."""
        sums = SortedSums(self._sums(tables))
        for table in range(len(tables.sizes)):
            yield sums.of(table)

    def _sums(self, tables: Tables) -> Iterator[Block]:
        ask = partial(ask_spark, self._session)
        counts = ask(lambda: self._counts(tables))
        blocks = None
        try:
            total = ask(counts.count)
            ranges = max(-(-total // _FETCHED_AT_ONCE), 1)
            blocks = ask(lambda: _in_order(counts, ranges))
            for number in range(ranges):
                fetched = blocks.where(f"part = {number}")
                for row in sorted(ask(fetched.collect), key=lambda row: row.number):
                    block = _unpack(row.block)
                    total -= len(block[0])
                    yield block
            if total:
                raise InputError("Spark lost some of the counts of a pass on the way.")
        finally:
            kept = [frame for frame in (counts, blocks) if frame is not None]
            tell_spark(lambda: [frame.unpersist() for frame in kept])

    def _counts(self, tables: Tables) -> Any:
        """The counts of all tables, in no order, where the workers keep them."""
        from pyspark import StorageLevel
        from pyspark.sql.functions import sum as added

        parts = self._parts_of(tables)
        summed = parts.groupBy(*_ORDER).agg(added("trajectories").alias("trajectories"))
        return summed.persist(StorageLevel.MEMORY_AND_DISK)

    def _parts_of(self, tables: Tables) -> Any:
        """What the batches add, some of them together."""
        return self._kept.mapInArrow(
            _Count(tables, self._view, _SUMMED_AT_ONCE, _HELD_AT_ONCE),
            "number bigint, cell bigint, trajectories bigint",
        )


def _in_order(counts: Any, ranges: int) -> Any:
    """Counts in their order as packed blocks: part, number in the part, block.

    The workers sort, in as many ranges as it takes for each to be small, and keep them for the
    driver, which asks for one at a time. (`toLocalIterator` would do that too, but a driver of
    Spark 4.3 never forgets what it fetched so: its scheduler keeps the jobs of a query that begin
    after the query has ended.) A range that has to be made again, because a worker was lost, has
    the same rows: where ranges begin is sampled once, and no two rows have the same number.
    """
    from pyspark import StorageLevel
    from pyspark.sql.functions import spark_partition_id

    spread = counts.repartitionByRange(ranges, *_ORDER) if ranges > 1 else counts.coalesce(1)
    in_order = spread.sortWithinPartitions(*_ORDER).withColumn("part", spark_partition_id())
    blocks = in_order.mapInArrow(_pack, "part int, number int, block binary")
    return blocks.persist(StorageLevel.MEMORY_AND_DISK) if ranges > 1 else blocks


@dataclass(frozen=True, slots=True, repr=False)
class _Bound:
    """Runs on a worker: the sorted runs of whole units into bounded trajectories."""

    steps: VisitSteps
    form: RunForm
    universe_size: int
    height: int | None

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        dropped = Dropped()
        for table in complete_units(untold(batches, dropped)):
            visits = read_runs(table, self.form, hashed=self.steps.is_sample)
            bounded = self.steps.bound(visits, self.universe_size)
            dropped.bound(bounded)
            for batch in packed(bounded, self.height):
                yield _kept(batch, None)
        yield _kept(None, dropped.packed())


def _kept(batch: Any, told: bytes | None) -> Any:
    """A row of what workers keep: a batch of trajectories, or what was dropped."""
    import pyarrow as pa

    columns = [pa.array([value], pa.binary()) for value in (batch, told)]
    return pa.RecordBatch.from_arrays(columns, ["batch", TOLD])


@dataclass(frozen=True, slots=True, repr=False)
class _Count:
    """Runs on a worker: batches of trajectories into what they add to some tables.

    What a worker has added up itself need not be shuffled. It holds an array of each small table,
    and of the others a bounded number of sums at a time.
    """

    tables: Tables
    view: View
    summed: int
    held: int

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        small = SmallSums(self.tables, self.summed)
        large: dict[int, MergedSums] = {}
        for batch in batches:
            for value in batch.column("batch").drop_null():
                for table, cells in small.add(self.view.rows(value.as_buffer())):
                    large.setdefault(table, MergedSums(self.held // 4)).add(cells)
            if sum(map(len, large.values())) > self.held:
                for table, sums in large.items():
                    yield from _parts(table, sums.cells())
                large.clear()
        for table, sums in large.items():
            yield from _parts(table, sums.cells())
        for table in range(len(self.tables.sizes)):
            if table in small:
                yield from _parts(table, small.cells(table))


def _parts(table: int, cells: Cells) -> Iterator[Any]:
    """Some at a time: an executor holds what it is given at once outside its heap."""
    import pyarrow as pa

    names = [*_ORDER, "trajectories"]
    for start in range(0, len(cells[0]), _FETCHED_AT_ONCE):
        some = [column[start : start + _FETCHED_AT_ONCE] for column in cells]
        columns = (np.full(len(some[0]), table, dtype=np.int64), *some)
        yield pa.RecordBatch.from_arrays(list(map(pa.array, columns)), names)


def _pack(batches: Iterator[Any]) -> Iterator[Any]:
    """Runs on a worker: each batch of counts into one row with bytes, unpacked at once."""
    import pyarrow as pa

    for number, batch in enumerate(batches):
        if batch.num_rows:
            columns = [np.asarray(column) for column in batch.columns[:3]]
            parts = [column.astype("<i8").tobytes() for column in columns]
            row = {"part": [batch.column("part")[0].as_py()], "number": [number]}
            schema = pa.schema(
                [("part", pa.int32()), ("number", pa.int32()), ("block", pa.binary())]
            )
            yield pa.RecordBatch.from_pydict(row | {"block": [b"".join(parts)]}, schema)


def _unpack(block: bytes) -> Block:
    numbers, cells, counts = np.frombuffer(block, "<i8").astype(np.int64).reshape(3, -1)
    return numbers, cells, counts
