"""Which stops a line serves, and how many stops apart: from the timetable of a GTFS feed.

Who boards at one stop of a line gets off at another. The timetable (stop_times.txt) is as public as
the list of stops, so it may say where people are likely to go from each stop; how likely, noisy
tables say (`statistics.distances`).
"""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pathveil.errors import UniverseError
from pathveil.universe.gtfs import feed_file

CALLS_FILE: Final = "stop_times.txt"
# Stops apart at which a step ends: the next one, the second, up to 4, 8, 16, and more.
LINE_ENDS: Final = np.array([1, 2, 4, 8, 16])
LINE_STEPS: Final = len(LINE_ENDS) + 1
MOST_APART: Final = 64  # stops; who stays longer on one line is taken to go anywhere
MOST_PAIRS: Final = 1 << 21  # the nearest; a large city has some hundred thousand
_CALLS = ("trip_id", "stop_id", "stop_sequence")


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """Pairs of locations that one line serves, in its direction.

    Attributes:
        first, second: int32; codes of locations; pairs ascend, and none is there twice.
        step: int8, below `LINE_STEPS`; how many stops apart they are where they are nearest.
    """

    first: NDArray[np.int32]
    second: NDArray[np.int32]
    step: NDArray[np.int8]

    @classmethod
    def of(cls, rides: list[NDArray[np.int64]]) -> "Lines | None":
        """From the stops that vehicles call at, in order; None if nobody can go anywhere.

        Args:
            rides: int64, codes of locations; a vehicle that calls twice in a row is there once.
        """
        keys, apart = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        size = 1 + max((int(ride.max()) for ride in rides if len(ride)), default=0)
        for ride in rides:
            for far in range(1, min(MOST_APART, len(ride) - 1) + 1):
                one, other = ride[:-far], ride[far:]
                moves = one != other
                keys.append((one * size + other)[moves])
                apart.append(np.full(int(moves.sum()), far))
        key, stops = np.concatenate(keys), np.concatenate(apart)
        order = np.lexsort((stops, key))
        key, at = np.unique(key[order], return_index=True)
        stops = stops[order][at]
        if not len(key):
            return None
        nearest = np.sort(np.argsort(stops, kind="stable")[:MOST_PAIRS])
        step = np.searchsorted(LINE_ENDS, stops[nearest]).astype(np.int8)
        first, second = np.divmod(key[nearest], size)
        return cls(first.astype(np.int32), second.astype(np.int32), step)

    def among(self, candidates: NDArray[np.int64], size: int) -> "Lines":
        """The pairs of candidates, as their positions.

        Args:
            candidates: int64, ascending codes.
            size: |L|.
        """
        position = np.full(size, -1, dtype=np.int32)
        position[candidates] = np.arange(len(candidates), dtype=np.int32)
        first, second = position[self.first], position[self.second]
        both = (first >= 0) & (second >= 0)
        return Lines(first[both], second[both], self.step[both])


def read_lines(feed: Path, codes: Mapping[str, int]) -> Lines | None:
    """The lines of a feed; None if it has no timetable.

    Args:
        feed: a zip file; a stops.txt by itself has no timetable.
        codes: which location the id of each stop stands for; others are passed by.

    Raises:
        UniverseError: if the timetable is malformed.
    """
    content = feed_file(feed, CALLS_FILE)
    return None if content is None else Lines.of(_rides(content, feed, codes))


def _rides(content: bytes, feed: Path, codes: Mapping[str, int]) -> list[NDArray[np.int64]]:
    """Each sequence of stops once: most vehicles of a line call at the same ones."""
    # Here, because `pathveil plan` asks what a line is, and loads nothing heavy.
    import pyarrow as pa
    import pyarrow.csv as pa_csv

    texts = pa_csv.ConvertOptions(
        column_types=dict.fromkeys(_CALLS, pa.string()), include_columns=list(_CALLS)
    )
    try:
        table = pa_csv.read_csv(io.BytesIO(content), convert_options=texts)
        sequence = table["stop_sequence"].cast(pa.int64()).to_numpy()
    except (pa.ArrowException, KeyError):
        raise UniverseError(f"The {CALLS_FILE} of {feed} is not as GTFS has it.") from None
    stops = table["stop_id"].combine_chunks().dictionary_encode()
    trips = table["trip_id"].combine_chunks().dictionary_encode()
    known = np.array([codes.get(stop, -1) for stop in stops.dictionary.to_pylist()], np.int64)
    stop = known[stops.indices.to_numpy()] if len(known) else np.zeros(0, np.int64)
    trip = trips.indices.to_numpy().astype(np.int64)
    order = np.lexsort((sequence, trip))
    order = order[stop[order] >= 0]
    stop, trip = stop[order], trip[order]
    is_new = np.append(True, (stop[1:] != stop[:-1]) | (trip[1:] != trip[:-1]))[: len(stop)]
    stop, trip = stop[is_new], trip[is_new]
    starts = np.flatnonzero(np.append(True, trip[1:] != trip[:-1])[: len(trip)])
    rides = {ride.tobytes(): ride for ride in np.split(stop, starts[1:])}
    return list(rides.values())
