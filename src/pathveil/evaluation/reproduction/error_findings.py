"""What figures 5 and 6 say about the error of count queries, against the paper's claims."""

from collections.abc import Iterator
from statistics import fmean

import numpy as np

from pathveil.evaluation.random_queries import SUBSETS
from pathveil.evaluation.reproduction import paper_numbers
from pathveil.evaluation.reproduction.error_exhibits import (
    NAMES,
    HeightReading,
    height_readings,
)
from pathveil.evaluation.reproduction.finding import Finding, percent, verdict
from pathveil.evaluation.reproduction.plan import BASE_EPSILON, BASE_HEIGHT, Plan
from pathveil.evaluation.reproduction.results import Results
from pathveil.evaluation.reproduction.truth import Truth
from pathveil.model.methods import MethodName

# An improvement is called larger than another if it is so by one percentage point.
MARGIN = 0.01
# Where publishing nothing has a smaller error than this, the queries have no answers to get wrong.
SAYS_NOTHING = 0.01


def error_findings(plan: Plan, results: Results, truth: Truth) -> Iterator[Finding]:
    """All of them, in the paper's order."""
    yield from _errors_by_epsilon(plan, results)
    yield from _against_empty(plan, results, truth)
    yield from _improvement(plan, results)
    for reading in height_readings(results, truth):
        yield from _errors_by_height(plan, reading)


def _error(results: Results, epsilon: str, method: MethodName, subset: int) -> float:
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
    if "full" not in plan.paper_methods:
        return
    worst = _error(results, plan.epsilons[0], "full", 0)
    yield Finding(
        "Figure 5",
        f"In the worst case (ε = 0.5, max|Q| = 3) the error of Full is below "
        f"{percent(paper_numbers.WORST_ERROR)}.",
        f"{percent(worst)}.",
        "agrees" if worst < paper_numbers.WORST_ERROR else "differs",
    )
    typical = [_error(results, BASE_EPSILON, "full", subset) for subset in range(SUBSETS)]
    below = sum(error < paper_numbers.TYPICAL_ERROR for error in typical)
    yield Finding(
        "Figure 5",
        f"At ε = 1.0 the error of Full is below {percent(paper_numbers.TYPICAL_ERROR)} in all "
        "subsets.",
        f"{', '.join(map(percent, typical))}: below in {below} of {SUBSETS}.",
        verdict(below, SUBSETS),
    )


def _against_empty(plan: Plan, results: Results, truth: Truth) -> Iterator[Finding]:
    method: MethodName = plan.paper_methods[-1]
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
            1 - _error(results, epsilon, "full", subset) / _error(results, epsilon, "basic", subset)
            for subset in range(SUBSETS)
            if _error(results, epsilon, "basic", subset) > 0
        ]
        for epsilon in plan.epsilons
    }


def _improvement(plan: Plan, results: Results) -> Iterator[Finding]:
    if not plan.has_both:
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

    def curve(epsilon: str, method: MethodName) -> list[float]:
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
    if not plan.has_both:
        return
    pairs = [(epsilon, height) for epsilon in plan.height_epsilons for height in plan.heights]
    smaller = sum(
        reading.error(*pair, "full").mean < reading.error(*pair, "basic").mean for pair in pairs
    )
    yield Finding(
        where,
        "Inference makes the error smaller in all settings of h.",
        f"In {smaller} of {len(pairs)}.",
        verdict(smaller, len(pairs)),
    )
    steadier = sum(
        bool(np.ptp(curve(epsilon, "full")) < np.ptp(curve(epsilon, "basic")))
        for epsilon in plan.height_epsilons
    )
    yield Finding(
        where,
        "Inference makes the error more stable with respect to h.",
        f"Its range over h is smaller for {steadier} of {len(plan.height_epsilons)} budgets.",
        verdict(steadier, len(plan.height_epsilons)),
    )
