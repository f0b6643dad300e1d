"""Where the paper and we agree and differ: its claims, our numbers, and a verdict from them."""

from pathveil.evaluation.reproduction.beyond_findings import beyond_findings
from pathveil.evaluation.reproduction.error_findings import error_findings
from pathveil.evaluation.reproduction.finding import Finding
from pathveil.evaluation.reproduction.pattern_findings import pattern_findings
from pathveil.evaluation.reproduction.plan import Plan
from pathveil.evaluation.reproduction.results import Results
from pathveil.evaluation.reproduction.runtime_findings import runtime_findings
from pathveil.evaluation.reproduction.threshold import Threshold
from pathveil.evaluation.reproduction.truth import Truth


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
