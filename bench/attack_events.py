"""Choose an event on one half of the runs, test it on the other.

Differential privacy says P[E | with] ≤ e^ε·P[E | without] + δ for every event E, and the other way
round. The attacker looks at the first half of the runs as long as they like, and settles on one
event for each direction. On the second half, which nobody has looked at, the lower Clopper-Pearson
bound of one probability and the upper one of the other bound the loss ln((p − δ)/q) from below.

An event is "a number is at least t" or "at most t". The numbers are those of the release and one
more, the linear combination of them that tells the two databases apart best (Fisher's discriminant,
fitted on the first quarter; the event is chosen on the second): a breach that is spread over many
counts shows in no single one.
"""

from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from bench.attack_release import Features

MOST_COMBINED = 40  # numbers in the linear combination: more than the runs can tell apart only hurt
RIDGE = 0.3  # of a variance
THRESHOLDS = np.linspace(0.01, 0.99, 99)  # quantiles at which an event may cut


@dataclass(frozen=True, slots=True)
class Finding:
    """A lower bound on the loss in one direction, and the event that proves it."""

    event: str
    loss: float
    runs: int


@dataclass(frozen=True, slots=True)
class _Event:
    name: str
    column: int
    sign: int  # +1: at least; -1: at most
    threshold: float

    def happened(self, values: NDArray[np.float64]) -> int:
        return int(np.count_nonzero(self.sign * values[:, self.column] >= self.threshold))


def attack(
    with_unit: list[Features], without: list[Features], delta: float, error: float
) -> tuple[Finding, Finding]:
    """Bounds on the loss of (with against without) and of (without against with).

    Args:
        with_unit: what was read in each run on the file with the unit.
        without: the same for the file without it.
        delta: δ that is claimed.
        error: the probability that one of the two bounds is above the true loss.
    """
    names = sorted({name for run in (*with_unit, *without) for name in run})
    tables = [
        np.array([[run.get(name, 0.0) for name in names] for run in runs])
        for runs in (with_unit, without)
    ]
    quarter, half = len(with_unit) // 4, len(with_unit) // 2
    combined = _discriminant(*(table[:quarter] for table in tables))
    tables = [np.column_stack((table, table @ combined)) for table in tables]
    names.append("a combination")
    findings = []
    for first, second in (tables, tables[::-1]):
        event = _best_event(first[quarter:half], second[quarter:half], names)
        loss = loss_bound(
            np.array([event.happened(first[half:])]),
            np.array([event.happened(second[half:])]),
            len(first) - half,
            delta,
            error / 2,
        )[0]
        findings.append(Finding(event.name, float(loss), len(first)))
    return findings[0], findings[1]


def _discriminant(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Fisher's linear discriminant of the numbers that differ most, with a ridge; their weights."""
    spread = np.sqrt((first.var(axis=0) + second.var(axis=0)) / 2)
    difference = first.mean(axis=0) - second.mean(axis=0)
    score = np.divide(difference, spread, out=np.zeros_like(spread), where=spread > 0)
    chosen = np.argsort(-np.abs(score))[:MOST_COMBINED]
    chosen = chosen[spread[chosen] > 0]
    weights = np.zeros(len(spread))
    if len(chosen):
        covariance = RIDGE * np.eye(len(chosen))
        for table in (first, second):
            scaled = table[:, chosen] / spread[chosen]
            covariance += np.cov(scaled, rowvar=False).reshape(covariance.shape) / 2
        weights[chosen] = np.linalg.solve(covariance, score[chosen]) / spread[chosen]
    return weights


def _best_event(
    first: NDArray[np.float64], second: NDArray[np.float64], names: list[str]
) -> _Event:
    """The event with the largest bound on these runs; an honest test needs others."""
    best, best_loss = _Event("nothing", 0, 1, inf), -inf
    for column, name in enumerate(names):
        for sign, word in ((1, "at least"), (-1, "at most")):
            a, b = np.sort(sign * first[:, column]), np.sort(sign * second[:, column])
            cuts = np.unique(np.quantile(a, THRESHOLDS, method="nearest"))
            hits = len(a) - np.searchsorted(a, cuts)
            misses = len(b) - np.searchsorted(b, cuts)
            losses = loss_bound(hits, misses, len(a), 0.0, 0.1)
            at = int(np.argmax(losses))
            if losses[at] > best_loss:
                best_loss = losses[at]
                cut = cuts[at]
                best = _Event(f"{name} {word} {sign * cut:g}", column, sign, cut)
    return best


def loss_bound(
    hits: NDArray[np.int64], misses: NDArray[np.int64], runs: int, delta: float, error: float
) -> NDArray[np.float64]:
    """ln((p − δ)/q) is at least this, but for a probability of ``error``; -inf if nothing is known.

    Args:
        hits: how often the event happened in runs of probability p.
        misses: how often it happened in as many of probability q.
        runs: how many there were of each.
        delta: δ.
        error: shared between the two bounds.
    """
    least = np.where(hits > 0, betaincinv(np.maximum(hits, 1), runs - hits + 1, error / 2), 0.0)
    most = np.where(
        misses < runs, betaincinv(misses + 1, np.maximum(runs - misses, 1), 1 - error / 2), 1.0
    )
    over = np.maximum(least - delta, 0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(over / most))
