"""What the second stage looks at is chosen from noisy tables; from exact ones it would be caught.

The bound on what a guess can prove is the audit's (Clopper-Pearson), with a false-alarm probability
of 10⁻⁶. That every table keeps its share is tested in `test_audit_tables`.
"""

import numpy as np

from pathveil.audit.attacking import FALSE_ALARM, epsilon_lower_bound
from pathveil.core.parameters import Parameters
from pathveil.gate import measure as gate
from pathveil.gate.randomness import Randomness
from pathveil.methods.calibrated.synthesis.estimates import choose_candidates
from pathveil.raw.database import TrajectoryDatabase
from pathveil.statistics.measurement_plan import MeasurementPlan
from pathveil.statistics.visits import VISITS
from pathveil.universe.universe import Universe

UNIVERSE = Universe("abcdefgh")
RUNS = 300  # 120 are enough for the mutant below
CROWD = ["abcd"] * 30 + ["ba"] * 20
WALKER = "efghabcdefgh"
PLAN = MeasurementPlan.of(
    Parameters.choose(epsilon="8", height=8, universe_size=8, method="calibrated")
)


def database(rows):
    offsets = np.cumsum([0, *map(len, rows)])
    return TrajectoryDatabase.from_arrays(offsets, UNIVERSE.codes("".join(rows)), UNIVERSE)


def candidate_bound(choose):
    """What "e is a candidate" proves about the walker, who alone visits it."""
    randomness = Randomness()
    without, with_walker = database(CROWD), database([*CROWD, WALKER])
    coins = randomness.words(2 * RUNS) % 2 == 1
    listed = np.array(
        [
            UNIVERSE.code("e") in choose(with_walker if coin else without, randomness)
            for coin in coins
        ]
    )
    right = np.array([np.count_nonzero(listed & coins), np.count_nonzero(~listed & ~coins)])
    guesses = np.array([np.count_nonzero(listed), np.count_nonzero(~listed)])
    return float(epsilon_lower_bound(right, guesses, FALSE_ALARM / 2).max())


def test_candidates_come_from_noisy_visits_and_choosing_them_from_exact_ones_is_caught():
    def right(db, randomness):
        return choose_candidates(gate.measure_visits(db, PLAN, randomness))

    def mutant(db, _randomness):
        return np.unique(db.codes)

    assert candidate_bound(right) <= PLAN[VISITS].budget
    assert candidate_bound(mutant) > PLAN[VISITS].budget
