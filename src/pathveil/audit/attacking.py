"""The attack: toss a coin, run the mechanism on one of two databases, guess the coin from the run.

Under ε-differential privacy P₁[E] ≤ e^ε·P₂[E] for every event E. So whoever speaks only when E
happens, and says "with the unit" then, is right with probability at most e^ε/(1 + e^ε); likewise
for "without", for the complement of E, and for whoever says one thing when E happens and the other
when it does not. The number of right guesses among those made is binomial, and the lower
Clopper-Pearson bound q on its probability gives the lower bound ln(q/(1 − q)) on ε.

An alarm is a bound above the claimed ε. All tests of an audit (pairs, events, directions, and the
times at which we look, since an audit stops when it has found something) share one
false-alarm probability by Bonferroni's inequality: the right mechanism raises any alarm at all
with at most that probability, and all bounds hold together otherwise.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pathveil.audit.events import Event, Mechanism, Record, event_family, front_door
from pathveil.audit.neighbours import NeighbouringPair, neighbouring_pairs
from pathveil.errors import ParameterError
from pathveil.gate.randomness import Randomness

FALSE_ALARM = 1e-6
FIRST_LOOK = 64
REPORTED_EVERY = 64  # runs between two reports of progress
GUESSES = tuple(
    f"says '{first}' when it {when}"
    for first in ("with", "without")
    for when in ("happens", "does not happen", "happens, the other when not")
)
Progress = Callable[[int], None]
"""Told how many more runs are done."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A lower bound on ε, and the attack that proves it.

    Attributes:
        pair: the name of the pair of databases.
        event: the question in words.
        guess: what the attacker makes of the answer.
        lower_bound: ε is at least this, with the audit's confidence; at least 0.
        runs: how many runs per database it took, on average.
    """

    pair: str
    event: str
    guess: str
    lower_bound: float
    runs: int


@dataclass(frozen=True, slots=True)
class AuditLine:
    """What was found on one pair of databases, or in one table.

    Attributes:
        name: of the pair or the table.
        claim: the ε that is claimed for it.
        strongest: the largest lower bound.
        tests: how many (event, guess) were tried.
    """

    name: str
    claim: Fraction
    strongest: Finding
    tests: int

    @property
    def is_alarm(self) -> bool:
        """Whether more than the claim was proved to be spent."""
        return self.strongest.lower_bound > self.claim


@dataclass(frozen=True, slots=True)
class AuditReport:
    """What a reviewer can file.

    Attributes:
        part: which part of the software was attacked.
        claimed_epsilon: the ε that the mechanism claims.
        height: h of the trees.
        lines: one for each pair of databases or table.
        strongest: the largest lower bound found.
        alarms: the bounds above the claim, largest first; empty for a mechanism that keeps it.
        events: how many (pair, event, guess) were tried.
        runs: runs per database, on average; fewer where an alarm ended the search.
        confidence: the probability with which all bounds hold.
    """

    part: str
    claimed_epsilon: Fraction
    height: int
    lines: tuple[AuditLine, ...]
    strongest: Finding
    alarms: tuple[Finding, ...]
    events: int
    runs: int
    confidence: float


def audit(
    mechanism: Mechanism = front_door,
    *,
    pairs: Sequence[NeighbouringPair] | None = None,
    epsilon: object = "1",
    height: int = 1,
    runs: int = 16_384,
    false_alarm: float = FALSE_ALARM,
    progress: Progress = lambda _runs: None,
    begins: str = "",
) -> AuditReport:
    """Try to catch a mechanism spending more than the ε it claims.

    Args:
        mechanism: what is attacked; the real one unless a test passes a broken one.
        pairs: neighbouring databases; the six of `neighbouring_pairs` if None, in which case
            ``epsilon`` and ``height`` say for which claim.
        epsilon: the claim, as text or an exact number.
        height: h.
        runs: runs per database, on average: the coin decides.
        false_alarm: the probability that a mechanism which keeps its claim raises an alarm.
        progress: told how many more runs are done, of 2·runs for each pair.
        begins: where the attack begins, in words, if that is before the gate.

    Raises:
        ParameterError: if there is nothing to run.
    """
    chosen = tuple(neighbouring_pairs(epsilon, height) if pairs is None else pairs)
    if not chosen or runs < FIRST_LOOK:
        raise ParameterError(f"An audit needs a pair of databases and {FIRST_LOOK} runs or more.")
    families = [event_family(pair) for pair in chosen]
    tests = len(GUESSES) * sum(map(len, families))
    found = [
        _attack(mechanism, pair, family, runs, false_alarm / tests, progress)
        for pair, family in zip(chosen, families, strict=True)
    ]
    findings = sorted((f for each in found for f in each), key=lambda f: -f.lower_bound)
    claim, height = chosen[0].parameters.budget.epsilon, chosen[0].parameters.height
    public = chosen[0].parameters
    more = " with times" if public.time_grid else " with zones" if public.taxonomy else ""
    return AuditReport(
        part=f"{begins}noisy prefix tree{more}, height {height} (methods basic and full)",
        claimed_epsilon=claim,
        height=height,
        lines=tuple(
            AuditLine(pair.name, claim, max(each, key=lambda f: f.lower_bound), len(each))
            for pair, each in zip(chosen, found, strict=True)
        ),
        strongest=findings[0],
        alarms=tuple(f for f in findings if f.lower_bound > claim),
        events=tests,
        runs=runs,
        confidence=1 - false_alarm,
    )


def _attack(
    mechanism: Mechanism,
    pair: NeighbouringPair,
    family: Sequence[Event],
    runs: int,
    error: float,
    progress: Progress,
) -> list[Finding]:
    """Run one pair until an alarm or the end; a bound for every event and guess at that moment."""
    randomness = Randomness()
    coins = randomness.words(2 * runs) % 2 == 1
    record = Record(pair, 2 * runs)
    done = 0
    bounds = np.zeros((len(family), len(GUESSES)))
    for look, share in looks(runs):
        for run in range(done, 2 * look):
            database = pair.with_unit if coins[run] else pair.without
            record.write(run, mechanism(database, pair.parameters, randomness))
            if run % REPORTED_EVERY == 0:
                progress(REPORTED_EVERY)
        done = 2 * look
        view = record.upto(done)
        happened = np.stack([event.happened(view) for event in family])
        bounds = bounds_of(happened, coins[:done], error * share)
        if bounds.max() > pair.parameters.budget.epsilon:
            break
    return [
        Finding(pair.name, event.name, guess, float(bounds[i, j]), done // 2)
        for i, event in enumerate(family)
        for j, guess in enumerate(GUESSES)
    ]


def looks(runs: int) -> Iterator[tuple[int, float]]:
    """When to look, doubling up to ``runs``, and each look's share of the error.

    The last look has half of it, the one before a quarter, and so on: an early look is for
    mistakes so gross that they need no help.
    """
    times = [runs]
    while times[-1] // 2 >= FIRST_LOOK:
        times.append(times[-1] // 2)
    for i, look in reversed(list(enumerate(times))):
        yield look, 0.5 ** (i + 1)


def bounds_of(
    happened: NDArray[np.bool_], coins: NDArray[np.bool_], error: float
) -> NDArray[np.float64]:
    """Lower bounds on ε; shape (events, guesses), in the order of `GUESSES`.

    Args:
        happened: bool, shape (events, runs).
        coins: bool, shape (runs,); whether the unit was in the data.
        error: the probability with which one of the bounds may be too high.
    """
    with_unit = int(np.count_nonzero(coins))
    hit = np.count_nonzero(happened & coins, axis=1)  # E, with the unit
    miss = np.count_nonzero(happened, axis=1) - hit  # E, without
    other_hit = len(coins) - with_unit - miss  # not E, without
    other_miss = with_unit - hit  # not E, with
    right = np.stack((hit, other_miss, hit + other_hit, miss, other_hit, miss + other_miss), axis=1)
    wrong = np.stack((miss, other_hit, miss + other_miss, hit, other_miss, hit + other_hit), axis=1)
    return epsilon_lower_bound(right, right + wrong, error)


def epsilon_lower_bound(
    right: NDArray[np.int64], guesses: NDArray[np.int64], error: float
) -> NDArray[np.float64]:
    """A bound on ε that exceeds the true one with probability at most ``error``.

    Args:
        right: int64; how many guesses were right.
        guesses: int64, the same shape; how many were made.
        error: the one-sided error of the Clopper-Pearson bound on P[right].

    Returns:
        float64, the same shape; 0 where nothing is learnt.
    """
    from scipy.special import betaincinv

    # The bound is the error-quantile of Beta(right, wrong + 1); without a right guess it is 0.
    rate = np.where(right > 0, betaincinv(np.maximum(right, 1), guesses - right + 1, error), 0.0)
    rate = np.maximum(rate, 0.5)  # at a half or below nothing is learnt
    return np.asarray(np.log(rate / (1 - rate)), dtype=np.float64)
