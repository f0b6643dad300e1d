"""``pathveil ledger witness``, and what ``ledger verify`` does with witnesses."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathveil.ledger.chain import Chain
    from pathveil.ledger.ledger import Ledger


def write_witness(
    ledger: "Ledger", key: Path, places: list[str], authorities: list[str], *, json: bool
) -> None:
    """Sign the head of a ledger and send it to every place.

    Raises:
        LedgerError: if the ledger is not whole, or one of the places did not keep the record; the
            others were tried all the same.
    """
    from pathveil.cli.console import print_json, stdout_console
    from pathveil.errors import LedgerError
    from pathveil.ledger.books import Books
    from pathveil.ledger.timestamps import stamped
    from pathveil.ledger.witness import witnessed
    from pathveil.ledger.witness_keepers import keeper_of
    from pathveil.promise.signing_keys import read_private_key

    targets = [keeper_of(text) for text in places]
    owner = read_private_key(key)
    chain = ledger.chain()
    Books.of(chain)
    record = stamped(witnessed(chain, owner, datetime.now(UTC)), authorities)
    kept, failures = [], []
    for target in targets:
        try:
            target.append(record.line())
            kept.append(target.label)
        except LedgerError as error:
            failures.append(str(error))
    if failures:
        raise LedgerError(
            f"{len(kept)} of {len(targets)} witnesses keep the head of the ledger. "
            f"{' '.join(failures)}"
        )
    if json:
        print_json({**record.model_dump(mode="json"), "places": len(kept)})
        return
    console = stdout_console()
    console.print(f"Entry {record.entry} is witnessed: {record.head}", highlight=False)
    for label in kept:
        console.print(f"Kept in {label}.", highlight=False, markup=False)


def check_witnesses(
    chain: "Chain", places: list[str], public_key: Path | None, roots: list[Path]
) -> list[dict[str, Any]]:
    """Check a ledger against all that some witnesses kept; what each of them saw last.

    Raises:
        LedgerError: if the ledger was rolled back, forked or rewritten, or a witness was changed.
        ParameterError: if the key of the witnesses is not given.
    """
    from pathveil.errors import ParameterError
    from pathveil.ledger.timestamps import checked_times
    from pathveil.ledger.witness import check_witnessed, read_records
    from pathveil.ledger.witness_keepers import keeper_of
    from pathveil.promise.signing_keys import read_public_key

    if not places:
        if public_key is not None or roots:
            raise ParameterError("Say where the witness is: --witness PLACE.")
        return []
    if public_key is None:
        raise ParameterError(
            "Say whose witness you trust: --public-key KEY.pub. Without it anybody's would do."
        )
    known = read_public_key(public_key)
    seen = []
    for place in places:
        records = read_records(keeper_of(place).content(), known)
        check_witnessed(chain, records)
        last = max(records, key=lambda record: record.entry)
        times = (
            [time for record in records for time in checked_times(record, roots)] if roots else []
        )
        seen.append(
            {
                "records": len(records),
                "entry": last.entry,
                "at": last.at,
                "timestamps": [time.isoformat() for time in times],
            }
        )
    return seen
