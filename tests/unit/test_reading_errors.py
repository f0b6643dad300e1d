"""What can't be read: one clear error of our own, which quotes nothing of the data."""

import os
import re
import traceback

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pathveil.errors import InputError, ParameterError, PathveilError
from pathveil.raw.reading import read_trajectories
from pathveil.raw.sources.raw_rows import attempt
from pathveil.universe.universe import Universe

UNIVERSE = Universe(["a", "b", "c"])
CANARY = "canary-7f3a"
TABLE = pa.table({"card": [CANARY, "u2"], "seq": [1, 2], "stop": ["a", "b"]})


def failure(source, **options):
    """The error of reading a source, checked not to lead to a value of the data."""
    options = {"unit": "card", "location": "stop"} | options
    with pytest.raises(PathveilError) as caught:
        read_trajectories(source, UNIVERSE, **options)
    error = caught.value
    shown = "".join(traceback.format_exception(error)) + repr(error)
    assert CANARY not in shown
    while error is not None:
        assert CANARY not in f"{error} {error.args}"
        error = error.__cause__ or error.__context__
    return caught.value


def csv_file(tmp_path, content):
    path = tmp_path / "taps.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def parquet_file(tmp_path, table=TABLE):
    path = tmp_path / "taps.parquet"
    pq.write_table(table, path)
    return path


def test_a_missing_file(tmp_path):
    error = failure(tmp_path / "nowhere.csv")
    assert isinstance(error, InputError)
    assert "nowhere.csv: No such file" in str(error)


def test_a_folder(tmp_path):
    assert "is a folder" in str(failure(tmp_path))


def test_a_path_through_a_file(tmp_path):
    path = csv_file(tmp_path, "card,stop\n")
    assert "Can't read" in str(failure(path / "inside"))


def test_an_impossible_path():
    assert "path" in str(failure("a\0b"))


@pytest.mark.parametrize("name", ["taps.csv", "taps.parquet"])
def test_no_permission(name, tmp_path, monkeypatch):
    path = tmp_path / name
    path.write_bytes(b"card,stop\n")
    opened = os.open

    def refuse(name, *args, **kwargs):
        if os.fspath(name) == str(path):
            raise PermissionError(13, "Permission denied", str(path))
        return opened(name, *args, **kwargs)

    monkeypatch.setattr(os, "open", refuse)  # chmod would not stop root
    assert "Permission denied" in str(failure(path))


def test_a_disk_that_fails_half_way(tmp_path, monkeypatch):
    path = csv_file(tmp_path, f"card,stop\n{CANARY},a\n")
    from pathveil.raw.sources import csv_lines

    def broken(file):
        yield file.read(3), 0
        raise OSError(5, f"Input/output error near {CANARY}")

    monkeypatch.setattr(csv_lines, "line_blocks", broken)
    assert "can't be read" in str(failure(path))


def test_memory_runs_out(tmp_path, monkeypatch):
    from pathveil.raw.sources import csv_lines

    def full(*_):
        raise MemoryError(CANARY)

    monkeypatch.setattr(csv_lines, "split_fields", full)
    assert "Not enough memory" in str(failure(csv_file(tmp_path, f"card,stop\n{CANARY},a\n")))


def test_ctrl_c_is_not_swallowed(tmp_path, monkeypatch):
    from pathveil.raw.sources import csv_lines

    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(csv_lines, "line_blocks", interrupted)
    with pytest.raises(KeyboardInterrupt):
        read_trajectories(csv_file(tmp_path, "card,stop\n"), UNIVERSE, unit="card", location="stop")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n\n", "does not begin with a header"),
        (b"   \ncard,stop\n", "does not begin with a header"),
        (b"\xef\xbb\xbf", "does not begin with a header"),
        ("card,stop\n".encode("utf-16-le"), "UTF-16"),
        ("card,stop\n".encode("utf-32"), "UTF-16"),
        ("cardé,stop\n".encode("latin-1"), "header .* is not text .*--encoding windows-1252"),
        (b"card," + b"x" * 2**20, "first line does not end"),
        (b"\x1f\x8b\x08\0\0\0", "damaged"),
        (b"PK\x03\x04\x14\0", "not a zip archive"),
    ],
)
def test_a_csv_file_without_a_usable_header(content, message, tmp_path):
    error = failure(csv_file(tmp_path, content))
    assert re.search(message, str(error))


def test_duplicate_names_in_a_header(tmp_path):
    error = failure(csv_file(tmp_path, f"card,stop,card\n{CANARY},a,x\n"))
    assert "2 columns named 'card'" in str(error)


def test_an_unknown_column_in_every_source(tmp_path):
    frames = [pd.DataFrame, pl.DataFrame, pa.table]
    sources = [frame({"Card": [CANARY], "stop": ["a"]}) for frame in frames]
    sources.append(csv_file(tmp_path, f"Card,stop\n{CANARY},a\n"))
    sources.append(parquet_file(tmp_path, sources[2]))
    for source in sources:
        error = failure(source)
        assert isinstance(error, ParameterError)
        assert "Did you mean 'Card'? Columns: 'Card', 'stop'." in str(error)


@pytest.mark.parametrize(
    "first", [f"{CANARY},1,x", f"{CANARY},2024-01-01T10:00,x", f"{CANARY},x,a", f"{CANARY};4;a"]
)
def test_a_lost_header_is_a_row_of_data_and_not_shown(first, tmp_path):
    error = failure(csv_file(tmp_path, f"{first}\n{first}\n"))
    assert "does not look like a header" in str(error)
    assert "Did you mean" not in str(
        failure(csv_file(tmp_path, f"{first}\n"), unit=CANARY[:-1] + "b")
    )


def test_no_unit_column():
    error = failure(pa.table({"who": ["u"], "location": ["a"]}), unit=None, location=None)
    assert "unit column (whose privacy is protected) is required" in str(error)


def test_truncated_and_damaged_parquet(tmp_path):
    path = parquet_file(tmp_path, pa.table({"card": [CANARY] * 1000, "stop": ["a"] * 1000}))
    whole = path.read_bytes()
    for size in (4, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        assert "not a readable Parquet file" in str(failure(path))
    middle = bytearray(whole)
    middle[4:60] = b"\xff" * 56  # the pages, not the footer
    path.write_bytes(middle)
    assert "Parquet" in str(failure(path))
    path.write_bytes(b"")  # named so, but empty
    assert "not a readable Parquet file" in str(failure(path))


def test_parquet_without_the_columns(tmp_path):
    assert "no column 'zone'" in str(failure(parquet_file(tmp_path), location="zone"))


@pytest.mark.parametrize(
    "column",
    [
        pa.array([[["a"]]], pa.list_(pa.list_(pa.string()))),
        pa.array([[{"x": "a"}]]),
        pa.array([{"x": "a"}]),
        pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())),
        pa.array([b"abc"], pa.binary(3)),
        pa.array([1], pa.duration("s")),
    ],
    ids=lambda column: str(column.type),
)
def test_types_without_text(column, tmp_path):
    table = pa.table({"card": ["u"], "stop": column})
    assert "can't be read as text" in str(failure(table))
    assert "The location column 'stop' is of type" in str(failure(parquet_file(tmp_path, table)))
    unit = pa.table({"card": column, "stop": ["a"]})
    assert "The unit column 'card' is of type" in str(failure(unit))


def test_lists_that_are_not_locations():
    table = pa.table({"card": [["u"]], "stop": ["a"]})
    assert "unit column 'card' is of type list" in str(failure(table))


def test_an_order_of_the_wrong_type():
    table = pa.table({"card": ["u"], "stop": ["a"], "late": [True]})
    assert "order column 'late' is of type bool" in str(failure(table, order="late"))


def test_sources_that_are_nothing_of_the_kind():
    for source in (None, 7, [["a"]], {"card": [1]}, b"card,stop"):
        assert "Can't read trajectories from a" in str(failure(source))
    assert "through Arrow" in str(failure(pa.chunked_array([["a"]])))


def test_a_frame_that_can_not_be_converted_is_not_quoted():
    sparse = pd.Series([CANARY, "a"]).astype(pd.SparseDtype(object))
    frame = pd.DataFrame({"card": sparse, "stop": ["a"] * 2})
    assert "through Arrow" in str(failure(frame))


def test_a_stream_that_fails_is_not_quoted():
    class Broken:
        def __arrow_c_stream__(self, requested_schema=None):
            raise ValueError(CANARY)

    assert "through Arrow" in str(failure(Broken()))

    def batches():
        yield TABLE.to_batches()[0]
        raise ValueError(CANARY)

    reader = pa.RecordBatchReader.from_batches(TABLE.schema, batches())
    assert "through Arrow" in str(failure(reader))


def test_a_universe_is_required():
    with pytest.raises(ParameterError, match="must be a Universe"):
        read_trajectories(TABLE, ["a", "b"], unit="card", location="stop")


def test_attempt_leaves_no_trace_of_the_original():
    def fail():
        raise KeyError(CANARY)

    with pytest.raises(InputError) as caught:
        attempt(fail, "It failed.")
    assert caught.value.__cause__ is caught.value.__context__ is None
    assert attempt(lambda: 3, "") == 3
    with pytest.raises(ParameterError, match="ours"):
        attempt(lambda: (_ for _ in ()).throw(ParameterError("ours")), "theirs")


@pytest.mark.parametrize("unit", [None, "card_id"])
def test_a_first_row_of_free_text_is_not_shown_as_column_names(tmp_path, unit):
    path = tmp_path / "taps.csv"
    path.write_text("zq7unit4711,zq7place9953\nzq7unit4712,zq7place9954\n")
    with pytest.raises(ParameterError) as caught:
        read_trajectories(path, Universe(["A", "B"]), unit=unit)
    assert "zq7" not in str(caught.value)
    assert "header" in str(caught.value)
