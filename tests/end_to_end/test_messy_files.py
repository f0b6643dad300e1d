"""The files of two agencies, with every trouble at once, through the command line."""

import gzip
from pathlib import Path

import pytest
from tests.messy import american_agency, german_agency

GERMAN = (
    "publish", "fahrten.csv", "--universe", "haltestellen.csv", "--unit-column", "Kartennummer",
    "--epsilon", "4", "--height", "4", "--method", "full",
)  # fmt: skip
GERMAN_FORM = ("--encoding", "windows-1252", "--time-format", "de")
AMERICAN = (
    "publish", "taps.csv", "--universe", "stops.csv", "--unit-column", "Card ID",
    "--order-column", "Tapped At", "--location-column", "Stop", "--epsilon", "4", "--height", "4",
    "--method", "full",
)  # fmt: skip


@pytest.fixture
def german(folder):
    return german_agency(folder)


@pytest.fixture
def american(folder):
    return american_agency(folder)


@pytest.mark.usefixtures("german")
def test_german_files_are_published_as_they_are(pathveil):
    result = pathveil(*GERMAN, *GERMAN_FORM, "--out", "release")
    assert result.code == 0, result.err
    assert "order 'Zeitpunkt', location 'Haltestelle'" in " ".join(result.err.split())
    count = pathveil("count", "release", "Südbahnhof", "--json").json()
    assert count["count"] > 50  # of 300 people on eight stops, with hardly any noise


@pytest.mark.usefixtures("german")
def test_degrees_with_a_comma_are_placed_in_cells(pathveil):
    box = "grid:8x8:50.0,8.5,50.2,8.8"
    located = ["publish", "fahrten.csv", "--universe", box, "--unit-column", "Kartennummer",
               "--epsilon", "4", "--height", "4", "--dry-run",
               "--latitude-column", "Breite", "--longitude-column", "Länge"]  # fmt: skip
    result = pathveil(*located, *GERMAN_FORM)
    assert "No visit is left" in result.err
    result = pathveil(*located, *GERMAN_FORM, "--decimal-comma")
    assert result.code == 0
    assert "No visit is left" not in result.err


@pytest.mark.usefixtures("american")
def test_american_files_are_published_packed_too(pathveil):
    packed = gzip.compress(Path("taps.csv").read_bytes())
    Path("taps.csv.gz").write_bytes(packed)
    line = ["taps.csv.gz" if word == "taps.csv" else word for word in AMERICAN]
    result = pathveil(*line, "--time-format", "us", "--out", "release")
    assert result.code == 0, result.err
    assert pathveil("count", "release", "Peña Station", "--json").json()["count"] > 50


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_every_engine_reads_the_same(pathveil, german, engine):
    result = pathveil(*GERMAN, *GERMAN_FORM, "--dry-run", "--engine", engine)
    assert result.code == 0
    assert f"{german.cells + german.times:,} malformed rows of {german.rows:,} rows" in result.err


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--encoding", "windows-1253x"], "There is no encoding 'windows-1253x'"),
        (["--time-format", "german"], "The time format is iso, de, us, uk, or a format"),
        (["--time-format", "%H:%M"], "must have a day, a month and a year"),
        ([], "--encoding windows-1252"),  # because of the header's ä
        ([*GERMAN_FORM, "--engine", "spark", "--master", "local[2]"], "reads no CSV files"),
    ],
)
@pytest.mark.usefixtures("german")
def test_what_can_not_be_read_so_is_refused(refuses, more, says):
    refuses(*GERMAN, *more, "--out", "release", says=says)


def test_a_list_of_stops_whose_coordinates_have_no_known_name_says_so(pathveil, folder):
    (folder / "stops.csv").write_text("stop,Hochwert,Rechtswert\nA,55,34\n", encoding="utf-8")
    result = pathveil("universe", "stops.csv", "--json")
    assert result.code == 0
    assert result.json()["with_coordinates"] == 0
    assert "no coordinates, so there will be no map" in result.err
    assert "'Hochwert', 'Rechtswert'" in result.err
