"""The labels that occur in the data: a private universe, for discovery only.

Which labels occur is a fact about people. Nothing but `gate.prepare` may use it, and what
that returns is a public universe.

While rows are read, labels are numbered as they come. That number depends on everybody's rows (and
on which thread was first), so nothing may be decided by it: once all rows are read, labels have
codes in the order of their bytes. A code still depends on which other labels there are, but which
of two labels has the smaller code does not, and that is all that bounding looks at when it breaks a
tie. It is also the order of the universe that discovery returns, so a tie is broken as it would be
over that universe.

What one unit may introduce is capped. Bounding comes first: the labels here are those of bounded
trajectories, at most c of a unit, and what other rows of the unit name is forgotten. Of each
trajectory `gate.prepare` counts the first k distinct labels. So one unit adds at most c·k
labels to those that have a count, each a count of at most c; a label without a count has no noise
and can't be named. No visit is dropped on the way: which labels others name changes no trajectory.

How many labels there are is private, and no number of them ends a run: an error would be an answer
without noise. So pairs of a slot and a location are numbered with 64 bits until discovery has
named the labels, whose number is public; only then must pairs fit the 32 bits of everything else.
"""

from dataclasses import replace
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pathveil.raw.bounding import BoundedTrajectories
from pathveil.raw.database import TrajectoryDatabase
from pathveil.raw.discretize import LabelLocator
from pathveil.raw.sources.encoding import EncodedPiece, encode
from pathveil.raw.sources.raw_rows import RawRows
from pathveil.raw.sources.text_codes import MALFORMED, TextCodes, hash_texts
from pathveil.raw.sources.text_columns import Texts
from pathveil.raw.trajectory_ids import order_of_bytes
from pathveil.raw.visit_times import TimedLocator, VisitTimes
from pathveil.universe.universe import Universe


class ObservedUniverse(Universe):
    """All labels of a source, in the order of their bytes. Private: its repr tells nothing.

    Unlike a public universe it may be empty, and hold labels that nothing could print.
    """

    def __init__(self, labels: list[str]) -> None:
        self.labels = tuple(labels)
        self.names = self.latitude = self.longitude = None

    @property
    def summary(self) -> str:
        """Not even its size is public."""
        return "unknown universe"

    def __repr__(self) -> str:
        return "ObservedUniverse(<private>)"


class LabelCollector:
    """Numbers the labels of a source while it is read, piece by piece.

    Args:
        times: the time grid of the visits, if they have times.
        exact_units: see `encode`.
    """

    def __init__(self, times: VisitTimes | None = None, *, exact_units: bool = False) -> None:
        self._times = times
        self._exact_units = exact_units
        self._codes = TextCodes()
        # The table of labels grows while pieces are encoded with it: one thread at a time.
        self._lock = Lock()

    def encode(self, rows: RawRows) -> EncodedPiece:
        """Add the labels of a piece, and encode it with numbers that are not codes yet."""
        with self._lock:
            self.add(rows)
            named = LabelLocator(self._codes)
            locator = named if self._times is None else TimedLocator(named, self._times)
            return encode(rows, locator, exact_units=self._exact_units)

    def add(self, rows: RawRows) -> None:
        """Add the labels of a piece."""
        hashes = hash_texts(rows.location)
        usable = np.flatnonzero(hashes != MALFORMED)
        self._codes.add(rows.location.take(usable), hashes[usable])

    @property
    def labels(self) -> Texts:
        """The labels so far, in the order in which they came."""
        return self._codes.values

    def codes(self) -> NDArray[np.int32]:
        """The code of each number: its position in the order of the labels' bytes."""
        order = order_of_bytes(self._codes.values)
        code_of = np.empty(len(order), dtype=np.int32)
        code_of[order] = np.arange(len(order), dtype=np.int32)
        return code_of

    def universe(self) -> ObservedUniverse:
        """All labels of the source, by their codes."""
        labels = self._codes.values
        return ObservedUniverse(_strings(labels.take(order_of_bytes(labels))))

    def introduced(
        self, bounded: BoundedTrajectories
    ) -> "tuple[BoundedTrajectories, ObservedUniverse]":
        """The same trajectories over the labels that occur in them, and these.

        Args:
            bounded: trajectories of `codes`, or of pairs of a slot and such a code.
        """
        size = len(self._codes)
        occurs = np.zeros(size, dtype=np.bool_)
        occurs[bounded.codes % max(size, 1)] = True
        old = np.flatnonzero(occurs)
        offsets, codes = recoded(bounded.offsets, bounded.codes, size, old)
        labels = self._codes.values
        labels = labels.take(order_of_bytes(labels)[old])
        return replace(bounded, offsets=offsets, codes=codes), ObservedUniverse(_strings(labels))


def labels_of(rows: RawRows) -> Texts:
    """The distinct labels of some rows."""
    collector = LabelCollector()
    collector.add(rows)
    return collector.labels


def _strings(texts: Texts) -> list[str]:
    data = texts.data.tobytes()
    return [
        data[start:stop].decode("utf-8")
        for start, stop in zip(texts.starts.tolist(), texts.stops.tolist(), strict=True)
    ]


def is_observed(universe: Universe) -> bool:
    """Whether a universe is private."""
    return isinstance(universe, ObservedUniverse)


def restrict(database: TrajectoryDatabase, universe: Universe) -> TrajectoryDatabase:
    """The same trajectories over a universe of some of the labels; other visits are dropped.

    Times stay: a pair is coded slot · |L| + location, with the new |L|.

    Raises:
        ParameterError: if there are more pairs than can be numbered. Their number is public.
    """
    old = np.array([database.universe.code(label) for label in universe.labels], dtype=np.int64)
    offsets, codes = recoded(database.offsets, database.codes, len(database.universe), old)
    return TrajectoryDatabase.from_arrays(
        offsets,
        codes,
        universe,
        max_trajectories_per_unit=database.max_trajectories_per_unit,
        time_grid=database.time_grid,
        rules=database.rules,
    )


def recoded(
    offsets: NDArray[np.int64], codes: NDArray[Any], size: int, old: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Offsets and codes of the visits to some locations, which are numbered anew.

    Args:
        offsets: of the trajectories.
        codes: slot · ``size`` + location, or locations, which are in slot 0.
        size: how many locations there are now.
        old: which of them stay, in their new order.
    """
    new_code = np.full(size, -1, dtype=np.int32)
    new_code[old] = np.arange(len(old), dtype=np.int32)
    slot, location = np.divmod(codes, max(size, 1))
    location = new_code[location]
    is_kept = location >= 0
    kept = np.concatenate(([0], np.cumsum(is_kept, dtype=np.int64)))
    pairs = slot[is_kept].astype(codes.dtype) * len(old) + location[is_kept]
    return kept[offsets], pairs.astype(codes.dtype, copy=False)
