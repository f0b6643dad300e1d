"""A simulated transit week: commuters who never existed, for demos, tests and benchmarks.

Riders have a home and a work stop and alternate between them, with detours; some wander. Stops
are skewed in popularity; the number of trips has a long tail. Public by birth: no privacy zone.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.errors import ParameterError
from pathveil.progress_reports import report_progress
from pathveil.universe.universe import Universe

MEAN_LENGTH = 6.7
LONGEST = 121
_COLUMNS = 32
# The city of the docs: its busiest stops.
BUSIEST = ("Central", "Harbour", "Market")


@dataclass(frozen=True, slots=True, repr=False)
class SimulatedWeek:
    """Riders' weeks: rider i visits ``codes[offsets[i]:offsets[i + 1]]`` in this order."""

    offsets: NDArray[np.int64]
    codes: NDArray[np.int32]
    universe: Universe


def simulate_week(
    riders: int, stops: int = 1012, *, seed: int | None = None, mean_length: float = MEAN_LENGTH
) -> SimulatedWeek:
    """Simulate one week of a transit system.

    Args:
        riders: number of riders, each with one trajectory.
        stops: number of stops, |L|.
        seed: repeat the same week; None for a new one.
        mean_length: visits of a rider on average, about; 1 to 1,000.
    """
    if not 1 <= riders <= 10**9 or not 1 <= stops <= 10**7:
        raise ParameterError("A simulated week needs 1 to 10⁹ riders and 1 to 10⁷ stops.")
    if not 1 <= mean_length <= 1000:  # noqa: PLR2004
        raise ParameterError("The mean length of a simulated week must lie between 1 and 1,000.")
    draw = np.random.default_rng(seed)  # noqa: TID251  (these riders do not exist)
    weight = draw.permutation(np.arange(1.0, stops + 1) ** -0.9)  # Zipf-like
    popularity = weight.cumsum()

    def stop(size: int) -> NDArray[np.int32]:
        drawn = np.searchsorted(popularity, draw.random(size) * popularity[-1])
        return np.asarray(drawn, dtype=np.int32)

    lengths = _lengths(draw, riders, mean_length)
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    visits = int(offsets[-1])
    rider = np.repeat(np.arange(riders), lengths)
    turn = np.arange(visits) - offsets[rider] + np.repeat(draw.integers(0, 2, riders), lengths)
    report_progress(1, 4)
    home, work = stop(riders), stop(riders)
    codes = np.where(turn % 2 == 0, home[rider], work[rider]).astype(np.int32)
    report_progress(2, 4)
    # A detour is one stop off the routine; a wanderer (one rider in ten) has no routine.
    wanders = np.repeat(draw.random(riders) < 0.1, lengths)  # noqa: PLR2004
    detours = np.flatnonzero(draw.random(visits) < np.where(wanders, 0.8, 0.15))
    codes[detours] = stop(len(detours))
    report_progress(3, 4)
    return SimulatedWeek(offsets, codes, _stop_list(np.argsort(-weight)))


def _lengths(
    draw: np.random.Generator,  # noqa: TID251
    riders: int,
    mean: float,
) -> NDArray[np.int64]:
    """Log-normal, at least 1, with about this mean and the longest at 18 times it (121 of 6.7)."""
    spread = 0.8
    centre = np.log(mean - 0.5) - spread**2 / 2
    lengths = 1 + draw.lognormal(centre, spread, riders).astype(np.int64)
    return np.minimum(lengths, max(LONGEST, round(LONGEST * mean / MEAN_LENGTH)))


def _stop_list(by_popularity: NDArray[np.int64]) -> Universe:
    """Stops on a grid of streets, with names and coordinates; the first have names of their own."""
    code = np.arange(len(by_popularity))
    row, column = code // _COLUMNS, code % _COLUMNS
    names = [f"Avenue {r + 1} / Street {c + 1}" for r, c in zip(row, column, strict=True)]
    for stop, name in zip(by_popularity.tolist(), BUSIEST, strict=False):
        names[stop] = name
    return Universe(
        [f"S{c:04d}" for c in code],
        names=names,
        latitude=np.asarray(45.40 + 0.004 * (row % 8192), dtype=np.float64),
        longitude=np.asarray(-73.90 + 0.011 * column, dtype=np.float64),
    )
