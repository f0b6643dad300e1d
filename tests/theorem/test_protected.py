"""The theorem where a unit is not a person, or where c was left open.

A unit is a week or a day of a person, or a trip; so one unit more is one more of a person who is
there already, and not even that person's other units change. If c is left open while rows are read
(`--trips auto`), what is counted is bounded by the c that comes out.
"""

from collections.abc import Iterator
from itertools import product
from zlib import crc32

import pytest
from tests.theorem import people
from tests.theorem.columns import MONDAY, PLACES
from tests.theorem.product import BreachError, Case, Setting, check, small_pieces
from tests.theorem.sources import SOURCES, Place
from tests.theorem.universes import UNIVERSES

from pathveil.raw import steps

FAMILIES = ("csv", "excel", "parquet", "arrow", "polars", "pandas", "sqlite", "duckdb")
PROTECTS = ("person-week", "person-day", "trip")
SPLITS = ("none", "whole", "day", "week", "gap:30min")
KEEPS, ENGINES, TIMED = ("first", "sample"), ("memory", "duckdb"), (False, True)
VISITS = 20
# Nobody is anywhere in the third week, by any clock: whoever comes on its Saturday is a unit more.
_SATURDAY = MONDAY + 468 * people.HOUR


def cases(families, engines=ENGINES) -> list[Case]:
    """Whoever can be protected, and an open c, with every rule of reading; sources take turns."""
    sources = [s for s in SOURCES if s.family in families and not s.columns.is_list]
    units = [(protect, False) for protect in PROTECTS] + [("person", True), ("person-week", True)]
    found = []
    for unit, split, keep, engine, timed in product(units, SPLITS, KEEPS, engines, TIMED):
        protect, is_open = unit
        cap = 1 if protect == "trip" else 2
        turn = crc32(repr((unit, split, keep, timed)).encode())
        for number in range(len(sources)):
            universe = UNIVERSES[turn % len(UNIVERSES)]
            source = sources[(turn + number) % len(sources)]
            case = Case(source, universe, split, keep, engine, timed, cap, protect, is_open)
            if case.refusal is None and not case.is_void and not is_contradiction(case):
                found.append(case)
                break
    return found


def is_contradiction(case: Case) -> bool:
    """Whether it says two things at once: `TripRules` refuses it."""
    whole_trips = case.protect == "trip" and case.split == "whole"
    return whole_trips or (case.protect == "person-day" and case.split == "week")


def one_more(case: Case, setting: Setting) -> Iterator[list[people.Row]]:
    """Rows of one unit that was not there: of somebody who is, unless a unit is a person."""
    columns, land = case.source.columns, setting.land
    if case.protect == "person":
        yield people.flood(columns, land.labels, points=land.points)
        return
    for person in (0, people.PEOPLE - 1):
        rows = []
        for visit in range(VISITS):
            # One way of writing all of them: with another clock it would be another day.
            when = columns.when.when(_SATURDAY + 60 * visit, 0)
            trip = columns.unit.label("777") if case.protect == "trip" else None
            where = people._where(columns, land.labels, land.points, (person + visit) % PLACES)
            own = columns.unit.trip(visit % 3 + 1) if trip is None else trip
            rows.append((columns.unit.unit(person, visit), own, when, *where))
        yield rows
        if land.points is None:
            nasty = columns.where.nasty
            yield [(*row[:3], nasty[i % len(nasty)]) for i, row in enumerate(rows)] + rows[:3]


def enforce(case: Case, place: Place) -> int:
    turn = crc32(str(case).encode()) >> 3
    with pytest.MonkeyPatch.context() as patch:
        if turn % 2:
            small_pieces(patch)
        setting = Setting.of(case, place)
        before = setting.trajectories(setting.rows)
        assert before.total() >= people.PEOPLE
        tried = 0
        for hostile in one_more(case, setting):
            check(setting, before, hostile, people.PLACED[(turn + tried) % len(people.PLACED)])
            tried += 1
    return tried


def chosen() -> list[Case]:
    """What the quick form tries: in memory one in four, out of core one in fifteen."""
    return cases(FAMILIES, ["memory"])[::4] + cases(FAMILIES, ["duckdb"])[::15]


def test_one_unit_more_of_somebody_who_is_there(tmp_path, record_property):
    read = chosen()
    tried = sum(enforce(case, Place(tmp_path, None)) for case in read)
    assert {(case.protect, case.is_open, case.engine) for case in read} == set(
        product(PROTECTS, [False], ENGINES)
    ) | set(product(["person", "person-week"], [True], ENGINES))
    record_property("combinations", {"read": len(read), "neighbours": tried})


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family(family, tmp_path, record_property):
    read = cases([family])
    tried = sum(enforce(case, Place(tmp_path, None)) for case in read)
    record_property("combinations", {"read": len(read), "neighbours": tried})


def persons(visits, _rules):
    """Whatever is protected, it is persons whose trips are bounded."""
    return visits


def test_bounding_persons_instead_is_caught(tmp_path, monkeypatch):
    monkeypatch.setattr(steps, "by_period", persons)
    wrong = [case for case in cases(["csv"], ["memory"]) if case.protect == "person-day"]
    caught = 0
    for case in wrong:
        try:
            enforce(case, Place(tmp_path, None))
        except BreachError:
            caught += 1
    assert caught
