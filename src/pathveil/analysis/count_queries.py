"""Count queries: how many trajectories visit these locations, in any order, in order, or first.

`count_many` is the paper's count query (section III-D). Ordered and prefix queries keep the
sequence that the count query drops. Answers are sums of weights: on a release, the number of
released trajectories.
"""

from collections.abc import Callable, Collection, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pathveil.analysis.visit_index import VisitIndex, codes_of, order_by_code, rows_at
from pathveil.core.paths import Paths, WeightedPaths
from pathveil.errors import QueryError

# How far paths have followed a sequence: the paths that still do, the position each has reached in
# the codes, and (for prefixes) the location there. All int64, of one length.
_State = tuple[NDArray[np.int64], ...]


def count(paths: WeightedPaths, query: Collection[str]) -> int:
    """How many trajectories visit every location of one query, in any order.

    One pass over the visits and no index: right for one question, while `count_many` and
    `VisitIndex` are right for many. The answer is the same.

    Args:
        paths: a release, or any weighted multiset of paths.
        query: location labels. A repeated label counts once. The empty query holds for every
            trajectory.

    Raises:
        QueryError: if a label is not of the universe.
    """
    wanted = sorted(set(codes_of(paths.universe, query)))
    multiset = paths.paths()
    rank = np.full(len(paths.universe), -1, dtype=np.int64)
    rank[wanted] = np.arange(len(wanted))
    hits = np.flatnonzero(rank[multiset.codes] >= 0)
    rows = rows_at(multiset, hits)
    pairs = np.unique(rows * len(wanted) + rank[multiset.codes[hits]])
    found = np.bincount(pairs // max(len(wanted), 1), minlength=len(multiset))
    return int(multiset.weights[found == len(wanted)].sum())


def count_many(paths: WeightedPaths, queries: Sequence[Collection[str]]) -> NDArray[np.int64]:
    """How many trajectories visit every location, for each of many queries.

    Builds a `VisitIndex`; keep one yourself to ask again.

    Args:
        paths: a release, or any weighted multiset of paths.
        queries: sets of location labels; see `VisitIndex.count_many`.

    Returns:
        int64, shape (len(queries),).

    Raises:
        QueryError: if a label is not of the universe.
    """
    return VisitIndex.build(paths).count_many(queries)


def count_many_codes(
    paths: WeightedPaths, offsets: ArrayLike, codes: ArrayLike
) -> NDArray[np.int64]:
    """`count_many` for queries in compressed rows of codes; see `VisitIndex.count_many_codes`."""
    return VisitIndex.build(paths).count_many_codes(offsets, codes)


def count_ordered(paths: WeightedPaths, sequence: Sequence[str]) -> int:
    """How many trajectories visit the locations in this order; see `count_ordered_many`."""
    return int(count_ordered_many(paths, [sequence])[0])


def count_ordered_many(
    paths: WeightedPaths, sequences: Sequence[Sequence[str]]
) -> NDArray[np.int64]:
    """How many trajectories visit the locations in the given order, for each sequence.

    Other locations may lie between them: a sequence is a subsequence of the path, as in
    sequential patterns. A label that is repeated must be visited that often. The empty sequence
    holds for every trajectory. Sequences with a common beginning share its work.

    Returns:
        int64, shape (len(sequences),).

    Raises:
        QueryError: if a label is not of the universe.
    """
    coded = _coded(paths, sequences)
    multiset = paths.paths()
    positions_of = _positions_by_code(multiset, coded, len(paths.universe))
    root = (np.arange(len(multiset), dtype=np.int64), multiset.offsets[:-1])

    def follow(state: _State, code: int) -> _State:
        positions = positions_of[code]
        if state is root:  # from the visits' side, which are fewer than the paths
            rows = rows_at(multiset, positions)
            first = np.diff(rows, prepend=-1) > 0
            return rows[first], positions[first] + 1
        rows, reached = state
        # The first visit to the location at or after the position that each path has reached.
        found = np.searchsorted(positions, reached)
        is_found = found < len(positions)
        rows, found = rows[is_found], found[is_found]
        inside = positions[found] < multiset.offsets[rows + 1]
        return rows[inside], positions[found[inside]] + 1

    return _along(coded, root, follow, multiset.weights)


def count_prefix(paths: WeightedPaths, prefix: Sequence[str]) -> int:
    """How many trajectories begin with these locations; see `count_prefix_many`."""
    return int(count_prefix_many(paths, [prefix])[0])


def count_prefix_many(paths: WeightedPaths, prefixes: Sequence[Sequence[str]]) -> NDArray[np.int64]:
    """How many trajectories begin with exactly these locations, for each prefix.

    This is tr(v), the count of a node of the paper's prefix tree (section III-B). The empty
    prefix, the root, holds for every trajectory. Prefixes with a common beginning share its work.

    Returns:
        int64, shape (len(prefixes),).

    Raises:
        QueryError: if a label is not of the universe.
    """
    coded = _coded(paths, prefixes)
    multiset = paths.paths()

    def follow(state: _State, code: int) -> _State:
        rows, reached, following = state
        start, end = np.searchsorted(following, (code, code + 1))
        return _by_next_location(multiset, rows[start:end], reached[start:end] + 1)

    every_row = np.arange(len(multiset), dtype=np.int64)
    root = _by_next_location(multiset, every_row, multiset.offsets[:-1])
    return _along(coded, root, follow, multiset.weights)


def _coded(paths: WeightedPaths, sequences: Sequence[Sequence[str]]) -> list[tuple[int, ...]]:
    if isinstance(sequences, str):
        raise QueryError("The queries are a list of sequences of labels, not one text.")
    return [codes_of(paths.universe, sequence) for sequence in sequences]


def _along(
    coded: list[tuple[int, ...]],
    root: _State,
    follow: Callable[[_State, int], _State],
    weights: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Answer sequences in lexicographic order, going back only to where two of them part."""
    answers = np.zeros(len(coded), dtype=np.int64)
    trail = [root]
    previous: tuple[int, ...] = ()
    for index in sorted(range(len(coded)), key=coded.__getitem__):
        shared = _common_length(previous, coded[index])
        del trail[shared + 1 :]
        for code in coded[index][shared:]:
            trail.append(follow(trail[-1], code))
        answers[index] = weights[trail[-1][0]].sum()
        previous = coded[index]
    return answers


def _common_length(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    length = min(len(one), len(other))
    return next((i for i in range(length) if one[i] != other[i]), length)


def _positions_by_code(
    multiset: Paths, coded: list[tuple[int, ...]], universe_size: int
) -> dict[int, NDArray[np.int64]]:
    """Where each location that is asked for is visited: ascending positions in the codes."""
    asked = sorted({code for codes in coded for code in codes})
    is_asked = np.zeros(universe_size, dtype=np.bool_)
    is_asked[asked] = True
    positions = np.flatnonzero(is_asked[multiset.codes])
    positions = positions[order_by_code(multiset.codes[positions], universe_size)]
    borders = np.searchsorted(multiset.codes[positions], [*asked, universe_size])
    return {
        code: positions[start:end]
        for code, (start, end) in zip(asked, pairwise(borders), strict=True)
    }


def _by_next_location(
    multiset: Paths, rows: NDArray[np.int64], reached: NDArray[np.int64]
) -> _State:
    """Sort paths by the location at the position they have reached; those that end there are -1."""
    following = np.full(len(rows), -1, dtype=np.int64)
    inside = reached < multiset.offsets[rows + 1]
    following[inside] = multiset.codes[reached[inside]]
    order = np.argsort(following, kind="stable")
    return rows[order], reached[order], following[order]
