"""``pathveil ledger series``, ``withdraw``, ``correct``: a programme of releases."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pathveil.cli import completion
from pathveil.cli.options import shared

if TYPE_CHECKING:
    from pathveil.ledger.books import Books
    from pathveil.ledger.entries import Entry
    from pathveil.ledger.series import Series

_DIGITS = 6


def series(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="The series; it is printed on the certificates of its releases.",
            autocompletion=completion.ledger_series,
            show_default=False,
        ),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(
            help="Open a series of this dataset: its whole budget is charged there now.",
            autocompletion=completion.ledger_datasets,
        ),
    ] = None,
    releases: Annotated[
        int | None,
        typer.Option(
            help="How many releases there are to be; each takes an equal part of what is left. "
            "Without --dataset: change their number, for a run that failed, say."
        ),
    ] = None,
    epsilon: Annotated[
        str | None,
        typer.Option(
            help="The ε of all of them together. With --delta they share the ρ that keeps (ε, δ), "
            "and noise grows with the root of their number; without, with their number."
        ),
    ] = None,
    rho: Annotated[
        str | None, typer.Option(help="Instead of --epsilon, with --delta: the ρ that they share.")
    ] = None,
    delta: Annotated[
        str | None, typer.Option(help="The δ of all of them together, such as 1e-9.")
    ] = None,
    population: Annotated[
        str | None, typer.Option(help="Of one declared population of the dataset only.")
    ] = None,
    reason: Annotated[
        str | None, typer.Option(help="Why, and who decided it; kept in the ledger for ever.")
    ] = None,
    where: shared.LedgerAddress = None,
    json: shared.Json = False,
) -> None:
    """Open a series of releases under one budget; without options show what is left of it.

    The whole budget is charged to the dataset at once. `pathveil publish --series NAME --period
    2026-03` then takes an equal part of what is left. Budgets in ρ are turned into (ε, δ) once for
    all releases together: twelve of them have √12 times the noise of one, not 12 times.

    Example: `pathveil ledger series taps --dataset taps --releases 12 --epsilon 2 --delta 1e-9`
    """
    from pathveil.errors import ParameterError
    from pathveil.ledger.ledger import Ledger

    opened = Ledger.open(where)
    options = (dataset, releases, epsilon, rho, delta, population, reason)
    if name is None and any(option is not None for option in options):
        raise ParameterError("Name the series: pathveil ledger series NAME …")
    if name is None or not any(option is not None for option in options):
        print_series(opened.books(), name, json=json)
        return
    if dataset is None:
        if releases is None or any(option is not None for option in (*options[2:6],)):
            raise ParameterError(
                "To open a series give --dataset, --releases and its budget (--epsilon or --rho, "
                "and --delta); to change one give --releases alone."
            )
        entry = opened.change_series(name, releases=releases, reason=reason or "")
        _say_changed(f"Series {name!r} has {releases} releases now", entry, json=json)
        return
    if releases is None:
        raise ParameterError("Say how many releases share the budget: --releases 12.")
    entry = opened.open_series(
        name,
        dataset=dataset,
        releases=releases,
        epsilon=epsilon,
        rho=rho,
        delta=delta,
        population=population,
        reason=reason or "",
    )
    _say_changed(f"Series {name!r} is open, and charged to {dataset!r}", entry, json=json)
    if not json:
        print_series(opened.books(), name, json=False)


Charge = Annotated[
    str,
    typer.Argument(
        metavar="RELEASE",
        help="The release: its bundle, or the number of the entry that paid for it.",
        show_default=False,
    ),
]
Reason = Annotated[str, typer.Option(help="Why; kept in the ledger for ever.")]


def withdraw(
    release: Charge,
    reason: Reason,
    where: shared.LedgerAddress = None,
    json: shared.Json = False,
) -> None:
    """Record that a release is not to be used any more, or that a run failed. ε stays spent.

    Of a series its period can be published again then, for another share.

    Example: `pathveil ledger withdraw march --reason "the stop list was last year's"`
    """
    from pathveil.ledger.ledger import Ledger

    opened = Ledger.open(where)
    entry = opened.withdraw(_paid_by(release, opened), reason=reason)
    _say_changed("The release is withdrawn; what it cost stays spent", entry, json=json)


def correct(
    release: Charge,
    by: Annotated[
        str,
        typer.Option(
            metavar="RELEASE", help="The later release that takes its place: bundle or entry."
        ),
    ],
    reason: Reason,
    where: shared.LedgerAddress = None,
    json: shared.Json = False,
) -> None:
    """Record that a later release takes the place of one. What both cost stays spent.

    Example: `pathveil ledger correct march --by march-2 --reason "the stop list was last year's"`
    """
    from pathveil.ledger.ledger import Ledger

    opened = Ledger.open(where)
    old, new = _paid_by(release, opened), _paid_by(by, opened)
    entry = opened.correct(old, by=new, reason=reason)
    _say_changed("The release is replaced; what both cost stays spent", entry, json=json)


def print_series(books: "Books", name: str | None, *, json: bool) -> None:
    """What each series has left, and its releases."""
    from pathveil.cli.console import print_json, print_table, stdout_console

    chosen = list(books.series.values()) if name is None else [books.one_series(name)]
    facts = [series_facts(one, books) for one in chosen]
    if json:
        print_json({"series": facts})
        return
    if not chosen:
        stdout_console().print("The ledger has no series.")
    for one, told in zip(chosen, facts, strict=True):
        plan = one.plan
        delta = f", δ = {plan.delta}" if plan.rho else ""
        print_table(
            f"Series {plan.series}: {plan.releases} releases of {plan.dataset} together have "
            f"ε = {plan.epsilon}{delta}",
            ["release", "period", f"takes {one.unit}", "of it left", "entry", ""],
            [
                (
                    row["release"],
                    row["period"] or "",
                    _decimal(row["takes"]),
                    _decimal(row["left"]),
                    row["entry"] or "",
                    row["state"],
                )
                for row in told["all_releases"]
            ],
            numbers={0, 2, 3, 4},
        )


def series_facts(series: "Series", books: "Books") -> dict[str, Any]:
    """A series for scripts: its plan, what is left, and each release, made or to come."""
    plan, rows, left = series.plan, [], series.total
    paid = [one for one in books.charges.values() if one.share and one.share.series == plan.series]
    for one in paid:
        if one.share is None:
            continue
        takes = one.share.rho or str(one.epsilon)
        left -= series.amount(takes)
        row = {"release": one.share.release, "period": one.share.period, "takes": takes}
        rows.append({**row, "left": str(left), "entry": one.entry, "state": one.state})
    for number in range(series.taken + 1, plan.releases + 1):
        takes = str(series.next_share)
        left -= series.next_share
        row = {"release": number, "period": None, "takes": takes, "left": str(left)}
        rows.append({**row, "entry": None, "state": "to come"})
    return {
        "series": plan.series,
        "dataset": plan.dataset,
        "population": plan.population,
        "releases": plan.releases,
        "taken": series.taken,
        "epsilon": plan.epsilon,
        "delta": plan.delta,
        "rho": plan.rho,
        "remaining": str(series.left),
        "next_share": str(series.next_share) if series.taken < plan.releases else None,
        "all_releases": rows,
    }


def _decimal(exact: str) -> str:
    from fractions import Fraction

    return f"{float(Fraction(exact)):.{_DIGITS}g}"


def _paid_by(release: str, opened: Any) -> int:
    """The entry that paid for a release, which this very ledger must hold."""
    from pathveil.errors import LedgerError
    from pathveil.release.bundle import read_certificate

    if release.isascii() and release.isdigit() and not Path(release).is_dir():
        return int(release)
    record = read_certificate(Path(release)).ledger
    if record is None:
        raise LedgerError("The release was not charged to any ledger: its certificate names none.")
    if opened.books().charge(record.entry).hash != record.entry_sha256:
        raise LedgerError("The release was charged to another ledger.")
    return record.entry


def _say_changed(what: str, entry: "Entry", *, json: bool) -> None:
    from pathveil.cli.commands.ledger import say_changed

    say_changed(what, entry, json=json)
