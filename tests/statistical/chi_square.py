"""Chi-square tests, with cells pooled until the approximation is good far into the tail."""

import numpy as np
from scipy import stats

# A right sample fails an assertion with this probability; there are about sixty assertions.
ERROR = 1e-6
LEAST_EXPECTED = 50


def _pooled(weights, least):
    """Starts of groups of neighbouring cells, each group with a weight of at least ``least``."""
    starts, so_far = [0], 0.0
    for cell, weight in enumerate(weights):
        if so_far >= least:
            starts.append(cell)
            so_far = 0.0
        so_far += weight
    if so_far < least and len(starts) > 1:
        starts.pop()
    return starts


def goodness_of_fit(observed, probabilities) -> float:
    """The p-value of counts per cell under a law that the cells exhaust."""
    observed, probabilities = np.asarray(observed), np.asarray(probabilities)
    assert abs(probabilities.sum() - 1) < 1e-9
    expected = observed.sum() * probabilities
    starts = _pooled(expected, LEAST_EXPECTED)
    observed = np.add.reduceat(observed, starts)
    expected = np.add.reduceat(expected, starts)
    statistic = np.sum((observed - expected) ** 2 / expected)
    return float(stats.chi2.sf(statistic, len(starts) - 1))


def homogeneity(*samples) -> float:
    """The p-value of 'these samples, as counts over the same cells, have one law'."""
    table = np.array(samples)
    starts = _pooled(table.sum(axis=0), len(table) * LEAST_EXPECTED)
    table = np.add.reduceat(table, starts, axis=1)
    return float(stats.chi2_contingency(table, correction=False).pvalue)
