"""The rows of a query as a source, whatever the database."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from pathveil.errors import ParameterError
from pathveil.model.universe import Universe
from pathveil.raw.sources.arrow_columns import table_pieces
from pathveil.raw.sources.columns import Columns
from pathveil.raw.sources.databases.statements import select_all, select_columns
from pathveil.raw.sources.raw_rows import RawRows


class Database(Protocol):
    """A database that can be asked, read-only."""

    label: str

    def columns(self, statement: str) -> list[tuple[str, bool]]:
        """The columns that a statement gives, and whether each holds lists; it is not run."""
        ...

    def tables(self, statement: str) -> Iterator[Any]:
        """Run a statement; yield its rows as Arrow tables, a bounded number at a time."""
        ...


class QuerySource:
    """The rows that a query gives.

    Without an order of its own a database returns rows as it likes, and how may depend on other
    people's rows; so visits need an order column here, and lists of locations, whose rows would
    be told apart by their place, are refused. With one, what a unit contributes depends on its own
    rows alone, as `pathveil.raw.bounding` demands.

    Args:
        database: where to ask.
        query: a SELECT.

    Raises:
        InputError: if the database can't be opened or does not understand the query.
    """

    def __init__(self, database: Database, query: str) -> None:
        self.label = database.label
        self._database = database
        self._query = query
        columns = database.columns(select_all(query))
        self.names: list[str] = [name for name, _ in columns]
        self._lists = {name for name, is_list in columns if is_list}

    def is_list(self, column: str) -> bool:
        """Whether the column holds lists."""
        return column in self._lists

    def showable(self, universe: Universe | None, wanted: Sequence[str]) -> bool:  # noqa: ARG002
        """The names of a query's columns are not a row of data."""
        return True

    def pieces(self, columns: Columns) -> Iterator[Callable[[], RawRows]]:
        """Run the query and yield its rows in slices.

        Raises:
            ParameterError: if nothing orders the visits of a trajectory.
        """
        if columns.location in self._lists:
            raise ParameterError(
                f"The location column {columns.location[:80]!r} holds lists; from a database, give "
                "one row per visit (unnest the list WITH ORDINALITY, and name that column as the "
                "order)."
            )
        if columns.order is None:
            raise ParameterError(
                "A database returns rows in no order of its own, so the order column is required "
                "here: name it with order=… or --order-column."
            )
        for table in self._database.tables(select_columns(self._query, columns.used)):
            yield from table_pieces(table, columns)
