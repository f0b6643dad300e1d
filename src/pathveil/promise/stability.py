"""Stability and privacy maps: how far apart two runs can be, and what that costs.

In the manner of OpenDP. A **step** turns data into data; its stability map says how many
trajectories differ after it (d_out) if so many units or trajectories differ before (d_in). A
**noisy table** turns trajectories into noisy counts; its privacy map says which ε it costs if d_in
trajectories differ. Steps chain, one map after the other; tables compose, their ε add up. A
`Promise` is such a chain from one difference in the data to one ε. The sentences of the
certificate are written from promises, so none of them can say what no map says.

Why the maps are true:

- *Reading* looks at a unit's own rows only, so one unit more or less changes no other
  (`raw.reading`, docs/method.md).
- *Bounding* leaves at most c trajectories of a unit, chosen from its own (`raw.bounding`): one
  unit is at most c trajectories. One trajectory of a unit that has no more than c is itself. If
  there are more, and the first c are used, then with one of these the next comes or goes: 2. If
  a sample is used, the trajectories behind it move up in the unit's own numbers, from which the
  sample follows: all c may be others, c that go and c that come: 2c, whatever the seed.
- *Restricting* to discovered labels cuts every trajectory by itself.
- A *table* to which one trajectory adds at most l1 changes by l1·d in L1 if d trajectories differ;
  Laplace noise of parameter ε̄ on every cell costs ε̄·l1·d. In L2 it changes by √squared_l2·d, and
  Gaussian noise of parameter σ² costs squared_l2·d²/(2σ²) in ρ. Where tables are told in ρ, one
  with Laplace noise could count for half the square of its ε; but its ε, told beside, is less. E of
  all tables in ε and R of all in ρ are ε = E + the ε that follows from R at δ (`core.zcdp`).
- A table that is *clipped* (`gate.weighing`) changes by at most √squared_l2 in L2 if one unit comes
  or goes, whatever c is. One trajectory of a unit more or less gives all of its trajectories other
  weights, as if the unit were exchanged for another: twice that.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce

from pathveil.core.noise import Gaussian, Laplace, Noise
from pathveil.core.parameters import Parameters
from pathveil.core.preparations import Preparation
from pathveil.core.zcdp import Concentrated
from pathveil.statistics.measurement_plan import Line, Measurement
from pathveil.times.trip_rules import Keep

READING, BOUNDING, RESTRICTING = "reading", "bounding", "restricting to discovered labels"
EVERYTHING = "the trajectories over the whole universe"
CANDIDATES = "the trajectories, in cells of candidates only, which noisy visits named"
SURVIVORS = "the trajectories that the noisy level above leads to"
LABELS = "the labels of the trajectories, before any is public"
LENGTHS = "the lengths of the trajectories"
NUMBERS = "how many trajectories each unit has, before any is left out"
CLIPPED = "; in 256ths, all of a unit's together clipped to a norm in L2"


def is_of_units(depends_on: str) -> bool:
    """Whether a table that sees this is changed by a unit as a whole."""
    return depends_on == NUMBERS or depends_on.endswith(CLIPPED)


@dataclass(frozen=True, slots=True)
class Step:
    """From data to data.

    Attributes:
        name: what is done.
        depends_on: of what in the data each piece of the result is a function, beside public
            parameters.
        stability: how many pieces of the result differ at most for each that differs before.
    """

    name: str
    depends_on: str
    stability: int

    def map(self, d_in: int) -> int:
        """d_out, the most that can differ afterwards."""
        return self.stability * d_in


@dataclass(frozen=True, slots=True)
class TableMap:
    """From trajectories to noisy counts of a table.

    Attributes:
        name: what is counted.
        depends_on: what of the trajectories it sees.
        noise: on one count.
        l1: what one trajectory adds at most, in L1.
        squared_l2: what it adds at most in L2, squared: whole, so that nothing is rounded.
        delta: the probability of the event that its ε does not cover.
        cap: how much of a trajectory counts; None if there is nothing to cap.

    A table of units, by how many trajectories each has, sees what is there before bounding: one
    unit changes it by l1 however large c is. A unit with one trajectory more or less is in another
    cell, as if it were exchanged: twice l1. So it is with a table that is clipped.
    """

    name: str
    depends_on: str
    noise: Noise
    l1: int
    squared_l2: int
    delta: Fraction = Fraction(0)
    cap: int | None = None

    def sensitivity(self, d_in: int) -> int:
        """How much the counts change in L1 if so many trajectories differ."""
        return self.l1 * d_in

    def squared_sensitivity(self, d_in: int) -> int:
        """The same in L2, squared: all of them may add to the same cells."""
        return self.squared_l2 * d_in**2

    @property
    def is_of_units(self) -> bool:
        """Whether a unit changes it as a whole, and not trajectory by trajectory."""
        return is_of_units(self.depends_on)

    def map(self, d_in: int) -> Fraction:
        """The ε that it costs if so many trajectories (or units, if it counts those) differ.

        Raises:
            TypeError: if its noise is Gaussian: that costs no ε without a δ.
        """
        if not isinstance(self.noise, Laplace):
            raise TypeError(f"The table of {self.name} is told in ρ.")
        return self.noise.epsilon * self.sensitivity(d_in)

    def rho(self, d_in: int) -> Fraction:
        """The ρ that it costs if so many trajectories differ; 0 if it is told in ε."""
        if not isinstance(self.noise, Gaussian):
            return Fraction(0)
        return self.squared_sensitivity(d_in) / (2 * self.noise.variance)

    @property
    def in_rho(self) -> bool:
        """Whether it is told in ρ."""
        return isinstance(self.noise, Gaussian)


@dataclass(frozen=True, slots=True)
class Promise:
    """The ε of one difference in the data, and why.

    Attributes:
        difference: what is there in one of two databases and not in the other.
        steps: from the data to the trajectories that are counted.
        tables: what is measured of them, one after another.
        told: the (ε, δ) that was asked for, if noise may be Gaussian; None: a promise in ε alone.
        units: how many units differ: 1, or 2 if one is exchanged for another.
    """

    difference: str
    steps: tuple[Step, ...]
    tables: tuple[TableMap, ...]
    told: "Told | None" = None
    units: int = 1

    @property
    def distance(self) -> int:
        """How many of the trajectories that are counted differ at most."""
        return reduce(lambda d_in, step: step.map(d_in), self.steps, 1)

    @property
    def epsilon(self) -> Fraction:
        """What one such difference costs."""
        return self.map(1)

    def map(self, d_in: int) -> Fraction:
        """The ε of so many of them together; tables compose sequentially."""
        return self._told(self.pure(d_in), self.rho(d_in))

    def pure(self, d_in: int) -> Fraction:
        """The ε of so many of them in the tables that are told in ε."""
        tables = (table for table in self.tables if not table.in_rho)
        return sum((table.map(self.pieces(table) * d_in) for table in tables), Fraction())

    def pieces(self, table: TableMap) -> int:
        """How much of what a table counts, trajectories or units, one such difference changes."""
        return self.units if table.is_of_units else self.distance

    def rho(self, d_in: int) -> Fraction:
        """The ρ of so many of them together: it grows with the square of their number."""
        return sum((table.rho(self.pieces(table) * d_in) for table in self.tables), Fraction())

    def repeated(self, times: int) -> Fraction:
        """The ε of so many releases like this one about the same people."""
        return self._told(times * self.pure(1), times * self.rho(1))

    def _told(self, pure: Fraction, rho: Fraction) -> Fraction:
        """The ε of tables that cost so much in ε and so much in ρ, at the same δ."""
        if self.told is None or not rho:
            return pure
        if (pure, rho) == (self.pure(1), self.rho(1)) and self._is_asked_for:
            return self.told.epsilon
        return pure + Concentrated(rho, self.told.delta).epsilon

    @property
    def _is_asked_for(self) -> bool:
        """Whether this is the difference that the ε was asked for: one unit."""
        return self.told is not None and self.distance == self.told.distance

    @property
    def delta(self) -> Fraction:
        """The probability with which it may fail; 0 if nothing was discovered and told in ρ."""
        discovered = sum((table.delta for table in self.tables), Fraction())
        return discovered if self.told is None else discovered + self.told.delta

    @property
    def is_discovered(self) -> bool:
        """Whether the universe was discovered."""
        return any(table.delta for table in self.tables)

    def of_one_trajectory(self, whose: str, stability: int) -> "Promise":
        """The same release, if what differs is one trajectory of such a unit, not all of it."""
        steps = tuple(
            replace(step, stability=stability) if step.name == BOUNDING else step
            for step in self.steps
        )
        return replace(self, difference=f"one trajectory of {whose}", steps=steps, units=2)


@dataclass(frozen=True, slots=True)
class Told:
    """What is told of a release whose noise may be Gaussian.

    Attributes:
        epsilon: ε for a unit, as it was asked for.
        delta: δ.
        distance: how many trajectories a unit has at most.
    """

    epsilon: Fraction
    delta: Fraction
    distance: int


def unit_promise(parameters: Parameters) -> Promise:
    """What a release with these parameters promises to a unit."""
    most = parameters.max_trajectories_per_unit
    steps = [Step(READING, "one unit's own rows", 1), Step(BOUNDING, "one unit's own rows", most)]
    if parameters.is_discovered:
        steps.append(Step(RESTRICTING, "one trajectory", 1))
    lines: list[Measurement | Preparation] = [
        *parameters.preparations,
        *parameters.how.plan(parameters),
    ]
    return Promise(
        "one unit with all its trajectories",
        tuple(steps),
        tuple(_table(line, most) for line in lines),
        Told(parameters.budget.epsilon, parameters.gaussian_delta, most)
        if parameters.gaussian_delta
        else None,
    )


def trip_promises(unit: Promise, keep: Keep | None) -> list[Promise]:
    """What is proved for one trajectory by itself, all its rows there or not there.

    Args:
        unit: the promise to a unit.
        keep: which trajectories of a unit with more than c are used; None if that is not known.

    Returns:
        For a unit with at most c trajectories; then for one with more, if anything is proved. (A
        discovered universe has a δ, which was computed for one unit more or less, not for an
        exchange.)
    """
    most = unit.distance
    within = unit.of_one_trajectory(f"a unit with at most {most} trajectories", 1)
    if keep is None or unit.is_discovered:
        return [within]
    exchanged = {"first": 2, "sample": 2 * most}[keep]
    return [within, unit.of_one_trajectory("a unit with more", exchanged)]


def in_terms_of(unit: Promise, epsilon: Fraction) -> str:
    """An ε beside a unit's, such as ``2ε/5 = 2/5``; told in ρ, ``ε = 2.04 at the same δ``."""
    if unit.told is not None:
        return f"ε = {float(epsilon):.6g} at the same δ"
    share = epsilon / unit.epsilon
    times = "" if share.numerator == 1 else share.numerator
    parts = "" if share.denominator == 1 else f"/{share.denominator}"
    return f"{times}ε{parts} = {epsilon}"


def _table(line: Measurement | Preparation, most: int) -> TableMap:
    """A line of the plan, of which one trajectory is one part in c."""
    l1, delta = line.sensitivity // most, Fraction(0)
    squared_l2, cap = l1**2, None
    if isinstance(line, Preparation):
        delta = line.delta
        sees = LABELS if delta else LENGTHS
        if line.is_of_units:
            return TableMap(line.name, NUMBERS, line.noise, line.sensitivity, line.sensitivity**2)
    elif isinstance(line, Line):
        cap, sees = line.cap, CANDIDATES if line.statistic.of_candidates else EVERYTHING
        if line.clip is not None:
            bounds = line.sensitivity, line.squared_l2
            return TableMap(line.name, sees + CLIPPED, line.noise, *bounds, cap=cap)
        squared_l2 = line.squared_l2 // most**2
    else:
        sees = SURVIVORS if line.name.endswith("of the prefix tree") else EVERYTHING
    return TableMap(line.name, sees, line.noise, l1, squared_l2, delta, cap)
