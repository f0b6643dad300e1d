"""A time grid as a CSV file: the input is a byte that chooses the time zone, and the file."""

from pathlib import Path

from fuzz.written import check_time_grid

from pathveil.times.time_grid import TimeGrid

ZONES = ("UTC", "America/Montreal", "Asia/Kathmandu", "Pacific/Kiritimati")


def read(data: bytes, folder: Path) -> None:
    """Read it as ``--time-grid FILE`` does."""
    path = folder / "grid.csv"
    path.write_bytes(data[1:])
    zone = ZONES[(data[:1] or b"\0")[0] % len(ZONES)]
    check_time_grid(TimeGrid.read(path, zone), folder)


def seeds() -> dict[str, bytes]:
    """Each kind of moment, with and without ends."""
    return {
        "day": b"\0start\n00:00\n06:30\n12:00:30\n",
        "ends": b"\1time,end\n07:00,10:00\n16:00,24:00\n",
        "week": b"\2slot\nMon 00:00\nSaturday 00:00\n",
        "dates": b"\0start\n2024-02-29\n2024-03-01T12:00\n",
        "offsets": b"\1start,end\n2024-02-29T07:00+01:00,2024-02-29T09:00Z\n",
    }
