"""Tables III to V: the top k patterns by k, by ε and by h, beside the paper's numbers."""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from pathveil.evaluation.reproduction import paper_numbers
from pathveil.evaluation.reproduction.error_exhibits import NAMES
from pathveil.evaluation.reproduction.exhibit import Exhibit, Value, shown
from pathveil.evaluation.reproduction.paper_numbers import TruePositives
from pathveil.evaluation.reproduction.plan import (
    BASE_EPSILON,
    BASE_HEIGHT,
    BASE_TOP,
    TOP,
    Plan,
)
from pathveil.evaluation.reproduction.results import Results
from pathveil.model.methods import BASIC, FULL, MethodName

Key = TypeVar("Key", bound=str | int)
Setting = tuple[str, int, int]
"""(ε, h, k)."""


def table_by_k(plan: Plan, results: Results) -> Exhibit:
    """Table III."""
    return _table(
        plan,
        results,
        stem="table-3-patterns-by-k",
        title=f"Table III: top patterns by k (ε = {BASE_EPSILON}, h = {BASE_HEIGHT})",
        varied="k",
        keys=TOP,
        setting=lambda k: (BASE_EPSILON, BASE_HEIGHT, k),
        paper=paper_numbers.BY_K,
    )


def table_by_epsilon(plan: Plan, results: Results) -> Exhibit:
    """Table IV."""
    return _table(
        plan,
        results,
        stem="table-4-patterns-by-epsilon",
        title=f"Table IV: top {BASE_TOP} patterns by ε (h = {BASE_HEIGHT})",
        varied="epsilon",
        keys=plan.epsilons,
        setting=lambda epsilon: (epsilon, BASE_HEIGHT, BASE_TOP),
        paper=paper_numbers.BY_EPSILON,
    )


def table_by_height(plan: Plan, results: Results) -> Exhibit:
    """Table V."""
    return _table(
        plan,
        results,
        stem="table-5-patterns-by-height",
        title=f"Table V: top {BASE_TOP} patterns by h (ε = {BASE_EPSILON})",
        varied="height",
        keys=plan.heights,
        setting=lambda height: (BASE_EPSILON, height, BASE_TOP),
        paper=paper_numbers.BY_HEIGHT,
    )


def _table(
    plan: Plan,
    results: Results,
    *,
    stem: str,
    title: str,
    varied: str,
    keys: Iterable[Key],
    setting: Callable[[Key], Setting],
    paper: Mapping[Key, TruePositives],
) -> Exhibit:
    rows: list[tuple[Value, ...]] = []
    shown_rows: list[tuple[Value, ...]] = []
    for key in keys:
        line: list[Value] = [key]
        for method in plan.methods:
            epsilon, height, k = setting(key)
            found = results.true_positives(epsilon, height, method, k)
            wrong = results.false_positives(epsilon, height, method, k)
            dropped = results.false_drops(epsilon, height, method, k)
            printed = _printed(paper[key], method, k)
            rows.append(
                (
                    key,
                    method,
                    found.mean,
                    found.spread,
                    wrong.mean,
                    dropped.mean,
                    found.runs,
                    *printed,
                )
            )
            line += [shown(found, 1), shown(wrong, 1), *printed]
        shown_rows.append(tuple(line))
    columns = ("TP", "FP", "TP, paper", "FP, paper")
    return Exhibit(
        stem=stem,
        title=title,
        note="True positives (TP) and false positives (FP); false drops equal the false positives "
        "unless a side has fewer than k patterns (the CSV file has both). The paper's columns are "
        "its own, on its STM data.",
        columns=(
            varied,
            "method",
            "true_positives",
            "spread",
            "false_positives",
            "false_drops",
            "runs",
            "paper_true_positives",
            "paper_false_positives",
        ),
        rows=tuple(rows),
        shown_columns=(
            varied,
            *(f"{NAMES[method]} {column}" for method in plan.methods for column in columns),
        ),
        shown_rows=tuple(shown_rows),
    )


def _printed(numbers: TruePositives, method: MethodName, k: int) -> tuple[Value, Value]:
    """The paper's true and false positives; it knows nothing of the calibrated method."""
    known = {BASIC.name: numbers.basic, FULL.name: numbers.full}
    if method not in known:
        return "", ""
    found = known[method]
    return found, k - found
