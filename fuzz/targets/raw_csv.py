"""Raw visits as CSV: the input is a byte that chooses how they are read, and the file.

A person's row with the marker in every cell stands at the end, whatever the input.
"""

from pathlib import Path
from typing import Any

from fuzz.harness import MARKER

from pathveil.raw.reading import read_trajectories
from pathveil.times.time_grid import TimeGrid
from pathveil.universe.universe import Universe

UNIVERSE = Universe(["S1", "S2", "S3"])
CELLS = Universe.from_grid(3, 4, "45.4,-73.9,45.7,-73.5")
COLUMNS = {"unit": "card", "order": "when", "location": "stop"}
WAYS: tuple[tuple[Universe, dict[str, Any]], ...] = (
    (UNIVERSE, COLUMNS),
    (UNIVERSE, {"unit": "card", "location": "stop", "trajectory": "trip"}),
    (UNIVERSE, {"unit": None, "max_trajectories_per_unit": 2}),
    (UNIVERSE, {**COLUMNS, "split": "day", "time_zone": "America/Montreal"}),
    (UNIVERSE, {**COLUMNS, "split": "gap:30min", "repeats": "collapse"}),
    (CELLS, {"unit": "card", "latitude": "lat", "longitude": "lon", "order": "when"}),
    (
        UNIVERSE,
        {
            "unit": "card",
            "location": "stop",
            "time": "when",
            "time_grid": TimeGrid.parse("weekday-hour", "America/Montreal"),
        },
    ),
)
ROW = b"\n" + b",".join([MARKER] * 4) + b"\n" + b";".join([MARKER] * 3) + b"\n" + MARKER


def read(data: bytes, folder: Path) -> None:
    """Read it as `publish` does."""
    universe, options = WAYS[(data[:1] or b"\0")[0] % len(WAYS)]
    path = folder / "taps.csv"
    path.write_bytes(data[1:].replace(MARKER, b"") + ROW)
    # The report too: the counts in it are checked to be numbers that can be printed.
    read_trajectories(path, universe, report=lambda report: str(report.rows), **options)


def seeds() -> dict[str, bytes]:
    """Each way to read, with good rows and bad ones."""
    times = b"card,when,stop\na,2024-03-10T01:59:59-05:00,S1\na,2024-03-10 03:00,S2\n"
    return {
        "order": b'\0card,when,stop\na,1,S1\na,2,S2\n"b",-1.5,"S3"\nb,1e3,S1\n,,\n"',
        "trips": b"\1card;trip;stop\na;t1;S1\na;t2;S2\r\nb;;S1\rb;\xff;S1\n",
        "known": b"\2uid,datetime,location\na,2024-01-01T00:00:00Z,S1\na,2024-01-01,S2\n",
        "days": b"\3" + times,
        "gaps": b"\4" + times + b"a,2024-03-10T03:00:00.5Z,S2\na,1710000000,S3\n",
        "points": b"\5card,when,lat,lon\na,1,45.5,-73.6\na,2,91,0\na,3,1e-400,nan\nb,2,,\n",
        "times": b"\6" + times + b"b,9999-12-31T23:59:59Z,S1\nb,0001-01-01,S3\nb,24:00,S1\n",
    }
