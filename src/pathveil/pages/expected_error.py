"""How far answers may be off, by the size of the answer: the error table as people read it."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.core.error_table import ANY, USUAL_LEVEL, ErrorTable
from pathveil.core.error_table import KINDS as QUESTIONS

INNER_LEVEL = 0.5
KINDS = {1: "one location", 2: "two locations", 3: "three or more"}
WIDTH, HEIGHT = 250, 190
LEFT, RIGHT, BOTTOM, TOP = 44, 14, 32, 8  # what the axes take
NEVER = "–"
_DENSE = 40  # points of a curve


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on both axes.

    Attributes:
        at: from the left edge of the picture, on the horizontal axis.
        up: from its upper edge, on the vertical one.
        text: the count.
    """

    at: float
    up: float
    text: str


@dataclass(frozen=True, slots=True)
class Panel:
    """The errors of answers about so many locations.

    Attributes:
        title: how many.
        outer: SVG path of the band of the 90% intervals.
        inner: SVG path of the band of the 50% intervals.
        diagonal: SVG path of where the true count is the answer.
        description: what can be seen on it.
    """

    title: str
    outer: str
    inner: str
    diagonal: str
    description: str


@dataclass(frozen=True, slots=True)
class ExpectedError:
    """What the page says about errors.

    Attributes:
        panels: one for each number of locations of which something was measured.
        ticks: of both axes; they are logarithmic (of the count plus one).
        columns: headings of the table.
        rows: a size of answer, and the 90% interval for each number of locations; `NEVER` where
            the release gives no answer so small.
        total: the interval of the number of trajectories, if it is known.
        untold: the numbers of locations of which nothing was measured that tells it.
        listed: how many answers about two locations have an interval of their own.
    """

    panels: tuple[Panel, ...]
    ticks: tuple[Tick, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    total: tuple[int, int] | None
    untold: tuple[str, ...]
    listed: int

    width = WIDTH
    height = HEIGHT
    left = LEFT
    base = HEIGHT - BOTTOM


def expected_error(table: ErrorTable, trajectories: int, largest: int) -> ExpectedError:
    """The errors of the answers that the release gives.

    Args:
        table: of the release.
        trajectories: how many were released.
        largest: the largest answer about one location or more.
    """
    most = max(int(largest), 10)  # without its interval, which would be part of its text
    told = {kind: title for kind, title in KINDS.items() if table.tells(ANY, kind)}
    sizes = _sizes(most)
    has_total = bool((table.locations == 0).any())
    low, high = _intervals(table, 0, np.array([trajectories]), USUAL_LEVEL)
    cells = [_cells(table, kind, np.array(sizes)) for kind in told]
    return ExpectedError(
        panels=tuple(_panel(table, kind, title, most) for kind, title in told.items()),
        ticks=tuple(
            Tick(_across(size, most), _up(size, most), _short(size))
            for size in (0, *(10**power for power in range(1, len(str(most)))))
        ),
        columns=("answer", *told.values()),
        rows=tuple(zip([f"{size:,}" for size in sizes], *cells, strict=True)),
        total=(int(low[0]), int(high[0])) if has_total else None,
        untold=tuple(title for kind, title in KINDS.items() if kind not in told),
        listed=len(table.listed or ()),
    )


def _sizes(most: int) -> list[int]:
    """0, and then 1, 3, 10, 30 … as far as answers go."""
    steps = [base * 10**power for power in range(len(str(most))) for base in (1, 3)]
    return [0, *(step for step in steps if step <= most)]


def _intervals(
    table: ErrorTable, kind: int, estimates: NDArray[np.int64], level: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    named = np.ones(len(estimates), dtype=np.bool_)
    return table.intervals(np.full(len(estimates), kind), estimates, named, level)


def _least(table: ErrorTable, kind: int) -> int:
    """The smallest answer of this kind: where no location is rarely visited, there is no 3."""
    these = (table.locations == kind) & (table.kind == QUESTIONS.index(ANY))
    return int(table.estimate[these].min(initial=2**62))


def _cells(table: ErrorTable, kind: int, sizes: NDArray[np.int64]) -> list[str]:
    least, (low, high) = _least(table, kind), _intervals(table, kind, sizes, USUAL_LEVEL)
    return [
        f"{a:,} to {b:,}" if size >= least else NEVER
        for size, a, b in zip(sizes.tolist(), low.tolist(), high.tolist(), strict=True)
    ]


def _panel(table: ErrorTable, kind: int, title: str, most: int) -> Panel:
    first = min(_least(table, kind), most)
    curve = np.expm1(np.linspace(math.log1p(first), math.log1p(most), _DENSE))
    grid = np.unique(np.rint(curve).astype(np.int64))
    ends = grid[[0, -1]]
    low, high = _intervals(table, kind, ends, USUAL_LEVEL)
    return Panel(
        title=f"Asked for {title}",
        outer=_band(grid, *_intervals(table, kind, grid, USUAL_LEVEL), most),
        inner=_band(grid, *_intervals(table, kind, grid, INNER_LEVEL), most),
        diagonal=f"M{LEFT} {HEIGHT - BOTTOM}L{WIDTH - RIGHT} {TOP}",
        description=" ".join(
            f"Where the answer is {answer:,}, the true count lies between {a:,} and {b:,}."
            for answer, a, b in zip(ends.tolist(), low.tolist(), high.tolist(), strict=True)
        ),
    )


def _band(
    grid: NDArray[np.int64], low: NDArray[np.int64], high: NDArray[np.int64], most: int
) -> str:
    there = list(zip(grid.tolist(), high.tolist(), strict=True))
    back = list(zip(grid.tolist(), low.tolist(), strict=True))[::-1]
    points = (f"{_across(x, most):.1f} {_up(y, most):.1f}" for x, y in there + back)
    return f"M{'L'.join(points)}Z"


def _across(size: int, most: int) -> float:
    return round(LEFT + (WIDTH - LEFT - RIGHT) * math.log1p(size) / math.log1p(most), 1)


def _up(size: int, most: int) -> float:
    room = HEIGHT - BOTTOM - TOP
    share = min(math.log1p(size) / math.log1p(most), 1.03)  # a bound may exceed all trajectories
    return round(HEIGHT - BOTTOM - room * share, 1)


def _short(size: int) -> str:
    for unit, name in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if size >= unit:
            return f"{size // unit}{name}"
    return str(size)
