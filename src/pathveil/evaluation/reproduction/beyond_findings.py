"""Beyond the paper: the calibrated method against Full and an empty release."""

from collections.abc import Iterator

from pathveil.evaluation.random_queries import SUBSETS
from pathveil.evaluation.reproduction.finding import Finding, percent, verdict
from pathveil.evaluation.reproduction.plan import BASE_EPSILON, BASE_HEIGHT, TOP, Plan
from pathveil.evaluation.reproduction.results import Results
from pathveil.evaluation.reproduction.truth import Truth
from pathveil.model.methods import MethodName

WHERE = "Beyond the paper"


def beyond_findings(plan: Plan, results: Results, truth: Truth) -> Iterator[Finding]:
    """What the calibrated method must show; nothing if it was not run."""
    if "calibrated" not in plan.methods:
        return

    def errors(epsilon: str, method: MethodName) -> list[float]:
        return [
            results.subset_error(epsilon, BASE_HEIGHT, method, subset).mean
            for subset in range(SUBSETS)
        ]

    full, ours = errors(BASE_EPSILON, "full"), errors(BASE_EPSILON, "calibrated")
    empty = [workload.empty_error() for workload in truth.subsets]
    better = sum(a < min(b, c) for a, b, c in zip(ours, full, empty, strict=True))
    yield Finding(
        WHERE,
        "The calibrated method has a smaller error than Full and than an empty release.",
        f"At ε = {BASE_EPSILON}: {', '.join(map(percent, ours))} against "
        f"{', '.join(map(percent, full))} (Full); smallest in {better} of {SUBSETS} subsets.",
        verdict(better, SUBSETS),
    )
    first, last = (errors(e, "calibrated") for e in (plan.epsilons[0], plan.epsilons[-1]))
    falling = sum(b < a for a, b in zip(first, last, strict=True))
    yield Finding(
        WHERE,
        "Its error falls when ε rises.",
        f"From ε = {plan.epsilons[0]} to {plan.epsilons[-1]} in {falling} of {SUBSETS} subsets.",
        verdict(falling, SUBSETS),
    )
    found = {
        method: [results.true_positives(BASE_EPSILON, BASE_HEIGHT, method, k).mean for k in TOP]
        for method in ("full", "calibrated")
    }
    more = sum(a >= b for a, b in zip(found["calibrated"], found["full"], strict=True))
    yield Finding(
        WHERE,
        "It finds at least as many of the top k patterns as Full.",
        f"{', '.join(f'{n:.1f}' for n in found['calibrated'])} against "
        f"{', '.join(f'{n:.1f}' for n in found['full'])} (Full) at k = "
        f"{', '.join(map(str, TOP))}; in {more} of {len(TOP)} rows.",
        verdict(more, len(TOP)),
    )
