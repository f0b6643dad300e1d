"""A public taxonomy: every location of the universe lies in exactly one zone.

It is an input like the universe itself (a fare zone per stop, a station per platform, a coarser
cell per cell), never read off the trajectories. A release made with one has two granularities: a
visit is told by its location where the counts carry it, and by its zone where they do not. The
zones are locations of the release's own, extended universe: code |L| + z, label ``zone:NAME``.
`pathveil.gate.grow_hierarchy` says what that costs and means.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pathveil.core.paths import Paths
from pathveil.errors import UniverseError
from pathveil.universe.coordinates import EARTH_RADIUS
from pathveil.universe.universe import LISTED, MAX_LABEL_LENGTH, MAX_SIZE, Universe, text_problem

PREFIX = "zone:"


@dataclass(frozen=True, eq=False, repr=False)
class Taxonomy:
    """A zone for every location. Make one with `of` or `pathveil.universe.taxonomy_spec`.

    Attributes:
        names: the zones' names, in the order in which the universe first needs them.
        zone_of: int32, shape (|L|,); the zone of each location.
        origin: how it was made, in one line; public, printed on the certificate.
    """

    names: tuple[str, ...]
    zone_of: NDArray[np.int32]
    origin: str = LISTED

    @classmethod
    def of(cls, universe: Universe, zones: Sequence[str], *, origin: str = LISTED) -> "Taxonomy":
        """The taxonomy with these zones.

        Args:
            universe: the public universe.
            zones: the name of each location's zone, in the universe's order.
            origin: how it was made.

        Raises:
            UniverseError: if there is not one zone for each location, a name can't be a label,
                or a zone's label is that of a location.
        """
        if len(zones) != len(universe):
            raise UniverseError(
                f"There are {len(zones):,} zones for {len(universe):,} locations; give each "
                "location one."
            )
        number: dict[str, int] = {}
        zone_of = np.fromiter(
            (number.setdefault(zone, len(number)) for zone in zones), np.int32, len(zones)
        )
        _check_names(number, universe)
        return cls(tuple(number), zone_of, origin)

    def __len__(self) -> int:
        return len(self.names)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Taxonomy)
            and self.names == other.names
            and np.array_equal(self.zone_of, other.zone_of)
        )

    def __hash__(self) -> int:
        return hash((self.names, self.zone_of.tobytes()))

    def __repr__(self) -> str:
        return f"Taxonomy({len(self)} zones of {len(self.zone_of)} locations)"

    @property
    def locations(self) -> int:
        """|L|: codes below it are locations, those from it on are zones."""
        return len(self.zone_of)

    @property
    def labels(self) -> tuple[str, ...]:
        """The zones' labels in a release."""
        return tuple(f"{PREFIX}{name}" for name in self.names)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many locations each zone has, at least 1; int64, shape (|Z|,)."""
        return np.bincount(self.zone_of, minlength=len(self)).astype(np.int64)

    @cached_property
    def members(self) -> NDArray[np.int32]:
        """The locations, zone by zone, by code within each; int32, shape (|L|,)."""
        return np.argsort(self.zone_of, kind="stable").astype(np.int32)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where each zone begins in `members`; int64, shape (|Z|,)."""
        return np.cumsum(self.sizes) - self.sizes

    @cached_property
    def rank(self) -> NDArray[np.int64]:
        """The position of each location within its zone, from 0; int64, shape (|L|,)."""
        rank = np.empty(self.locations, dtype=np.int64)
        rank[self.members] = np.arange(self.locations) - np.repeat(self.starts, self.sizes)
        return rank

    def extend(self, universe: Universe) -> Universe:
        """The universe of a release: the locations, then the zones.

        A zone lies in the middle of those of its locations that can be placed.
        """
        latitude, longitude = (
            None if degrees is None else np.concatenate((degrees, self._middles(degrees)))
            for degrees in (universe.latitude, universe.longitude)
        )
        return Universe(
            (*universe.labels, *self.labels),
            names=None if universe.names is None else (*universe.names, *self.names),
            latitude=latitude,
            longitude=longitude,
            origin=universe.origin,
        )

    def universe_of_zones(self, extended: Universe) -> Universe:
        """The zones alone, as they stand in an extended universe."""
        return _part(extended, slice(self.locations, None), self.origin)

    def universe_of_locations(self, extended: Universe) -> Universe:
        """The locations alone: the universe that was extended."""
        return _part(extended, slice(self.locations), extended.origin)

    def zones_at(self, codes: NDArray[np.int32]) -> NDArray[np.int32]:
        """The zone of each code of the extended universe; int32, from 0."""
        is_zone = codes >= self.locations
        inside = self.zone_of[np.where(is_zone, 0, codes)]
        return np.where(is_zone, codes - self.locations, inside).astype(np.int32)

    def merged(self, nodes: Paths) -> Paths:
        """Trajectories from paths of tree nodes: a zone that a location refines is dropped.

        In the tree every visit is a zone, and after it the location, if that is known.
        """
        refined = np.zeros(len(nodes.codes), dtype=np.bool_)
        # A location never begins a path, so the zone before it is of the same path.
        refined[:-1] = nodes.codes[1:] < self.locations
        offsets = nodes.offsets - np.concatenate(([0], np.cumsum(refined)))[nodes.offsets]
        return Paths(offsets, nodes.codes[~refined], nodes.weights)

    def with_zones(self, paths: Paths) -> Paths:
        """The paths with the zone of every location before it: the inverse of `merged`."""
        inside = paths.codes < self.locations
        codes = np.repeat(paths.codes, 1 + inside)
        last = np.cumsum(1 + inside) - 1
        codes[last[inside] - 1] = self.locations + self.zone_of[paths.codes[inside]]
        offsets = paths.offsets + np.concatenate(([0], np.cumsum(inside)))[paths.offsets]
        return Paths(offsets, codes, paths.weights)

    @cached_property
    def points(self) -> NDArray[np.float64]:
        """A place for each location if there is no map, float64, shape (|L|, 3).

        All locations of a zone lie in one place, and zones apart: on a spiral from pole to pole.
        So much a taxonomy says about who is near whom, and nothing about which zones are.
        """
        at = np.arange(len(self))
        height = 1.0 - (2 * at + 1) / max(len(self), 1)
        turn, around = at * (np.pi * (3.0 - 5.0**0.5)), np.sqrt(1.0 - height**2)
        middles = np.column_stack((around * np.cos(turn), around * np.sin(turn), height))
        places: NDArray[np.float64] = EARTH_RADIUS * middles[self.zone_of]
        return places

    def _middles(self, degrees: NDArray[np.float64]) -> NDArray[np.float64]:
        placed = ~np.isnan(degrees)
        total = np.bincount(self.zone_of[placed], degrees[placed], len(self))
        number = np.bincount(self.zone_of[placed], minlength=len(self))
        return np.where(number > 0, total / np.maximum(number, 1), np.nan)


def _part(universe: Universe, here: slice, origin: str) -> Universe:
    return Universe(
        universe.labels[here],
        names=None if universe.names is None else universe.names[here],
        latitude=None if universe.latitude is None else universe.latitude[here],
        longitude=None if universe.longitude is None else universe.longitude[here],
        origin=origin,
    )


def _check_names(number: dict[str, int], universe: Universe) -> None:
    if len(number) + len(universe) > MAX_SIZE:
        raise UniverseError("The universe and its zones have too many locations together.")
    for zone in number:
        problem = text_problem(zone)
        if problem:
            raise UniverseError(f"The name of a zone {problem}.")
        if not zone.strip():
            raise UniverseError("A location's zone is empty; name a zone for every location.")
        label = f"{PREFIX}{zone}"
        if len(label) > MAX_LABEL_LENGTH:
            raise UniverseError("The name of a zone is too long.")
        if label in universe:
            raise UniverseError(
                f"The zone {zone[:80]!r} would be labelled {label[:80]!r}, which is a location of "
                "the universe; rename one of them."
            )
