"""A ledger as one JSON document: to keep elsewhere, to check without the database, to restore."""

import json
from typing import Any

from pathveil.errors import LedgerError
from pathveil.ledger.chain import Chain
from pathveil.ledger.entries import VERSION, Row
from pathveil.model.json_text import RepeatedNameError, read_json

FORMAT = "pathveil-ledger"
_LONGEST = 200_000_000


def exported(chain: Chain) -> dict[str, Any]:
    """The document: every entry with its hash, and the head that speaks for all of them."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "head": chain.head,
        "entries": [
            {"entry": entry.model_dump(mode="json"), "sha256": digest}
            for entry, digest in zip(chain.entries, chain.hashes, strict=True)
        ],
    }


def read_export(content: bytes) -> Chain:
    """The chain of an exported document, checked.

    Raises:
        LedgerError: if it is no export, or was changed.
    """
    document = _document(content)
    rows = [_row(item) for item in document["entries"]]
    chain = Chain.of(rows)
    if not chain.entries or chain.head != document.get("head"):
        raise LedgerError("The export does not end with its own head: entries are missing.")
    return chain


def _document(content: bytes) -> dict[str, Any]:
    try:
        document = read_json(content) if len(content) <= _LONGEST else None
    except RepeatedNameError:
        raise LedgerError(
            "The exported ledger says something twice: readers would differ about what it says."
        ) from None
    except ValueError:
        document = None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise LedgerError("That is not an exported ledger; `pathveil ledger export` writes one.")
    version = document.get("version")
    if isinstance(version, int) and version > VERSION:
        raise LedgerError("The export was written by a newer version of pathveil. Upgrade it.")
    if not isinstance(document.get("entries"), list):
        raise LedgerError("The exported ledger has no list of entries.")
    return document


def _row(item: Any) -> Row:
    """The row that an exported entry stands for; `Chain.of` checks it."""
    try:
        entry, digest = item["entry"], item["sha256"]
        text = json.dumps(entry, sort_keys=True, separators=(",", ":"))
        number = entry["number"]
    except (TypeError, LookupError, ValueError, RecursionError):
        raise LedgerError("The exported ledger holds something that is not an entry.") from None
    if not isinstance(number, int) or not isinstance(digest, str):
        raise LedgerError("The exported ledger holds something that is not an entry.")
    return Row(number, text, digest)
