"""Runs of visits: a unit is never cut in two, however the sorted rows are batched."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathveil.errors import InputError
from pathveil.raw.engines import visit_runs
from pathveil.raw.engines.visit_runs import RunForm, complete_units, write_runs
from pathveil.raw.reading_plan import Reading, ReadingPlan
from pathveil.raw.sources.opening import open_source
from pathveil.raw.sources.text_columns import Texts
from pathveil.raw.steps import VisitSteps
from pathveil.universe.universe import Universe


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
    tables = [table.to_pydict() for table in complete_units(iter(batches))]
    assert [unit for table in tables for unit in table["unit"]] == ordered
    assert [place for table in tables for place in table["place"]] == list(range(len(ordered)))
    seen = [set(table["unit"]) for table in tables]
    assert sum(map(len, seen)) == len(set(ordered))


def runs_of(rows):
    """What a cluster sorts: the runs of a table in list form with ids of trajectories."""
    table = pa.table(dict(zip(["who", "trip", "where"], zip(*rows, strict=True), strict=True)))
    source = open_source(table)
    reading = Reading(unit="who", trajectory="trip", location="where")
    plan = ReadingPlan.of(source, Universe("ab"), reading)
    form, steps = RunForm.of(source, plan), VisitSteps.of(plan)
    (piece,) = source.pieces(plan.columns)
    return write_runs(steps.encode(piece()), form).to_pylist()


def test_whether_two_lists_of_a_unit_are_one_run_is_not_for_others_to_say():
    """A cluster orders runs by their contents, so how lists are joined must not vary."""
    mine = [("p", "1", ["b"]), ("p", "1", ["a"])]
    alone = runs_of(mine)
    parted = runs_of([mine[0], ("u", "1", ["a"]), mine[1]])
    assert [run for run in parted if run["unit"] == b"p"] == alone
    assert len(alone) == 2


def test_bytes_that_can_not_be_numbered_are_refused_and_never_wrapped(monkeypatch):
    """Offsets of 32 bits that wrapped would give a row the bytes of another one."""
    monkeypatch.setattr(visit_runs, "_MOST_BYTES", 2)
    with pytest.raises(InputError, match="2 GB"):
        visit_runs.as_binary(Texts.from_offsets(np.array([0, 3]), np.zeros(3, dtype=np.uint8)))
