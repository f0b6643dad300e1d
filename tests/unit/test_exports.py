"""A release in the shapes that other tools read says what the release says."""

import csv
import json
import struct
from collections import Counter
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pathveil as pv
from pathveil.core.noisy_tree import EstimatedTree
from pathveil.core.parameters import Parameters
from pathveil.core.paths import Paths
from pathveil.errors import ParameterError, ReleaseError
from pathveil.progress_reports import reported_to
from pathveil.release.exports import visit_rows
from pathveil.release.exports.published import NAMES
from pathveil.release.exports.visit_rows import slot_clocks, slot_datetimes
from pathveil.times.time_grid import TimeGrid

LABELS = ['=1+"2"', "<b>&'é", "-S3", "S,4"]
UNIVERSE = pv.Universe(
    LABELS,
    names=["one", "=two", "", "four"],
    latitude=[45.5, 45.25, 45.0, -33.0],
    longitude=[-73.5, -73.25, -73.0, 151.0],
)
XES = "{http://www.xes-standard.org/}"


def release_of(weighted, universe=UNIVERSE, *, grid=None, is_private=True):
    """A release of given paths: {path of codes: how often}, in canonical order."""
    items = sorted(weighted.items())
    parameters = Parameters.choose(
        epsilon="1", height=4, universe_size=len(universe), time_grid=grid, method="full"
    )
    empty = np.empty(0, np.int64)
    tree = EstimatedTree(
        parent=empty,
        location=empty.astype(np.int32),
        level=empty.astype(np.int32),
        noisy_count=empty,
        estimate=empty,
        parameters=parameters,
        is_private=is_private,
    )
    offsets = np.cumsum([0, *(len(path) for path, _ in items)])
    codes = [code for path, _ in items for code in path]
    paths = Paths(
        np.array(offsets, np.int64),
        np.array(codes, np.int32),
        np.array([weight for _, weight in items], np.int64),
    )
    return pv.Release(universe, tree, paths)


PATHS = {(0, 1): 3, (0, 1, 1): 1, (2, 3, 2): 2, (3,): 1}


@pytest.fixture
def release():
    return release_of(PATHS)


def sequences(rows):
    """[(trajectory, order, location)] → multiset of label tuples, checked to be in order."""
    found = {}
    for trajectory, order, location in rows:
        path = found.setdefault(trajectory, [])
        path.append(location)
        assert order == len(path)
    assert list(found) == list(range(1, len(found) + 1))
    return Counter(map(tuple, found.values()))


def expected(release):
    return Counter(map(tuple, release.to_sequences()))


@given(
    st.dictionaries(
        st.lists(st.integers(0, 3), min_size=1, max_size=4).map(tuple), st.integers(1, 40)
    ),
    st.integers(1, 9),
)
def test_a_table_has_every_visit_of_every_trajectory(paths, size):
    release = release_of(paths)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(visit_rows, "_TRAJECTORIES", size)  # batches must not matter
        table = release.to_arrow()
    rows = zip(*(table[name].to_pylist() for name in table.column_names[:3]), strict=True)
    assert sequences(rows) == expected(release)
    assert table.num_rows == sum(len(path) * weight for path, weight in paths.items())


@pytest.mark.parametrize(
    ("names", "columns"),
    [
        ("pathveil", ["trajectory_id", "seq", "location", "name", "latitude", "longitude"]),
        ("scikit-mobility", ["uid", "tid", "seq", "location", "lat", "lng"]),
        ("movingpandas", ["traj_id", "seq", "location", "y", "x"]),
        ("gtfs", ["trip_id", "stop_sequence", "stop_id", "stop_name", "stop_lat", "stop_lon"]),
    ],
)
def test_the_columns_of_each_tool(release, names, columns):
    tables = [release.to_arrow(names), release.to_pandas(names), release.to_polars(names)]
    assert [type(table) for table in tables] == [pa.Table, pd.DataFrame, pl.DataFrame]
    assert tables[0].column_names == list(tables[1].columns) == tables[2].columns == columns
    assert tables[0].to_pylist() == tables[1].to_dict("records") == tables[2].to_dicts()
    last = tables[0].to_pylist()[-1]
    assert (last[NAMES[names].latitude], last[NAMES[names].longitude]) == (-33.0, 151.0)
    bare = release_of(PATHS, pv.Universe(LABELS))
    assert NAMES[names].latitude not in bare.to_arrow(names).column_names


def test_an_empty_release_has_the_same_columns(release, tmp_path):
    empty = release_of({})
    assert empty.to_arrow().schema == release.to_arrow().schema
    assert len(empty.to_pandas()) == 0
    assert empty.flows_geojson() == {"type": "FeatureCollection", "features": []}
    for ending in ("csv", "parquet", "geojson", "geoparquet", "xes"):
        empty.export(tmp_path / f"empty.{ending}")
    assert pq.read_table(tmp_path / "empty.geoparquet").num_rows == 0


def test_unknown_names_flows_and_formats_are_refused(release, tmp_path):
    with pytest.raises(ParameterError, match="scikit-mobility"):
        release.to_pandas("skmob")
    with pytest.raises(ParameterError, match="origin-destination"):
        release.flows_geojson("od")
    for options in ({"format": "shp"}, {"names": "skmob"}, {"flows": "od"}):
        with pytest.raises(ParameterError):
            release.export(tmp_path / "out.csv", **options)
    with pytest.raises(ParameterError, match="ending"):
        release.export(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


# Times


GRIDS = {
    "day": TimeGrid.parse("1h"),
    "week": TimeGrid.parse("weekday-hour"),
    "dates": TimeGrid.of(["2024-02-28T22:00", "2024-02-29T07:30", "2024-03-01"]),
}


def timed(grid, slots):
    """One trajectory: location 0 at the first slot, 1 at the second …"""
    codes = tuple(slot * 4 + place for place, slot in enumerate(slots))
    return release_of({codes: 2}, grid=grid)


@pytest.mark.parametrize(
    ("kind", "slots", "labels", "moments", "clocks"),
    [
        ("day", [7, 7, 23], ["07:00", "07:00", "23:00"],
         ["2001-01-01T07:00", "2001-01-01T07:00", "2001-01-01T23:00"],
         ["07:00:00", "07:00:00", "23:00:00"]),
        ("week", [0, 25, 167], ["Mon 00:00", "Tue 01:00", "Sun 23:00"],
         ["2001-01-01T00:00", "2001-01-02T01:00", "2001-01-07T23:00"],
         ["00:00:00", "25:00:00", "167:00:00"]),
        ("dates", [0, 1, 2], ["2024-02-28T22:00", "2024-02-29T07:30", "2024-03-01T00:00"],
         ["2024-02-28T22:00", "2024-02-29T07:30", "2024-03-01T00:00"],
         ["22:00:00", "31:30:00", "48:00:00"]),
    ],
)  # fmt: skip
def test_times(kind, slots, labels, moments, clocks, tmp_path):
    release = timed(GRIDS[kind], slots)
    assert release.to_arrow()["time"].to_pylist() == labels * 2
    assert release.to_pandas("gtfs")["arrival_time"].tolist() == clocks * 2
    for names, column in (("scikit-mobility", "datetime"), ("movingpandas", "t")):
        found = release.to_pandas(names)[column]
        assert found.tolist() == [pd.Timestamp(moment) for moment in moments * 2]
    assert release.to_arrow()["location"].to_pylist() == LABELS[:3] * 2
    release.export(tmp_path / "log.xes")
    dates = ET.parse(tmp_path / "log.xes").iter(f"{XES}date")
    assert [date.get("value") for date in dates] == [f"{moment}:00" for moment in moments * 2]
    release.export(tmp_path / "visits.csv", names="scikit-mobility")
    with (tmp_path / "visits.csv").open() as file:
        assert next(csv.DictReader(file))["datetime"] == moments[0].replace("T", " ") + ":00"


def test_the_reference_week_begins_on_a_monday():
    assert slot_datetimes(GRIDS["week"])[0].item().strftime("%A") == "Monday"
    assert slot_clocks(TimeGrid.parse("15min"))[1] == "00:15:00"


# Files


def test_csv_cells_are_no_formulas_and_the_rest_is_exact(release, tmp_path):
    release.export(tmp_path / "visits.csv")
    with (tmp_path / "visits.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    table = release.to_arrow().to_pylist()
    assert [row["location"].removeprefix("'") for row in rows] == [row["location"] for row in table]
    for row, plain in zip(rows, table, strict=True):
        assert not row["location"].startswith(("=", "+", "-", "@"))
        assert not row["name"].startswith("=")
        assert int(row["seq"]) == plain["seq"]
        assert float(row["latitude"]) == plain["latitude"]


def test_parquet_is_the_table(release, tmp_path):
    release.export(tmp_path / "visits.parquet", names="gtfs")
    assert pq.read_table(tmp_path / "visits.parquet").equals(release.to_arrow("gtfs"))


FLOWS = {"transitions": {(0, 1): 4, (2, 3): 2, (3, 2): 2}, "origin-destination": {(0, 1): 4}}


def point(code):
    return [float(UNIVERSE.longitude[code]), float(UNIVERSE.latitude[code])]


@pytest.mark.parametrize("flows", FLOWS)
def test_geojson_flows(release, flows, tmp_path):
    release.export(tmp_path / "flows.geojson", flows=flows)
    collection = json.loads((tmp_path / "flows.geojson").read_text(encoding="utf-8"))
    assert collection == release.flows_geojson(flows)
    assert collection["type"] == "FeatureCollection"
    found = {}
    for feature in collection["features"]:
        assert feature["type"] == "Feature"
        assert feature["geometry"]["type"] == "LineString"
        a, b = (LABELS.index(feature["properties"][end]) for end in ("origin", "destination"))
        assert feature["geometry"]["coordinates"] == [point(a), point(b)]
        found[a, b] = feature["properties"]["count"]
    assert found == FLOWS[flows]


@pytest.mark.parametrize("flows", FLOWS)
def test_geoparquet_flows(release, flows, tmp_path):
    """As GeoParquet 1.1.0 demands, read back byte by byte."""
    release.export(tmp_path / "flows.parquet", format="geoparquet", flows=flows)
    file = pq.ParquetFile(tmp_path / "flows.parquet")
    geo = json.loads(file.metadata.metadata[b"geo"])
    assert geo["version"] == "1.1.0"
    assert geo["primary_column"] == "geometry"
    column = geo["columns"]["geometry"]
    assert set(column) == {"encoding", "geometry_types", "bbox"}  # no crs: OGC:CRS84
    assert (column["encoding"], column["geometry_types"]) == ("WKB", ["LineString"])
    table = file.read()
    assert table.schema.field("geometry").type == pa.binary()
    found, corners = {}, []
    for row in table.to_pylist():
        order, kind, points, *ends = struct.unpack("<BII4d", row["geometry"])
        assert (order, kind, points) == (1, 2, 2)
        a, b = LABELS.index(row["origin"]), LABELS.index(row["destination"])
        assert ends == [*point(a), *point(b)]
        found[a, b] = row["count"]
        corners += [point(a), point(b)]
    assert found == FLOWS[flows]
    xs, ys = zip(*corners, strict=True)
    assert column["bbox"] == [min(xs), min(ys), max(xs), max(ys)]


def test_flows_need_coordinates(tmp_path):
    bare = release_of(PATHS, pv.Universe(LABELS))
    with pytest.raises(ReleaseError, match="no coordinates"):
        bare.flows_geojson()
    for ending in ("geojson", "geoparquet"):
        with pytest.raises(ReleaseError, match="no coordinates"):
            bare.export(tmp_path / f"flows.{ending}")
    assert list(tmp_path.iterdir()) == []


def test_a_place_without_coordinates_takes_the_map_from_its_own_flows_only(tmp_path):
    nowhere = float("nan")
    universe = pv.Universe(
        LABELS, latitude=[1.0, 2.0, nowhere, 4.0], longitude=[1.0, 2.0, nowhere, 4.0]
    )
    release = release_of(PATHS | {(0, 3): 5}, universe)
    lines = release.flows_geojson()["features"]
    assert [line["properties"]["count"] for line in lines] == [4, 5]
    release.export(tmp_path / "flows.geojson")
    assert "NaN" not in (tmp_path / "flows.geojson").read_text(encoding="utf-8")
    release.export(tmp_path / "flows.geoparquet")
    assert pq.read_table(tmp_path / "flows.geoparquet")["count"].to_pylist() == [4, 5]
    missing = [
        row["latitude"] for row in release.to_arrow().to_pylist() if row["location"] == "-S3"
    ]
    assert set(missing) == {None}


def test_xes_has_a_trace_per_trajectory(release, tmp_path):
    release.export(tmp_path / "log.xes")
    log = ET.parse(tmp_path / "log.xes").getroot()
    assert log.tag == f"{XES}log"
    assert log.get("xes.version") == "1849-2016"
    assert [e.get("prefix") for e in log.findall(f"{XES}extension")] == ["concept"]

    def name(element):
        (attribute,) = (s for s in element.findall(f"{XES}string"))
        assert attribute.get("key") == "concept:name"
        return attribute.get("value")

    rows = [
        (int(name(trace)), order, name(event))
        for trace in log.findall(f"{XES}trace")
        for order, event in enumerate(trace.findall(f"{XES}event"), start=1)
    ]
    assert sequences(rows) == expected(release)


def test_what_is_not_private_says_so_in_every_format(tmp_path):
    release = release_of(PATHS, is_private=False)
    assert set(release.to_pandas()["status"]) == {"NOT PRIVATE"}
    assert release.flows_geojson()["status"] == "NOT PRIVATE"
    for ending in ("csv", "parquet", "geojson", "geoparquet", "xes"):
        release.export(tmp_path / f"out.{ending}")
        content = (tmp_path / f"out.{ending}").read_bytes()
        assert b"NOT PRIVATE" in content
        release_of(PATHS).export(tmp_path / f"out.{ending}", overwrite=True)
        assert b"NOT PRIVATE" not in (tmp_path / f"out.{ending}").read_bytes()


# Where a file may go


def test_nothing_is_overwritten_unasked(release, tmp_path):
    target = tmp_path / "visits.csv"
    target.write_text("mine")
    with pytest.raises(ReleaseError, match="exists already"):
        release.export(target)
    assert target.read_text() == "mine"
    release.export(target, overwrite=True)
    assert target.read_text().startswith('"trajectory_id"')
    link = tmp_path / "link.csv"
    link.symlink_to(tmp_path / "nowhere.csv")
    with pytest.raises(ReleaseError, match="exists already"):
        release.export(link)
    with pytest.raises(ReleaseError, match="is a folder"):
        release.export(tmp_path, format="csv", overwrite=True)


def test_a_file_in_a_bundle_is_refused(tmp_path):
    database = pv.TrajectoryDatabase.from_sequences([[LABELS[0]]] * 50, UNIVERSE)
    release = pv.publish(database, epsilon="1", height=2)
    release.write(tmp_path / "release")
    with pytest.raises(ReleaseError, match="is a release bundle"):
        release.export(tmp_path / "release" / "visits.csv")


def test_a_file_appears_whole_or_not_at_all(release, tmp_path, monkeypatch):
    target = tmp_path / "visits.csv"
    target.write_text("mine")

    def broken(*_):
        yield next(iter(visit_rows.visit_rows(release)))
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(
        "pathveil.release.exports.writing.visit_batches",
        lambda *_: (release.to_arrow().schema, (row for row in broken() if row is None)),
    )
    with pytest.raises(ReleaseError, match="No space left"):
        release.export(target, overwrite=True)
    assert target.read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["visits.csv"]


def test_a_place_that_can_not_be_written(release, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ReleaseError, match="Could not write"):
        release.export(tmp_path / "file" / "visits.csv")
    with pytest.raises(ReleaseError, match="NUL"):
        release.export("a\0.csv")


@pytest.mark.parametrize("kind", ["csv", "parquet", "xes", "geojson", "geoparquet"])
def test_who_waits_hears_how_far_it_is(kind, tmp_path):
    # The first path is a small part of all: what is told then does not tell the time left.
    paths = {(0,): 1} | {(1, 2, 3) * 50 + (first,): 1 for first in range(3)}
    heard = []
    with reported_to(heard.append):
        release_of(paths).export(tmp_path / "file", format=kind)
    assert max(heard) > 0.02
