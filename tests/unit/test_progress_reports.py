"""What long steps tell: shares that rise, whatever step they are part of, and the time left."""

import threading
from functools import partial
from io import StringIO

import pytest
from rich.console import Console
from rich.progress import Task

import pathveil as pv
from pathveil.analysis.patterns import top_patterns
from pathveil.cli.progress_bar import TimeLeft, shown_bar
from pathveil.cli.terminal import _Share
from pathveil.pages.report import render_report
from pathveil.progress_reports import portion, report_progress, reported_to, reporting_here
from pathveil.raw.engines import batches, memory_counter
from pathveil.raw.engines.engine import Engine
from pathveil.raw.reading_plan import Reading
from pathveil.release.bundle import read_release, verify_bundle
from pathveil.simulated_files import write_week


def told_by(work):
    told = []
    with reported_to(told.append):
        work()
    return told


@pytest.fixture(scope="module")
def week(tmp_path_factory):
    folder = tmp_path_factory.mktemp("week")
    week = pv.simulate_week(500, 12, seed=3)
    write_week(week, folder, csv=True)
    database = pv.TrajectoryDatabase.from_arrays(week.offsets, week.codes, week.universe)
    release = pv.publish(database, epsilon="4", height=4, method="full")
    release.write(folder / "release", csv=True)
    return folder, release


def steps(folder, release, out):
    """Every step that tells; some hold others: a bundle holds a page, a page is mined."""
    steps = {
        "mine": partial(top_patterns, release, 20),
        "draw": lambda: render_report(release, release.certificate),
        "write": lambda: release.write(out / "bundle", csv=True),
        "read": lambda: read_release(folder / "release"),
        "verify": lambda: verify_bundle(folder / "release"),
    }
    exports = {
        kind: partial(release.export, out / f"flows.{kind}")
        for kind in ("csv", "parquet", "geojson", "geoparquet", "xes")
    }
    return steps | exports


STEPS = [
    *("mine", "draw", "write", "read", "verify"),
    *("csv", "parquet", "geojson", "geoparquet", "xes"),
]  # fmt: skip


@pytest.mark.parametrize("name", STEPS)
def test_shares_rise(week, tmp_path, name):
    told = told_by(steps(*week, tmp_path)[name])
    assert told == sorted(told)
    assert 0 < told[-1] <= 1


@pytest.mark.parametrize("kind", ["csv", "geojson"])
def test_telling_changes_nothing(week, tmp_path, kind):
    _, release = week
    silent, told = (tmp_path / f"{name}.{kind}" for name in ("silent", "told"))
    release.export(silent)
    told_by(lambda: release.export(told))
    assert silent.read_bytes() == told.read_bytes()
    assert top_patterns(release, 20) == release.top_patterns(20)


def test_duckdb_tells_from_its_own_threads(week):
    folder, release = week

    def read():
        with Engine("duckdb").open(
            folder / "taps.csv",
            release.universe,
            4,
            Reading(unit="card_id", order="seq", location="stop_id"),
        ):
            pass

    told = told_by(read)
    assert told == sorted(told)
    assert told[-1] == 1
    assert any(share < 1 for share in told)


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_pass_tells_how_far_it_is(week, engine, monkeypatch):
    folder, release = week
    monkeypatch.setattr(memory_counter, "VISITS_AT_ONCE", 200)
    monkeypatch.setattr(batches, "MOST_VISITS", 200)
    reading = Reading(unit="card_id", order="seq", location="stop_id")
    with Engine(engine).open(folder / "taps.csv", release.universe, None, reading) as opened:
        heard, stages, ended = [], [], [0]

        def tell(so_far, stage):
            heard.append((ended[-1], so_far))
            stages.append(stage)

        share = _Share(tell, 10, 0.3)

        def passed(done, every):
            share.passed(done, every)
            ended.append(done)

        with reported_to(share.within):
            pv.publish(opened, epsilon="4", progress=passed)
    told = [so_far for _, so_far in heard]
    assert told == sorted(told)
    assert told[-1] == 1
    assert (stages[0], stages[-1]) == ("pass 1 of at most 10", "synthesis")
    first, second = ([so_far for done, so_far in heard if done == number] for number in (0, 1))
    assert len(set(first)) > 3
    assert 0 < first[0] < first[-1] <= second[0] < 0.3


def in_a_thread(work):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def numbers():
    for number in (1, 2):
        report_progress(number, 2)
        yield number


def test_items_are_heard_where_they_were_told_whoever_asks():
    heard, made = [], []
    with reported_to(heard.append), portion(0.5, 1):
        items = reporting_here(numbers())
    in_a_thread(lambda: made.extend(items))
    assert (heard, made) == ([0.75, 1.0], [1, 2])


def test_other_threads_are_not_heard():
    assert told_by(lambda: in_a_thread(lambda: list(numbers()))) == []


def test_nothing_is_heard_between_two_items():
    heard = []
    with reported_to(heard.append):
        items = reporting_here(numbers())
    for _ in items:
        report_progress(0, 1)
    assert heard == [0.5, 1.0]


@pytest.mark.parametrize(
    ("due", "now", "words"),
    [
        (None, 30, ""),
        (100, 30, "left 0:01:10"),
        (100, 99.5, "left 0:00:01"),
        (7300, 100, "left 2:00:00"),
        (100, 140, "left -:--:--"),
    ],
)
def test_the_time_left_counts_down_and_is_unknown_when_it_is_late(due, now, words):
    task = Task(0, "Mining", 1, 0.5, _get_time=lambda: now, fields={"due": due})
    task.start_time = 0
    assert TimeLeft().render(task).plain == words


def test_a_bar_never_goes_back_and_tells_no_time_left_before_it_knows():
    """Spark reports its own stages one after the other; each begins with nothing done."""
    console = Console(file=StringIO(), force_terminal=True, width=120)
    with shown_bar(console, "Reading", 1) as tell:
        for done in (0.001, 0.5, 0.1):
            tell(done, "pass 2 of at most 10")
    last = console.file.getvalue().rsplit("Reading", 1)[1]
    assert "pass 2 of at most 10" in last
    seen = StringIO()
    with shown_bar(Console(file=seen, force_terminal=True, width=120), "Reading", 1) as tell:
        tell(0.001)
    assert "left" not in seen.getvalue()
