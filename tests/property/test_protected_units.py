"""A person's week, a person's day and a trip as units: from files to the trajectories counted."""

import numpy as np
import pytest
from tests.theorem.product import labelled

from pathveil import Universe, publish, read_trajectories
from pathveil.errors import ParameterError
from pathveil.raw import protecting, steps
from pathveil.raw.engines.engine import Engine
from pathveil.raw.reading_plan import Reading

UNIVERSE = Universe(list("ABCDEF"))
ZONE = "America/Montreal"
RULES = [
    {"trajectory": "trip"},
    {"split": "gap:30min"},
    {"split": "day"},
    {"split": "none"},
]
UNITS = [(protect, most) for protect, most in (("person-week", 2), ("person-day", 2), ("trip", 1))]


def rows_of(people, seed):
    """Visits of some people over three weeks; a trip of each day goes on after midnight."""
    draw = np.random.default_rng(seed)  # noqa: TID251  (test data, nothing private)
    for person in range(people):
        for day in range(21):
            for trip in range(int(draw.integers(4))):
                for visit in range(3):  # of UTC: the first trip begins before midnight in Montreal
                    clock = f"{4 + 6 * trip + visit // 2:02d}:{20 * visit:02d}:00Z"
                    when = f"2026-03-{day + 1:02d}T{clock}"
                    yield f"p{person}", f"{day}-{trip}", when, "ABCDEF"[draw.integers(6)]


def written(path, rows):
    lines = ["who,trip,at,stop", *(",".join(row) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


def read(path, protect, most, engine="memory", **rules):
    reading = Reading(
        unit="who", order="at", location="stop", time_zone=ZONE, protect=protect,
        max_trajectories_per_unit=most, keep_seed=7, **rules,
    )  # fmt: skip
    chosen = Engine.choose(engine, str(path), memory="500MB")
    with chosen.open(str(path), UNIVERSE, None, reading) as opened:
        return labelled(opened)


def unit_of(row, protect, rules):
    """By the calendar of Python, for what the rows of one unit are."""
    from datetime import datetime
    from zoneinfo import ZoneInfo

    local = datetime.fromisoformat(row[2]).astimezone(ZoneInfo(ZONE))
    if protect == "trip":
        return (row[0], row[1]) if "trajectory" in rules else (row[0], local.date())
    return (row[0], local.isocalendar()[:2] if protect == "person-week" else local.date())


CASES = [
    (protect, most, rules)
    for protect, most in UNITS
    for rules in RULES
    # The rows of a trip between pauses, or without trips, are not told by a row alone.
    if protect != "trip" or rules.get("split", "day") == "day"
]


@pytest.mark.parametrize(("protect", "most", "rules"), CASES, ids=str)
@pytest.mark.parametrize("keep", ["first", "sample"])
def test_one_unit_more_or_less_is_at_most_c_trajectories(tmp_path, protect, most, keep, rules):
    rows = list(rows_of(4, seed=1))
    with_it = read(written(tmp_path / "all.csv", rows), protect, most, keep=keep, **rules)
    for gone in sorted({unit_of(row, protect, rules) for row in rows}, key=str)[::19]:
        fewer = [row for row in rows if unit_of(row, protect, rules) != gone]
        without = read(written(tmp_path / "less.csv", fewer), protect, most, keep=keep, **rules)
        assert not without - with_it  # no other unit's trajectory changes
        assert sum((with_it - without).values()) <= most


def test_a_unit_is_used_up_to_c_and_a_person_far_more(tmp_path):
    path = written(tmp_path / "all.csv", rows_of(4, seed=1))
    used = {
        protect: sum(read(path, protect, most, trajectory="trip").values())
        for protect, most in [("person", 1), *UNITS]
    }
    assert used["person"] == 4
    assert used["person"] < used["person-week"] < used["person-day"] <= used["trip"]


@pytest.mark.parametrize(("protect", "most"), UNITS)
@pytest.mark.parametrize("keep", ["first", "sample"])
def test_every_engine_counts_the_same(tmp_path, protect, most, keep):
    path = written(tmp_path / "all.csv", rows_of(6, seed=2))
    choices = {"trajectory": "trip", "keep": keep}
    in_memory = read(path, protect, most, **choices)
    assert in_memory == read(path, protect, most, engine="duckdb", **choices)


def test_a_mutant_that_bounds_persons_before_it_knows_their_weeks_is_caught(tmp_path, monkeypatch):
    """Bounded by a hash of the person's weeks together: one week more moves the others' trips."""

    def stale(visits, rules):
        recoded = protecting.by_period(visits, rules)
        if recoded.unit_hash is None:
            return recoded
        hashes = recoded.unit_hash + len(visits.unit)  # what other units of the person do
        return protecting.replace(recoded, unit_hash=hashes.astype("uint64"))

    monkeypatch.setattr(steps, "by_period", stale)
    with pytest.raises(AssertionError):
        test_one_unit_more_or_less_is_at_most_c_trajectories(
            tmp_path, "person-week", 2, "sample", {"trajectory": "trip"}
        )


@pytest.mark.parametrize(
    ("choices", "says"),
    [
        ({"protect": "household"}, "one of person, person-week"),
        ({"protect": "trip", "max_trajectories_per_unit": 2}, "leave the number"),
        ({"protect": "trip", "split": "whole"}, "protect a 'person'"),
        ({"protect": "person-day", "split": "week"}, "can't be a week"),
        ({"protect": "person-day", "order": None}, "order column"),
    ],
)
def test_what_contradicts_itself_is_refused(tmp_path, choices, says):
    path = written(tmp_path / "all.csv", rows_of(1, seed=3))
    asked = {"unit": "who", "order": "at", "location": "stop"} | choices
    with pytest.raises(ParameterError, match=says):
        read_trajectories(path, UNIVERSE, **asked)


def test_the_certificate_says_that_a_person_has_no_more_in_a_year(tmp_path):
    path = written(tmp_path / "all.csv", rows_of(3, seed=4))
    release = publish(
        path, universe=UNIVERSE, epsilon="2", height=2, method="full", unit="who",
        trajectory="trip", order="at", location="stop",
    )  # fmt: skip
    told = release.certificate.privacy_loss.privacy_unit_description
    assert "for a whole year has ε = 2 in total from this release, however often." in told


@pytest.mark.parametrize(
    ("protect", "year"), [("person-week", 52), ("person-day", 365), ("trip", 500)]
)
def test_the_certificate_says_what_a_year_comes_to(tmp_path, protect, year):
    path = written(tmp_path / "all.csv", rows_of(3, seed=4))
    release = publish(
        path, universe=UNIVERSE, epsilon="2", height=2, method="full", unit="who",
        trajectory="trip", order="at", location="stop", protect=protect,
    )  # fmt: skip
    loss = release.certificate.privacy_loss
    assert release.certificate.protect == protect
    assert f"up to {year}ε = {2 * year} in total" in loss.privacy_unit_description
    assert loss.privacy_unit.startswith("one " + ("trip" if protect == "trip" else protect[7:]))
    release.write(tmp_path / "out")
    assert "is not a person" in (tmp_path / "out" / "report.html").read_text()
