"""The top k sequential patterns, exactly (the paper's 𝓕ₖ, section III-D).

Best-first PrefixSpan. Patterns are ordered by (support descending, length, location codes), and
extending a pattern never raises its support, so an extension always comes after the pattern it
extends. Taking patterns from a heap in that order therefore yields the top k and opens no
pattern that is not among them (or a shorter one on the way to them, with ``min_length``).
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush, heapreplace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pathveil.core.paths import WeightedPaths
from pathveil.errors import QueryError
from pathveil.progress_reports import portion, report_progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pathveil.analysis._projection import ProjectedPaths, Projection

_MERGING = 0.2  # of the time, the rest is mining; about


@dataclass(frozen=True, slots=True)
class Pattern:
    """A sequence of locations and how many trajectories follow it.

    Attributes:
        locations: location labels, in order.
        support: number of trajectories (the weight of the paths) that contain the sequence; a
            trajectory counts once however often it does.
    """

    locations: tuple[str, ...]
    support: int


def top_patterns(
    paths: WeightedPaths,
    k: int,
    *,
    contiguous: bool = False,
    min_length: int = 1,
    max_length: int | None = None,
    different: bool = False,
) -> list[Pattern]:
    """The k sequential patterns that most trajectories follow.

    Args:
        paths: a release, or any weighted multiset of paths.
        k: how many patterns; fewer come back if fewer have a support of at least 1.
        contiguous: False: other locations may lie between a pattern's locations (subsequences,
            as PrefixSpan). True: they follow each other directly (substrings).
        min_length: the fewest locations of a pattern.
        max_length: the most locations of a pattern; None for no limit.
        different: only patterns that visit no location twice. People return to where they began,
            so the most frequent patterns of all are often one location again and again.

    Returns:
        Patterns by falling support; of equal support the shorter first, then by the positions
        of their locations in the universe, compared from the first location on. The same order
        decides which of several patterns with the k-th support are returned.

    Raises:
        QueryError: if k, min_length or max_length is not a whole number of at least 1, or the
            lengths leave nothing to find.
    """
    _check("k", k)
    _check("min_length", min_length)
    if max_length is not None:
        _check("max_length", max_length)
        if max_length < min_length:
            raise QueryError("max_length must be at least min_length.")
    from pathveil.analysis._merging import distinct_paths
    from pathveil.analysis._projection import ProjectedPaths

    distinct = distinct_paths(paths.paths())
    report_progress(_MERGING, 1)
    present = np.flatnonzero(np.bincount(distinct.codes, minlength=len(paths.universe)))
    projected = ProjectedPaths(distinct, present, contiguous=contiguous)
    labels = [paths.universe.labels[code] for code in present]
    found: list[Pattern] = []
    for codes, support in _best_first(projected, k, min_length, max_length, different=different):
        if len(codes) >= min_length:
            found.append(Pattern(tuple(labels[code] for code in codes), support))
            with portion(_MERGING, 1):
                report_progress(len(found), k)
        if len(found) == k:
            break
    return found


def _best_first(
    paths: ProjectedPaths, k: int, min_length: int, max_length: int | None, *, different: bool
) -> Iterator[tuple[tuple[int, ...], int]]:
    """Patterns with their supports in the documented order, of any length up to max_length."""
    floor = _Floor(k)
    heap: list[tuple[int, int, tuple[int, ...], int, _Siblings]] = []

    def push(siblings: _Siblings, index: int) -> None:
        if index < len(siblings.codes) and siblings.supports[index] >= floor.support:
            codes = (*siblings.prefix, int(siblings.codes[index]))
            heappush(heap, (-int(siblings.supports[index]), len(codes), codes, index, siblings))

    def open_pattern(
        codes: tuple[int, ...], projection: Projection, candidates: NDArray[np.int64]
    ) -> None:
        if different:  # whatever begins with a pattern that repeats repeats, too
            candidates = candidates[~np.isin(candidates, codes)]
        reportable = len(codes) + 1 >= min_length
        push(_Siblings(paths, codes, projection, candidates, floor, reportable=reportable), 0)

    open_pattern((), paths.root(), paths.locations)
    while heap:
        negative_support, length, codes, index, siblings = heappop(heap)
        yield codes, -negative_support
        # Siblings come in order, so the heap only ever needs the next one of each family.
        push(siblings, index + 1)
        if max_length is None or length < max_length:
            projection = siblings.projection(paths, index, floor)
            # Q → c is part of Q → x → c: where it falls below the floor, so does that.
            candidates = paths.locations if paths.contiguous else siblings.viable(floor)
            open_pattern(codes, projection, candidates)


class _Floor:
    """The support below which a pattern can no longer be among the top k.

    Once k reportable patterns are known, nothing below the k-th highest of their supports can
    be; whatever ties with it still can, because the order decides among equals.
    """

    def __init__(self, k: int) -> None:
        self._k = k
        self._highest: list[int] = []
        self.support = 1

    def note(self, supports: NDArray[np.int64]) -> None:
        """Take note of the supports of patterns that may be reported, each pattern once."""
        for support in supports.tolist():
            if len(self._highest) < self._k:
                heappush(self._highest, support)
            elif support > self._highest[0]:
                heapreplace(self._highest, support)
        if len(self._highest) == self._k:
            self.support = self._highest[0]


class _Siblings:
    """The one-location extensions of a pattern that may still be among the top k, in order."""

    def __init__(
        self,
        paths: ProjectedPaths,
        prefix: tuple[int, ...],
        parent: Projection,
        candidates: NDArray[np.int64],
        floor: _Floor,
        *,
        reportable: bool,
    ) -> None:
        supports, sizes = paths.extensions(parent, candidates)
        kept = np.flatnonzero(supports >= floor.support)
        if reportable:
            floor.note(supports[kept])
            kept = kept[supports[kept] >= floor.support]
        kept = kept[np.argsort(-supports[kept], kind="stable")]
        self.prefix = prefix
        self.codes = candidates[kept]
        self.supports = supports[kept]
        self._sizes = sizes[kept]
        self._parent = parent
        self._batch: list[Projection] = []
        self._batch_start = 0

    def viable(self, floor: _Floor) -> NDArray[np.int64]:
        """The locations of the siblings that have not fallen below the floor, ascending."""
        return np.sort(self.codes[self.supports >= floor.support])

    def projection(self, paths: ProjectedPaths, index: int, floor: _Floor) -> Projection:
        """The projection of sibling ``index``; asked for in ascending order.

        Those down to an eighth of its support are projected with it in one pass; the rest wait,
        because most are never asked for: projecting all at once takes more memory and no less
        time, and a half instead of an eighth takes more time.
        """
        if index >= self._batch_start + len(self._batch):
            least = max(floor.support, int(self.supports[index]) // 8)
            end = int(np.searchsorted(-self.supports, -least, side="right"))
            batch = slice(index, end)
            self._batch = paths.project(self._parent, self.codes[batch], self._sizes[batch])
            self._batch_start = index
        return self._batch[index - self._batch_start]


def _check(name: str, value: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise QueryError(f"{name} must be a whole number of at least 1.")
