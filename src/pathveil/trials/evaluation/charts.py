"""Charts as SVG text for pages that work offline. Altair draws, vl-convert renders.

No chart shows a location's label, so no label can become markup.
"""

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from pathveil.errors import ParameterError

Rows = Sequence[Mapping[str, object]]

_BLUE, _ORANGE, _GREEN, _GREY = "#2f6f9f", "#c2571a", "#2e7d4f", "#8a8a8a"
_COLOURS = {
    "raw data": _BLUE,
    "release": _ORANGE,
    "Basic": _BLUE,
    "Full": _ORANGE,
    "calibrated": _GREEN,
    "empty release": _GREY,
}
WIDTH, HEIGHT = 460, 260


def altair() -> Any:
    """The drawing library, an optional dependency that takes a second to import.

    Raises:
        ParameterError: if it is not installed.
    """
    try:
        import altair as alt
        import vl_convert  # noqa: F401  (checked here, so that a run fails before it computes)
    except ImportError:
        raise ParameterError(
            "Drawing needs altair and vl-convert: install pathveil[evaluation]."
        ) from None
    return alt


def to_svg(chart: Any, *, title: str) -> str:
    """Render a chart offline, with its title and the INTERNAL mark drawn into it."""
    import vl_convert

    alt = altair()
    marked = chart.properties(
        title=alt.TitleParams(title, subtitle="INTERNAL: computed from raw data", anchor="start")
    ).configure(
        aria=False,  # one description per dot is no help; the caption and the table are
        background="white",
        font="system-ui, sans-serif",
        axis=alt.AxisConfig(labelFontSize=11, titleFontSize=12, titleFontWeight="normal"),
    )
    drawn: str = vl_convert.vegalite_to_svg(marked.to_dict())
    # One picture with a name, for whoever hears the page; its parts have none of their own.
    silent = re.sub(r' (?:role|aria-\w+)="[^"]*"', "", drawn)
    return silent.replace("<svg ", f'<svg role="img" aria-label="{escape(title)}" ', 1)


def palette(series: Sequence[str]) -> Any:
    """The colour of each series, the same on every chart."""
    return altair().Scale(domain=list(series), range=[_COLOURS[one] for one in series])


def bars(rows: Rows, *, x: str, y: str, series: Sequence[str], title: str) -> str:
    """Grouped bars: categories ``x`` in their given order, values ``y``, one bar per series."""
    alt = altair()
    chart = (
        alt.Chart(alt.Data(values=list(rows)), width=WIDTH, height=HEIGHT)
        .mark_bar()
        .encode(
            x=alt.X(f"{x}:N", sort=None, axis=alt.Axis(labelAngle=0)),
            xOffset=alt.XOffset("series:N", sort=list(series)),
            y=alt.Y(f"{y}:Q"),
            color=alt.Color("series:N", scale=palette(series), title=None, legend=_legend()),
        )
    )
    return to_svg(chart, title=title)


def _legend(**more: Any) -> Any:
    """Above the chart, where it has room, and whole."""
    return altair().Legend(orient="top", labelLimit=0, **more)


def dots(rows: Rows, *, x: str, y: str, title: str) -> str:
    """A scatter of truth against release on square-root axes, with the diagonal."""
    alt = altair()
    most = max((float(str(row[c])) for row in rows for c in (x, y)), default=1.0)
    scale = alt.Scale(type="sqrt", domain=[0, most])
    points = (
        alt.Chart(alt.Data(values=list(rows)), width=WIDTH, height=HEIGHT)
        .mark_circle(size=18, opacity=0.5, color=_BLUE)
        .encode(x=alt.X(f"{x}:Q", scale=scale), y=alt.Y(f"{y}:Q", scale=scale))
    )
    diagonal = (
        alt.Chart(alt.Data(values=[{x: 0, y: 0}, {x: most, y: most}]))
        .mark_line(strokeDash=[4, 4], color=_GREY)
        .encode(x=f"{x}:Q", y=f"{y}:Q")
    )
    return to_svg(diagonal + points, title=title)


def lines(
    rows: Rows,
    *,
    x: str,
    y: str,
    series: Sequence[str],
    title: str,
    columns: str | None = None,
    is_whole: bool = False,
) -> str:
    """A line per series over a numeric axis, with a band from ``low`` to ``high`` where rows say.

    Args:
        rows: with the keys ``x``, ``y`` and "series"; all or none with "low" and "high".
        x: the name of the horizontal axis.
        y: the name of the vertical axis.
        series: the series, in the order of their colours.
        title: drawn above.
        columns: draw one small chart per value of this key, side by side.
        is_whole: whether ``x`` has whole numbers only, and so its ticks.
    """
    alt = altair()
    legend = _legend(symbolOpacity=1, symbolType="stroke", symbolStrokeWidth=3)
    colour = alt.Color("series:N", scale=palette(series), title=None, legend=legend)
    axis = alt.Axis(tickMinStep=1, format="d") if is_whole else alt.Undefined
    horizontal = alt.X(f"{x}:Q", scale=alt.Scale(zero=False), axis=axis)
    width, height = (WIDTH, HEIGHT) if columns is None else (WIDTH // 2, HEIGHT // 2 + 30)
    base = alt.Chart(width=width, height=height)
    layers = base.mark_line(point=True).encode(x=horizontal, y=f"{y}:Q", color=colour)
    if rows and "low" in rows[0]:
        band = base.mark_errorband(opacity=0.2).encode(
            x=horizontal, y=alt.Y("low:Q", title=y), y2="high:Q", color=colour
        )
        layers = alt.layer(band, layers)
    else:
        layers = alt.layer(layers)
    layers = layers.properties(data=alt.Data(values=list(rows)))
    if columns is not None:
        panels = list(dict.fromkeys(row[columns] for row in rows))
        layers = layers.facet(alt.Facet(f"{columns}:N", sort=panels, title=None), columns=2)
    return to_svg(layers, title=title)
