"""One law of noise for all tables of a stage, or one for each: forecasts, for docs/people.md.

    python -m bench.laws nycflights13 kosarak mibici msnbc --epsilons 1/4 1 4
    python -m bench.laws mibici nycflights13 --contributions 5

With a δ the planner spends what is left in ε (Laplace noise) or in ρ (Gaussian noise), all tables
alike, though the gate would measure some in ε and others in ρ. Here the first look is measured, and
the planner's forecast is asked for the sum of errors if all tables are in ε, if all are in ρ (by
the best norms), and for the best division that is found: so many eighths of ε for those in ε, and ρ
from the rest; in ε are the first few tables in the order of how much larger their bound in L1 is
than that in L2, without the levels of the tree, which go together. INTERNAL: it reads raw data.
"""

import argparse
from collections.abc import Iterator
from fractions import Fraction
from math import sqrt
from typing import NamedTuple

from bench.accuracy import line, load
from bench.people import trips
from pathveil.core.parameters import Parameters
from pathveil.core.zcdp import Concentrated
from pathveil.errors import ParameterError
from pathveil.gate.measure import measure
from pathveil.gate.randomness import Randomness
from pathveil.methods.calibrated.synthesis.estimates import choose_candidates
from pathveil.raw.database import TrajectoryDatabase
from pathveil.statistics.all_statistics import STATISTICS
from pathveil.statistics.constants import CLIP_POWERS, PURPOSES, USUAL_CAP
from pathveil.statistics.measurement_plan import MeasurementPlan
from pathveil.statistics.measurements import Measurements
from pathveil.statistics.outlook import Outlook
from pathveil.statistics.planner import Forecast, Planner
from pathveil.statistics.prefix_tree import LEVELS
from pathveil.statistics.statistic import FIRST_LOOK, Statistic

DELTA, PARTS = "1e-9", 8


def first_look(database: TrajectoryDatabase, parameters: Parameters) -> Measurements:
    """What is published before anything is planned."""
    seen = []

    def kept(plan: MeasurementPlan, published: Measurements) -> MeasurementPlan:
        seen.append(published)
        return plan

    usual = MeasurementPlan.usual(parameters, tells_units=database.tells_units)
    measure(database, usual, choose_candidates, Randomness(), adapt=kept)
    return seen[0]


class Divided(NamedTuple):
    """A division of the tables, and the sum of errors that is forecast."""

    error: float
    in_epsilon: list[Statistic]


class Laws(NamedTuple):
    """What the forecast follows from: the first look, the ε that is left, and c."""

    outlook: Outlook
    left: Fraction
    contribution: int

    @property
    def tables(self) -> list[Statistic]:
        """All that may be measured yet."""
        return [
            one
            for one in STATISTICS
            if one.stage != FIRST_LOOK and one.worth(self.outlook, 1.0) > 0
        ]

    def in_epsilon(self, part: Fraction, tables: list[Statistic]) -> float:
        """The error with a part of what is left, in ε."""
        return self._error(self.left * part, tables, in_rho=False, power=None)

    def in_rho(self, part: Fraction, tables: list[Statistic]) -> float:
        """With the ρ that follows from a part of what is left, by the best norms."""
        rho = Concentrated.within(self.left * part, Fraction(DELTA)).rho
        powers = CLIP_POWERS if self.contribution > 1 else (None,)
        return min(self._error(rho, tables, in_rho=True, power=power) for power in powers)

    def divisions(self) -> Iterator[Divided]:
        """Some tables in ε and the others in ρ."""
        order = sorted((one for one in self.tables if one not in LEVELS), key=_gains_in_rho)
        for part in (Fraction(eighths, PARTS) for eighths in range(1, PARTS)):
            for few in range(1, len(order) + 1):
                chosen, others = order[:few], [one for one in self.tables if one not in order[:few]]
                try:
                    error = self.in_epsilon(part, chosen) + self.in_rho(1 - part, others)
                except ParameterError:  # the rest buys no ρ to speak of
                    continue
                yield Divided(error, chosen)

    def _error(
        self, budget: Fraction, tables: list[Statistic], *, in_rho: bool, power: float | None
    ) -> float:
        usual = PURPOSES["everything"]
        forecast = Forecast(self.outlook, float(budget), self.contribution, usual, in_rho, power)
        return forecast.error(tables)


def _gains_in_rho(statistic: Statistic) -> float:
    bound = statistic.bound(USUAL_CAP)
    return bound.l1 / sqrt(bound.squared_l2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--epsilons", nargs="+", default=["1"])
    parser.add_argument("--contributions", nargs="+", type=int, default=[1])
    options = parser.parse_args()
    line(["data", "c", "ε", "all in ε", "all in ρ", "divided", "in ε then", "against the better"])
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
                seen = first_look(database, given)
                outlook = Planner(given).first_outlook(seen)
                if outlook is None:  # nothing stands out of the noise
                    continue
                spent = sum(row.budget for row in seen.plan.lines() if row.statistic in seen.tables)
                laws = Laws(outlook, seen.plan.budget - spent, contribution)
                one = Fraction(1)
                alike = laws.in_epsilon(one, laws.tables), laws.in_rho(one, laws.tables)
                best = min(laws.divisions(), key=lambda each: each.error)
                figures = [f"{each:.4f}" for each in (*alike, best.error)]
                chosen = ", ".join(table.name for table in best.in_epsilon)
                ratio = f"{best.error / min(alike):.3f}"
                line([name, str(contribution), epsilon, *figures, chosen, ratio])


if __name__ == "__main__":
    main()
