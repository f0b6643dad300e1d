"""The same visits in a CSV file and in every database."""

import sqlite3
from contextlib import closing

import pathveil as pv

UNIVERSE = pv.Universe(["S1", "S2", "S3"])
UNIT, PLACE = "zq7unit4711", "zq7place9953"
ROWS = [
    *(
        (f"c{card}", 1 + turn, f"S{1 + (card + turn) % 3}")
        for turn in (2, 0, 1)
        for card in range(90)
    ),
    (UNIT, 1, "S2"),
    (UNIT, 2, PLACE),
    ("c5", None, "S1"),
    (None, 4, "S1"),
]
COLUMNS = {"unit": "card", "order": "seq", "location": "stop"}
OPTIONS = ["--unit-column", "card", "--order-column", "seq", "--location-column", "stop"]
_CREATE = "CREATE TABLE visits (card TEXT, seq INTEGER, stop TEXT, secret TEXT DEFAULT 'zq7note1')"


def as_csv(path):
    lines = [",".join("" if cell is None else str(cell) for cell in row) for row in ROWS]
    path.write_text("\n".join(["card,seq,stop", *lines]) + "\n")
    return path


def as_sqlite(path):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(_CREATE)
        connection.executemany("INSERT INTO visits(card, seq, stop) VALUES (?, ?, ?)", ROWS)


def as_duckdb(path):
    import duckdb

    with duckdb.connect(str(path)) as connection:
        connection.execute(_CREATE)
        connection.executemany("INSERT INTO visits(card, seq, stop) VALUES (?, ?, ?)", ROWS)


def as_postgresql(server):
    import psycopg

    with psycopg.connect(server.owner, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS visits")
        connection.execute(_CREATE)
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO visits(card, seq, stop) VALUES (%s, %s, %s)", ROWS)


def sequences(database):
    """The trajectories of a database as a multiset of label lists."""
    paths = database.paths()
    labels = database.universe.labels
    found = [
        tuple(labels[code] for code in paths.codes[a:b])
        for a, b in zip(paths.offsets[:-1], paths.offsets[1:], strict=True)
    ]
    return sorted(found)
