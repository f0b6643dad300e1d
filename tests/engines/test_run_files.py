"""Runs in files: all runs of a unit in one, in the order in which they came, and none lost."""

import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathveil.raw.engines import run_files
from pathveil.raw.engines.run_files import RunFiles, take_units

SCHEMA = pa.schema([("unit", pa.binary()), ("visits", pa.binary())])
UNITS = st.sampled_from([b"a", b"aa", b"b", b"c", b"long enough to be hashed", b"another long one"])


def batch_of(runs):
    units, visits = zip(*runs, strict=True) if runs else ((), ())
    return pa.RecordBatch.from_arrays(
        [pa.array(units, pa.binary()), pa.array(visits, pa.binary())], schema=SCHEMA
    )


def taken(batches, most):
    """What comes back, file by file, from an empty folder to an empty folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = RunFiles(folder, SCHEMA, most)
        for batch in batches:
            files.add(batch_of(batch))
        tables = [take_units(path, SCHEMA) for path in files.paths()]
        assert [path for path in folder.rglob("*") if path.is_file()] == []
        return [list(zip(*table.to_pydict().values(), strict=True)) for table in tables], files


@pytest.fixture(params=[1, 1 << 25], ids=["written at once", "written at the end"])
def portion(request, monkeypatch):
    monkeypatch.setattr(run_files, "_WRITTEN_AT_ONCE", request.param)


@pytest.mark.usefixtures("portion")
@pytest.mark.parametrize("most", [0, 1 << 30], ids=["split to the end", "never split"])
@given(sizes=st.lists(st.integers(0, 5), max_size=8), data=st.data())
def test_a_unit_is_in_one_file_in_its_order_and_nothing_is_lost(most, sizes, data):
    number = 0
    batches = []
    for size in sizes:
        batches.append([(data.draw(UNITS), str(number + i).encode()) for i in range(size)])
        number += size
    everything = [run for batch in batches for run in batch]
    tables, _ = taken(batches, most)
    of_unit = {}
    for table in tables:
        for unit in {unit for unit, _ in table}:
            assert unit not in of_unit  # in one file only
            places = [i for i, run in enumerate(table) if run[0] == unit]
            assert places == list(range(places[0], places[0] + len(places)))  # together
            of_unit[unit] = [visits for other, visits in table if other == unit]
    assert of_unit == {
        unit: [visits for other, visits in everything if other == unit] for unit, _ in everything
    }


def test_what_is_too_large_is_split_until_a_unit_is_alone():
    batches = [[(str(i % 40).encode(), b"v" * 1000) for i in range(400)]]
    large, _ = taken(batches, 1 << 30)
    small, files = taken(batches, 15_000)
    assert len(large) < len(small) == 40
    assert all(len(table) == 10 for table in small)
    done, everything = files.progress
    assert done == everything > 0


def test_progress_of_nothing():
    tables, files = taken([], 1)
    assert tables == []
    assert files.progress == (0, 0)
