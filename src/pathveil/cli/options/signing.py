"""What `pathveil verify` says about the charge behind a bundle."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

if TYPE_CHECKING:
    from pathveil.release.release import Release
    from pathveil.release.signature import SignedBy, Signer


def ledger_facts(release: "Release", directory: Path, ledger: str | None) -> dict[str, Any] | None:
    """The charge that the certificate names; checked, if a ledger is given.

    Raises:
        LedgerError: if the ledger and the certificate contradict each other.
    """
    record = release.ledger
    if ledger is None:
        return None if record is None else {**record.model_dump(), "checked": False}
    from pathveil.ledger.export import recorded
    from pathveil.ledger.ledger import Ledger
    from pathveil.release.bundle import certificate_sha256
    from pathveil.times.protected_units import protected_by

    chain = Ledger.open(ledger).chain()
    digest = certificate_sha256(directory)
    spent = release.parameters
    protect = protected_by(release.rules)
    payment = recorded(chain, record, spent.budget.epsilon, digest, spent.delta, protect)
    facts = {} if record is None else record.model_dump()
    return {
        **facts,
        "checked": True,
        "recorded_as_published": bool(payment.certificates),
        "withdrawn": payment.withdrawn,
        "replaced_by": payment.replaced_by,
    }


def ledger_words(facts: dict[str, Any] | None) -> str:
    """The same in a sentence."""
    if facts is None:
        return "Its certificate names no ledger."
    who = f", population {facts['population']!r}" if facts["population"] else ""
    charge = f"entry {facts['entry']} of the ledger, dataset {facts['dataset']!r}{who}"
    if not facts["checked"]:
        return f"Charged as {charge} (not checked: give --ledger)."
    if facts["recorded_as_published"]:
        return (
            f"The ledger agrees: {charge}, paid for it and records this certificate."
            f"{f' {aftermath_words(facts)}' if aftermath_words(facts) else ''}"
        )
    return (
        f"The ledger agrees: {charge}, paid for it. That it was published is not recorded: the run "
        "was stopped right after it wrote the bundle."
    )


def aftermath_words(facts: dict[str, Any]) -> str:
    """What the publisher recorded later, in a sentence or two: do not use it."""
    withdrawn, by = facts["withdrawn"], facts["replaced_by"]
    words = [] if withdrawn is None else [f"It was WITHDRAWN: {withdrawn}."]
    words += [] if by is None else [f"It was REPLACED by the release of entry {by} of the ledger."]
    return " ".join(words)


# What the commands that make and check signatures share.


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
    from pathveil.promise.signing_keys import read_private_key
    from pathveil.release.signature import Signer

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
