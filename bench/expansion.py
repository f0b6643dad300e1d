"""How far counts of trips that were thinned are from those of all trips, with one factor for all.

    python -m bench.expansion mibici nycflights13 cabspotting classes-5000
    python -m bench.expansion classes-5000 --most 20

Of each unit c trips are used (the c that `--trips auto` would choose without noise), and where
there is a norm who repeats much weighs less (`gate.weighing`); a release multiplies all of it by
one factor. So stops of frequent riders are told too low. How much is that, without noise, and
beside what noise does? For how many trips visit each location, against all trips: the
Jensen-Shannon divergence (bits), and of stops that one trip in a thousand visits the median and
the 90th percentile of the relative error of a count. Rows:

- thinned: c trips of each unit;
- clipped: the same, weighed by a norm of power 1.5;
- two strata: thinned, but units with more than c trips are counted by themselves, and multiplied by
  their own (exact) factor. A unit is in one of both, so each has as much noise as one table;
- noise alone: all trips, with the noise of such a table (Laplace for "thinned", Gaussian for
  "clipped"; 45% of what is left of ε = 1, δ = 10⁻⁹).

Rows with noise are means of several runs.

INTERNAL: it compares raw data with tables.
"""

import argparse

import numpy as np

from bench.accuracy import line
from bench.clipping import DELTA, LEFT, SHARE, divergence, visits_of
from bench.people import trips
from pathveil.core.preparations import TRIP_EDGES
from pathveil.core.zcdp import Concentrated
from pathveil.raw.database import MOST_PER_UNIT
from pathveil.statistics.constants import CLIP_POWERS, SANITY

RHO = float(Concentrated.within(LEFT, DELTA).rho) * SHARE
EPSILON = float(LEFT) * SHARE


def chosen(each: np.ndarray) -> int:
    """The c of `--trips auto` for exact numbers of trips."""
    return min(TRIP_EDGES, key=lambda most: most**2 / float(np.minimum(each, most).sum()) ** 3)


def weights(unit: np.ndarray, count: np.ndarray, clip: float) -> np.ndarray:
    """What of a trip each unit counts for."""
    norms = np.sqrt(np.bincount(unit, count.astype(float) ** 2))
    return np.minimum(1.0, np.sqrt(clip) / np.maximum(norms, 1e-9))


def errors(truth: np.ndarray, table: np.ndarray, total: int) -> list[float]:
    """The divergence, and the middle and a large relative error of a stop that counts."""
    table = np.maximum(table, 0.0)
    counts = truth >= SANITY * total
    relative = np.abs(table * (truth.sum() / table.sum()) / np.maximum(truth, 1e-9) - 1)[counts]
    return [divergence(truth, table), np.median(relative), np.quantile(relative, 0.9)]


def compare(name: str, given: int | None, runs_of_each: int, draw: np.random.Generator) -> None:
    """Print the rows of a dataset."""
    everybody = trips(name, MOST_PER_UNIT, "sample")
    size, each = len(everybody.universe), everybody.trips[everybody.trips > 0]
    _, code, count, _ = visits_of(everybody)
    truth = np.bincount(code, count, minlength=size).astype(float)
    most = given or chosen(each)
    database = trips(name, most, "sample")
    unit, code, count, cap = visits_of(database)
    each = database.trips[database.trips > 0]  # in the order of these units
    added = count.sum() / len(database)
    clip = added * most ** CLIP_POWERS[0]
    is_often = each > most
    factor = each[is_often].mean() / most

    def table(weight: np.ndarray) -> np.ndarray:
        return np.bincount(code, count * weight[unit], minlength=size)

    thinned = table(np.ones(len(each)))
    laplace, gaussian = most * cap / EPSILON, np.sqrt(clip / (2 * RHO))
    share = thinned.sum() / truth.sum()
    weighed = weights(unit, count, clip)
    strata = table(np.where(is_often, factor, 1.0))
    lost = table(weighed).sum() / truth.sum()

    def noise(laplaces: int, gaussians: int) -> np.ndarray:
        return sum(
            (draw.laplace(0.0, laplace, size) for _ in range(laplaces)),
            start=gaussians * draw.normal(0.0, gaussian, size),
        )

    rows = {
        "thinned": lambda: thinned,
        "thinned, and noise": lambda: thinned + noise(1, 0),
        "clipped": lambda: table(weighed),
        "clipped, and noise": lambda: table(weighed) + noise(0, 1),
        "two strata": lambda: strata,
        "two strata, and noise": lambda: strata + noise(1, 0) + factor * noise(1, 0),
        "noise alone, Laplace": lambda: truth * share + noise(1, 0),
        "noise alone, Gaussian": lambda: truth * lost + noise(0, 1),
    }
    for what, made in rows.items():
        runs = [errors(truth, made(), len(everybody)) for _ in range(runs_of_each)]
        line([name, str(most), what, *(f"{one:.4f}" for one in np.mean(runs, axis=0))])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--most", type=int, default=None, help="c, instead of that of auto")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    draw = np.random.default_rng(0)
    line(["dataset", "c", "table", "divergence", "median error", "90th percentile"])
    line(["---"] * 6)
    for name in options.datasets:
        compare(name, options.most, options.runs, draw)


if __name__ == "__main__":
    main()
