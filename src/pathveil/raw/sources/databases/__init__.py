"""Visits in a database: PostgreSQL, DuckDB and SQLite, read-only and as a stream.

::

    addresses ─→ query_source ─→ postgresql | duckdb_file | sqlite_file ─→ arrow_columns ─→ …
                 (statements)     (asking)

The query is the curator's and is trusted to choose rows unit by unit; see docs/databases.md. It
can't write: it is put where SQL allows a SELECT only, and the database is opened read-only.
Nothing that it returns is written to disk, and no message quotes a driver, which may quote rows,
the query or the address with its password.
"""
