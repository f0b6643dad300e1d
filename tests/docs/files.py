"""What lies in the folder of a page: small data of riders who do not exist.

Each function makes one set of files in the working folder, and may return what stands for texts of
the page.
"""

import csv
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from tests.messy import german_agency

import pathveil as pv
from pathveil.cli.run import run

RIDERS = 3000
PLACES = ["Central", "Harbour", "Market", *(f"S{n:04d}" for n in range(1, 36))]
ZONES = ["Downtown", "North", "South", "West"]
MONDAY = np.datetime64("2026-03-02T06:00:00")


def _visits():
    """Rider, number of the trip, time and place of each visit; the first places are popular."""
    draw = np.random.default_rng(5)  # noqa: TID251
    popularity = 1 / np.arange(1, len(PLACES) + 1)
    rows = []
    for rider in range(RIDERS):
        places = draw.choice(len(PLACES), 2 + rider % 3, p=popularity / popularity.sum())
        start = MONDAY + np.timedelta64(int(draw.integers(0, 5 * 86400)), "s")
        for number, place in enumerate(places):
            time = start + np.timedelta64(4000 * number, "s")
            rows.append((f"7A{rider:04X}", number // 2 + 1, str(time), PLACES[place]))
    rows[0] = ("7A21", 1, "2026-03-02T07:58:10", "Central")
    rows[1] = ("7A21", 1, "2026-03-02T17:31:44", "Harbour")
    return rows


VISITS = _visits()


def _write(name, header, rows):
    with Path(name).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


def _position(number):
    return round(45.41 + 0.01 * (number // 8), 4), round(-73.9 + 0.01 * (number % 8), 4)


def german():
    """A messy export of a German agency, and its list of stops."""
    german_agency(Path(), people=60)


def transit():
    """Taps as CSV, and the public lists: stops, zones, a GTFS feed."""
    header = ["card_id", "tapped_at", "stop"]
    _write("taps.csv", header, [(unit, time, place) for unit, _, time, place in VISITS])
    stops = [(p, f"{p} stop", *_position(n)) for n, p in enumerate(PLACES)]
    _write("stops.csv", ["location", "name", "latitude", "longitude"], stops)
    zones = [(place, ZONES[number % len(ZONES)]) for number, place in enumerate(PLACES)]
    _write("zones.csv", ["location", "zone"], zones)
    lines = ["stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station"]
    lines += [f"{place},{name},{north},{east},0," for place, name, north, east in stops]
    with zipfile.ZipFile("feed.zip", "w") as feed:
        feed.writestr("stops.txt", "\n".join(lines) + "\n")


def stations():
    """A GTFS feed in which a station has two platforms, where people tap."""
    lines = ["stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station"]
    lines += ["STATION,Central Station,45.5,-73.6,1,"]
    lines += [f"{name},{name},45.5,-73.6,0,STATION" for name in ("Central", "Harbour")]
    lines += [f"{place},{place},{45.5 + n / 100},-73.6,0," for n, place in enumerate(PLACES[2:])]
    with zipfile.ZipFile("feed.zip", "w") as feed:
        feed.writestr("stops.txt", "\n".join(lines) + "\n")


def people():
    """Riders' trips, one row per visit."""
    _write("trips.csv", ["card_id", "trip", "tapped_at", "stop"], VISITS)


def points():
    """Positions in degrees, a few of each person, some outside every city."""
    number = {place: n for n, place in enumerate(PLACES)}
    rows = [(unit, time, *_position(number[place])) for unit, _, time, place in VISITS]
    rows += [("7A21", "2026-03-02T09:00:00", 0.0, 0.0)]
    _write("gps.csv", ["uid", "datetime", "lat", "lng"], rows)


def folder():
    """Taps as a folder of Parquet files."""
    Path("taps").mkdir()
    unit, _, time, place = (list(column) for column in zip(*VISITS, strict=True))
    table = pa.table({"card_id": unit, "tapped_at": time, "stop": place})
    half = len(table) // 2
    pq.write_table(table[:half], "taps/part-1.parquet")
    pq.write_table(table[half:], "taps/part-2.parquet")


def lake():
    """The taps as a Delta table of three versions."""
    import deltalake

    unit, _, time, place = (list(column) for column in zip(*VISITS, strict=True))
    table = pa.table({"card_id": unit, "tapped_at": time, "stop": place})
    half = len(table) // 2
    for part in (table[:half], table[half:]):
        deltalake.write_deltalake("lake/taps", part, mode="append")
    deltalake.DeltaTable("lake/taps").delete("card_id = '7A21'")


def databases():
    """The taps in SQLite and DuckDB files."""
    import sqlite3
    from contextlib import closing

    import duckdb

    rows = [(unit, time, place) for unit, _, time, place in VISITS]
    with closing(sqlite3.connect("taps.sqlite")) as connection, connection:
        connection.execute("CREATE TABLE taps (card_id TEXT, tapped_at TEXT, stop TEXT)")
        connection.executemany("INSERT INTO taps VALUES (?, ?, ?)", rows)
    with duckdb.connect("taps.duckdb") as connection:
        connection.execute("CREATE TABLE taps AS SELECT * FROM read_csv('taps.csv')")


def release():
    """A release of the taps."""
    database().publish("release", epsilon="4", height=6)


def timed_release():
    """A release of the taps with times."""
    grid = pv.TimeGrid.parse("1h")
    _Database(time="tapped_at", time_grid=grid).publish("release", epsilon="4", height=6)


def zoned_release():
    """A release of the taps with zones."""
    zones = pv.read_taxonomy("zones.csv", pv.Universe.read("stops.csv"))
    database().publish("release", epsilon="4", height=6, method="full", taxonomy=zones)


def key():
    """A key pair to sign with."""
    run(["keygen", "city-transit.key"])


def ledger():
    """A ledger with the dataset `taps`, where the command line looks for it."""
    run(["ledger", "init", "taps", "--limit", "4", "--per", "year", "--delta-limit", "1e-8"])
    return {"5e88…": pv.Ledger.open().chain().head}


def ledger_file():
    """A ledger in a file of the working folder."""
    run(["ledger", "init", "taps", "--limit", "4", "--ledger", "ledger.db"])


def ledger_copy():
    """What `ledger export` wrote."""
    ledger_file()
    run(["ledger", "export", "--ledger", "ledger.db", "--out", "ledger-2026-03.json"])


def charged_release():
    """A release of the taps that was charged to that ledger."""
    account = pv.Ledger.open("ledger.db").dataset("taps")
    database().publish("release", epsilon="1", height=6, ledger=account)


def rules():
    """Rules that a release must keep."""
    Path("rules.toml").write_text(
        "suppress_below = 20\nmost_suppressed = 0.2\n\n[noise]\nvisits = 60\n\n"
        "[error]\nvisits = 0.5\n"
    )


def two_releases():
    """A release of March that was charged to the usual ledger, and one that mends it."""
    account = pv.Ledger.open().dataset("taps")
    for out in ("march", "march-2"):
        database().publish(out, epsilon="1", height=2, method="basic", ledger=account)


def march():
    """A release of March, to be compared."""
    database().publish("march", epsilon="4")


def april():
    """One of April."""
    database().publish("april", epsilon="4")


class _Database:
    """The taps, read when somebody wants them."""

    def __init__(self, **how):
        universe = pv.Universe.read("stops.csv")
        columns = {"unit": "card_id", "location": "stop"}
        how = how or {"order": "tapped_at"}
        self.read = pv.read_trajectories("taps.csv", universe, **columns, **how)

    def publish(self, out, **choices):
        release = pv.publish(self.read, **choices)
        release.write(out)
        return release


def database():
    return _Database()


FILES = {
    function.__name__.replace("_", " "): function
    for function in (
        transit,
        german,
        people,
        points,
        folder,
        lake,
        databases,
        release,
        timed_release,
        zoned_release,
        stations,
        key,
        ledger,
        ledger_file,
        ledger_copy,
        charged_release,
        two_releases,
        rules,
        march,
        april,
    )
}

# What a page's Python may take for granted; made when the page names it.
NAMES = {
    "universe": lambda: pv.Universe.read("stops.csv"),
    "db": lambda: database().read,
    "database": lambda: database().read,
    "release": lambda: pv.publish(database().read, epsilon="4", height=6),
}
