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
