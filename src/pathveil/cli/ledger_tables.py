"""The ledger as tables and JSON: balances and history."""

from datetime import datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathveil.ledger.books import Books, Dataset
    from pathveil.ledger.entries import Entry
    from pathveil.ledger.ledger import Ledger

NEARLY = Fraction(4, 5)
_SHORT = 8


def print_balances(ledger: "Ledger", name: str | None, *, json: bool) -> None:
    """What each dataset has spent and what remains."""
    from pathveil.cli.console import print_json, print_table
    from pathveil.ledger.books import Books

    chain = ledger.chain()
    books, now = Books.of(chain), ledger.now()
    chosen = list(books.datasets) if name is None else [books.dataset(name).rules.dataset]
    balances = [_balance(books.datasets[each], now) for each in chosen]
    if json:
        print_json({"head": chain.head, "datasets": balances})
        return
    rows = [row for balance in balances for row in _rows(balance)]
    columns = ["dataset", "limit", "per", "spent", "remains", "charges", "no release"]
    print_table("Budget (ε)", columns, rows, numbers={1, 3, 4, 5, 6})
    for balance in balances:
        warn_if_nearly_spent(books.datasets[balance["dataset"]], now)


def warn_if_nearly_spent(dataset: "Dataset", now: datetime) -> None:
    """One line on stderr once four fifths of a limit are spent."""
    from pathveil.cli.console import stderr_console

    spent, span = dataset.spent(now), dataset.span(now)
    if spent < NEARLY * dataset.limit:
        return
    until = f" until {span.end:%Y-%m-%d} (UTC)" if span else ""
    left = dataset.limit - spent
    stderr_console().print(
        f"warning: {dataset.rules.dataset!r} has spent ε = {spent} of {dataset.limit}; "
        f"{max(left, Fraction(0))} remains{until}.",
        markup=False,
        highlight=False,
        soft_wrap=True,
        style="yellow",
    )


def _balance(dataset: "Dataset", now: datetime) -> dict[str, Any]:
    rules, span = dataset.rules, dataset.span(now)
    return {
        "dataset": rules.dataset,
        "limit": rules.limit,
        "per": rules.period,
        "period_ends": span.end.isoformat() if span else None,
        "spent": str(dataset.spent(now)),
        "remaining": str(dataset.remaining(now)),
        "spent_ever": str(dataset.spent_ever()),
        "delta_limit": rules.delta_limit,
        "remaining_delta": str(dataset.remaining_delta(now)),
        "charges": len(dataset.payments),
        "charges_without_release": sum(not payment.certificates for payment in dataset.payments),
        "populations": {
            population: {"remaining": str(dataset.remaining(now, population))}
            for population in rules.populations
        },
    }


def _rows(balance: dict[str, Any]) -> list[tuple[object, ...]]:
    per = balance["per"] or "ever"
    counts = (balance["charges"], balance["charges_without_release"])
    name, limit = balance["dataset"], balance["limit"]
    rows: list[tuple[object, ...]] = [
        (name, limit, per, balance["spent"], balance["remaining"], *counts)
    ]
    rows += [
        (f"  {population}", "", "", "", facts["remaining"], "", "")
        for population, facts in balance["populations"].items()
    ]
    return rows


def print_history(ledger: "Ledger", name: str | None, *, json: bool) -> None:
    """The entries, oldest first."""
    from pathveil.cli.console import print_json, print_table
    from pathveil.ledger.books import Books

    chain = ledger.chain()
    books = Books.of(chain)
    if name is not None:
        books.dataset(name)
    pairs = [
        (entry, digest)
        for entry, digest in zip(chain.entries, chain.hashes, strict=True)
        if name is None or _dataset_of(entry, chain.entries) == name
    ]
    if json:
        entries = [{**entry.model_dump(), "sha256": digest} for entry, digest in pairs]
        print_json({"head": chain.head, "entries": entries})
        return
    rows = [
        (
            entry.number,
            entry.at[:16].replace("T", " "),
            _dataset_of(entry, chain.entries) or "",
            *_told(entry, books),
            digest[:_SHORT],
        )
        for entry, digest in pairs
    ]
    columns = ["entry", "time (UTC)", "dataset", "what", "ε", "", "hash"]
    print_table("History", columns, rows, numbers={0, 4})


def _dataset_of(entry: "Entry", entries: tuple["Entry", ...]) -> str | None:
    charge = getattr(entry.event, "charge", None)
    event = entry.event if charge is None else entries[charge].event
    return getattr(event, "dataset", None)


def _told(entry: "Entry", books: "Books") -> tuple[str, str, str]:
    event = entry.event
    if event.kind == "defined":
        per = f"per {event.period}" if event.period else "for ever"
        declared = f", populations {', '.join(event.populations)}" if event.populations else ""
        reason = f": {event.reason}" if event.reason else ""
        return "limit", event.limit, f"{per}{declared}{reason}"
    if event.kind == "charged":
        released = "published" if books.charges[entry.number].certificates else "no release"
        who = f"{event.population}, " if event.population else ""
        delta = f"δ = {event.delta}, " if event.delta != "0" else ""
        return "charge", event.epsilon, f"{who}{delta}{released}"
    if event.kind == "begun":
        return "noise", "", f"of entry {event.charge}"
    if event.kind == "published":
        return "release", "", f"of entry {event.charge}"
    return "opened", "", ""
