"""Two small charts as SVG text, drawn by hand: they follow the page's light and dark colours.

Lines differ by their dashes too, not by colour alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import floor, log10

WIDTH, HEIGHT = 520, 260
LEFT, RIGHT, TOP, BOTTOM = 56, 120, 14, 44
TICKS = 4
ROUND = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True, slots=True)
class Series:
    """One line, or one bar of every group.

    Attributes:
        name: what it is.
        values: one for each place of the horizontal axis; None where there is none.
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
        places: the labels of the horizontal axis.
        x: its title.
        y: the title of the vertical axis.
        percent: whether values are shares.
        title: what the chart shows, for those who can't see it.
    """

    places: Sequence[str]
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
            (_middle(i, len(axes.places)), _height(value, top))
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
    """Bars side by side at every place; a whisker reaches up to ``high``."""
    top = _top(series)
    parts = [*_frame(axes, top)]
    step = (WIDTH - LEFT - RIGHT) / max(len(axes.places), 1)
    width = 0.7 * step / max(len(series), 1)
    for which, one in enumerate(series):
        for i, value in enumerate(one.values):
            if value is None:
                continue
            x = _middle(i, len(axes.places)) + (which - len(series) / 2) * width
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


def _middle(place: int, places: int) -> float:
    return LEFT + (place + 0.5) * (WIDTH - LEFT - RIGHT) / places


def _height(value: float, top: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / top


def _frame(axes: Axes, top: float) -> Iterator[str]:
    for i in range(TICKS + 1):
        value = top * i / TICKS
        y = _height(value, top)
        yield f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>'
        shown = f"{100 * value:.3g}%" if axes.percent else f"{value:,.4g}"
        yield _text(LEFT - 6, y + 4, shown, "end")
    for i, place in enumerate(axes.places):
        yield _text(_middle(i, len(axes.places)), HEIGHT - BOTTOM + 16, place, "middle")
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
