"""What the explorer tells by hours, about one location, and by zones of the map.

All of it counts released trajectories again: the visits in some hours, the flows into and out of
one location, the flows between cells of the map instead of single stops.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from pathveil.analysis.flows import PairCounts, origin_destination, transitions, visits
from pathveil.analysis.visit_index import codes_of
from pathveil.core.error_table import HOURS, MOVE, RULE, SLOT, TRIP, Estimate, as_estimate
from pathveil.explorer.answers import (
    BEST,
    HIGH,
    LOW,
    MARK,
    RULE_FIELD,
    Figure,
    Location,
    Record,
    Table,
    figure,
)
from pathveil.explorer.asking import Asked
from pathveil.explorer.indexed_release import IndexedRelease, most_frequent_first
from pathveil.release.release import Release
from pathveil.release.views import TimeView


@lru_cache(maxsize=64)
def within(release: Release, window: str) -> TimeView:
    """The visits in a window of time."""
    return release.within(window)


@lru_cache(maxsize=64)
def _pairs_within(release: Release, window: str, kind: str) -> PairCounts:
    counted = transitions if kind == "steps" else origin_destination
    return most_frequent_first(counted(within(release, window)))


def asked_pairs(indexed: IndexedRelease, asked: Asked) -> PairCounts:
    """The flows that are asked for, the largest first; of some hours, if these are asked for."""
    window, kind = asked.text("during"), asked.text("kind") or "ends"
    if window:
        return _pairs_within(indexed.release, window, kind)
    return indexed.steps if kind == "steps" else indexed.ends


def estimates(
    indexed: IndexedRelease, asked: Asked, pairs: PairCounts
) -> Sequence[int] | Iterator[Estimate]:
    """Flows with their intervals, if the release tells any; of some hours, with a bound."""
    answering = indexed.release.answering
    if answering is None:
        counts: list[int] = pairs.counts.tolist()
        return counts
    if asked.text("during"):
        return answering.pairs_at_hours(pairs).estimates()
    kind = MOVE if asked.text("kind") == "steps" else TRIP
    return answering.pairs(kind, pairs).estimates()


def counts_during(indexed: IndexedRelease, window: str | None) -> NDArray[np.int64]:
    """How many trajectories visit each location, in these hours or at all."""
    return visits(within(indexed.release, window)).counts if window else indexed.visits


# When: visits by time slot.


class Slot(Figure):
    """A time slot, and the released visits in it; each visit of a trajectory counts."""

    start: str = Field(description="Its start, and its name.")
    end: str = Field(description="Its end, which is not part of it.")


class Slots(Table):
    """All slots of the time grid, in their order."""

    rows: list[Slot]
    rule: str = RULE_FIELD


def slots(indexed: IndexedRelease, asked: Asked) -> Slots:
    """The answer of ``/api/slots``."""
    grid, universe = indexed.release.time_grid, indexed.release.universe
    if grid is None:
        return Slots(rows=[], rule=RULE)
    paths = indexed.release.timed_paths()
    weights = np.repeat(paths.weights, paths.lengths)
    slot, code = np.divmod(paths.codes.astype(np.int64), len(universe))
    wanted = asked.text("location")
    if wanted:
        weights = weights * (code == codes_of(universe, [wanted])[0])
    counts = np.bincount(slot, weights, len(grid)).astype(np.int64)
    rows = zip(
        grid.labels, grid.ends_as_texts(), _in_slots(indexed, wanted, counts), strict=True
    )  # fmt: skip
    return Slots(
        rows=[Slot(start=start, end=end, **figure(count)) for start, end, count in rows], rule=RULE
    )


def _in_slots(
    indexed: IndexedRelease, wanted: str | None, counts: NDArray[np.int64]
) -> Sequence[int] | Iterator[Estimate]:
    """Visits by slot, with intervals where something was measured that tells their errors.

    A bound that needs no model would be everybody, for every hour.
    """
    answering = indexed.release.answering
    if answering is not None and wanted and answering.table.tells(HOURS):
        codes = np.full(len(counts), codes_of(indexed.release.universe, [wanted])[0])
        return answering.visits_at_hours(codes, counts).estimates()
    if answering is not None and not wanted and answering.table.tells(SLOT):
        return answering.slots(counts).estimates()
    plain: list[int] = counts.tolist()
    return plain


# The catchment of one location: from where people come, and where they go.


class Neighbour(Location):
    """Another location and the flows to and from it."""

    came: int = Field(description="How many lead from it to the location that was asked for.")
    came_low: int | None = LOW
    came_high: int | None = HIGH
    came_best: int | None = BEST
    came_mark: str | None = MARK
    went: int = Field(description="How many lead from that one to it.")
    went_low: int | None = LOW
    went_high: int | None = HIGH
    went_best: int | None = BEST
    went_mark: str | None = MARK


class Catchment(Table):
    """The flows into and out of a location, the largest first."""

    label: str
    name: str
    came: int = Field(description="All that lead to it from others.")
    went: int = Field(description="All that lead from it to others.")
    rows: list[Neighbour]
    rule: str = RULE_FIELD


def catchment(indexed: IndexedRelease, asked: Asked) -> Catchment:
    """The answer of ``/api/flows/of``."""
    universe, pairs = indexed.release.universe, asked_pairs(indexed, asked)
    label = asked.text("location")
    own = codes_of(universe, [label])[0] if label else int(indexed.by_visits[0])
    size = len(universe)
    arriving = (pairs.second == own) & (pairs.first != own)
    leaving = (pairs.first == own) & (pairs.second != own)
    came = np.bincount(pairs.first[arriving], pairs.counts[arriving], size).astype(np.int64)
    went = np.bincount(pairs.second[leaving], pairs.counts[leaving], size).astype(np.int64)
    order = np.argsort(-(came + went), kind="stable")[: asked.integer("limit")]
    others = order[(came + went)[order] > 0].astype(np.int32)
    here = np.full(len(others), own, dtype=np.int32)
    rows = zip(
        others.tolist(),
        estimates(indexed, asked, PairCounts(others, here, came[others])),
        estimates(indexed, asked, PairCounts(here, others, went[others])),
        strict=True,
    )
    return Catchment(
        label=universe.labels[own],
        name=indexed.name_of(own),
        came=int(came.sum()),
        went=int(went.sum()),
        rows=[
            Neighbour.at(indexed, code, **_direction("came", into), **_direction("went", out_of))
            for code, into, out_of in rows
        ],
        rule=RULE,
    )


def _direction(name: str, count: int) -> dict[str, int | str | None]:
    known = as_estimate(count)
    own = {"low": known.low, "high": known.high, "best": known.best, "mark": known.mark}
    return {name: int(known)} | {f"{name}_{key}": value for key, value in own.items()}


# Flows between zones of the map: cells of equal size, each where its visits are. They are sums of
# many flows, of whose errors together nothing was measured, so only a bound is known.


class Zone(Record):
    """A cell of the map, by its most visited location."""

    label: str = Field(description="The label of its most visited location.")
    name: str
    locations: int = Field(description="How many locations lie in it.")
    latitude: float = Field(description="Where it is drawn: the middle of its visits.")
    longitude: float


class ZoneFlow(Figure):
    """A flow between two zones, by their labels."""

    origin: str
    destination: str


class ZoneFlows(Table):
    """The largest flows between zones."""

    rows: list[ZoneFlow]
    zones: list[Zone]
    inside: int = Field(description="What stays within a zone, and is not among the flows.")
    left_out: int = Field(description="What leads to or from locations without coordinates.")
    total: int = Field(description="All flows of the release.")


def zone_flows(indexed: IndexedRelease, asked: Asked) -> ZoneFlows:
    """The answer of ``/api/flows/zones``."""
    universe, pairs = indexed.release.universe, asked_pairs(indexed, asked)
    total = int(pairs.counts.sum())
    zone_of, zones = _zones(indexed, asked.integer("across"))
    if not zones:
        return ZoneFlows(zones=[], rows=[], inside=0, left_out=total, total=total)
    first, second = zone_of[pairs.first], zone_of[pairs.second]
    placed = (first >= 0) & (second >= 0)
    apart = placed & (first != second)
    keys, at = np.unique(first[apart] * len(zones) + second[apart], return_inverse=True)
    counts = np.zeros(len(keys), dtype=np.int64)
    np.add.at(counts, at, pairs.counts[apart])
    shown = np.argsort(-counts, kind="stable")[: asked.integer("limit")]
    flows = PairCounts(*np.divmod(keys[shown], len(zones)), counts[shown])
    answering = indexed.release.answering
    known: Iterable[int] = (
        flows.counts.tolist()
        if answering is None
        else answering.between_zones(flows, zone_of).estimates()
    )
    ends = zip(flows.first.tolist(), flows.second.tolist(), known, strict=True)
    return ZoneFlows(
        zones=[
            Zone(
                label=universe.labels[code],
                name=indexed.name_of(code),
                locations=number,
                latitude=round(latitude, 6),
                longitude=round(longitude, 6),
            )
            for code, number, latitude, longitude in zones
        ],
        rows=[
            ZoneFlow(
                **figure(count),
                origin=universe.labels[zones[start][0]],
                destination=universe.labels[zones[end][0]],
            )
            for start, end, count in ends
        ],
        inside=int(pairs.counts[placed & ~apart].sum()),
        left_out=int(pairs.counts[~placed].sum()),
        total=total,
    )


def _zones(
    indexed: IndexedRelease, across: int
) -> tuple[NDArray[np.int64], list[tuple[int, int, float, float]]]:
    """The zone of each location (-1: none), and each zone: its main location, size and place."""
    universe = indexed.release.universe
    zone_of = np.full(len(universe), -1, dtype=np.int64)
    if universe.latitude is None or universe.longitude is None:
        return zone_of, []
    placed = np.flatnonzero(~np.isnan(universe.latitude))
    latitude, longitude = universe.latitude[placed], universe.longitude[placed]
    shrink = max(math.cos(math.radians(float(latitude.mean()))), 0.01)
    x, y = (longitude - longitude.min()) * shrink, latitude - latitude.min()
    side = max(float(max(x.max(), y.max())) / across, 1e-9)
    column, row = (np.minimum(np.floor(one / side), across - 1).astype(np.int64) for one in (x, y))
    _, zone = np.unique(row * across + column, return_inverse=True)
    zone_of[placed] = zone
    seen = indexed.visits[placed] + 1e-9
    weights = np.bincount(zone, seen)
    main = np.zeros(len(weights), dtype=np.int64)
    by_visits = np.argsort(indexed.visits[placed], kind="stable")
    main[zone[by_visits]] = placed[by_visits]  # the last one written is the most visited
    return zone_of, list(
        zip(
            main.tolist(),
            np.bincount(zone).tolist(),
            (np.bincount(zone, seen * latitude) / weights).tolist(),
            (np.bincount(zone, seen * longitude) / weights).tolist(),
            strict=True,
        )
    )
