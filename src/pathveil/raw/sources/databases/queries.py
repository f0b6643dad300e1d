"""Ask a database and stay interruptible; its failures in our words, never in its own."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from pathveil.errors import InputError, ParameterError, PathveilError
from pathveil.raw.sources.arrow_table import check_types, is_list_type, table_pieces
from pathveil.raw.sources.columns import Columns
from pathveil.raw.sources.raw_rows import RawRows
from pathveil.threads import in_thread
from pathveil.universe.universe import Universe

T = TypeVar("T")


def ask(
    call: Callable[[], T],
    explain: Callable[[Exception], str],
    cancel: Callable[[], None] | None = None,
) -> T:
    """Run a blocking call into a driver.

    It runs in a thread of its own, because a driver that waits for a server lets no signal
    through: Ctrl-C must end a query that would take an hour.

    Args:
        call: what to run.
        explain: the whole message of our error, by the driver's. It quotes nothing of it.
        cancel: makes the call end early.

    Raises:
        InputError: if the call fails with anything but an error of our own. Nothing leads from it
            to the driver's exception.
    """
    answer = in_thread(call)
    try:
        return answer.result()
    except PathveilError:
        raise
    except MemoryError:
        problem = "Not enough memory to read the database."
    except Exception as error:  # noqa: BLE001  (whatever it is, its message may quote a row)
        problem = explain(error)
    except BaseException:
        if cancel is not None and not answer.is_done:
            cancel()
        raise
    finally:
        answer.give_up()
    raise InputError(problem)


# The statement that asks for rows: the curator's query where SQL allows nothing but a SELECT.


_ALIAS = "pathveil_rows"


def checked_query(query: str | None, table: str | None) -> str:
    """The query, or one for all rows of a table.

    Args:
        query: a single SELECT (or WITH … SELECT, TABLE, VALUES).
        table: a table's name, or ``schema.table``; the letters' case matters.

    Raises:
        ParameterError: unless exactly one of the two is given, as text.
    """
    if (query is None) == (table is None):
        raise ParameterError(
            "Say which rows of the database to read: name a table (table=… or --table), or give "
            "a query (query=… or --query), and not both."
        )
    text = query if table is None else table
    if not isinstance(text, str) or not text.strip() or "\0" in text:
        raise ParameterError("The query or the table's name must be text and not empty.")
    if table is not None:
        return f"SELECT * FROM {'.'.join(map(quoted, table.strip().split('.')))}"  # noqa: S608
    return text.strip().rstrip(";")


def select_all(query: str) -> str:
    """A statement with all columns of a query."""
    return _selected("*", query)


def select_columns(query: str, names: Sequence[str]) -> str:
    """A statement with some columns of a query, so that no other leaves the database."""
    return _selected(", ".join(map(quoted, names)), query)


def quoted(name: str) -> str:
    """A name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def _selected(columns: str, query: str) -> str:
    # On lines of its own, so that a comment at the query's end does not swallow the bracket.
    return f"SELECT {columns} FROM (\n{query}\n) AS {_ALIAS}"  # noqa: S608  (the curator's own)


def check_ordered(columns: Columns, *, is_list: bool, of: str) -> None:
    """Refuse what only the order of rows could tell, for a source whose rows have none.

    Args:
        columns: the columns in use.
        is_list: whether the location column holds lists.
        of: what the rows are from, such as "a database".

    Raises:
        ParameterError: if the location is a list, or visits have no order column.
    """
    if columns.location is not None and is_list:
        raise ParameterError(
            f"The location column {columns.location[:80]!r} holds lists; from {of}, give "
            "one row per visit (unnest the list WITH ORDINALITY, and name that column as the "
            "order)."
        )
    if columns.order is None:
        raise ParameterError(
            f"{of.capitalize()} returns rows in no order of its own, so the order column is "
            "required here: name it with order=… or --order-column."
        )


# The rows of a query as a source, whatever the database.


class Database(Protocol):
    """A database that can be asked, read-only."""

    label: str

    def columns(self, statement: str) -> list[tuple[str, Any]]:
        """The columns that a statement gives, with their Arrow types; it is not run.

        The type is None where the database has none, and every value its own.
        """
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
        self._types = {name: kind for name, kind in columns if kind is not None}
        self._lists = {name for name, kind in self._types.items() if is_list_type(kind)}

    def is_list(self, column: str) -> bool:
        """Whether the column holds lists."""
        return column in self._lists

    def showable(self, universe: Universe | None, wanted: Sequence[str]) -> bool:  # noqa: ARG002
        """The names of a query's columns are not a row of data."""
        return True

    def check(self, columns: Columns) -> None:
        """By the types of the query's columns.

        Raises:
            ParameterError: if nothing orders the visits of a trajectory.
            InputError: if a type can't be read.
        """
        import pyarrow as pa

        check_ordered(columns, is_list=columns.location in self._lists, of="a database")
        check_types(pa.schema(list(self._types.items())), columns)

    def pieces(self, columns: Columns) -> Iterator[Callable[[], RawRows]]:
        """Run the query and yield its rows in slices."""
        self.check(columns)
        for table in self._database.tables(select_columns(self._query, columns.used)):
            yield from table_pieces(table, columns)
