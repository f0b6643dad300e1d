"""Where the paper and we agree and differ: its claims, our numbers, and a verdict from them."""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

import numpy as np

from pathveil.core.methods import BASIC, CALIBRATED, FULL, Method
from pathveil.raw.database import TrajectoryDatabase
from pathveil.trials.evaluation.random_queries import SUBSETS
from pathveil.trials.reproduction import paper_numbers
from pathveil.trials.reproduction.exhibits import (
    NAMES,
    HeightReading,
    height_readings,
)
from pathveil.trials.reproduction.plan import (
    BASE_EPSILON,
    BASE_HEIGHT,
    BASE_TOP,
    PAPER_METHODS,
    TOP,
    Panel,
    Plan,
)
from pathveil.trials.reproduction.results import Results
from pathveil.trials.reproduction.runs import Truth
from pathveil.trials.reproduction.threshold import Threshold

# An improvement is called larger than another if it is so by one percentage point.
MARGIN = 0.01
# Where publishing nothing has a smaller error than this, the queries have no answers to get wrong.
SAYS_NOTHING = 0.01
# A straight line that explains this share of the variance is called linear.
LINEAR = 0.95
# Inference that adds less than this share of the time is called negligible.
NEGLIGIBLE = 0.10
WHERE = "Beyond the paper"


# The dataset in four numbers, beside the paper's.


@dataclass(frozen=True, slots=True)
class DatasetFacts:
    """Exact numbers of the raw data. Private.

    Attributes:
        rows: (what, ours, the paper's STM data).
    """

    rows: tuple[tuple[str, str, str], ...]

    @classmethod
    def of(cls, database: TrajectoryDatabase) -> "DatasetFacts":
        """Count."""
        lengths = np.diff(database.offsets)
        return cls(
            (
                ("Trajectories |D|", f"{len(database):,}", f"{paper_numbers.TRAJECTORIES:,}"),
                ("Locations |L|", f"{len(database.universe):,}", f"{paper_numbers.LOCATIONS:,}"),
                ("Mean length", f"{lengths.mean():.1f}", f"{paper_numbers.MEAN_LENGTH}"),
                ("Longest", f"{lengths.max():,}", f"{paper_numbers.LONGEST}"),
            )
        )


# The least that every finding needs: a claim, a figure, a verdict.


Verdict = Literal["agrees", "agrees in part", "differs", "can't be compared"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One claim.

    Attributes:
        where: the paper's place.
        paper: what it says.
        ours: what we measured.
        verdict: whether ours bears it out.
    """

    where: str
    paper: str
    ours: str
    verdict: Verdict


def verdict(holds: int, of: int) -> Verdict:
    """From how many of several comparisons bear a claim out: all, at least half, or fewer."""
    return "agrees" if holds == of else "agrees in part" if 2 * holds >= of else "differs"


def percent(share: float) -> str:
    """A share for people."""
    return f"{100 * share:.1f}%"


# What figures 5 and 6 say about the error of count queries, against the paper's claims.


def error_findings(plan: Plan, results: Results, truth: Truth) -> Iterator[Finding]:
    """All of them, in the paper's order."""
    yield from _errors_by_epsilon(plan, results)
    yield from _against_empty(plan, results, truth)
    yield from _improvement(plan, results)
    for reading in height_readings(results, truth):
        yield from _errors_by_height(plan, reading)


def _error(results: Results, epsilon: str, method: Method, subset: int) -> float:
    return results.subset_error(epsilon, BASE_HEIGHT, method, subset).mean


def _errors_by_epsilon(plan: Plan, results: Results) -> Iterator[Finding]:
    falling = [
        _error(results, plan.epsilons[-1], method, subset)
        < _error(results, plan.epsilons[0], method, subset)
        for method in plan.paper_methods
        for subset in range(SUBSETS)
    ]
    yield Finding(
        "Figure 5",
        "The average relative error decreases when the privacy budget increases.",
        f"From ε = {plan.epsilons[0]} to {plan.epsilons[-1]} the mean error falls in "
        f"{sum(falling)} of {len(falling)} curves.",
        verdict(sum(falling), len(falling)),
    )
    if FULL not in plan.paper_methods:
        return
    worst = _error(results, plan.epsilons[0], FULL, 0)
    yield Finding(
        "Figure 5",
        f"In the worst case (ε = 0.5, up to 3 locations) the error of Full is below "
        f"{percent(paper_numbers.WORST_ERROR)}.",
        f"{percent(worst)}.",
        "agrees" if worst < paper_numbers.WORST_ERROR else "differs",
    )
    typical = [_error(results, BASE_EPSILON, FULL, subset) for subset in range(SUBSETS)]
    below = sum(error < paper_numbers.TYPICAL_ERROR for error in typical)
    yield Finding(
        "Figure 5",
        f"At ε = 1.0 the error of Full is below {percent(paper_numbers.TYPICAL_ERROR)} in all "
        "subsets.",
        f"{', '.join(map(percent, typical))}: below in {below} of {SUBSETS}.",
        verdict(below, SUBSETS),
    )


def _against_empty(plan: Plan, results: Results, truth: Truth) -> Iterator[Finding]:
    method: Method = plan.paper_methods[-1]
    errors = [_error(results, BASE_EPSILON, method, subset) for subset in range(SUBSETS)]
    empty = [workload.empty_error() for workload in truth.subsets]
    beaten = sum(error < other for error, other in zip(errors, empty, strict=True))
    yield Finding(
        "Section V-B",
        "The approach maintains high utility for count queries. (An error says so only if it is "
        "below the empty release's, which the paper does not print.)",
        f"At ε = {BASE_EPSILON} an empty release has an error of "
        f"{', '.join(map(percent, empty))}; {NAMES[method]} has "
        f"{', '.join(map(percent, errors))} and is better in {beaten} of {SUBSETS} subsets.",
        verdict(beaten, SUBSETS),
    )


def _improvements(plan: Plan, results: Results) -> dict[str, list[float]]:
    """How much lower Full's error is than Basic's, by ε and subset."""
    return {
        epsilon: [
            1 - _error(results, epsilon, FULL, subset) / _error(results, epsilon, BASIC, subset)
            for subset in range(SUBSETS)
            if _error(results, epsilon, BASIC, subset) > 0
        ]
        for epsilon in plan.epsilons
    }


def _improvement(plan: Plan, results: Results) -> Iterator[Finding]:
    if not plan.compares_paper_methods:
        return
    by_epsilon = _improvements(plan, results)
    every = [share for shares in by_epsilon.values() for share in shares]
    if not all(by_epsilon.values()):  # Basic is exact somewhere: nothing to improve on
        return
    low, high = paper_numbers.IMPROVEMENT
    inside = sum(low <= share <= high for share in every)
    base = ", ".join(map(percent, by_epsilon[BASE_EPSILON]))
    yield Finding(
        "Figure 5",
        f"Constrained inference lowers the error by {percent(low)} to {percent(high)}.",
        f"By {percent(min(every))} to {percent(max(every))}, at ε = {BASE_EPSILON} by {base} in "
        f"the four subsets; {inside} of {len(every)} settings are within the paper's range.",
        verdict(inside, len(every)),
    )
    first, last = (fmean(by_epsilon[e]) for e in (plan.epsilons[0], plan.epsilons[-1]))
    yield Finding(
        "Figure 5",
        "Inference helps most when the privacy budget is small.",
        f"On average {percent(first)} lower at ε = {plan.epsilons[0]} and {percent(last)} at "
        f"ε = {plan.epsilons[-1]}.",
        "agrees" if first > max(last, 0) + MARGIN else "differs",
    )


def _errors_by_height(plan: Plan, reading: HeightReading) -> Iterator[Finding]:
    where = f"Figure 6, {reading.words}"
    empty = reading.workload.empty_error()
    if empty < SAYS_NOTHING:
        yield Finding(
            where,
            "The error by h, with a query length fixed to 6.",
            f"Hardly anybody visits all locations of such a query: even the empty release has an "
            f"error of {empty:.2g}, so these queries say nothing here.",
            "can't be compared",
        )
        return

    def curve(epsilon: str, method: Method) -> list[float]:
        return [reading.error(epsilon, height, method).mean for height in plan.heights]

    best = {
        (epsilon, method): plan.heights[int(np.argmin(curve(epsilon, method)))]
        for epsilon in plan.height_epsilons
        for method in plan.paper_methods
    }
    inside = sum(plan.heights[0] < height < plan.heights[-1] for height in best.values())
    yield Finding(
        where,
        "The error first falls with h and then rises: the best h lies in between.",
        f"The error is least at h = {', '.join(map(str, sorted(set(best.values()))))}: inside the "
        f"range for {inside} of {len(best)} curves.",
        verdict(inside, len(best)),
    )
    if not plan.compares_paper_methods:
        return
    pairs = [(epsilon, height) for epsilon in plan.height_epsilons for height in plan.heights]
    smaller = sum(
        reading.error(*pair, FULL).mean < reading.error(*pair, BASIC).mean for pair in pairs
    )
    yield Finding(
        where,
        "Inference makes the error smaller in all settings of h.",
        f"In {smaller} of {len(pairs)}.",
        verdict(smaller, len(pairs)),
    )
    steadier = sum(
        bool(np.ptp(curve(epsilon, FULL)) < np.ptp(curve(epsilon, BASIC)))
        for epsilon in plan.height_epsilons
    )
    yield Finding(
        where,
        "Inference makes the error more stable with respect to h.",
        f"Its range over h is smaller for {steadier} of {len(plan.height_epsilons)} budgets.",
        verdict(steadier, len(plan.height_epsilons)),
    )


# What tables III to V say about patterns, against the paper's claims and numbers.


def pattern_findings(plan: Plan, results: Results) -> Iterator[Finding]:
    """All of them, in the paper's order."""

    def found(epsilon: str, height: int, method: Method, k: int) -> float:
        return results.true_positives(epsilon, height, method, k).mean

    at_50 = {m: found(BASE_EPSILON, BASE_HEIGHT, m, TOP[0]) for m in plan.paper_methods}
    exact = sum(number == TOP[0] for number in at_50.values())
    yield Finding(
        "Table III",
        "The top 50 patterns are exact under both methods.",
        f"{', '.join(f'{NAMES[m]}: {n:.1f} of 50' for m, n in at_50.items())}.",
        verdict(exact, len(at_50)),
    )
    for method in plan.paper_methods:
        yield _nearness(plan, results, method)
    if not plan.compares_paper_methods:
        return
    settings = [
        *((BASE_EPSILON, BASE_HEIGHT, k) for k in TOP),
        *((epsilon, BASE_HEIGHT, BASE_TOP) for epsilon in plan.epsilons),
        *((BASE_EPSILON, height, BASE_TOP) for height in plan.heights),
    ]
    better = sum(
        found(epsilon, height, FULL, k) >= found(epsilon, height, BASIC, k)
        for epsilon, height, k in settings
    )
    yield Finding(
        "Tables III to V",
        "Inference finds at least as many true patterns in every row.",
        f"In {better} of {len(settings)} rows.",
        verdict(better, len(settings)),
    )


def _nearness(plan: Plan, results: Results, method: Method) -> Finding:
    """How far our true positives are from the printed ones, over all rows of the three tables."""
    rows = [
        *((row, (BASE_EPSILON, BASE_HEIGHT, k)) for k, row in paper_numbers.BY_K.items()),
        *(
            (paper_numbers.BY_EPSILON[epsilon], (epsilon, BASE_HEIGHT, BASE_TOP))
            for epsilon in plan.epsilons
        ),
        *(
            (paper_numbers.BY_HEIGHT[height], (BASE_EPSILON, height, BASE_TOP))
            for height in plan.heights
        ),
    ]
    printed = [row.basic if method is BASIC else row.full for row, _ in rows]
    tops = [k for _, (_, _, k) in rows]
    ours = [results.true_positives(e, h, method, k).mean for _, (e, h, k) in rows]
    gaps = [(our - their) / k for our, their, k in zip(ours, printed, tops, strict=True)]
    near = sum(abs(gap) <= 0.05 for gap in gaps)  # noqa: PLR2004  (said in the sentence below)
    return Finding(
        "Tables III to V",
        f"True positives of {NAMES[method]}, as printed (on other data).",
        f"Ours differ by {percent(min(gaps))} to {percent(max(gaps))} of k, on average by "
        f"{percent(fmean(gaps))}; {near} of {len(gaps)} rows are within 5%.",
        verdict(near, len(gaps)),
    )


# What figure 7 says about runtime, against the paper's claims.


def runtime_findings(plan: Plan, results: Results) -> Iterator[Finding]:
    """All of them, in the paper's order."""
    method: Method = plan.paper_methods[-1]
    panels: tuple[tuple[Panel, int, str], ...] = (
        ("database", plan.database_steps, "|D|"),
        ("universe", plan.universe_steps, "|L|"),
    )
    for panel, steps, name in panels:
        points = [results.runtime(panel, step, method) for step in range(1, steps + 1)]
        if len(points) > 2:  # noqa: PLR2004  (two points always lie on a line)
            sizes = [p.trajectories if panel == "database" else p.locations for p in points]
            fit = _linearity(sizes, [point.seconds.mean for point in points])
            yield Finding(
                "Figure 7",
                f"The runtime is linear in {name}.",
                f"{name} grows {sizes[-1] / sizes[0]:.1f}-fold, the time "
                f"{points[-1].seconds.mean / points[0].seconds.mean:.1f}-fold; a straight line "
                f"explains {percent(fit)} of its variance.",
                "agrees" if fit >= LINEAR else "differs",
            )
    largest = results.runtime("database", plan.database_steps, method)
    each, theirs = largest.seconds.mean / largest.trajectories, paper_numbers.SECONDS / 1_200_000
    yield Finding(
        "Figure 7",
        f"Full takes {paper_numbers.SECONDS:.0f} seconds for 1,200,000 trajectories "
        f"({1e6 * theirs:.0f} µs each; C++, 2.26 GHz), and no more than 25 in any experiment.",
        f"{NAMES[method]} takes {largest.seconds.mean:.2f} seconds for {largest.trajectories:,} "
        f"({1e6 * each:.2f} µs each).",
        "agrees" if each <= theirs else "differs",
    )
    if plan.compares_paper_methods:
        basic, full = (_total_seconds(plan, results, one) for one in PAPER_METHODS)
        extra = full / basic - 1
        yield Finding(
            "Figure 7",
            "The cost of constrained inference is negligible.",
            f"Over all sizes of the database Full takes {full:.2f} seconds and Basic {basic:.2f} "
            f"({100 * extra:+.1f}%).",
            "agrees" if extra < NEGLIGIBLE else "differs",
        )


def _total_seconds(plan: Plan, results: Results, method: Method) -> float:
    steps = range(1, plan.database_steps + 1)
    return sum(results.runtime("database", step, method).seconds.mean for step in steps)


def _linearity(sizes: list[int], seconds: list[float]) -> float:
    """R² of the least-squares line."""
    if np.ptp(seconds) == 0:
        return 1.0
    return float(np.corrcoef(sizes, seconds)[0, 1] ** 2)


# Beyond the paper: the calibrated method against Full and an empty release.


def beyond_findings(plan: Plan, results: Results, truth: Truth) -> Iterator[Finding]:
    """What the calibrated method must show; nothing if it was not run."""
    if CALIBRATED not in plan.methods:
        return

    def errors(epsilon: str, method: Method) -> list[float]:
        return [
            results.subset_error(epsilon, BASE_HEIGHT, method, subset).mean
            for subset in range(SUBSETS)
        ]

    full, ours = errors(BASE_EPSILON, FULL), errors(BASE_EPSILON, CALIBRATED)
    empty = [workload.empty_error() for workload in truth.subsets]
    better = sum(a < min(b, c) for a, b, c in zip(ours, full, empty, strict=True))
    yield Finding(
        WHERE,
        "The calibrated method has a smaller error than Full and than an empty release.",
        f"At ε = {BASE_EPSILON}: {', '.join(map(percent, ours))} against "
        f"{', '.join(map(percent, full))} (Full); smallest in {better} of {SUBSETS} subsets.",
        verdict(better, SUBSETS),
    )
    first, last = (errors(e, CALIBRATED) for e in (plan.epsilons[0], plan.epsilons[-1]))
    falling = sum(b < a for a, b in zip(first, last, strict=True))
    yield Finding(
        WHERE,
        "Its error falls when ε rises.",
        f"From ε = {plan.epsilons[0]} to {plan.epsilons[-1]} in {falling} of {SUBSETS} subsets.",
        verdict(falling, SUBSETS),
    )
    found = {
        method: [results.true_positives(BASE_EPSILON, BASE_HEIGHT, method, k).mean for k in TOP]
        for method in (FULL, CALIBRATED)
    }
    more = sum(a >= b for a, b in zip(found[CALIBRATED], found[FULL], strict=True))
    yield Finding(
        WHERE,
        "It finds at least as many of the top k patterns as Full.",
        f"{', '.join(f'{n:.1f}' for n in found[CALIBRATED])} against "
        f"{', '.join(f'{n:.1f}' for n in found[FULL])} (Full) at k = "
        f"{', '.join(map(str, TOP))}; in {more} of {len(TOP)} rows.",
        verdict(more, len(TOP)),
    )


# Where the paper and we agree and differ: its claims, our numbers, and a verdict from them.


def findings(
    plan: Plan, results: Results, truth: Truth, threshold: Threshold
) -> tuple[Finding, ...]:
    """Every claim that this plan can speak about, in the paper's order."""
    return (
        _papers_threshold(threshold),
        *error_findings(plan, results, truth),
        *pattern_findings(plan, results),
        *runtime_findings(plan, results),
        *beyond_findings(plan, results, truth),
    )


def _papers_threshold(threshold: Threshold) -> Finding:
    return Finding(
        "Section IV-A",
        "The threshold θ = 2√2·h/ε is used throughout.",
        threshold.why,
        "agrees" if threshold.paper_fits else "differs",
    )
