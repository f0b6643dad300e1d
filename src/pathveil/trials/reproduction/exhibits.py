"""The figures and tables of the reproduction: their numbers, their drawings, their words."""

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from io import StringIO
from typing import TypeVar

from pathveil.analysis.flows import LengthCounts
from pathveil.core.methods import BASIC, CALIBRATED, FULL, Method
from pathveil.trials.evaluation import charts
from pathveil.trials.reproduction import paper_numbers
from pathveil.trials.reproduction.paper_numbers import TruePositives
from pathveil.trials.reproduction.plan import (
    BASE_EPSILON,
    BASE_HEIGHT,
    BASE_TOP,
    FIXED_LENGTH,
    FIXED_SUBSET,
    RUNTIME_HEIGHT,
    TOP,
    Panel,
    Plan,
)
from pathveil.trials.reproduction.results import Results, RuntimePoint, Statistic
from pathveil.trials.reproduction.runs import Truth, Workload

Value = str | int | float
EMPTY = "empty release"
NAMES = {BASIC: "Basic", FULL: "Full", CALIBRATED: "calibrated"}
ERROR = "average relative error"
LONGEST_SHOWN = 60
DECIMALS = 3


# A figure or table of the reproduction: its numbers, its drawing, its words.


@dataclass(frozen=True, slots=True)
class Exhibit:
    """One figure or table.

    Attributes:
        stem: the file name without ``INTERNAL-`` and ending.
        title: as on the page.
        note: what one must know to read it.
        columns: of the CSV file.
        rows: of the CSV file, one observation each.
        shown_columns: of the table on the page.
        shown_rows: of the table on the page.
        svg: the drawing, if there is one.
    """

    stem: str
    title: str
    note: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    shown_columns: tuple[str, ...]
    shown_rows: tuple[tuple[Value, ...], ...]
    svg: str | None = None

    def to_csv(self) -> str:
        """The rows as CSV."""
        text = StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        return text.getvalue()


def shown(statistic: Statistic, decimals: int) -> str:
    """Mean ± spread for people."""
    mean = f"{statistic.mean:,.{decimals}f}"
    return f"{mean} ± {statistic.spread:,.{decimals}f}" if statistic.runs > 1 else mean


# Figures 4 to 6: lengths, and the error of count queries by ε and by h.


def lengths_exhibit(lengths: LengthCounts) -> Exhibit:
    """Fig. 4: how long trajectories are."""
    rows = tuple(lengths.to_rows())
    drawn = [
        {"length": length, "trajectories": count, "series": "raw data"}
        for length, count in rows
        if length <= LONGEST_SHOWN
    ]
    title = "Figure 4: length of trajectories"
    return Exhibit(
        stem="figure-4-lengths",
        title=title,
        note=f"The drawing ends at {LONGEST_SHOWN} locations; the CSV file has all lengths.",
        columns=("length", "trajectories"),
        rows=rows,
        shown_columns=(),
        shown_rows=(),
        svg=charts.lines(drawn, x="length", y="trajectories", series=("raw data",), title=title),
    )


def budget_exhibit(plan: Plan, results: Results, truth: Truth) -> Exhibit:
    """Fig. 5: error by ε in the four subsets, at h = 12."""
    empty = [workload.empty_error() for workload in truth.subsets]
    longest = [workload.queries.longest for workload in truth.subsets]
    rows: list[tuple[Value, ...]] = []
    drawn: list[dict[str, object]] = []
    for epsilon in plan.epsilons:
        for subset, most in enumerate(longest):
            panel = f"up to {most} locations"
            for method in plan.methods:
                error = results.subset_error(epsilon, BASE_HEIGHT, method, subset)
                rows.append((epsilon, most, method.name, *_csv(error), empty[subset]))
                drawn.append(_point("ε", float(epsilon), NAMES[method], error, panel))
            drawn.append(_point("ε", float(epsilon), EMPTY, Statistic(empty[subset], 0, 1), panel))
    title = f"Figure 5: error of count queries by ε (h = {BASE_HEIGHT})"
    return Exhibit(
        stem="figure-5-error-by-epsilon",
        title=title,
        note=f"{plan.queries:,} random queries in four subsets, the same for every ε, method and "
        "run. The grey line is the empty release. Bands and ± are one standard deviation over "
        "runs.",
        columns=("epsilon", "max_query_length", "method", "mean", "spread", "runs", EMPTY),
        rows=tuple(rows),
        shown_columns=("Method", "ε", *(f"up to {most} locations" for most in longest)),
        shown_rows=tuple(_budget_rows(plan, results, empty)),
        svg=_drawing(drawn, "ε", plan, title),
    )


def _budget_rows(plan: Plan, results: Results, empty: list[float]) -> Iterator[tuple[Value, ...]]:
    for method in plan.methods:
        for epsilon in plan.epsilons:
            errors = [
                results.subset_error(epsilon, BASE_HEIGHT, method, subset)
                for subset in range(len(empty))
            ]
            yield (NAMES[method], epsilon, *(shown(error, DECIMALS) for error in errors))
    yield (EMPTY, "any", *(f"{error:.{DECIMALS}f}" for error in empty))


@dataclass(frozen=True, slots=True)
class HeightReading:
    """One reading of "query length fixed to 6" (Fig. 6).

    Attributes:
        stem: of the exhibit's files.
        words: which queries.
        workload: those queries.
        error: their error at (ε, h, method).
    """

    stem: str
    words: str
    workload: Workload
    error: Callable[[str, int, Method], Statistic]


def height_readings(results: Results, truth: Truth) -> tuple[HeightReading, HeightReading]:
    """Exactly 6 locations, and the subset of up to 6 locations of Fig. 5."""
    return (
        HeightReading(
            "figure-6-error-by-height",
            f"exactly {FIXED_LENGTH} locations",
            truth.fixed,
            results.fixed_error,
        ),
        HeightReading(
            "figure-6-error-by-height-up-to-6",
            f"1 to {truth.subsets[FIXED_SUBSET].queries.longest} locations",
            truth.subsets[FIXED_SUBSET],
            lambda epsilon, height, method: results.subset_error(
                epsilon, height, method, FIXED_SUBSET
            ),
        ),
    )


def height_exhibit(plan: Plan, reading: HeightReading) -> Exhibit:
    """Fig. 6: error by h, under one reading of its queries."""
    empty = reading.workload.empty_error()
    rows: list[tuple[Value, ...]] = []
    drawn: list[dict[str, object]] = []
    for epsilon in plan.height_epsilons:
        panel = f"B = {epsilon}"
        for height in plan.heights:
            for method in plan.methods:
                error = reading.error(epsilon, height, method)
                rows.append((epsilon, height, method.name, *_csv(error), empty))
                drawn.append(_point("h", height, NAMES[method], error, panel))
            drawn.append(_point("h", height, EMPTY, Statistic(empty, 0, 1), panel))
    title = f"Figure 6: error of count queries by h ({reading.words})"
    return Exhibit(
        stem=reading.stem,
        title=title,
        note=f"{len(reading.workload.queries):,} random queries of {reading.words}; B is the "
        'budget ε. The paper says "query length fixed to 6", which can be read in two ways: as '
        "exactly 6 locations, or as the subset of up to 6 locations of Figure 5.",
        columns=("epsilon", "height", "method", "mean", "spread", "runs", EMPTY),
        rows=tuple(rows),
        shown_columns=("Method", "B", *(f"h = {height}" for height in plan.heights)),
        shown_rows=tuple(_height_rows(plan, reading, empty)),
        svg=_drawing(drawn, "h", plan, title),
    )


def _height_rows(plan: Plan, reading: HeightReading, empty: float) -> Iterator[tuple[Value, ...]]:
    for method in plan.methods:
        for epsilon in plan.height_epsilons:
            errors = [reading.error(epsilon, height, method) for height in plan.heights]
            yield (NAMES[method], epsilon, *(shown(error, DECIMALS) for error in errors))
    yield (EMPTY, "any", *(f"{empty:.{DECIMALS}f}" for _ in plan.heights))


def _csv(statistic: Statistic) -> tuple[float, float, int]:
    return statistic.mean, statistic.spread, statistic.runs


def _point(x: str, at: float, series: str, error: Statistic, panel: str) -> dict[str, object]:
    return {
        x: at,
        ERROR: error.mean,
        "low": error.mean - error.spread,
        "high": error.mean + error.spread,
        "series": series,
        "panel": panel,
    }


def _drawing(drawn: list[dict[str, object]], x: str, plan: Plan, title: str) -> str:
    series = (*(NAMES[method] for method in plan.methods), EMPTY)
    return charts.lines(drawn, x=x, y=ERROR, series=series, title=title, columns="panel")


# Tables III to V: the top k patterns by k, by ε and by h, beside the paper's numbers.


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
                    method.name,
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


def _printed(numbers: TruePositives, method: Method, k: int) -> tuple[Value, Value]:
    """The paper's true and false positives; it knows nothing of the calibrated method."""
    known = {BASIC: numbers.basic, FULL: numbers.full}
    if method not in known:
        return "", ""
    found = known[method]
    return found, k - found


# Figure 7: how long a release takes, by |D| and by |L|.


def runtime_exhibits(plan: Plan, results: Results) -> tuple[Exhibit, Exhibit]:
    """Fig. 7a and 7b."""
    return (
        _exhibit(
            plan,
            results,
            "database",
            stem="figure-7a-runtime-by-database-size",
            title="Figure 7a: runtime by |D|",
            note="Random trajectories of the dataset.",
        ),
        _exhibit(
            plan,
            results,
            "universe",
            stem="figure-7b-runtime-by-universe-size",
            title="Figure 7b: runtime by |L|",
            note="Locations outside a random part of the universe are removed; the number of "
            "trajectories is the same for all sizes.",
        ),
    )


def _exhibit(
    plan: Plan, results: Results, panel: Panel, *, stem: str, title: str, note: str
) -> Exhibit:
    steps = plan.database_steps if panel == "database" else plan.universe_steps
    x = "|D|" if panel == "database" else "|L|"
    rows: list[tuple[Value, ...]] = []
    shown_rows: list[tuple[Value, ...]] = []
    drawn: list[dict[str, object]] = []
    for step in range(1, steps + 1):
        points = [results.runtime(panel, step, method) for method in plan.methods]
        for method, point in zip(plan.methods, points, strict=True):
            time = point.seconds
            rows.append(
                (
                    point.trajectories,
                    point.locations,
                    method.name,
                    time.mean,
                    time.spread,
                    time.runs,
                )
            )
            drawn.append(
                {
                    x: _size(panel, point),
                    "seconds": time.mean,
                    "low": time.mean - time.spread,
                    "high": time.mean + time.spread,
                    "series": NAMES[method],
                }
            )
        sizes = (f"{points[0].trajectories:,}", f"{points[0].locations:,}")
        shown_rows.append((*sizes, *(shown(point.seconds, 3) for point in points)))
    names = [NAMES[method] for method in plan.methods]
    return Exhibit(
        stem=stem,
        title=title,
        note=f"{note} ε = {BASE_EPSILON}, h = {RUNTIME_HEIGHT}; CPU seconds from the database in "
        "memory to the release in memory, one process, after compilation, the best of three.",
        columns=("trajectories", "locations", "method", "seconds", "spread", "runs"),
        rows=tuple(rows),
        shown_columns=("|D|", "|L|", *(f"{name}, seconds" for name in names)),
        shown_rows=tuple(shown_rows),
        svg=charts.lines(drawn, x=x, y="seconds", series=names, title=title),
    )


def _size(panel: Panel, point: RuntimePoint) -> int:
    return point.trajectories if panel == "database" else point.locations
