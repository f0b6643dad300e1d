"""The strongest moves from one location straight to another, as a table and as lines on the map.

Staying where one is (two taps at one stop) is no move. A line bends to the right of the way it
goes, so that there and back are two lines; it is as wide as its count says.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.analysis.flows import PairCounts, transitions
from pathveil.core.error_table import MOVE, NOISE, Estimate
from pathveil.core.paths import WeightedPaths
from pathveil.pages.listings import Location, Released, estimated
from pathveil.pages.map import WIDTH, projected
from pathveil.promise.explanation import count

MOST_MOVES = 20  # in the table
MOST_LINES = 60
WIDEST = 9.0
_NARROWEST = 0.8
_BEND = 0.14  # of a line's length
_SHORTEST = 1.0  # a line that anybody can see, in units of the picture


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Moves:
    """Moves between different locations, the strongest first; of equals by location codes.

    Attributes:
        first: int32, shape (n,); location codes.
        second: int32, shape (n,); location codes.
        counts: int64, shape (n,); how often the second directly follows the first.
    """

    first: NDArray[np.int32]
    second: NDArray[np.int32]
    counts: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Line:
    """A move on the map.

    Attributes:
        path: SVG path data.
        width: of the line.
        says: the move in words.
    """

    path: str
    width: float
    says: str


@dataclass(frozen=True, slots=True)
class MovesMap:
    """The strongest moves on a map.

    Attributes:
        width: of the picture.
        height: of the picture.
        lines: the weakest first, so that the strongest lie on top.
        legend: widths and the counts that they stand for.
        title: what it is, in one line.
        description: what can be seen on it, for those who can't see it.
    """

    width: int
    height: int
    lines: tuple[Line, ...]
    legend: tuple[tuple[float, str], ...]
    title: str
    description: str


def strongest_moves(release: WeightedPaths, most: int) -> Moves:
    """At most this many moves."""
    pairs = transitions(release)
    apart = np.flatnonzero(pairs.first != pairs.second)
    chosen = apart[np.argsort(-pairs.counts[apart], kind="stable")[:most]]
    return Moves(pairs.first[chosen], pairs.second[chosen], pairs.counts[chosen])


def known_moves(release: Released, moves: Moves) -> Moves:
    """Those that can be told from noise: only these are drawn."""
    if release.answering is None or not len(moves.counts):
        return moves
    answers = release.answering.pairs(MOVE, PairCounts(moves.first, moves.second, moves.counts))
    known = np.array([mark != NOISE for mark in answers.marks])
    return Moves(moves.first[known], moves.second[known], moves.counts[known])


def moves_table(release: Released, moves: Moves) -> list[tuple[Location, Location, Estimate]]:
    """The first rows: from, to, how often, with intervals if the release tells any."""
    universe, first = release.universe, slice(MOST_MOVES)
    shown = PairCounts(moves.first[first], moves.second[first], moves.counts[first])
    counts: Iterable[int] = shown.counts.tolist()
    if release.answering is not None:
        counts = release.answering.pairs(MOVE, shown).estimates()
    return [
        (Location.of(universe, a), Location.of(universe, b), estimated(made))
        for a, b, made in zip(shown.first.tolist(), shown.second.tolist(), counts, strict=True)
    ]


def draw_moves(release: WeightedPaths, moves: Moves) -> MovesMap | None:
    """The moves on a map; None if no location has coordinates, or there is no line to draw."""
    projection = projected(release.universe)
    if projection is None or not len(moves.counts):
        return None
    x, y = np.full((2, len(release.universe)), np.nan)
    x[projection.codes], y[projection.codes] = projection.x, projection.y
    ends = np.stack((x[moves.first], y[moves.first], x[moves.second], y[moves.second]), axis=1)
    # NaN, a location without coordinates, is at no distance.
    apart = np.hypot(ends[:, 2] - ends[:, 0], ends[:, 3] - ends[:, 1]) >= _SHORTEST
    drawn = np.flatnonzero(apart)
    if not len(drawn):
        return None
    most = int(moves.counts[drawn].max())
    lines = [_line(release, moves, ends[i], int(i), most) for i in drawn[::-1]]
    return MovesMap(
        width=WIDTH,
        height=projection.height,
        lines=tuple(lines),
        legend=tuple((_width(step, most), f"{step:,}") for step in _steps(most)),
        title="Map of the strongest moves",
        description=(
            f"The {len(lines):,} strongest moves from one location straight to another, as "
            f"lines with an arrow; the strongest was made {count(most, 'time', 'times')}, the "
            f"weakest shown {count(int(moves.counts[drawn].min()), 'time', 'times')}. The table "
            "below lists the strongest."
        ),
    )


def _line(
    release: WeightedPaths, moves: Moves, ends: NDArray[np.float64], number: int, most: int
) -> Line:
    a, b, c, d = map(float, ends)
    middle = ((a + c) / 2 - _BEND * (d - b), (b + d) / 2 + _BEND * (c - a))
    made = int(moves.counts[number])
    origin = Location.of(release.universe, int(moves.first[number]))
    destination = Location.of(release.universe, int(moves.second[number]))
    return Line(
        path=f"M{a:.0f} {b:.0f}Q{middle[0]:.0f} {middle[1]:.0f} {c:.0f} {d:.0f}",
        width=_width(made, most),
        says=f"{origin.full_name} → {destination.full_name}: {made:,}",
    )


def _width(made: int, most: int) -> float:
    return round(max(WIDEST * made / most, _NARROWEST), 1)


def _steps(most: int) -> list[int]:
    """Three counts for the legend: the largest, and round ones below."""
    steps = {most}
    for part in (0.5, 0.1):
        size = 10 ** max(math.floor(math.log10(max(part * most, 1))), 0)
        steps.add(max(round(part * most / size) * size, 1))
    return sorted(steps)
