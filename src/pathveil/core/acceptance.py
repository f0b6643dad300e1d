"""What a release must keep to go out: rules that the publisher fixes before anything is charged.

They are public, and are tested by what is public: before the charge by the least noise that any
plan could have, which follows from public parameters; before the bundle is written by the release
itself, its noisy plan and its intervals. Nothing exact is looked at, so whether a release goes out
tells nothing that the release would not have told (post-processing). Its ε is spent either way.

A count below `suppress_below` is left out of tables and exports. That protects nobody: ε does. It
keeps figures from being shown that the publisher does not stand by.
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Final

from pathveil.core.noise import Gaussian, Laplace, Noise
from pathveil.core.parameters import Parameters
from pathveil.core.zcdp import Concentrated
from pathveil.errors import ParameterError, did_you_mean
from pathveil.plain_files import open_named
from pathveil.statistics.all_statistics import STATISTICS, TIME_STATISTICS
from pathveil.statistics.measurement_plan import MeasurementPlan
from pathveil.statistics.statistic import Statistic

KINDS: Final = ("visits", "transitions", "origin-destination")
_MOST_BYTES: Final = 20_000
_TABLES: Final = tuple(one.name for one in (*STATISTICS, *TIME_STATISTICS))


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The rules; each is None or empty if there is none.

    Attributes:
        suppress_below: counts below it are left out of tables and exports.
        most_suppressed: the largest share of visits that may be at locations left out so.
        noise: by table: the largest standard deviation of its noise, in trajectories (`noises`).
        error: by kind of question: half the width of the 90% intervals of all rows, at most so
            many times their counts.

    Raises:
        ParameterError: if one can't be used.
    """

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    suppress_below: int | None = None
    most_suppressed: float | None = None
    noise: dict[str, float] = field(default_factory=dict)
    error: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        below, share = self.suppress_below, self.most_suppressed
        if below is not None and (isinstance(below, bool) or not isinstance(below, int)):
            raise ParameterError("suppress_below must be a whole number of trajectories.")
        if below is not None and not 1 <= below <= 10**9:
            raise ParameterError("suppress_below must lie between 1 and 1,000,000,000.")
        if share is not None and (not _is_number(share) or not 0 <= share <= 1):
            raise ParameterError("most_suppressed is a share of visits: a number from 0 to 1.")
        if share is not None and below is None:
            raise ParameterError("most_suppressed needs suppress_below: what is suppressed?")
        _check_limits("noise", self.noise, _TABLES)
        _check_limits("error", self.error, KINDS)

    def __bool__(self) -> bool:
        return self != Acceptance()

    @classmethod
    def of(
        cls, given: "Acceptance | Mapping[str, Any] | str | os.PathLike[str] | None"
    ) -> "Acceptance":
        """The rules of what was given: themselves, by name, or a TOML file with them.

        Raises:
            ParameterError: if they can't be used.
        """
        if given is None:
            return cls()
        if isinstance(given, cls):
            return given
        if isinstance(given, str | os.PathLike):
            return cls.of(_read(Path(given)))
        if not isinstance(given, Mapping):
            raise ParameterError("Acceptance rules: give them by name, or a TOML file.")
        known = [one.name for one in fields(cls)]
        for name in given:
            if name not in known:
                raise ParameterError(
                    f"There is no acceptance rule {str(name)[:40]!r}; there are "
                    f"{', '.join(known)}.{did_you_mean(str(name), known)}"
                )
        return cls(**given)

    def check_forecast(self, parameters: Parameters) -> None:
        """Refuse, before anything is charged, what no plan can keep.

        Raises:
            ParameterError: if a table's noise would be above its limit even with all of the
                budget; or a rule can't be of such a release.
        """
        if not parameters.how.has_tables and (self.noise or self.error):
            raise ParameterError(
                "The rules for noise and error are for the method 'calibrated': the others measure "
                "no such tables, and have no intervals. Nothing was charged."
            )
        for statistic in (*STATISTICS, *TIME_STATISTICS):
            limit = self.noise.get(statistic.name)
            if limit is not None and (least := least_noise(statistic, parameters)) > limit:
                raise ParameterError(
                    f"With all of the budget the noise on {statistic.name} would have a deviation "
                    f"of {least:.1f}, and the rules accept {limit:g}: use a larger budget, or "
                    "other rules. Nothing was charged."
                )


def least_noise(statistic: Statistic, parameters: Parameters) -> float:
    """The deviation of a table's noise if it alone had all of the budget, and its smallest cap.

    If c is yet to be chosen it may come out as 1.
    """
    bound = next(bound for cap in (1, 2) if (bound := statistic.bound(cap)).l1)
    epsilon, delta = parameters.budget.epsilon, parameters.gaussian_delta
    most = 1 if parameters.trips_are_open else parameters.max_trajectories_per_unit
    laws = list[Noise]()
    if parameters.concentrated is None:
        laws.append(Laplace(epsilon / (bound.l1 * most)))
    if delta:
        rho = (parameters.concentrated or Concentrated.within(epsilon, delta)).rho
        laws.append(Gaussian(bound.squared_l2 * most**2 / (2 * rho)))
    return min(law.deviation for law in laws)


def noises(plan: MeasurementPlan) -> dict[str, float]:
    """The standard deviation of the noise on each table of a plan, in trajectories.

    A clipped table counts weighed trips, and is read as one of trips by a number that all tables of
    its stage share and that is estimated from noisy ones. The most that it can be is public and
    stands for it here: the noise is never understated, and never less than `least_noise` says.
    """
    found: dict[str, float] = {}
    for lines in plan.stages():
        most = max(line.most_trips_per_weight for line in lines)
        found |= {line.name: line.deviation * most for line in lines}
    return found


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _check_limits(what: str, limits: object, known: tuple[str, ...]) -> None:
    if not isinstance(limits, dict):
        raise ParameterError(f"The rules for {what} are a table: a line for each, {known[0]} = 1.")
    for name, limit in limits.items():
        if name not in known:
            raise ParameterError(
                f"The rules for {what} know no {str(name)[:40]!r}; there are {', '.join(known)}."
                f"{did_you_mean(str(name), known)}"
            )
        if not _is_number(limit) or not 0 < limit <= 1e12:  # noqa: PLR2004
            raise ParameterError(f"The limit of {what} for {name} must be a number above 0.")


def _read(path: Path) -> dict[str, Any]:
    try:
        with open_named(path) as file:
            return tomllib.loads(file.read(_MOST_BYTES).decode("utf-8-sig"))
    except OSError as error:
        raise ParameterError(f"Can't read {path}: {error.strerror}.") from None
    except ValueError:  # TOML's own and that of UTF-8
        raise ParameterError(
            f"{path} is no TOML file in UTF-8: write lines such as suppress_below = 20."
        ) from None
