"""Points instead of locations: columns of degrees, cells, and what is dropped."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reading_oracle import trajectories

from pathveil.errors import InputError, ParameterError
from pathveil.raw.reading import read_trajectories
from pathveil.raw.sources.columns import Columns, choose_columns
from pathveil.raw.sources.degrees import arrow_degrees, text_degrees
from pathveil.raw.sources.text_values import text_buffers
from pathveil.universe.universe import Universe

GRID = Universe.read("grid:2x2:0,0,2,2")


def degrees(texts):
    return text_degrees(text_buffers(pa.array(texts, pa.string())))


@given(st.lists(st.decimals(-200, 200, places=7), min_size=1, max_size=20))
def test_degrees_are_read_as_python_reads_them(numbers):
    texts = [str(number) for number in numbers]
    assert degrees(texts).tolist() == [float(text) for text in texts]
    assert arrow_degrees(pa.array(texts), "lat").tolist() == [float(text) for text in texts]


def test_what_is_not_a_number_is_nan():
    texts = ["45.5", "-0.3", "", "x", "2024-01-01", "1e1", " 7 ", "nan", "inf", "45,5"]
    expected = [45.5, -0.3, None, None, None, 10.0, 7.0, None, None, None]
    assert [None if np.isnan(v) else v for v in degrees(texts).tolist()] == expected


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32(), pa.string(), pa.decimal128(9, 4)])
def test_degrees_of_every_type(kind):
    values = pa.array([45.5, None, -73.25]).cast(kind)
    found = arrow_degrees(values, "lat")
    assert found[[0, 2]].tolist() == [45.5, -73.25]
    assert np.isnan(found[1])
    assert arrow_degrees(pa.array([7, -8]), "lat").tolist() == [7.0, -8.0]
    with pytest.raises(InputError, match="times, not degrees"):
        arrow_degrees(pa.array([0], pa.timestamp("s")), "lat")


ROWS = {
    "uid": ["u"] * 8 + ["v"],
    "datetime": [f"2024-01-01T00:0{i}" for i in range(8)] + ["2024-01-01T00:00"],
    "lat": ["0.5", "0.6", "1.5", "91", "x", "1.5", "5", "0.5", "1.5"],
    "lng": ["0.5", "0.6", "0.5", "1", "1", "", "0.5", "0.5", "1.5"],
}
# u is in cell 0, 0, 2, then at three bad points, outside, and in cell 0; v in cell 3.


def sources(tmp_path):
    table = pa.table(ROWS)
    lines = [",".join(row) for row in zip(*ROWS.values(), strict=True)]
    (tmp_path / "gps.csv").write_text("\n".join([",".join(ROWS), *lines]))
    pq.write_table(table, tmp_path / "gps.parquet")
    floats = [
        None if value in ("x", "") else float(value) for value in [*ROWS["lat"], *ROWS["lng"]]
    ]
    typed = table.set_column(2, "lat", pa.array(floats[:9])).set_column(
        3, "lng", pa.array(floats[9:])
    )
    return [tmp_path / "gps.csv", tmp_path / "gps.parquet", table, typed, typed.to_pandas()]


def test_points_become_cells_and_bad_ones_drop_their_row(tmp_path):
    for source in sources(tmp_path):
        reports = []
        database = read_trajectories(source, GRID, unit="uid", report=reports.append)
        assert trajectories(database) == {(0, 2, 0): 1, (3,): 1}
        (report,) = reports
        assert report.columns == Columns("uid", None, "datetime", None, "lat", "lng")
        assert (report.rows, report.malformed_rows, report.visits_outside_universe) == (9, 3, 1)
        assert report.repeats_collapsed == 1
        kept = read_trajectories(source, GRID, unit="uid", repeats="keep")
        assert trajectories(kept) == {(0, 0, 2, 0): 1, (3,): 1}


def test_h3_points():
    h3 = pytest.importorskip("h3", reason="the extra 'grid' is not installed")
    universe = Universe.read("h3:5:45.40,-73.98,45.70,-73.47")
    table = pa.table(
        {"uid": ["u", "u"], "lat": [45.5, 45.45], "lng": [-73.6, -73.9], "seq": [1, 2]}
    )
    database = read_trajectories(table, universe, unit="uid")
    expected = [h3.latlng_to_cell(45.5, -73.6, 5), h3.latlng_to_cell(45.45, -73.9, 5)]
    assert [universe.labels[code] for code in database.codes] == expected


def test_a_universe_of_cells_still_takes_labels():
    table = pa.table({"uid": ["u", "u"], "location": ["r1c2", "r9c9"]})
    assert trajectories(read_trajectories(table, GRID, unit="uid")) == {(1,): 1}


def test_platforms_are_read_as_their_station():
    universe = Universe(["S", "T"], aliases={"S1": "S", "S2": "S", "T": "S"})
    table = pa.table({"uid": ["u"] * 5, "location": ["S1", "T", "S", "S2", "Q"]})
    reports = []
    database = read_trajectories(table, universe, unit="uid", report=reports.append)
    # A label of the universe is itself, whatever an alias says.
    assert trajectories(database) == {(0, 1, 0, 0): 1}
    assert reports[0].visits_outside_universe == 1


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["uid", "lat", "lng"], ("lat", "lng")),
        (["uid", "latitude", "longitude"], ("latitude", "longitude")),
        (["uid", "stop_lat", "stop_lon"], ("stop_lat", "stop_lon")),
        (["uid", "lat", "lon"], ("lat", "lon")),
    ],
)
def test_well_known_columns_of_coordinates(names, found):
    columns = choose_columns(names, has_cells=True)
    assert (columns.latitude, columns.longitude, columns.location) == (*found, None)
    with pytest.raises(ParameterError, match="location column"):
        choose_columns(names)


def test_columns_that_are_refused():
    names = ["uid", "location", "lat", "lng", "y", "x"]
    with pytest.raises(ParameterError, match="could be the column 'location' or the point in"):
        choose_columns(names, has_cells=True)
    assert choose_columns(names, location="location", has_cells=True).latitude is None
    assert choose_columns(names).location == "location"
    named = choose_columns(names, latitude="y", longitude="x", has_cells=True)
    assert named.used == ("uid", "y", "x")
    with pytest.raises(ParameterError, match="name both or none"):
        choose_columns(names, latitude="y", has_cells=True)
    with pytest.raises(ParameterError, match="by a location or by coordinates"):
        choose_columns(names, location="location", latitude="y", longitude="x", has_cells=True)
    with pytest.raises(ParameterError, match="it has no cells"):
        choose_columns(names, latitude="y", longitude="x")
    with pytest.raises(ParameterError, match="two roles"):
        choose_columns(names, latitude="y", longitude="y", has_cells=True)
    with pytest.raises(ParameterError, match="no column 'z' for the latitude"):
        choose_columns(names, latitude="z", longitude="x", has_cells=True)
    with pytest.raises(ParameterError, match="Several columns could be the latitude"):
        choose_columns(["uid", "lat", "latitude", "lng"], has_cells=True)
