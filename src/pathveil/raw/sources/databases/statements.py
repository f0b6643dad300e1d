"""The statement that asks for rows: the curator's query where SQL allows nothing but a SELECT."""

from collections.abc import Sequence

from pathveil.errors import ParameterError

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
