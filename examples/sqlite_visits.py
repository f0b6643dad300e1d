"""Publish straight from a SQLite file, which is opened read-only."""

import sqlite3
from contextlib import closing
from pathlib import Path

from simulated_taps import simulated_taps

import pathveil as pv

taps, universe = simulated_taps()
Path("taps.sqlite").unlink(missing_ok=True)
with closing(sqlite3.connect("taps.sqlite")) as connection, connection:
    connection.execute("CREATE TABLE taps (card_id INTEGER, seq INTEGER, stop_id TEXT)")
    rows = zip(*(column.to_pylist() for column in taps.columns), strict=True)
    connection.executemany("INSERT INTO taps VALUES (?, ?, ?)", rows)

database = pv.read_trajectories(
    "taps.sqlite", universe, unit="card_id", order="seq", location="stop_id", table="taps"
)
print(pv.publish(database, epsilon="2", height=6))
