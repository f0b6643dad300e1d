"""Options that say what a run charges."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from pathveil.cli import completion

if TYPE_CHECKING:
    from pathveil.ledger.charges import Account

_PANEL = "The ledger"


@dataclass(frozen=True, slots=True)
class LedgerOptions:
    """Which dataset of which ledger is charged, if any."""

    dataset: Annotated[
        str | None,
        typer.Option(
            help="Charge ε to this dataset of the ledger, before the data is opened, and refuse "
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

    def account(self, source: str, *, is_remote: bool = False) -> "Account | None":
        """What a run will charge; None if it names neither a ledger nor a dataset.

        A file that is not there is refused now: no row of it is needed to know that. A remote
        input (a cluster's) is looked for when it is read.
        """
        from pathveil.cli.options.reading import check_there
        from pathveil.errors import ParameterError

        if self.dataset is None:
            if self.ledger is not None or self.population is not None:
                raise ParameterError(
                    "Say which dataset of the ledger is charged: --dataset NAME. (A ledger comes "
                    "from --ledger or PATHVEIL_LEDGER; to publish without one, leave both out.)"
                )
            return None
        from pathveil.ledger.ledger import Ledger

        if not is_remote:
            check_there(source)
        return Ledger.open(self.ledger).dataset(self.dataset, self.population)
