"""The audit from files through DuckDB: what it reads, bounds, keeps and sums goes to the gate.

The pairs of files are those of `test_raw_audit`; here every run counts anew what the engine keeps
on disk. An engine that lets a unit have more than its share is an alarm. (One that counts batches
twice, or cuts them, is caught by the bounds themselves: `test_sensitivity_by_engines`.)
"""

from contextlib import ExitStack
from copy import copy
from dataclasses import replace

import pytest
from tests.privacy.pairs import named
from tests.privacy.test_raw_audit import NAMES, SHARE

from pathveil.audit import audit, from_rows, raw_neighbours, raw_pairs
from pathveil.raw.engines import batches, duckdb_counter, run_files, visit_runs
from pathveil.raw.engines.engine import Engine
from pathveil.raw.reading_plan import Reading

QUICK = ("over the cap",)


@pytest.fixture
def audited(monkeypatch):
    """Audits one pair. Few trajectories in a batch, few units in a file: there are many of both."""
    right, counters = raw_neighbours.read_trajectories, {}
    with ExitStack() as opened:

        def read(path, universe, **reading):
            """In memory, for the auditor, who knows the people; by DuckDB, for the mechanism."""
            database = right(path, universe, **reading)
            engine = Engine.choose("duckdb", str(path), memory="256MB")
            how = Reading.of(reading)
            counter = opened.enter_context(engine.open(str(path), universe, None, how))
            counters[id(database)] = counter
            return database

        def mechanism(database, parameters, randomness):
            """Discovery tells a counter what it may see from then on: each run has its own."""
            return from_rows(copy(counters[id(database)]), parameters, randomness)

        def audit_one(name, runs):
            pair = named(raw_pairs(), name)
            return audit(mechanism, pairs=[pair], runs=runs, false_alarm=SHARE)

        monkeypatch.setattr(run_files, "_BITS", 3)
        monkeypatch.setattr(batches, "MOST_VISITS", 200)
        monkeypatch.setattr(duckdb_counter, "MOST_VISITS", 200)
        monkeypatch.setattr(raw_neighbours, "read_trajectories", read)
        yield audit_one


@pytest.mark.parametrize(
    "name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.long) for n in NAMES]
)
def test_no_alarm(audited, name):
    assert audited(name, runs=256 if name in QUICK else 1024).alarms == ()


def bounds_by_files(patch):
    """A unit's trips are bounded in each file by itself, and files are by trip instead of unit."""
    right = run_files.unit_texts

    def by_trip(runs):
        return visit_runs._texts(runs, "trip") if "trip" in runs.schema.names else right(runs)

    patch.setattr(run_files, "unit_texts", by_trip)


def forgets_the_bound(patch):
    """Trips are bounded by the most that c could be, not by the c of this run."""
    right = duckdb_counter.VisitSteps.of
    patch.setattr(
        duckdb_counter.VisitSteps,
        "of",
        lambda plan: replace(right(plan), max_trajectories_per_unit=40),
    )


@pytest.mark.parametrize("mutant", [bounds_by_files, forgets_the_bound])
def test_a_broken_engine_is_an_alarm(audited, mutant, monkeypatch):
    mutant(monkeypatch)
    assert audited("over the cap", runs=256).alarms
