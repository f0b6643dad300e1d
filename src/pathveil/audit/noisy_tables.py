"""The audit of the calibrated method: every noisy table keeps its share of ε.

One made-up unit, the walker, goes everywhere: its trajectory adds to every table as much as a
trajectory can, and has more of everything than the caps let through: more visits than h, more
distinct locations than d. The attacker knows everybody else, and guesses from the cells that the
walker would add to whether the walker is there. The evidence of a cell with x, where n is expected
without the walker and n + a with it, is |x − n| − |x − n − a|: for this noise, proportional to the
log of the ratio of the probabilities, so no attack on the table is stronger.

If the budget is in ρ and the noise Gaussian, the log of that ratio is (2a·(x − n) − a²)/(2σ²), and
what is bounded is ρ: a release that is ρ-zCDP has a Kullback-Leibler divergence of at most ρ, so
by Pinsker's inequality whoever says "with" or "without" after every run is right with probability
at most 1/2 + √(ρ/8). A lower bound q on that probability gives the lower bound 2·(2q − 1)² on ρ.
(Guesses after some runs only are bounded by ε but for δ, which is no use here: such a loss is too
rare to be seen.)

The tables are those of the measurement plan with times, whichever they are. Which cells the walker
adds to, and what is expected there, is found by measuring with noise so small that it is 0.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pathveil.audit.attacking import (
    FALSE_ALARM,
    FIRST_LOOK,
    GUESSES,
    REPORTED_EVERY,
    AuditLine,
    AuditReport,
    Finding,
    Progress,
    bounds_of,
    looks,
)
from pathveil.core.budget import Budget
from pathveil.core.methods import CALIBRATED
from pathveil.core.noise import Gaussian, Noise
from pathveil.core.parameters import Parameters
from pathveil.errors import ParameterError
from pathveil.gate import measure as gate
from pathveil.gate.randomness import Randomness
from pathveil.raw.database import TrajectoryDatabase
from pathveil.statistics.measurement_plan import Line, MeasurementPlan
from pathveil.statistics.measurements import Measurements, TreeLevel
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.times.time_grid import TimeGrid
from pathveil.universe.universe import Universe

UNIVERSE, GRID = Universe("abcdefghijkl"), TimeGrid.parse("1h")
# Locations and the slots of their visits.
CROWD = [("abcd", [23] * 4)] * 30 + [("ba", [22] * 2)] * 20
WALKER = ("abcdefghijklabcdefghijkl", [*range(24)])
TREE, TOGETHER = "prefix tree", "all tables together"
TURNS = (-0.5, 0.0, 0.25, 0.5, 0.75, 1.0)  # of the strongest evidence: where a guess turns
DELTA = "1e-9"
_GAUSSIAN = " with Gaussian noise, claims and bounds of ρ"
NO_NOISE = Fraction(64)  # noise of this parameter is not 0 once in 10²⁷ cells


@dataclass(frozen=True, slots=True)
class _Known:
    """What the attacker knows about one table.

    Attributes:
        cells: int64; those that the walker adds to.
        without: int64; what is expected there without the walker.
        added: int64; what the walker adds.
    """

    cells: NDArray[np.int64]
    without: NDArray[np.int64]
    added: NDArray[np.int64]

    def evidence(self, table: NoisyTable) -> float:
        """The log of how many times likelier the cells are with the walker."""
        return _evidence(_counts(table, self.cells), self.without, self.added, table.noise)


def _evidence(
    seen: NDArray[np.int64], without: NDArray[np.int64], added: NDArray[np.int64], noise: Noise
) -> float:
    if isinstance(noise, Gaussian):
        return float((2 * added * (seen - without) - added**2).sum() / (2 * noise.variance))
    far, near = np.abs(seen - without), np.abs(seen - without - added)
    return float((far - near).sum()) / noise.scale


def audit_tables(
    *,
    epsilon: object = "8",
    rho: str | None = None,
    height: int = 8,
    runs: int = 4096,
    false_alarm: float = FALSE_ALARM,
    progress: Progress = lambda _runs: None,
) -> AuditReport:
    """Try to catch a table of the calibrated method spending more than its share.

    Args:
        epsilon: the total claim. Shares are small, and so is what an attack on them can show
            with few runs: 8 shows more than 1.
        rho: instead of it, for Gaussian noise: ρ, of which claims and bounds are then.
        height: h.
        runs: runs per database, on average.
        false_alarm: the probability that a mechanism which keeps its claims raises an alarm.
        progress: told how many more runs are done, of 2·runs.

    Raises:
        ParameterError: if there are too few runs.
    """
    if runs < FIRST_LOOK:
        raise ParameterError(f"An audit needs {FIRST_LOOK} runs or more.")
    parameters = Parameters.choose(
        epsilon=epsilon if rho is None else Budget.choose(None, rho=rho, delta=DELTA),
        rho=rho,
        delta=None if rho is None else DELTA,
        height=height,
        universe_size=len(UNIVERSE),
        method=CALIBRATED.name,
        time_grid=GRID,
    )
    plan = MeasurementPlan.of(parameters)
    claims = table_claims(plan) | {TOGETHER: parameters.main_budget}
    evidence, coins, found = _attack(plan, claims, runs, false_alarm, progress)
    strongest = [
        _strongest(name, row, len(evidence)) for name, row in zip(claims, found, strict=True)
    ]
    lines = tuple(
        AuditLine(finding.pair, claim, finding, len(TURNS) * len(GUESSES))
        for finding, claim in zip(strongest, claims.values(), strict=True)
    )
    return AuditReport(
        part=f"noisy tables{_GAUSSIAN if plan.in_rho else ''}, height {height} (method calibrated)",
        claimed_epsilon=parameters.main_budget,
        height=height,
        lines=lines,
        strongest=max(strongest, key=lambda finding: finding.lower_bound),
        alarms=tuple(line.strongest for line in lines if line.is_alarm),
        events=len(claims) * len(TURNS) * len(GUESSES),
        runs=len(coins) // 2,
        confidence=1 - false_alarm,
    )


def table_claims(plan: MeasurementPlan) -> dict[str, Fraction]:
    """What is claimed for each table of the plan, and for its tree."""
    claims = {line.name: line.budget for line in _single(plan)}
    return claims | {TREE: sum((line.budget for line in plan.tree), Fraction())}


def _attack(
    plan: MeasurementPlan,
    claims: dict[str, Fraction],
    runs: int,
    false_alarm: float,
    progress: Progress,
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]]:
    """Evidence of every run, (runs, tables); the coins; bounds, (tables, turns, guesses)."""
    attacker = _Attacker(plan)
    databases = _database(CROWD), _database([*CROWD, WALKER])
    randomness = Randomness()
    coins = randomness.words(2 * runs) % 2 == 1
    evidence = np.zeros((2 * runs, len(claims)))
    limits = np.array([float(claim) for claim in claims.values()])
    error = false_alarm / (len(claims) * len(TURNS) * len(GUESSES))
    done, bounds = 0, np.zeros((len(claims), len(TURNS), len(GUESSES)))
    for look, share in looks(runs):
        for run in range(done, 2 * look):
            seen = gate.measure(databases[int(coins[run])], plan, _everywhere, randomness)
            evidence[run] = attacker.evidence(seen)
            if run % REPORTED_EVERY == 0:
                progress(REPORTED_EVERY)
        done = 2 * look
        bounds = np.stack(
            [
                bounds_of(_turned(evidence[:done, i], limits[i]), coins[:done], error * share)
                for i in range(len(claims))
            ]
        )
        if plan.in_rho:
            bounds = _of_rho(bounds)
        if (bounds.max(axis=(1, 2)) > limits).any():
            break
    return evidence[:done], coins[:done], bounds


def _of_rho(bounds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bounds on ρ by those on ln(q/(1 − q)): 2q − 1 is tanh of half of it.

    Only of whoever guesses after every run; the others prove nothing about ρ.
    """
    always = np.array(["the other when not" in guess for guess in GUESSES])
    return np.where(always, 2.0 * np.tanh(bounds / 2.0) ** 2, 0.0)


def _turned(evidence: NDArray[np.float64], most: float) -> NDArray[np.bool_]:
    """Whether the evidence reaches each of `TURNS`; a little less, for rounding."""
    turns = np.array(TURNS) * most - 1e-9
    return np.asarray(evidence >= turns[:, None])


def _strongest(name: str, bounds: NDArray[np.float64], runs: int) -> Finding:
    turn, guess = np.unravel_index(int(bounds.argmax()), bounds.shape)
    event = f"the evidence for the walker is at least {TURNS[turn]:g} of the claim"
    return Finding(name, event, GUESSES[guess], float(bounds.max()), runs // 2)


class _Attacker:
    """Turns what one run gives away into evidence about the walker."""

    def __init__(self, plan: MeasurementPlan) -> None:
        self._plan = plan
        exact = without_noise(plan)
        alone, crowd = (_measured(exact, rows) for rows in ([WALKER], CROWD))
        self.known = {
            line.statistic: _known(alone[line.statistic], crowd[line.statistic])
            for line in _single(plan)
        }
        beginnings = [WALKER[0][:level] for level in range(1, len(plan.tree) + 1)]
        self._path = UNIVERSE.codes(WALKER[0])[: len(plan.tree)]
        self._others = [sum(row.startswith(start) for row, _ in CROWD) for start in beginnings]

    def evidence(self, seen: Measurements) -> list[float]:
        """In the order of `table_claims`, and then of all together."""
        each = [
            self.known[line.statistic].evidence(seen[line.statistic])
            for line in _single(self._plan)
        ]
        each.append(self._tree_evidence(seen.tree))
        return [*each, sum(each)]

    def _tree_evidence(self, levels: tuple[TreeLevel, ...]) -> float:
        """The nodes on the walker's path, as far as they were kept."""
        total, node = 0.0, 0
        walk = zip(levels, self._path, self._others, self._plan.tree, strict=False)
        for level, code, others, line in walk:
            found = np.flatnonzero((level.parent == node) & (level.label == code))
            if not len(found):
                return total - 1.0 / line.noise.scale
            node = int(found[0])
            counts = level.table.counts[[node]], np.array([others]), np.ones(1, dtype=np.int64)
            total += _evidence(*counts, line.noise)
        return total


def _single(plan: MeasurementPlan) -> list[Line]:
    """The lines that are attacked one by one: all but those of the tree."""
    return [line for line in plan.lines() if line not in plan.tree]


def _known(alone: NoisyTable, crowd: NoisyTable) -> _Known:
    cells = alone.keys[alone.counts > 0]
    return _Known(cells, _counts(crowd, cells), _counts(alone, cells))


def _counts(table: NoisyTable, cells: NDArray[np.int64]) -> NDArray[np.int64]:
    """The counts of some cells; 0 where a cell is not listed."""
    if not len(table.keys):
        return np.zeros(len(cells), dtype=np.int64)
    position = np.minimum(np.searchsorted(table.keys, cells), len(table.keys) - 1)
    return np.where(table.keys[position] == cells, table.counts[position], 0)


def without_noise(plan: MeasurementPlan) -> MeasurementPlan:
    """The same caps; every line has a budget under which its noise is 0."""
    for line in plan.lines():
        change = line.squared_l2 if line.in_rho else line.sensitivity
        plan = plan.with_line(replace(line, budget=NO_NOISE * change))
    return plan


def _measured(plan: MeasurementPlan, rows: list[tuple[str, list[int]]]) -> Measurements:
    return gate.measure(_database(rows), plan, _everywhere, Randomness())


def _everywhere(_seen: object) -> NDArray[np.int64]:
    return np.arange(len(UNIVERSE))


def _database(rows: list[tuple[str, list[int]]]) -> TrajectoryDatabase:
    offsets = np.cumsum([0, *(len(slots) for _, slots in rows)])
    locations = UNIVERSE.codes("".join(row for row, _ in rows))
    slots = np.array([slot for _, row in rows for slot in row], dtype=np.int32)
    return TrajectoryDatabase.from_arrays(
        offsets, slots * np.int32(len(UNIVERSE)) + locations, UNIVERSE, time_grid=GRID
    )
