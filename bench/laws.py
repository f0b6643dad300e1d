"""One law of noise for all tables, or one for each: what is forecast, for docs/people.md.

    python -m bench.laws nycflights13 kosarak mibici msnbc --epsilons 1/4 1 4
    python -m bench.laws mibici nycflights13 --contributions 5 20

With a δ the planner has each table measured in ε (Laplace noise) or in ρ (Gaussian noise). Here the
first look is measured, and the planner says which sum of errors it forecasts if all tables are in
ε, if all are in ρ, and for the best division of them, with the tables that are in ε there.
INTERNAL: it reads raw data.
"""

import argparse

from bench.accuracy import line, load
from bench.people import trips
from pathveil.core.parameters import Parameters
from pathveil.gate.measure import measure
from pathveil.gate.randomness import Randomness
from pathveil.methods.calibrated.synthesis.estimates import choose_candidates
from pathveil.raw.database import TrajectoryDatabase
from pathveil.statistics.all_statistics import TIME_STATISTICS
from pathveil.statistics.measurement_plan import MeasurementPlan
from pathveil.statistics.measurements import Measurements
from pathveil.statistics.planner import Planner, Pool

DELTA = "1e-9"


def first_look(database: TrajectoryDatabase, parameters: Parameters) -> Measurements:
    """What is published before anything is planned."""
    seen = []

    def kept(plan: MeasurementPlan, published: Measurements) -> MeasurementPlan:
        seen.append(published)
        return plan

    usual = MeasurementPlan.usual(parameters, tells_units=database.tells_units)
    measure(database, usual, choose_candidates, Randomness(), adapt=kept)
    return seen[0]


def ways(planner: Planner, seen: Measurements) -> list[list[Pool]]:
    """All that the planner chooses from."""
    outlook = planner.first_outlook(seen)
    if outlook is None:
        return []
    lines = seen.plan.lines()
    spent = [each for each in lines if each.statistic in seen.tables]
    times = [each for each in lines if each.statistic in TIME_STATISTICS]
    return list(planner.ways(seen.plan, outlook, spent, times))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--epsilons", nargs="+", default=["1"])
    parser.add_argument("--contributions", nargs="+", type=int, default=[1])
    options = parser.parse_args()
    line(["data", "c", "ε", "all in ε", "all in ρ", "divided", "in ε", "against the better"])
    line(["---"] * 8)
    for name in options.datasets:
        for contribution in options.contributions:
            database = trips(name, contribution, "sample") if contribution > 1 else load(name)
            for epsilon in options.epsilons:
                given = Parameters.choose(
                    epsilon=epsilon,
                    delta=DELTA,
                    universe_size=len(database.universe),
                    method="calibrated",
                    max_trajectories_per_unit=contribution,
                )
                planner = Planner(given, database.tells_units)
                alike, divided = {}, {}
                for way in ways(planner, first_look(database, given)):
                    error = sum(pool.error() for pool in way)
                    if len(way) == 1:
                        in_rho = way[0].left.in_rho
                        alike[in_rho] = min(error, alike.get(in_rho, error))
                    else:
                        divided[error] = ", ".join(table.name for table in way[0].tables)
                best = min(divided)
                figures = [f"{each:.3f}" for each in (alike[False], alike[True], best)]
                ratio = f"{best / min(alike.values()):.3f}"
                line([name, str(contribution), epsilon, *figures, divided[best], ratio])


if __name__ == "__main__":
    main()
