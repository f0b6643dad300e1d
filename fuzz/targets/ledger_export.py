"""An exported ledger, imported: the input is a bit (replace or patch) and the file."""

import json
from pathlib import Path

from fuzz.ledgers import export
from fuzz.patching import change, patched

from pathveil.ledger.export import read_export
from pathveil.ledger.ledger import Ledger


def read(data: bytes, folder: Path) -> None:
    """Import it as `pathveil ledger import` does, and read what was imported."""
    whole, rest = (data[:1] or b"\0")[0] & 1, data[1:]
    content = rest if whole else patched(export(), rest)
    opened = Ledger.open(folder / "ledger.db")
    opened.restore(read_export(content))
    opened.books()


def seeds() -> dict[str, bytes]:
    """An export as it is, whole and as a patch; one that is cut; one that changes an amount."""
    whole = export()
    document = json.loads(whole)
    document["entries"] = document["entries"][:2]
    return {
        "unchanged": b"\0",
        "whole": b"\1" + whole,
        "cut": b"\1" + json.dumps(document).encode(),
        "amount": b"\0" + change(whole.index(b"1/3"), 1, b"2"),
        "surrogate": b"\0" + change(whole.index(b"board"), 5, b"\\ud800"),
    }
