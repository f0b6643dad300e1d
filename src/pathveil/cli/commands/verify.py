"""``pathveil verify``: is this bundle whole, unchanged and what it says it is?"""

from pathlib import Path
from typing import Annotated

import typer

from pathveil.cli.options import shared


def verify(
    directory: shared.Bundle,
    ledger: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|URL",
            help="Also check that this ledger holds the charge that the certificate names.",
        ),
    ] = None,
    public_key: Annotated[
        Path | None,
        typer.Option(
            "--public-key",
            metavar="FILE",
            help="Require a signature by this key, which you got from the publisher.",
        ),
    ] = None,
    json: shared.Json = False,
) -> None:
    """Check a release bundle: schema, hashes, that its files agree, its charge, who signed it.

    Example: `pathveil verify release --ledger ledger.db`
    """
    from pathveil.cli.console import print_json, reported_progress, stdout_console, visible
    from pathveil.cli.options.signing import (
        ledger_facts,
        ledger_words,
        signature_json,
        signature_lines,
    )
    from pathveil.core.methods import method_words
    from pathveil.promise.citation import loss_words
    from pathveil.promise.signing_keys import read_public_key
    from pathveil.release.bundle import verify_bundle
    from pathveil.release.signature import check_signature

    known = read_public_key(public_key) if public_key is not None else None
    with reported_progress("Checking the bundle"):
        release = verify_bundle(directory)
    signed = check_signature(directory, known)
    certificate = release.certificate
    charge = ledger_facts(release, directory, ledger)
    if json:
        print_json(
            {
                "valid": True,
                "status": certificate.status,
                "about": dict(release.about),
                "epsilon": str(release.parameters.budget),
                "delta": certificate.privacy_loss.privacy_parameters.delta,
                "protect": certificate.protect,
                "released_trajectories": len(release),
                "ledger": charge,
                "signature": signature_json(signed),
            }
        )
        return
    made = release.parameters
    method = method_words(made.method, made.height, made.purpose)
    console = stdout_console()
    console.print("The bundle is whole and unchanged.", style="bold green")
    console.print(
        f"{certificate.status}: {loss_words(certificate)}, {len(release):,} trajectories, "
        f"{release.parameters.universe_size:,} locations, {method}.",
        highlight=False,
        style="bold red" if not release.is_private else None,
    )
    for name, text in release.about:
        console.print(f"{name.capitalize()}: {visible(text)}", markup=False, highlight=False)
    console.print(ledger_words(charge), markup=False, highlight=False)
    for line in signature_lines(signed):
        console.print(line, highlight=False, markup=False)
