"""A table in ranges: every cell in exactly one, however the engine cuts its blocks."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathveil.core.noise import Laplace
from pathveil.gate import add_noise as module
from pathveil.gate.add_noise import ranges, sparse_table
from pathveil.gate.randomness import Randomness

CELLS = 40


def seeded(seed):
    return Randomness(np.random.default_rng(seed))  # noqa: TID251


@pytest.fixture(scope="module", autouse=True)
def small_ranges():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_OCCUPIED", 3)
        yield


@st.composite
def streams(draw):
    """Occupied cells, their counts, and the same in blocks of any sizes."""
    cells = sorted(draw(st.sets(st.integers(0, CELLS - 1))))
    occupied = np.array(cells, dtype=np.int64)
    counts = np.array([draw(st.integers(1, 50)) for _ in cells], dtype=np.int64)
    cuts = sorted(draw(st.lists(st.integers(0, len(cells)), max_size=6)))
    blocks = list(zip(np.split(occupied, cuts), np.split(counts, cuts), strict=True))
    return occupied, counts, blocks


@given(stream=streams())
def test_every_cell_is_in_exactly_one_range(stream):
    occupied, counts, blocks = stream
    parts = list(ranges(blocks, CELLS))
    covered = [cell for part in parts for cell in range(part.begin, part.end)]
    assert covered == list(range(CELLS))
    found = np.concatenate([part.begin + part.occupied for part in parts])
    assert found.tolist() == occupied.tolist()
    assert np.concatenate([part.counts for part in parts]).tolist() == counts.tolist()
    assert [len(part.occupied) for part in parts[:-1]] == [3] * (len(parts) - 1)


@given(stream=streams(), seed=st.integers(0, 2**32))
def test_how_an_engine_cuts_its_blocks_decides_nothing(stream, seed):
    occupied, counts, blocks = stream
    public = (CELLS, Laplace(Fraction(1, 4)), 3)
    whole = sparse_table([(occupied, counts)], *public, seeded(seed))
    table = sparse_table(iter(blocks), *public, seeded(seed))
    assert table.keys.tolist() == whole.keys.tolist()
    assert table.counts.tolist() == whole.counts.tolist()
    assert np.all(np.diff(table.keys) > 0)


@pytest.mark.parametrize(
    "cells",
    [
        [[4, 4]],
        [[5, 4]],
        [[0, 1, 2], [2]],
        [[0, 1, 9], [3]],
        [[0, 1, 2, 3], [1]],
        [[CELLS]],
    ],
    ids=["twice", "descending", "twice in blocks", "late", "late in a range", "outside"],
)
def test_an_engine_that_counts_out_of_order_is_refused(cells):
    blocks = [(np.array(block), np.ones(len(block), dtype=np.int64)) for block in cells]
    with pytest.raises(RuntimeError, match="out of order"):
        list(ranges(blocks, CELLS))
