"""Charts of a release, for notebooks: ``release.plot``; each carries the few rows that it shows."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pathveil.analysis.flows import visits
from pathveil.errors import ParameterError, QueryError
from pathveil.pages.clock import count_hours
from pathveil.pages.icicle import HEIGHT as ICICLE_HEIGHT
from pathveil.pages.icicle import Cell, draw_icicle
from pathveil.pages.listings import MOST_LENGTHS, Location, Released, length_rows, shortened
from pathveil.pages.strongest_moves import Moves, known_moves, strongest_moves

Rows = Sequence[Mapping[str, object]]

BLUE, ORANGE, GREY = "#2f6f9f", "#c2571a", "#8a8a8a"
WIDTH, HEIGHT = 480, 300
ROW = 18  # height of a row, in pixels
NOT_PRIVATE = "NOT PRIVATE: the noise was injected. For tests only."
_LETTERS = 16
_ROOM_FOR_TEXT = 16
_WIDEST = 8


# What all charts share: the drawing library, the colours, a title that says what one sees.


def altair() -> Any:
    """The drawing library, an optional dependency that takes a second to import.

    Raises:
        ParameterError: if it is not installed.
    """
    try:
        import altair as alt
    except ImportError:
        raise ParameterError("Charts are drawn by altair: install pathveil[plot].") from None
    return alt


def chart(rows: Rows, **size: Any) -> Any:
    """A chart that carries these rows, and nothing from anywhere else."""
    alt = altair()
    return alt.Chart(alt.Data(values=list(rows)), **size)


def titled(drawn: Any, title: str, subtitle: str, *, is_private: bool) -> Any:
    """The chart with its title; one that is not private says so."""
    lines = [subtitle] if is_private else [NOT_PRIVATE, subtitle]
    return drawn.properties(title=altair().TitleParams(title, subtitle=lines, anchor="start"))


def check_most(most: object) -> int:
    """How many things a chart may show, at least 1.

    Raises:
        ParameterError: if it is anything else.
    """
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise ParameterError("How many to show is a whole number of at least 1.")
    return most


# The top of the prefix tree: the picture of the report, with tooltips.


def icicle_chart(release: Released) -> Any:
    """Levels from left to right; the cells of a level from the top down."""
    alt, icicle = altair(), draw_icicle(release)
    rows = [
        {
            "level": cell.level - 1,
            "right": cell.level,
            "top": cell.top,
            "bottom": cell.top + cell.height,
            "middle": cell.top + cell.height / 2,
            "centre": cell.level - 0.97,
            "text": _text(cell),
            "prefix": " → ".join(
                [location.name or location.label for location in cell.prefix]
                + ([cell.others] if cell.merged else [])
            ),
            "count": cell.count,
            "merged": bool(cell.merged),
        }
        for cell in (icicle.cells if icicle else ())
    ]
    across = alt.X(
        "level:Q",
        title="from the first location on",
        axis=alt.Axis(tickMinStep=1, grid=False, labels=False),
    )
    down = alt.Y("top:Q", scale=alt.Scale(domain=[0, ICICLE_HEIGHT], reverse=True), axis=None)
    base = chart(rows, width=WIDTH, height=ICICLE_HEIGHT * 0.75)
    cells = base.mark_rect(stroke="white", opacity=1).encode(
        x=across,
        x2="right:Q",
        y=down,
        y2="bottom:Q",
        color=alt.condition(alt.datum.merged, alt.value(GREY), alt.value(BLUE)),
        tooltip=["prefix:N", alt.Tooltip("count:Q", title="trajectories", format=",")],
    )
    words = base.mark_text(align="left", color="white", fontSize=10).encode(
        x="centre:Q",
        y=alt.Y("middle:Q", scale=alt.Scale(domain=[0, ICICLE_HEIGHT], reverse=True)),
        text="text:N",
    )
    return cells + words


def _text(cell: Cell) -> str:
    """Labels are shorter than names; the tooltip has those."""
    if cell.height < _ROOM_FOR_TEXT:
        return ""
    return cell.others if cell.merged else shortened(cell.prefix[-1].label, _LETTERS)


# Moves between locations: lines on a map, or a matrix where no map can be drawn.


def flow_lines(release: Released, moves: Moves) -> Any:
    """Lines between the locations that have coordinates, over the locations that they join."""
    alt, points = altair(), _points(release, moves)
    size = alt.Size("visits:Q", legend=None, scale=alt.Scale(range=[20, 300]))
    width = alt.StrokeWidth("count:Q", title="moves", scale=alt.Scale(range=[0.5, _WIDEST]))
    lines = (
        chart(_lines(release, moves), width=WIDTH, height=HEIGHT)
        .mark_rule(color=ORANGE, opacity=0.6)
        .encode(
            longitude="longitude:Q",
            latitude="latitude:Q",
            longitude2="longitude_to:Q",
            latitude2="latitude_to:Q",
            strokeWidth=width,
            tooltip=["origin:N", "destination:N", alt.Tooltip("count:Q", format=",")],
        )
    )
    spots = (
        chart(points)
        .mark_circle(color=BLUE, opacity=0.9)
        .encode(
            longitude="longitude:Q",
            latitude="latitude:Q",
            size=size,
            tooltip=["location:N", "name:N", alt.Tooltip("visits:Q", format=",")],
        )
    )
    return (lines + spots).project("mercator")


def flow_matrix(release: Released, moves: Moves) -> Any:
    """Origins by destinations."""
    alt, labels = altair(), release.universe.labels
    rows = [
        {"origin": labels[a], "destination": labels[b], "count": count}
        for a, b, count in _triples(moves)
    ]
    return (
        chart(rows, width=alt.Step(ROW), height=alt.Step(ROW))
        .mark_rect()
        .encode(
            x=alt.X("destination:N", title="to", sort=None),
            y=alt.Y("origin:N", title="from", sort=None),
            color=alt.Color("count:Q", title="moves", scale=alt.Scale(scheme="oranges")),
            tooltip=["origin:N", "destination:N", alt.Tooltip("count:Q", format=",")],
        )
    )


def _triples(moves: Moves) -> list[tuple[int, int, int]]:
    columns = (moves.first.tolist(), moves.second.tolist(), moves.counts.tolist())
    return list(zip(*columns, strict=True))


def _lines(release: Released, moves: Moves) -> list[dict[str, object]]:
    """The strongest last, so that they lie on top."""
    where, labels = _coordinates(release), release.universe.labels
    return [
        {
            "origin": labels[a],
            "destination": labels[b],
            "count": count,
            "longitude": where[a][0],
            "latitude": where[a][1],
            "longitude_to": where[b][0],
            "latitude_to": where[b][1],
        }
        for a, b, count in reversed(_triples(moves))
        if a in where and b in where
    ]


def _points(release: Released, moves: Moves) -> list[dict[str, object]]:
    counts, where = visits(release).counts, _coordinates(release)
    joined = np.unique(np.concatenate((moves.first, moves.second))).tolist()
    return [
        {
            "location": location.label,
            "name": location.name,
            "visits": int(counts[code]),
            "longitude": where[code][0],
            "latitude": where[code][1],
        }
        for code in joined
        if code in where
        for location in (Location.of(release.universe, code),)
    ]


def _coordinates(release: Released) -> dict[int, tuple[float, float]]:
    """Longitude and latitude of the locations that have them, by code."""
    universe = release.universe
    if universe.latitude is None or universe.longitude is None:
        return {}
    placed = np.flatnonzero(~np.isnan(universe.latitude))
    east, north = universe.longitude[placed].tolist(), universe.latitude[placed].tolist()
    return {code: (x, y) for code, x, y in zip(placed.tolist(), east, north, strict=True)}


# Charts of a release, for notebooks: each carries the few rows that it shows, and tooltips.


class Plots:
    """The charts of one release, as ``release.plot``. They are Altair's; asking costs no budget.

    Args:
        release: the release.
    """

    def __init__(self, release: Released) -> None:
        self._release = release

    def __repr__(self) -> str:
        return "Plots: visits(), flows(), tree(), lengths(), hours()"

    def visits(self, most: int = 20) -> Any:
        """The most visited locations, as bars.

        Args:
            most: how many locations.

        Raises:
            ParameterError: if that is not a number, or altair is not installed.
        """
        alt, universe = altair(), self._release.universe
        rows = [
            {
                "location": label,
                "name": Location.of(universe, universe.code(label)).name,
                "count": n,
            }
            for label, n in visits(self._release).to_rows(universe, limit=check_most(most))
        ]
        bars = (
            chart(rows, width=WIDTH, height=alt.Step(ROW))
            .mark_bar(color=BLUE)
            .encode(
                x=alt.X("count:Q", title="trajectories"),
                y=alt.Y("location:N", sort=None, title=None),
                tooltip=["location:N", "name:N", alt.Tooltip("count:Q", format=",")],
            )
        )
        return self._titled(bars, "Most visited locations", "trajectories that visit a location")

    def flows(self, most: int = 60) -> Any:
        """The strongest moves from one location straight to another.

        Lines on a map if the universe has coordinates; otherwise a matrix.

        Args:
            most: how many moves.

        Raises:
            ParameterError: if that is not a number, or altair is not installed.
        """
        strongest = strongest_moves(self._release, check_most(most))
        moves = known_moves(self._release, strongest)
        left_out = len(strongest.counts) - len(moves.counts)
        if self._release.universe.has_coordinates:
            drawn = flow_lines(self._release, moves)
            how = "wider lines, more moves; a location has the size of its visits"
        else:
            drawn = flow_matrix(self._release, moves)
            how = "stronger cells, more moves (the universe has no coordinates for a map)"
        if left_out:
            how += (
                f"; {left_out:,} of {len(strongest.counts):,} can't be told from noise: not drawn"
            )
        return self._titled(drawn, "Strongest moves", how)

    def tree(self) -> Any:
        """The top of the prefix tree as an icicle: how trajectories begin.

        Raises:
            ParameterError: if altair is not installed.
        """
        return self._titled(
            icicle_chart(self._release),
            "The top of the prefix tree",
            "a cell is as tall as its trajectories are many; the last strip of others is not",
        )

    def lengths(self, most: int = MOST_LENGTHS) -> Any:
        """How many trajectories have each length, as bars.

        Args:
            most: bars; what is longer is one more.

        Raises:
            ParameterError: if that is not a number, or altair is not installed.
        """
        alt = altair()
        rows = [
            {"length": length, "count": count}
            for length, count in length_rows(self._release, check_most(most))
        ]
        bars = (
            chart(rows, width=WIDTH, height=HEIGHT)
            .mark_bar(color=BLUE)
            .encode(
                x=alt.X("length:O", sort=None, title="locations"),
                y=alt.Y("count:Q", title="trajectories"),
                tooltip=["length:O", alt.Tooltip("count:Q", format=",")],
            )
        )
        return self._titled(bars, "Lengths", "locations of a trajectory, visits counted")

    def hours(self, most: int = 20) -> Any:
        """When visits happen, as a heat map; what its rows are depends on the time grid.

        Args:
            most: how many locations, if the rows are locations.

        Raises:
            QueryError: if the release has no times.
            ParameterError: if ``most`` is not a number, or altair is not installed.
        """
        hours = count_hours(self._release, locations=check_most(most))
        if hours is None:
            raise QueryError("The release has no times; publish with a time grid to see hours.")
        alt = altair()
        rows = [
            {"row": location.label, "name": location.name, "time": time, "count": count}
            for location, counts in zip(hours.rows, hours.counts.tolist(), strict=True)
            for time, count in zip(hours.columns, counts, strict=True)
        ]
        cells = (
            chart(rows, width=WIDTH, height=alt.Step(ROW))
            .mark_rect()
            .encode(
                x=alt.X("time:O", sort=None, title="time of the day"),
                y=alt.Y("row:N", sort=None, title=None),
                color=alt.Color("count:Q", title="visits", scale=alt.Scale(scheme="blues")),
                tooltip=["row:N", "name:N", "time:O", alt.Tooltip("count:Q", format=",")],
            )
        )
        return self._titled(cells, "When", hours.title)

    def _titled(self, drawn: Any, title: str, subtitle: str) -> Any:
        return titled(drawn, title, subtitle, is_private=self._release.is_private)
