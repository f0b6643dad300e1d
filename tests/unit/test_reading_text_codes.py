"""Texts to codes by their bytes: exact even where hashes collide."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pathveil.raw.sources.text_codes import MALFORMED, UNKNOWN, TextCodes, hash_texts, repeats
from pathveil.raw.sources.text_columns import Texts
from pathveil.raw.sources.text_values import text_buffers


def texts_of(values):
    return text_buffers(pa.array(values, pa.large_binary()))


def strings(texts: Texts):
    return [
        bytes(texts.data[start:stop]) for start, stop in zip(texts.starts, texts.stops, strict=True)
    ]


# Few letters, so that texts repeat and share beginnings; 8 bytes and more, so that equal hashes
# do not mean equal texts.
long_texts = st.lists(st.text("ab", min_size=8, max_size=10).map(str.encode), max_size=40)


@given(long_texts, st.booleans())
@settings(max_examples=100, deadline=None)
def test_codes_are_exact_by_first_appearance(values, collide):
    texts = texts_of(values)
    hashes = np.ones(len(values), dtype=np.uint64) if collide else hash_texts(texts)
    codes = TextCodes()
    distinct = list(dict.fromkeys(values))
    assert codes.add(texts, hashes).tolist() == [distinct.index(value) for value in values]
    assert strings(codes.values) == distinct
    assert len(codes) == len(distinct)
    assert codes.add(texts, hashes).tolist() == codes.find(texts, hashes).tolist()
    unseen = texts_of([b"c" * 9])
    assert codes.find(unseen, np.ones(1, dtype=np.uint64)).tolist() == [UNKNOWN]
    assert len(codes) == len(distinct)


@given(long_texts, st.booleans())
@settings(max_examples=100, deadline=None)
def test_repeats_are_exact(values, collide):
    texts = texts_of(values)
    hashes = np.ones(len(values), dtype=np.uint64) if collide else hash_texts(texts)
    rows = np.arange(len(values))[::-1].copy()
    found = repeats(texts.starts, texts.stops, texts.data, hashes, rows)
    backwards = values[::-1]
    assert found.tolist() == [
        i > 0 and backwards[i] == backwards[i - 1] for i in range(len(backwards))
    ]


@given(st.lists(st.binary(max_size=12), max_size=20))
@settings(max_examples=300, deadline=None)
def test_a_text_is_malformed_if_it_is_empty_holds_a_nul_or_is_not_utf8(values):
    def usable(value):
        try:
            return bool(value.decode()) and b"\0" not in value
        except UnicodeDecodeError:
            return False

    found = hash_texts(texts_of(values)) != MALFORMED
    assert found.tolist() == [usable(value) for value in values]


@pytest.mark.parametrize(
    ("value", "usable"),
    [
        ("é".encode(), True), ("€".encode(), True), ("🚇".encode(), True),
        (b"\x7f", True), (b"\x80", False), (b"\xc2", False), (b"\xc2\x41", False),
        (b"\xc0\x80", False), (b"\xc1\xbf", False), (b"\xe0\x9f\xbf", False),
        (b"\xe0\xa0\x80", True), (b"\xed\x9f\xbf", True), (b"\xed\xa0\x80", False),
        (b"\xef\xbf\xbf", True), (b"\xf0\x8f\xbf\xbf", False), (b"\xf0\x90\x80\x80", True),
        (b"\xf4\x8f\xbf\xbf", True), (b"\xf4\x90\x80\x80", False), (b"\xf5\x80\x80\x80", False),
        (b"\xe2\x82", False), (b"\xf0\x9f\x9a", False), (b"a\xff", False), (b"a\0b", False),
    ],
)  # fmt: skip
def test_the_edges_of_utf8(value, usable):
    assert (hash_texts(texts_of([value]))[0] != MALFORMED) == usable


def test_short_texts_have_hashes_of_their_own():
    values = [b"%d" % i for i in range(100_000)]
    assert len(set(hash_texts(texts_of(values)).tolist())) == len(values)


def test_a_table_grows_with_its_texts():
    values = [b"%d" % i * 3 for i in range(30_000)] + [b"x" * 1_000_000]
    texts = texts_of(values)
    codes = TextCodes()
    assert np.array_equal(codes.add(texts, hash_texts(texts)), np.arange(len(values)))
    assert strings(codes.values) == values
