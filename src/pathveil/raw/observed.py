"""The labels that occur in the data: a private universe, for discovery only.

Which labels occur is a fact about people. Nothing but `mechanism.discover` may use it, and what
that returns is a public universe.

While rows are read, labels are numbered as they come. That number depends on everybody's rows (and
on which thread was first), so nothing may be decided by it: once all rows are read, labels have
codes in the order of their bytes. A code still depends on which other labels there are, but which
of two labels has the smaller code does not, and that is all that bounding looks at when it breaks a
tie.
It is also the order of the universe that discovery returns, so a tie is broken as it would be over
that universe.
"""

from threading import Lock

import numpy as np
from numpy.typing import NDArray

from pathveil.errors import InputError
from pathveil.model.time_grid import MAX_PAIRS
from pathveil.model.universe import Universe
from pathveil.raw.database import TrajectoryDatabase
from pathveil.raw.discretize import NamedPlaces
from pathveil.raw.sources.cells import Texts
from pathveil.raw.sources.encoding import EncodedPiece, encode
from pathveil.raw.sources.raw_rows import RawRows
from pathveil.raw.sources.text_codes import MALFORMED, TextCodes, hash_texts
from pathveil.raw.trajectory_ids import order_of_bytes
from pathveil.raw.visit_times import TimedPlaces, VisitTimes


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
    """

    def __init__(self, times: VisitTimes | None = None) -> None:
        self._times = times
        self._codes = TextCodes()
        # The table of labels grows while pieces are encoded with it: one thread at a time.
        self._lock = Lock()

    def encode(self, rows: RawRows) -> EncodedPiece:
        """Add the labels of a piece, and encode it with numbers that are not codes yet."""
        hashes = hash_texts(rows.location)
        usable = np.flatnonzero(hashes != MALFORMED)
        with self._lock:
            self._codes.add(rows.location.take(usable), hashes[usable])
            places = NamedPlaces(self._codes)
            return encode(rows, places if self._times is None else TimedPlaces(places, self._times))

    def finish(self) -> "tuple[ObservedUniverse, NDArray[np.int32]]":
        """All labels in the order of their bytes; and the code of each number, int32.

        Raises:
            InputError: if they are too many for the slots of the time grid.
        """
        if self._times is not None and len(self._codes) * self._times.slots > MAX_PAIRS:
            # How many there are is private, so the message does not say it.
            raise InputError(
                "There are too many different labels for so many slots; use a coarser time grid."
            )
        labels = self._codes.values
        order = order_of_bytes(labels)
        code_of = np.empty(len(order), dtype=np.int32)
        code_of[order] = np.arange(len(order), dtype=np.int32)
        return ObservedUniverse(_strings(labels.take(order))), code_of


def _strings(texts: Texts) -> list[str]:
    data = texts.data.tobytes()
    return [
        data[start:stop].decode("utf-8")
        for start, stop in zip(texts.starts.tolist(), texts.stops.tolist(), strict=True)
    ]


def is_observed(database: TrajectoryDatabase) -> bool:
    """Whether the universe of a database is private."""
    return isinstance(database.universe, ObservedUniverse)


def restrict(database: TrajectoryDatabase, universe: Universe) -> TrajectoryDatabase:
    """The same trajectories over a universe of some of the labels; other visits are dropped.

    Times stay: a pair is coded slot · |L| + location, with the new |L|.
    """
    size = np.int32(len(database.universe))
    new_code = np.full(size, -1, dtype=np.int32)
    old = [database.universe.code(label) for label in universe.labels]
    new_code[old] = np.arange(len(universe), dtype=np.int32)
    codes = new_code[database.without_times().codes]
    is_kept = codes >= 0
    codes = codes[is_kept]
    if database.time_grid is not None:
        codes += database.codes[is_kept] // size * np.int32(len(universe))
    kept = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(is_kept)))
    return TrajectoryDatabase.from_arrays(
        kept[database.offsets],
        codes,
        universe,
        max_trajectories_per_unit=database.max_trajectories_per_unit,
        time_grid=database.time_grid,
        rules=database.rules,
    )
