"""Charge the ledger for a command: before the data is opened, and say what stays charged."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pathveil.cli import aftermath, stopping, streams

if TYPE_CHECKING:
    from pathveil.ledger.charges import Account, Charge
    from pathveil.model.parameters import Parameters


def account_for(
    ledger: str | None,
    dataset: str | None,
    population: str | None,
    source: str,
    *,
    is_remote: bool = False,
) -> "Account | None":
    """What a run will charge; None if it names neither a ledger nor a dataset.

    A file that is not there is refused now: no row of it is needed to know that. A remote input
    (a cluster's) is looked for when it is read.
    """
    from pathveil.cli.reading import check_there
    from pathveil.errors import ParameterError

    if dataset is None:
        if ledger is not None or population is not None:
            raise ParameterError(
                "Say which dataset of the ledger is charged: --dataset NAME. (A ledger comes from "
                "--ledger or PATHVEIL_LEDGER; to publish without one, leave both out.)"
            )
        return None
    from pathveil.ledger.ledger import Ledger

    if not is_remote:
        check_there(source)
    return Ledger.open(ledger).dataset(dataset, population)


def check_named(source: str, query: str | None, table: str | None) -> None:
    """What `check_request` refuses, as far as the input's name tells: nothing is opened."""
    from pathveil.raw.sources.databases.addresses import named_database
    from pathveil.raw.sources.databases.statements import checked_query

    if named_database(source) is not None:
        checked_query(query, table)


@contextmanager
def charged(account: "Account | None", parameters: "Parameters") -> Iterator["Charge | None"]:
    """Charge, then run the block; if it does not end well, say that the charge stays."""
    if account is None:
        yield None
        return
    streams.check_open()
    stopping.check()
    charge = _charge(account, parameters)
    aftermath.paid()
    try:
        _tell_balance(charge)
        yield charge
    except BaseException:
        _say_even_if_quiet(str(charge))
        raise


def _charge(account: "Account", parameters: "Parameters") -> "Charge":
    from pathveil.errors import PathveilError

    try:
        return account.charge(parameters.budget, parameters.delta)
    except PathveilError:
        raise
    except BaseException:  # stopped at the very moment
        _say_even_if_quiet(
            f"ε = {parameters.budget} may be charged already: see `pathveil ledger history "
            f"{account.name}`."
        )
        raise


def _tell_balance(charge: "Charge") -> None:
    from pathveil.cli.ledger_tables import warn_if_nearly_spent

    account, now = charge.account, charge.account.ledger.now()
    dataset = account.ledger.standing().books.dataset(account.name)
    _say(
        f"Charged ε = {charge.budget} to {account.name!r}, entry {charge.entry.number}; "
        f"{dataset.remaining(now, account.population)} of {dataset.limit} remains."
    )
    warn_if_nearly_spent(dataset, now)


def _say(message: str) -> None:
    from pathveil.cli.console import stderr_console

    stderr_console().print(message, markup=False, highlight=False, soft_wrap=True)


def _say_even_if_quiet(message: str) -> None:
    from pathveil.cli.console import error_console

    error_console().print(message, markup=False, highlight=False, soft_wrap=True)
