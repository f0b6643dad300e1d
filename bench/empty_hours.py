"""Hours in which nobody rides (`methods/calibrated/synthesis/ridden_hours.py`), on simulated weeks.

    python -m bench.empty_hours few evening all-night kept-back fine --runs 6

Each week is published as any other, at ε = 1. *invented*: released visits in hours in which nobody
rides, of all that are released; beside it, what would be invented if the noisy table of slots were
taken as it is. *lost*: true visits in hours that the release leaves empty. INTERNAL: it compares
raw data with releases.

The rule has no constants. Its form was chosen on `few`, of five that were looked at on the others
but `KEPT_BACK`, too; these were made when it stood, and run once.
"""

import argparse
from unittest.mock import patch

import numpy as np

from pathveil import TrajectoryDatabase, Universe, publish
from pathveil.methods.calibrated.synthesis import times
from pathveil.statistics.denoise import posterior_means
from pathveil.times.time_grid import TimeGrid

# People, locations, grid, and how busy each hour of the day is.
DAY_AND_EVENING = (0,) * 6 + (2, 6, 8, 5, 3, 3, 4, 3, 3, 4, 6, 8, 6, 4, 3, 2) + (0.3, 0.05)
TWO_PEAKS = (0,) * 5 + (1, 5, 9, 6, 1, 0.2, 0.2, 0.2, 0.2, 1, 5, 8, 7, 2, 0.5) + (0,) * 4
ALL_NIGHT = (1, 0.5, 0.2, 0.1, 0.1, 0.5, 2, 4, 6, 5, 4, 4, 5, 5, 5, 5, 6, 6, 5, 4, 3, 3, 2, 1.5)
LATE = (4, 2, 1, 0.5) + (0,) * 7 + (0.5, 1, 2, 2, 2, 2, 3, 4, 5, 6, 7, 8, 6)
MIDDAY = (0,) * 9 + (1, 3, 5, 5, 4, 2, 1) + (0,) * 8
WEEKS = {
    "few": (4_000, 40, "weekday-hour", TWO_PEAKS),
    "evening": (4_000, 40, "weekday-hour", DAY_AND_EVENING),
    "all-night": (4_000, 40, "weekday-hour", ALL_NIGHT),
    "kept-back": (12_000, 80, "weekday-hour", DAY_AND_EVENING),
    "fine": (30_000, 150, "30min", ALL_NIGHT),
    "midday": (3_000, 60, "30min", MIDDAY),
    "weekend-nights": (8_000, 60, "weekday-hour", TWO_PEAKS),
    "market-days": (5_000, 50, "weekday-hour", MIDDAY),
    "late": (6_000, 100, "1h", LATE),
}
KEPT_BACK = ("market-days", "late")
# In `weekend-nights` all hours of Saturday and Sunday that are empty otherwise have this weight.
NIGHTLY = 2.0
SATURDAY = 5 * 24 * 3600


def simulated(
    people: int, size: int, grid: TimeGrid, busy: tuple[float, ...], seed: int, nightly: float = 0.0
):
    """People who ride two to four times, at hours as busy as these."""
    rng = np.random.default_rng(seed)
    weight = np.array([busy[start // 3600 % 24] for start in grid.starts], dtype=np.float64)
    weight[(np.array(grid.starts) >= SATURDAY) & (weight == 0)] = nightly
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


def judged(name: str, seed: int) -> tuple[float, float, float]:
    """Of one week: the shares invented by noise as it is and by the release, and the share lost."""
    people, size, form, busy = WEEKS[name]
    grid = TimeGrid.parse(form)
    nightly = NIGHTLY if name == "weekend-nights" else 0.0
    database, truth, rides = simulated(people, size, grid, busy, seed, nightly)
    seen, judge = [], times.occupied_slots
    with patch.object(times, "occupied_slots", lambda *given: seen.append(given) or judge(*given)):
        paths = publish(database, epsilon="1").timed_paths()
    visits = np.repeat(paths.weights, np.diff(paths.offsets))
    released = np.bincount(paths.codes // size, visits, len(grid))
    table = seen[0][0]
    taken = posterior_means(table.counts, table.noise).value
    return (
        taken[~rides].sum() / taken.sum(),
        released[~rides].sum() / released.sum(),
        truth[~judge(*seen[0])].sum() / truth.sum(),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("weeks", nargs="+", choices=WEEKS)
    parser.add_argument("--runs", type=int, default=1)
    options = parser.parse_args()
    print("| week | people | slots | as noise has it | invented | lost |")
    print("|---|---|---|---|---|---|")
    for name in options.weeks:
        people, _, form, _ = WEEKS[name]
        runs = np.array([judged(name, seed) for seed in range(options.runs)]).mean(axis=0)
        raw, invented, lost = runs
        print(
            f"| {name} | {people:,} | {form} | {raw:.2%} | {invented:.2%} | {lost:.2%} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
