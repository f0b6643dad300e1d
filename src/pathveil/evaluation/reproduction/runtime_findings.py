"""What figure 7 says about runtime, against the paper's claims."""

from collections.abc import Iterator

import numpy as np

from pathveil.evaluation.reproduction import paper_numbers
from pathveil.evaluation.reproduction.error_exhibits import NAMES
from pathveil.evaluation.reproduction.finding import Finding, percent
from pathveil.evaluation.reproduction.plan import PAPER_METHODS, Panel, Plan
from pathveil.evaluation.reproduction.results import Results
from pathveil.model.methods import MethodName

# A straight line that explains this share of the variance is called linear.
LINEAR = 0.95
# Inference that adds less than this share of the time is called negligible.
NEGLIGIBLE = 0.10


def runtime_findings(plan: Plan, results: Results) -> Iterator[Finding]:
    """All of them, in the paper's order."""
    method: MethodName = plan.paper_methods[-1]
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
    whole = results.runtime("database", plan.database_steps, method)
    each, theirs = whole.seconds.mean / whole.trajectories, paper_numbers.SECONDS / 1_200_000
    yield Finding(
        "Figure 7",
        f"Full takes {paper_numbers.SECONDS:.0f} seconds for 1,200,000 trajectories "
        f"({1e6 * theirs:.0f} µs each; C++, 2.26 GHz), and no more than 25 in any experiment.",
        f"{NAMES[method]} takes {whole.seconds.mean:.2f} seconds for {whole.trajectories:,} "
        f"({1e6 * each:.2f} µs each).",
        "agrees" if each <= theirs else "differs",
    )
    if plan.has_both:
        basic, full = (_total_seconds(plan, results, one) for one in PAPER_METHODS)
        extra = full / basic - 1
        yield Finding(
            "Figure 7",
            "The cost of constrained inference is negligible.",
            f"Over all sizes of the database Full takes {full:.2f} seconds and Basic {basic:.2f} "
            f"({100 * extra:+.1f}%).",
            "agrees" if extra < NEGLIGIBLE else "differs",
        )


def _total_seconds(plan: Plan, results: Results, method: MethodName) -> float:
    steps = range(1, plan.database_steps + 1)
    return sum(results.runtime("database", step, method).seconds.mean for step in steps)


def _linearity(sizes: list[int], seconds: list[float]) -> float:
    """R² of the least-squares line."""
    if np.ptp(seconds) == 0:
        return 1.0
    return float(np.corrcoef(sizes, seconds)[0, 1] ** 2)
