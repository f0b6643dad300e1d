"""The order of trajectory ids, which decides which c of a unit are kept: see `bounding`."""

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import njit
from pathveil.raw.sources.text_columns import Texts

_MAX_DIGITS = 18
_MINUS, _0, _9 = 45, 48, 57


def rank_trajectory_ids(ids: Texts) -> NDArray[np.int32]:
    """The position of each id in the order that the rule of `bounding` gives to all of them.

    Args:
        ids: distinct ids that lie one after the other.

    Returns:
        int32, shape (n,).
    """
    number, is_number, canonical = _as_integers(ids.starts, ids.stops, ids.data)
    order = np.arange(len(ids))
    if not canonical:
        # Bytes settle only what the numbers leave open, so sort by them first.
        order = order_of_bytes(ids)
    order = order[np.lexsort((number[order], ~is_number[order]))]
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return rank


def order_of_bytes(ids: Texts) -> NDArray[np.int64]:
    """The positions of some texts, which lie one after the other, in the order of their bytes."""
    import pyarrow as pa
    import pyarrow.compute as pc

    offsets = np.append(ids.starts, ids.stops[-1:])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(ids.data)]
    array = pa.Array.from_buffers(pa.large_binary(), len(ids), buffers)
    return np.asarray(pc.sort_indices(array).to_numpy(), dtype=np.int64)


@njit(cache=True, nogil=True)
def _as_integers(
    starts: NDArray[np.int64], stops: NDArray[np.int64], data: NDArray[np.uint8]
) -> tuple[NDArray[np.int64], NDArray[np.bool_], bool]:
    """Read ids as whole numbers, ``-?[0-9]{1,18}``.

    Returns:
        The value (0 for others); whether it is one; and whether all are one and are written so
        that no two can have the same value (no leading zero, no minus zero).
    """
    number = np.zeros(len(starts), dtype=np.int64)
    is_number = np.zeros(len(number), dtype=np.bool_)
    canonical = True
    for i in range(len(number)):
        start, stop = starts[i], stops[i]
        negative = start < stop and data[start] == _MINUS
        start += 1 if negative else 0
        value = np.int64(0)
        good = 1 <= stop - start <= _MAX_DIGITS
        for j in range(start, stop if good else start):
            good &= _0 <= data[j] <= _9
            value = value * 10 + data[j] - _0
        if good:
            number[i] = -value if negative else value
            is_number[i] = True
            canonical &= data[start] != _0 or (stop - start == 1 and not negative)
        canonical &= good
    return number, is_number, canonical
