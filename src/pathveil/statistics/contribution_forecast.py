"""What a larger c would cost: the part of `pathveil plan` that helps to choose it.

Noise is proportional to c. A path's count grows with c only by the trajectories of units that have
so many: by a factor of c at most. So relative to the counts the noise stays the same while nearly
every unit has c trajectories, and grows from there on. What a larger c buys is less chance in which
trajectories are seen (docs/people.md has figures).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from pathveil.core.noise import Laplace, Noise
from pathveil.core.parameters import INVENTED_PER_NODE, Parameters
from pathveil.core.zcdp import Concentrated
from pathveil.errors import ParameterError
from pathveil.statistics.constants import CLIP_POWERS, MOST_CLIPPED
from pathveil.statistics.measurement_plan import MeasurementPlan

CHOICES = (1, 2, 5, 10, 20, 50)
ADVICE = (
    "The noise grows with c, but a count only by units that have so many trajectories: choose a c "
    "that nearly every unit reaches (from what is known without the data), not the busiest unit's."
)
CLIPPED = (
    "In tables with Gaussian noise what all trips of a unit add is clipped to a norm: people whose "
    "trips repeat weigh less there, and the noise on what is weighed does not grow with c, but "
    f"with c^(p/2), where p is chosen between {CLIP_POWERS[0]:g} and {CLIP_POWERS[-1]:g}."
)


@dataclass(frozen=True, slots=True)
class ContributionForecast:
    """One choice of c.

    Attributes:
        trajectories: c.
        epsilon_per_trip: ε/c; what one trajectory has by itself if its unit has at most c; exact.
        noise: standard deviation of the noise on one count of the prefix tree's first level.
        survives: the smallest number of trajectories with which a path survives there, with
            probability 95%.
    """

    trajectories: int
    epsilon_per_trip: Fraction
    noise: float
    survives: int


def contribution_forecasts(parameters: Parameters) -> Iterator[ContributionForecast]:
    """The same run with c = 1, 2, 5 … 50, and its own; what could not run is left out."""
    for most in sorted({*CHOICES, parameters.max_trajectories_per_unit}):
        try:
            other = _with_contribution(parameters, most)
        except ParameterError:
            continue
        noise, threshold = first_level(other)
        yield ContributionForecast(
            most,
            _for_one_trip(parameters, most),
            noise.deviation,
            noise.survivor(threshold),
        )


def can_be_clipped(parameters: Parameters) -> bool:
    """Whether a run may clip what a unit adds (`statistics.planner`), if its units are told."""
    several = 1 < parameters.max_trajectories_per_unit <= MOST_CLIPPED
    return several and parameters.how.has_tables and bool(parameters.gaussian_delta)


def _for_one_trip(parameters: Parameters, most: int) -> Fraction:
    """ε/c; in ρ what follows from ρ/c², because ρ grows with the square of the number."""
    if parameters.concentrated is None or most == 1:
        return parameters.budget.epsilon / most
    rho, delta = parameters.concentrated.rho, parameters.concentrated.delta
    return Concentrated(rho / most**2, delta).epsilon


def first_level(parameters: Parameters) -> tuple[Noise, int]:
    """The noise and the threshold of the prefix tree's first level."""
    if not parameters.how.has_tables:
        return Laplace(parameters.level_epsilon), parameters.threshold
    noise = MeasurementPlan.of(parameters).tree[0].noise
    return noise, noise.threshold(parameters.universe_size, INVENTED_PER_NODE)


def _with_contribution(parameters: Parameters, most: int) -> Parameters:
    """As it begins: what is planned later depends on the data."""
    return replace(parameters, max_trajectories_per_unit=most, planned=None).settled()
