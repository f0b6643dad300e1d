"""An earlier release of a series, checked: what the next release may start from."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pathveil.core.paths import Paths
from pathveil.errors import LedgerError, ReleaseError
from pathveil.ledger.charges import SeriesAccount
from pathveil.ledger.export import recorded
from pathveil.methods.calibrated.synthesis.canonical import drop_code
from pathveil.release.bundle import certificate_sha256, verify_bundle
from pathveil.times.protected_units import protected_by
from pathveil.universe.universe import Universe


@dataclass(frozen=True, slots=True)
class EarlierRelease:
    """An earlier release of a series, which the ledger says was published.

    Attributes:
        paths: its trajectories, over the codes of the universe of the release to come.
        sha256: the hash of its certificate.
    """

    paths: Paths
    sha256: str


def read_earlier(directory: Path, account: SeriesAccount, universe: Universe) -> EarlierRelease:
    """Read an earlier release, with all the checks of `pathveil verify`, the ledger's included.

    So what the next one leans on is public, and was paid for by the same series.

    Raises:
        ReleaseError: if the bundle is damaged, forged, or NOT PRIVATE.
        LedgerError: if it is no published release of this series, or was withdrawn.
    """
    release = verify_bundle(directory)
    if not release.is_private:
        raise ReleaseError(f"{directory} is NOT PRIVATE: nothing can start from it.")
    record, digest, spent = release.ledger, certificate_sha256(directory), release.parameters
    if record is None or record.series is None or record.series.series != account.series:
        raise LedgerError(f"{directory} is no release of the series {account.series!r}.")
    chain = account.ledger.chain()
    protect = protected_by(release.rules)
    payment = recorded(chain, record, spent.budget.epsilon, digest, spent.delta, protect)
    if not payment.certificates:
        raise LedgerError(f"The ledger does not record that {directory} was published.")
    if payment.withdrawn is not None or payment.replaced_by is not None:
        raise LedgerError(f"{directory} was withdrawn or replaced: start from another release.")
    return EarlierRelease(_over(release.paths(), release.locations, universe), digest)


def _over(paths: Paths, theirs: Universe, ours: Universe) -> Paths:
    """The same paths over the codes of another universe; what is not in it is left out."""
    if list(theirs.labels) == list(ours.labels):
        return paths
    code = {label: number for number, label in enumerate(ours.labels)}
    codes = np.array([code.get(label, len(ours)) for label in theirs.labels], dtype=np.int32)
    return drop_code(Paths(paths.offsets, codes[paths.codes], paths.weights), len(ours))
