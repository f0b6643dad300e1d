"""One unit, one text: forms that differ only in how they are written are one unit.

A person whose id is ``7`` in one file and ``07`` or ``7.0`` in another would be two units, and lose
twice ε. To take two people for one costs accuracy and nobody's privacy, so where in doubt forms are
merged. A unit's text is brought to its normal form, by itself:

1. Unicode's NFKC: full-width digits and letters, ligatures and no-break spaces become the plain
   ones, and composed and decomposed accents one. (Digits of other scripts, such as Arabic, stay.)
2. White space, controls and characters that show nothing (a byte-order mark, zero-width spaces,
   marks of direction) are trimmed at both ends. What is empty then is missing: its row is dropped.
3. A whole number ``[+-]digits[.zeros]``, of any length, is written plainly: no plus, no leading
   zeros, no point, no minus zero. ``7``, ``+7``, ``007``, ``7.`` and ``7.00`` are one unit.

Nothing else is merged: capitals matter, ``7.5`` is a unit of its own, and so is ``1e3``, because
codes in base 16 look like this, and a table that wrote a long id so has lost its last digits.

All sources and engines code rows in one place (`encoding`), so all follow this rule.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import njit
from pathveil.raw.sources.csv_lines import is_text_bytes
from pathveil.raw.sources.text_codes import copied, hash_texts
from pathveil.raw.sources.text_columns import Texts
from pathveil.raw.sources.text_values import text_buffers

_AS_IT_IS, _SHORTER, _REWRITTEN = 0, 1, 2
_ASCII, _DELETE, _SPACE = 0x80, 0x7F, 0x20
_PLUS, _MINUS, _POINT, _0, _9 = 43, 45, 46, 48, 57
# White space that NFKC leaves, controls, and what shows nothing.
_TRIMMED = "".join(
    chr(code)
    for first, last in (
        (0x01, 0x20), (0x7F, 0xA0), (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x1680, 0x1680),
        (0x180E, 0x180E), (0x2000, 0x200F), (0x2028, 0x202F), (0x205F, 0x206F), (0x3000, 0x3000),
        (0xFEFF, 0xFEFF),
    )
    for code in range(first, last + 1)
)  # fmt: skip


@dataclass(frozen=True, slots=True, repr=False)
class UnitTexts:
    """Units in their normal form.

    Attributes:
        texts: the normal form of each; what is not text is as it was.
        forms: uint64, shape (n,); a hash of what was written where it is another form, else 0.
            None if all are normal.
    """

    texts: Texts
    forms: NDArray[np.uint64] | None

    @classmethod
    def of(cls, written: Texts) -> "UnitTexts":
        """The normal forms of some texts."""
        starts, stops = written.starts.copy(), written.stops.copy()
        kinds = _shorten(starts, stops, written.data)
        normal = Texts(starts, stops, written.data)
        rare = np.flatnonzero(kinds == _REWRITTEN)
        if len(rare):
            rewritten = _rewrite(written.take(rare))
            is_same = hash_texts(rewritten) == hash_texts(written.take(rare))
            kinds[rare[is_same]] = _AS_IT_IS
            normal = _replaced(normal, rare, rewritten)
        changed = np.flatnonzero(kinds != _AS_IT_IS)
        if not len(changed):
            return cls(normal, None)
        forms = np.zeros(len(written), dtype=np.uint64)
        forms[changed] = hash_texts(written.take(changed))
        return cls(normal, forms)


def merged_forms(unit: NDArray[np.int32], forms: NDArray[np.uint64] | None, units: int) -> int:
    """How many forms too many the units have: 2 for one written in three ways.

    Args:
        unit: shape (n,); unit codes in ``[0, units)``, each at least once.
        forms: shape (n,); see `UnitTexts`.
        units: how many there are.
    """
    if forms is None or not forms.any():
        return 0
    order = np.lexsort((forms, unit))
    unit, forms = unit[order], forms[order]
    is_new = (unit[1:] != unit[:-1]) | (forms[1:] != forms[:-1])
    return 1 + int(np.count_nonzero(is_new)) - units


def _rewrite(texts: Texts) -> Texts:
    """The normal forms of texts that are not all plain letters, each of them UTF-8."""
    import pyarrow as pa
    import pyarrow.compute as pc

    together = copied(texts, np.arange(len(texts)))
    offsets = np.append(together.starts, together.stops[-1:])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(together.data)]
    array = pa.Array.from_buffers(pa.large_string(), len(texts), buffers)
    array = pc.utf8_trim(pc.utf8_normalize(array, "NFKC"), characters=_TRIMMED)
    # A minus and zeros: all else is shortened where it stands.
    array = pc.replace_substring_regex(array, r"^-0+([0-9]+(?:\.0*)?)$", r"-\1")
    normal = text_buffers(array)
    starts, stops = normal.starts.copy(), normal.stops.copy()
    _shorten(starts, stops, normal.data)
    return Texts(starts, stops, normal.data)


def _replaced(texts: Texts, rows: NDArray[np.int64], others: Texts) -> Texts:
    """The same texts, but those of some rows."""
    texts = copied(texts, np.arange(len(texts)))
    starts, stops = texts.starts.copy(), texts.stops.copy()
    starts[rows] = others.starts + len(texts.data)
    stops[rows] = others.stops + len(texts.data)
    return Texts(starts, stops, np.concatenate([texts.data, others.data]))


@njit(cache=True, nogil=True)
def _shorten(  # noqa: C901, PLR0912  (helpers called for each text would double its time)
    starts: NDArray[np.int64], stops: NDArray[np.int64], data: NDArray[np.uint8]
) -> NDArray[np.uint8]:
    """Trim ASCII texts, and move their borders to the digits that count.

    Returns:
        What became of each: as it is, shorter, or (another script, ``-007``) yet to be rewritten.
    """
    kinds = np.zeros(len(starts), dtype=np.uint8)
    for row in range(len(kinds)):
        # Unsigned, because a signed index costs a test for negatives at every byte.
        start, stop = np.uint64(starts[row]), np.uint64(stops[row])
        seen = np.uint8(0)
        for i in range(start, stop):
            seen |= data[i]
        if seen >= _ASCII:
            kinds[row] = _REWRITTEN if is_text_bytes(data, starts[row], stops[row]) else _AS_IT_IS
            continue
        one = np.uint64(1)
        while start < stop and (0 < data[start] <= _SPACE or data[start] == _DELETE):
            start += one
        while start < stop and (0 < data[stop - one] <= _SPACE or data[stop - one] == _DELETE):
            stop -= one
        if start < stop and data[start] <= _9:  # else a letter, as most that are no numbers
            first = start
            is_negative = data[start] == _MINUS
            if is_negative or data[start] == _PLUS:
                first += one
            end = first
            while end < stop and _0 <= data[end] <= _9:
                end += one
            tail = end
            if first < end < stop and data[end] == _POINT:
                tail += one
                while tail < stop and data[tail] == _0:
                    tail += one
            if first < end and tail == stop:
                digits = first
                while digits + one < end and data[digits] == _0:
                    digits += one
                if is_negative and data[digits] != _0:
                    if digits > first:
                        kinds[row] = _REWRITTEN
                        continue
                    digits = start
                start, stop = digits, end
        if start != np.uint64(starts[row]) or stop != np.uint64(stops[row]):
            kinds[row] = _SHORTER
            starts[row], stops[row] = start, stop
    return kinds
