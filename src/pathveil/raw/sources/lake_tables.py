"""Tables in a folder or an object store that keep their own history: Delta Lake and Iceberg.

They are read without Spark, through the packages `deltalake` and `pyiceberg`. Names and types of
columns come from the table's own metadata, which holds them for every snapshot, and never from
rows; which snapshots there are, and how files and deletes are stored, is metadata as well. What a
snapshot no longer holds (deleted rows, deletion vectors) the packages leave out.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, Protocol

from pathveil.errors import ParameterError
from pathveil.raw.sources.arrow_table import check_types, is_list_type, table_pieces
from pathveil.raw.sources.columns import Columns
from pathveil.raw.sources.databases.queries import check_ordered
from pathveil.raw.sources.raw_rows import RawRows
from pathveil.universe.universe import Universe

Format = Literal["delta", "iceberg"]
Snapshot = int | str | None

_PREFIX = re.compile(r"(delta|iceberg):(?!//)")


def named_table(source: object) -> tuple[Format, str] | None:
    """The format and the place or name of a table that an input names; None if it names none."""
    found = _PREFIX.match(source) if isinstance(source, str) else None
    if found is None:
        return None
    return "delta" if found[1] == "delta" else "iceberg", str(source)[found.end() :]


def check_snapshot(snapshot: object) -> None:
    """Refuse what can't be a snapshot of any table.

    Raises:
        ParameterError: if it is neither a whole number nor a name.
    """
    is_number = isinstance(snapshot, int) and not isinstance(snapshot, bool) and snapshot >= 0
    is_name = isinstance(snapshot, str) and snapshot.strip() and snapshot.isprintable()
    if not (snapshot is None or is_number or is_name):
        raise ParameterError(
            "A snapshot is the version of a Delta table, such as 3, or the id, the tag or the "
            "branch of an Iceberg snapshot."
        )


def refuse_snapshot(snapshot: Snapshot) -> None:
    """Refuse a snapshot of what has none.

    Raises:
        ParameterError: if there is one.
    """
    if snapshot is not None:
        raise ParameterError(
            "A snapshot is for tables that keep their history, delta:PLACE and iceberg:NAME; leave "
            "it out for everything else."
        )


class Lake(Protocol):
    """A snapshot of a table, its metadata read and its rows not."""

    label: str
    schema: Any

    @property
    def snapshot(self) -> Snapshot:
        """Which one it is, even if the newest was asked for; None for a table without any."""
        ...

    def plan(self, names: Sequence[str]) -> None:
        """Find out from metadata whether these columns can be read.

        Raises:
            InputError: if not.
        """
        ...

    def batches(self, names: Sequence[str]) -> Iterator[Any]:
        """The rows as Arrow batches, a bounded number at a time, in no order."""
        ...


def open_table(kind: Format, place: str, snapshot: Snapshot) -> "LakeTable":
    """Open a snapshot of a table, by default its newest.

    Raises:
        ParameterError: if a package is missing, or there is no such snapshot.
        InputError: if there is no such table, or it can't be read.
    """
    if kind == "delta":
        from pathveil.raw.sources.delta_table import DeltaSnapshot

        return LakeTable(DeltaSnapshot(place, snapshot))
    from pathveil.raw.sources.iceberg_table import IcebergSnapshot

    return LakeTable(IcebergSnapshot(place, snapshot))


class LakeTable:
    """A snapshot as a source.

    Files of a table have no order of their own: a delete or a tidying up writes other people's
    rows anew and somewhere else. So visits need an order column here, and lists are refused, as in
    a database.

    Args:
        lake: the snapshot.
    """

    def __init__(self, lake: Lake) -> None:
        self.label = lake.label
        self._lake = lake
        self.names: list[str] = list(lake.schema.names)

    @property
    def snapshot(self) -> Snapshot:
        """Which one it is: to open the same again."""
        return self._lake.snapshot

    def is_list(self, column: str) -> bool:
        """Whether the column's type is a list."""
        return is_list_type(self._lake.schema.field(column).type)

    def showable(self, universe: Universe | None, wanted: Sequence[str]) -> bool:  # noqa: ARG002
        """A table's schema is not a row of data."""
        return True

    def check(self, columns: Columns) -> None:
        """By the types of the snapshot's schema, and by what its files need of a reader.

        Raises:
            ParameterError: if nothing orders the visits of a trajectory.
            InputError: if a type or the snapshot can't be read.
        """
        is_list = columns.location is not None and self.is_list(columns.location)
        check_ordered(columns, is_list=is_list, of="a table")
        check_types(self._lake.schema, columns)
        self._lake.plan(columns.used)

    def pieces(self, columns: Columns) -> Iterator[Callable[[], RawRows]]:
        """Yield the rows in slices, as the files give them."""
        import pyarrow as pa

        self.check(columns)
        for batch in self._lake.batches(columns.used):
            yield from table_pieces(pa.Table.from_batches([batch]), columns)
