"""Raw visits in a gzip or zip file, or in an Excel workbook: a kind and a patch of the file.

The marker stands in a cell of each.
"""

import gzip
import io
import warnings
import zipfile
from functools import cache
from pathlib import Path

from fuzz.harness import MARKER
from fuzz.patching import change, patched
from fuzz.targets.raw_csv import COLUMNS, UNIVERSE

from pathveil.raw.reading import read_trajectories

SECRET = MARKER.decode()
ROWS = [["card", "when", "stop"], ["a", 1, "S1"], ["a", 2, SECRET], [SECRET, SECRET, "S2"]]
NAMES = ("taps.csv.gz", "taps.csv.zip", "taps.zip", "taps.xlsx", "taps.xlsx")


@cache
def files() -> list[bytes]:
    """A small file of each kind; the second workbook is stored, so that a patch reaches its XML."""
    text = "".join(",".join(map(str, row)) + "\n" for row in ROWS).encode()
    book = _workbook()
    with zipfile.ZipFile(io.BytesIO(book)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    return [
        gzip.compress(text, mtime=0),
        _zipped({"taps.csv": text}, zipfile.ZIP_DEFLATED),
        _zipped({"taps.csv": text}, zipfile.ZIP_STORED),
        _zipped(parts, zipfile.ZIP_DEFLATED),
        _zipped(parts, zipfile.ZIP_STORED),
    ]


def _zipped(parts: dict[str, bytes], kind: int) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in parts.items():
            entry = zipfile.ZipInfo(name)  # a plain name would store the time of day
            entry.compress_type = kind
            archive.writestr(entry, content)
    return out.getvalue()


def _workbook() -> bytes:
    import datetime as dt

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import xlsxwriter
    out = io.BytesIO()
    with xlsxwriter.Workbook(out, {"in_memory": True}) as book:
        book.set_properties({"created": dt.datetime(2026, 1, 1, tzinfo=dt.UTC)})
        sheet = book.add_worksheet("Taps")
        for number, row in enumerate(ROWS):
            sheet.write_row(number, 0, row)
    return out.getvalue()


def read(data: bytes, folder: Path) -> None:
    """Read it as `publish` does."""
    kind = (data[:1] or b"\0")[0] % len(NAMES)
    path = folder / NAMES[kind]
    path.write_bytes(patched(files()[kind], data[1:].replace(MARKER, b"")))
    read_trajectories(path, UNIVERSE, **COLUMNS)


def seeds() -> dict[str, bytes]:
    """Each kind as it is; changed flags, sizes, checks and cells."""
    packed, plain, book = files()[0], files()[2], files()[4]
    directory = plain.index(b"PK\x01\x02")
    cell = book.index(b'<c r="B2"')
    return {
        **{f"kind-{kind}": bytes((kind,)) for kind in range(len(NAMES))},
        "cut": b"\0" + change(len(packed) - 12, 12, b""),
        "check": b"\0" + change(len(packed) - 8, 1, b"\0"),
        "flags": b"\2" + change(directory + 8, 1, b"\x01"),
        "size": b"\2" + change(directory + 24, 4, b"\xff\xff\xff\x7f"),
        "far-cell": b"\4" + change(cell + 6, 2, b"XFD1048576"),
        "type": b"\4" + change(cell + 9, 0, b' t="d"'),
    }
