"""Publish straight from PostgreSQL: rows are streamed, in a read-only transaction.

The address is in DATABASE_URL; keep the password out of it, in PGPASSWORD or a password file.
"""

import os

import adbc_driver_postgresql.dbapi as postgresql
from simulated_taps import simulated_taps

import pathveil as pv

TABLE = "pathveil_example_taps"
address = os.environ["DATABASE_URL"]
taps, universe = simulated_taps()
with postgresql.connect(address) as connection, connection.cursor() as cursor:
    cursor.adbc_ingest(TABLE, taps, mode="replace")
    connection.commit()

database = pv.read_trajectories(
    address,
    universe,
    unit="card_id",
    order="seq",
    location="stop_id",
    query=f"SELECT card_id, seq, stop_id FROM {TABLE} WHERE seq < 20",
)
print(pv.publish(database, epsilon="2", height=6))

with postgresql.connect(address) as connection, connection.cursor() as cursor:
    cursor.execute(f"DROP TABLE {TABLE}")
    connection.commit()
