"""Exact noise against numpy's (insecure) float Laplace: nanoseconds a sample, and the ratio."""

from fractions import Fraction

import numpy as np

from bench.measuring import best_of, row
from pathveil.gate.add_noise import discrete_laplace, passing_empty_nodes
from pathveil.gate.randomness import Randomness

SAMPLES = 1_000_000


def main() -> None:
    randomness, generator = Randomness(), np.random.default_rng()
    baseline = best_of(5, lambda: generator.laplace(scale=12.0, size=SAMPLES))
    row("numpy float Laplace", f"{1e9 * baseline / SAMPLES:.0f} ns", "1.00")
    for epsilon in (Fraction(1, 2), Fraction(1, 12), Fraction(1, 20), Fraction(1, 1000)):
        discrete_laplace(1, epsilon, randomness)  # build the tables
        once = best_of(5, lambda: discrete_laplace(SAMPLES, epsilon, randomness))  # noqa: B023
        row(
            f"exact, level epsilon {epsilon}",
            f"{1e9 * once / SAMPLES:.0f} ns",
            f"{once / baseline:.2f}",
        )
    occupied = np.empty(0, dtype=np.int64)
    for pairs in (10**6, 10**9, 2 * 10**13):
        # θ grows with ln(pairs), so that about 100,000 pass out of any number of pairs.
        theta = max(1, int(12 * np.log(pairs / 2e5)))
        once = best_of(
            3,
            lambda: passing_empty_nodes(occupied, pairs, Fraction(1, 12), theta, randomness),  # noqa: B023
        )
        row(f"empty nodes out of {pairs:.0e}", f"{1000 * once:.1f} ms")


if __name__ == "__main__":
    main()
