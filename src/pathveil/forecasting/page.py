"""plan.html: one offline page that shows what a release of such data will be worth."""

from dataclasses import dataclass
from pathlib import Path

from pathveil.errors import ParameterError
from pathveil.forecasting import tables
from pathveil.forecasting.drawing import Axes, Series, bar_chart, line_chart
from pathveil.forecasting.forecast import SimulatedForecast
from pathveil.model.certificate import CERTIFICATE_FILE
from pathveil.release.staging import write_whole
from pathveil.report.templating import templates


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A drawing with its table beside it.

    Attributes:
        svg: the drawing; empty if there is nothing to draw.
        caption: what it shows.
        table: the same in figures.
    """

    svg: str
    caption: str
    table: tables.Table


def plan_page(forecast: SimulatedForecast) -> str:
    """The page: no scripts, no network."""
    return (
        templates("forecasting")
        .get_template("plan.html")
        .render(
            parameters=forecast.run.parameters,
            expected=forecast.expected,
            simulated=forecast.simulated,
            cautions=forecast.expected.cautions(),
            what_it_is=tables.WHAT_IT_IS,
            exhibits=exhibits(forecast),
        )
    )


def check_page(path: Path) -> None:
    """Refuse a place for the page before anything is simulated.

    Raises:
        ParameterError: if it can't be written there. A page of an earlier plan is replaced.
    """
    if path.suffix.lower() not in (".html", ".htm"):
        raise ParameterError("The page of a plan must be a file that ends in .html.")
    if "\0" in str(path) or path.is_dir() or not path.absolute().parent.is_dir():
        raise ParameterError(f"Can't write {str(path)!r}: its folder must exist, and it be a file.")
    if (path.absolute().parent / CERTIFICATE_FILE).exists():
        raise ParameterError("The page must not lie inside a release, which lists its files.")


def write_page(forecast: SimulatedForecast, path: Path) -> None:
    """Write it, whole or not at all.

    Raises:
        ParameterError: if that fails.
    """
    try:
        write_whole(path, plan_page(forecast))
    except OSError as error:
        raise ParameterError(f"Can't write {str(path)!r}: {error.strerror}.") from None


def exhibits(forecast: SimulatedForecast) -> list[Exhibit]:
    """Every drawing with its table."""
    return [_budgets(forecast), _questions(forecast), _counts(forecast), _levels(forecast)]


def _budgets(forecast: SimulatedForecast) -> Exhibit:
    runs = forecast.runs
    axes = Axes(
        [str(run.parameters.budget) for run in runs],
        "ε",
        "share",
        percent=True,
        title="Error of questions about one and two locations, and top patterns found, by ε",
    )
    series = [
        Series(
            "top patterns",
            [run.patterns[-1].found / run.patterns[-1].k if run.patterns else None for run in runs],
            "kept",
        ),
        Series("error, one", [run.by_locations[0].journeys for run in runs], "wanted"),
        Series("error, two", [run.by_locations[1].journeys for run in runs], "less"),
    ]
    return Exhibit(
        line_chart(axes, series),
        "By budget: the share of the top patterns that is right (higher is better), and the "
        "average relative error of questions about one and about two locations (lower is better).",
        tables.by_epsilon(forecast),
    )


def _questions(forecast: SimulatedForecast) -> Exhibit:
    run, runs = forecast.run, forecast.runs
    shown = {0: "less", len(runs) - 1: "more"} | {forecast.wanted: "wanted"}
    axes = Axes(
        [str(question.locations) for question in run.by_locations],
        "locations in the question",
        "average relative error",
        percent=True,
        title="Average relative error by number of locations in the question",
    )
    series = [
        Series("empty", [question.journeys_empty for question in run.by_locations], "empty"),
        *(
            Series(
                f"ε = {runs[which].parameters.budget}",
                [question.journeys for question in runs[which].by_locations],
                kind,
            )
            for which, kind in shown.items()
        ),
    ]
    return Exhibit(
        line_chart(axes, series),
        "Questions about locations that lie on somebody's way, against an empty release, which "
        "answers 0. Where a line meets that of the empty release, the answers say nothing.",
        tables.by_locations(run),
    )


def _counts(forecast: SimulatedForecast) -> Exhibit:
    run = forecast.run
    axes = Axes(
        [f"{line.least:,}+" for line in run.by_count],
        "true count",
        "relative error",
        percent=True,
        title="Median relative error by size of the true count, with the ninth decile",
    )
    series = Series(
        "median",
        [line.relative for line in run.by_count],
        "wanted",
        [line.relative_90 for line in run.by_count],
    )
    return Exhibit(
        bar_chart(axes, [series]) if run.by_count else "",
        "The larger the true count, the smaller its relative error. Bars are medians; nine in ten "
        "answers are within the whisker.",
        tables.by_count(run),
    )


def _levels(forecast: SimulatedForecast) -> Exhibit:
    run = forecast.run
    axes = Axes(
        [str(line.level) for line in run.levels],
        "level",
        "nodes",
        percent=False,
        title="Nodes of the prefix tree that survive, and that are invented, by level",
    )
    series = [
        Series("survive", [float(line.survived) for line in run.levels], "kept"),
        Series("invented", [float(line.invented) for line in run.levels], "invented"),
    ]
    more = (
        " The calibrated method completes trajectories from nine more tables; the tree is only "
        "where most of them begin."
        if run.parameters.how.has_tables
        else " Trajectories end where the tree ends."
    )
    return Exhibit(
        bar_chart(axes, series) if run.levels else "",
        f"Beginnings of journeys that stand out of the noise, and such that nobody made.{more}",
        tables.levels(run),
    )
