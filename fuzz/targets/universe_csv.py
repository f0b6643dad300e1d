"""A universe as a CSV file: the input is the file."""

from pathlib import Path

from fuzz.written import check_universe

from pathveil.universe.universe import Universe


def read(data: bytes, folder: Path) -> None:
    """Read it as ``--universe FILE`` does."""
    path = folder / "stops.csv"
    path.write_bytes(data)
    check_universe(Universe.read(path), folder)


def seeds() -> dict[str, bytes]:
    """Every delimiter, quotes, names, coordinates, labels that look like formulas."""
    return {
        "labels": b"location\nS1\nS2\nS3\n",
        "places": b"stop_id;stop_name;stop_lat;stop_lon\nS1;Main;45.5;-73.5\nS2;;;\n",
        "quoted": b'\xef\xbb\xbfname\tlabel\r\n"a ""b"""\tx,y\r\n\'c\t=1+1\r\n',
        "columns": b"lat|lon|location|zone\n-90|180|S 1|north\n1e1|-0|@S2|\n",
    }
