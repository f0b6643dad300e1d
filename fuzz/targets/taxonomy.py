"""A taxonomy file (a zone for each location): the input is the file."""

from pathlib import Path

from fuzz.written import check_universe

from pathveil.universe.taxonomy_spec import read_taxonomy
from pathveil.universe.universe import Universe

UNIVERSE = Universe(["S1", "S2", "S3"], latitude=[45.5, None, 45.6], longitude=[-73.5, None, -73.6])


def read(data: bytes, folder: Path) -> None:
    """Read it as ``--taxonomy FILE`` does, for a universe of three locations."""
    path = folder / "zones.csv"
    path.write_bytes(data)
    check_universe(read_taxonomy(path, UNIVERSE).extend(UNIVERSE), folder)


def seeds() -> dict[str, bytes]:
    """Each spelling of the columns."""
    return {
        "zones": b"location,zone\nS1,north\nS2,north\nS3,south\n",
        "stations": b"stop_id;parent_station\nS3;=A\nS2;B\nS1;B\nS1;B\n",
    }
