"""The time grid, its windows and the wall clock."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from pathveil.errors import ParameterError, QueryError
from pathveil.raw.splitting import WallClock
from pathveil.times.time_grid import OUTSIDE, TimeGrid, check_pairs
from pathveil.times.time_windows import slots_between, slots_in

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def at(*moment):
    return (datetime(*moment, tzinfo=UTC) - EPOCH) // timedelta(seconds=1)


@pytest.mark.parametrize(
    ("text", "slots", "labels"),
    [
        ("1h", 24, ("00:00", "01:00")),
        ("15min", 96, ("00:00", "00:15")),
        ("30min", 48, ("00:00", "00:30")),
        ("24h", 1, ("00:00",)),
        ("weekday-hour", 168, ("Mon 00:00", "Mon 01:00")),
    ],
)
def test_grids_by_name(text, slots, labels):
    grid = TimeGrid.parse(text, "America/Montreal")
    assert (len(grid), grid.labels[:2], grid.name) == (slots, labels, text)
    assert grid.time_zone == "America/Montreal"
    again = TimeGrid.of(grid.labels, grid.ends_as_texts(), time_zone=grid.time_zone, name=text)
    assert again == grid


@pytest.mark.parametrize("text", ["7h", "0h", "h", "1 hour", "25h", "45min ", "nowhere.csv", "-1h"])
def test_what_is_no_grid(text):
    with pytest.raises(ParameterError):
        TimeGrid.parse(text)


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "../etc/passwd", "America", None, 3])
def test_what_is_no_time_zone(zone):
    with pytest.raises(ParameterError, match="time zone"):
        TimeGrid.parse("1h", zone)


@pytest.mark.parametrize(
    ("text", "kind", "labels", "last_end"),
    [
        ("start\n06:00\n09:00\n", "day", ("06:00", "09:00"), "24:00"),
        ("start,end\n06:00,09:00\n16:00,19:30\n", "day", ("06:00", "16:00"), "19:30"),
        ("slot\nSat 00:00\nSun 00:00\n", "week", ("Sat 00:00", "Sun 00:00"), "Sun 24:00"),
        (
            "name,start\nx,2024-02-29 00:00\ny,2024-02-29T12:00:00\n",
            "dates",
            ("2024-02-29T00:00", "2024-02-29T12:00"),
            "2024-03-01T00:00",
        ),
        ("time\n2024-01-01T05:00Z\n2024-01-01T06:00Z\n", "dates", None, "2024-01-01T02:00"),
    ],
)
def test_grids_from_files(tmp_path, text, kind, labels, last_end):
    path = tmp_path / "grid.csv"
    path.write_text(text)
    grid = TimeGrid.parse(str(path), "America/Montreal")
    assert (grid.kind, grid.name, grid.ends_as_texts()[-1]) == (kind, "file", last_end)
    assert labels is None or grid.labels == labels


@pytest.mark.parametrize(
    "text",
    [
        "",
        "start\n",
        "start\nsoon\n",
        "start\n09:00\n06:00\n",  # not ascending
        "start\n09:00\n09:00\n",
        "start\n09:00\nMon 10:00\n",
        "start\n2024-01-01T00:00\n",  # how long is it?
        "start,end\n06:00,08:00\n07:00,09:00\n",  # overlapping
        "start,end\n06:00,06:00\n",
        "start,end\n06:00,Mon 07:00\n",
        "start\n24:30\n",
        "start\n\x00\n",
    ],
)
def test_what_is_no_file_of_slots(tmp_path, text):
    path = tmp_path / "grid.csv"
    path.write_text(text)
    with pytest.raises(ParameterError):
        TimeGrid.read(path)


def test_an_error_does_not_quote_the_file(tmp_path):
    path = tmp_path / "grid.csv"
    path.write_text("start\nperson-4711\n")
    with pytest.raises(ParameterError) as error:
        TimeGrid.read(path)
    assert "4711" not in str(error.value)


def test_more_pairs_than_32_bits_are_refused():
    grid = TimeGrid.parse("15min")
    assert check_pairs(10**6, grid) == 96 * 10**6
    with pytest.raises(ParameterError, match="coarser"):
        check_pairs(10**8, grid)


def test_ticks_ascend_with_the_wall_clock_and_name_period_and_slot():
    wall = np.array([at(1969, 12, 31, 23), at(1970, 1, 1), at(2024, 2, 29, 7, 59), at(2024, 3, 1)])
    hours = TimeGrid.parse("1h").ticks(wall)
    assert (hours % 24).tolist() == [23, 0, 7, 0]
    assert (hours // 24).tolist() == [-1, 0, 19_782, 19_783]
    week = TimeGrid.parse("weekday-hour").ticks(wall)
    assert (week % 168).tolist() == [2 * 24 + 23, 3 * 24, 3 * 24 + 7, 4 * 24]
    dates = TimeGrid.of(["2024-02-29", "2024-03-01"]).ticks(wall)
    assert dates.tolist() == [OUTSIDE, OUTSIDE, 0, 1]


WEEK, DAY = TimeGrid.parse("weekday-hour"), TimeGrid.parse("1h")
DATES = TimeGrid.of(["2024-02-29T06:00", "2024-02-29T18:00", "2024-03-01T06:00"])


@pytest.mark.parametrize(
    ("grid", "window", "slots"),
    [
        (DAY, "07:00-10:00", [7, 8, 9]),
        (DAY, "22:00-02:00", [0, 1, 22, 23]),
        (DAY, "23:00-24:00", [23]),
        (DAY, "00:00-24:00", list(range(24))),
        (WEEK, "Mon 07:00-Mon 09:00", [7, 8]),
        (WEEK, "Sun 23:00 - Mon 01:00", [0, 167]),
        (WEEK, "Monday 00:00-Tue 00:00", list(range(24))),
        (WEEK, "07:00-08:00", [7 + 24 * day for day in range(7)]),
        (DATES, "06:00-18:00", [0, 2]),
        (DATES, "18:00-06:00", [1]),
        (DATES, "2024-02-29T18:00-2024-03-01T18:00", [1, 2]),
        (DATES, "Fri 06:00-Fri 18:00", [2]),
    ],
)
def test_windows(grid, window, slots):
    assert np.flatnonzero(slots_in(grid, window)).tolist() == slots


@pytest.mark.parametrize(
    ("grid", "window", "match"),
    [
        (None, "07:00-10:00", "no times"),
        (DAY, "07:00", "not a time window"),
        (DAY, "07:30-10:00", "cuts the slot '07:00'"),
        (DAY, "07:00-07:00", "end after"),
        (DAY, "Mon 07:00-Mon 08:00", "no weekdays"),
        (WEEK, "2024-01-01T00:00-2024-01-02T00:00", "no dates"),
        (WEEK, "Mon 07:00-09:00", "alike"),
        (DATES, "2024-03-02-2024-03-01", "end after"),
        (DATES, "01:00-07:00", "cuts the slot"),
        (DAY, "07:00-25:00", "not a time window"),
    ],
)
def test_windows_that_can_not_be_asked_for(grid, window, match):
    with pytest.raises(QueryError, match=match):
        slots_in(grid, window)


def test_a_window_of_two_moments():
    assert np.flatnonzero(slots_between(DAY, "07:00", "08:00")).tolist() == [7]
    with pytest.raises(QueryError, match="not a moment"):
        slots_between(DAY, "seven", "08:00")
    with pytest.raises(QueryError, match="not a moment"):
        slots_between(DAY, 7, "08:00")


@pytest.mark.parametrize(
    "zone",
    ["America/Montreal", "America/St_Johns", "Australia/Lord_Howe", "Africa/Casablanca", "UTC"],
)
def test_the_wall_clock_is_zoneinfos(zone):
    clock, info = WallClock(zone), ZoneInfo(zone)
    near = (clock._changes[:, None] + np.array([-3600, -1, 0, 1, 1799, 3600, 7200])).ravel()
    spread = np.linspace(at(1900, 1, 1), at(2099, 12, 31), 2000, dtype=np.int64)
    seconds = np.concatenate((near, spread))
    shown = [
        (EPOCH + timedelta(seconds=s)).astimezone(info).replace(tzinfo=UTC) - EPOCH
        for s in seconds.tolist()
    ]
    assert clock.shows(seconds).tolist() == [d // timedelta(seconds=1) for d in shown]
    means = [
        (EPOCH + timedelta(seconds=s)).replace(tzinfo=info).timestamp() for s in seconds.tolist()
    ]
    assert clock.means(seconds).tolist() == means
