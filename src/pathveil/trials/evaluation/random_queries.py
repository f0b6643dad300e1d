"""The questions that a release is examined with: the paper's random count queries, and others.

The paper (section V-B): 40,000 random count queries in four subsets; "the query length of the
i-th subset is uniformly distributed in [1, ih/4] and each location is randomly drawn from the
location universe". What it leaves open, and what we do:

- Each location is an independent uniform draw, so a location may be drawn twice. A query is a
  set, so it then asks for fewer locations than its length. On 1,012 locations that hardly ever
  happens; on the 17 of MSNBC long queries lose some.
- ih/4 is rounded down, and is at least 1.
- Queries are the same for every ε, method and run, so that these are compared on equal terms.

A seed fixes the queries. NumPy's generator is right here: no privacy rests on these draws.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.core.paths import WeightedPaths
from pathveil.errors import InputError, ParameterError

PAPER_QUERIES = 40_000
SUBSETS = 4

# One stream of random numbers for each kind of workload, so that asking for one more kind does
# not change the others.
_SUBSETS_STREAM, _FIXED_STREAM, _DATA_STREAM = 1, 2, 3


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Queries:
    """Count queries in compressed rows.

    Attributes:
        longest: the most locations that were drawn from (the paper's max|Q|).
        offsets: int64, shape (n + 1,); query i is ``codes[offsets[i]:offsets[i + 1]]``.
        codes: int32, location codes; a code may repeat within a query and then counts once.
    """

    longest: int
    offsets: NDArray[np.int64]
    codes: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        # Some are drawn from people's trajectories.
        return f"Queries({len(self)} of up to {self.longest} locations)"


def paper_queries(
    universe_size: int, height: int, *, queries: int = PAPER_QUERIES, seed: int = 0
) -> tuple[Queries, ...]:
    """The paper's four subsets; the i-th has lengths uniform in 1 … max(1, ⌊ih/4⌋).

    Args:
        universe_size: |L|.
        height: h.
        queries: how many in all four together.
        seed: fixes the draw.
    """
    _check_count(queries)
    each = -(-queries // SUBSETS)
    return tuple(
        _uniform_locations(
            universe_size,
            np.random.default_rng([seed, _SUBSETS_STREAM, i]).integers(1, longest + 1, each),
            longest,
            np.random.default_rng([seed, _SUBSETS_STREAM, i, 0]),
        )
        for i, longest in enumerate(subset_lengths(height), start=1)
    )


def subset_lengths(height: int) -> tuple[int, ...]:
    """The most locations of the four subsets (the paper's max|Q|)."""
    return tuple(max(1, i * height // SUBSETS) for i in range(1, SUBSETS + 1))


def fixed_length_queries(
    universe_size: int, length: int, *, queries: int, seed: int = 0
) -> Queries:
    """Queries of exactly ``length`` uniform locations (the paper's Fig. 6: 6)."""
    _check_count(queries)
    draw = np.random.default_rng([seed, _FIXED_STREAM])
    return _uniform_locations(universe_size, np.full(queries, length), length, draw)


def single_location_queries(universe_size: int) -> Queries:
    """One query for each location of the universe, in its order."""
    return Queries(
        1,
        np.arange(universe_size + 1, dtype=np.int64),
        np.arange(universe_size, dtype=np.int32),
    )


def queries_from_trajectories(
    paths: WeightedPaths, *, longest: int, shortest: int = 1, queries: int, seed: int = 0
) -> Queries:
    """Queries that somebody's trajectory answers: subsets of the locations of random ones.

    A trajectory is drawn uniformly, then a length uniformly from ``shortest`` to the number of
    distinct locations that it visits (at most ``longest``), then that many of them uniformly.
    Unlike uniform locations, such queries are never about journeys that nobody made.

    Args:
        paths: the raw trajectories.
        longest: the largest length of a query.
        shortest: the smallest; trajectories that visit fewer locations are not drawn from.
        queries: how many.
        seed: fixes the draw.

    Raises:
        InputError: if no trajectory visits so many locations.
    """
    from pathveil.analysis._merging import distinct_location_sets

    _check_count(queries)
    draw = np.random.default_rng([seed, _DATA_STREAM])
    sets = distinct_location_sets(paths.paths(), len(paths.universe))
    long_enough = np.flatnonzero((sets.lengths >= max(shortest, 1)) & (sets.weights > 0))
    if len(long_enough) == 0:
        enough = "a location" if shortest <= 1 else f"{shortest} locations"
        raise InputError(f"No trajectory visits {enough} of the universe: nothing to ask about.")
    upto = np.cumsum(sets.weights[long_enough])
    row = long_enough[np.searchsorted(upto, draw.integers(0, upto[-1], queries), side="right")]
    sizes = sets.lengths[row]
    lengths = draw.integers(max(shortest, 1), np.minimum(sizes, longest) + 1)
    # The whole set of each drawn trajectory, shuffled; the first ``lengths`` of it are kept.
    starts = np.cumsum(sizes) - sizes
    query = np.repeat(np.arange(queries), sizes)
    position = np.arange(len(query)) - starts[query]
    codes = sets.codes[sets.offsets[row][query] + position]
    codes = codes[np.lexsort((draw.random(len(codes)), query))]
    return Queries(longest, _offsets(lengths), codes[position < lengths[query]])


def _uniform_locations(
    universe_size: int,
    lengths: NDArray[np.int64],
    longest: int,
    draw: np.random.Generator,
) -> Queries:
    offsets = _offsets(lengths)
    codes = draw.integers(0, universe_size, offsets[-1], dtype=np.int32)
    return Queries(longest, offsets, codes)


def _offsets(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def _check_count(queries: int) -> None:
    if not 1 <= queries <= 10**8:
        raise ParameterError("The number of queries must lie between 1 and 10⁸.")
