"""Inputs of every kind that reading knows, as tables: what the engines must agree on."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pathveil import TimeGrid, Universe, simulate_week

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
SMALL = ("nycflights13", "kosarak")  # datasets that any run of the tests can afford
LARGE = ("msnbc", "cabspotting", "stm_like", "mibici")
LABELS = ["b", "a", "é", "10"]


@dataclass(frozen=True)
class Input:
    """A table, its universe and how it is read."""

    table: pa.Table
    universe: Universe
    reading: dict[str, Any] = field(default_factory=dict)


def week(riders=400):
    made = simulate_week(riders, 12, seed=5)
    rider = np.repeat(np.arange(riders), np.diff(made.offsets))
    mixed = np.random.default_rng(1).permutation(len(rider))  # noqa: TID251
    table = pa.table(
        {
            "who": pa.array(rider),
            "trip": pa.array((np.arange(len(rider)) - made.offsets[rider]) // 3),
            "when": pa.array(np.arange(len(rider)) - made.offsets[rider]),
            "where": pa.array(made.universe.labels).take(pa.array(made.codes)),
        }
    )
    return table.take(pa.array(mixed)), made.universe


def texts(rows=600):
    """Cells of text, many of them missing, malformed or equal, so that every rule has work."""
    draw = np.random.default_rng(2)  # noqa: TID251
    who = ["u", "v", "w", "x,y", "ü", "0", "00", "", None, "a\0b", *(f"p{i}" for i in range(40))]
    trip = ["1", "2", "01", "10", "-3", "t", "T", "", None, "1" * 19]
    when = ["1", "2", "10", "1.5", "x", None, "2024-01-01", "2023-12-31T23:00-02:00", "nan", "1e1"]
    where = [*LABELS * 4, "", "A", None, "elsewhere"]
    columns = {"who": who, "trip": trip, "when": when, "where": where}
    return pa.table(
        {
            name: pa.array([values[i] for i in draw.integers(0, len(values), rows)], pa.string())
            for name, values in columns.items()
        }
    )


def moments(rows=900):
    """Times around a change of the clock, some without an offset, some unreadable."""
    draw = np.random.default_rng(3)  # noqa: TID251
    start = np.datetime64("2024-11-02T20:00", "m")
    at = [str(start + np.timedelta64(int(m), "m")) for m in draw.integers(0, 3000, rows)]
    at = [text + ("Z" if i % 3 else "") if i % 17 else "never" for i, text in enumerate(at)]
    return pa.table(
        {
            "who": pa.array(draw.integers(0, 150, rows)),
            "when": pa.array(at),
            "where": pa.array([LABELS[i] for i in draw.integers(0, 4, rows)]),
        }
    )


def points(rows=800):
    draw = np.random.default_rng(4)  # noqa: TID251
    return pa.table(
        {
            "who": pa.array(draw.integers(0, 90, rows)),
            "when": pa.array(draw.integers(0, 10**5, rows)),
            "lat": pa.array(draw.normal(45.5, 0.1, rows)),
            "lng": pa.array(draw.normal(-73.6, 0.1, rows)),
        }
    )


def lists(sequences, labels):
    """One trajectory per unit, in list form."""
    table = pa.table({"who": pa.array(range(len(sequences))), "where": pa.array(sequences)})
    return Input(table, Universe(labels), {"unit": "who", "location": "where"})


def made_up():
    """Name → input."""
    taps, stops = week()
    by_seq = {"unit": "who", "order": "when", "location": "where"}
    named = Universe(LABELS)
    zone = "America/New_York"
    timed = {"unit": "who", "time": "when", "location": "where"}
    cells = Universe.from_grid(4, 4, "45.3,-73.8,45.7,-73.4")
    trips = {**by_seq, "trajectory": "trip"}
    return {
        "week": Input(taps, stops, by_seq),
        "trips": Input(taps, stops, {**trips, "max_trajectories_per_unit": 2}),
        "sampled trips": Input(
            taps, stops, {**trips, "max_trajectories_per_unit": 2, "keep": "sample", "keep_seed": 9}
        ),
        "texts": Input(texts(), named, {**trips, "max_trajectories_per_unit": 3}),
        "collapsed": Input(texts(), named, {**by_seq, "repeats": "collapse"}),
        "times": Input(moments(), named, {**timed, "time_grid": TimeGrid.parse("6h", zone)}),
        "gaps": Input(
            moments(), named, {**by_seq, "split": "gap:90min", "max_trajectories_per_unit": 3}
        ),
        "days": Input(moments(), named, {**by_seq, "split": "day", "time_zone": zone}),
        "points": Input(
            points(),
            cells,
            {"unit": "who", "order": "when", "latitude": "lat", "longitude": "lng"},
        ),
        "lists": lists(
            [["a", "b"], [], None, ["b", None, "z", "a"], ["a", "b", "10"]] * 30, LABELS
        ),
        "nobody": Input(taps.slice(0, 0), stops, by_seq),
    }


def write_partitions(table, folder):
    """The table as files in folders by day, each row in one of them."""
    for part in range(3):
        place = folder / f"trip={part}"
        place.mkdir(parents=True)
        rows = pa.array(range(part, table.num_rows, 3))
        pq.write_table(table.take(rows).drop(["trip"]), place / "rows.parquet", row_group_size=50)
    (folder / "_SUCCESS").write_text("")
