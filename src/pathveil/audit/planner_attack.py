"""The audit of the planner: a plan gives away no more than what was spent before it was made.

A plan is published with the release, so it is one more thing that an attacker sees. It follows from
noisy tables; were it to follow from exact counts instead, it would tell of one person where that
person turns a decision. So decisions are attacked where they turn: between a crowd and the same
with one more person, the decision differs on exact counts. The attacker sees which way it went, and
guesses whether the person is there. What follows the first look may prove no more than the first
look has spent; what follows the visits, no more than ε.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pathveil.audit.attacking import (
    FALSE_ALARM,
    FIRST_LOOK,
    GUESSES,
    AuditLine,
    AuditReport,
    Finding,
    Progress,
    bounds_of,
    looks,
)
from pathveil.audit.noisy_tables import without_noise
from pathveil.core.parameters import Parameters
from pathveil.errors import ParameterError
from pathveil.gate import measure as gate
from pathveil.gate.randomness import Randomness
from pathveil.raw.database import TrajectoryDatabase
from pathveil.statistics.measurement_plan import MeasurementPlan
from pathveil.statistics.measurements import Measurements
from pathveil.statistics.planner import Planner
from pathveil.statistics.statistic import FIRST_LOOK as FIRST_STAGE
from pathveil.universe.universe import Universe

UNIVERSE = Universe("abcdefghijkl")
PLANNED_FIRST, PLANNED_AGAIN = "planned after the first look", "planned after the visits"
RUNS_OF_AN_EDGE = 16  # each has one in so many of the runs that are asked for
LEAST_RUNS = 16  # of an edge; a planner that never errs is caught by fewer

MakePlanner = Callable[[Parameters, TrajectoryDatabase], gate.Adapt]


def honest(parameters: Parameters, _database: TrajectoryDatabase) -> gate.Adapt:
    """The planner that publishes: the database is none of its business."""
    return Planner(parameters)


@dataclass(frozen=True, slots=True)
class Edge:
    """Two neighbouring databases between which a decision turns, on exact counts.

    Attributes:
        when: after what it is planned.
        table: whose cap is decided; a table that is not measured counts as cap 0.
        cap: is it this or more?
        kind: the trajectories that people take in turns, as labels with | in between.
        people: how many there are without the one more.
    """

    when: str
    table: str
    cap: int
    kind: str
    people: int

    @property
    def name(self) -> str:
        """In words."""
        decision = f"{self.table}, cap {self.cap} or more"
        return f"{self.when}: {decision}? ({self.people:,} or one more who go {self.kind})"


# Where decisions turn follows from the planner's constants: if these change, a test says what to
# write here. Everybody's trajectory is one of these, in turns, or all are alike.
VARIED, ALIKE = "a|ab|aba|abcadb|abcdabcdabcd|abcdefghijklabcdefghijkl", "abcadb"
EDGES = (
    Edge(PLANNED_FIRST, "visits", 12, VARIED, 1307),
    Edge(PLANNED_FIRST, "actions", 3, VARIED, 1004),
    Edge(PLANNED_FIRST, "prefix tree, level 3", 1, VARIED, 888),
    Edge(PLANNED_AGAIN, "moves", 4, VARIED, 1246),
    Edge(PLANNED_AGAIN, "prefix tree, level 3", 1, VARIED, 2630),
    Edge(PLANNED_AGAIN, "prefix tree, level 5", 1, ALIKE, 1427),
)


def audit_plan(
    *,
    epsilon: object = "1",
    runs: int = 4096,
    false_alarm: float = FALSE_ALARM,
    progress: Progress = lambda _runs: None,
    planner: MakePlanner = honest,
) -> AuditReport:
    """Try to catch a plan that tells more than the tables from which it follows.

    Args:
        epsilon: the total claim.
        runs: of all edges; one has a part of them (`RUNS_OF_AN_EDGE`, `LEAST_RUNS`).
        false_alarm: the probability that a mechanism which keeps its claims raises an alarm.
        progress: told how many more runs are done, of 2·runs.
        planner: for tests: who plans.

    Raises:
        ParameterError: if there are too few runs.
    """
    if runs < FIRST_LOOK:
        raise ParameterError(f"An audit needs {FIRST_LOOK} runs or more.")
    parameters = Parameters.choose(epsilon=epsilon, universe_size=len(UNIVERSE))
    usual = MeasurementPlan.usual(parameters)
    first = sum(
        (line.budget for line in usual.lines() if line.statistic.stage == FIRST_STAGE), Fraction()
    )
    claims = {PLANNED_FIRST: first, PLANNED_AGAIN: usual.budget}
    error = false_alarm / (len(EDGES) * len(GUESSES))
    each = max(runs // RUNS_OF_AN_EDGE, LEAST_RUNS)
    lines = []
    for edge in EDGES:
        claim = claims[edge.when]
        finding = _attack(edge, parameters, claim, each, error, planner)
        lines.append(AuditLine(edge.name, claim, finding, len(GUESSES)))
        progress(2 * runs // len(EDGES))
    strongest = [line.strongest for line in lines]
    return AuditReport(
        part="what is planned from noisy tables (method calibrated)",
        claimed_epsilon=parameters.budget.epsilon,
        height=parameters.height,
        lines=tuple(lines),
        strongest=max(strongest, key=lambda finding: finding.lower_bound),
        alarms=tuple(line.strongest for line in lines if line.is_alarm),
        events=len(EDGES) * len(GUESSES),
        runs=max(finding.runs for finding in strongest),
        confidence=1 - false_alarm,
    )


def exact_caps(parameters: Parameters, kind: str, people: int, when: str) -> dict[str, int]:
    """The caps of the tables that would be measured if the counts had no noise."""
    usual, planner = MeasurementPlan.usual(parameters), Planner(parameters)
    planned: list[MeasurementPlan] = []

    def adapt(exact: MeasurementPlan, seen: Measurements) -> MeasurementPlan:
        """Plan as if these counts were noisy, and go on without noise."""
        plan = planned[-1] if planned else usual
        believed = {
            statistic: replace(table, noise=plan[statistic].noise)
            for statistic, table in seen.tables.items()
            if statistic in plan
        }
        planned.append(planner(plan, replace(seen, tables=believed)))
        return exact

    gate.measure(
        _database(kind, people), without_noise(usual), _everywhere, Randomness(), adapt=adapt
    )
    chosen = planned[0 if when == PLANNED_FIRST else 1]
    return {line.name: line.cap for line in chosen.lines() if line.statistic.stage != FIRST_STAGE}


def _attack(
    edge: Edge,
    parameters: Parameters,
    claim: Fraction,
    runs: int,
    error: float,
    planner: MakePlanner,
) -> Finding:
    """Whether the decision went one way, run after run; the bound that this proves."""
    databases = _database(edge.kind, edge.people), _database(edge.kind, edge.people + 1)
    usual, randomness = MeasurementPlan.usual(parameters), Randomness()
    coins = randomness.words(2 * runs) % 2 == 1
    went = np.zeros(2 * runs, dtype=np.bool_)
    done, bounds = 0, np.zeros((1, len(GUESSES)))
    for look, share in looks(runs):
        for run in range(done, 2 * look):
            database = databases[int(coins[run])]
            plan = _plan_of(database, usual, edge.when, randomness, planner(parameters, database))
            went[run] = any(
                line.name == edge.table and line.cap >= edge.cap for line in plan.lines()
            )
        done = 2 * look
        bounds = bounds_of(went[None, :done], coins[:done], error * share)
        if bounds.max() > claim:
            break
    guess = int(bounds[0].argmax())
    return Finding(edge.name, "it was decided so", GUESSES[guess], float(bounds.max()), done // 2)


class _PlannedError(Exception):
    """The plan is there: nothing more need be measured."""


def _plan_of(
    database: TrajectoryDatabase,
    usual: MeasurementPlan,
    when: str,
    randomness: Randomness,
    adapt: gate.Adapt,
) -> MeasurementPlan:
    """The plan that the gate goes on with."""
    wanted = 1 if when == PLANNED_FIRST else 2
    plans: list[MeasurementPlan] = []

    def watched(plan: MeasurementPlan, seen: Measurements) -> MeasurementPlan:
        plans.append(adapt(plan, seen))
        if len(plans) == wanted:
            raise _PlannedError
        return plans[-1]

    with suppress(_PlannedError):
        gate.measure(database, usual, _everywhere, randomness, adapt=watched)
    return plans[-1]


def _everywhere(_seen: object) -> NDArray[np.int64]:
    return np.arange(len(UNIVERSE))


def _database(kind: str, people: int) -> TrajectoryDatabase:
    """So many people, who take the trajectories of ``kind`` in turns."""
    turns = kind.split("|")
    times = -(-people // len(turns))
    lengths = np.tile([len(row) for row in turns], times)[:people]
    codes = np.tile(UNIVERSE.codes("".join(turns)), times)[: lengths.sum()]
    offsets = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths)))
    return TrajectoryDatabase.from_arrays(offsets, codes.astype(np.int32), UNIVERSE)
