"""The distributed engine: Apache Spark 4, through DataFrames and SQL.

Workers code the rows of a DataFrame (`steps`, in Python beside each executor, so pathveil must be
installed there), Spark shuffles them by unit and sorts each partition, workers bound the units of
a partition (`steps` again) into rows with one column per level, and `sql_counter` counts these
level by level, by the same text as DuckDB. Only counts of the children of surviving nodes come to
the driver, in blocks of bounded size; no row ever does.

What a lost worker held is computed again from the source: every step is a function of the rows it
is given, with ties broken by their contents.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from secrets import token_hex
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pathveil.errors import InputError
from pathveil.raw.engines.protocol import ExactCounts
from pathveil.raw.engines.spark_session import ask_spark, tell_spark
from pathveil.raw.engines.sql_counter import (
    ORDER,
    SqlCounter,
    count_text,
    exact_counts,
    survivors_table,
)
from pathveil.raw.engines.visit_runs import (
    RunForm,
    complete_units,
    read_runs,
    wide_schema,
    write_runs,
    write_wide,
)
from pathveil.raw.reading_plan import ReadingPlan
from pathveil.raw.sources.arrow_table import table_pieces
from pathveil.raw.sources.columns import Columns
from pathveil.raw.sources.raw_rows import attempt
from pathveil.raw.sources.spark_table import SparkTable
from pathveil.raw.steps import VisitSteps

_TYPES: Final = {"binary": "binary", "int64": "bigint", "int32": "int"}
_FETCHED_AT_ONCE: Final = 1 << 17  # counts, of 20 bytes
_UNREADABLE: Final = "The rows of the table can't be read."


class SparkCounter(SqlCounter):
    """Counts a Spark DataFrame. Satisfies `PrefixCounter`; close it, or use it in a ``with``.

    Args:
        source: the DataFrame.
        plan: how its rows are read.
        height: h, the number of levels.

    Raises:
        ParameterError: if the order of the rows would decide: a DataFrame has none.
        InputError: if a column's type can't be read.
    """

    def __init__(self, source: SparkTable, plan: ReadingPlan, height: int) -> None:
        super().__init__(plan, height)
        source.check(plan.columns)
        form = RunForm.of(source, plan)
        steps = VisitSteps.of(plan)
        self._session = source.frame.sparkSession
        self._name = f"pathveil_{token_hex(8)}"
        self._views: set[str] = set()
        self._kept: Any = None
        ask_spark(self._session, lambda: self._prepare(source.frame, plan.columns, steps, form))

    @property
    def engine(self) -> str:
        """The engine's name."""
        return "spark"

    def close(self) -> None:
        """Forget the tables of this run. Safe to call twice."""
        views, self._views = self._views, set()
        kept, self._kept = self._kept, None

        def forget() -> None:
            for view in views:
                self._session.catalog.dropTempView(view)
            if kept is not None:
                kept.unpersist()

        tell_spark(forget)  # a session that is gone has forgotten them already

    def _prepare(self, frame: Any, columns: Columns, steps: VisitSteps, form: RunForm) -> None:
        """Say how the table of trajectories is made; Spark makes it when it is first counted."""
        encode = _Encode(columns, steps, form)
        bound = _Bound(steps, form, len(self.universe), self.height)
        # A number of partitions of our own: Spark may then neither merge nor split them, and to
        # split one would be to take a unit for two.
        partitions = int(self._session.conf.get("spark.sql.shuffle.partitions"))
        names = [f"`{name.replace('`', '``')}`" for name in columns.used]
        from pyspark import StorageLevel

        trajectories = (
            frame.select(*names)
            .mapInArrow(encode, _as_spark(form.schema))
            .repartition(partitions, "unit")
            .sortWithinPartitions(*form.sort_keys)
            .mapInArrow(bound, _as_spark(wide_schema(self.height)))
        )
        self._kept = trajectories.persist(StorageLevel.MEMORY_AND_DISK)
        self._show(self._kept, "trajectories")

    def _count(self, level: int, paths: NDArray[np.int32]) -> Iterator[ExactCounts]:
        ask = partial(ask_spark, self._session)
        counts = ask(lambda: self._counts(level, paths))
        blocks = None
        try:
            total = ask(counts.count)
            ranges = max(-(-total // _FETCHED_AT_ONCE), 1)
            blocks = ask(lambda: _in_order(counts, ranges))
            for number in range(ranges):
                fetched = blocks.where(f"part = {number}")
                for row in sorted(ask(fetched.collect), key=lambda row: row.number):
                    block = exact_counts(*_unpack(row.block))
                    total -= len(block.count)
                    yield block
            if total:
                raise InputError("Spark lost some of the counts of a level on the way.")
        finally:
            kept = [frame for frame in (counts, blocks) if frame is not None]
            tell_spark(lambda: [frame.unpersist() for frame in kept])

    def _counts(self, level: int, paths: NDArray[np.int32]) -> Any:
        """The counts of a level, in no order, where the workers keep them."""
        from pyspark import StorageLevel
        from pyspark.sql.functions import broadcast

        survivors = self._session.createDataFrame(survivors_table(paths))
        # However many they are: sorting all trajectories to meet them would cost more.
        self._show(broadcast(survivors), "survivors")
        text = count_text(f"{self._name}_trajectories", f"{self._name}_survivors", level)
        return self._session.sql(text).persist(StorageLevel.MEMORY_AND_DISK)

    def _show(self, frame: Any, name: str) -> None:
        """Give a table a name that the text can use."""
        view = f"{self._name}_{name}"
        frame.createOrReplaceTempView(view)
        self._views.add(view)


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

    spread = counts.repartitionByRange(ranges, *ORDER) if ranges > 1 else counts.coalesce(1)
    in_order = spread.sortWithinPartitions(*ORDER).withColumn("part", spark_partition_id())
    blocks = in_order.mapInArrow(_pack, "part int, number int, block binary")
    return blocks.persist(StorageLevel.MEMORY_AND_DISK) if ranges > 1 else blocks


@dataclass(frozen=True, slots=True, repr=False)
class _Encode:
    """Runs on a worker: rows of the source into runs."""

    columns: Columns
    steps: VisitSteps
    form: RunForm

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            table = pa.Table.from_batches([batch])
            for piece in table_pieces(table, self.columns):
                yield attempt(lambda piece=piece: self._runs(piece), _UNREADABLE)  # type: ignore[misc]

    def _runs(self, piece: Callable[[], Any]) -> Any:
        encoded = self.steps.encode(self.steps.with_instants(piece()))
        return write_runs(encoded, self.form)


@dataclass(frozen=True, slots=True, repr=False)
class _Bound:
    """Runs on a worker: the sorted runs of whole units into bounded trajectories."""

    steps: VisitSteps
    form: RunForm
    universe_size: int
    height: int

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        for table in complete_units(batches):
            visits = read_runs(table, self.form, hashed=self.steps.is_sample)
            yield write_wide(self.steps.bound(visits, self.universe_size), self.height)


def _pack(batches: Iterator[Any]) -> Iterator[Any]:
    """Runs on a worker: each batch of counts into one row with bytes, unpacked at once."""
    import pyarrow as pa

    for number, batch in enumerate(batches):
        if batch.num_rows:
            columns = [np.asarray(column) for column in batch.columns[:3]]
            kinds = ("<i8", "<i4", "<i8")
            parts = [a.astype(kind).tobytes() for a, kind in zip(columns, kinds, strict=True)]
            row = {"part": [batch.column("part")[0].as_py()], "number": [number]}
            schema = pa.schema(
                [("part", pa.int32()), ("number", pa.int32()), ("block", pa.binary())]
            )
            yield pa.RecordBatch.from_pydict(row | {"block": [b"".join(parts)]}, schema)


def _unpack(block: bytes) -> tuple[Any, ...]:
    size = len(block) // 20
    return (
        np.frombuffer(block, "<i8", size),
        np.frombuffer(block, "<i4", size, offset=8 * size),
        np.frombuffer(block, "<i8", size, offset=12 * size),
    )


def _as_spark(schema: Any) -> str:
    """An Arrow schema as Spark writes it."""
    return ", ".join(f"{field.name} {_TYPES[str(field.type)]}" for field in schema)
