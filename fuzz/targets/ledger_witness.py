"""What a witness kept of a ledger: the input is a bit (replace or patch) and the file."""

from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from fuzz.ledgers import chain
from fuzz.patching import change, patched
from fuzz.targets.signature import KEY

from pathveil.ledger.witness import check_witnessed, read_records, witnessed
from pathveil.ledger.witness_keepers import keeper_of

_AT = datetime(2026, 3, 2, tzinfo=UTC)


@cache
def kept() -> bytes:
    """Two records of the ledger's head."""
    return f"{witnessed(chain(), KEY, _AT).line()}\n".encode() * 2


def read(data: bytes, folder: Path) -> None:
    """Check the ledger against it, as `pathveil ledger verify --witness` does."""
    whole, rest = (data[:1] or b"\0")[0] & 1, data[1:]
    path = folder / "kept.jsonl"
    path.write_bytes(rest if whole else patched(kept(), rest))
    check_witnessed(chain(), read_records(keeper_of(str(path)).content(), KEY.public_key()))


def seeds() -> dict[str, bytes]:
    """The records as they are, whole and as a patch; a changed entry, key and time."""
    whole = kept()
    return {
        "unchanged": b"\0",
        "whole": b"\1" + whole,
        "entry": b"\0" + change(whole.index(b'"entry":') + 8, 1, b"9"),
        "key": b"\0" + change(whole.index(b"public_key") + 13, 1, b"f"),
        "time": b"\0" + change(whole.index(b"2026"), 4, b"9999"),
    }
