"""``pathveil keygen``: a key of one's own, to sign releases with."""

from pathlib import Path
from typing import Annotated

import typer

from pathveil.cli.options import shared


def keygen(
    keyfile: Annotated[
        Path,
        typer.Argument(
            metavar="KEYFILE",
            help="Where the private key goes; the public one goes to KEYFILE.pub.",
            show_default=False,
        ),
    ],
    json: shared.Json = False,
) -> None:
    """Make an Ed25519 key pair for signing releases.

    Only you may read the private key (mode 0600); set PATHVEIL_KEY_PASSPHRASE to have it
    encrypted as well. Give the public key, or its fingerprint, to your readers by a way that
    they trust: your web site, a letter.

    Example: `pathveil keygen city-transit.key`
    """
    from pathveil.cli.console import print_json, stdout_console
    from pathveil.promise.signing_keys import PUBLIC_SUFFIX, fingerprint, make_keys, raw

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


# ``pathveil sign``: vouch for a release with one's own key.


def sign(
    directory: shared.Bundle,
    key: Annotated[
        Path,
        typer.Option("--key", metavar="KEY", help="The private key, made by `pathveil keygen`."),
    ],
    signer: Annotated[
        str,
        typer.Option("--signer", metavar="NAME", help="Who signs: a name that readers will see."),
    ],
    json: shared.Json = False,
) -> None:
    """Sign a release: a signature over every file goes into the bundle as signature.json.

    The bundle is verified first. A release that is NOT PRIVATE is not signed. An encrypted key
    is opened with the passphrase in PATHVEIL_KEY_PASSPHRASE.

    Example: `pathveil sign release --key city-transit.key --signer "City Transit"`
    """
    from pathveil.cli.console import print_json, stdout_console
    from pathveil.cli.options.signing import signature_json
    from pathveil.errors import ReleaseError
    from pathveil.promise.signing_keys import read_private_key
    from pathveil.release.bundle import verify_bundle
    from pathveil.release.signature import Signer, check_signature, sign_bundle

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
