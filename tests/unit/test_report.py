"""What stands on the page: true to the release, escaped, always the same, and bounded."""

import itertools
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.commands import rehash

import pathveil as pv
from pathveil.core.error_table import KINDS as QUESTIONS
from pathveil.core.error_table import LEVELS as CONFIDENCES
from pathveil.core.error_table import RULE, ErrorTable, Estimate
from pathveil.core.parameters import Parameters
from pathveil.core.paths import Paths
from pathveil.errors import ReleaseError
from pathveil.pages import listings
from pathveil.pages.clock import count_hours
from pathveil.pages.expected_error import NEVER, expected_error
from pathveil.pages.first_screen import Visited, first_screen
from pathveil.pages.icicle import HEIGHT, LEVELS, MOST_FIRST, THINNEST, draw_icicle
from pathveil.pages.listings import length_rows, shortened
from pathveil.pages.report import render_report
from pathveil.pages.strongest_moves import (
    WIDEST,
    draw_moves,
    known_moves,
    moves_table,
    strongest_moves,
)
from pathveil.promise.certificate import Certificate, LedgerRecord
from pathveil.promise.citation import cite
from pathveil.release.bundle import verify_bundle
from pathveil.universe.background import Background

LABELS = [f"L{number}" for number in range(20)]
MARKUP = ["<b>bold</b>", "</title><script>alert(1)</script>", "محطة", 'a&b"']


class Released:
    """Paths that somebody published."""

    error_table = None
    answering = None
    is_private = True
    background = Background()

    def __init__(self, sequences, universe=None, grid=None):
        self.universe = universe or pv.Universe(LABELS)
        self.time_grid = grid
        lengths = np.array([len(sequence) for sequence in sequences], dtype=np.int64)
        self._timed = Paths(
            np.concatenate(([0], np.cumsum(lengths))),
            np.array([code for sequence in sequences for code in sequence], dtype=np.int32),
            np.ones(len(sequences), dtype=np.int64),
        )

    def timed_paths(self):
        return self._timed

    def paths(self):
        codes = self._timed.codes % np.int32(len(self.universe))
        return Paths(self._timed.offsets, codes, self._timed.weights)


@pytest.fixture(scope="module")
def release():
    week = pv.simulate_week(2000, 30, seed=1)
    database = pv.TrajectoryDatabase.from_arrays(week.offsets, week.codes, week.universe)
    return pv.publish(database, epsilon="4", height=4, method="full")


sequences = st.lists(st.lists(st.integers(0, 19), max_size=6), max_size=60)


# The icicle


@given(sequences)
def test_the_cells_are_the_prefixes_and_lie_within_their_parents(found):
    drawn = draw_icicle(Released(found))
    if not any(found):
        assert drawn is None
        return
    prefixes = Counter(
        tuple(LABELS[code] for code in sequence[:length])
        for sequence in found
        for length in range(1, min(len(sequence), LEVELS) + 1)
    )
    nodes = {tuple(p.label for p in cell.prefix): cell for cell in drawn.cells if not cell.merged}
    for prefix, cell in nodes.items():
        assert cell.count == prefixes[prefix]
        if len(prefix) > 1:
            parent = nodes[prefix[:-1]]
            assert parent.top - 1e-6 <= cell.top
            assert cell.top + cell.height <= parent.top + parent.height + 1e-6
    # What is not shown is merged, or too thin to be merged.
    for level in (1, 2):
        merged = sum(cell.count for cell in drawn.cells if cell.level == level and cell.merged)
        told = sum(cell.count for cell in drawn.cells if cell.level == level) - merged
        everybody = sum(n for prefix, n in prefixes.items() if len(prefix) == level)
        assert told + merged <= everybody
        if level == 1:
            assert told + merged == everybody
    assert all(cell.top + cell.height <= HEIGHT + 1e-6 for cell in drawn.cells)


def test_an_icicle_of_many_locations_is_bounded_and_says_what_it_merged():
    universe = pv.Universe([f"S{number}" for number in range(5000)])
    found = [[number % 5000, (number * 7) % 5000] for number in range(20_000)]
    drawn = draw_icicle(Released(found, universe))
    first = [cell for cell in drawn.cells if cell.level == 1]
    assert len(first) == MOST_FIRST + 1
    assert first[-1].merged == 5000 - MOST_FIRST
    assert first[-1].text == "4,988 others"
    assert sum(cell.count for cell in first) == 20_000
    assert "not to scale" in drawn.description
    assert len(drawn.cells) < 2 * HEIGHT / THINNEST


# Moves


@given(sequences)
def test_moves_are_what_follows_what_without_staying(found):
    release = Released(found)
    pairs = Counter(
        (LABELS[a], LABELS[b]) for s in found for a, b in itertools.pairwise(s) if a != b
    )
    table = moves_table(release, strongest_moves(release, 20))
    assert {(a.label, b.label): n for a, b, n in table}.items() <= pairs.items()
    assert [n for *_, n in table] == sorted(pairs.values(), reverse=True)[:20]


def test_lines_are_as_wide_as_their_counts_and_skip_what_has_no_place():
    universe = pv.Universe(
        ["a", "b", "c", "nowhere"],
        latitude=[45.0, 46.0, 45.0, np.nan],
        longitude=[-73.0, -73.0, -72.0, np.nan],
    )
    release = Released([[0, 1]] * 90 + [[1, 2]] * 45 + [[0, 3]] * 200, universe)
    drawn = draw_moves(release, strongest_moves(release, 60))
    assert [line.width for line in drawn.lines] == [WIDEST / 2, WIDEST]
    assert drawn.lines[-1].says.endswith(": 90")
    assert drawn.legend[-1] == (WIDEST, "90")
    assert "nowhere" not in "".join(line.says for line in drawn.lines)


def test_without_coordinates_or_moves_there_is_no_map_of_moves():
    assert draw_moves(Released([[0, 1]]), strongest_moves(Released([[0, 1]]), 5)) is None
    universe = pv.Universe(["a", "b"], latitude=[1, 2], longitude=[1, 2])
    still = Released([[0, 0], [1]], universe)
    assert draw_moves(still, strongest_moves(still, 5)) is None


def test_moves_that_noise_explains_are_dimmed_counted_and_not_drawn():
    week = pv.simulate_week(3000, 40, seed=4)
    database = pv.TrajectoryDatabase.from_arrays(week.offsets, week.codes, week.universe)
    release = pv.publish(database, epsilon="1")
    strongest = strongest_moves(release, 60)
    table = moves_table(release, strongest)
    noisy = [count for *_, count in table if count.mark == "noise"]
    assert noisy
    page = render_report(release, release.certificate)
    section = page[page.index('id="moves"') : page.index('id="patterns"')]
    assert section.count('<tr class="muted">') == len(noisy)
    assert listings.noise_words(count for *_, count in table) in section
    known = known_moves(release, strongest)
    assert len(known.counts) < len(strongest.counts)
    assert section.count("marker-end") <= len(known.counts)


# Patterns


def test_patterns_lead_from_place_to_place():
    found = listings.top_journeys(Released([[0, 0, 0, 1]] * 5 + [[2, 2, 2]] * 50))
    shown = [tuple(location.label for location in journey.locations) for journey in found]
    assert shown[0] == ("L0", "L1")
    assert all(len(set(places)) == len(places) <= 4 for places in shown)
    assert {journey.support for journey in found} == {5}


def test_a_release_that_is_too_large_is_not_mined(monkeypatch):
    monkeypatch.setattr(listings, "MOST_VISITS", 3)
    assert listings.top_journeys(Released([[0, 1], [1, 0]])) is None


# Lengths and times


def test_the_tail_of_the_lengths_is_one_row():
    release = Released([[0] * length for length in (1, 1, 2, 5, 9)])
    assert length_rows(release, 2) == [("1", 2), ("2", 1), ("5 or more", 2)]
    assert length_rows(release, 4) == [("1", 2), ("2", 1), ("5", 1), ("9", 1)]


def timed(visits, grid):
    return Released([[slot * 20 + place] for place, slot in visits], grid=grid)


def test_slots_of_the_day_are_told_by_location():
    grid = pv.TimeGrid.parse("1h")
    hours = count_hours(timed([(3, 7), (3, 7), (3, 8), (5, 7)], grid))
    assert [place.label for place in hours.rows] == ["L3", "L5"]
    assert hours.columns[7] == "07:00"
    assert hours.counts.tolist()[0][7:9] == [2, 1]
    assert hours.counts.sum() == 4


def test_slots_of_the_week_are_told_by_weekday():
    grid = pv.TimeGrid.parse("weekday-hour")
    hours = count_hours(timed([(3, 24 + 7), (4, 24 + 7), (4, 6 * 24)], grid))
    assert [place.label for place in hours.rows][1] == "Tue"
    assert hours.counts[1, 7] == 2
    assert hours.counts[6, 0] == 1


@pytest.mark.parametrize(("days", "first"), [(3, "2024-02-28"), (40, "Mon")])
def test_slots_of_the_calendar_are_told_by_date_or_if_many_by_weekday(days, first):
    starts = np.datetime64("2024-02-28") + np.arange(days)  # a Wednesday
    grid = pv.TimeGrid.of([f"{day}T08:00" for day in starts])
    hours = count_hours(timed([(0, 0), (1, 0), (1, 2)], grid))
    rows = [place.label for place in hours.rows]
    assert rows[0] == first
    assert hours.columns == ("08:00",)
    assert hours.counts[rows.index("Wed" if days > 31 else first), 0] == 2
    assert hours.counts.sum() == 3


def test_many_short_slots_are_merged_into_hours():
    grid = pv.TimeGrid.parse("1min")
    hours = count_hours(timed([(0, 7 * 60 + 1), (0, 7 * 60 + 59), (0, 8 * 60)], grid))
    assert hours.columns == tuple(f"{hour:02d}:00" for hour in range(24))
    assert hours.counts[0, 7:9].tolist() == [2, 1]


def test_without_times_there_is_no_heat_map():
    assert count_hours(Released([[1]])) is None


# Errors


def error_table():
    locations, estimate = np.array([0, 1, 2, 3]), np.array([500, 100, 0, 0])
    half = np.array([[level, level] for level in CONFIDENCES])
    low = np.maximum(estimate[:, None] - half[:, 0], 0)
    return ErrorTable(locations, estimate, np.stack((low, estimate[:, None] + half[:, 1]), axis=2))


def test_errors_are_those_of_the_table_and_only_of_answers_that_occur():
    told = expected_error(error_table(), 500, 300)
    rows = {answer: cells for answer, *cells in told.rows}
    assert list(rows) == ["0", "1", "3", "10", "30", "100", "300"]
    assert rows["30"][0] == NEVER  # no location has fewer than 100
    assert rows["100"][0] == "10 to 190"
    assert rows["0"][1] == "0 to 90"
    assert told.total == (410, 590)
    assert [tick.text for tick in told.ticks] == ["0", "10", "100"]
    assert told.untold == ()


def test_errors_of_an_answer_with_an_interval_have_ticks_as_far_as_it_goes():
    largest = Estimate(300, 290, 310, 0.9)
    assert expected_error(error_table(), 500, largest) == expected_error(error_table(), 500, 300)


def test_errors_are_of_visits_in_any_order_and_what_was_not_measured_is_not_drawn():
    locations, estimate = np.array([0, 1, 1]), np.array([500, 100, 3])
    bounds = np.stack([estimate, estimate + 5]).T[:, None].repeat(len(CONFIDENCES), axis=1)
    kind = np.array([QUESTIONS.index(one) for one in ("any", "any", "length")])
    told = expected_error(ErrorTable(locations, estimate, bounds, kind=kind), 500, 300)
    assert dict(told.rows)["30"] == NEVER  # a length has 3, no location has
    assert [panel.title for panel in told.panels] == ["Asked for one location"]
    assert told.columns == ("answer", "one location")
    assert told.untold == ("two locations", "three or more")
    assert told.listed == 0


# The first screen, intervals and marks


def test_counts_moves_and_patterns_have_intervals_and_marks():
    week = pv.simulate_week(1500, 12, seed=4)
    database = pv.TrajectoryDatabase.from_arrays(week.offsets, week.codes, week.universe)
    release = pv.publish(database, epsilon="2")
    page = render_report(release, release.certificate)
    listed = release.error_table.listed
    assert len(listed) > 0
    assert f"{len(listed):,} answers about two locations were counted one by one" in page
    for section in ("visited", "moves", "patterns"):
        table = page[page.index(f'<h2 id="{section}">') :].partition("</table>")[0]
        assert len(re.findall(r'In truth \(90%\)">[\d,]+ to [\d,]+', table)) > 3
    (row,) = re.findall(r"<tr><th scope=.row.><bdi>(S\d+)</bdi>.*?</tr>", page)[:1]
    best = release.count([row])
    assert f"{best.low:,} to {best.high:,}" in page
    marks = set(re.findall(r'class="mark">(\w+)<', page))
    assert marks <= {"rough", "noise"}
    assert RULE.partition(";")[0] in page


def test_a_name_that_is_the_label_is_said_once():
    same = listings.Location("b", "b")
    assert not same.is_named
    assert same.full_name.count("b") == 1


@pytest.mark.parametrize("is_empty", [False, True])
def test_the_first_screen_has_four_sentences_and_three_figures(is_empty):
    one = listings.Location("1", "Market")
    rows = [] if is_empty else [Visited(one, Estimate(300, 30, 570, 0.9))]
    moves = [] if is_empty else [(one, listings.Location("2", ""), Estimate(7))]
    told = first_screen(certificate(), 500, None, rows, moves)
    assert len(told.sentences) == 4
    assert len(told.figures) == 3
    text = " ".join(told.sentences).replace("\u2068", "").replace("\u2069", "")
    assert "500 synthetic trajectories over 1,012 locations" in text
    assert "at most 2.719 times as probable" in text
    if is_empty:
        assert "It is empty" in text
    else:
        assert "The most visited location is Market (300)" in text
        assert "from Market to 2 (7)" in text
        noisy = [(*moves[0][:2], Estimate(7, 0, 90, 0.9, mark="noise"))]
        said = first_screen(certificate(), 500, None, rows, noisy).sentences[1]
        assert "can't be told from noise" in said
        assert "(7)" not in said
        assert "where 300 stands, the truth is 30 to 570 (90%)" in text


def test_lines_under_the_map_are_a_file_of_the_bundle_that_verify_reads(tmp_path):
    lines = tmp_path / "city.geojson"
    lines.write_text('{"type": "LineString", "coordinates": [[1, 1], [2.5, 2]]}', encoding="utf-8")
    universe = pv.Universe(["a", "b"], latitude=[1, 2], longitude=[1, 2])
    database = pv.TrajectoryDatabase.from_sequences([["a", "b"]] * 200, universe)
    made = pv.publish(database, epsilon="4", height=2, method="full", background=lines)
    bundle = made.write(tmp_path / "release")
    assert 'class="under"' in (bundle / "report.html").read_text(encoding="utf-8")
    assert verify_bundle(bundle).background == Background((((1.0, 1.0), (2.5, 2.0)),))
    for text in (
        '{"type": "MultiLineString", "coordinates": [[[1.0, 1.0], [2.5, 2.5]]]}\n',
        '{"type":"MultiLineString", "coordinates": [[[1.0, 1.0], [2.5, 2.0]]]}\n',
        '{"type": "MultiLineString", "coordinates": 7}\n',
        "{}",
        "[",
    ):
        (bundle / "background.geojson").write_text(text, encoding="utf-8")
        rehash(bundle)
        with pytest.raises(ReleaseError, match=r"as pathveil writes it|does not follow"):
            verify_bundle(bundle)


# The citation


def certificate(**changes):
    choices = {"epsilon": "1", "height": 3, "universe_size": 1012, "method": "full"} | changes
    return Certificate.of(Parameters.choose(**choices), is_private=True)


def test_a_citation_says_what_the_certificate_says_and_makes_nothing_up():
    told = cite(certificate())
    assert "ε = 1; 1,012 locations, method full, height 3" in told.line
    assert "[publisher]" in told.line
    assert "[year]" in told.line
    assert "doi" not in (told.line + told.bibtex + told.paper).lower()
    assert told.bibtex.startswith("@misc{")
    assert told.bibtex.count("{") == told.bibtex.count("}")


def test_a_citation_names_the_dataset_and_warns_of_what_is_not_private():
    ledger = LedgerRecord(dataset="my_taps", population=None, entry=1, entry_sha256="0" * 64)
    parameters = Parameters.choose(epsilon="1/3", height=3, universe_size=5, method="full")
    told = cite(Certificate.of(parameters, is_private=False, ledger=ledger))
    assert told.line.count("NOT PRIVATE") == 1
    assert "my_taps" in told.line
    assert r"my\_taps" in told.bibtex
    assert "ε = 1/3" in told.line


# The page


def test_the_page_is_one_offline_file_and_always_the_same(release):
    page = render_report(release, release.certificate)
    assert page == render_report(release, release.certificate)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)[1]
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    assert not re.search(r"<script|<link|<img|\bsrc=|@import|https?:|url\((?!#)", page)
    for section in ("map", "visited", "moves", "lengths", "patterns", "tree", "errors", "cite"):
        assert f'<h2 id="{section}">' in page
        assert f'href="#{section}"' in page
    assert 'id="hours"' not in page
    assert 'href="#hours"' not in page


def test_the_page_of_a_release_from_disk_is_the_one_that_it_came_with(release, tmp_path):
    folder = release.write(tmp_path / "release")
    found = pv.read_release(folder)
    assert render_report(found, found.certificate) == (folder / "report.html").read_text("utf-8")


def test_labels_with_markup_are_text_on_the_page_everywhere():
    universe = pv.Universe(
        MARKUP, names=["<i>name</i>", "", "", ""], latitude=[1, 2, 3, 4], longitude=[4, 2, 3, 1]
    )
    database = pv.TrajectoryDatabase.from_sequences([MARKUP, MARKUP[::-1]] * 200, universe)
    made = pv.publish(database, epsilon="9", height=4, method="full")
    page = render_report(made, made.certificate)
    assert "&lt;i&gt;name&lt;/i&gt;" in page
    assert "&lt;script&gt;" in page
    for text in ("<b>", "<i>", "<script"):
        assert text not in page
    assert page.count("<bdi>محطة</bdi>") > 3


def test_a_page_with_zones_says_what_a_zone_counts():
    universe = pv.Universe(LABELS)
    database = pv.TrajectoryDatabase.from_sequences([LABELS[:3]] * 300, universe)
    zones = pv.Taxonomy.of(universe, [f"Z{number // 5}" for number in range(20)])
    choices = {"epsilon": "4", "height": 2, "method": "full"}
    pages = [
        render_report(made, made.certificate)
        for made in (pv.publish(database, **choices, **more) for more in ({"taxonomy": zones}, {}))
    ]
    assert ["only the zone is known" in page for page in pages] == [True, False]


def test_an_empty_release_has_a_page(release):
    empty = Released([])
    page = render_report(empty, release.certificate)
    assert "no count passed the threshold" in page
    assert 'id="tree"' not in page


@pytest.mark.parametrize(
    ("text", "most", "shown"),
    [
        ("short", 5, "short"),
        ("longer", 5, "long…"),
        ("駅前広場", 8, "駅前広場"),
        ("駅前広場", 7, "駅前…"),
    ],
)
def test_texts_are_cut_by_their_width(text, most, shown):
    assert shortened(text, most) == shown
