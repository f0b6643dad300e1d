"""What the commands that make and check signatures share."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

if TYPE_CHECKING:
    from pathveil.release.signature import SignedBy, Signer

_PANEL = "The signature"

SignKey: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--sign-key",
        metavar="KEY",
        help="Sign the release with this private key (see `pathveil keygen`).",
        rich_help_panel=_PANEL,
    ),
]
SignerName: TypeAlias = Annotated[
    str | None,
    typer.Option("--signer", metavar="NAME", help="Who signs.", rich_help_panel=_PANEL),
]


def signer_for(key: Path | None, name: str | None) -> "Signer | None":
    """The signer, its key read and checked; None if nobody signs.

    Raises:
        ParameterError: if the key can't be used, or only one of the two is given.
    """
    from pathveil.errors import ParameterError

    if key is None and name is None:
        return None
    if key is None or name is None:
        raise ParameterError("To sign, give both the key and the signer's name (--signer).")
    from pathveil.release.signature import Signer
    from pathveil.release.signing_keys import read_private_key

    return Signer(name, read_private_key(key))


def signature_lines(signed: "SignedBy | None") -> list[str]:
    """Who signed, for people: the name is only what the signer says."""
    if signed is None:
        return ["Not signed: the hashes show accidents, not who made it."]
    if signed.is_known:
        return [f"Signed with the public key that you gave, as {signed.signer!r}."]
    return [
        f"Signed by somebody who calls themselves {signed.signer!r}, with a key unknown to you.",
        (
            "The name proves nothing: anybody can make a key and choose a name. Get the public key "
            "from the publisher and give it with --public-key, or compare the key's fingerprint:"
        ),
        signed.fingerprint,
    ]


def signature_json(signed: "SignedBy | None") -> dict[str, object] | None:
    """The same for scripts."""
    if signed is None:
        return None
    return {
        "signer": signed.signer,
        "fingerprint": signed.fingerprint,
        "key_is_known": signed.is_known,
    }
