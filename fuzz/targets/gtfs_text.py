"""The stops.txt of a GTFS feed: the input is the file, after a byte that chooses the level."""

from pathlib import Path

from fuzz.written import check_universe

from pathveil.universe.gtfs import LEVELS
from pathveil.universe.universe import Universe

FEED = (
    b"stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station\n"
    b"A,Station A,45.5,-73.5,1,\nA1,Platform,45.5,-73.5,0,A\nA1b,Bay,,,4,A1\n"
    b'B,"Stop ""B""",45.6,-73.6,,\nE,Door,45.5,-73.5,2,A\n'
)


def read(data: bytes, folder: Path) -> None:
    """Read it as ``--universe gtfs:FILE`` does."""
    path = folder / "stops.txt"
    path.write_bytes(data[1:])
    level = LEVELS[(data[:1] or b"\0")[0] % len(LEVELS)]
    check_universe(Universe.from_gtfs(path, level=level), folder)


def seeds() -> dict[str, bytes]:
    """One feed at each level, and one with the id only."""
    levels = {level: bytes((number,)) + FEED for number, level in enumerate(LEVELS)}
    return {**levels, "ids": b"\0\xef\xbb\xbfstop_id\r\nA\r\n\r\nB"}
