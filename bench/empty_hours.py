"""The rule for hours that noise explains (`NOISE_EXPLAINS`, `MOST_GIVEN_UP`), on simulated weeks.

    python -m bench.empty_hours few fine --runs 3
    python -m bench.empty_hours kept-back --runs 3

Each week is published as any other, at ε = 1; the noisy table of slots that the run measured is
then judged by several constants. *invented*: visits in hours in which nobody rides, of all visits,
if those hours were left as their noisy counts say. *lost*: true visits in hours that are taken for
empty. INTERNAL: it compares raw data with releases.
"""

import argparse
from unittest.mock import patch

import numpy as np

from pathveil import TrajectoryDatabase, Universe, publish
from pathveil.methods.calibrated.synthesis import times
from pathveil.statistics.constants import MOST_GIVEN_UP, NOISE_EXPLAINS
from pathveil.times.time_grid import TimeGrid

# People, locations, grid, and how busy each hour of the day is.
DAY_AND_EVENING = (0,) * 6 + (2, 6, 8, 5, 3, 3, 4, 3, 3, 4, 6, 8, 6, 4, 3, 2) + (0.3, 0.05)
TWO_PEAKS = (0,) * 5 + (1, 5, 9, 6, 1, 0.2, 0.2, 0.2, 0.2, 1, 5, 8, 7, 2, 0.5) + (0,) * 4
ALL_NIGHT = (1, 0.5, 0.2, 0.1, 0.1, 0.5, 2, 4, 6, 5, 4, 4, 5, 5, 5, 5, 6, 6, 5, 4, 3, 3, 2, 1.5)
WEEKS = {
    "few": (4_000, 40, "weekday-hour", TWO_PEAKS),
    "fine": (30_000, 150, "30min", ALL_NIGHT),
    "kept-back": (12_000, 80, "weekday-hour", DAY_AND_EVENING),
}
RULES = [(NOISE_EXPLAINS, MOST_GIVEN_UP), (0, 0), (2, 0.1), (4, 0.1), (3, 0.05), (3, 0.2)]


def simulated(people: int, size: int, grid: TimeGrid, busy: tuple[float, ...], seed: int):
    """People who ride two to four times, at hours as busy as these."""
    rng = np.random.default_rng(seed)
    weight = np.array([busy[start // 3600 % 24] for start in grid.starts])
    lengths = rng.integers(2, 5, people)
    slots = rng.choice(len(grid), lengths.sum(), p=weight / weight.sum())
    rider = np.repeat(np.arange(people), lengths)
    slots = slots[np.lexsort((slots, rider))]
    where = (size * rng.random(len(slots)) ** 2).astype(np.int64)
    database = TrajectoryDatabase.from_arrays(
        np.concatenate(([0], np.cumsum(lengths))),
        (slots * size + where).astype(np.int32),
        Universe([f"S{i}" for i in range(size)]),
        time_grid=grid,
    )
    return database, np.bincount(slots, minlength=len(grid)), weight > 0


def judged(name: str, seed: int) -> list[tuple[float, float, float]]:
    """Of one week: the share that the release invents, then (invented, lost) by each rule."""
    people, size, form, busy = WEEKS[name]
    grid = TimeGrid.parse(form)
    database, truth, rides = simulated(people, size, grid, busy, seed)
    seen, judge = [], times.occupied_slots
    with patch.object(times, "occupied_slots", lambda *given: seen.append(given) or judge(*given)):
        paths = publish(database, epsilon="1").timed_paths()
    visits = np.repeat(paths.weights, np.diff(paths.offsets))
    released = np.bincount(paths.codes // size, visits, len(grid))
    found = [(released[~rides].sum() / released.sum(), 0.0, 0.0)]
    for explains, most in RULES:
        with patch.multiple(times, NOISE_EXPLAINS=explains, MOST_GIVEN_UP=most):
            kept = judge(*seen[0])
        likely = np.maximum(seen[0][0].counts, 0) * kept
        invented = likely[~rides].sum() / likely.sum()
        found.append((invented, truth[~kept].sum() / truth.sum(), float((~kept & rides).sum())))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("weeks", nargs="+", choices=WEEKS)
    parser.add_argument("--runs", type=int, default=1)
    options = parser.parse_args()
    print("| week | rule: scales, at most | invented | lost | ridden slots given up |")
    print("|---|---|---|---|---|")
    for name in options.weeks:
        runs = np.array([judged(name, seed) for seed in range(options.runs)]).mean(axis=0)
        print(f"| {name} | the release | {runs[0, 0]:.2%} | | |")
        for (explains, most), (invented, lost, slots) in zip(RULES, runs[1:], strict=True):
            print(
                f"| {name} | {explains:g}, {most:g} | {invented:.2%} | {lost:.2%} | {slots:.1f} |"
            )


if __name__ == "__main__":
    main()
