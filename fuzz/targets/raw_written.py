"""Raw visits as other programs write them: encodings, formats of times, decimal commas.

The input is a byte that chooses the encoding, one that says whether numbers have commas, a line
with the format of the times, and the file. The marker stands in a row at its end.
"""

from pathlib import Path

from fuzz.harness import MARKER
from fuzz.targets.raw_csv import CELLS, UNIVERSE

from pathveil.raw.reading import read_trajectories
from pathveil.times.time_grid import TimeGrid

ENCODINGS = ("utf-8", "utf-16", "utf-16-be", "windows-1252", "latin-1", "cp437")
GRID = TimeGrid.parse("1h", "Europe/Berlin")
SECRET = MARKER.decode()


def read(data: bytes, folder: Path) -> None:
    """Read it as `publish` does, once with locations and once with points."""
    first, second = data[:2].ljust(2, b"\0")
    form, _, rows = data[2:].replace(MARKER, b"").partition(b"\n")
    encoding = ENCODINGS[first % len(ENCODINGS)]
    path = folder / "taps.csv"
    path.write_bytes(rows + f"\n{SECRET};{SECRET};{SECRET};{SECRET};{SECRET}\n".encode(encoding))
    options = {
        "unit": "card",
        "encoding": encoding,
        "time_format": form.decode("latin-1"),
        "decimal_comma": bool(second & 1),
    }
    if second & 2:
        points = {"latitude": "lat", "longitude": "lon", "order": "when"}
        read_trajectories(path, CELLS, **points, **options)
    else:
        timed = {"time": "when", "time_grid": GRID, "location": "stop"}
        read_trajectories(path, UNIVERSE, **timed, **options)


def seeds() -> dict[str, bytes]:
    """Each encoding, and each kind of format."""
    rows = "card;when;stop;lat;lon\nä;02.03.2026 07:58;S1;45,5;-73,6\nä;2.3.2026 08:10;S2;1;2\n"
    iso = "card;when;stop\na;2026-03-02T07:58;S1\na;1772438280;S2\n"
    return {
        "german": b"\3\1de\n" + rows.encode("windows-1252"),
        "points": b"\4\3de\n" + rows.encode("latin-1"),
        "wide": b"\1\1de\n" + rows.encode("utf-16"),
        "wide-unmarked": b"\2\1de\n" + rows.encode("utf-16-be"),
        "iso": b"\0\0iso\n" + iso.encode(),
        "own": b"\0\0%Y/%m/%d %H:%M:%S %z\n" + b"card;when;stop\na;2026/03/02 07:58:00 +0100;S1\n",
        "american": b"\5\0us\n" + b"card;when;stop\na;3/2/2026 7:58:00 PM;S1\n",
    }
