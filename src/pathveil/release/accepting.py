"""Whether a release keeps the rules that were fixed for it: by its own noisy figures alone."""

from typing import TYPE_CHECKING

import numpy as np

from pathveil.analysis.flows import visits
from pathveil.core.acceptance import Acceptance, noises
from pathveil.core.error_table import ANY, Answers
from pathveil.errors import ReleaseError
from pathveil.release.answering import FLOW_KINDS
from pathveil.release.exports.flow_lines import FLOWS
from pathveil.statistics.measurement_plan import MeasurementPlan

if TYPE_CHECKING:
    from pathveil.release.release import Release


def check_accepted(release: "Release", rules: Acceptance) -> None:
    """Refuse a release that does not keep the rules; nothing of it is written then.

    Raises:
        ReleaseError: with every rule that is not kept.
    """
    broken = [*_broken(release, rules)] if rules else []
    if broken:
        raise ReleaseError(
            f"The release does not keep the rules that were fixed for it: {'; '.join(broken)}. "
            "It was not written."
        )


def _broken(release: "Release", rules: Acceptance) -> list[str]:
    found = []
    if rules.noise:
        measured = noises(MeasurementPlan.of(release.parameters))
        for name, limit in rules.noise.items():
            noise = measured.get(name)
            if noise is None:
                found.append(f"{name} was not measured")
            elif noise > limit:
                found.append(f"the noise on {name} has a deviation of {noise:.1f}, not {limit:g}")
    for kind, most in rules.error.items():
        error = relative_error(release, kind)
        if error > most:
            found.append(f"the intervals of {kind} are ±{error:.3g} of their counts, not {most:g}")
    if rules.most_suppressed is not None:
        share = suppressed_share(release, rules.suppress_below or 0)
        if share > rules.most_suppressed:
            found.append(
                f"{share:.1%} of visits are at locations below {rules.suppress_below}, more than "
                f"{rules.most_suppressed:.1%}"
            )
    return found


def suppressed_share(release: "Release", below: int) -> float:
    """The share of visits at locations whose count is below a number; of nothing, all."""
    counts = visits(release).counts
    return float(counts[counts < below].sum() / counts.sum()) if counts.sum() else 1.0


def relative_error(release: "Release", kind: str) -> float:
    """Half the widths of the 90% intervals of all rows, over the sum of their counts."""
    counts, answers = _answers(release, kind)
    if not counts.sum():
        return float("inf")
    return float((answers.high - answers.low).sum() / 2 / counts.sum())


def _answers(release: "Release", kind: str) -> "tuple[np.ndarray, Answers]":
    answering = release.answering
    if answering is None:
        raise ReleaseError("The release has no intervals to accept it by.")
    if kind in FLOWS:
        pairs = FLOWS[kind](release).largest()
        return pairs.counts, answering.pairs(FLOW_KINDS[kind], pairs)
    counts = visits(release).counts
    codes = np.flatnonzero(counts)
    asked = [(code,) for code in codes.tolist()]
    return counts[codes], answering.asked(ANY, asked, counts[codes])
