"""What `pathveil verify` says about the charge behind a bundle."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathveil.release.release import Release


def ledger_facts(release: "Release", directory: Path, ledger: str | None) -> dict[str, Any] | None:
    """The charge that the certificate names; checked, if a ledger is given.

    Raises:
        LedgerError: if the ledger and the certificate contradict each other.
    """
    record = release.ledger
    if ledger is None:
        return None if record is None else {**record.model_dump(), "checked": False}
    from pathveil.ledger.checking import check_record
    from pathveil.ledger.ledger import Ledger
    from pathveil.release.bundle import certificate_sha256

    chain = Ledger.open(ledger).chain()
    digest = certificate_sha256(directory)
    spent = release.parameters
    recorded = check_record(chain, record, spent.budget.epsilon, digest, spent.delta)
    facts = {} if record is None else record.model_dump()
    return {**facts, "checked": True, "recorded_as_published": recorded}


def ledger_words(facts: dict[str, Any] | None) -> str:
    """The same in a sentence."""
    if facts is None:
        return "Its certificate names no ledger."
    who = f", population {facts['population']!r}" if facts["population"] else ""
    charge = f"entry {facts['entry']} of the ledger, dataset {facts['dataset']!r}{who}"
    if not facts["checked"]:
        return f"Charged as {charge} (not checked: give --ledger)."
    if facts["recorded_as_published"]:
        return f"The ledger agrees: {charge}, paid for it and records this certificate."
    return (
        f"The ledger agrees: {charge}, paid for it. That it was published is not recorded: the run "
        "was stopped right after it wrote the bundle."
    )
