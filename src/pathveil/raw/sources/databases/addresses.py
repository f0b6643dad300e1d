"""Which database an input names: by its address, its prefix, its ending or its first bytes."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pathveil.errors import InputError, ParameterError
from pathveil.plain_files import open_named
from pathveil.raw.sources.databases.queries import checked_query
from pathveil.raw.sources.lake_tables import named_table
from pathveil.raw.sources.object_store import is_stored

if TYPE_CHECKING:
    from pathveil.raw.sources.databases.queries import QuerySource

Kind = Literal["postgresql", "duckdb", "sqlite"]

_SERVER = re.compile(r"postgres(ql)?://")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_PREFIX = re.compile(r"(duckdb|sqlite):(?!//)")
_ENDINGS: dict[str, Kind] = {
    ".duckdb": "duckdb",
    ".ddb": "duckdb",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
    ".db": "sqlite",
}
WORKBOOKS = (".xlsx", ".xlsm")  # whose sheets are named like tables
_SQLITE_MAGIC = b"SQLite format 3\0"
_DUCKDB_MAGIC, _DUCKDB_MAGIC_AT = b"DUCK", 8


def named_database(source: str) -> tuple[Kind, str] | None:
    """The kind and address of a database whose address or prefix says what it is; else None.

    Raises:
        InputError: if it is an address of something else. It is not quoted: it may hold a password.
    """
    if _SERVER.match(source):
        return "postgresql", source
    if _ADDRESS.match(source) and not is_stored(source):
        raise InputError(
            "pathveil does not read addresses of that kind; it reads "
            "postgresql://user@host/database, duckdb:FILE and sqlite:FILE, delta:PLACE and "
            "iceberg:NAME, Parquet in s3://BUCKET/FOLDER, and CSV, Parquet, DuckDB and SQLite "
            "files by their path."
        )
    if prefix := _PREFIX.match(source):
        return "duckdb" if prefix[1] == "duckdb" else "sqlite", source[prefix.end() :]
    return None


def file_kind(path: Path) -> Kind | None:
    """The kind of database that a file is, by its first bytes or else its ending.

    Raises:
        OSError: if it can't be read.
    """
    with open_named(path) as file:
        first = file.read(len(_SQLITE_MAGIC))
    if first == _SQLITE_MAGIC:
        return "sqlite"
    if first[_DUCKDB_MAGIC_AT:].startswith(_DUCKDB_MAGIC):
        return "duckdb"
    return _ENDINGS.get(path.suffix.lower())


def open_database(kind: Kind, address: str, query: str | None, table: str | None) -> "QuerySource":
    """Prepare a query on a database.

    Raises:
        ParameterError: unless either a query or a table is given.
        InputError: if the database can't be opened or does not understand the query.
    """
    from pathveil.raw.sources.databases.queries import QuerySource

    rows = checked_query(query, table)
    if kind == "postgresql":
        from pathveil.raw.sources.databases.postgresql import Postgresql

        return QuerySource(Postgresql(address), rows)
    path = Path(address)
    check_file(path)
    if kind == "duckdb":
        from pathveil.raw.sources.databases.duckdb_file import DuckdbFile

        return QuerySource(DuckdbFile(path), rows)
    from pathveil.raw.sources.databases.sqlite_file import SqliteFile

    return QuerySource(SqliteFile(path), rows)


def check_file(path: Path) -> None:
    """Refuse a path that is not a file which may be read.

    Raises:
        InputError: if so.
    """
    try:
        with open_named(path):
            return
    except OSError as error:
        reason = error.strerror or "unknown failure"
    except ValueError:  # a NUL in it
        raise InputError("That can't be the path of a file.") from None
    raise InputError(f"Can't read {path}: {reason}.")


def check_request(source: str, query: str | None, table: str | None) -> None:
    """Refuse what can be refused without asking a database, opening a table or reading a row.

    Raises:
        ParameterError: if a database is named without rows to read, or rows without a database.
        InputError: if it is the address of nothing that we read.
    """
    kind = (named_database(source) or [None])[0]
    if kind is None and file_of(source) is None:
        refuse_query(query, table)
        return
    if kind is None:
        try:
            kind = file_kind(Path(source))
        except (OSError, ValueError):
            return  # reading will say why
    if kind is None:
        is_sheet = Path(source).suffix.lower() in WORKBOOKS
        refuse_query(query, None if is_sheet else table)
    else:
        checked_query(query, table)


def file_of(source: str) -> Path | None:
    """The file or folder that an input names; None if it is a server, a lake or a store."""
    if named_table(source) is not None or is_stored(source):
        return None
    kind, address = named_database(source) or (None, source)
    return None if kind == "postgresql" else Path(address)


def refuse_query(query: str | None, table: str | None) -> None:
    """Refuse a query or a table for what is not a database.

    Raises:
        ParameterError: if there is one.
    """
    if query is not None or table is not None:
        raise ParameterError(
            "A query or a table is for databases only (postgresql://…, duckdb:FILE, sqlite:FILE), "
            "and a table for workbooks too; leave it out for other files and tables."
        )
