"""The stop_times.txt of a GTFS feed: the input is the file; the stops are always the same."""

import zipfile
from pathlib import Path

from fuzz.targets.gtfs_text import FEED

from pathveil.universe.universe import Universe

CALLS = b"trip_id,stop_id,stop_sequence\nt,A1,1\nt,B,2\nu,B,1\nu,A,2\nu,?,3\n"


def read(data: bytes, folder: Path) -> None:
    """Read it as ``--universe gtfs:FEED`` does."""
    path = folder / "feed.zip"
    with zipfile.ZipFile(path, "w") as feed:
        feed.writestr("stops.txt", FEED)
        feed.writestr("stop_times.txt", data)
    universe = Universe.from_gtfs(path, level="merged")
    lines = universe.lines
    if lines is not None and not 0 <= lines.first.min() <= lines.first.max() < len(universe):
        raise AssertionError("a line serves what is no location")


def seeds() -> dict[str, bytes]:
    """A timetable, one in another order with more columns, and one that nobody rides."""
    return {
        "calls": CALLS,
        "columns": b'\xef\xbb\xbfstop_sequence,x,stop_id,trip_id\r\n7,,"A",t\r\n2,,B,t\r\n',
        "nobody": CALLS[:30],
    }
