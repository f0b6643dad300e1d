"""Engines whose survivors may be zones, against a dictionary. Add an engine to ENGINES."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.hierarchies import ROWS, TAXONOMY, UNIVERSE, database_of

from pathveil.raw.engines import memory_counter
from pathveil.raw.engines.memory_counter import MemoryCounter
from pathveil.raw.engines.protocol import ExactCounts, Survivors

ENGINES = {"memory": MemoryCounter}
SIZE = len(UNIVERSE)


@pytest.fixture(params=ENGINES.values(), ids=ENGINES.keys(), scope="module")
def engine(request):
    return request.param


@st.composite
def levels(draw):
    """For some levels the (node, code) that survive; a code from |L| on is a zone."""
    codes = st.integers(0, SIZE + len(TAXONOMY) - 1)
    chosen, nodes = [], 1
    for _ in range(draw(st.integers(1, 4))):
        pairs = draw(st.sets(st.tuples(st.integers(0, nodes - 1), codes), min_size=1, max_size=9))
        chosen.append(sorted(pairs))
        nodes = len(pairs)
    return chosen


def oracle(rows, chosen):
    """The node of every row after these levels (None: in none), and the counts of what is next."""
    at = dict.fromkeys(range(len(rows)), 0)
    for depth, pairs in enumerate(chosen):
        for row in list(at):
            code = UNIVERSE.code(rows[row][depth]) if len(rows[row]) > depth else None
            zone = None if code is None else SIZE + int(TAXONOMY.zone_of[code])
            kept = [(at[row], c) for c in (code, zone) if (at[row], c) in pairs]
            if kept:
                at[row] = pairs.index(kept[0])
            else:
                del at[row]
    depth = len(chosen)
    following = Counter(
        (node, UNIVERSE.code(rows[row][depth]))
        for row, node in at.items()
        if len(rows[row]) > depth
    )
    return sorted((node, code, count) for (node, code), count in following.items())


def counts_below(engine, rows, chosen):
    counter = engine(database_of(rows), TAXONOMY)
    survivors = Survivors.root()
    for pairs in [None, *chosen]:
        if pairs is not None:
            parent, code = zip(*pairs, strict=True)
            survivors = Survivors(np.array(parent, np.int64), np.array(code, np.int32))
        exact = ExactCounts.gathered(counter.count_children(survivors))
    return list(
        zip(exact.node.tolist(), exact.location.tolist(), exact.count.tolist(), strict=True)
    )


@settings(deadline=None, max_examples=300)
@given(rows=ROWS, chosen=levels())
def test_a_row_goes_to_its_location_if_that_survived_and_else_to_its_zone(engine, rows, chosen):
    assert counts_below(engine, rows, chosen) == oracle(rows, chosen)


@settings(deadline=None, max_examples=100)
@given(rows=ROWS, chosen=levels())
def test_by_ranks_of_codes_it_is_the_same(rows, chosen):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory_counter, "MOST_CODES", 1)
        assert counts_below(MemoryCounter, rows, chosen) == oracle(rows, chosen)
