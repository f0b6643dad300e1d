"""A charge in a short and in a long ledger: seconds, and the ratio to the shortest; the full check.

``python -m bench.ledger`` prints one line for each length. A charge takes as long in a ledger of
100,000 entries as in one of a few; `ledger verify` reads all of them.
"""

import argparse
import tempfile
from pathlib import Path

from bench.measuring import best_of, row
from pathveil.core.budget import Budget
from pathveil.ledger.books import Books
from pathveil.ledger.chain import Chain
from pathveil.ledger.entries import Charged, Defined, Opened, Row
from pathveil.ledger.ledger import Ledger
from pathveil.ledger.sqlite_store import SqliteStore
from pathveil.ledger.standing import Standing

SMALL = Budget.parse("1/1000000")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, nargs="+", default=[1, 1_000, 100_000])
    parser.add_argument("--runs", type=int, default=15)
    chosen = parser.parse_args()
    row("entries", "charge", "ratio", "full check")
    baseline = None
    for entries in chosen.entries:
        with tempfile.TemporaryDirectory() as folder:
            ledger = _ledger(Path(folder) / "ledger.db", entries)
            account = ledger.dataset("taps")
            charge = best_of(chosen.runs, lambda: account.charge(SMALL))  # noqa: B023
            check = best_of(1, ledger.books)
        baseline = baseline or charge
        row(f"{entries:,}", f"{1000 * charge:.1f} ms", f"{charge / baseline:.2f}", f"{check:.2f} s")


def _ledger(path: Path, charges: int) -> Ledger:
    ledger = Ledger(SqliteStore(path))
    ledger.restore(Chain.of(_rows(charges)))
    return ledger


def _rows(charges: int) -> list[Row]:
    """A ledger of so many charges, made without a disk."""
    from datetime import UTC, datetime

    rules = {"limit": "100", "delta_limit": "0", "period": None, "populations": ()}
    defined = Defined(dataset="taps", declaration=None, reason="", **rules)
    charged = Charged(dataset="taps", population=None, epsilon=str(SMALL), delta="0")
    standing, rows = Standing(None, Books()), []
    for event in (Opened(identity="ab" * 32), defined, *[charged] * charges):
        standing, _ = standing.followed_by(event, datetime.now(UTC))
        rows.append(standing.last.row())
    return rows


if __name__ == "__main__":
    main()
