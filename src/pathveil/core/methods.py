"""The methods: what each measures, from which parameters, and what comes of it.

Whoever has to know what a method does asks its `Method` and compares no names. What it makes of the
noisy measurements (post-processing, which sees raw data no more) is said here in words and done by
`post_process` of its own package, `methods.paper` or `methods.calibrated`; `publishing` calls it,
because nothing down here may reach the mechanism.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from pathveil.errors import ParameterError, did_you_mean

if TYPE_CHECKING:
    from pathveil.core.parameters import Parameters
    from pathveil.statistics.measurement_plan import Measurement

MethodName = Literal["basic", "full", "calibrated"]
METHODS: tuple[str, ...] = get_args(MethodName)
# What is published if nobody says otherwise: docs/accuracy.md is why.
DEFAULT_METHOD: MethodName = "calibrated"
# What a release by "calibrated" is to be good at: single locations, who goes from where to where,
# which journeys are frequent, when. It decides what its tables are worth (`statistics.constants`).
Purpose = Literal["everything", "stops", "flows", "patterns", "hours"]
PURPOSES: tuple[Purpose, ...] = get_args(Purpose)
EVERYTHING: Purpose = "everything"


@dataclass(frozen=True, slots=True)
class Method:
    """One of them.

    Attributes:
        name: as it is asked for, and stands on the certificate.
        post_processing: what is made of the noisy counts, in the certificate's words.
        has_tables: whether it measures the tables of a `MeasurementPlan`, each with a threshold of
            its own, and releases trajectories with an error table; else a prefix tree with one
            threshold, whose paths are the release.
        most_slots: the finest time grid that it takes; None for any.
    """

    name: MethodName
    post_processing: str
    has_tables: bool
    most_slots: int | None = None

    @classmethod
    def named(cls, name: str) -> "Method":
        """The method of this name.

        Raises:
            ParameterError: if there is none.
        """
        for method in EVERY_METHOD:
            if method.name == name:
                return method
        raise ParameterError(
            f"The method must be one of {', '.join(METHODS)}.{did_you_mean(name, METHODS)}"
        )

    def plan(self, parameters: "Parameters") -> "list[Measurement]":
        """Its measurements, in the order in which the budget is spent."""
        from pathveil.statistics.measurement_plan import MeasurementPlan, tree_lines

        if self.has_tables:
            return [*MeasurementPlan.of(parameters).lines()]
        return tree_lines(parameters)

    def passes(self, parameters: "Parameters") -> int:
        """How often all trajectories are gone through at most, once they are read and bounded."""
        from pathveil.statistics.measurement_plan import MeasurementPlan

        if not self.has_tables:
            return parameters.height + len(parameters.preparations)
        stages = list(MeasurementPlan.of(parameters).stages())
        return len(stages) + len(parameters.preparations)


def method_words(name: str, height: int | str, purpose: str) -> str:
    """A method as pages name it: with its height, or what it was planned for."""
    return f"{name}, {method_detail(name, height, purpose)}"


def method_detail(name: str, height: int | str, purpose: str) -> str:
    """What is said beside the name of a method."""
    return f"for {purpose}" if Method.named(name).has_tables else f"height {height}"


BASIC = Method(
    "basic",
    "thresholding, repair and rounding of the noisy tree",
    has_tables=False,
)
FULL = Method(
    "full",
    "thresholding, constrained inference, repair and rounding of the noisy tree",
    has_tables=False,
)
CALIBRATED = Method(
    "calibrated",
    "estimation of a movement model from the noisy tables, synthesis of trajectories, "
    "calibration of their weights to the tables, rounding",
    has_tables=True,
    most_slots=2048,  # it keeps a table of all pairs of slots
)
EVERY_METHOD = (BASIC, FULL, CALIBRATED)
