"""Runs of visits: a unit is never cut in two, however the sorted rows are batched."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from pathveil.raw.counting.visit_runs import whole_units


@given(
    units=st.lists(st.sampled_from([b"a", b"aa", b"b", b"long enough to be hashed"]), max_size=30),
    sizes=st.lists(st.integers(0, 4), min_size=1, max_size=8),
)
def test_a_unit_is_in_one_table_only_and_nothing_is_lost(units, sizes):
    ordered = sorted(units)
    batches, at, turn = [], 0, 0
    while at < len(ordered):
        size = sizes[turn % len(sizes)] or (turn >= len(sizes))
        part = ordered[at : at + size]
        rows = {"unit": pa.array(part, pa.binary()), "place": range(at, at + len(part))}
        batches.append(pa.RecordBatch.from_pydict(rows))
        at, turn = at + size, turn + 1
    tables = [table.to_pydict() for table in whole_units(iter(batches))]
    assert [unit for table in tables for unit in table["unit"]] == ordered
    assert [place for table in tables for place in table["place"]] == list(range(len(ordered)))
    seen = [set(table["unit"]) for table in tables]
    assert sum(map(len, seen)) == len(set(ordered))
