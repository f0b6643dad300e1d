"""Every kind of universe, points and split visits, through the command line."""

import html.parser
import json
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest

import pathveil as pv

STOPS = Path(__file__).parents[3] / "shared" / "data" / "stm_gtfs" / "stops.txt"
PRIVACY = ["--epsilon", "50", "--height", "3", "--method", "full"]
BOX = "45.40,-73.80,45.60,-73.40"
FEED = """\
stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station
S,<b>Station</b>,45.50,-73.60,1,
P1,Platform 1,45.50,-73.61,0,S
P2,Platform 2,45.50,-73.59,0,S
X,Bus stop,45.55,-73.55,0,
Y,Nowhere,,,0,
"""
POLYGON = {
    "type": "Polygon",
    "coordinates": [[[-73.7, 45.4], [-73.5, 45.4], [-73.5, 45.6], [-73.7, 45.6], [-73.7, 45.4]]],
}


@pytest.fixture
def public(folder):
    """Public files of every kind in the working folder."""
    (folder / "stops.txt").write_text(FEED)
    with zipfile.ZipFile(folder / "feed.zip", "w") as feed:
        feed.writestr("stops.txt", FEED)
    (folder / "city.geojson").write_text(json.dumps(POLYGON))
    (folder / "codes.txt").write_text("P1\nP2\nX\n")
    return folder


def taps(folder, labels, people=60):
    lines = [f"u{i},{seq},{label}" for i in range(people) for seq, label in enumerate(labels)]
    (folder / "taps.csv").write_text("\n".join(["uid,seq,stop_id", *lines]))
    return folder / "taps.csv"


def gps(folder, people=60, days=2):
    generator = np.random.default_rng(2)  # noqa: TID251  (people who do not exist)
    lines = [
        f"u{i},2024-03-{9 + day:02}T{7 + hour:02}:00:00,{45.5 + north:.6f},{-73.6 + east:.6f}"
        for i in range(people)
        for day in range(days)
        for hour, (north, east) in enumerate(generator.uniform(0, 0.02, (3, 2)))
    ]
    bad = ["u0,2024-03-09T12:00:00,north,-73.6", "u0,2024-03-09T12:00:00,10,-73.6"]
    (folder / "gps.csv").write_text("\n".join(["uid,datetime,lat,lng", *lines, *bad]))
    return folder / "gps.csv"


def certificate(bundle):
    return json.loads((bundle / "privacy-certificate.json").read_text())["implementation"]


@pytest.mark.parametrize(
    ("universe", "visited", "expected"),
    [
        ("gtfs:feed.zip", ["P1", "X", "Y"], ["P1", "X", "Y"]),
        ("gtfs:stops.txt", ["P1", "X", "Y"], ["P1", "X", "Y"]),
        ("gtfs-stations:feed.zip", ["P1", "X", "P2"], ["S", "S"]),
        ("gtfs-merged:stops.txt", ["P1", "X", "P2"], ["S", "X", "S"]),
        ("codes:codes.txt", ["P2", "X", "P1"], ["P2", "X", "P1"]),
        ("codes:1..3", ["3", "1", "7"], ["3", "1"]),
        ("stops.txt", ["P1", "X", "Y"], ["P1", "X", "Y"]),
        ("grid:12x9:" + BOX, ["r01c2", "r12c9"], ["r01c2", "r12c9"]),
    ],
)
def test_publish_with_every_kind_of_universe(pathveil, public, universe, visited, expected):
    taps(public, visited)
    result = pathveil("publish", "taps.csv", "--universe", universe, *PRIVACY, "--out", "out")
    assert result.code == 0, result.err
    released = pv.read_release("out")
    assert released.to_sequences().count(expected) > 40
    made = pv.Universe.read(universe).origin
    assert certificate(public / "out")["universe_origin"] == made
    package = json.loads((public / "out" / "datapackage.json").read_text())
    assert made in package["resources"][2]["description"]
    assert pathveil("verify", "out").code == 0


@pytest.mark.parametrize("universe", ["grid:12x9:" + BOX, "h3:7:" + BOX, "h3:7:city.geojson"])
def test_points_and_days_end_to_end(pathveil, public, universe):
    if universe.startswith("h3"):
        pytest.importorskip("h3", reason="the extra 'grid' is not installed")
    gps(public)
    rules = ["--split", "day", "--time-zone", "America/Montreal"]
    arguments = ["gps.csv", "--universe", universe, *rules, "-c", "2", *PRIVACY]
    result = pathveil("publish", *arguments, "--out", "out")
    assert result.code == 0, result.err
    said = " ".join(result.err.split())
    assert "latitude 'lat', longitude 'lng'" in said
    assert "1 malformed row of 362 rows" in said
    assert re.search(r"1 visit outside the universe.* of 362 rows", said)
    released = pv.read_release("out")
    assert 90 <= len(released) <= 150  # 60 people, two days each
    said = certificate(public / "out")["trajectory_rules"]
    assert any("by the day in the time zone America/Montreal" in rule for rule in said)
    assert any("in which it lies" in rule for rule in said)
    assert released.rules == tuple(said)
    assert pathveil("verify", "out").code == 0
    shown = ["--universe", universe, *rules, "--queries", "40", "--json"]
    evaluated = pathveil("evaluate", "gps.csv", "out", *shown)
    assert evaluated.code == 0, evaluated.err


def test_what_was_dropped_is_on_the_curators_terminal_only(pathveil, public):
    gps(public, people=61)
    result = pathveil(
        "publish", "gps.csv", "--universe", "grid:5x5:" + BOX, *PRIVACY, "--out", "out", "--json"
    )
    assert "368 rows" in result.err
    assert "malformed" not in result.out
    for name in ("privacy-certificate.json", "datapackage.json", "report.html"):
        text = (public / "out" / name).read_text()
        assert "malformed" not in text
        assert not re.search(r"\b368\b", text)


def test_gaps_end_to_end(pathveil, public):
    lines = [f"u{i},{t},X" for i in range(60) for t in (0, 1800, 9000)]
    (public / "taps.csv").write_text("\n".join(["uid,datetime,stop_id", *lines]))
    command = ["publish", "taps.csv", "--universe", "gtfs:feed.zip", *PRIVACY, "-c", "5"]
    assert pathveil(*command, "--split", "gap:30min", "--out", "out").code == 0
    counts = pv.read_release("out").to_sequences()
    assert 50 <= counts.count(["X", "X"]) <= 70
    assert 50 <= counts.count(["X"]) <= 70
    assert "pause of more than 30min" in certificate(public / "out")["trajectory_rules"][0]
    repeats = ["--split", "gap:30min", "--repeats", "collapse", "--out", "other"]
    assert pathveil(*command, *repeats).code == 0
    assert pv.read_release("other").to_sequences().count(["X"]) > 100


def test_a_changed_rule_is_found_by_verify(pathveil, public):
    taps(public, ["X"])
    pathveil("publish", "taps.csv", "--universe", "codes:codes.txt", *PRIVACY, "--out", "out")
    path = public / "out" / "privacy-certificate.json"
    text = path.read_text().replace("codes:codes.txt", "codes:other.txt")
    path.write_text(text)
    result = pathveil("verify", "out")
    assert result.code == 2
    assert "does not follow" in result.err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--universe", "gtfs:nowhere.zip"], "Can't read the GTFS feed nowhere.zip"),
        (["--universe", "grid:3x3"], "four numbers"),
        (["--universe", "codes:1..99999999"], "more than the 1,000,000"),
        (["--universe", "codes:1..3", "--split", "month"], "Visits are split by 'day'"),
        (["--universe", "codes:1..3", "--repeats", "drop"], "'keep' or 'collapse'"),
        (["--universe", "codes:1..3", "--time-zone", "Mars/Base"], "no time zone 'Mars/Base'"),
    ],
)
def test_what_is_refused_before_a_row_is_read(refuses, public, options, says):
    taps(public, ["1"])
    refuses("publish", "taps.csv", *options, *PRIVACY, "--out", "out", says=says)


def test_points_need_cells(pathveil, public):
    gps(public)
    points = ["--latitude-column", "lat", "--longitude-column", "lng"]
    command = ["publish", "gps.csv", "--universe", "codes:1..3", *points, *PRIVACY, "--out", "out"]
    result = pathveil(*command)
    assert result.code == 2
    assert "it has no cells" in result.err


# pathveil universe


def test_the_universe_command_shows_and_writes(pathveil, public):
    result = pathveil("universe", "gtfs-merged:feed.zip", "--out", "stops.csv", "--json")
    assert result.code == 0, result.err
    facts = result.json()
    assert facts["made_from"] == "gtfs-merged:feed.zip"
    assert (facts["locations"], facts["with_coordinates"]) == (3, 2)
    assert facts["south_west_north_east"] == [45.5, -73.6, 45.55, -73.55]
    assert facts["further_labels_it_reads"] == 5  # two keys, three names
    written = pv.Universe.read(public / "stops.csv")
    assert written == pv.Universe.read("gtfs-merged:feed.zip")
    assert written.names == ("<b>Station</b>", "Bus stop", "Nowhere")
    assert np.isnan(written.latitude).tolist() == [False, False, True]
    shown = pathveil("universe", "grid:4x5:" + BOX)
    assert "grid:4x5:" in shown.out
    assert "20" in shown.out


def test_the_universe_command_overwrites_nothing(refuses, public):
    refuses("universe", "codes:1..3", "--out", "stops.txt", says="exists already")
    assert (public / "stops.txt").read_text() == FEED
    refuses("universe", "codes:1..3", "--out", "no/such/folder.csv", says="No such file")
    refuses("universe", "nowhere.csv", says="No such file")


# The map


class Strict(html.parser.HTMLParser):
    """Checks that tags close, and collects what a page would load."""

    VOID = frozenset({"meta", "br", "path"})

    def __init__(self):
        super().__init__()
        self.open, self.loads, self.tags = [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.loads += [v for k, v in attributes if k in ("src", "href") and not v.startswith("#")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag


def page_of(bundle):
    text = (bundle / "report.html").read_text()
    page = Strict()
    page.feed(text)
    assert page.open == []
    assert page.loads == []
    return text


def test_the_report_has_a_map_that_says_what_it_shows(pathveil, public):
    taps(public, ["P1", "X", "Y"])
    pathveil("publish", "taps.csv", "--universe", "gtfs:feed.zip", *PRIVACY, "--out", "out")
    text = page_of(public / "out")
    assert 'role="img" aria-labelledby="map-title map-desc"' in text
    assert "4 locations of the public universe" in text
    assert "1 locations have no coordinates" in text
    assert "<b>Station" not in text


def test_a_universe_without_coordinates_has_no_map(pathveil, public):
    taps(public, ["1"])
    pathveil("publish", "taps.csv", "--universe", "codes:1..3", *PRIVACY, "--out", "out")
    assert 'aria-labelledby="map-title' not in page_of(public / "out")


@pytest.mark.skipif(not STOPS.exists(), reason="the shared data is not here")
def test_the_real_stop_list_end_to_end(pathveil, folder):
    labels = pv.Universe.read(f"gtfs:{STOPS}").labels
    popular = labels[1], labels[500], labels[8000]
    taps(folder, popular, people=300)
    command = ["publish", "taps.csv", "--universe", f"gtfs:{STOPS}", *PRIVACY, "--out", "out"]
    assert pathveil(*command).code == 0
    released = pv.read_release("out")
    assert len(released.universe) == 8_760
    assert released.to_sequences().count(list(popular)) > 250
    assert certificate(folder / "out")["universe_origin"] == "gtfs:stops.txt"
    assert (folder / "out" / "report.html").stat().st_size < 300_000
    page_of(folder / "out")
    at_stations = [f"gtfs-stations:{STOPS}", *PRIVACY, "--out", "stations"]
    assert pathveil("publish", "taps.csv", "--universe", *at_stations).code == 0
    assert pv.read_release("stations").to_sequences().count(["STATION_M118"]) > 250
    assert pathveil("verify", "stations").code == 0


# Nothing private comes out


def test_a_persons_points_are_in_nothing_that_is_written_or_printed(pathveil, public):
    gps(public)
    planted = "zq7unit,2031-07-19T03:14:15,45.512358,-73.589144"
    with (public / "gps.csv").open("a") as file:
        file.write(f"\n{planted}\nzq7unit,zq7when,45.512358,-73.589144\n")
    rules = ["--split", "gap:1h", "--time-zone", "America/Montreal", "--csv", "--out", "out"]
    result = pathveil("publish", "gps.csv", "--universe", "grid:9x9:" + BOX, *PRIVACY, *rules)
    assert result.code == 0, result.err
    texts = [path.read_bytes() for path in (public / "out").iterdir()]
    for text in (*texts, result.out.encode(), result.err.encode()):
        for secret in (b"zq7", b"2031", b"45.5123", b"73.5891"):
            assert secret not in text


def test_two_spellings_of_one_label_are_warned_of(pathveil, folder):
    """Nobody sees the difference between NFC and NFD, and the data may use either."""
    (folder / "stops.csv").write_text("location\nA\nCre\u0301mazie\nCr\u00e9mazie\n")
    for command in (
        ["universe", "stops.csv"],
        ["plan", "-u", "stops.csv", "-e", "1", "--height", "3"],
    ):
        result = pathveil(*command)
        assert result.code == 0
        assert "locations 2 and 3" in result.err
    (folder / "stops.csv").write_text("location\nA\nCr\u00e9mazie\nCremazie\n")
    assert "warning" not in pathveil("universe", "stops.csv").err


def test_a_question_in_the_other_spelling_says_so(pathveil):
    release = pv.publish(
        pv.TrajectoryDatabase.from_arrays([0, 1], [0], pv.Universe(["Cr\u00e9mazie"])),
        epsilon="1", height=1, method="full",
    )  # fmt: skip
    release.write("release")
    result = pathveil("count", "release", "Cre\u0301mazie")
    assert result.code == 2
    assert "another spelling" in result.err
