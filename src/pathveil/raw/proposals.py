"""What a guided run proposes for a CSV file: its encoding, and how its times are written.

Both are public choices, and nothing here makes one: figures go to the curator's terminal, as those
of a rehearsal do, and the curator decides. What is proposed looks at the first rows only, by how
many of them can be read; two formats that read the same rows are both named, and none proposed.
"""

import codecs
from pathlib import Path
from typing import Final

import numpy as np

from pathveil.raw.sources.columns import Columns
from pathveil.raw.sources.csv_file import CsvFile
from pathveil.raw.sources.notation import Writing
from pathveil.raw.sources.order_values import text_order_keys
from pathveil.raw.sources.text_file import DEFAULT_ENCODING, TextFile
from pathveil.raw.sources.time_formats import ISO, NAMED, TimeFormat

LOOKED_AT: Final = 1000  # rows, for times
_BYTES: Final = 2**20  # of the text, for its encoding
_WINDOWS: Final = "windows-1252"


def proposed_encoding(path: Path) -> str:
    """UTF-8 (or UTF-16, if the file says so itself), unless the beginning of the text is neither.

    Raises:
        InputError: if the file can't be unpacked.
    """
    file = TextFile(path)
    if file.encoding != DEFAULT_ENCODING:
        return "utf-16"
    with file.opened() as (text, _):
        head = text.read(_BYTES)
    try:
        codecs.getincrementaldecoder(DEFAULT_ENCODING)().decode(head, final=False)
    except UnicodeDecodeError:
        return _WINDOWS
    return DEFAULT_ENCODING


def readable_times(file: CsvFile, column: str) -> dict[str, int]:
    """How many of the first rows each named format reads in a column, the best first.

    ``iso`` reads numbers, too.
    """
    alone = Columns(unit=column, trajectory=None, order=None, location=None)
    piece = next(file.pieces(alone), None)
    if piece is None:
        return {}
    texts = piece().unit
    texts = texts.take(np.arange(min(len(texts), LOOKED_AT), dtype=np.int64))
    found = {}
    for name in (ISO, *NAMED):
        readable = text_order_keys(texts, Writing(TimeFormat.parse(name))).readable()
        found[name] = len(texts) if readable is None else int(readable.sum())
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def proposed_format(readable: dict[str, int]) -> str | None:
    """The format that reads the most rows; None if there is none, or another reads as many."""
    best = [name for name, rows in readable.items() if rows and rows == max(readable.values())]
    return best[0] if len(best) == 1 else None
