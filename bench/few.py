"""How many trajectories the default method needs: a table of docs/accuracy.md.

    python -m bench.few --runs 5

Simulated weeks of few riders, methods side by side at equal ε; 1 is the error of who answers
nothing but 0. INTERNAL: it compares raw data with releases.
"""

import argparse
from pathlib import Path

from bench.accuracy import Yardstick, line
from pathveil import TrajectoryDatabase, simulate_week

RIDERS, STOPS = (400, 2_000, 10_000, 50_000), (20, 100)
COMPARED = ("empty", "full", "calibrated")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--riders", nargs="+", type=int, default=list(RIDERS))
    parser.add_argument("--methods", nargs="+", default=list(COMPARED), choices=COMPARED)
    options = parser.parse_args()
    line(["riders", "stops", *options.methods])
    line(["---"] * (2 + len(options.methods)))
    for stops in STOPS:
        for riders in options.riders:
            week = simulate_week(riders, stops, seed=1)
            yardstick = Yardstick(
                TrajectoryDatabase.from_arrays(week.offsets, week.codes, week.universe)
            )
            means = (
                yardstick.mean_figures(method, options.epsilon, options.runs)
                for method in options.methods
            )
            # The paper's queries of up to 3 locations, and single locations.
            errors = (f"{mean[0]:.2f}/{mean[4]:.2f}" for mean in means)
            line([f"{riders:,}", f"{stops}", *errors])


if __name__ == "__main__":
    if not Path("bench").is_dir():
        raise SystemExit("Run it from the project's root: python -m bench.few")
    main()
