"""The public parameters of a release, and all that follows from them before any data is read."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from operator import index
from typing import TYPE_CHECKING

from pathveil.core.budget import NO_DELTA, Budget, parse_delta, parse_rho
from pathveil.core.methods import (
    DEFAULT_METHOD,
    EVERYTHING,
    PURPOSES,
    Method,
    MethodName,
    Purpose,
)
from pathveil.core.preparations import (
    AUTO,
    MOST,
    MOST_TRIPS,
    Preparation,
    discovery_preparation,
    height_preparation,
    trips_preparation,
)
from pathveil.core.thresholds import (
    MOST_SCALES,
    SubLevels,
    paper_threshold,
    pass_fraction,
    smallest_threshold,
)
from pathveil.core.zcdp import Concentrated
from pathveil.errors import ParameterError, TreeTooLargeError, did_you_mean
from pathveil.statistics.constants import MOST_CAP
from pathveil.times.time_grid import TimeGrid, check_pairs
from pathveil.universe.taxonomy import Taxonomy
from pathveil.universe.universe import MAX_SIZE

if TYPE_CHECKING:
    from pathveil.statistics.measurement_plan import MeasurementPlan

MAX_HEIGHT = 1000
DEFAULT_MAX_NODES = 20_000_000

# The default threshold invents at most this many children per node: the paper's lets the tree
# explode on a large universe (docs/method.md).
INVENTED_PER_NODE = Fraction(1, 10)
# The largest scale of the noise. Beyond it no count survives, and sums of counts leave int64.
LARGEST_SCALE = 10**12
_SPENT = "That showed only after a parameter was chosen by noisy counts: the budget is spent."


@dataclass(frozen=True, slots=True)
class Parameters:
    """What the publisher chose; all of it is public and printed on the certificate.

    Attributes:
        budget: the total ε.
        height: h, the number of levels of the prefix tree; for "calibrated" the largest cap that
            its planner may choose, on what a table looks at of a trajectory.
        universe_size: |L|.
        threshold: θ, an integer count. Each table of "calibrated" has its own, above this 1.
        method: "basic" (noisy counts as they are), "full" (constrained inference) or
            "calibrated" (more measurements, and trajectories calibrated to them).
        max_trajectories_per_unit: c; adding or removing one unit changes the counts of one
            level by at most c in total, so every level's noise is scaled by it.
        max_nodes: the largest tree that the publisher is ready to hold.
        threshold_choice: how θ was asked for: "auto", "paper" or a number.
        preparations: what part of the budget is spent on choosing other parameters.
        trips_are_open: c is to be chosen with privacy; until then it is the largest that can come
            out.
        height_is_open: the height is to be chosen with privacy; until then it is the largest
            that can come out.
        universe_is_open: the universe is to be discovered; until then its size is 1.
        time_grid: the public slots of time; None if trajectories have no times.
        taxonomy: the public zones of the locations; None if every node is a location. θ is then
            that of the locations; the zones' follows from the rest (`sub_levels`).
        purpose: what "calibrated" is to be good at.
        planned: the plan by which "calibrated" measured, once it has; it follows from noisy tables
            that the plan itself paid for.
        concentrated: the budget in ρ, and the δ at which it implies ε; None: it is in ε itself.
        gaussian_delta: δ, if noise may be Gaussian: all of it if the budget is in ρ, else what the
            planner finds better so; 0 for a promise in ε alone.
    """

    budget: Budget
    height: int
    universe_size: int
    threshold: int
    method: MethodName
    max_trajectories_per_unit: int = 1
    max_nodes: int = DEFAULT_MAX_NODES
    threshold_choice: object = field(default="auto", compare=False, repr=False)
    preparations: tuple[Preparation, ...] = ()
    height_is_open: bool = False
    universe_is_open: bool = False
    trips_are_open: bool = False
    time_grid: TimeGrid | None = None
    taxonomy: Taxonomy | None = None
    purpose: Purpose = EVERYTHING
    planned: "MeasurementPlan | None" = None
    concentrated: Concentrated | None = None
    gaussian_delta: Fraction = Fraction(0)

    @classmethod
    def choose(
        cls,
        *,
        epsilon: object,
        height: int | str | None = None,
        universe_size: int | None,
        threshold: object = "auto",
        method: str = DEFAULT_METHOD,
        max_trajectories_per_unit: int | str = 1,
        max_nodes: int = DEFAULT_MAX_NODES,
        delta: object = None,
        rho: object = None,
        preparations: Sequence[Preparation] = (),
        time_grid: TimeGrid | None = None,
        taxonomy: Taxonomy | None = None,
        purpose: str = EVERYTHING,
    ) -> "Parameters":
        """Validate the publisher's choices and fix θ. Looks at no data.

        Args:
            epsilon: the total budget, as text or an exact number.
            height: h ≥ 1, or "auto": chosen from noisy lengths, with a share of ε. "calibrated"
                plans its caps by itself, for nothing more; a number is then the largest of them.
            universe_size: |L| ≥ 1; None if the universe is to be discovered.
            threshold: "auto", "paper" or a whole number of trajectories.
            method: "basic", "full" or "calibrated".
            max_trajectories_per_unit: c ≥ 1, or "auto": chosen from a noisy histogram, with a share
                of ε.
            max_nodes: refuse a run whose expected tree is larger.
            delta: δ: if the universe is to be discovered, of that; else "calibrated" adds Gaussian
                noise, whose promise is (ε, δ).
            rho: ρ, if the budget was given so: ``epsilon`` is what follows from it at δ.
            preparations: choices that were made already, if a release is read back.
            time_grid: the public slots of time; None for trajectories without times.
            taxonomy: the public zones of the locations; None to count locations only.
            purpose: what "calibrated" is to be good at: one of `PURPOSES`.

        Raises:
            ParameterError: if a choice is malformed or out of range.
            TreeTooLargeError: if the expected tree exceeds ``max_nodes``.
        """
        budget = Budget.parse(epsilon)  # type: ignore[arg-type]  # it checks
        spent = list(preparations)
        how = Method.named(method)
        height_is_open, universe_is_open = height == AUTO, universe_size is None
        if how.has_tables and height in (None, AUTO):
            height, height_is_open = MOST_CAP, False
        if height is None:
            raise ParameterError(
                f"The {how.name} method needs a height: give one, such as 6, or 'auto'."
            )
        if isinstance(height, str) and re.fullmatch("[0-9]{1,9}", height):
            height = int(height)  # as the command line has it
        height = MOST if height_is_open else _whole_number("The height", height, 1, MAX_HEIGHT)
        trips_are_open = max_trajectories_per_unit == AUTO
        contribution = (
            MOST_TRIPS
            if trips_are_open
            else _whole_number(
                "The number of trajectories per unit", max_trajectories_per_unit, 1, 10**6
            )
        )
        if trips_are_open:
            _check_open_trips(how, threshold)
            spent.append(trips_preparation(budget, None if rho is None else parse_rho(rho)))
        max_nodes = _whole_number("max_nodes", max_nodes, 1, 10**12)
        size = 1 if universe_is_open else universe_size
        universe_size = _whole_number("The size of the universe", size, 1, MAX_SIZE)
        if universe_is_open:
            spent.append(_discovery(budget, contribution, delta, threshold))
        concentrated, gaussian_delta = None, Fraction(0)
        if not universe_is_open and (delta is not None or rho is not None):
            gaussian_delta = _gaussian_delta(delta, how)
            concentrated = _concentrated(budget, rho, gaussian_delta)
        if universe_is_open and rho is not None:
            raise ParameterError(
                "A discovered universe spends its delta on naming labels, and its budget in "
                "epsilon: give epsilon instead of rho, or a public list of locations."
            )
        if height_is_open:
            spent.append(height_preparation(budget, contribution))
        parameters = cls(
            budget,
            height,
            universe_size,
            threshold=1,
            method=how.name,
            max_trajectories_per_unit=contribution,
            max_nodes=max_nodes,
            threshold_choice=threshold,
            preparations=tuple(spent),
            height_is_open=height_is_open,
            universe_is_open=universe_is_open,
            trips_are_open=trips_are_open,
            time_grid=time_grid,
            taxonomy=taxonomy,
            purpose=_purpose(purpose, how),
            concentrated=concentrated,
            gaussian_delta=gaussian_delta,
        )
        return parameters.settled()

    def with_trips(self, chosen: int, expansion: Fraction | None) -> "Parameters":
        """The same parameters once c has been chosen with privacy.

        What the other preparations spend does not follow from c; what one unit adds to them does.
        """
        first, *others = self.preparations
        parts = [replace(first, expansion=expansion)]
        for other in others:
            if other.delta:
                parts.append(discovery_preparation(self.budget, chosen, other.delta))
            else:
                parts.append(height_preparation(self.budget, chosen))
        return replace(
            self,
            max_trajectories_per_unit=chosen,
            trips_are_open=False,
            preparations=tuple(parts),
        ).settled(_SPENT)

    @property
    def expansion(self) -> Fraction | None:
        """How many trips there are for each that is used, by noisy counts; None: not known."""
        return next((one.expansion for one in self.preparations if one.expansion), None)

    def with_height(self, height: int) -> "Parameters":
        """The same parameters once the height has been chosen with privacy."""
        return replace(self, height=height, height_is_open=False).settled(_SPENT)

    def with_universe_size(self, size: int) -> "Parameters":
        """The same parameters once the universe has been discovered."""
        return replace(self, universe_size=size, universe_is_open=False).settled(_SPENT)

    def settled(self, cost: str = "Nothing was spent.") -> "Parameters":
        """Fix θ as it was asked for, and refuse what can't work, saying what that has cost."""
        try:
            self._check_times()
            self._check_taxonomy()
            settled = replace(self, threshold=self._threshold())
            settled.check_size()
        except ParameterError as error:
            raise type(error)(f"{error} {cost}") from None
        return settled

    def _threshold(self) -> int:
        if self.level_epsilon * LARGEST_SCALE < 1 or self._is_too_noisy():
            raise ParameterError(
                f"The noise would hide counts of {LARGEST_SCALE:,}: nothing could survive. Use a "
                "larger epsilon, a smaller height or fewer trajectories per unit."
            )
        if self.how.has_tables:
            return _own_thresholds(self.threshold_choice)
        return _choose_threshold(self.threshold_choice, *self._cells_of_a_location())

    def _is_too_noisy(self) -> bool:
        """Whether Gaussian noise on a table with a thousandth of ρ would leave its range."""
        if not self.gaussian_delta:
            return False
        rho = Concentrated.within(self.budget.epsilon, self.gaussian_delta).rho
        return self.max_trajectories_per_unit**2 > rho * LARGEST_SCALE

    def _check_times(self) -> None:
        """All that a time grid asks of the other choices."""
        if self.time_grid is None:
            return
        if not isinstance(self.time_grid, TimeGrid):
            raise ParameterError("The time grid must be a TimeGrid; make one with TimeGrid.parse.")
        check_pairs(self.universe_size, self.time_grid)
        most = self.how.most_slots
        if most is not None and len(self.time_grid) > most:
            raise ParameterError(
                f"The {self.method} method takes up to {most:,} slots of time, and the grid has "
                f"{len(self.time_grid):,}; use a coarser grid, or method 'full'."
            )

    def _check_taxonomy(self) -> None:
        """All that a taxonomy asks of the other choices."""
        if self.taxonomy is None:
            return
        if not isinstance(self.taxonomy, Taxonomy):
            raise ParameterError("The taxonomy must be a Taxonomy; read one with read_taxonomy.")
        if self.time_grid is not None and not self.how.has_tables:
            raise ParameterError(
                "A tree can't have zones and a time grid yet; use method 'calibrated', or one of "
                "the two."
            )
        if self.universe_is_open or self.taxonomy.locations != self.universe_size:
            raise ParameterError("The taxonomy is of another universe.")

    @property
    def how(self) -> Method:
        """The method itself."""
        return Method.named(self.method)

    @property
    def sub_levels(self) -> SubLevels | None:
        """How every level of a tree is measured, if there is a taxonomy."""
        if self.taxonomy is None or self.how.has_tables:
            return None
        return SubLevels.of(self.taxonomy, self.level_epsilon)

    def _cells_of_a_location(self) -> tuple[Fraction, int]:
        """The noise parameter of a location's count, and of how many such counts there are."""
        sub_levels = self.sub_levels
        if sub_levels is None:
            return self.level_epsilon, self.candidates
        return sub_levels.location_epsilon, sub_levels.largest

    @property
    def delta(self) -> Fraction:
        """δ: 0, unless the universe was discovered or the noise is Gaussian."""
        spent = sum((preparation.delta for preparation in self.preparations), Fraction())
        return spent + self.gaussian_delta

    @property
    def whole_rho(self) -> Fraction | None:
        """ρ, if all that is measured is measured in ρ; None if anything is in ε."""
        if self.concentrated is None or not all(one.in_rho for one in self.preparations):
            return None
        return self.concentrated.rho

    @property
    def is_discovered(self) -> bool:
        """Whether the universe was, or is to be, discovered."""
        return any(preparation.delta for preparation in self.preparations)

    @property
    def candidates(self) -> int:
        """The children that a node can have, at most: |L|, or |L|·|T| with a time grid."""
        return self.universe_size * (1 if self.time_grid is None else len(self.time_grid))

    @property
    def main_budget(self) -> Fraction:
        """What is left of ε, or of ρ, for the main measurements."""
        whole = self.budget.epsilon if self.concentrated is None else self.concentrated.rho
        return whole - sum((preparation.budget for preparation in self.preparations), Fraction())

    @property
    def level_budget(self) -> Fraction:
        """ε/h: what one level of the tree spends."""
        return self.main_budget / self.height

    @property
    def level_epsilon(self) -> Fraction:
        """ε̄ = ε/(h·c): the noise parameter of one count, α = e^(−ε̄)."""
        return self.main_budget / (self.height * self.max_trajectories_per_unit)

    @property
    def invented_per_node(self) -> float:
        """|L|·p_θ: how many empty children of one node are expected to pass θ, at most.

        With a time grid |L|·|T|·p_θ: that of the root, and more than that of a later node. With a
        taxonomy the zones that nobody visited, and their locations.
        """
        if self.how.has_tables:  # the thresholds of its tree are chosen for that
            return float(INVENTED_PER_NODE)
        if (sub_levels := self.sub_levels) is not None:
            return sub_levels.invented_per_node(self.threshold)
        return self.candidates * float(pass_fraction(self.level_epsilon, self.threshold))

    def expected_nodes(self) -> list[float]:
        """The expected number of nodes on each level, 1 to h, if no trajectory went deeper than 1.

        A branching process of public parameters only: every location is granted one node on
        level 1 (the most there can be), and each node of a level invents |L|·p_θ children on the
        next. What data keeps alive deeper, or at several times of one location, comes on top.
        """
        growth = self.invented_per_node
        zones = 0 if self.taxonomy is None or self.how.has_tables else len(self.taxonomy)
        levels = [max(float(self.universe_size + zones), growth)]
        for _ in range(1, self.height):
            levels.append(min(levels[-1] * growth, 1e300))
        return levels

    def check_size(self) -> None:
        """Raise TreeTooLargeError if the expected tree exceeds ``max_nodes``."""
        expected = sum(self.expected_nodes())
        if expected > self.max_nodes:
            smallest = _automatic_threshold(*self._cells_of_a_location())
            raise TreeTooLargeError(
                f"The tree is expected to have about {expected:.3g} nodes, more than max_nodes = "
                f"{self.max_nodes:,}: with threshold {self.threshold} every node invents "
                f"{self.invented_per_node:.3g} children that nobody visited. Use threshold 'auto' "
                f"(here {smallest}), a smaller height, or a larger epsilon."
            )


def _discovery(budget: Budget, contribution: int, delta: object, threshold: object) -> Preparation:
    if delta is None:
        raise ParameterError(
            "Without a public list of locations their labels must be discovered, which needs a "
            'delta: give one, such as "1e-9", or a universe.'
        )
    if threshold != "auto":
        # Whether another threshold fits depends on |L|, which is not known before ε is spent.
        raise ParameterError("Discovering the universe needs the threshold 'auto'.")
    return discovery_preparation(budget, contribution, parse_delta(delta))


def _check_open_trips(how: Method, threshold: object) -> None:
    if not how.has_tables and threshold != "auto":
        # Whether another threshold fits depends on c, which is not known before ε is spent.
        raise ParameterError("Choosing the number of trips needs the threshold 'auto'.")


def _gaussian_delta(delta: object, how: Method) -> Fraction:
    if not how.has_tables:
        raise ParameterError(
            f"The {how.name} method shares its budget out over so few levels that pure epsilon has "
            "less noise (up to 17 levels at epsilon 1 and delta 1e-9): leave delta and rho out, or "
            "use method 'calibrated'."
        )
    if delta is None:
        raise ParameterError(NO_DELTA)
    return parse_delta(delta)


def _concentrated(budget: Budget, rho: object, delta: Fraction) -> Concentrated | None:
    """The budget in ρ, if it was given so."""
    if rho is None:
        return None
    given = Concentrated(parse_rho(rho), delta)
    if not given.keeps(budget.epsilon):
        raise ParameterError("That epsilon does not follow from rho at this delta.")
    return given


def _automatic_threshold(level_epsilon: Fraction, candidates: int) -> int:
    """The smallest θ, not below the paper's, that invents at most 1/10 child per node."""
    least = paper_threshold(level_epsilon)
    return smallest_threshold(level_epsilon, candidates, INVENTED_PER_NODE, least)


def _purpose(purpose: str, how: Method) -> Purpose:
    for known in PURPOSES:
        if purpose == known and (how.has_tables or known == EVERYTHING):
            return known
    if purpose in PURPOSES:
        raise ParameterError(
            f"A purpose is for the calibrated method: {how.name} measures the same for all."
        )
    raise ParameterError(
        f"The purpose must be one of {', '.join(PURPOSES)}.{did_you_mean(purpose, PURPOSES)}"
    )


def _own_thresholds(choice: object) -> int:
    if choice not in ("auto", 1, "1"):
        raise ParameterError(
            "The calibrated method chooses a threshold for each of its tables; leave it at 'auto', "
            "or use method 'full'."
        )
    return 1


def _choose_threshold(choice: object, level_epsilon: Fraction, candidates: int) -> int:
    text = choice.strip() if isinstance(choice, str) else ""
    if text == "auto":
        return _automatic_threshold(level_epsilon, candidates)
    if text == "paper":
        return paper_threshold(level_epsilon)
    threshold = int(text) if re.fullmatch(r"\+?\d{1,20}", text) else _integer(choice)
    if threshold is None or threshold < 1:
        raise ParameterError(
            "The threshold must be 'auto', 'paper' or a whole number of trajectories, 1 or more."
        )
    most = MOST_SCALES * level_epsilon.denominator // level_epsilon.numerator
    if threshold > max(most, 1):
        raise ParameterError(
            f"The threshold is more than {MOST_SCALES} times the noise: nothing is gained above "
            f"{most:,}."
        )
    return threshold


def _whole_number(what: str, value: object, least: int, most: int) -> int:
    number = _integer(value)
    if number is None or not least <= number <= most:
        raise ParameterError(f"{what} must be a whole number from {least} to {most:,}.")
    return number


def _integer(value: object) -> int | None:
    """A whole number of any type (NumPy's too) as an int; None for anything else."""
    try:
        return None if isinstance(value, bool) else index(value)  # type: ignore[arg-type]
    except TypeError:
        return None
