"""``pathveil sign``: vouch for a release with one's own key."""

from pathlib import Path
from typing import Annotated

import typer

from pathveil.cli import options


def sign(
    directory: options.Bundle,
    key: Annotated[
        Path,
        typer.Option("--key", metavar="KEY", help="The private key, made by `pathveil keygen`."),
    ],
    signer: Annotated[
        str,
        typer.Option("--signer", metavar="NAME", help="Who signs: a name that readers will see."),
    ],
    json: options.Json = False,
) -> None:
    """Sign a release: a signature over every file goes into the bundle as signature.json.

    The bundle is verified first. A release that is NOT PRIVATE is not signed. An encrypted key
    is opened with the passphrase in PATHVEIL_KEY_PASSPHRASE.

    Example: `pathveil sign release --key city-transit.key --signer "City Transit"`
    """
    from pathveil.cli.console import print_json, stdout_console
    from pathveil.cli.signing import signature_json
    from pathveil.errors import ReleaseError
    from pathveil.release.bundle import verify_bundle
    from pathveil.release.signature import Signer, check_signature, sign_bundle
    from pathveil.release.signing_keys import read_private_key

    def check(bundle: Path) -> None:
        if not verify_bundle(bundle).is_private:
            raise ReleaseError("This release is NOT PRIVATE and for tests only; it is not signed.")

    owner = Signer(signer, read_private_key(key))
    sign_bundle(directory, owner, check)
    signed = check_signature(directory, owner.key.public_key())
    if json:
        print_json(signature_json(signed))
        return
    console = stdout_console()
    console.print(f"Signed as {signer!r}.", style="bold green", highlight=False, markup=False)
    if signed is not None:
        console.print(f"Fingerprint: {signed.fingerprint}", highlight=False, markup=False)
