"""Number distinct texts by first appearance: a hash table over raw bytes.

Compiled, incremental and exact: two texts get one code only if their bytes are equal. No Python
string is made of a person's id.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import njit
from pathveil.raw.sources.csv_lines import is_text_bytes
from pathveil.raw.sources.text_columns import Texts

MALFORMED: Final = np.uint64(0)  # the hash of a text that can't be used; no other text has it
UNKNOWN: Final = -1

_OFFSET_BASIS = np.uint64(14_695_981_039_346_656_037)  # FNV-1a
_PRIME = np.uint64(1_099_511_628_211)
_MIX_1 = np.uint64(0xFF51_AFD7_ED55_8CCD)  # the finaliser of MurmurHash3
_MIX_2 = np.uint64(0xC4CE_B9FE_1A85_EC53)
_SHIFT, _BYTE = np.uint64(33), np.uint64(8)
_ONE = np.uint64(1)
_ASCII = 0x80
_SHORT = 7  # so many bytes and their number fit 64 bits
_FIRST_SLOTS = 2**12
_FIRST_BYTES = 2**16


class TextCodes:
    """Codes 0, 1, 2 … for distinct texts, in the order in which they are first added."""

    def __init__(self) -> None:
        # A slot is a hash and a code + 1; 0 in second place is a free slot. At most half are taken.
        self._slots = np.zeros((_FIRST_SLOTS, 2), dtype=np.uint64)
        self._offsets = np.zeros(_FIRST_SLOTS // 2 + 1, dtype=np.int64)
        self._data = np.empty(_FIRST_BYTES, dtype=np.uint8)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def values(self) -> Texts:
        """The distinct texts, in the order of their codes, one after the other."""
        offsets = self._offsets[: self._count + 1]
        return Texts.from_offsets(offsets, self._data[: offsets[-1]])

    def add(self, texts: Texts, hashes: NDArray[np.uint64]) -> NDArray[np.int32]:
        """The codes of some texts; new texts get new codes.

        Args:
            texts: the texts, none malformed.
            hashes: their `hash_texts`.

        Returns:
            int32, one code for each text.
        """
        codes = np.empty(len(texts), dtype=np.int32)
        done = 0
        while (done := self._look_up(texts, hashes, codes, done, add=True)) < len(texts):
            self._grow(int(texts.stops[done] - texts.starts[done]))
        return codes

    def find(self, texts: Texts, hashes: NDArray[np.uint64]) -> NDArray[np.int32]:
        """The code of each text (int32), `UNKNOWN` where it was never added. Changes nothing."""
        codes = np.empty(len(texts), dtype=np.int32)
        self._look_up(texts, hashes, codes, 0, add=False)
        return codes

    def _look_up(
        self,
        texts: Texts,
        hashes: NDArray[np.uint64],
        codes: NDArray[np.int32],
        done: int,
        *,
        add: bool,
    ) -> int:
        done, count = _look_up(
            texts.starts, texts.stops, texts.data, hashes, codes, done,
            self._slots, self._offsets, self._data, self._count, add,
        )  # fmt: skip
        if add:
            self._count = count
        return int(done)

    def _grow(self, needed_bytes: int) -> None:
        """Make room for one more text, and as many more as there are now."""
        if self._count + 1 == len(self._offsets):
            slots = np.zeros((2 * len(self._slots), 2), dtype=np.uint64)
            _rehash(self._slots, slots)
            self._slots = slots
            self._offsets = _enlarged(self._offsets, len(slots) // 2 + 1)
        used = int(self._offsets[self._count])
        if used + needed_bytes > len(self._data):
            self._data = _enlarged(self._data, 2 * len(self._data) + needed_bytes)


def _enlarged(array: NDArray[Any], size: int) -> NDArray[Any]:
    larger = np.empty(size, dtype=array.dtype)
    larger[: len(array)] = array
    return larger


def hash_texts(texts: Texts) -> NDArray[np.uint64]:
    """Hash each text; `MALFORMED` where it is empty, holds a NUL or is not UTF-8.

    Returns:
        uint64, shape (n,).
    """
    hashes: NDArray[np.uint64] = _hash_all(texts.starts, texts.stops, texts.data)
    return hashes


@njit(cache=True, nogil=True)
def _hash_all(
    starts: NDArray[np.int64], stops: NDArray[np.int64], data: NDArray[np.uint8]
) -> NDArray[np.uint64]:
    hashes = np.empty(len(starts), dtype=np.uint64)
    for row in range(len(hashes)):
        # Unsigned, because a signed index costs a test for negatives at every byte.
        start, stop = np.uint64(starts[row]), np.uint64(stops[row])
        plain = start < stop
        if stop - start <= _SHORT:
            value = stop - start
            for i in range(start, stop):
                plain &= 0 < data[i] < _ASCII
                value = (value << _BYTE) | np.uint64(data[i])
        else:
            value = _OFFSET_BASIS
            for i in range(start, stop):
                plain &= 0 < data[i] < _ASCII
                value = (value ^ np.uint64(data[i])) * _PRIME
        usable = plain or is_text_bytes(data, starts[row], stops[row])
        hashes[row] = _mixed(value) if usable else MALFORMED
    return hashes


@njit(cache=True, nogil=True)
def _mixed(value: np.uint64) -> np.uint64:
    """Spread the bits; one to one, so that short texts of one size have hashes of their own."""
    value = (value ^ (value >> _SHIFT)) * _MIX_1
    value = (value ^ (value >> _SHIFT)) * _MIX_2
    value ^= value >> _SHIFT
    return value if value != MALFORMED else np.uint64(1)


@njit(cache=True, nogil=True)
def repeats(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    data: NDArray[np.uint8],
    hashes: NDArray[np.uint64],
    rows: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Whether the text of each of some rows is that of the one before; bool, shape (n,)."""
    repeated = np.zeros(len(rows), dtype=np.bool_)
    for i in range(1, len(rows)):
        before, row = rows[i - 1], rows[i]
        size = np.uint64(stops[row] - starts[row])
        if hashes[before] == hashes[row] and np.uint64(stops[before] - starts[before]) == size:
            first, second = np.uint64(starts[before]), np.uint64(starts[row])
            same = size if size <= _SHORT else np.uint64(0)
            while same < size and data[first + same] == data[second + same]:
                same += _ONE
            repeated[i] = same == size
    return repeated


@njit(cache=True, nogil=True)
def _look_up(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    data: NDArray[np.uint8],
    hashes: NDArray[np.uint64],
    codes: NDArray[np.int32],
    done: int,
    slots: NDArray[np.uint64],
    key_offsets: NDArray[np.int64],
    key_data: NDArray[np.uint8],
    count: int,
    add: bool,
) -> tuple[int, int]:
    """Code the texts from ``done`` on, until one does not fit: (texts done, codes in use).

    All in one loop: handing arrays to a helper for each text costs ten times the look-up.
    """
    mask = np.uint64(len(slots) - 1)
    for row in range(done, len(codes)):
        size = np.uint64(stops[row] - starts[row])
        at = np.uint64(starts[row])
        slot = hashes[row] & mask
        while slots[slot, 1] != 0:
            if slots[slot, 0] == hashes[row]:
                key = np.uint64(key_offsets[slots[slot, 1] - _ONE])
                if np.uint64(key_offsets[slots[slot, 1]]) - key == size:
                    # Short texts of one size and one hash are equal.
                    same = size if size <= _SHORT else np.uint64(0)
                    while same < size and key_data[key + same] == data[at + same]:
                        same += _ONE
                    if same == size:
                        break
            slot = (slot + _ONE) & mask
        if slots[slot, 1] == 0 and add:
            used = np.uint64(key_offsets[count])
            if count + 1 == len(key_offsets) or used + size > len(key_data):
                return row, count
            for i in range(size):
                key_data[used + i] = data[at + i]
            count += 1
            key_offsets[count] = used + size
            slots[slot, 0] = hashes[row]
            slots[slot, 1] = count
        codes[row] = np.int64(slots[slot, 1]) - 1
    return len(codes), count


@njit(cache=True, nogil=True)
def _rehash(slots: NDArray[np.uint64], larger: NDArray[np.uint64]) -> None:
    mask = len(larger) - 1
    for old in range(len(slots)):
        if slots[old, 1] != 0:
            slot = np.int64(slots[old, 0] & np.uint64(mask))
            while larger[slot, 1] != 0:
                slot = (slot + 1) & mask
            larger[slot] = slots[old]


def copied(texts: Texts, rows: NDArray[np.int64]) -> Texts:
    """Copies of some texts, one after the other."""
    chosen = texts.take(rows)
    offsets = np.concatenate([[0], np.cumsum(chosen.stops - chosen.starts)])
    data = np.empty(offsets[-1], dtype=np.uint8)
    _copy(chosen.starts, chosen.data, offsets, data)
    return Texts.from_offsets(offsets, data)


@njit(cache=True, nogil=True)
def _copy(
    starts: NDArray[np.int64],
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    copied: NDArray[np.uint8],
) -> None:
    one = np.uint64(1)
    for i in range(len(starts)):
        # Unsigned, because a signed index costs a test for negatives at every byte.
        at, stop, source = np.uint64(offsets[i]), np.uint64(offsets[i + 1]), np.uint64(starts[i])
        while at < stop:
            copied[at] = data[source]
            at += one
            source += one
