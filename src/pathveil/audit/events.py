"""The fixed family of events: yes/no questions about what one run gave away.

They are about the tree, not only about released rows, and are fixed before the first run: what
is asked depends on the pair of databases, which the auditor made, never on an outcome. Each one
is where some plausible mistake shows:

- a node of level 1 is kept (empty children that are not sampled, a universe off the data);
- a count on the watched path is at least t, or exactly θ (noise of the wrong scale, none at all);
- several nodes of the path are kept, or are all high, together (a budget spent several times);
- two counts of the path, or of two nodes of level 1, differ by exactly d (noise that is used
  twice, on two levels or on one);
- a level has at least n nodes (a height off the data);
- a number published beside the tree is |D|.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.audit.neighbours import NeighbouringPair
from pathveil.audit.observing import ABSENT, View

Answers = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Event:
    """A yes/no question.

    Attributes:
        name: the question in words.
        happened: gives the answers, bool, shape (runs,).
    """

    name: str
    happened: Callable[[View], Answers]


def event_family(pair: NeighbouringPair) -> tuple[Event, ...]:
    """The questions that are asked about one pair of neighbouring databases."""
    return (
        *_kept_locations(pair),
        *_counts(pair),
        *_conjunctions(pair),
        *_differences(pair),
        *_differences_on_level_1(pair),
        *_level_sizes(pair),
        *_published(pair),
    )


def _kept_locations(pair: NeighbouringPair) -> Iterator[Event]:
    for code, label in enumerate(pair.candidates):
        yield Event(f"{label} is kept on level 1", _at_least("first", code, ABSENT + 1))


def _counts(pair: NeighbouringPair) -> Iterator[Event]:
    extra = pair.parameters.max_trajectories_per_unit
    for level, (count, theta) in enumerate(zip(pair.counts, pair.thresholds, strict=True)):
        what = f"the count of node {level + 1} of the path"
        yield Event(f"{what} is exactly θ", _equals("path", level, theta))
        around = {count + shift for shift in range(-1, extra + 2)} | {theta + 1, theta + 2}
        for least in sorted(t for t in around if t > theta):
            yield Event(f"{what} is at least {least}", _at_least("path", level, least))


def _conjunctions(pair: NeighbouringPair) -> Iterator[Event]:
    # On a path that many walk, "high" is above the true count; elsewhere it is "kept".
    higher = np.array(pair.counts) + 1 + pair.parameters.max_trajectories_per_unit // 2
    for depth in range(2, len(pair.path) + 1):
        what = f"the first {depth} nodes of the path"
        yield Event(f"{what} are kept", lambda v, d=depth: v.path[:, d - 1] > ABSENT)  # type: ignore[misc]
        yield Event(
            f"{what} all count more people than without the unit",
            lambda v, d=depth: (v.path[:, :d] >= higher[:d]).all(axis=1),  # type: ignore[misc]
        )
        total = int(np.sum(pair.counts[:depth])) + (depth + 1) // 2
        yield Event(
            f"{what} are kept and sum to at least {total}",
            lambda v, d=depth, t=total: (
                (v.path[:, d - 1] > ABSENT)  # type: ignore[misc]
                & (np.sum(v.path[:, :d], axis=1, where=v.path[:, :d] > ABSENT) >= t)
            ),
        )


def _differences(pair: NeighbouringPair) -> Iterator[Event]:
    for level in range(1, len(pair.path)):
        true = pair.counts[level - 1] - pair.counts[level]
        for less in sorted({0, true, true + 1}):
            yield Event(
                f"node {level + 1} of the path is kept and counts exactly {less} less than its "
                "parent",
                lambda v, i=level, d=less: (
                    (v.path[:, i] > ABSENT)  # type: ignore[misc]
                    & (v.path[:, i - 1] - v.path[:, i] == d)
                ),
            )


def _differences_on_level_1(pair: NeighbouringPair) -> Iterator[Event]:
    # Zones are there, and no locations; or labels that are yet to be discovered.
    if pair.parameters.taxonomy is not None or pair.labels is not None:
        return
    watched, data = pair.path[0], pair.without
    begins = data.offsets[:-1][np.diff(data.offsets) > 0]
    codes, counts = np.unique(data.codes[begins], return_counts=True)
    for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
        for more in (pair.counts[0] - count, pair.counts[0] - count + 1):
            if code != watched:
                yield Event(
                    f"node 1 of the path and {pair.candidates[code]} are kept, and it counts "
                    f"exactly {more} more",
                    lambda v, c=code, m=more: (
                        (v.first[:, watched] > ABSENT)  # type: ignore[misc]
                        & (v.first[:, c] > ABSENT)
                        & (v.first[:, watched] - v.first[:, c] == m)
                    ),
                )


def _level_sizes(pair: NeighbouringPair) -> Iterator[Event]:
    for level in range(pair.levels):
        for least in (1, 2, 3, 4):
            yield Event(
                f"level {level + 1} has {least} nodes or more", _at_least("nodes", level, least)
            )


def _published(pair: NeighbouringPair) -> Iterator[Event]:
    for size in (len(pair.without), len(pair.with_unit)):
        yield Event(f"{size} is published", lambda v, n=size: v.published == n)  # type: ignore[misc]


def _at_least(table: str, column: int, least: int) -> Callable[[View], Answers]:
    return lambda view: np.asarray(getattr(view, table)[:, column] >= least)


def _equals(table: str, column: int, value: int) -> Callable[[View], Answers]:
    return lambda view: np.asarray(getattr(view, table)[:, column] == value)
