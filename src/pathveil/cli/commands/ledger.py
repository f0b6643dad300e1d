"""The ledger as tables and JSON: balances and history."""

from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pathveil.cli import completion
from pathveil.cli.commands import ledger_series
from pathveil.cli.options import shared

if TYPE_CHECKING:
    from pathveil.ledger.books import Books, Dataset
    from pathveil.ledger.entries import Entry, Share
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
    series = [one for one in books.series.values() if one.plan.dataset in chosen]
    if json:
        told = [ledger_series.series_facts(one, books) for one in series]
        print_json({"head": chain.head, "datasets": balances, "series": told})
        return
    rows = [row for balance in balances for row in _rows(balance)]
    columns = ["dataset", "protects", "limit", "per", "spent", "remains", "charges", "no release"]
    print_table("Budget (ε)", columns, rows, numbers={2, 4, 5, 6, 7})
    for balance in balances:
        _say_year(balance)
    for one in series:
        ledger_series.print_series(books, one.plan.series, json=False)
    for balance in balances:
        warn_if_nearly_spent(books.datasets[balance["dataset"]], now)


def _say_year(balance: dict[str, Any]) -> None:
    """What a person who is there for a year has, by all that was spent on a dataset."""
    from pathveil.cli.console import stdout_console
    from pathveil.times.protected_units import PERSON, UNITS

    for unit in (UNITS[name] for name in balance["protects"]):
        total = Fraction(balance["spent_ever"]) * unit.a_year
        has = f"has up to {unit.a_year} times as much, of all releases together ε = {total}"
        if unit.name == PERSON:
            has = f"has no more, however often: of all releases together ε = {total}"
        stdout_console().print(
            f"{balance['dataset']}: the ε is that of {unit.one}; a person who {unit.there} {has}.",
            markup=False,
            highlight=False,
            soft_wrap=True,
        )
    if len(balance["protects"]) > 1:
        stdout_console().print(
            f"{balance['dataset']}: ε of different units were allowed in one sum, which is about "
            "none of them.",
            markup=False,
            highlight=False,
            soft_wrap=True,
        )


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
        "protects": list(dataset.protects),
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
    whom = ", ".join(balance["protects"])
    rows: list[tuple[object, ...]] = [
        (name, whom, limit, per, balance["spent"], balance["remaining"], *counts)
    ]
    rows += [
        (f"  {population}", "", "", "", "", facts["remaining"], "", "")
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
            *_columns_of(entry, books),
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


def _columns_of(entry: "Entry", books: "Books") -> tuple[str, str, str]:
    """What happened, the ε that it spent, and more about it."""
    event = entry.event
    reason = getattr(event, "reason", "")
    because = f": {reason}" if reason else ""
    what, epsilon, more = "opened", "", ""
    if event.kind == "defined":
        per = f"per {event.period}" if event.period else "for ever"
        declared = f", populations {', '.join(event.populations)}" if event.populations else ""
        whom = f", protects {', '.join(event.protect)}" if event.protect else ""
        what, epsilon, more = "limit", event.limit, f"{per}{declared}{whom}"
    elif event.kind == "planned":
        of = f"ρ = {event.rho} for " if event.rho else ""
        what, epsilon = "series", event.epsilon
        more = f"{event.series}, {of}{event.releases} releases"
    elif event.kind == "charged":
        what, epsilon = "charge" if event.share is None else "share", event.epsilon
        who = f"{event.population}, " if event.population else ""
        delta = f"δ = {event.delta}, " if event.delta != "0" else ""
        share = _share_words(event.share) if event.share else ""
        whom = f"{event.protect}, " if event.protect != "person" else ""
        # Of a killed run nobody else can say it: such a charge can be resumed.
        is_unused = entry.number in books.unused
        state = "no noise drawn" if is_unused else books.charges[entry.number].state
        more = f"{share}{whom}{who}{delta}{state}"
    elif event.kind == "begun":
        what, more = "noise", f"of entry {event.charge}"
    elif event.kind == "published":
        what, more = "release", f"of entry {event.charge}"
    elif event.kind == "withdrawn":
        what, more = "withdrawn", f"entry {event.charge}"
    elif event.kind == "corrected":
        what, more = "replaced", f"entry {event.charge} by {event.by}"
    elif event.kind == "required":
        what, more = "rule", f"publish {'must' if event.required else 'need not'} charge"
    return what, epsilon, f"{more}{because}"


def _share_words(share: "Share") -> str:
    taken = f"ρ = {share.rho}, " if share.rho else ""
    return f"{share.series} {share.release}, {share.period}, {taken}"


# ``pathveil ledger``: what each dataset has spent, and the rules that limit it.


ledger = typer.Typer(
    name="ledger",
    rich_markup_mode="markdown",
    no_args_is_help=False,
    help="Keep account of the budget that each dataset has spent.\n\nThe ledger is a file "
    "(`~/.local/share/pathveil/ledger.db` unless `--ledger` or the variable `PATHVEIL_LEDGER` says "
    "otherwise) or a PostgreSQL database. `pathveil publish --dataset NAME` charges it before the "
    "first row is read.\n\nExample: `pathveil ledger init taps --limit 4 --per year`",
)

Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="The dataset: who it is about, not one file of it. It is printed on certificates.",
        autocompletion=completion.ledger_datasets,
        show_default=False,
    ),
]
OneOrAll = Annotated[
    str | None,
    typer.Argument(
        metavar="[NAME]",
        help="One dataset only.",
        autocompletion=completion.ledger_datasets,
        show_default=False,
    ),
]
Populations = Annotated[
    list[str] | None,
    typer.Option(
        "--population",
        help="Declare a population such that no unit is in two of them (repeat the option). "
        "Releases of different populations do not add up. Untrue, and the limit is not kept.",
    ),
]

Protects = Annotated[
    list[str] | None,
    typer.Option(
        "--protect",
        help="Whom its releases protect as one: person, person-week, person-day or trip. Without "
        "it, whom the first one does; a release for another unit is refused. More than one (repeat "
        "the option) allows ε of different units in one sum, which is then about none of them.",
        autocompletion=completion.one_of(completion.PROTECTS),
    ),
]
DeltaLimit = Annotated[
    str | None,
    typer.Option(
        help="The most δ that may be spent beside ε, such as 1e-8, if universes are to be "
        "discovered. Without it only pure differential privacy is accepted."
    ),
]


@ledger.command()
def init(
    name: Name,
    limit: Annotated[
        str, typer.Option(help="The most that may be spent: an exact ε such as 4 or 1/2.")
    ],
    per: Annotated[
        str | None,
        typer.Option(
            help="Begin anew with each calendar year, quarter, month, week or day (UTC). A person "
            "who is in the data of two periods loses both limits. Without it the limit holds for "
            "ever.",
            autocompletion=completion.one_of(completion.PERIODS),
        ),
    ] = None,
    population: Populations = None,
    delta_limit: DeltaLimit = None,
    protect: Protects = None,
    where: shared.LedgerAddress = None,
    json: shared.Json = False,
) -> None:
    """Set up a dataset with a limit, and the ledger itself if there is none yet.

    Example: `pathveil ledger init taps --limit 4 --per year`
    """
    opened = _open(where)
    declared = population or ()
    entry = opened.init(
        name,
        limit,
        per=per,
        populations=declared,
        delta_limit=delta_limit,
        protect=protect or (),
    )
    say_changed(f"Dataset {name!r} is set up", entry, json=json)


@ledger.command()
def amend(
    name: Name,
    limit: Annotated[str | None, typer.Option(help="The new limit.")] = None,
    population: Populations = None,
    delta_limit: DeltaLimit = None,
    protect: Protects = None,
    reason: Annotated[
        str | None, typer.Option(help="Why, and who decided it; kept in the ledger for ever.")
    ] = None,
    where: shared.LedgerAddress = None,
    json: shared.Json = False,
) -> None:
    """Change a dataset's limit, declare more populations, or allow more units. An entry, too.

    Example: `pathveil ledger amend taps --limit 6 --reason "board, 12 March"`
    """
    from pathveil.errors import ParameterError

    if limit is None and delta_limit is None and not population and not protect:
        raise ParameterError(
            "Say what to change: --limit, --delta-limit, --population or --protect."
        )
    entry = _open(where).amend(
        name,
        limit=limit,
        populations=population or (),
        delta_limit=delta_limit,
        protect=protect or (),
        reason=reason or "",
    )
    say_changed(f"Dataset {name!r} is changed", entry, json=json)


@ledger.command()
def require(
    *,
    off: Annotated[bool, typer.Option("--off", help="Take it back.")] = False,
    reason: Annotated[
        str | None, typer.Option(help="Why, and who decided it; kept in the ledger for ever.")
    ] = None,
    where: shared.LedgerAddress = None,
    json: shared.Json = False,
) -> None:
    """Have `pathveil publish` refuse to run without `--dataset`: nothing is published uncharged.

    It holds for whoever uses this ledger: the file in the usual place, or what `PATHVEIL_LEDGER`
    names. Without it, such a run says that nothing is charged. The rule is an entry too.

    Example: `pathveil ledger require --reason "board, 12 March"`
    """
    entry = _open(where).require(required=not off, reason=reason or "")
    rule = "Publishing need not be charged" if off else "Publishing must be charged to a dataset"
    say_changed(rule, entry, json=json)


@ledger.command()
def show(
    name: OneOrAll = None, where: shared.LedgerAddress = None, json: shared.Json = False
) -> None:
    """Show what each dataset has spent and what remains.

    Example: `pathveil ledger show`
    """
    print_balances(_open(where), name, json=json)


@ledger.command()
def history(
    name: OneOrAll = None, where: shared.LedgerAddress = None, json: shared.Json = False
) -> None:
    """List the entries: limits, charges, and which of them became a release.

    Example: `pathveil ledger history taps`
    """
    print_history(_open(where), name, json=json)


@ledger.command()
def verify(
    export: Annotated[
        Path | None,
        typer.Option("--export", help="Check an exported file instead of the ledger."),
    ] = None,
    expect_head: Annotated[
        list[str] | None,
        typer.Option(
            help="A hash that you kept elsewhere (of `export`, `show --json` or a certificate): "
            "it must still be in the chain. Finds what the chain alone can't: a cut end, a "
            "rewrite. Repeat the option for more."
        ),
    ] = None,
    witness: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PLACE",
            help="Where `ledger witness` wrote: everything that it saw must still be there. Finds "
            "a ledger that was rolled back, forked or made anew. Repeat the option for more.",
        ),
    ] = None,
    public_key: Annotated[
        Path | None,
        typer.Option(metavar="KEY", help="The public key of who witnessed; --witness needs it."),
    ] = None,
    timestamp_root: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="PEM",
            help="The root certificate of a time-stamp authority: the time stamps in the witness "
            "are checked, too. Repeat the option for more.",
        ),
    ] = None,
    where: shared.LedgerAddress = None,
    json: shared.Json = False,
) -> None:
    """Check every entry: none was changed, removed or moved, and none broke its limit.

    Example: `pathveil ledger verify --expect-head 5e88…`
    """
    from pathveil.cli.commands.ledger_witness import check_witnesses
    from pathveil.cli.console import print_json, stdout_console
    from pathveil.ledger.books import Books
    from pathveil.ledger.export import read_export

    chain = _open(where).chain() if export is None else read_export(_content(export))
    Books.of(chain)
    for known in expect_head or ():
        chain.check_holds(known.strip().lower())
    seen = check_witnesses(chain, witness or [], public_key, timestamp_root or [])
    if json:
        facts = {"valid": True, "entries": len(chain), "head": chain.head}
        print_json(facts | ({"witnesses": seen} if witness else {}))
        return
    console = stdout_console()
    console.print("The ledger is whole and unchanged.", style="bold green")
    console.print(f"{len(chain):,} entries; head {chain.head}", highlight=False)
    for facts in seen:
        console.print(
            f"Witnessed {facts['records']} times, last entry {facts['entry']} on {facts['at']}"
            + (f", time-stamped {facts['timestamps'][-1]}." if facts["timestamps"] else "."),
            highlight=False,
        )


@ledger.command()
def witness(
    key: Annotated[
        Path,
        typer.Option("--key", metavar="KEY", help="The private key, made by `pathveil keygen`."),
    ],
    to: Annotated[
        list[str],
        typer.Option(
            "--to",
            metavar="PLACE",
            help="Where the record goes: a file (best on another disk), `git:FOLDER` (a commit), "
            "or an http(s) address (POST). Repeat the option for more.",
        ),
    ],
    timestamp: Annotated[
        list[str] | None,
        typer.Option(
            metavar="URL",
            help="A time-stamp authority (RFC 3161) that confirms when it saw the record. It "
            "learns a hash, nothing else. Repeat the option for more.",
        ),
    ] = None,
    where: shared.LedgerAddress = None,
    json: shared.Json = False,
) -> None:
    """Have the head of the ledger witnessed: a signed record of it goes to other places.

    Who owns the ledger's disk can cut its end off or rewrite it, and no check of the ledger alone
    can tell. `ledger verify --witness` can, if the place is out of their reach. All entries are
    checked first.

    Example: `pathveil ledger witness --key city-transit.key --to elsewhere.jsonl`
    """
    from pathveil.cli.commands.ledger_witness import write_witness

    write_witness(_open(where), key, to, timestamp or [], json=json)


@ledger.command()
def export(
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Write to this new file instead of stdout."),
    ] = None,
    where: shared.LedgerAddress = None,
    json: shared.Json = False,
) -> None:
    """Write all entries as JSON: a backup, and a head hash to keep where nobody edits it.

    Example: `pathveil ledger export --out ledger-2026-03.json`
    """
    from pathveil.cli.console import print_json, stdout_console
    from pathveil.ledger.export import exported

    document = exported(_open(where).chain())
    if out is None:
        print_json(document)
        return
    _write_new(out, document)
    facts = {"file": str(out), "entries": len(document["entries"]), "head": document["head"]}
    if json:
        print_json(facts)
        return
    console = stdout_console()
    console.print(
        f"{facts['entries']:,} entries in {out}", markup=False, highlight=False, style="bold"
    )
    console.print(f"Keep this head elsewhere: {facts['head']}", highlight=False)


@ledger.command(name="import")
def import_(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="What `export` wrote.", show_default=False),
    ],
    where: shared.LedgerAddress = None,
    json: shared.Json = False,
) -> None:
    """Fill an empty ledger from an export: to move to PostgreSQL, or after a loss.

    Charges that were made after the export are forgotten: add them up first.

    Example: `pathveil ledger import ledger-2026-03.json --ledger postgresql://db/privacy`
    """
    from pathveil.ledger.export import read_export

    chain = read_export(_content(file))
    _open(where).restore(chain)
    say_changed(f"{len(chain):,} entries were imported", chain.entries[-1], json=json)


ledger.command()(ledger_series.series)
ledger.command()(ledger_series.withdraw)
ledger.command()(ledger_series.correct)


def _open(where: str | None) -> Any:
    from pathveil.ledger.ledger import Ledger

    return Ledger.open(where)


def say_changed(what: str, entry: "Entry", *, json: bool) -> None:
    """One line about a new entry."""
    from pathveil.cli.console import print_json, stdout_console

    if json:
        print_json({"entry": entry.number, "entry_sha256": entry.hash, **entry.event.model_dump()})
        return
    console = stdout_console()
    console.print(f"{what} (entry {entry.number}).", markup=False, highlight=False)


def _content(path: Path) -> bytes:
    from pathveil.errors import LedgerError
    from pathveil.plain_files import open_named

    try:
        with open_named(path) as file:
            return file.read()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "that can't be the path of a file"
        raise LedgerError(f"Can't read the export: {reason}.") from None


def _write_new(path: Path, document: dict[str, Any]) -> None:
    """Never over a file that exists."""
    from json import dumps

    from pathveil.errors import LedgerError

    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(dumps(document, indent=2) + "\n")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "that can't be the path of a file"
        raise LedgerError(f"Can't write the export to {path}: {reason}.") from None
