"""Draw the pictures of docs/tutorial.md and docs/choosing.md: ``python docs/make_pictures.py``.

They compare a simulated week with releases of it, which one may do with riders who do not exist.
The noise is injected, so that the pictures stay as they are; a real release draws it from the
operating system.
"""

import math
from pathlib import Path

import numpy as np
from drawing import Drawing

import pathveil as pv

PICTURES = Path(__file__).with_name("pictures")
RIDERS, SEED, HEIGHT = 120_000, 1, 12
EPSILONS = ("0.1", "0.25", "0.5", "1", "2", "4")
SIDE = 360  # of a square plot, in units of the drawing


def published(database: pv.TrajectoryDatabase, epsilon: str) -> pv.Release:
    """A release whose noise is always the same."""
    generator = np.random.default_rng(SEED)  # noqa: TID251  (riders who do not exist)
    return pv.publish(database, epsilon=epsilon, height=HEIGHT, generator=generator)


def draw_visits(truth: np.ndarray, released: np.ndarray) -> None:
    """Riders by stop, true against released, on logarithmic axes."""
    picture = Drawing(SIDE + 120, SIDE + 100, "Riders of each stop, true and released")
    largest = math.log10(max(truth.max(), released.max()) * 1.2)

    def along(count: float) -> float:
        return SIDE * (math.log10(max(count, 10)) - 1) / (largest - 1)

    left, base = 70, SIDE + 30
    picture.line([(left, base), (left + SIDE, base - SIDE)], "axis")
    for power in range(1, math.ceil(largest)):
        at = along(10**power)
        picture.text(left + at, base + 20, f"{10**power:,}", "small soft")
        picture.text(left - 8, base - at + 4, f"{10**power:,}", "small soft", "end")
    for true, estimate in zip(truth, released, strict=True):
        picture.dot(left + along(true), base - along(estimate), 2.2)
    picture.text(left + SIDE / 2, base + 48, "true number of riders who visit a stop", "soft")
    picture.text(left, 22, "released", "soft", "start")
    picture.save(PICTURES / "week-visits.svg")


def draw_lengths(truth: np.ndarray, released: np.ndarray) -> None:
    """Trajectories by their number of visits."""
    picture = Drawing(640, 270, "Trajectories by length, true and released")
    base, step = 205, 29
    tallest = max(truth[:21].max(), released[:21].max())
    for length in range(1, 21):
        x = 20 + step * length
        for counts, kind, shift in ((truth, "other", 0), (released, "main", 12)):
            height = 160 * counts[length] / tallest
            picture.bar(x + shift, base - height, 11, height, kind)
        picture.text(x + 12, base + 18, str(length), "small soft")
    picture.line([(42, base), (625, base)], "axis")
    picture.text(330, base + 44, "visits in a trajectory", "soft")
    for y, kind, words in ((40, "other", "riders"), (60, "main", "released")):
        picture.bar(480, y - 11, 12, 12, kind)
        picture.text(500, y, words, "ink", "start")
    picture.save(PICTURES / "week-lengths.svg")


def draw_map(universe: pv.Universe, released: np.ndarray) -> None:
    """The released visits where the stops are."""
    north, east = np.asarray(universe.latitude), np.asarray(universe.longitude)
    width, height = 640, 380
    picture = Drawing(width, height, "Released riders by stop, on a map of the stops")
    x = 20 + (width - 40) * (east - east.min()) / (east.max() - east.min())
    y = 20 + (height - 40) * (north.max() - north) / (north.max() - north.min())
    radius = 1 + 17 * np.sqrt(released / released.max())
    for stop in range(len(released)):
        picture.dot(x[stop], y[stop], radius[stop])
    picture.save(PICTURES / "week-map.svg")


def draw_epsilon(errors: dict[str, float]) -> None:
    """The mean relative error of one-stop counts by ε."""
    picture = Drawing(640, 290, "Error of counts against ε")
    left, base, step, tallest = 70, 220, 100, max(errors.values())
    points = [
        (left + step * n + 20, base - 160 * e / tallest) for n, e in enumerate(errors.values())
    ]
    picture.line([(left, base), (620, base)], "axis")
    picture.line(points, "trend")
    for (x, y), (epsilon, error) in zip(points, errors.items(), strict=True):
        picture.dot(x, y, 5)
        picture.text(x, y - 12, f"{error:.0%}", "ink")
        picture.text(x, base + 20, epsilon, "soft")
    picture.text(340, base + 48, "ε", "soft")
    picture.text(left, 28, "mean error of a stop's count", "soft", "start")
    picture.save(PICTURES / "week-epsilon.svg")


def main() -> None:
    """Draw all of them."""
    week = pv.simulate_week(RIDERS, seed=SEED)
    database = pv.TrajectoryDatabase.from_arrays(week.offsets, week.codes, week.universe)
    truth = _riders(database)
    releases = {epsilon: published(database, epsilon) for epsilon in EPSILONS}
    release = releases["1"]
    draw_visits(truth, _riders(release))
    draw_lengths(_lengths(database), _lengths(release))
    draw_map(week.universe, _riders(release))
    sanity = 0.001 * len(database)  # the paper's bound: 0.1% of the trajectories
    draw_epsilon(
        {
            epsilon: float(np.mean(np.abs(_riders(made) - truth) / np.maximum(truth, sanity)))
            for epsilon, made in releases.items()
        }
    )


def _riders(source: pv.WeightedPaths) -> np.ndarray:
    return pv.visits(source).counts


def _lengths(source: pv.WeightedPaths) -> np.ndarray:
    found = pv.length_distribution(source)
    return np.bincount(found.lengths, weights=found.counts, minlength=21)


if __name__ == "__main__":
    main()
