"""Figure 7: how long a release takes, by |D| and by |L|."""

from pathveil.evaluation import charts
from pathveil.evaluation.reproduction.error_exhibits import NAMES
from pathveil.evaluation.reproduction.exhibit import Exhibit, Value, shown
from pathveil.evaluation.reproduction.plan import BASE_EPSILON, RUNTIME_HEIGHT, Panel, Plan
from pathveil.evaluation.reproduction.results import Results, RuntimePoint


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
                (point.trajectories, point.locations, method, time.mean, time.spread, time.runs)
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
