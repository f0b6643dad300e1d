"""The privacy certificate: what is promised, about whom, and what is not.

Field names follow the OpenDP deployments registry where it has one (``dp_flavor``,
``privacy_loss``, ``accounting``, ``implementation`` …), so an entry there can be written from it.
Nothing in it depends on the raw data: two neighbouring databases get the same certificate, but
for the hashes of the published files.
"""

from fractions import Fraction
from importlib.metadata import version
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from pathveil.model.measurement_plan import Measurement, MeasurementPlan
from pathveil.model.parameters import Parameters

CERTIFICATE_FILE = "privacy-certificate.json"
Status = Literal["PRIVATE", "NOT PRIVATE"]
PRIVATE: Status = "PRIVATE"
NOT_PRIVATE: Status = "NOT PRIVATE"
_EXACT = r"^[0-9]{1,100}(/[1-9][0-9]{0,99})?$"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PrivacyParameters(_Part):
    """The parameters of the guarantee."""

    epsilon: str = Field(pattern=_EXACT, description="Total ε, an exact number or fraction.")


class PrivacyLoss(_Part):
    """Who is protected, and how much."""

    privacy_unit: str
    privacy_unit_description: str
    privacy_parameters: PrivacyParameters


class DpFlavor(_Part):
    """The definition of differential privacy that is satisfied."""

    name: Literal["Pure DP"]
    input_metric: str = Field(description="The neighbour relation.")
    bound_on_input_distance: int = Field(description="Units that may be added or removed.")
    output_measure: str
    bound_on_output_distance: str = Field(pattern=_EXACT)
    data_domain: str
    unprotected_quantities: list[str] = Field(description="What is not protected.")


class Model(_Part):
    """The trust model."""

    model_name: Literal["Central"]
    is_many_release: bool
    is_interactive: bool
    is_dynamic: bool


class BudgetLine(_Part):
    """One measurement and its share of ε."""

    measurement: str
    epsilon: str = Field(pattern=_EXACT)
    sensitivity: int = Field(ge=1, description="L1 change by one unit.")


class Accounting(_Part):
    """How the budget adds up."""

    composition: str
    post_processing: str
    budget: list[BudgetLine]


class Implementation(_Part):
    """The public choices, and the software that carried them out."""

    mechanisms: str
    pre_processing_eda_hyperparameter_tuning: str
    method: Literal["basic", "full", "calibrated"]
    universe_size: int = Field(ge=1)
    height: int = Field(ge=1)
    threshold: int = Field(ge=0)
    max_trajectories_per_unit: int = Field(ge=1)
    max_nodes: int = Field(ge=1)
    software: str
    software_version: str


class FileRecord(_Part):
    """A file of the bundle."""

    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    bytes: int = Field(ge=0)


class Certificate(_Part):
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
    files: dict[str, FileRecord] = Field(description="The bundle's own files.")

    def adds_up(self) -> bool:
        """Whether the shares sum to ε exactly, and the paper's methods have one for each level."""
        shares = [Fraction(line.epsilon) for line in self.accounting.budget]
        epsilon = Fraction(self.privacy_loss.privacy_parameters.epsilon)
        bound = Fraction(self.dp_flavor.bound_on_output_distance)
        choices = self.implementation
        return sum(shares) == epsilon == bound and (
            choices.method == "calibrated" or len(shares) == choices.height
        )

    @classmethod
    def of(cls, parameters: Parameters, *, is_private: bool) -> "Certificate":
        """The certificate that these public parameters deserve, with no files yet."""
        epsilon = str(parameters.budget)
        return cls(
            status=PRIVATE if is_private else NOT_PRIVATE,
            dp_flavor=DpFlavor(
                name="Pure DP",
                input_metric="add or remove one unit with all its trajectories",
                bound_on_input_distance=1,
                output_measure="max divergence",
                bound_on_output_distance=epsilon,
                data_domain="trajectories: ordered lists of locations of a public universe",
                unprotected_quantities=_unprotected(),
            ),
            privacy_loss=PrivacyLoss(
                privacy_unit="one unit (a person, a card: one value of the unit column)",
                privacy_unit_description=(
                    f"At most {parameters.max_trajectories_per_unit} trajectories of a unit are "
                    "used; neighbouring databases differ in one unit and all its trajectories."
                ),
                privacy_parameters=PrivacyParameters(epsilon=epsilon),
            ),
            model=Model(
                model_name="Central", is_many_release=False, is_interactive=False, is_dynamic=False
            ),
            accounting=Accounting(
                composition="sequential over the measurements, parallel within each",
                post_processing=_POST_PROCESSING[parameters.method],
                budget=_budget_lines(parameters),
            ),
            implementation=_implementation(parameters),
            files={},
        )


def _unprotected() -> list[str]:
    return [
        "the universe of locations and every parameter on this certificate: they are public",
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
                f"level {level} of the prefix tree",
                parameters.level_budget,
                parameters.max_trajectories_per_unit,
            )
            for level in range(1, parameters.height + 1)
        ]
    return [
        BudgetLine(
            measurement=f"noisy counts: {line.name}",
            epsilon=str(line.budget),
            sensitivity=line.sensitivity,
        )
        for line in measurements
    ]


def _implementation(parameters: Parameters) -> Implementation:
    return Implementation(
        mechanisms=(
            "two-sided geometric noise (discrete Laplace) on the count of every cell of a table "
            "(every potential node of a prefix tree, visited or not), exact integer sampling from "
            "the operating system's secure generator; counts below a threshold are dropped"
        ),
        pre_processing_eda_hyperparameter_tuning=(
            "none on the data: universe, height, threshold and contribution bound are public "
            "choices; visits outside the universe are dropped, and what one trajectory adds to a "
            "table is capped"
        ),
        method=parameters.method,
        universe_size=parameters.universe_size,
        height=parameters.height,
        threshold=parameters.threshold,
        max_trajectories_per_unit=parameters.max_trajectories_per_unit,
        max_nodes=parameters.max_nodes,
        software="pathveil",
        software_version=version("pathveil"),
    )
