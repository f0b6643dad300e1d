"""Times by Python's own calendar, one visit at a time: what reading should give."""

# ruff: noqa: DTZ001  (a reading of the wall clock has no zone)

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

MONDAY = datetime(1970, 1, 5)


def wall_time(text, zone):
    """(instant, what the wall clock shows) of an ISO date and time."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=ZoneInfo(zone))
    instant = moment.astimezone(UTC)
    return instant, instant.astimezone(ZoneInfo(zone)).replace(tzinfo=None)


def slot_of(wall, grid):
    """(period, slot) of a reading of the wall clock, or None."""
    day = datetime(wall.year, wall.month, wall.day)
    period, zero = {
        "day": ((day - MONDAY).days, day),
        "week": ((day - MONDAY).days // 7, day - timedelta(days=day.weekday())),
        "dates": (0, datetime(1970, 1, 1)),
    }[grid.kind]
    seconds = (wall - zero) // timedelta(seconds=1)
    slots = zip(grid.starts, grid.ends, strict=True)
    return next(((period, i) for i, (a, b) in enumerate(slots) if a <= seconds < b), None)


def trajectory(visits, labels, grid):
    """The timed trajectory of one unit's (time text, label) rows."""
    timed = []
    for text, label in visits:
        instant, wall = wall_time(text, grid.time_zone)
        tick = slot_of(wall, grid)
        if tick is not None and label in labels:
            timed.append((instant, labels.index(label), tick))
    path, latest = [], None
    for _, code, tick in sorted(timed):
        latest = tick if latest is None else max(latest, tick)
        if latest[0] > path[0][0] if path else False:
            break
        path.append((latest[0], labels[code], grid.labels[latest[1]]))
    return [(label, time) for _, label, time in path]
