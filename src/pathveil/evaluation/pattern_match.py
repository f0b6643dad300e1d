"""The top k sequential patterns of the raw data against those of a release (section III-D)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.analysis.patterns import Pattern


@dataclass(frozen=True, slots=True)
class PatternMatch:
    """How many patterns two lists of top k share.

    Attributes:
        true_positives: patterns in both.
        false_positives: patterns of the release's list only.
        false_drops: patterns of the raw list only. Equal to the false positives unless one side
            has fewer than k patterns.
    """

    true_positives: int
    false_positives: int
    false_drops: int

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 1 if both lists are empty."""
        listed = 2 * self.true_positives + self.false_positives + self.false_drops
        return 2 * self.true_positives / listed if listed else 1.0


def match_patterns(raw: Sequence[Pattern], released: Sequence[Pattern]) -> PatternMatch:
    """Compare two lists of patterns as sets; supports do not matter."""
    truth = {pattern.locations for pattern in raw}
    found = {pattern.locations for pattern in released}
    return PatternMatch(len(truth & found), len(found - truth), len(truth - found))


def support_error(raw: Sequence[Pattern], released_supports: NDArray[np.int64]) -> float:
    """The mean over the raw top k of |support in D̃ − support in D| / support in D.

    Args:
        raw: the raw top k, each with a support of at least 1.
        released_supports: the support of the same patterns in the release, int64, shape (k,).

    Returns:
        0 if there are no patterns.
    """
    if not raw:
        return 0.0
    truth = supports(raw)
    return float(np.mean(np.abs(released_supports - truth) / truth))


def supports(patterns: Sequence[Pattern]) -> NDArray[np.int64]:
    """Their supports, int64, shape (k,)."""
    return np.fromiter((pattern.support for pattern in patterns), dtype=np.int64)
