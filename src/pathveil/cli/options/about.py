"""Options that say who publishes what: public words, which become part of the release."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pathveil.core.about import About

_PANEL = "Who, what, when (all of it becomes public)"


@dataclass(frozen=True, slots=True)
class AboutOptions:
    """What the publisher says of a release; see `About`."""

    about: Annotated[
        Path | None,
        typer.Option(
            "--about",
            metavar="FILE",
            help="A TOML file with what the next six options say, a line each, such as title = "
            '"Taps of March"; an option that is given goes before its line.',
            rich_help_panel=_PANEL,
        ),
    ] = None
    title: Annotated[
        str | None,
        typer.Option("--title", help="What the release is called.", rich_help_panel=_PANEL),
    ] = None
    publisher: Annotated[
        str | None,
        typer.Option("--publisher", help="Who publishes it.", rich_help_panel=_PANEL),
    ] = None
    licence: Annotated[
        str | None,
        typer.Option(
            "--licence",
            help="Under which licence: an SPDX name such as CC-BY-4.0, or an https:// address.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    contact: Annotated[
        str | None,
        typer.Option(
            "--contact",
            help="Whom to ask: an e-mail address or an https:// address.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    period: Annotated[
        str | None,
        typer.Option(
            "--period",
            metavar="DATE[/DATE]",
            help="When the data is from, as you know it without looking into it: 2026-03, or "
            "2026-03-02/2026-03-08.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    city: Annotated[
        str | None,
        typer.Option("--city", help="Which city or region it is about.", rich_help_panel=_PANEL),
    ] = None

    def about_release(self) -> "About":
        """The value that the release is described by.

        Raises:
            ParameterError: if the file or a text can't be used.
        """
        from pathveil.core.about import About

        given = {
            name: text
            for name, text in asdict(self).items()
            if name != "about" and text is not None
        }
        return About.of({**dict(About.of(self.about)), **given})
