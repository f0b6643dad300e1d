"""``pathveil registry``: an entry for the OpenDP deployments registry."""

from typing import Annotated

import typer

from pathveil.cli.options import shared

_PUBLISHER = "What only the publisher knows (all of it becomes public)"


def registry(
    directory: shared.Bundle,
    name: Annotated[
        str, typer.Option(help="Name of the data product.", rich_help_panel=_PUBLISHER)
    ],
    curator: Annotated[str, typer.Option(help="Who publishes it.", rich_help_panel=_PUBLISHER)],
    intended_use: Annotated[str, typer.Option(help="What it is for.", rich_help_panel=_PUBLISHER)],
    region: Annotated[
        str, typer.Option(help="Which region it is about.", rich_help_panel=_PUBLISHER)
    ],
    date: Annotated[
        str, typer.Option(help="Date of publication, YYYY-MM-DD.", rich_help_panel=_PUBLISHER)
    ],
    author: Annotated[
        str, typer.Option(help="Who fills in the entry.", rich_help_panel=_PUBLISHER)
    ],
    curator_type: Annotated[
        str,
        typer.Option(help="Government, Industry or Nonprofit.", rich_help_panel=_PUBLISHER),
    ] = "Government",
    sector: Annotated[
        str | None,
        typer.Option(
            help="Technology, Healthcare, Education, Government, Energy or Finance.",
            rich_help_panel=_PUBLISHER,
        ),
    ] = None,
    url: Annotated[
        str | None, typer.Option(help="Where the release is.", rich_help_panel=_PUBLISHER)
    ] = None,
    ledger: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|URL",
            help="Also check the release against this ledger, and say in the entry if it was "
            "withdrawn or replaced.",
        ),
    ] = None,
    json: shared.Json = False,
) -> None:
    """Write an entry for the OpenDP deployments registry, a public list of such releases.

    Prints YAML, the form in which the registry takes entries; nothing is sent anywhere. The
    bundle is verified first.

    Example: `pathveil registry release --name "City taps" --curator "City Transit"
    --intended-use "Planning" --region "Our city" --date 2026-03-01 --author "A. Curator"`
    """
    from pathveil.cli.console import Copied, print_json, stdout_console
    from pathveil.cli.options.signing import aftermath_words, ledger_facts
    from pathveil.promise.registry_entry import Publisher, registry_entry, yaml_text
    from pathveil.release.bundle import verify_bundle

    publisher = Publisher(
        product=name,
        curator=curator,
        curator_type=curator_type,
        intended_use=intended_use,
        region=region,
        published=date,
        author=author,
        sector=sector,
        url=url,
    )
    release = verify_bundle(directory)
    facts = None if ledger is None else ledger_facts(release, directory, ledger)
    since = "" if facts is None else aftermath_words(facts)
    entry = registry_entry(release.certificate, publisher, since)
    if json:
        print_json(entry)
        return
    stdout_console().print(
        Copied(yaml_text(entry)), end="", markup=False, highlight=False, soft_wrap=True
    )
