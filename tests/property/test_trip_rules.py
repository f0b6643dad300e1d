"""Splitting against ten lines of plain Python with the standard library's time zones."""

from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from tests.reading_oracle import trajectories

from pathveil.raw.reading import read_trajectories
from pathveil.universe.universe import Universe

ZONES = ["UTC", "America/Montreal", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Apia"]
START = datetime(2011, 12, 1, tzinfo=UTC)  # Samoa skips a whole day in that month
RULES = ["none", "day", "week", "gap:30min", "gap:1h", "gap:1d"]

rows = st.lists(
    st.tuples(
        st.sampled_from("uvw"),
        st.integers(0, 60 * 24 * 700).map(lambda half_hours: 1800 * (half_hours % 33_600)),
        st.sampled_from("abc"),
    ),
    max_size=25,
)


def expected(rows, rule, zone, cap, *, collapse):
    units = defaultdict(list)
    for unit, seconds, location in rows:
        units[unit].append((START + timedelta(seconds=seconds), "abc".index(location)))
    found = Counter()
    for visits in units.values():
        visits.sort()
        keys, trips = [0], defaultdict(list)
        for (before, _), (now, _) in pairwise(visits):
            longest = {"gap:30min": 1800, "gap:1h": 3600, "gap:1d": 86_400}.get(rule, 10**12)
            keys.append(keys[-1] + (now - before > timedelta(seconds=longest)))
        for (moment, location), number in zip(visits, keys, strict=True):
            local = moment.astimezone(ZoneInfo(zone))
            key = {"day": local.date(), "week": local.isocalendar()[:2]}.get(rule, number)
            if not (collapse and trips[key] and trips[key][-1] == location):
                trips[key].append(location)
        found.update(tuple(trips[key]) for key in sorted(trips)[:cap])
    return found


def read(rows, rule, zone, cap, repeats):
    table = pa.table({
        "uid": pa.array([row[0] for row in rows], pa.string()),
        "datetime": pa.array(
            [(START + timedelta(seconds=row[1])).isoformat() for row in rows], pa.string()
        ),
        "location": pa.array([row[2] for row in rows], pa.string()),
    })  # fmt: skip
    return trajectories(
        read_trajectories(
            table, Universe("abc"), unit="uid", split=rule, time_zone=zone, repeats=repeats,
            max_trajectories_per_unit=cap,
        )
    )  # fmt: skip


@given(rows, st.sampled_from(RULES), st.sampled_from(ZONES), st.integers(1, 4), st.booleans())
def test_splitting_is_what_plain_python_does(rows, rule, zone, cap, collapse):
    repeats = "collapse" if collapse else "keep"
    assert read(rows, rule, zone, cap, repeats) == expected(
        rows, rule, zone, cap, collapse=collapse
    )


@given(rows, st.sampled_from(RULES), st.sampled_from(ZONES), st.integers(1, 3))
def test_a_unit_adds_at_most_c_and_changes_no_other(rows, rule, zone, cap):
    whole = read(rows, rule, zone, cap, "collapse")
    without = read([row for row in rows if row[0] != "u"], rule, zone, cap, "collapse")
    assert without <= whole
    assert (whole - without).total() <= cap
