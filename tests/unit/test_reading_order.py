"""Order values: one value, one rule, natively typed or as text."""

from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.reading_oracle import order_key

from pathveil.errors import InputError
from pathveil.raw.sources.order_values import arrow_order_keys, is_order_text


def keys(array):
    """The keys as the oracle writes them."""
    read = arrow_order_keys(array, "seq")
    rest = np.zeros(len(array), dtype=np.uint64) if read.rest is None else read.rest
    return [
        None if bits == 2**64 - 1 else (bits >> 62, integer, bits & (2**62 - 1))
        for integer, bits in zip(read.integer.tolist(), rest.tolist(), strict=True)
    ]


def test_numbers_keep_their_exact_order():
    texts = ["-2", "-1.5", "-1", "-1e-3", "0", ".5", "0.50000001", "1e0", "+7", "9007199254740993"]
    read = keys(pa.array(texts))
    assert read == sorted(read)
    assert len(set(read)) == len(texts)
    assert keys(pa.array(["9007199254740992"]))[0] < keys(pa.array(["9007199254740993"]))[0]


def test_equal_values_have_equal_keys_however_they_are_written():
    for texts in (
        ["7", "+7", "07", "7.", "7.0", "0.7e1", "70e-1", " 7\t"],
        ["-0.5", "-.5", "-5e-1", "-0.05E+1"],
        ["0", "-0", "0e9999", "0.000"],
        ["2024-02-29", "2024-02-29T00:00", "2024-02-29 00:00:00Z", "2024-02-29t02:30:00,0+02:30"],
        ["2016-12-31T23:59:60Z", "2017-01-01T00:00:00"],
        ["2024-05-01T12:00:00-0400", "2024-05-01T16:00:00+00", "2024-05-01 16:00"],
    ):
        assert len(set(keys(pa.array(texts)))) == 1
        assert None not in keys(pa.array(texts))


@pytest.mark.parametrize(
    "text",
    [
        "", " ", ".", "-", "+-1", "1-", "1e", "e1", "1e+", "1e10000", "0x10", "1_000", "1,5", "nan",
        "inf", "1 2", "٣", "9223372036854775808", "1e19", "12:30", "2024-1-1", "2024-13-01",
        "2023-02-29", "1900-02-29", "2024-00-10", "2024-01-00", "2024-04-31", "2024-01-01T",
        "2024-01-01T24:00", "2024-01-01T12", "2024-01-01T12:60", "2024-01-01T12:00:61",
        "2024-01-01T12:00:00.", "2024-01-01T12:00+", "2024-01-01T12:00+1", "2024-01-01T12:00+24",
        "2024-01-01T12:00+12:60", "2024-01-01T12:00ZZ", "2024-01-01T12:00 UTC", "2024-01-01x12:00",
        "20240-01-01", "-024-01-01", "2024-01-01T12:00:00+0", "2024-01-01T1200", "1\x00",
    ],
)  # fmt: skip
def test_everything_else_is_malformed(text):
    assert keys(pa.array([text, "1"])) == [None, (0, 1, 0)]
    assert not is_order_text(text)


def test_the_calendar_is_gregorian_from_year_0_to_9999():
    read = keys(pa.array(["0000-01-01", "0000-02-29", "9999-12-31T23:59:59"]))
    assert [key[1] for key in read] == [-62_167_219_200, -62_162_121_600, 253_402_300_799]


ALMOST_TIMES = (
    r"[12][0-9]{3}-[01][0-9]-[0-3][0-9]([T ][012][0-9]:[0-6][0-9]"
    r"(:[0-6][0-9]([.][0-9]{1,20})?)?(Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)

texts = st.one_of(
    st.integers().map(str),
    st.decimals(allow_nan=False, allow_infinity=False).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.datetimes().map(str),
    st.datetimes(timezones=st.timezones()).map(str).filter(lambda text: text[-6:-5] in "+-"),
    st.dates().map(str),
    st.text("0123456789+-.eE", max_size=12),
    st.text("0123456789-T:.+Z ", max_size=30),
    st.from_regex(ALMOST_TIMES, fullmatch=True),
    st.text(max_size=8),
)  # fmt: skip


@given(st.lists(texts, min_size=1, max_size=20))
@settings(max_examples=300, deadline=None)
@example(["9223372036854775807", "-9223372036854775807.9", "0.0000000000000000009", "1e-9999"])
@example(["0" * 40 + "1", "1" + "0" * 17, "1" + "0" * 18, "000000000000000000", "1." + "9" * 30])
def test_text_is_read_like_the_oracle(cells):
    assert keys(pa.array(cells)) == [order_key(cell) for cell in cells]


@given(st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), min_size=1))
@settings(max_examples=50, deadline=None)
@example([-(2**63), 2**63 - 1])
def test_integers_read_like_their_text(values):
    array = pa.array(values, pa.int64())
    assert keys(array) == keys(array.cast(pa.string()))


@given(st.lists(st.none() | st.integers(0, 2**64 - 1), min_size=1))
@settings(max_examples=50, deadline=None)
def test_unsigned_integers_read_like_their_text(values):
    array = pa.array(values, pa.uint64())
    assert keys(array) == keys(array.cast(pa.string()))


CENTURIES = ("1700-01-01", "2200-01-01")  # what nanoseconds can hold


@given(
    st.lists(st.none() | st.datetimes(*map(datetime.fromisoformat, CENTURIES)), min_size=1),
    st.sampled_from(["s", "ms", "us", "ns"]),
    st.sampled_from([None, "UTC"]),
)
@settings(max_examples=100, deadline=None)
def test_timestamps_read_like_their_text(values, unit, zone):
    step = {"s": 10**6, "ms": 10**3}.get(unit, 1)
    values = [
        value and value.replace(microsecond=value.microsecond // step * step) for value in values
    ]
    array = pa.array(values, pa.timestamp(unit, zone))
    assert keys(array) == [order_key(value and value.isoformat()) for value in values]


@given(st.lists(st.none() | st.dates(), min_size=1))
@settings(max_examples=50, deadline=None)
def test_dates_read_like_their_text(values):
    for kind in (pa.date32(), pa.date64()):
        assert keys(pa.array(values, kind)) == [order_key(value and str(value)) for value in values]


@given(st.lists(st.none() | st.floats(), min_size=1))
@settings(max_examples=100, deadline=None)
def test_floats_read_like_their_shortest_text(values):
    expected = [order_key(None if value is None else repr(value)) for value in values]
    assert keys(pa.array(values, pa.float64(), from_pandas=False)) == expected


def test_other_types_of_numbers_and_text():
    expected = [(0, 1, 5 * 10**17), None, (0, -2, 0)]
    for kind in (pa.float32(), pa.float64(), pa.decimal128(9, 3), pa.decimal256(50, 20)):
        values = [1.5, None, -2.0]
        if pa.types.is_decimal(kind):
            values = [value and Decimal(value) for value in values]
        assert keys(pa.array(values, kind)) == expected
    assert keys(pa.array(np.array([1.5, -2.0], dtype=np.float16))) == [expected[0], expected[2]]
    for kind in (pa.string_view(), pa.large_string(), pa.binary(), pa.binary_view()):
        values = ["1.5", None, "-2"]
        assert keys(pa.array(values, pa.string()).cast(kind)) == expected
    assert keys(pa.array(["1.5", None, "-2"]).dictionary_encode()) == expected
    assert keys(pa.nulls(2)) == [None, None]
    assert keys(pa.array([10**6 * 86_400_000], pa.timestamp("s"))) == [None]  # after year 9999
    assert (
        keys(pa.array([date(1970, 1, 2), datetime(1970, 1, 2, tzinfo=UTC).date()]))
        == [(1, 86_400, 0)] * 2
    )


@pytest.mark.parametrize(
    "kind", [pa.bool_(), pa.time32("s"), pa.duration("s"), pa.list_(pa.int32()), pa.struct([])]
)
def test_other_types_are_refused_by_their_type(kind):
    with pytest.raises(InputError, match="must hold numbers"):
        arrow_order_keys(pa.nulls(1, kind), "seq")


def test_a_slice_of_a_column_reads_as_if_alone():
    array = pa.array(["x", "1", None, "2.5", "y"])
    assert keys(array.slice(1, 3)) == [(0, 1, 0), None, (0, 2, 5 * 10**17)]
