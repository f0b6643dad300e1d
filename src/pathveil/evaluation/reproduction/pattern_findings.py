"""What tables III to V say about patterns, against the paper's claims and numbers."""

from collections.abc import Iterator
from statistics import fmean

from pathveil.evaluation.reproduction import paper_numbers
from pathveil.evaluation.reproduction.error_exhibits import NAMES
from pathveil.evaluation.reproduction.finding import Finding, percent, verdict
from pathveil.evaluation.reproduction.plan import (
    BASE_EPSILON,
    BASE_HEIGHT,
    BASE_TOP,
    TOP,
    Plan,
)
from pathveil.evaluation.reproduction.results import Results
from pathveil.model.methods import BASIC, MethodName


def pattern_findings(plan: Plan, results: Results) -> Iterator[Finding]:
    """All of them, in the paper's order."""

    def found(epsilon: str, height: int, method: MethodName, k: int) -> float:
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
    if not plan.has_both:
        return
    settings = [
        *((BASE_EPSILON, BASE_HEIGHT, k) for k in TOP),
        *((epsilon, BASE_HEIGHT, BASE_TOP) for epsilon in plan.epsilons),
        *((BASE_EPSILON, height, BASE_TOP) for height in plan.heights),
    ]
    better = sum(
        found(epsilon, height, "full", k) >= found(epsilon, height, "basic", k)
        for epsilon, height, k in settings
    )
    yield Finding(
        "Tables III to V",
        "Inference finds at least as many true patterns in every row.",
        f"In {better} of {len(settings)} rows.",
        verdict(better, len(settings)),
    )


def _nearness(plan: Plan, results: Results, method: MethodName) -> Finding:
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
    printed = [row.basic if method == BASIC.name else row.full for row, _ in rows]
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
