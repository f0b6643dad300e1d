"""The trajectory database (the paper's 𝒟): who went where, in order, after bounding."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pathveil.core.paths import Paths
from pathveil.core.preparations import AUTO, MOST_TRIPS
from pathveil.errors import InputError, ParameterError
from pathveil.times.time_grid import TimeGrid, check_pairs
from pathveil.universe.universe import Universe


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class TrajectoryDatabase:
    """Trajectories over a universe, in compressed rows. Private: it never leaves the raw zone.

    Attributes:
        offsets: int64, shape (n + 1,); trajectory i is ``codes[offsets[i]:offsets[i + 1]]``.
        codes: int32, location codes into ``universe``; with a time grid pairs, coded
            slot · |L| + location, whose slots never decrease within a trajectory (int64 as long
            as the universe is private: see `observed`).
        universe: the public universe.
        max_trajectories_per_unit: c, the largest number of rows that one unit (a person) can
            have contributed. The sensitivity of every count follows it.
        time_grid: the public time grid; None if the visits have no times.
        rules: the public rules by which rows became trajectories, in words.
        trips: which trajectories are of one unit, and how many it has (`BoundedTrajectories`);
            None if every unit has one at most, or if that was not told.
        trips_are_open: whether c is still to be chosen with privacy.
    """

    offsets: NDArray[np.int64]
    codes: NDArray[np.int32]
    universe: Universe
    max_trajectories_per_unit: int = 1
    time_grid: TimeGrid | None = None
    rules: tuple[str, ...] = ()
    trips: NDArray[np.int32] | None = None
    trips_are_open: bool = False

    @classmethod
    def from_sequences(
        cls, sequences: Sequence[Sequence[str]], universe: Universe
    ) -> "TrajectoryDatabase":
        """Build a database from lists of labels, one trajectory per unit.

        A visit to a location outside the universe is dropped, as `read_trajectories` does.
        """
        known = universe._codes  # noqa: SLF001  (one lookup table, shared on purpose)
        rows = [[known[label] for label in row if label in known] for row in sequences]
        offsets = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum([len(row) for row in rows], out=offsets[1:])
        codes = np.fromiter((code for row in rows for code in row), dtype=np.int32)
        return cls(offsets, codes, universe)

    @classmethod
    def from_arrays(
        cls,
        offsets: ArrayLike,
        codes: ArrayLike,
        universe: Universe,
        *,
        max_trajectories_per_unit: int = 1,
        time_grid: TimeGrid | None = None,
        rules: tuple[str, ...] = (),
    ) -> "TrajectoryDatabase":
        """Wrap arrays without copying them (int64 offsets and int32 codes; others are converted).

        Args:
            offsets: shape (n + 1,), from 0 to ``len(codes)``, never decreasing.
            codes: location codes, each in ``[0, len(universe))``; with a time grid
                slot · |L| + location, the slots of a trajectory never decreasing.
            universe: the public universe.
            max_trajectories_per_unit: the caller's promise of how many of these rows can come
                from one person. The default, 1, says every row is a different person.
            time_grid: the public time grid of the codes, if they have times.
            rules: the public rules by which rows became trajectories, for the certificate.
        """
        offsets = np.ascontiguousarray(_integers("offsets", offsets), dtype=np.int64)
        codes = _integers("codes", codes)
        _check_rows(offsets, codes, check_pairs(len(universe), time_grid))
        if time_grid is not None:
            _check_slots(offsets, codes, len(universe))
        return cls(
            offsets,
            np.ascontiguousarray(codes, dtype=np.int32),
            universe,
            check_max_trajectories(max_trajectories_per_unit),
            time_grid,
            rules,
        )

    @property
    def tells_units(self) -> bool:
        """Whether it is told which trajectories are of one unit: how it was read, not what."""
        return self.trips is not None

    def bounded_to(self, most: int) -> "TrajectoryDatabase":
        """Of each unit at most so many trajectories, once c has been chosen with privacy."""
        if self.trips is None or not self.trips_are_open:
            raise ValueError("c was given")
        offsets, codes, trips = first_trips(self.offsets, self.codes, self.trips, most)
        return TrajectoryDatabase(
            offsets, codes, self.universe, most, self.time_grid, self.rules, trips
        )

    @property
    def pairs(self) -> int:
        """The number of codes: |L|, or |L|·|T| with a time grid. Public."""
        return check_pairs(len(self.universe), self.time_grid)

    def without_times(self) -> "TrajectoryDatabase":
        """The same trajectories as sequences of locations."""
        if self.time_grid is None:
            return self
        codes = (self.codes % len(self.universe)).astype(np.int32, copy=False)
        return TrajectoryDatabase(
            self.offsets, codes, self.universe, self.max_trajectories_per_unit, rules=self.rules
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        # The exact number of people is private; a repr ends up in notebooks and logs.
        return f"TrajectoryDatabase(<private>, {self.universe.summary})"

    def paths(self) -> Paths:
        """The trajectories' locations as a multiset of paths of weight 1 (for the evaluation)."""
        codes = self.without_times().codes
        return Paths(self.offsets, codes, np.ones(len(self), dtype=np.int64))


MOST_PER_UNIT = 10**6  # c is no more: all trips of anybody, in effect


def most_trajectories(value: int | str) -> int:
    """How many trajectories of a unit are read: c, or the most that it can be if it is "auto"."""
    return MOST_TRIPS if value == AUTO else check_max_trajectories(value)


def check_max_trajectories(value: int | str) -> int:
    """Validate c, the number of trajectories that one unit may contribute."""
    if (
        isinstance(value, bool)
        or not isinstance(value, int | np.integer)
        or not 1 <= value <= MOST_PER_UNIT
    ):
        raise ParameterError(
            "The number of trajectories per unit must be a whole number from 1 to 1,000,000, or "
            "'auto'."
        )
    return int(value)


def _integers(what: str, values: ArrayLike) -> NDArray[np.integer]:
    array = np.asarray(values)
    if array.size == 0:
        array = array.astype(np.int64)
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        raise InputError(f"The {what} must be a one-dimensional array of whole numbers.")
    return array


def _check_rows(offsets: NDArray[np.int64], codes: NDArray[np.integer], universe_size: int) -> None:
    well_formed = (
        len(offsets) > 0
        and offsets[0] == 0
        and offsets[-1] == len(codes)
        and bool(np.all(offsets[1:] >= offsets[:-1]))
    )
    if not well_formed:
        raise InputError("The offsets must rise from 0 to the number of codes.")
    if len(codes) and (codes.min() < 0 or codes.max() >= universe_size):
        raise InputError("A location code is outside the universe; codes run from 0 to |L| - 1.")


def _check_slots(offsets: NDArray[np.int64], codes: NDArray[np.integer], size: int) -> None:
    goes_back = np.diff(codes // size) < 0
    first = offsets[(offsets > 0) & (offsets < len(codes))]
    goes_back[first - 1] = False  # from one trajectory to the next it may
    if goes_back.any():
        raise InputError("Within a trajectory the time slots may not decrease.")


def first_trips(
    offsets: NDArray[np.int64], codes: NDArray[Any], trips: NDArray[np.int32], most: int
) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[np.int32]]:
    """Of each unit the first ``most`` of its bounded trajectories, by what `trips` says of them.

    One is kept or dropped by its own place among those of its unit; so what a unit contributes is
    still a function of its own rows, and is at most ``most`` trajectories.
    """
    is_kept = trips > -most
    lengths = np.diff(offsets)
    kept = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths[is_kept])))
    return kept, codes[np.repeat(is_kept, lengths)], trips[is_kept]
