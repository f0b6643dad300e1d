"""``pathveil publish``: raw trajectories in, a private release out."""

import resource
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from pathveil.cli import aftermath
from pathveil.cli.commands.universe import read_universe
from pathveil.cli.options import about, engines, reading, shared, signing, trips
from pathveil.cli.options.charging import LedgerOptions

if TYPE_CHECKING:
    from pathveil.ledger.charges import Account
    from pathveil.raw.engines.request import Request


# With less, libraries in C end the process as they load or compile (LLVM), or never come back
# (OpenBLAS): there would be no message.
_LEAST_ADDRESSES: Final = 12 * 10**8


def check_addresses() -> None:
    """Refuse an address space in which not even the libraries have room."""
    from pathveil.errors import ParameterError

    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most != resource.RLIM_INFINITY and most < _LEAST_ADDRESSES:
        raise ParameterError(
            f"This process may use {most // 10**6} MB of addresses (ulimit -v), and needs "
            f"{_LEAST_ADDRESSES // 10**6} MB at least; allow it more. Nothing was charged."
        )


def check_named(source: str, query: str | None, table: str | None) -> None:
    """What `check_request` refuses, as far as the input's name tells: nothing is opened."""
    from pathveil.raw.sources.databases.addresses import named_database
    from pathveil.raw.sources.databases.queries import checked_query

    if named_database(source) is not None:
        checked_query(query, table)


def publish(
    source: Annotated[
        str,
        typer.Argument(
            metavar="INPUT",
            help="CSV (also .gz or .zip), Excel or Parquet file, or a folder or pattern of Parquet "
            "files: one row per visit, or one row per trajectory with a list of locations. Or a "
            "database: postgresql://…, or a DuckDB or SQLite file. Or a table: delta:PLACE or "
            "iceberg:NAMESPACE.TABLE. Parquet may be in an object store: s3://BUCKET/FOLDER.",
            show_default=False,
        ),
    ],
    *,
    universe: shared.Universe,
    privacy: shared.PrivacyOptions,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Folder for the release bundle; it must not exist yet. Only --dry-run does "
            "without.",
            rich_help_panel="The output",
            show_default=False,
        ),
    ] = None,
    taxonomy: shared.Taxonomy = None,
    options: reading.ReadingOptions,
    time_grid: trips.GridText = None,
    max_trajectories_per_unit: shared.MaxTrajectories = "1",
    charging: LedgerOptions,
    counting: engines.EngineOptions,
    telling: about.AboutOptions,
    sign_key: signing.SignKey = None,
    signer: signing.SignerName = None,
    csv: Annotated[
        bool,
        typer.Option(
            "--csv",
            help="Also write the trajectories as CSV.",
            rich_help_panel="The output",
        ),
    ] = False,
    background: shared.Background = None,
    accept: Annotated[
        Path | None,
        typer.Option(
            "--accept",
            metavar="FILE",
            help="Rules that the release must keep to go out, in a TOML file: suppress_below (a "
            "count), most_suppressed (a share of visits), and the tables [noise] and [error] "
            "(docs/acceptance.md). They become public with it. What no plan can keep is refused "
            "before the charge; a release that breaks a rule is not written, and its ε is spent.",
            rich_help_panel="The output",
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Read the data and say what would be dropped, exact numbers for you alone. "
            "Publishes nothing and charges nothing. Who chooses ε, the height or c by them has "
            "looked at the data, and no certificate covers that.",
            rich_help_panel="The ledger",
        ),
    ] = False,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes",
            "-y",
            help="Do not ask. On a terminal, a run that charges offers a rehearsal first "
            "(--dry-run), and asks before it charges; in a script nothing is asked.",
            rich_help_panel="The ledger",
        ),
    ] = False,
    json: shared.Json = False,
) -> None:
    """Publish trajectories under ε-differential privacy.

    Reads the data once, spends exactly ε on it, and writes a bundle that anybody may see. The
    universe, the height and the threshold are public choices: make them without looking at the
    data (`pathveil plan` helps).

    On a terminal and without arguments it asks: for columns, encoding, dates and purpose; then it
    rehearses, forecasts, shows the command line that does the same, and charges last.

    Example: `pathveil publish taps.csv --universe stops.csv --unit-column card_id
    --order-column tapped_at --location-column stop --epsilon 1 --out release`

    With zones, where the counts of single stops are small: `--taxonomy zones.csv`, a file with the
    columns location and zone.

    With times: `--time-column tapped_at --time-grid 1h --time-zone America/Montreal` instead of
    the order column.

    People with many trips: `--trajectory-column trip --trips auto --keep sample`; or `--trips 10`,
    with `--epsilon-per-trip 0.1` if ε is to be given for each that is used (docs/people.md).

    Who publishes what: `--title "Taps of March" --publisher "City Transit" --licence CC-BY-4.0`, or
    all of it in a file (`--about about.toml`).

    Month after month under one budget: `--series taps --period 2026-03` instead of a budget
    (docs/series.md).

    Without a public list of locations: `--universe discover --delta 1e-9`.

    More data than memory: `--engine duckdb --memory 2GB --spill /var/tmp`, and INPUT may be a
    folder or a pattern of Parquet files (docs/engines.md).
    """
    if not dry_run:
        check_addresses()
    from pathveil.cli.options.planning import zones_for
    from pathveil.cli.summary import print_summary
    from pathveil.cli.terminal import Terminal
    from pathveil.core.preparations import DISCOVER
    from pathveil.errors import ParameterError
    from pathveil.folders import check_free, reserve
    from pathveil.gate.randomness import Randomness
    from pathveil.publishing import carry_out, starting_from
    from pathveil.publishing import dry_run as dry_run_of
    from pathveil.raw.engines.request import Request
    from pathveil.raw.sources.databases.addresses import check_request
    from pathveil.universe.universe import Universe

    # All that can be refused is refused before a row is read.
    if out is not None:
        check_free(out)
    elif not dry_run:
        raise ParameterError(
            "Missing option '--out' / '-o': a new folder for the release. Only --dry-run does "
            "without."
        )
    if counting.master is not None:
        pass  # it may be an address that only Spark knows
    elif charging.dataset is None and charging.series is None:
        check_request(source, options.query, options.table)
    else:  # charged before the file is opened, be it only to see what kind of file it is
        check_named(source, options.query, options.table)
    grid = trips.grid_for(options.time_column, time_grid, options.time_zone)
    read_by = options.reading(grid, shared.trips_of(max_trajectories_per_unit))
    owner = signing.signer_for(sign_key, signer)
    locations: Universe | Literal["discover"]
    locations = DISCOVER if universe == DISCOVER else read_universe(universe)
    said = telling.about_release()
    programme = charging.next_release(said.period)
    choices = asdict(privacy)
    if programme is not None:
        choices |= programme.budget(**{name: choices[name] for name in shared.BUDGET})
    request = Request.choose(
        source,
        locations,
        read_by,
        taxonomy=zones_for(taxonomy, locations),
        **choices,
        **asdict(counting),
        about=said,
        background=shared.background_for(background, universe),
        accept=accept,
    )
    _say_choices(request)
    is_remote = counting.master is not None
    account = charging.account(source, programme, is_remote=is_remote, is_rehearsal=dry_run)
    request, account = starting_from(charging.previous, request, account)
    if dry_run or out is None:
        dry_run_of(request, Terminal())
        _print_dry_run(json=json)
        return
    if account is not None and not yes and not _is_agreed(request, account):
        _print_dry_run(json=json)
        return
    with reserve(out, request.parameters.universe_size) as reserved:
        aftermath.await_release(out)
        watch = Terminal(reserved, csv=csv, signer=owner)
        release = carry_out(request, Randomness(), account, watch)
    print_summary(release, out, json=json)


def _is_agreed(request: "Request", account: "Account") -> bool:
    """On a terminal: offer a rehearsal, and ask before ε is charged. A script is not asked."""
    import sys

    from pathveil.cli.terminal import Terminal
    from pathveil.ledger.charges import Resumption
    from pathveil.publishing import dry_run as dry_run_of

    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return True
    budget = request.parameters.budget
    parameters = request.parameters
    account.check_affords(budget, parameters.delta, parameters.whole_rho, request.protect)
    checked = request.checked()
    if not _asked("Rehearse first, for nothing: read the data and see what is dropped?"):
        return True
    looked = Terminal()
    dry_run_of(checked, looked)
    cost = f", and charge ε = {budget} to {account.name!r}"
    question = f"Publish it{'' if isinstance(account, Resumption) else cost}?"
    return _asked(question, default=not looked.found_nothing)


def _asked(question: str, *, default: bool = True) -> bool:
    """Whether the answer is yes; nothing is the default, and an end of the input is no."""
    import sys

    sys.stderr.write(f"{question} {'[Y/n]' if default else '[y/N]'} ")
    sys.stderr.flush()
    answer = sys.stdin.readline()
    words = answer.strip().casefold()
    return bool(answer) and (words in ("y", "yes", "j", "ja") or (default and not words))


def _say_choices(request: "Request") -> None:
    from pathveil.cli.console import say_step, stderr_console
    from pathveil.cli.options.planning import protect_words
    from pathveil.cli.verbosity import Verbosity, verbosity
    from pathveil.core.methods import method_words
    from pathveil.core.preparations import AUTO
    from pathveil.raw.engines.engine import MEMORY
    from pathveil.times.protected_units import PERSON

    parameters = request.parameters
    height = AUTO if parameters.height_is_open else parameters.height
    method = method_words(parameters.method, height, parameters.purpose)
    most = AUTO if parameters.trips_are_open else parameters.max_trajectories_per_unit
    known = "unknown" if parameters.universe_is_open else f"{parameters.universe_size:,}"
    needs = request.needs
    say_step(
        f"Public choices: ε = {parameters.budget}, method {method}, |L| = {known}, c = {most}; "
        f"{needs}."
    )
    # Who counts out of core, or on a cluster, wants to know what that takes before it is charged.
    if request.engine.name != MEMORY and verbosity() is Verbosity.NORMAL:
        words = f"{needs[0].upper()}{needs[1:]}."
        stderr_console().print(words, markup=False, highlight=False, soft_wrap=True)
    if request.protect != PERSON:  # always said: who reads an ε takes it for a person's
        for words in protect_words(parameters, request.protect):
            stderr_console().print(words, markup=False, highlight=False, soft_wrap=True)


def _print_dry_run(*, json: bool) -> None:
    """Constant words: what was read is on stderr, for the curator."""
    from pathveil.cli.console import print_json, stdout_console

    if json:
        print_json({"dry_run": True, "charged": False})
        return
    stdout_console().print("A dry run: nothing was published, and nothing was charged.")
