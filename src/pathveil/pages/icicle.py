"""The top of the prefix tree as an icicle: levels side by side, a cell as tall as its count.

The cells of level 1 are the first locations of trajectories; right of each stand those that come
next. Children that are too thin to be seen are merged into one cell, "others"; where nothing
stands to the right, trajectories end. Only the most frequent first locations are shown, or nothing
could be seen of any: all the others are a strip at the bottom, which is not to scale.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.core.paths import Paths, WeightedPaths
from pathveil.pages.listings import Location, isolated, shortened
from pathveil.promise.explanation import count

LEVELS = 4
WIDTH, HEIGHT = 800, 640
MOST_FIRST = 12  # cells on level 1
THINNEST, STRIP = 4, 22  # units of the picture
_ROOM_FOR_TEXT, _LETTERS = 13, 27


@dataclass(frozen=True, slots=True)
class Cell:
    """A node of the tree, or several thin siblings.

    Attributes:
        level: from 1.
        top: from the upper edge of the picture.
        height: in units of the picture.
        prefix: the locations from the root to it; of "others" without their own.
        merged: how many siblings it stands for; 0 for a node.
        count: how many released trajectories begin so.
    """

    level: int
    top: float
    height: float
    prefix: tuple[Location, ...]
    merged: int
    count: int

    @property
    def left(self) -> float:
        """From the left edge of the picture."""
        return WIDTH / LEVELS * (self.level - 1)

    @property
    def text(self) -> str:
        """What is written in it; "" if there is no room."""
        if self.height < _ROOM_FOR_TEXT:
            return ""
        if self.merged:
            return self.others
        return shortened(self.prefix[-1].name or self.prefix[-1].label, _LETTERS)

    @property
    def others(self) -> str:
        """Whom it stands for, if it is merged."""
        return count(self.merged, "other", "others")

    @property
    def says(self) -> str:
        """All of it in words."""
        steps = [isolated(location.name or location.label) for location in self.prefix]
        if self.merged:
            steps.append(self.others)
        return f"{' → '.join(steps)}: {self.count:,}"


@dataclass(frozen=True, slots=True)
class Icicle:
    """The picture.

    Attributes:
        cells: level by level, from the top down.
        levels: how many there are.
        title: what it is, in one line.
        description: what can be seen on it, for those who can't see it.
    """

    cells: tuple[Cell, ...]
    levels: int
    title: str
    description: str

    width = WIDTH
    height = HEIGHT

    def by_prefix(self) -> list[Cell]:
        """Every cell after the one that it belongs to: the order of a table."""
        return sorted(self.cells, key=lambda cell: (cell.top, cell.level))


@dataclass(frozen=True, slots=True, eq=False)
class _Level:
    """The children of the nodes that are shown.

    Attributes:
        parent: int64, shape (n,); the number of the shown node that each belongs to.
        code: int64, shape (n,); location codes.
        counts: int64, shape (n,).
        node: int64, one for each row in question; which child it goes to.
    """

    parent: NDArray[np.int64]
    code: NDArray[np.int64]
    counts: NDArray[np.int64]
    node: NDArray[np.int64]


def draw_icicle(release: WeightedPaths) -> Icicle | None:
    """The first `LEVELS` levels of a release; None if it is empty."""
    paths = release.paths()
    total = int(paths.weights[paths.lengths > 0].sum())
    if total == 0:
        return None
    cells = tuple(_cells(release, paths))
    levels = max(cell.level for cell in cells)
    shown = sum(not cell.merged for cell in cells)
    strip = any(cell.merged and cell.level == 1 for cell in cells)
    rest = " Other first locations are a strip at the bottom, not to scale." if strip else ""
    return Icicle(
        cells,
        levels,
        title="The top of the prefix tree",
        description=(
            f"{shown:,} prefixes on {levels} levels, each as tall as the number of the {total:,} "
            f"trajectories that begin with it.{rest} The table below lists them."
        ),
    )


def _cells(release: WeightedPaths, paths: Paths) -> Iterator[Cell]:
    size = len(release.universe)
    rows = np.flatnonzero(paths.lengths > 0)
    node = np.zeros(len(rows), dtype=np.int64)
    parents, scale = [Cell(0, 0.0, HEIGHT, (), 0, 0)], 0.0
    for number in range(1, LEVELS + 1):
        level = _children(paths, rows, node, number, size)
        if number == 1:
            is_shown, scale = _first(level.counts)
        else:
            is_shown = level.counts * scale >= THINNEST
        shown = _stacked(release, level, is_shown, parents, scale)
        yield from (cell for cell, _ in shown)
        kept = [(cell, child) for cell, child in shown if child >= 0]
        # Only what passes through a cell that is shown has anything to its right.
        position = np.full(len(level.code), -1, dtype=np.int64)
        position[[child for _, child in kept]] = np.arange(len(kept))
        node = position[level.node]
        longer = (node >= 0) & (paths.lengths[rows] > number)
        rows, node, parents = rows[longer], node[longer], [cell for cell, _ in kept]
        if not len(rows):
            return


def _first(counts: NDArray[np.int64]) -> tuple[NDArray[np.bool_], float]:
    """Which first locations are shown, and how tall one trajectory is."""
    is_shown = np.zeros(len(counts), dtype=np.bool_)
    is_shown[np.argsort(-counts, kind="stable")[:MOST_FIRST]] = True
    room = HEIGHT - (0 if is_shown.all() else STRIP)
    return is_shown, room / int(counts[is_shown].sum())


def _children(
    paths: Paths, rows: NDArray[np.int64], node: NDArray[np.int64], level: int, size: int
) -> _Level:
    """Where these rows go next, and how many trajectories each child has."""
    keys = node * size + paths.codes[paths.offsets[rows] + level - 1]
    found, child = np.unique(keys, return_inverse=True)
    counts = np.zeros(len(found), dtype=np.int64)
    np.add.at(counts, child, paths.weights[rows])
    return _Level(found // size, found % size, counts, child)


def _stacked(
    release: WeightedPaths,
    level: _Level,
    is_shown: NDArray[np.bool_],
    parents: list[Cell],
    scale: float,
) -> list[tuple[Cell, int]]:
    """The cells of a level, with the number of the child; −1 for "others"."""
    rest, merged = np.zeros((2, len(parents)), dtype=np.int64)
    np.add.at(rest, level.parent[~is_shown], level.counts[~is_shown])
    np.add.at(merged, level.parent[~is_shown], 1)
    order = np.flatnonzero(is_shown)
    order = order[np.lexsort((level.code[order], -level.counts[order], level.parent[order]))]
    first = np.searchsorted(level.parent[order], np.arange(len(parents) + 1)).tolist()
    stacked = []
    for number, parent in enumerate(parents):
        below, top = parent.level + 1, parent.top
        for child in order[first[number] : first[number + 1]].tolist():
            size = int(level.counts[child])
            prefix = (*parent.prefix, Location.of(release.universe, int(level.code[child])))
            stacked.append((Cell(below, top, scale * size, prefix, 0, size), child))
            top += scale * size
        size, others = int(rest[number]), int(merged[number])
        height = scale * size if parent.level else float(STRIP)
        if others and height >= THINNEST:
            stacked.append((Cell(below, top, height, parent.prefix, others, size), -1))
    return stacked
