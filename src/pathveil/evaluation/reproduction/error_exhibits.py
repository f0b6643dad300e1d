"""Figures 4 to 6: lengths, and the error of count queries by ε and by h."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pathveil.analysis.flows import LengthCounts
from pathveil.evaluation import charts
from pathveil.evaluation.reproduction.exhibit import Exhibit, Value, shown
from pathveil.evaluation.reproduction.plan import BASE_HEIGHT, FIXED_LENGTH, FIXED_SUBSET, Plan
from pathveil.evaluation.reproduction.results import Results, Statistic
from pathveil.evaluation.reproduction.truth import Truth, Workload
from pathveil.model.methods import MethodName

EMPTY = "empty release"
NAMES: dict[MethodName, str] = {"basic": "Basic", "full": "Full", "calibrated": "calibrated"}
ERROR = "average relative error"
LONGEST_SHOWN = 60
PLACES = 3


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
            panel = f"max|Q| = {most}"
            for method in plan.methods:
                error = results.subset_error(epsilon, BASE_HEIGHT, method, subset)
                rows.append((epsilon, most, method, *_csv(error), empty[subset]))
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
        shown_columns=("MethodName", "ε", *(f"max|Q| = {most}" for most in longest)),
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
            yield (NAMES[method], epsilon, *(shown(error, PLACES) for error in errors))
    yield (EMPTY, "any", *(f"{error:.{PLACES}f}" for error in empty))


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
    error: Callable[[str, int, MethodName], Statistic]


def height_readings(results: Results, truth: Truth) -> tuple[HeightReading, HeightReading]:
    """Exactly 6 locations, and the subset max|Q| = 6 of Fig. 5."""
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
                rows.append((epsilon, height, method, *_csv(error), empty))
                drawn.append(_point("h", height, NAMES[method], error, panel))
            drawn.append(_point("h", height, EMPTY, Statistic(empty, 0, 1), panel))
    title = f"Figure 6: error of count queries by h ({reading.words})"
    return Exhibit(
        stem=reading.stem,
        title=title,
        note=f"{len(reading.workload.queries):,} random queries of {reading.words}; B is the "
        'budget ε. The paper says "query length fixed to 6", which can be read in two ways: as '
        "exactly 6 locations, or as the subset max|Q| = 6 of Figure 5.",
        columns=("epsilon", "height", "method", "mean", "spread", "runs", EMPTY),
        rows=tuple(rows),
        shown_columns=("MethodName", "B", *(f"h = {height}" for height in plan.heights)),
        shown_rows=tuple(_height_rows(plan, reading, empty)),
        svg=_drawing(drawn, "h", plan, title),
    )


def _height_rows(plan: Plan, reading: HeightReading, empty: float) -> Iterator[tuple[Value, ...]]:
    for method in plan.methods:
        for epsilon in plan.height_epsilons:
            errors = [reading.error(epsilon, height, method) for height in plan.heights]
            yield (NAMES[method], epsilon, *(shown(error, PLACES) for error in errors))
    yield (EMPTY, "any", *(f"{empty:.{PLACES}f}" for _ in plan.heights))


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
