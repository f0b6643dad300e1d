"""The top of the prefix tree: the picture of the report, with tooltips."""

from typing import Any

from pathveil.plot.drawing import BLUE, GREY, WIDTH, altair, chart
from pathveil.report.icicle import HEIGHT, Cell, draw_icicle
from pathveil.report.places import shortened
from pathveil.report.released import Released

_LETTERS = 16
_ROOM_FOR_TEXT = 16


def icicle_chart(release: Released) -> Any:
    """Levels from left to right; the cells of a level from the top down."""
    alt, icicle = altair(), draw_icicle(release)
    rows = [
        {
            "level": cell.level - 1,
            "right": cell.level,
            "top": cell.top,
            "bottom": cell.top + cell.height,
            "middle": cell.top + cell.height / 2,
            "centre": cell.level - 0.97,
            "text": _text(cell),
            "prefix": " → ".join(
                [place.name or place.label for place in cell.prefix]
                + ([cell.others] if cell.merged else [])
            ),
            "count": cell.count,
            "merged": bool(cell.merged),
        }
        for cell in (icicle.cells if icicle else ())
    ]
    across = alt.X(
        "level:Q",
        title="from the first location on",
        axis=alt.Axis(tickMinStep=1, grid=False, labels=False),
    )
    down = alt.Y("top:Q", scale=alt.Scale(domain=[0, HEIGHT], reverse=True), axis=None)
    base = chart(rows, width=WIDTH, height=HEIGHT * 0.75)
    cells = base.mark_rect(stroke="white", opacity=1).encode(
        x=across,
        x2="right:Q",
        y=down,
        y2="bottom:Q",
        color=alt.condition(alt.datum.merged, alt.value(GREY), alt.value(BLUE)),
        tooltip=["prefix:N", alt.Tooltip("count:Q", title="trajectories", format=",")],
    )
    words = base.mark_text(align="left", color="white", fontSize=10).encode(
        x="centre:Q",
        y=alt.Y("middle:Q", scale=alt.Scale(domain=[0, HEIGHT], reverse=True)),
        text="text:N",
    )
    return cells + words


def _text(cell: Cell) -> str:
    """Labels are shorter than names; the tooltip has those."""
    if cell.height < _ROOM_FOR_TEXT:
        return ""
    return cell.others if cell.merged else shortened(cell.prefix[-1].label, _LETTERS)
