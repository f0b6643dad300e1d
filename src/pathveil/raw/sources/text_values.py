"""Arrow values by their text: units, trajectories and locations are what their text says.

The integer 7 and the text ``7`` are one value. A column of floats is refused, by its type: a table
in memory turns integers into floats as soon as one is missing, and then all labels above 2⁵³ are
lost, so one person's missing value would rename everybody else's.
"""

from typing import Any

import numpy as np

from pathveil.errors import InputError
from pathveil.raw.sources.text_columns import Texts

LARGEST_EXACT_FLOAT = 2.0**53
_UUID_DIGITS = [index for index in range(36) if index not in {8, 13, 18, 23}]


def texts_of(array: Any, role: str, column: str) -> Texts:
    """Read an Arrow array by its text.

    Args:
        array: an Arrow array of text, whole numbers, decimals, dates, timestamps or booleans, or a
            dictionary of these.
        role: what the column is to us, for the error.
        column: its name, for the error.

    Raises:
        InputError: if the type has no text (a list, a struct, raw bytes of fixed width …), or is
            a float.
    """
    import pyarrow as pa

    check_has_text(array.type, role, column)
    array = decoded(array)
    if not is_text(array.type):
        array = array.cast(pa.large_string())
    return text_buffers(array)


def decoded(array: Any) -> Any:
    """An Arrow array without its dictionary, if it has one."""
    import pyarrow as pa

    if not pa.types.is_dictionary(array.type):
        return array
    values = array.dictionary
    if is_text(values.type):
        values = values.cast(pa.large_binary())  # views can't be taken from
    return values.take(array.indices)


def check_has_text(kind: Any, role: str, column: str) -> None:
    """Refuse a column whose type has no text, by its type alone."""
    import pyarrow as pa

    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    types = pa.types
    if types.is_floating(inner):
        raise refused_float(role, column)
    fine = (
        is_text(inner) or types.is_integer(inner) or types.is_decimal(inner)
        or types.is_date(inner) or types.is_timestamp(inner)
        or types.is_boolean(inner) or types.is_null(inner)
    )  # fmt: skip
    if not fine:
        raise InputError(
            f"The {role} column {column[:80]!r} is of type {str(kind)[:80]}, which can't be read "
            "as text; convert it to text or whole numbers."
        )


def refused_float(role: str, column: str) -> InputError:
    """The error for a unit, trajectory or location column of floats."""
    return InputError(
        f"The {role} column {column[:80]!r} holds floats, which can't tell whole numbers beyond "
        "2^53 apart (tables turn whole numbers into floats as soon as one is missing). Give whole "
        "numbers or text: in pandas dtype 'Int64' or 'string' when the table is made, in SQL "
        "CAST(… AS BIGINT)."
    )


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is text or bytes of variable length."""
    import pyarrow as pa

    return kind in {
        pa.string(), pa.large_string(), pa.string_view(),
        pa.binary(), pa.large_binary(), pa.binary_view(),
    }  # fmt: skip


def text_buffers(array: Any) -> Texts:
    """The texts of an Arrow array of a text type, without copying their bytes."""
    import pyarrow as pa

    if array.null_count:
        # A null may cover bytes; it must read as empty.
        array = array.cast(pa.large_binary()).fill_null(b"")
    elif array.type not in {pa.string(), pa.binary()}:
        array = array.cast(pa.large_binary())
    if len(array) == 0:
        return Texts.from_offsets(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.uint8))
    narrow = array.type in {pa.string(), pa.binary()}
    _, offset_buffer, data_buffer = array.buffers()
    offsets = np.frombuffer(offset_buffer, dtype=np.int32 if narrow else np.int64)
    offsets = offsets[array.offset : array.offset + len(array) + 1]
    data = np.frombuffer(data_buffer or b"", dtype=np.uint8)
    return Texts.from_offsets(offsets.astype(np.int64, copy=False), data)


def uuid_texts(array: Any) -> Any:
    """UUIDs, as 16 bytes each, in their usual text: ``8-4-4-4-12`` small hexadecimal digits."""
    import pyarrow as pa

    present = np.asarray(array.is_valid())
    octets = np.frombuffer(b"".join(array.drop_null().to_pylist()), dtype=np.uint8).reshape(-1, 16)
    digits = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)
    texts = np.full((len(octets), 36), ord("-"), dtype=np.uint8)
    texts[:, _UUID_DIGITS[0::2]] = digits[octets >> 4]
    texts[:, _UUID_DIGITS[1::2]] = digits[octets & 15]
    offsets = np.concatenate([[0], np.cumsum(np.where(present, 36, 0))]).astype(np.int64)
    buffers = [pa.py_buffer(np.packbits(present, bitorder="little")), pa.py_buffer(offsets)]
    buffers.append(pa.py_buffer(texts.tobytes()))
    return pa.Array.from_buffers(pa.large_string(), len(array), buffers)


def float_texts(array: Any) -> Any:
    """Whole floats as integers, the others in their shortest form, NaN and infinities as null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    array = array.cast(pa.float64())
    is_integer = pc.and_(
        pc.equal(array, pc.trunc(array)), pc.less_equal(pc.abs(array), LARGEST_EXACT_FLOAT)
    )
    integers = pc.if_else(is_integer, array, None).cast(pa.int64()).cast(pa.large_string())
    finite = pc.if_else(pc.is_finite(array), array, None)
    return pc.coalesce(integers, finite.cast(pa.large_string()))
