"""Moves between locations: lines on a map, or a matrix where no map can be drawn."""

from typing import Any

import numpy as np

from pathveil.analysis.flows import visits
from pathveil.plot.drawing import BLUE, HEIGHT, ORANGE, ROW, WIDTH, altair, chart
from pathveil.report.moves import Moves
from pathveil.report.places import Place
from pathveil.report.released import Released

_WIDEST = 8


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
            "location": place.label,
            "name": place.name,
            "visits": int(counts[code]),
            "longitude": where[code][0],
            "latitude": where[code][1],
        }
        for code in joined
        if code in where
        for place in (Place.of(release.universe, code),)
    ]


def _coordinates(release: Released) -> dict[int, tuple[float, float]]:
    """Longitude and latitude of the locations that have them, by code."""
    universe = release.universe
    if universe.latitude is None or universe.longitude is None:
        return {}
    placed = np.flatnonzero(~np.isnan(universe.latitude))
    east, north = universe.longitude[placed].tolist(), universe.latitude[placed].tolist()
    return {code: (x, y) for code, x, y in zip(placed.tolist(), east, north, strict=True)}
