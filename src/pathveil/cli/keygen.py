"""``pathveil keygen``: a key of one's own, to sign releases with."""

from pathlib import Path
from typing import Annotated

import typer

from pathveil.cli import options


def keygen(
    keyfile: Annotated[
        Path,
        typer.Argument(
            metavar="KEYFILE",
            help="Where the private key goes; the public one goes to KEYFILE.pub.",
            show_default=False,
        ),
    ],
    json: options.Json = False,
) -> None:
    """Make an Ed25519 key pair for signing releases.

    Only you may read the private key (mode 0600); set PATHVEIL_KEY_PASSPHRASE to have it
    encrypted as well. Give the public key, or its fingerprint, to your readers by a way that
    they trust: your web site, a letter.

    Example: `pathveil keygen city-transit.key`
    """
    from pathveil.cli.console import print_json, stdout_console
    from pathveil.release.signing_keys import PUBLIC_SUFFIX, fingerprint, make_keys, raw

    print_of_key = fingerprint(raw(make_keys(keyfile)))
    public = keyfile.with_name(keyfile.name + PUBLIC_SUFFIX)
    if json:
        facts = {"private_key": keyfile, "public_key": public, "fingerprint": print_of_key}
        print_json({name: str(value) for name, value in facts.items()})
        return
    console = stdout_console()
    for line in (
        f"Private key: {keyfile} (keep it to yourself, and a copy of it safe)",
        f"Public key:  {public} (give it to your readers)",
        f"Fingerprint: {print_of_key}",
    ):
        console.print(line, highlight=False, markup=False)
