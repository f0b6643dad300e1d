"""A ledger outside its store: as one JSON document, and compared with a bundle's certificate."""

import json
from fractions import Fraction
from typing import Any

from pathveil.core.texts import RepeatedNameError, read_json
from pathveil.errors import LedgerError
from pathveil.ledger.books import Books, Payment
from pathveil.ledger.chain import Chain
from pathveil.ledger.charges import NO_DELTA, series_record
from pathveil.ledger.entries import VERSION, Row
from pathveil.promise.certificate import LedgerRecord
from pathveil.times.protected_units import PERSON, UNITS, Protect

FORMAT = "pathveil-ledger"
_LONGEST = 200_000_000


# A ledger as one JSON document: to keep elsewhere, to check without the database, to restore.


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


# Bundle ↔ certificate ↔ ledger: does the ledger hold the charge that a certificate names?


def recorded(
    chain: Chain,
    record: LedgerRecord | None,
    epsilon: Fraction,
    certificate_sha256: str,
    delta: Fraction = NO_DELTA,
    protect: Protect = PERSON,
) -> Payment:
    """The charge that a bundle's certificate names, if the ledger says the same of it.

    Args:
        chain: the ledger's entries, whose hashes were checked.
        record: the certificate's words about the ledger.
        epsilon: the certificate's ε.
        certificate_sha256: the hash of the certificate's file.
        delta: the certificate's δ.
        protect: whom the certificate says is protected.

    Raises:
        LedgerError: if the ledger and the certificate contradict each other.
    """
    if record is None:
        raise LedgerError("The release was not charged to any ledger: its certificate names none.")
    books = Books.of(chain)
    payment = books.charges.get(record.entry)
    if payment is None or payment.hash != record.entry_sha256:
        raise LedgerError(
            f"The ledger's entry {record.entry} is not the charge that the certificate names: it "
            "is another ledger, or entries were removed or rewritten."
        )
    paid = books.datasets.get(record.dataset)
    if paid is None or payment not in paid.payments or payment.population != record.population:
        raise LedgerError("The ledger and the certificate name different datasets or populations.")
    if (payment.epsilon, payment.delta) != (epsilon, delta):
        raise LedgerError(
            f"The ledger was charged ε = {payment.epsilon}, δ = {payment.delta}, and the "
            f"certificate says ε = {epsilon}, δ = {delta}."
        )
    said = None if record.series is None else books.series.get(record.series.series)
    share = payment.share
    if (said is None) != (share is None) or (
        said is not None and share is not None and record.series != series_record(share, said.plan)
    ):
        raise LedgerError("The ledger and the certificate say different things about a series.")
    if payment.protect != protect:
        raise LedgerError(
            f"The ledger was charged the ε of {UNITS[payment.protect].one}, and the certificate "
            f"promises it to {UNITS[protect].one}."
        )
    if payment.certificates and certificate_sha256 not in payment.certificates:
        raise LedgerError(
            f"Entry {record.entry} of the ledger paid for a release with another certificate."
        )
    return payment
