"""A forecast as tables, for the terminal and the page, and as JSON."""

from dataclasses import asdict, dataclass
from typing import Any

from pathveil.core.error_table import RULE
from pathveil.trials.forecasting.forecast import Run, SimulatedForecast
from pathveil.trials.forecasting.kinds import what_to_ask

WHAT_IT_IS = (
    "Simulated commuters, not your data: a home and a work stop, detours, and stops whose "
    "popularity falls off like 1/rank. Real data differ. Tried on two real datasets, the number of "
    "right top patterns came out within a quarter; the error of single locations anywhere from a "
    "sixth to 2.3 times the real one; and for taxis, which pass many cells, that of two and three "
    "locations of one journey 4 and 15 times too rosy (docs/plan.md). One run for each ε: another "
    "one can differ by a third, and with few locations by more."
)

NO_ONES = (
    "“No one's”: the share of released journeys that nobody made in just this way. Most synthetic "
    "journeys are like that; it is not an error rate. To its right: how wrong answers about one, "
    "two and three locations are."
)

SMALL = 0.1


@dataclass(frozen=True, slots=True)
class Table:
    """A table for people.

    Attributes:
        title: what it shows.
        columns: its head.
        rows: texts.
        note: a line under it, for words that could alarm; empty if it needs none.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def tables(forecast: SimulatedForecast) -> tuple[Table, ...]:
    """All tables, the most telling first."""
    return (
        by_kind(forecast.run),
        by_epsilon(forecast),
        by_locations(forecast.run),
        by_count(forecast.run),
        levels(forecast.run),
    )


def by_kind(run: Run) -> Table:
    """What one may ask."""
    return Table(
        f"ε = {run.parameters.budget}: the largest answers of each kind",
        ("answers about", "of", "reliable", "rough", "noise", "right"),
        tuple(
            (
                one.kind,
                str(one.looked_at),
                str(one.reliable),
                str(one.rough),
                str(one.noise),
                f"{one.right} of {one.top}",
            )
            for one in run.kinds
        ),
        f"Marks: {RULE}. “right”: of the truly largest, how many are among as many of the release.",
    )


def by_epsilon(forecast: SimulatedForecast) -> Table:
    """One line for each budget."""
    return Table(
        "What different budgets buy",
        # As short as this for terminals of 80 columns.
        ("ε", "kept", "no one's", "error: one", "two", "three", "top patterns right"),
        tuple(_line(run, wanted=run is forecast.run) for run in forecast.runs),
        NO_ONES,
    )


def _line(run: Run, *, wanted: bool) -> tuple[str, ...]:
    errors = [percent(question.journeys) for question in run.by_locations[:3]]
    hits = run.patterns[-1] if run.patterns else None
    return (
        f"{run.parameters.budget}{' (this plan)' if wanted else ''}",
        percent(run.kept),
        percent(run.invented),
        *errors,
        f"{hits.found} of {hits.k}" if hits else "–",
    )


def by_locations(run: Run) -> Table:
    """The error by size of the question."""
    return Table(
        f"ε = {run.parameters.budget}: average relative error of “how many visited all of these?”",
        ("locations", "some trajectory's", "(empty release)", "random ones", "(empty release)"),
        tuple(
            (
                str(question.locations),
                percent(question.journeys),
                percent(question.journeys_empty),
                percent(question.random),
                percent(question.random_empty),
            )
            for question in run.by_locations
        ),
    )


def by_count(run: Run) -> Table:
    """The error by size of the count."""
    return Table(
        f"ε = {run.parameters.budget}: how far answers are off, by the true count",
        ("true count", "median error", "median relative error", "9 in 10 are within"),
        tuple(
            (
                f"{line.least:,} to {line.below - 1:,}",
                f"{line.absolute:,.0f}",
                percent(line.relative),
                percent(line.relative_90),
            )
            for line in run.by_count
        ),
    )


def levels(run: Run) -> Table:
    """What survives of the prefix tree."""
    return Table(
        f"ε = {run.parameters.budget}: the prefix tree",
        ("level", "prefixes in the data", "survive", "invented"),
        tuple(
            (f"{line.level}", f"{line.visited:,}", f"{line.survived:,}", f"{line.invented:,}")
            for line in run.levels
        ),
    )


def percent(share: float | None) -> str:
    """A share for people, with two significant places where it is small."""
    if share is None:
        return "–"
    return f"{share:.0%}" if share >= SMALL or share == 0 else f"{100 * share:.2g}%"


def as_json(forecast: SimulatedForecast) -> dict[str, Any]:
    """For scripts: see docs/json.md."""
    return {
        "expected": asdict(forecast.expected),
        "simulated": asdict(forecast.simulated),
        "what_to_ask": what_to_ask(forecast.run.kinds),
        "cautions": forecast.expected.cautions(),
        "runs": [
            {
                "epsilon": str(run.parameters.budget),
                "is_this_plan": run is forecast.run,
                "height": run.parameters.height,
                "kept": run.kept,
                "distinct_paths": run.distinct,
                "invented": run.invented,
                "levels": [asdict(line) for line in run.levels],
                "error_by_locations": [asdict(line) for line in run.by_locations],
                "error_by_count": [asdict(line) for line in run.by_count],
                "top_patterns": [asdict(line) for line in run.patterns],
                "kinds": [asdict(line) for line in run.kinds],
            }
            for run in forecast.runs
        ],
    }
