"""A zipped GTFS feed: the input is a kind and a patch of the zip file."""

import io
import zipfile
from functools import cache
from pathlib import Path

from fuzz.patching import change, patched
from fuzz.targets.gtfs_text import FEED

from pathveil.universe.universe import Universe

KINDS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)


@cache
def files() -> list[bytes]:
    """A feed with each kind of compression."""
    made = []
    for kind in KINDS:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", kind) as feed:
            # Not writestr with a plain name: it would store the time of day.
            for name, content in (("feed/stops.txt", FEED), ("agency.txt", b"agency_id\n1\n")):
                entry = zipfile.ZipInfo(name)
                entry.compress_type = kind
                feed.writestr(entry, content)
        made.append(out.getvalue())
    return made


def read(data: bytes, folder: Path) -> None:
    """Read it as ``--universe gtfs:FILE`` does."""
    kind, patch = data[:1] or b"\0", data[1:]
    path = folder / "feed.zip"
    path.write_bytes(patched(files()[kind[0] % len(KINDS)], patch))
    Universe.from_gtfs(path)


def seeds() -> dict[str, bytes]:
    """Each kind as it is, and changes to the directory at the end."""
    whole = files()[0]
    directory = whole.index(b"PK\x01\x02")
    return {
        **{f"kind-{kind}": bytes((kind,)) for kind in range(len(KINDS))},
        "flags": b"\0" + change(directory + 8, 1, b"\x01"),
        "method": b"\0" + change(directory + 10, 1, b"\x63"),
        "size": b"\1" + change(directory + 24, 4, b"\xff\xff\xff\x7f"),
        "value": b"\0" + change(whole.index(b"Station"), 1, b"s"),
    }
