"""Canonical order, merging, dropping and rounding, against Python's own."""

from collections import Counter
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathveil.core.paths import Paths
from pathveil.methods.calibrated.synthesis import complete
from pathveil.methods.calibrated.synthesis.canonical import (
    SmallPaths,
    block_of,
    concatenate_paths,
    drop_code,
    merge_identical,
    merged_parts,
    take_rows,
)
from pathveil.methods.calibrated.synthesis.complete import rounded_weights


def paths(rows, weights):
    return Paths(
        np.cumsum([0, *map(len, rows)], dtype=np.int64),
        np.array([code for row in rows for code in row], dtype=np.int32),
        np.array(weights, dtype=np.int64),
    )


def rows_of(result):
    rows = np.split(result.codes, result.offsets[1:-1]) if len(result) else []
    return [tuple(row.tolist()) for row in rows]


@st.composite
def multisets(draw):
    """A few codes, so that rows agree for long; sizes for which 64 to 3 codes fit a word."""
    size = draw(st.sampled_from([1, 2, 30, 70_000, 10**6]))
    codes = st.sampled_from(sorted({0, min(1, size - 1), size // 2, size - 1}))
    rows = draw(st.lists(st.lists(codes, min_size=1, max_size=30).map(tuple), max_size=25))
    rows += [row[:cut] for row in rows for cut in (1, 12, 13)]
    weights = draw(st.lists(st.integers(1, 5), min_size=len(rows), max_size=len(rows)))
    return size, rows, weights


@given(multisets())
def test_merged_rows_are_distinct_and_sorted(multiset):
    size, rows, weights = multiset
    expected = Counter()
    for row, weight in zip(rows, weights, strict=True):
        expected[row] += weight
    merged = merge_identical(paths(rows, weights), size)
    assert rows_of(merged) == sorted(expected)
    assert merged.weights.tolist() == [expected[row] for row in sorted(expected)]
    assert merged.codes.dtype == np.int32


@given(multisets())
def test_small_paths_are_the_same_in_half_of_the_bytes(multiset):
    size, rows, weights = multiset
    own = paths(rows, weights)
    halves = [block_of(own, 0, len(own) // 2), block_of(own, len(own) // 2, len(own))]
    small = SmallPaths.joined(iter(halves), size)
    assert small.codes.dtype == (np.uint16 if size < 70_000 else np.int32)
    again = block_of(small, 0, len(small))
    assert rows_of(again) == rows
    assert again.weights.tolist() == weights
    merged = concatenate_paths(merged_parts(small, size))
    expected = merge_identical(own, size)
    assert rows_of(merged) == rows_of(expected)
    assert merged.weights.tolist() == expected.weights.tolist()


@given(multisets(), st.integers(0, 2))
def test_dropping_a_code(multiset, code):
    _, rows, weights = multiset
    kept = [tuple(c for c in row if c != code) for row in rows]
    result = drop_code(paths(rows, weights), code)
    assert rows_of(result) == [row for row in kept if row]
    assert result.weights.tolist() == [w for row, w in zip(kept, weights, strict=True) if row]


def test_take_rows():
    taken = take_rows(paths([[1, 2], [], [3]], [1, 1, 1]), np.array([2, 0, 2]), np.array([4, 5, 6]))
    assert rows_of(taken) == [(3,), (1, 2), (3,)]
    assert taken.weights.tolist() == [4, 5, 6]


@given(
    st.lists(st.floats(0, 50), max_size=30),
    st.floats(0, 1, exclude_max=True),
    st.integers(0, 30),
    st.integers(0, 30),
)
def test_whole_weights_of_any_run_are_off_by_less_than_one(weights, offset, start, stop):
    weights = np.array(weights)
    whole = rounded_weights(weights, offset)
    at_once = np.floor(np.cumsum(weights) + offset).astype(np.int64)
    assert whole.tolist() == np.diff(at_once, prepend=0).tolist()
    with patch.object(complete, "BLOCK", 7):
        assert rounded_weights(weights, offset).tolist() == whole.tolist()
    assert (whole >= 0).all()
    assert abs(whole[start:stop].sum() - weights[start:stop].sum()) < 1 + 1e-9


def test_whole_weights_are_right_on_average():
    weights = np.array([0.3, 1.0, 2.7, 0.1])
    offsets = (np.arange(1000) + 0.5) / 1000
    mean = np.mean([rounded_weights(weights, offset) for offset in offsets], axis=0)
    assert mean == pytest.approx(weights, abs=2e-3)
