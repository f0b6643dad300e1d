"""The index behind count queries: labels to codes, and which sets of locations visit a location."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pathveil.core.paths import Paths, WeightedPaths
from pathveil.errors import QueryError, UniverseError
from pathveil.universe.universe import Universe

# What the questions share: labels to codes, and which path each visit belongs to.


def codes_of(universe: Universe, labels: Collection[str]) -> tuple[int, ...]:
    """The codes of the labels that a question names, in its order; a unique name will do, too.

    Raises:
        QueryError: if a label is not of the universe (with the nearest one that is), or if the
            question is one text instead of several labels.
    """
    if isinstance(labels, str):
        raise QueryError("A query is several location labels, not one text; write it as a list.")
    for label in labels:
        if not isinstance(label, str):
            raise QueryError(f"A location label is text, not {type(label).__name__}.")
    try:
        return tuple(universe.codes(map(universe.label_of, labels)))
    except UniverseError as error:
        raise QueryError(str(error)) from None


def rows_at(paths: Paths, positions: NDArray[np.int64]) -> NDArray[np.int64]:
    """The path that holds each position of ``paths.codes``; int64, the shape of positions."""
    # Of several paths that begin at one place all but the last are empty: hence "right".
    rows: NDArray[np.int64] = np.searchsorted(paths.offsets, positions, side="right") - 1
    return rows


def row_of_visits(paths: Paths) -> NDArray[np.int64]:
    """The path of every visit, int64, shape (len(paths.codes),)."""
    return np.repeat(np.arange(len(paths), dtype=np.int64), paths.lengths)


def order_by_code(codes: NDArray[np.int32], universe_size: int) -> NDArray[np.int64]:
    """The stable order that sorts codes, int64, shape (len(codes),)."""
    # NumPy sorts 16-bit keys by radix, about five times as fast as it merges wider ones.
    keys = codes.astype(np.uint16) if universe_size <= 2**16 else codes
    return np.argsort(keys, kind="stable")


# The index behind many count queries: which distinct sets of locations visit a location.


# At one visit in 64 sets a bitmap is at most twice as large as the location's postings, and
# looking a set up in it is one load instead of a search.
SETS_PER_BITMAP_VISIT = 64


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class VisitIndex:
    """Inverted lists over the distinct sets of locations, with bitmaps for the busy locations.

    A count query (paper, section III-D) asks how many trajectories visit all locations of a set,
    so order and repetition do not matter: paths over the same set are merged into one of their
    summed weight. A query walks the list of its rarest location; where even the rarest is busy
    it intersects bitmaps. Build it once per release and keep it.

    Attributes:
        universe: the universe that the codes index.
        offsets: int64, shape (|L| + 1,); location c is visited by the sets
            ``postings[offsets[c]:offsets[c + 1]]``, ascending.
        postings: int32, numbers of sets.
        weights: int64, shape (number of sets,); how many trajectories visit exactly that set.
        bitmap_of: int32, shape (|L|,); the row of ``bitmaps`` of a location, -1 where it has none.
        bitmaps: uint64, shape (busy locations, ceil(number of sets / 64)).
    """

    universe: Universe
    offsets: NDArray[np.int64]
    postings: NDArray[np.int32]
    weights: NDArray[np.int64]
    bitmap_of: NDArray[np.int32]
    bitmaps: NDArray[np.uint64]

    @classmethod
    def build(
        cls, paths: WeightedPaths, *, sets_per_bitmap_visit: int = SETS_PER_BITMAP_VISIT
    ) -> "VisitIndex":
        """Index a release (or, inside the evaluation, a trajectory database).

        Args:
            paths: what to index.
            sets_per_bitmap_visit: a location has a bitmap if at least one distinct set in this
                many visits it. It moves time and memory, never an answer.
        """
        from pathveil.analysis._intersection import dense_bitmaps
        from pathveil.analysis._merging import distinct_location_sets, transpose

        size = len(paths.universe)
        sets = distinct_location_sets(paths.paths(), size)
        offsets, postings = transpose(sets.offsets, sets.codes, size)
        bitmap_of, bitmaps = dense_bitmaps(offsets, postings, len(sets), sets_per_bitmap_visit)
        return cls(paths.universe, offsets, postings, sets.weights, bitmap_of, bitmaps)

    def __repr__(self) -> str:
        # The paths may be raw: nothing of them is shown.
        return "VisitIndex(<redacted>)"

    def count(self, query: Collection[str]) -> int:
        """How many trajectories visit every location of the query; see `count_many`."""
        return int(self.count_many([query])[0])

    def count_many(self, queries: Sequence[Collection[str]]) -> NDArray[np.int64]:
        """How many trajectories visit every location, for each query.

        Args:
            queries: sets of location labels. A label that is repeated counts once. The empty
                query holds for every trajectory, so its answer is the total weight.

        Returns:
            int64, shape (len(queries),).

        Raises:
            QueryError: if a label is not of the universe.
        """
        if isinstance(queries, str):
            raise QueryError("The queries are a list of sets of labels, not one text.")
        coded = [codes_of(self.universe, query) for query in queries]
        offsets = np.zeros(len(coded) + 1, dtype=np.int64)
        np.cumsum(np.fromiter(map(len, coded), dtype=np.int64), out=offsets[1:])
        flat = np.fromiter((code for codes in coded for code in codes), dtype=np.int32)
        return self._answers(offsets, flat)

    def count_many_codes(self, offsets: ArrayLike, codes: ArrayLike) -> NDArray[np.int64]:
        """`count_many` for queries in compressed rows of location codes.

        Args:
            offsets: int64, shape (n + 1,); query i is ``codes[offsets[i]:offsets[i + 1]]``.
            codes: location codes in ``[0, |L|)``.

        Raises:
            QueryError: if the offsets do not rise from 0 to the number of codes, or a code is
                outside the universe.
        """
        rows = np.ascontiguousarray(offsets, dtype=np.int64)
        values = np.ascontiguousarray(codes, dtype=np.int64)
        rising = len(rows) > 0 and rows[0] == 0 and bool(np.all(rows[1:] >= rows[:-1]))
        if not rising or rows[-1] != len(values):
            raise QueryError("The offsets of the queries must rise from 0 to the number of codes.")
        if len(values) and (values.min() < 0 or values.max() >= len(self.universe)):
            raise QueryError(
                "A location code is outside the universe; codes run from 0 to |L| - 1."
            )
        return self._answers(rows, values.astype(np.int32))

    def _answers(self, offsets: NDArray[np.int64], codes: NDArray[np.int32]) -> NDArray[np.int64]:
        from pathveil.analysis._intersection import count_queries

        answers: NDArray[np.int64] = count_queries(
            offsets,
            codes,
            self.offsets,
            self.postings,
            self.bitmap_of,
            self.bitmaps,
            self.weights,
        )
        return answers
