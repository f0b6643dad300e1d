"""Options that say what a run charges."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathveil.cli import completion

if TYPE_CHECKING:
    from pathveil.ledger.charges import Account, SeriesAccount

_PANEL = "The ledger"


@dataclass(frozen=True, slots=True)
class LedgerOptions:
    """Which dataset of which ledger is charged, if any."""

    dataset: Annotated[
        str | None,
        typer.Option(
            help="Charge ε to this dataset of the ledger, before the first row is read, and refuse "
            "a run over its limit. The name is printed on the certificate.",
            autocompletion=completion.ledger_datasets,
            rich_help_panel=_PANEL,
        ),
    ] = None
    population: Annotated[
        str | None,
        typer.Option(
            help="The data is about this declared population of the dataset only.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    series: Annotated[
        str | None,
        typer.Option(
            help="Publish the next release of this series (`pathveil ledger series`), instead of "
            "--dataset: it has its share of the series' budget, so --epsilon, --rho and --delta "
            "are left out. --period says which it is: a period is published once.",
            autocompletion=completion.ledger_series,
            rich_help_panel=_PANEL,
        ),
    ] = None
    previous: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="With --series: the bundle of an earlier release of it, the last one say. It is "
            "public, so the new release leans on it, as far as the new noisy tables say that it is "
            "right; it is checked as `pathveil verify --ledger` does.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    ledger: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|URL",
            envvar="PATHVEIL_LEDGER",
            help="The ledger: a file or postgresql://user@host/database. Default: "
            "~/.local/share/pathveil/ledger.db.",
            rich_help_panel=_PANEL,
        ),
    ] = None

    resume: Annotated[
        int | None,
        typer.Option(
            metavar="ENTRY",
            min=1,
            help="Charge nothing: publish on this entry of the ledger, the charge of a run that "
            "died before it drew any noise. Refused if noise was drawn, or if dataset, population, "
            "ε or δ are not the same.",
            rich_help_panel=_PANEL,
        ),
    ] = None

    def next_release(self, period: str | None) -> "SeriesAccount | None":
        """The next release of the series, if one is named.

        Raises:
            ParameterError: if a dataset is named beside it, or no period.
            LedgerError: if there is no such series.
        """
        from pathveil.errors import ParameterError

        if self.series is None:
            return None
        if self.dataset is not None or self.population is not None:
            raise ParameterError(
                "A series knows its dataset and population: leave --dataset and --population out."
            )
        if self.resume is not None:
            raise ParameterError(
                "The share of a series can't be resumed: leave --resume out, and this run takes an "
                "equal part of what is left."
            )
        from pathveil.ledger.ledger import Ledger

        return Ledger.open(self.ledger).series(self.series, period)

    def account(
        self,
        source: str,
        programme: "SeriesAccount | None" = None,
        *,
        is_remote: bool = False,
        is_rehearsal: bool = False,
    ) -> "Account | None":
        """What a run will charge; None if it names neither a ledger nor a dataset nor a series.

        A file that is not there is refused now: no row of it is needed to know that. A remote
        input (a cluster's) is looked for when it is read.

        Raises:
            ParameterError: if a ledger is named and no dataset, or the usual ledger requires one.
        """
        from pathveil.cli.options.reading import check_there
        from pathveil.errors import ParameterError

        if programme is not None:
            if not is_remote:
                check_there(source)
            return programme
        if self.dataset is None:
            if (self.ledger, self.population, self.resume) != (None, None, None):
                raise ParameterError(
                    "Say which dataset of the ledger is charged: --dataset NAME. (A ledger comes "
                    "from --ledger or PATHVEIL_LEDGER; to publish without one, leave both out.)"
                )
            if not is_rehearsal:
                _check_uncharged()
            return None
        from pathveil.ledger.ledger import Ledger

        if not is_remote:
            check_there(source)
        account = Ledger.open(self.ledger).dataset(self.dataset, self.population)
        return account if self.resume is None else account.resume(self.resume)


def _check_uncharged() -> None:
    """A run that charges nothing, though there is a ledger: say so, or refuse it if that was asked.

    Raises:
        ParameterError: if the ledger requires a dataset.
        LedgerError: if it can't be read: what it requires is not known then.
    """
    from pathveil.cli.console import stderr_console
    from pathveil.errors import ParameterError
    from pathveil.ledger.ledger import Ledger
    from pathveil.ledger.locating import default_file

    file = default_file().expanduser()
    if not os.path.exists(file):  # noqa: PTH110  (False too if we may not look into its folder)
        return
    books = Ledger.open(file).standing().books
    named = ", ".join(map(repr, books.datasets))
    if books.required:
        raise ParameterError(
            f"The ledger {file} requires that releases are charged (`pathveil ledger require`): "
            f"say which dataset with --dataset NAME; it has {named}. Nothing was read."
        )
    stderr_console().print(
        f"warning: Nothing is charged: --dataset is missing, though the ledger {file} has {named}. "
        "`pathveil ledger require` refuses such runs.",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
