"""Publish straight from a DuckDB file, which is opened read-only."""

from pathlib import Path

import duckdb
from simulated_taps import simulated_taps

import pathveil as pv

taps, universe = simulated_taps()
Path("taps.duckdb").unlink(missing_ok=True)
with duckdb.connect("taps.duckdb") as connection:
    connection.register("simulated", taps)
    connection.execute("CREATE TABLE taps AS SELECT * FROM simulated")

database = pv.read_trajectories(
    "taps.duckdb", universe, unit="card_id", order="seq", location="stop_id", table="taps"
)
print(pv.publish(database, epsilon="2", height=6))
