"""Releases with times: written and read back, asked about windows, checked against lists."""

import csv
import json
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.commands import edit_certificate, rehash

import pathveil as pv
from pathveil.analysis.flows import origin_destination, transitions, visit_counts
from pathveil.core.parameters import Parameters
from pathveil.errors import QueryError, ReleaseError
from pathveil.gate.randomness import Randomness
from pathveil.publishing import publish_with
from pathveil.release.bundle import verify_bundle
from pathveil.times.time_grid import TimeGrid

LABELS = ["A", "B", "=C"]
UNIVERSE = pv.Universe(LABELS)
GRIDS = {
    "day": TimeGrid.parse("6h", "America/Montreal"),
    "week": TimeGrid.parse("weekday-hour"),
    "file": TimeGrid.of(["07:00", "12:00"], ["10:00", "14:30"], time_zone="Europe/Paris"),
    "dates": TimeGrid.of(["2024-02-28T00:00", "2024-02-29T00:00", "2024-03-01T00:00"]),
}


def database(grid, people=1500, seed=1):
    rng = np.random.default_rng(seed)  # noqa: TID251
    lengths = rng.integers(1, 5, people)
    rows = [
        np.sort(rng.integers(0, min(len(grid), 9), n)) * 3 + rng.integers(0, 3, n) for n in lengths
    ]
    return pv.TrajectoryDatabase.from_arrays(
        np.cumsum([0, *lengths]), np.concatenate(rows), UNIVERSE, time_grid=grid
    )


def published(grid, method="full", **choices):
    choices = {"epsilon": "4", "height": 3} | choices
    return pv.publish(database(grid), method=method, **choices)


@pytest.fixture(scope="module")
def release():
    return published(GRIDS["day"])


@pytest.mark.parametrize("method", ["basic", "full"])
@pytest.mark.parametrize("name", GRIDS)
def test_a_bundle_with_times_is_read_back(tmp_path, name, method):
    grid = GRIDS[name]
    release = published(grid, method)
    release.write(tmp_path / "out", csv=True)
    again = verify_bundle(tmp_path / "out")
    assert again.time_grid == release.time_grid == grid
    assert again.parameters == release.parameters
    assert again.to_timed_sequences() == release.to_timed_sequences()
    assert np.array_equal(again.tree.location, release.tree.location)
    certificate = again.certificate.implementation.time_grid
    assert certificate.model_dump() == {
        "name": grid.name,
        "kind": grid.kind,
        "slots": len(grid),
        "time_zone": grid.time_zone,
    }


def test_the_tables_carry_slot_labels(tmp_path, release):
    release.write(tmp_path / "out", csv=True)
    table = pq.read_table(tmp_path / "out/trajectories.parquet")
    assert table.column_names == ["locations", "times", "count"]
    rows = [
        list(zip(row["locations"], row["times"], strict=True))
        for row in table.to_pylist()
        for _ in range(row["count"])
    ]
    assert rows == release.to_timed_sequences()
    tree = pq.read_table(tmp_path / "out/prefix_tree.parquet")
    assert tree.column_names[:4] == ["parent", "level", "location", "time"]
    assert set(tree["time"].to_pylist()) <= set(GRIDS["day"].labels)
    with (tmp_path / "out/trajectories.csv").open() as file:
        header, first, *_ = csv.reader(file)
    assert header[:5] == ["count", "location_1", "time_1", "location_2", "time_2"]
    assert (first[1], first[2]) == release.to_timed_sequences()[0][0]
    package = json.loads((tmp_path / "out/datapackage.json").read_text())
    fields = {
        resource["path"]: [field["name"] for field in resource["schema"]["fields"]]
        for resource in package["resources"]
    }
    assert fields["trajectories.parquet"] == ["locations", "times", "count"]
    assert fields["times.csv"] == ["time", "end"]
    assert fields["trajectories.csv"] == header
    assert "America/Montreal" in (tmp_path / "out/datapackage.json").read_text()


def _later_times(bundle):
    path = bundle / "trajectories.parquet"
    table = pq.read_table(path)
    times = [["18:00"] * len(row) for row in table["times"].to_pylist()]
    field = table.schema.field("times")
    pq.write_table(table.set_column(1, field, pa.array(times, field.type)), path)


def _backwards(bundle):
    path = bundle / "prefix_tree.parquet"
    table = pq.read_table(path)
    level = table["level"].to_pylist()
    times = ["18:00" if at == 1 else "00:00" for at in level]
    pq.write_table(table.set_column(3, "time", pa.array(times)), path)


def _unknown_time(bundle):
    path = bundle / "prefix_tree.parquet"
    table = pq.read_table(path)
    pq.write_table(table.set_column(3, "time", pa.array(["03:00"] * len(table))), path)


def _other_slots(bundle):
    (bundle / "times.csv").write_text("time,end\n00:00,12:00\n12:00,24:00\n")


def _other_borders(bundle):
    path = bundle / "times.csv"
    path.write_text(path.read_text().replace("06:00", "05:00"))


def _other_zone(bundle):
    edit_certificate(
        bundle, lambda c: c["implementation"]["time_grid"].update(time_zone="Asia/Tokyo")
    )


def _no_times(bundle):
    edit_certificate(bundle, lambda c: c["implementation"].update(time_grid=None))


@pytest.mark.parametrize(
    "tamper",
    [_later_times, _backwards, _unknown_time, _other_slots, _other_borders, _other_zone, _no_times],
)
def test_verify_finds_changed_times(tmp_path, release, tamper):
    bundle = release.write(tmp_path / "out")
    tamper(bundle)
    if tamper is not _no_times:
        rehash(bundle)
    with pytest.raises(ReleaseError):
        verify_bundle(bundle)


def test_a_release_without_times_has_no_file_of_times(tmp_path):
    plain = pv.publish(database(GRIDS["day"]).without_times(), epsilon="4", height=3)
    plain.write(tmp_path / "out")
    assert not (tmp_path / "out/times.csv").exists()
    assert plain.time_grid is None
    for ask in (
        lambda: plain.during("07:00", "10:00"),
        lambda: plain.within("07:00-10:00"),
        lambda: plain.count_ordered([("A", "07:00-10:00"), "B"]),
        lambda: plain.count([("A", "07:00-10:00")]),
        plain.to_timed_sequences,
    ):
        with pytest.raises(QueryError, match="no times"):
            ask()


def test_locations_alone_are_what_analysis_sees(release):
    sequences = [[label for label, _ in row] for row in release.to_timed_sequences()]
    assert release.to_sequences() == sequences
    assert release.count(["A", "B"]) == sum({"A", "B"} <= set(row) for row in sequences)
    assert release.count_prefix(["A"]) == sum(row[0] == "A" for row in sequences)
    best = release.top_patterns(1)[0]
    assert best.support == max(Counter(x for row in sequences for x in set(row)).values())
    visits = Counter(label for row in sequences for label in row)
    assert dict(visit_counts(release).to_rows(UNIVERSE)) == visits


def contains(row, steps):
    """Whether a row makes visits (label, slots or None) in this order."""
    row = iter(row)
    return all(
        any(label == place and (slots is None or time in slots) for place, time in row)
        for label, slots in steps
    )


MORNING = {"06:00"}
DAYTIME = {"06:00", "12:00"}
QUESTIONS = [
    ([("A", "06:00-12:00"), "B"], [("A", MORNING), ("B", None)]),
    ([("A", "06:00-18:00"), ("A", "06:00-18:00")], [("A", DAYTIME), ("A", DAYTIME)]),
    (["B", ("=C", "18:00-06:00")], [("B", None), ("=C", {"18:00", "00:00"})]),
    ([("A", "00:00-24:00")], [("A", None)]),
]


@pytest.mark.parametrize(("asked", "steps"), QUESTIONS)
def test_a_in_the_morning_then_b(release, asked, steps):
    rows = release.to_timed_sequences()
    ordered = sum(contains(row, steps) for row in rows)
    assert release.count_ordered(asked) == ordered > 0
    together = sum(all(contains(row, [step]) for step in steps) for row in rows)
    assert release.count(asked) == together
    first = sum(
        len(row) >= len(steps) and all(contains([v], [s]) for v, s in zip(row, steps, strict=False))
        for row in rows
    )
    assert release.count_prefix(asked) == first


def test_a_window_leaves_the_visits_in_it(release):
    view = release.during("06:00", "18:00")
    rows = [
        [label for label, time in row if time in DAYTIME] for row in release.to_timed_sequences()
    ]
    rows = [row for row in rows if row]
    assert len(view) == len(rows)
    assert view.count(["A", "B"]) == sum({"A", "B"} <= set(row) for row in rows)
    assert view.count_prefix(["A"]) == sum(row[0] == "A" for row in rows)
    assert view.count_ordered(["A", "B"]) == sum(
        contains([(x, None) for x in row], [("A", None), ("B", None)]) for row in rows
    )
    patterns = {p.locations: p.support for p in view.top_patterns(3, max_length=1)}
    assert patterns == {(x,): sum(x in row for row in rows) for x in LABELS}
    trips = Counter((row[0], row[-1]) for row in rows)
    assert {(a, b): n for a, b, n in origin_destination(view).to_rows(UNIVERSE)} == trips
    steps = Counter(pair for row in rows for pair in pairwise(row))
    assert {(a, b): n for a, b, n in transitions(view).to_rows(UNIVERSE)} == steps
    assert isinstance(view, pv.WeightedPaths)
    assert "06:00-18:00" in repr(view)


@pytest.mark.parametrize(
    "steps", ["A", [("A",)], [("A", 7)], [("A", "06:00", "12:00")], [("Z", "06:00-12:00")], [7]]
)
def test_questions_that_can_not_be_asked(release, steps):
    for ask in (release.count_ordered, release.count_prefix, release.count):
        with pytest.raises(QueryError):
            ask(steps)


@st.composite
def databases(draw):
    size, grid = draw(st.integers(1, 4)), draw(st.sampled_from(sorted(GRIDS)))
    slots = len(GRIDS[grid])
    visit = st.tuples(st.integers(0, slots - 1), st.integers(0, size - 1))
    rows = [
        [slot * size + place for (slot, _), (_, place) in zip(sorted(row), row, strict=True)]
        for row in draw(st.lists(st.lists(visit, max_size=5), max_size=20))
    ]
    return pv.TrajectoryDatabase.from_arrays(
        np.cumsum([0, *map(len, rows)]),
        [code for row in rows for code in row],
        pv.Universe([f"L{i}" for i in range(size)]),
        time_grid=GRIDS[grid],
    )


@settings(deadline=None, max_examples=60)
@given(databases(), st.sampled_from(["basic", "full"]), st.integers(1, 4), st.integers(1, 3))
def test_in_every_release_time_never_goes_back(database, method, height, threshold):
    # A low threshold invents many nodes; growth stops where the next level would not fit.
    chosen = Parameters.choose(
        epsilon="2", height=height, method=method, threshold="auto",
        universe_size=len(database.universe), time_grid=database.time_grid,
    )  # fmt: skip
    chosen = replace(chosen, threshold=threshold, max_nodes=2000)
    release = publish_with(database, chosen, Randomness())
    size, paths = len(database.universe), release.timed_paths()
    assert np.all((paths.codes >= 0) & (paths.codes < database.pairs))
    for row in release.to_timed_sequences():
        slots = [database.time_grid.labels.index(time) for _, time in row]
        assert slots == sorted(slots)
        assert all(label in database.universe for label, _ in row)
    inner = release.tree.parent >= 0
    slot = release.tree.location // size
    assert np.all(slot[inner] >= slot[release.tree.parent[inner]])
