"""Raw visits as Parquet: the input is a kind and a patch of the file, its footer included.

The marker stands in every column of text, and so in the statistics of the footer too.
"""

import datetime as dt
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from fuzz.harness import MARKER
from fuzz.patching import change, patched
from fuzz.targets.raw_csv import CELLS, COLUMNS, UNIVERSE

from pathveil.raw.reading import read_trajectories
from pathveil.universe.universe import Universe

SECRET = MARKER.decode()
MOMENT = dt.datetime(2024, 2, 29, 7, 30, tzinfo=dt.UTC)
LISTS = {"unit": "card", "location": "stops"}
POINTS = {"unit": "card", "latitude": "lat", "longitude": "lon"}
KINDS: tuple[tuple[dict[str, Any], Universe, dict[str, Any]], ...] = (
    ({"card": ["a", SECRET], "when": [1, 2], "stop": ["S1", SECRET]}, UNIVERSE, COLUMNS),
    ({"card": [SECRET, "b"], "stops": [["S1", SECRET], []]}, UNIVERSE, LISTS),
    (
        {"card": pa.array(["a", SECRET]).dictionary_encode(), "when": [MOMENT, None],
         "stop": [MARKER, b"S2"]},
        UNIVERSE,
        {**COLUMNS, "split": "day"},
    ),
    ({"card": [SECRET, "b"], "lat": [45.5, None], "lon": ["-73.6", SECRET]}, CELLS, POINTS),
)  # fmt: skip


@cache
def files() -> list[bytes]:
    """A small file of each kind, uncompressed so that a patch reaches the values."""
    made = []
    for columns, _, _ in KINDS:
        out = BytesIO()
        pq.write_table(pa.table(columns), out, compression="none", use_dictionary=False)
        made.append(out.getvalue())
    return made


def read(data: bytes, folder: Path) -> None:
    """Read it as `publish` does."""
    kind = (data[:1] or b"\0")[0] % len(KINDS)
    _, universe, options = KINDS[kind]
    path = folder / "taps.parquet"
    path.write_bytes(patched(files()[kind], data[1:].replace(MARKER, b"")))
    read_trajectories(path, universe, **options)


def seeds() -> dict[str, bytes]:
    """Each kind as it is; changed values, sizes and names."""
    whole = files()[0]
    return {
        **{f"kind-{kind}": bytes((kind,)) for kind in range(len(KINDS))},
        "value": b"\0" + change(whole.index(b"S1"), 2, b"\xff\0"),
        "row-count": b"\0" + change(whole.rindex(b"schema") + 8, 1, b"\x7f"),
        "footer-size": b"\0" + change(len(whole) - 8, 1, b"\x10"),
        "name": b"\0" + change(whole.rindex(b"card"), 4, b"stop"),
    }
