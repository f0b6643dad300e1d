"""The rows of some ordinary people, and a hostile unit's rows among them.

People's rows are such that any change of what decides for them shows: visits at one moment, whose
order is settled by a tie, and trips on several days and in two weeks, more of them than are kept.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st
from tests.theorem.columns import HOSTILE, MONDAY, PLACES, Kind

PEOPLE = 6
MANY = 150
HOUR, DAY = 3_600, 86_400
# (trip, hours since Monday, place relative to the person's number)
TRAVELS = (
    (1, 8, 2), (1, 8, 1), (1, 8, 0), (1, 8.25, 3),
    (2, 33, 1), (2, 33, 0),
    (3, 170, 4), (3, 170, 4), (3, 171.5, 2),
)  # fmt: skip
ROLES = ("unit", "trip", "when", "where")
PLACED = ("beginning", "middle", "end", "everywhere")
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Columns:
    """The kind of each column of a source.

    Attributes:
        unit: of the unit's id, and of the trajectory's.
        when: of the order.
        where: of the label, or of the items of the lists.
        degrees: of the coordinates.
        is_list: whether a row is a trajectory.
    """

    unit: Kind
    when: Kind
    where: Kind
    degrees: Kind
    is_list: bool = False


def ordinary(columns: Columns, labels: Sequence[str] | None, *, points) -> list[Row]:
    """Everybody's rows, in the order of time: (unit, trip, when, where) or with two coordinates.

    Args:
        columns: the kinds of columns.
        labels: what the places are called; None for what the kind calls them.
        points: None, or the coordinates of the places.
    """
    rows = []
    for trip, hours, step in TRAVELS:
        for person in range(PEOPLE):
            place = (person + step) % PLACES
            number = len(rows)
            row = (
                columns.unit.unit(person, number),
                columns.unit.trip(trip),
                columns.when.when(MONDAY + int(hours * HOUR), number),
            )
            rows.append((*row, *_where(columns, labels, points, place)))
    return _lists(rows) if columns.is_list else rows


def _where(columns, labels, points, place) -> tuple[Any, ...]:
    if points is not None:
        return tuple(map(columns.degrees.degrees, points[place]))
    if labels is None:
        return (columns.where.where(place),)
    return (columns.where.label(labels[place]),)


def _lists(rows: list[Row]) -> list[Row]:
    """Two rows of a person's next to each other for every trip: the second half, then the first."""
    grouped: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        grouped.setdefault((str(row[0]).lstrip("0"), str(row[1])), []).append(row)
    lists = []
    for some in grouped.values():
        half = (len(some) + 1) // 2
        lists += [(*part[0][:3], [row[3] for row in part]) for part in (some[half:], some[:half])]
    return lists


def hostile_rows(columns: Columns, labels, *, points) -> st.SearchStrategy[list[Row]]:
    """Some rows of the hostile unit: ordinary cells and nasty ones."""
    return st.lists(_hostile_row(columns, labels, points), min_size=1, max_size=4)


def _hostile_row(columns, labels, points) -> st.SearchStrategy[Row]:
    place = st.integers(0, PLACES - 1)
    where = place.map(lambda number: _where(columns, labels, points, number))
    if points is not None:
        nasty = st.sampled_from(columns.degrees.nasty)
        where |= st.tuples(nasty, nasty) | where.flatmap(
            lambda good: st.tuples(st.just(good[0]), nasty)
        )
    else:
        nasty = st.sampled_from(columns.where.nasty)
        where |= st.tuples(nasty)
        if columns.is_list:
            items = st.lists(where.map(lambda one: one[0]), max_size=6) | st.none()
            where = st.tuples(items)
    instants = st.integers(MONDAY - 400 * DAY, MONDAY + 400 * DAY)
    return st.tuples(
        st.sampled_from([columns.unit.forms[0]] * 3 + list(columns.unit.forms)),
        st.integers(1, 3).map(columns.unit.trip) | st.sampled_from(trips(columns)),
        instants.map(lambda at: columns.when.when(at, at)) | st.sampled_from(columns.when.nasty),
        where,
    ).map(lambda row: (*row[:3], *row[3]))


def trips(columns: Columns) -> tuple[Any, ...]:
    """Ids of trajectories that nobody expects."""
    return columns.unit.nasty


def one_by_one(columns: Columns, labels, *, points) -> Iterator[list[Row]]:
    """For each nasty cell, a single row with it where it hurts, and all else in order."""
    good = _good(columns, labels, points)
    for cell in columns.unit.forms:
        yield [(cell, *good[1:])]
    for cell in trips(columns):
        yield [(good[0], cell, *good[2:])]
    for cell in columns.when.nasty:
        yield [(*good[:2], cell, *good[3:])]
    for cell in (columns.where if points is None else columns.degrees).nasty:
        if columns.is_list:
            yield [(*good[:3], [cell, good[3][0], cell])]
        else:
            yield [(*good[:3], cell, *good[4:])]
    if columns.is_list:
        yield [(*good[:3], None)]
        yield [(*good[:3], [])]


def _good(columns: Columns, labels, points) -> Row:
    """A row of the hostile unit in which nothing is wrong."""
    where = _where(columns, labels, points, 0)
    return (
        columns.unit.forms[0],
        columns.unit.trip(1),
        columns.when.when(MONDAY + 8 * HOUR, 0),
        *([list(where)] if columns.is_list else where),
    )


def _of_many(columns: Columns, good: Row, number: int) -> Row:
    """One of many rows, each with a trip of its own and, where a label can be any text, a label."""
    trip = columns.unit.label(f"{number + 100}")
    if len(good) > len(ROLES) or columns.where.numbered:
        return (good[0], trip, *good[2:])
    label = columns.where.label(f"zq {number}")
    return (good[0], trip, good[2], [label] if columns.is_list else label)


def flood(columns: Columns, labels, *, points) -> list[Row]:
    """More trips, days and labels than anybody has, and every nasty cell at once."""
    good = _good(columns, labels, points)
    rows = [row for some in one_by_one(columns, labels, points=points) for row in some]
    for number in range(40):
        where = _where(columns, labels, points, number % PLACES)
        row = (
            columns.unit.forms[number % 2 % len(columns.unit.forms)],
            columns.unit.trip(number % 3 + 1),
            columns.when.when(MONDAY + number * 9 * HOUR, number),
        )
        rows.append((*row, list(where)) if columns.is_list else (*row, *where))
    return rows + [_of_many(columns, good, number) for number in range(MANY)]


def placed(people: list[Row], hostile: list[Row], where: str) -> list[Row]:
    """The hostile rows somewhere among the others, which keep their order."""
    if where == "everywhere":
        cuts = [len(people) * k // len(hostile) for k in range(len(hostile) + 1)]
        parts = [people[a:b] for a, b in pairwise(cuts)]
        return [row for one, part in zip(hostile, parts, strict=True) for row in (one, *part)]
    # In the middle of the people's rows is also in the middle of one person's lists, and of a tie.
    cut = {"beginning": 0, "middle": len(people) // 2 - 1, "end": len(people)}[where]
    return [*people[:cut], *hostile, *people[cut:]]


__all__ = ["HOSTILE", "Columns", "flood", "hostile_rows", "one_by_one", "ordinary", "placed"]
