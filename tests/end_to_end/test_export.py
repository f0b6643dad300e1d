"""``pathveil export``: every format from the command line, and what it refuses."""

import json

import pyarrow.parquet as pq
import pytest

import pathveil as pv

FORMATS = ["csv", "parquet", "geojson", "geoparquet", "xes"]


@pytest.mark.usefixtures("release")
@pytest.mark.parametrize("kind", FORMATS)
def test_every_format(pathveil, folder, kind):
    result = pathveil("export", "release", "--out", f"new/out.{kind}")
    assert (result.code, result.out) == (0, f"Wrote new/out.{kind} ({kind}).\n")
    chosen = pathveil("export", "release", "--format", kind, "--out", "other", "--json")
    assert chosen.json() == {"file": "other", "format": kind, "status": "PRIVATE"}
    assert (folder / "other").read_bytes() == (folder / f"new/out.{kind}").read_bytes()
    assert pathveil("verify", "release").code == 0


@pytest.mark.usefixtures("release")
def test_names_and_flows(pathveil):
    pathveil("export", "release", "-o", "v.parquet", "--names", "scikit-mobility")
    assert {"uid", "tid", "lat", "lng"} < set(pq.read_table("v.parquet").column_names)
    pathveil("export", "release", "-o", "f.geojson", "--flows", "origin-destination")
    with open("f.geojson", encoding="utf-8") as file:  # noqa: PTH123
        assert json.load(file) == pv.read_release("release").flows_geojson("origin-destination")


def test_lines_and_points_have_intervals_and_marks(pathveil, folder):
    universe = pv.Universe(["A", "B"], latitude=[45.0, 45.1], longitude=[-73.0, -73.1])
    database = pv.TrajectoryDatabase.from_sequences([["A", "B"]] * 500, universe)
    pv.publish(database, epsilon="4").write(folder / "release")
    for out, flows in (("f.geojson", "transitions"), ("p.geojson", "visits")):
        pathveil("export", "release", "-o", out, "--flows", flows)
        with open(out, encoding="utf-8") as file:  # noqa: PTH123
            first = json.load(file)["features"][0]["properties"]
        assert first["low"] <= first["count"] <= first["high"]
        assert first["low"] <= first["best"] <= first["high"]
        assert first["mark"] in ("reliable", "rough", "noise")
    pathveil("export", "release", "-o", "f.geoparquet", "--flows", "transitions")
    assert {"best", "low", "high", "mark"} < set(pq.read_table("f.geoparquet").column_names)


def test_what_is_refused(release, refuses, folder):
    (folder / "taken.csv").write_text("mine")
    refuses("export", "release", "--out", "taken.csv", says="--force")
    refuses("export", "release", "--out", release / "x.csv", says="is a release bundle")
    refuses("export", "release", "--out", "x", says="Formats are csv")
    refuses("export", "release", "--out", "x.csv", "--format", "shp", says="Formats are csv")
    refuses("export", "release", "--out", "x.csv", "--names", "mine", says="Column names are")
    refuses("export", "release", "--out", "x.geojson", "--flows", "all", says="Flows are")
    refuses("export", "nowhere", "--out", "x.csv", says="is not a release")
    assert (folder / "taken.csv").read_text() == "mine"


@pytest.mark.usefixtures("release")
def test_force_replaces_a_file(pathveil, folder):
    (folder / "taken.csv").write_text("mine")
    assert pathveil("export", "release", "--out", "taken.csv", "--force").code == 0
    assert "trajectory_id" in (folder / "taken.csv").read_text()


@pytest.mark.usefixtures("not_private")
def test_what_is_not_private_says_so(pathveil):
    assert "NOT PRIVATE" in pathveil("export", "not-private", "--out", "x.csv").out


# Tables of flows and counts


def table_of(path):
    import pyarrow.csv
    import pyarrow.parquet as pq

    if path.suffix == ".csv":
        return pyarrow.csv.read_csv(path).to_pylist()
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    from python_calamine import CalamineWorkbook

    header, *rows = CalamineWorkbook.from_path(str(path)).get_sheet_by_index(0).to_python()
    return [dict(zip(header, row, strict=True)) for row in rows]


@pytest.fixture
def named(folder):
    """A calibrated release over stops with names and coordinates; two stops share a name."""
    stops = pv.Universe(
        ["1", "2", "3", "=4"], names=["Market", "Square", "Square", "@Fair"],
        latitude=[1.0, 2.0, 3.0, 4.0], longitude=[5.0, 6.0, 7.0, 8.0],
    )  # fmt: skip
    trips = [["1", "2"], ["2", "=4", "1"], ["1", "2", "1"], ["=4"]] * 400
    database = pv.TrajectoryDatabase.from_sequences(trips, stops)
    release = pv.publish(database, epsilon="4", height=4)
    release.write(folder / "release")
    return release


@pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx"])
def test_flows_and_visits_are_tables_with_names_and_coordinates(pathveil, named, folder, ending):
    flows = ["export", "release", "--flows", "origin-destination", "--out", f"od.{ending}"]
    assert pathveil(*flows).code == 0
    rows = table_of(folder / f"od.{ending}")
    pairs = [(str(row["origin"]).lstrip("'").removesuffix(".0"), row["count"]) for row in rows]
    assert pairs == sorted(pairs, key=lambda pair: -pair[1])
    first = rows[0]
    assert {"origin_name", "origin_latitude", "destination_longitude"} <= first.keys()
    assert sum(row["count"] for row in rows) == len(named)

    assert pathveil("export", "release", "--flows", "visits", "--out", f"v.{ending}").code == 0
    rows = table_of(folder / f"v.{ending}")
    assert all(row["low"] <= row["count"] <= row["high"] for row in rows)
    assert {row["name"].lstrip("'") for row in rows} <= {"Market", "Square", "@Fair"}
    if ending == "csv":
        assert '"\'=4"' in (folder / "v.csv").read_text(encoding="utf-8")  # no formula


@pytest.mark.usefixtures("named")
@pytest.mark.parametrize(
    ("names", "flows", "columns"),
    [
        ("kepler", "transitions", ["origin", "origin_name", "origin_lat", "origin_lng", "dest",
                                   "dest_name", "dest_lat", "dest_lng", "count", "best", "low",
                                   "high", "mark"]),
        ("flowmap", "transitions", ["origin", "dest", "count"]),
    ],
)  # fmt: skip
def test_layouts_of_map_tools(pathveil, folder, names, flows, columns):
    pathveil("export", "release", "--flows", flows, "--names", names, "-o", "f.parquet")
    assert list(table_of(folder / "f.parquet")[0]) == columns


@pytest.mark.usefixtures("named")
def test_visits_are_points_on_a_map(pathveil, folder):
    assert pathveil("export", "release", "--flows", "visits", "-o", "v.geojson").code == 0
    features = json.loads((folder / "v.geojson").read_text(encoding="utf-8"))["features"]
    assert {feature["geometry"]["type"] for feature in features} == {"Point"}
    assert features[0]["properties"]["name"] == "Market"


@pytest.mark.usefixtures("named")
def test_tables_that_can_not_be_written_are_refused(refuses):
    line = ["export", "release", "--out"]
    refuses(*line, "x.csv", "--flows", "visits-by-time", says="have no times")
    refuses(*line, "x.xes", "--flows", "visits", says="can't be written as xes")
    refuses(*line, "x.csv", "--flows", "visits", "--names", "gtfs", says="are those of pathveil")


@pytest.mark.usefixtures("named")
def test_a_question_may_name_a_stop_by_its_name(pathveil, refuses):
    by_label = pathveil("count", "release", "1", "--json").json()["count"]
    assert pathveil("count", "release", "Market", "--json").json()["count"] == by_label
    refuses("count", "release", "Square", says="2 locations are named 'Square'; give one of their")
    refuses("count", "release", "Markett", says="Did you mean 'Market'")
