"""The files of two agencies, with every trouble at once, through the command line."""

import gzip
import re
from collections import Counter
from pathlib import Path

import pytest
from tests.messy import GERMAN_STOPS, TROUBLES, american_agency, german_agency, visits

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
    said = " ".join(result.err.split())
    assert "unit 'Kartennummer', order 'Zeitpunkt', location 'Haltestelle'" in said
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


def table_of(result):
    """The rows of the rehearsal's table: {what: (number, of what, where)}; "used" has three."""
    found = {}
    for line in result.err.splitlines():
        if line.startswith("│"):
            what, number, kind, where = (cell.strip() for cell in line.strip("│").split("│"))
            found[f"{what} {kind}" if what == "used" else what] = (number, kind, where)
    return found


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_the_rehearsal_tells_all_that_is_wrong(pathveil, german, engine, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    result = pathveil(*GERMAN, *GERMAN_FORM, "--dry-run", "--engine", engine)
    assert result.code == 0
    assert result.out == "A dry run: nothing was published, and nothing was charged.\n"
    takes = "Engine duckdb, which goes through the trajectories at most "
    assert (takes in result.err) == (engine == "duckdb")
    lines = Path("fahrten.csv").read_text(encoding="cp1252").splitlines()
    times = [str(n) for n, line in enumerate(lines, 1) if ";?;" in line]
    cells = [str(n) for n, line in enumerate(lines, 1) if line.endswith(";")]
    assert len(times) == german.times
    assert len(cells) == german.cells
    table = table_of(result)
    assert table["read"][:2] == (f"{german.rows:,}", "rows")
    unread = table["malformed: 'Zeitpunkt' is no number and no time in this format"]
    assert unread == (str(german.times), "rows", f"at {', '.join(times[:5])}, …")
    broken = table["malformed: a cell too few or too many, an open quote, or over 1 MB"]
    assert broken == (str(german.cells), "rows", f"at {', '.join(cells[:5])}, …")
    assert table["not in the universe: 'Betriebshof Süd'"][:2] == (str(german.unknown), "visits")
    assert table["occur twice: kept"][:2] == (str(german.twice), "visits")
    assert table["further forms of ids (7, 07, 7.0): merged"][:2] == (str(german.forms), "ids")
    used = german.rows - german.cells - german.times - german.unknown
    assert table["used visits"][0] == f"{used:,}"
    assert table["used trajectories"][0] == table["used units"][0] == str(german.units)
    assert table["from"][0] == "2026-03-02 05:30"
    assert table["to"][0].startswith("2026-03-05")


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_the_rehearsal_knows_what_a_misspelled_stop_may_be(pathveil, folder, monkeypatch, engine):
    monkeypatch.setenv("COLUMNS", "160")
    (folder / "stops.csv").write_text("stop\nCentral\nHarbour\n", encoding="utf-8")
    rows = "".join(f"{n},{n},{stop}\n" for n, stop in enumerate(["Central", "harbor", "Zoo"] * 5))
    (folder / "taps.csv").write_text(f"card,seq,stop\n{rows}", encoding="utf-8")
    result = pathveil("publish", "taps.csv", "--universe", "stops.csv", "--unit-column", "card",
                      "--order-column", "seq", "--location-column", "stop", "--epsilon", "1",
                      "--dry-run", "--engine", engine)  # fmt: skip
    told = table_of(result)
    assert told["not in the universe: 'harbor'"] == ("5", "visits", "Did you mean 'Harbour'?")
    assert told["not in the universe: 'Zoo'"] == ("5", "visits", "")


def test_the_rehearsal_names_the_encoding_to_try(pathveil, german):
    text = Path("fahrten.csv").read_bytes().replace("Länge".encode("cp1252"), b"Laenge")
    Path("fahrten.csv").write_bytes(text)
    result = pathveil(*GERMAN, "--time-format", "de", "--dry-run")
    assert result.code == 0
    # Those at unknown stops or with an unreadable time are no text either.
    rows = int(re.search(r"([\d,]+) rows are no text in this encoding", result.err)[1])
    assert german.accented <= rows <= german.accented + german.unknown + german.times
    assert "try --encoding windows-1252" in result.err


def test_rows_of_other_sources_are_numbered_too(pathveil, folder, monkeypatch):
    import pyarrow as pa
    import pyarrow.parquet as pq

    monkeypatch.setenv("COLUMNS", "160")
    (folder / "stops.csv").write_text("location\nA\n", encoding="utf-8")
    seq = [str(n) for n in range(200)]
    seq[6], seq[150] = "x", ""
    who = ["1"] * 199 + [""]
    table = pa.table({"who": who, "seq": seq, "where": ["A"] * 199 + ["B"]})
    pq.write_table(table, folder / "taps.parquet", row_group_size=64)
    result = pathveil("publish", "taps.parquet", "--universe", "stops.csv", "--unit-column", "who",
                      "--order-column", "seq", "--location-column", "where", "--epsilon", "1",
                      "--height", "2", "--dry-run")  # fmt: skip
    told = table_of(result)
    assert told["malformed: 'seq' is no number and no time in this format"][2] == "at 7, 151"
    assert told["malformed: 'who' is empty"] == ("1", "rows", "at 200")


def test_nothing_of_the_rehearsal_is_kept(pathveil, german, folder):
    before = {path.name for path in folder.iterdir()}
    pathveil(*GERMAN, *GERMAN_FORM, "--dry-run", "--json")
    assert {path.name for path in folder.iterdir()} == before
    assert german.rows


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--encoding", "windows-1253x"], "There is no encoding 'windows-1253x'"),
        (["--time-format", "german"], "The time format is iso, de, us, uk, or a format"),
        (["--time-format", "%H:%M"], "must have a day, a month and a year"),
        ([], "--encoding windows-1252"),  # because of the header's ä
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


# From README to three right answers, with every message on the way


README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
PEOPLE = 4000


def journeys(stops):
    """Who was where in which order, as far as the file can be read: {person: [stop, …]}."""
    found = {}
    for number, (person, _, moment, stop) in enumerate(visits(PEOPLE, stops)):
        if TROUBLES.get(number % 97) in (None, "twice"):
            found.setdefault(person, []).append((moment, stops[stop][0]))
    return {person: [name for _, name in sorted(seen)] for person, seen in found.items()}


def test_from_the_readme_to_three_right_answers(pathveil, refuses, folder, monkeypatch):
    """The first page is enough: what is wrong is said, with what to try, until nothing is."""
    monkeypatch.setenv("COLUMNS", "160")
    german_agency(folder, people=PEOPLE)
    for command in ("pathveil publish taps.csv --universe stops.csv", "pathveil verify release",
                    "pathveil count release Central Harbour --ordered", "pathveil patterns",
                    "--dry-run", "`pathveil publish` alone"):  # fmt: skip
        assert command in README
    line = [*GERMAN[:5], "card_id", "--order-column", "Zeitpunkt",
            "--location-column", "Haltestelle", "--epsilon", "4"]  # fmt: skip
    refuses(*line, says="Missing option '--out'")
    refuses(*line, "--dry-run", says="Windows and Excel mostly write --encoding windows-1252")
    line += ["--encoding", "windows-1252"]
    said = refuses(*line, "--dry-run", says="There is no column 'card_id' for the unit.")
    assert "Columns: 'Kartennummer', 'Zeitpunkt'" in said
    line[5] = "Kartennummer"
    result = pathveil(*line, "--dry-run")
    assert result.code == 0
    assert "'Zeitpunkt' is neither a number nor an ISO 8601 time" in result.err
    assert "--time-format de, us or uk reads 02.03.2026 07:58" in result.err
    assert "No visit is left: a run would be charged for an empty release." in result.err
    line += ["--time-format", "de"]
    result = pathveil(*line, "--dry-run")
    assert "not in the universe: 'Betriebshof Süd'" in result.err
    assert table_of(result)["used units"][0] == f"{PEOPLE:,}"
    assert pathveil(*line, "--out", "release").code == 0
    assert pathveil("verify", "release").code == 0

    truth = journeys(GERMAN_STOPS)
    visitors = sum("Südbahnhof" in seen for seen in truth.values())
    found = pathveil("count", "release", "Südbahnhof", "--json").json()
    assert found["low"] <= visitors <= found["high"]
    assert found["count"] == pytest.approx(visitors, rel=0.1)
    pair = ("Hauptbahnhof", "Südbahnhof")
    both = sum(
        pair[0] in seen and pair[1] in seen[seen.index(pair[0]) + 1 :] for seen in truth.values()
    )
    found = pathveil("count", "release", *pair, "--ordered", "--json").json()
    assert found["count"] == pytest.approx(both, rel=0.2)
    ordered = Counter(
        (first, second)
        for seen in truth.values()
        for first, second in {(a, b) for i, a in enumerate(seen) for b in seen[i + 1 :] if a != b}
    )
    asked = ("patterns", "release", "-k", "1", "--min-length", "2")
    told = " ".join(pathveil(*asked).out.split())
    if "were left out" in told:  # nothing was measured that tells how far an order is off
        assert "can't be told from noise; --all shows them" in told
    best = pathveil(*asked, "--all", "--json").json()
    top = tuple(best["patterns"][0]["locations"])
    assert ordered[top] >= 0.8 * max(ordered.values())
