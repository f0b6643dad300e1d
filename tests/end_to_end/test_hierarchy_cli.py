"""Zones through the command line, from a file to answers."""

import csv
import json

import pytest

import pathveil as pv

PRIVACY = ["--epsilon", "20", "--height", "3", "--method", "full"]
BOX = "45.40,-73.80,45.60,-73.40"
COLUMNS = ["--unit-column", "uid"]


@pytest.fixture
def town(folder):
    """Six stops in three zones; 80 people, whose second stop is scattered over one zone."""
    (folder / "stops.csv").write_text("location\n" + "\n".join("abcdef"))
    (folder / "zones.csv").write_text("location,zone\na,X\nb,Y\nc,X\nd,Z\ne,Z\nf,=Z\n")
    rows = [f"u{i},{seq},{stop}" for i in range(80) for seq, stop in enumerate(f"a{'de'[i % 2]}b")]
    (folder / "taps.csv").write_text("\n".join(["uid,seq,location", *rows]))
    return folder


def publish(*more, taxonomy="zones.csv", universe="stops.csv"):
    return [
        *("publish", "taps.csv", "--universe", universe, "--taxonomy", taxonomy),
        *(*COLUMNS, *PRIVACY, *more, "--out", "out"),
    ]


@pytest.mark.parametrize("method", ["basic", "full"])
def test_from_a_file_to_answers(pathveil, town, method):
    # Above 60 nobody's second stop is kept, but its zone is.
    result = pathveil(*publish("--method", method, "--threshold", "60", "--csv", "--json"))
    assert result.code == 0, result.err
    assert result.json()["zones"] == 4
    assert pathveil("verify", "out").code == 0
    with (town / "out" / "locations.csv").open() as file:
        listed = list(csv.DictReader(file))
    assert [row["location"] for row in listed[6:]] == ["zone:X", "zone:Y", "zone:Z", "zone:=Z"]
    assert [row["zone"] for row in listed] == [
        *("zone:X", "zone:Y", "zone:X", "zone:Z", "zone:Z", "zone:=Z"),
        *[""] * 4,
    ]
    released = pv.read_release("out")
    common = ["a", "zone:Z", "b"]
    assert released.to_sequences().count(common) > 50
    assert pathveil("count", "out", "zone:Z", "--json").json()["count"] > 50
    assert pathveil("count", "out", "zone:X", "a", "--json").json()["count"] > 50
    assert pathveil("count", "out", "d", "--json").json()["count"] == 0
    ordered = pathveil("count", "out", "zone:X", "zone:Z", "zone:Y", "--ordered", "--json")
    assert ordered.json()["count"] > 50
    said = json.loads((town / "out" / "privacy-certificate.json").read_text())
    record = said["implementation"]["taxonomy"]
    assert (record["origin"], record["zones"]) == ("file:zones.csv", 4)
    assert len(said["accounting"]["budget"]) == 6
    explained = pathveil("explain", "out")
    assert explained.code == 0
    assert "zones of level 1" in explained.out
    assert "file:zones.csv" in explained.out
    evaluated = pathveil("evaluate", "taps.csv", "out", *COLUMNS, "-u", "stops.csv", "--json")
    assert evaluated.code == 0, evaluated.err
    # Of four zones; by locations the release would be wrong about d and e.
    errors = [line["release"] for line in evaluated.json()["measures"].values()]
    assert all(error < 0.3 for error in errors[:5])
    assert pathveil("patterns", "out").code == 0
    assert pathveil("export", "out", "--out", "visits.csv").code == 0


@pytest.mark.usefixtures("town")
def test_the_default_method_answers_about_zones(pathveil):
    """Its trajectories are of locations; a zone is visited by whoever visits one of its stops."""
    wanted = publish("--method", "calibrated", "--json")
    result = pathveil(*wanted)
    assert result.code == 0, result.err
    assert result.json()["zones"] == 4
    assert pathveil("verify", "out").code == 0
    released = pv.read_release("out")
    assert released.universe.labels == tuple("abcdef")
    zones = released.at_zone_level()
    assert released.count(["zone:Z"]) == zones.count(["zone:Z"]) > 50
    found = pathveil("count", "out", "zone:Z", "--json").json()
    assert found["low"] <= found["count"] <= found["high"]
    # Who visits d visits its zone: so many there are at least, without any model.
    assert found["low"] > 0
    ordered = pathveil("count", "out", "zone:X", "zone:Z", "--ordered", "--json").json()
    assert ordered["count"] == zones.count_ordered(["zone:X", "zone:Z"]) > 50
    assert pathveil("count", "out", "zone:X", "b", "--ordered").code == 2
    explained = pathveil("explain", "out")
    assert "file:zones.csv" in explained.out
    assert "None" not in explained.out
    assert pathveil("report", "out", "--out", "report.html").code == 0
    evaluated = pathveil("evaluate", "taps.csv", "out", *COLUMNS, "-u", "stops.csv", "--json")
    assert evaluated.code == 0, evaluated.err


def test_zones_at_some_hours(pathveil, town):
    rows = [
        f"u{i},2024-03-0{1 + i % 7}T{8 + 4 * seq:02}:00:00,{stop}"
        for i in range(80)
        for seq, stop in enumerate(f"a{'de'[i % 2]}b")
    ]
    (town / "taps.csv").write_text("\n".join(["uid,time,location", *rows]))
    timed = ["--time-column", "time", "--time-grid", "4h", "--method", "calibrated"]
    result = pathveil(*publish(*timed))
    assert result.code == 0, result.err
    asked = pathveil("count", "out", "zone:Z@12:00-16:00", "--json")
    assert asked.code == 0, asked.err
    assert asked.json()["count"] > 50
    assert pathveil("count", "out", "zone:Z@08:00-12:00", "--json").json()["count"] < 20


def test_parents_of_a_grid(pathveil, town):
    rows = [f"u{i},{seq},{cell}" for i in range(60) for seq, cell in enumerate(["r1c1", "r4c4"])]
    (town / "taps.csv").write_text("\n".join(["uid,seq,location", *rows]))
    result = pathveil(*publish(taxonomy="parent:1", universe=f"grid:4x4:{BOX}"))
    assert result.code == 0, result.err
    released = pv.read_release("out")
    assert released.count(["r1c1"]) > 40
    assert released.count(["zone:r2c2", "zone:r1c1"]) > 40
    assert pathveil("verify", "out").code == 0


@pytest.mark.parametrize(
    ("zones", "says"),
    [
        ("location,zone\na,X\nq,X\n", "'q', which the universe does not have"),
        ("location,zone\na,X\nb,\n", "empty zone"),
        ("location,zone\na,X\n", "no zone for 5 locations"),
        ("location\na\n", "columns 'location' and 'zone'"),
    ],
)
def test_a_bad_taxonomy_is_refused_before_a_row_is_read(refuses, town, zones, says):
    (town / "zones.csv").write_text(zones)
    (town / "taps.csv").unlink()
    (town / "taps.csv").mkdir()  # whoever opens it fails
    refuses(*publish(), says=says)


def test_a_label_that_clashes_is_refused(refuses, town):
    (town / "stops.csv").write_text("location\na\nzone:X\n")
    (town / "zones.csv").write_text("location,zone\na,X\nzone:X,X\n")
    refuses(*publish(), says="is a location of the universe")


def test_what_does_not_go_with_a_taxonomy_is_refused(refuses, town):
    refuses(*publish(taxonomy="nowhere.csv"), says="Can't read")
    refuses(*publish(taxonomy="parent:1"), says="Only the cells")
    timed = ["--time-column", "seq", "--time-grid", "8h"]
    refuses(*publish(*timed), says="zones and a time grid")
    assert not (town / "out").exists()


def test_a_changed_zone_is_found(refuses, pathveil, town):
    assert pathveil(*publish()).code == 0
    text = (town / "out" / "locations.csv").read_text()
    (town / "out" / "locations.csv").write_text(text.replace("d,zone:Z", "d,zone:X"))
    refuses("verify", "out", says="locations.csv")
