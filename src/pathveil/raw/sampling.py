"""``keep="sample"``: a random c of a unit's trajectories instead of its first c.

The rule. Number the trajectories of a unit 0, 1, 2 … in the order of `bounding`, by the unit's own
ids alone; give each a pseudo-random key, a function of a seed, the unit's id and that number; take
them in the order of their keys. The first c are then as good as a uniform sample, drawn for every
unit on its own (two units that travel on the same days are not given the same days).

Why the sensitivity of a count is still c. The seed is fixed before a row is looked at. For every
seed, what a unit contributes is at most c trajectories and a function of its own rows, the seed and
public parameters: other units neither see nor move its numbers or its keys. So adding or removing a
unit adds or removes at most c trajectories and changes no other, for every seed by itself; a
release is ε-differentially private for every seed, and therefore for a random one. The seed
protects nobody and need not be secret; it must only not be chosen by looking at the data.

What would be wrong: a hash of the position of an id among all units' ids. One more unit's ids shift
those of others, other trajectories of theirs would be kept, and one unit would change counts by
far more than c. (A permutation of all ids, freshly drawn, would do: the order that it induces on
the other units' ids has the same distribution with and without one more unit. But that holds on
average over permutations only, not with a seed that somebody fixed.)
"""

from dataclasses import replace
from secrets import randbits

import numpy as np
from numpy.typing import NDArray

from pathveil.raw.bounding import Visits

STEP = np.uint64(0x9E37_79B9_7F4A_7C15)  # SplitMix64: the step and the two factors
_MIX_1, _MIX_2 = np.uint64(0xBF58_476D_1CE4_E5B9), np.uint64(0x94D0_49BB_1331_11EB)
_SHIFT_1, _SHIFT_2, _SHIFT_3 = np.uint64(30), np.uint64(27), np.uint64(31)


def fresh_seed() -> int:
    """64 bits from the operating system."""
    return randbits(64)


def in_random_order(visits: Visits, seed: int) -> Visits:
    """The same visits, each unit's trajectories in pseudo-random order.

    Args:
        visits: visits with the hashes of their units.
        seed: 64 bits that do not depend on the data.
    """
    if visits.trajectory is None or len(visits.unit) == 0:
        return visits
    if visits.unit_hash is None:
        raise ValueError("the units' hashes were not kept")
    # One number for a (unit, trajectory) pair; a unit's pairs lie together, in the order of ids.
    pair = (visits.unit.astype(np.int64) << 32) + visits.trajectory
    pairs, pair_of = np.unique(pair, return_inverse=True)
    unit = _units_of(visits.unit, pair_of, len(pairs))
    first = np.searchsorted(unit, np.arange(visits.units, dtype=np.int32))
    own_number = (np.arange(len(pairs)) - first[unit]).astype(np.uint64)
    state = mixed(visits.unit_hash ^ np.uint64(seed))
    key = mixed(state[unit] + own_number * STEP)
    rank = np.empty(len(pairs), dtype=np.int32)
    rank[np.lexsort((key, unit))] = np.arange(len(pairs), dtype=np.int32)
    return replace(visits, trajectory=rank[pair_of])


def _units_of(unit: NDArray[np.int32], pair_of: NDArray[np.int64], pairs: int) -> NDArray[np.int32]:
    """The unit of each pair."""
    of_pair = np.empty(pairs, dtype=np.int32)
    of_pair[pair_of] = unit
    return of_pair


def mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of SplitMix64, which spreads every bit over all others."""
    words = (words ^ (words >> _SHIFT_1)) * _MIX_1
    words = (words ^ (words >> _SHIFT_2)) * _MIX_2
    return words ^ (words >> _SHIFT_3)
