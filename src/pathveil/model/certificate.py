"""The privacy certificate: what is promised, about whom, and what is not.

Field names follow the OpenDP deployments registry where it has one (``dp_flavor``,
``privacy_loss``, ``accounting``, ``implementation`` …), so an entry there can be written from it.
Nothing in it depends on the raw data: two neighbouring databases get the same certificate, but
for the hashes of the published files.
"""

import re
from collections.abc import Sequence
from fractions import Fraction
from importlib.metadata import version
from typing import Annotated, Literal

from pydantic import Field

from pathveil.model.certificate_parts import (
    EXACT,
    POSITIVE,
    FileRecord,
    Part,
    TaxonomyRecord,
    TimeGridRecord,
)
from pathveil.model.html_card import certificate_card
from pathveil.model.measurement_plan import Measurement, MeasurementPlan
from pathveil.model.parameters import Parameters
from pathveil.model.preparation import Preparation
from pathveil.model.universe import LISTED, MAX_LABEL_LENGTH

CERTIFICATE_FILE = "privacy-certificate.json"
Status = Literal["PRIVATE", "NOT PRIVATE"]
PRIVATE: Status = "PRIVATE"
NOT_PRIVATE: Status = "NOT PRIVATE"
LEVEL = re.compile(r"\blevel \d+ of the prefix tree$")
_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"


class PrivacyParameters(Part):
    """The parameters of the guarantee."""

    epsilon: str = Field(pattern=POSITIVE, description="Total ε, an exact number or fraction.")
    delta: str = Field(
        default="0", pattern=EXACT, description="δ: 0 unless the universe was discovered."
    )


class PrivacyLoss(Part):
    """Who is protected, and how much."""

    privacy_unit: str
    privacy_unit_description: str
    privacy_parameters: PrivacyParameters


class DpFlavor(Part):
    """The definition of differential privacy that is satisfied."""

    name: Literal["Pure DP", "Approximate DP"]
    input_metric: str = Field(description="The neighbour relation.")
    bound_on_input_distance: int = Field(description="Units that may be added or removed.")
    output_measure: str
    bound_on_output_distance: str = Field(pattern=POSITIVE)
    data_domain: str
    unprotected_quantities: list[str] = Field(description="What is not protected.")


class Model(Part):
    """The trust model."""

    model_name: Literal["Central"]
    is_many_release: bool
    is_interactive: bool
    is_dynamic: bool


class BudgetLine(Part):
    """One measurement and its share of ε."""

    measurement: str
    epsilon: str = Field(pattern=POSITIVE)
    sensitivity: int = Field(ge=1, description="L1 change by one unit.")


class NoisyChoice(Part):
    """A parameter that was chosen from data, and paid for."""

    measurement: str
    rule: str = Field(description="How the choice followed from noisy counts.")
    epsilon: str = Field(pattern=EXACT)
    sensitivity: int = Field(ge=1, description="L1 change by one unit.")
    delta: str = Field(pattern=EXACT)


class Accounting(Part):
    """How the budget adds up."""

    composition: str
    post_processing: str
    budget: list[BudgetLine]
    choices: list[NoisyChoice] = Field(
        default=[], description="Parameters chosen from data; their ε is part of the budget."
    )


class Implementation(Part):
    """The public choices, and the software that carried them out."""

    mechanisms: str
    pre_processing_eda_hyperparameter_tuning: str
    method: Literal["basic", "full", "calibrated"]
    universe_size: int = Field(ge=1)
    height: int = Field(ge=1)
    threshold: int = Field(ge=0)
    max_trajectories_per_unit: int = Field(ge=1)
    max_nodes: int = Field(ge=1)
    time_grid: TimeGridRecord | None = Field(
        default=None, description="Null: trajectories have no times."
    )
    taxonomy: TaxonomyRecord | None = Field(
        default=None, description="Null: every node is a location, none a zone."
    )
    universe_origin: str = Field(
        default=LISTED, max_length=MAX_LABEL_LENGTH, description="How the universe was made."
    )
    trajectory_rules: list[Annotated[str, Field(max_length=MAX_LABEL_LENGTH)]] = Field(
        default=[],
        max_length=10,
        description="The public rules by which rows became trajectories; none: as the data has it.",
    )
    software: str
    software_version: str


class LedgerRecord(Part):
    """The charge that paid for a release; never where the ledger is."""

    dataset: str = Field(pattern=_NAME, description="The dataset's name in the ledger.")
    population: str | None = Field(
        pattern=_NAME, description="The declared population that was looked at; null: everybody."
    )
    entry: int = Field(ge=1, description="The number of the entry that charged it.")
    entry_sha256: str = Field(pattern=r"^[0-9a-f]{64}$", description="The hash of that entry.")


class Certificate(Part):
    """The certificate of one release."""

    certificate_version: Literal["1"] = "1"
    status: Status = Field(
        description="NOT PRIVATE if the noise came from an injected, predictable generator."
    )
    dp_flavor: DpFlavor
    privacy_loss: PrivacyLoss
    model: Model
    accounting: Accounting
    implementation: Implementation
    ledger: LedgerRecord | None = Field(
        default=None, description="The charge that paid for it; null: none was recorded."
    )
    files: dict[str, FileRecord] = Field(description="The bundle's own files.")

    def _repr_html_(self) -> str:
        return certificate_card(self)

    def adds_up(self) -> bool:
        """Whether the shares sum to ε exactly, and the paper's methods have one for each level.

        With a taxonomy two: of its zones and of its locations.
        """
        shares = [Fraction(line.epsilon) for line in self.accounting.budget]
        epsilon = Fraction(self.privacy_loss.privacy_parameters.epsilon)
        bound = Fraction(self.dp_flavor.bound_on_output_distance)
        choices = self.implementation
        levels = [line for line in self.accounting.budget if LEVEL.search(line.measurement)]
        return sum(shares) == epsilon == bound and (
            choices.method == "calibrated"
            or len(levels) == choices.height * (1 if choices.taxonomy is None else 2)
        )

    @classmethod
    def of(
        cls,
        parameters: Parameters,
        *,
        is_private: bool,
        ledger: LedgerRecord | None = None,
        universe_origin: str = LISTED,
        trajectory_rules: Sequence[str] = (),
    ) -> "Certificate":
        """The certificate that these public parameters deserve, with no files yet."""
        epsilon = str(parameters.budget)
        return cls(
            status=PRIVATE if is_private else NOT_PRIVATE,
            dp_flavor=DpFlavor(
                name="Approximate DP" if parameters.delta else "Pure DP",
                input_metric="add or remove one unit with all its trajectories",
                bound_on_input_distance=1,
                output_measure=(
                    "max divergence, except with probability δ"
                    if parameters.delta
                    else "max divergence"
                ),
                bound_on_output_distance=epsilon,
                data_domain=_data_domain(parameters),
                unprotected_quantities=_unprotected(parameters),
            ),
            privacy_loss=PrivacyLoss(
                privacy_unit="one unit (a person, a card: one value of the unit column)",
                privacy_unit_description=_unit_description(parameters),
                privacy_parameters=PrivacyParameters(epsilon=epsilon, delta=str(parameters.delta)),
            ),
            model=Model(
                model_name="Central", is_many_release=False, is_interactive=False, is_dynamic=False
            ),
            accounting=Accounting(
                composition="sequential over the measurements, parallel within each",
                post_processing=_POST_PROCESSING[parameters.method],
                budget=_budget_lines(parameters),
                choices=[
                    NoisyChoice(
                        measurement=one.name,
                        rule=one.rule,
                        epsilon=str(one.budget),
                        sensitivity=one.sensitivity,
                        delta=str(one.delta),
                    )
                    for one in parameters.preparations
                ],
            ),
            implementation=_implementation(parameters).model_copy(
                update={
                    "universe_origin": universe_origin,
                    "trajectory_rules": list(trajectory_rules),
                }
            ),
            ledger=ledger,
            files={},
        )


def _unit_description(parameters: Parameters) -> str:
    most = parameters.max_trajectories_per_unit
    share = parameters.budget.epsilon / most
    each = f" One of these trajectories by itself has ε/{most} = {share}."
    return (
        f"At most {most} trajectories of a unit are used; neighbouring databases differ in one "
        f"unit and all its trajectories.{each if most > 1 else ''}"
    )


def _data_domain(parameters: Parameters) -> str:
    if parameters.time_grid is None:
        return "trajectories: ordered lists of locations of a public universe"
    return (
        "trajectories: lists of pairs (a location of a public universe, a slot of a public time "
        "grid) whose slots never decrease"
    )


def _unprotected(parameters: Parameters) -> list[str]:
    public = "every parameter on this certificate: they are public"
    return [
        # A discovered universe is protected, by (ε, δ).
        public if parameters.delta else f"the universe of locations and {public}",
        "facts about groups of people larger than one unit (protection weakens with the size)",
        "facts that hold for the population whether or not one unit is in the data",
        "other releases about the same units: their ε adds to this one",
        "how long the computation took, and that it took place",
    ]


_POST_PROCESSING = {
    "basic": "thresholding, repair and rounding of the noisy tree",
    "full": "thresholding, constrained inference, repair and rounding of the noisy tree",
    "calibrated": (
        "estimation of a movement model from the noisy tables, synthesis of trajectories, "
        "calibration of their weights to the tables, rounding"
    ),
}


def _budget_lines(parameters: Parameters) -> list[BudgetLine]:
    if parameters.method == "calibrated":
        measurements = MeasurementPlan.of(parameters).lines()
    else:
        measurements = [
            Measurement(
                f"{what}level {level} of the prefix tree",
                budget,
                parameters.max_trajectories_per_unit,
            )
            for level in range(1, parameters.height + 1)
            for what, budget in _parts_of_a_level(parameters)
        ]
    lines: list[Measurement | Preparation] = [*parameters.preparations, *measurements]
    return [
        BudgetLine(
            measurement=f"noisy counts: {line.name}",
            epsilon=str(line.budget),
            sensitivity=line.sensitivity,
        )
        for line in lines
    ]


def _parts_of_a_level(parameters: Parameters) -> list[tuple[str, Fraction]]:
    both, budget = parameters.sub_levels, parameters.level_budget
    if both is None:
        return [("", budget)]
    zones = budget * both.zone_share
    return [("zones of ", zones), ("locations of ", budget - zones)]


def _implementation(parameters: Parameters) -> Implementation:
    return Implementation(
        mechanisms=(
            "two-sided geometric noise (discrete Laplace) on the count of every cell of a table "
            "(every potential node of a prefix tree, visited or not), exact integer sampling from "
            "the operating system's secure generator; counts below a threshold are dropped"
        ),
        pre_processing_eda_hyperparameter_tuning=_tuning(parameters),
        method=parameters.method,
        universe_size=parameters.universe_size,
        height=parameters.height,
        threshold=parameters.threshold,
        max_trajectories_per_unit=parameters.max_trajectories_per_unit,
        max_nodes=parameters.max_nodes,
        time_grid=TimeGridRecord.of(parameters.time_grid) if parameters.time_grid else None,
        taxonomy=_taxonomy_record(parameters),
        software="pathveil",
        software_version=version("pathveil"),
    )


def _taxonomy_record(parameters: Parameters) -> TaxonomyRecord | None:
    taxonomy, both = parameters.taxonomy, parameters.sub_levels
    return None if taxonomy is None or both is None else TaxonomyRecord.of(taxonomy, both)


def _tuning(parameters: Parameters) -> str:
    """What was chosen from data, and paid for; the rest is public."""
    chosen = [f"with a share of ε of its own: {one.rule}" for one in parameters.preparations]
    return (
        f"{'; '.join(chosen) or 'none on the data'}; all other parameters are public choices; "
        "visits outside the universe are dropped, and what one trajectory adds to a table is capped"
    )
