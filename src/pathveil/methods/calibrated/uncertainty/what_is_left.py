"""What is left of the answer to a question if a trajectory answers one question only.

A trajectory answers the first question that it answers at all, so of the T who answer question i
only a share k is counted there; earlier questions took the rest. The released trajectories tell
which questions take how much of each other. But if more people do in truth what an early question
asks for than the release says, it takes more in truth, too, and what is left of later ones would be
taken for all there is. Early questions are counted, so that can be mended. Say the release has

    k = exp(−Σ h_j)

where h_j is the hazard of being taken by question j for who answers i and was not taken before. If
j is answered ρ_j times as often as the release says, by people who are otherwise alike, the hazard
is ρ_j·h_j (proportional hazards): the sum is Γ times as large, where Γ is the mean of all ρ_j
weighed by h_j, and k^Γ is left. Of each question ρ = y / (e·k^Γ) follows from its noisy count y,
one after the other in their order. Noise makes each ρ uncertain, so each is drawn, by how little it
tells, to what all before it of about its size say together, and that to 1: of hundreds of small
questions none stands out of the noise, but their sum does. Many make Γ.
"""

import numpy as np
from numpy.typing import NDArray

from pathveil.core.paths import Paths
from pathveil.statistics.constants import (
    ALIKE_SIZES,
    ANSWERS_OFF,
    KEPT_SLACK_COUNTS,
    LEAST_KEPT,
    OTHERS_ERROR,
    TAKES_MORE,
)
from pathveil.statistics.statistic import Scope
from pathveil.statistics.validation import QUERY_KINDS, answered, queries_of


def taken_by(paths: Paths, scope: Scope) -> NDArray[np.float64]:
    """How many trajectories answer question i, and answer j first of all; shape (i, j).

    The diagonal is what is left of each, and a row's sum is who answers it at all.

    Args:
        paths: released trajectories, over positions of candidates.
        scope: of the candidates and the questions.
    """
    queries = queries_of(scope)
    return answered(paths.offsets, paths.codes, *queries.by_rarest, paths.weights)[1]


def kept_shares(
    kinds: NDArray[np.int64],
    taken: NDArray[np.float64],
    noisy: NDArray[np.float64],
    deviation: float,
) -> NDArray[np.float64]:
    """What is left of each answer of people's, as a share.

    Args:
        kinds: of the questions.
        taken: see `taken_by`.
        noisy: what is left of people's answers, with noise.
        deviation: of the noise.
    """
    kept = released_shares(kinds, np.diag(taken), taken.sum(axis=1))
    more = _takes_more(taken, kept, noisy, deviation)
    result: NDArray[np.float64] = np.clip(kept**more, LEAST_KEPT, 1.0)
    return result


def released_shares(
    kinds: NDArray[np.int64], left: NDArray[np.float64], whole: NDArray[np.float64]
) -> NDArray[np.float64]:
    """What is left of released answers; small ones, which hardly tell, take after their kind."""
    of_kind = np.array(
        [left[kinds == kind].sum() / max(whole[kinds == kind].sum(), 1.0) for kind in QUERY_KINDS]
    )
    slack = KEPT_SLACK_COUNTS
    return np.clip((left + slack * of_kind[kinds]) / (whole + slack), LEAST_KEPT, 1.0)


def _takes_more(
    taken: NDArray[np.float64],
    kept: NDArray[np.float64],
    noisy: NDArray[np.float64],
    deviation: float,
) -> NDArray[np.float64]:
    """Γ of each question."""
    prior = ANSWERS_OFF**2
    often, doubt = np.ones(len(taken)), np.full(len(taken), prior)  # ρ and its variance
    result = np.ones(len(taken))
    # What each question says of ρ by itself, and how precisely: of those about as large, too.
    told, known = np.zeros(len(taken)), np.zeros(len(taken))
    sizes = np.log1p(taken.sum(axis=1)) / ALIKE_SIZES
    for i, row in enumerate(taken):
        hazards = _hazards(row[: i + 1])
        hazard = float(hazards.sum())
        if hazard > 0:
            weights = hazards / hazard
            off = float(weights @ (often[:i] - 1.0))
            result[i] = 1.0 + off * prior / (prior + float(weights**2 @ doubt[:i]))
        result[i] = np.clip(result[i], *TAKES_MORE)
        left = max(float(row.sum() * kept[i] ** result[i]), 1.0)
        variance = (deviation / left) ** 2 + (OTHERS_ERROR * ANSWERS_OFF * hazard) ** 2
        alike = known[:i] * np.exp(-((sizes[:i] - sizes[i]) ** 2) / 2)
        usual = (1.0 / prior + float(alike @ told[:i])) / (1.0 / prior + float(alike.sum()))
        often[i] = usual + (noisy[i] / left - usual) * prior / (prior + variance)
        doubt[i] = prior * variance / (prior + variance)
        told[i], known[i] = noisy[i] / left, 1.0 / (prior + variance)
    return result


def _hazards(row: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of being taken by each earlier question, for who was not yet; the last entry is who is left.

    −log(1 − o/s) where o are taken of s who are there; s is at least those whom it takes, and one.
    """
    there = np.cumsum(row[::-1])[::-1]
    gone = row[:-1] / np.maximum(there[:-1], 1.0)
    result: NDArray[np.float64] = -np.log1p(-np.minimum(gone, 1.0 - LEAST_KEPT))
    return result
