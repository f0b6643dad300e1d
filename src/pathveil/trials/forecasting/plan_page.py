"""plan.html: one offline page that shows what a release will be worth, and its charts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import floor, log10
from pathlib import Path

from pathveil.errors import ParameterError
from pathveil.folders import write_atomically
from pathveil.pages.report import templates
from pathveil.promise.certificate import CERTIFICATE_FILE
from pathveil.trials.forecasting import forecast_tables
from pathveil.trials.forecasting.forecast import SimulatedForecast
from pathveil.trials.forecasting.kinds import what_to_ask

WIDTH, HEIGHT = 520, 260
LEFT, RIGHT, TOP, BOTTOM = 56, 120, 14, 44
TICKS = 4
ROUND = (1, 2, 2.5, 5, 10)


# Two small charts as SVG text, drawn by hand: they follow the page's light and dark colours.
#
# Lines differ by their dashes too, not by colour alone.


@dataclass(frozen=True, slots=True)
class Series:
    """One line, or one bar of every group.

    Attributes:
        name: what it is.
        values: one for each tick of the horizontal axis; None where there is none.
        kind: its CSS class: "wanted", "less", "more", "empty", "kept" or "invented".
        high: the upper end of a whisker for each bar; empty for none.
    """

    name: str
    values: Sequence[float | None]
    kind: str
    high: Sequence[float | None] = ()


@dataclass(frozen=True, slots=True)
class Axes:
    """What stands along the axes.

    Attributes:
        ticks: the labels of the horizontal axis.
        x: its title.
        y: the title of the vertical axis.
        percent: whether values are shares.
        title: what the chart shows, for those who can't see it.
    """

    ticks: Sequence[str]
    x: str
    y: str
    percent: bool
    title: str


def line_chart(axes: Axes, series: Sequence[Series]) -> str:
    """A line for each series, and which is which beside them."""
    top = _top(series)
    parts = [*_frame(axes, top)]
    for which, one in enumerate(series):
        points = [
            (_middle(i, len(axes.ticks)), _height(value, top))
            for i, value in enumerate(one.values)
            if value is not None
        ]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline class="line {one.kind}" points="{path}"/>')
        parts += [
            f'<circle class="dot {one.kind}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in points
        ]
        x, y = WIDTH - RIGHT + 8, TOP + 6 + 18 * which
        parts.append(f'<path class="line {one.kind}" d="M{x} {y}h24"/>')
        parts.append(_text(x + 30, y + 4, one.name, "start"))
    return _svg(axes, parts)


def bar_chart(axes: Axes, series: Sequence[Series]) -> str:
    """Bars side by side at every tick; a whisker reaches up to ``high``."""
    top = _top(series)
    parts = [*_frame(axes, top)]
    step = (WIDTH - LEFT - RIGHT) / max(len(axes.ticks), 1)
    width = 0.7 * step / max(len(series), 1)
    for which, one in enumerate(series):
        for i, value in enumerate(one.values):
            if value is None:
                continue
            x = _middle(i, len(axes.ticks)) + (which - len(series) / 2) * width
            y = _height(value, top)
            size = f'width="{width:.1f}" height="{HEIGHT - BOTTOM - y:.1f}"'
            parts.append(f'<rect class="bar {one.kind}" x="{x:.1f}" y="{y:.1f}" {size}/>')
            high = one.high[i] if one.high else None
            if high is not None:
                middle, end = x + width / 2, _height(high, top)
                parts.append(f'<path class="whisker" d="M{middle:.1f} {y:.1f}V{end:.1f}m-5 0h10"/>')
        y = TOP + 10 + 18 * which
        key = f'x="{WIDTH - RIGHT + 8}" y="{y - 9}" width="10" height="10"'
        parts.append(f'<rect class="bar {one.kind}" {key}/>')
        parts.append(_text(WIDTH - RIGHT + 22, y, one.name, "start"))
    return _svg(axes, parts)


def _top(series: Sequence[Series]) -> float:
    """The end of the vertical axis: all fits below it, and its ticks are round."""
    shown = [v for one in series for v in (*one.values, *one.high) if v is not None]
    least = (max(shown, default=1.0) or 1.0) / TICKS
    power = 10.0 ** floor(log10(least))
    return TICKS * power * next(step for step in ROUND if step * power >= least * (1 - 1e-9))


def _middle(tick: int, ticks: int) -> float:
    return LEFT + (tick + 0.5) * (WIDTH - LEFT - RIGHT) / ticks


def _height(value: float, top: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / top


def _frame(axes: Axes, top: float) -> Iterator[str]:
    for i in range(TICKS + 1):
        value = top * i / TICKS
        y = _height(value, top)
        yield f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>'
        shown = f"{100 * value:.3g}%" if axes.percent else f"{value:,.4g}"
        yield _text(LEFT - 6, y + 4, shown, "end")
    for i, tick in enumerate(axes.ticks):
        yield _text(_middle(i, len(axes.ticks)), HEIGHT - BOTTOM + 16, tick, "middle")
    yield _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, axes.x, "middle")
    middle = (TOP + HEIGHT - BOTTOM) / 2
    yield (
        f'<text transform="translate(12 {middle:.0f}) rotate(-90)" text-anchor="middle">'
        f"{escape(axes.y)}</text>"
    )


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _svg(axes: Axes, parts: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(axes.title)}">'
        f"{''.join(parts)}</svg>"
    )


# plan.html: one offline page that shows what a release of such data will be worth.


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
    table: forecast_tables.Table


def plan_page(forecast: SimulatedForecast) -> str:
    """The page: no scripts, no network."""
    return (
        templates("trials.forecasting")
        .get_template("plan.html")
        .render(
            parameters=forecast.run.parameters,
            expected=forecast.expected,
            simulated=forecast.simulated,
            cautions=forecast.expected.cautions(),
            what_it_is=forecast_tables.WHAT_IT_IS,
            what_to_ask=what_to_ask(forecast.run.kinds),
            by_kind=forecast_tables.by_kind(forecast.run),
            exhibits=exhibits(forecast),
        )
    )


def check_page(path: Path) -> None:
    """Refuse a path for the page before anything is simulated.

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
        write_atomically(path, plan_page(forecast))
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
        forecast_tables.by_epsilon(forecast),
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
        forecast_tables.by_locations(run),
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
        forecast_tables.by_count(run),
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
        " The calibrated method completes trajectories from the other tables; the tree is only "
        "where most of them begin."
        if run.parameters.how.has_tables
        else " Trajectories end where the tree ends."
    )
    return Exhibit(
        bar_chart(axes, series) if run.levels else "",
        f"Beginnings of journeys that stand out of the noise, and such that nobody made.{more}",
        forecast_tables.levels(run),
    )
