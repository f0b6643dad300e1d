"""Which files all of Spark's workers read, and which one of them: told before Spark is started."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pathveil.errors import ParameterError
from pathveil.raw.engines.engine import Engine
from pathveil.raw.reading_plan import Reading
from pathveil.universe.universe import Universe

STOPS = Universe(["a", "b"])
VISITS = {"who": [1, 1], "at": [2, 1], "where": ["a", "b"]}
LISTS = {"who": [1], "where": [["a", "b"]]}


def all_read(source, **roles):
    reading = Reading(unit="who", location="where", **roles)
    return Engine("spark", master="local[2]")._spark_reads(source, STOPS, reading)


def written(folder, rows):
    pq.write_table(pa.table(rows), folder / "part.parquet")
    return folder


def test_visits_with_an_order_are_read_by_all(tmp_path):
    assert all_read(written(tmp_path, VISITS), order="at")


def test_visits_in_the_order_of_the_rows_are_read_by_one(tmp_path):
    folder = written(tmp_path, VISITS)
    assert not all_read(folder)
    assert not all_read(folder / "part.parquet")
    assert not all_read(str(folder / "*.parquet"))


def test_lists_have_an_order_of_their_own(tmp_path):
    assert all_read(written(tmp_path, LISTS))


@pytest.mark.parametrize("source", ["table:taps", "orc:/taps", "delta:/taps", "hdfs://a/taps"])
def test_what_only_spark_sees_is_left_to_it(source):
    assert all_read(source)


def test_a_column_that_is_not_there_is_found_out_at_once(tmp_path):
    with pytest.raises(ParameterError, match="'wo'"):
        Engine("spark", master="local[2]")._spark_reads(
            written(tmp_path, VISITS), STOPS, Reading(unit="wo", location="where")
        )
