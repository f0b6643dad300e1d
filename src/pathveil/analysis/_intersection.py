"""Intersect lists and bitmaps of location sets: the compiled half of `visit_index`."""

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import njit


@njit(cache=True)
def dense_bitmaps(
    offsets: NDArray[np.int64], postings: NDArray[np.int32], sets: int, sets_per_visit: int
) -> tuple[NDArray[np.int32], NDArray[np.uint64]]:
    """Bitmaps of the locations that at least one set in ``sets_per_visit`` visits.

    Returns:
        The bitmap of each location (-1: it has none), int32, shape (|L|,), and the bitmaps,
        uint64, shape (dense locations, ceil(sets / 64)); bit s % 64 of word s // 64 is set s.
    """
    locations = len(offsets) - 1
    bitmap_of = np.full(locations, -1, np.int32)
    dense = 0
    for code in range(locations):
        visits = offsets[code + 1] - offsets[code]
        if visits > 0 and visits * sets_per_visit >= sets:
            bitmap_of[code] = dense
            dense += 1
    bitmaps = np.zeros((dense, (sets + 63) // 64), np.uint64)
    for code in range(locations):
        if bitmap_of[code] >= 0:
            for position in range(offsets[code], offsets[code + 1]):
                member = postings[position]
                bitmaps[bitmap_of[code], member >> 6] |= np.uint64(1) << np.uint64(member & 63)
    return bitmap_of, bitmaps


@njit(cache=True)
def count_queries(
    query_offsets: NDArray[np.int64],
    query_codes: NDArray[np.int32],
    offsets: NDArray[np.int64],
    postings: NDArray[np.int32],
    bitmap_of: NDArray[np.int32],
    bitmaps: NDArray[np.uint64],
    weights: NDArray[np.int64],
) -> NDArray[np.int64]:
    """The weight of the sets that hold all codes of each query; an empty query holds for all."""
    queries = len(query_offsets) - 1
    answers = np.empty(queries, np.int64)
    total = weights.sum()
    for query in range(queries):
        codes = query_codes[query_offsets[query] : query_offsets[query + 1]]
        rarest_first = _rarest_first(codes, offsets)
        if len(rarest_first) == 0:
            answers[query] = total
        elif bitmap_of[rarest_first[0]] >= 0:
            answers[query] = _count_dense(bitmap_of[rarest_first], bitmaps, weights)
        else:
            answers[query] = _count_sparse(
                rarest_first, offsets, postings, bitmap_of, bitmaps, weights
            )
    return answers


@njit(cache=True)
def _rarest_first(codes: NDArray[np.int32], offsets: NDArray[np.int64]) -> NDArray[np.int32]:
    """The codes of a query by rising number of sets that visit them; repeats do no harm."""
    ordered = codes.copy()
    for index in range(1, len(ordered)):
        code = ordered[index]
        visits = offsets[code + 1] - offsets[code]
        position = index
        while (
            position > 0
            and visits < offsets[ordered[position - 1] + 1] - offsets[ordered[position - 1]]
        ):
            ordered[position] = ordered[position - 1]
            position -= 1
        ordered[position] = code
    return ordered


@njit(cache=True)
def _count_dense(
    rows: NDArray[np.int32], bitmaps: NDArray[np.uint64], weights: NDArray[np.int64]
) -> np.int64:
    """Every location has a bitmap: AND them word by word."""
    count = np.int64(0)
    for word in range(bitmaps.shape[1]):
        members = bitmaps[rows[0], word]
        for index in range(1, len(rows)):
            members &= bitmaps[rows[index], word]
        while members != 0:
            count += weights[word * 64 + _lowest_bit(members)]
            members &= members - np.uint64(1)
    return count


@njit(cache=True)
def _lowest_bit(word: np.uint64) -> np.int64:
    """The number of the lowest bit that is set: how many bits lie below it, added up in pairs."""
    below = (word & (~word + np.uint64(1))) - np.uint64(1)
    below -= (below >> np.uint64(1)) & np.uint64(0x5555555555555555)
    pairs = below & np.uint64(0x3333333333333333)
    below = pairs + ((below >> np.uint64(2)) & np.uint64(0x3333333333333333))
    below = (below + (below >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((below * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True)
def _count_sparse(
    rarest_first: NDArray[np.int32],
    offsets: NDArray[np.int64],
    postings: NDArray[np.int32],
    bitmap_of: NDArray[np.int32],
    bitmaps: NDArray[np.uint64],
    weights: NDArray[np.int64],
) -> np.int64:
    """Walk the rarest location's sets and look each up at the other locations."""
    count = np.int64(0)
    reached = offsets[rarest_first]
    for position in range(offsets[rarest_first[0]], offsets[rarest_first[0] + 1]):
        member = postings[position]
        held = True
        for index in range(1, len(rarest_first)):
            code = rarest_first[index]
            if bitmap_of[code] >= 0:
                word = bitmaps[bitmap_of[code], member >> 6]
                held = (word >> np.uint64(member & 63)) & np.uint64(1) != 0
            else:
                end = offsets[code + 1]
                reached[index] = _gallop(postings, reached[index], end, member)
                if reached[index] == end:
                    return count
                held = postings[reached[index]] == member
            if not held:
                break
        if held:
            count += weights[member]
    return count


@njit(cache=True)
def _gallop(postings: NDArray[np.int32], low: int, end: int, member: int) -> int:
    """The first position in ``[low, end)`` whose set is at least member: doubling, then halving."""
    step = 1
    while low + step < end and postings[low + step] < member:
        low += step
        step *= 2
    high = min(low + step, end)
    while low < high:
        middle = (low + high) >> 1
        if postings[middle] < member:
            low = middle + 1
        else:
            high = middle
    return low
