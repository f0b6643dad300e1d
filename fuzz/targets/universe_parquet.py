"""A universe as a Parquet file: the input is a kind and a patch of the file."""

from functools import cache
from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from fuzz.patching import change, patched
from fuzz.written import check_universe

from pathveil.universe.universe import Universe

KINDS = (
    {"location": ["S1", "S2"], "name": ["a", None], "lat": [45.5, None], "lon": [-73.5, None]},
    {"stop_id": [b"S1", b"S2"], "when": [1, 2], "nested": [[1], [2]]},
    {"label": pa.array(["S1", "S2"]).dictionary_encode(), "more": [None, None]},
)


@cache
def files() -> list[bytes]:
    """A small file of each kind, uncompressed so that a patch reaches the values."""
    made = []
    for columns in KINDS:
        out = BytesIO()
        pq.write_table(pa.table(columns), out, compression="none", use_dictionary=False)
        made.append(out.getvalue())
    return made


def read(data: bytes, folder: Path) -> None:
    """Read it as ``--universe FILE`` does."""
    kind, patch = data[:1] or b"\0", data[1:]
    path = folder / "stops.parquet"
    path.write_bytes(patched(files()[kind[0] % len(KINDS)], patch))
    check_universe(Universe.read(path), folder)


def seeds() -> dict[str, bytes]:
    """Each kind as it is, a changed value, and a footer that is cut or says another size."""
    whole = files()[0]
    value = whole.index(b"S1\x02\0\0\0S2")  # in the page; its statistics come before
    return {
        **{f"kind-{kind}": bytes((kind,)) for kind in range(len(KINDS))},
        "value": b"\0" + change(value, 1, b"T"),
        "not-utf-8": b"\0" + change(value, 1, b"\xff"),
        "footer-size": b"\0" + change(len(whole) - 8, 1, b"\xff"),
        "schema": b"\0" + change(whole.rindex(b"location"), 1, b"\xff"),
    }
