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
from typing import Annotated, Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from pathveil.core.about import About
from pathveil.core.acceptance import Acceptance
from pathveil.core.html_card import html_card
from pathveil.core.methods import EVERYTHING, Method, MethodName, Purpose, method_words
from pathveil.core.parameters import Parameters
from pathveil.core.zcdp import Concentrated
from pathveil.promise.accounting import (
    EXACT,
    POSITIVE,
    Accounting,
    FileRecord,
    InEpsilonOrRho,
    Part,
    TaxonomyRecord,
    TimeGridRecord,
)
from pathveil.promise.over_time import Year
from pathveil.promise.stability import (
    Promise,
    Told,
    in_terms_of,
    trip_promises,
    unit_promise,
)
from pathveil.times.protected_units import PERSON, UNITS, Protect, protected_by
from pathveil.times.trip_rules import Keep, kept_by
from pathveil.universe.universe import LISTED, MAX_LABEL_LENGTH

CERTIFICATE_FILE = "privacy-certificate.json"
SOFTWARE = "pathveil"
Status = Literal["PRIVATE", "NOT PRIVATE"]
PRIVATE: Status = "PRIVATE"
NOT_PRIVATE: Status = "NOT PRIVATE"
LEVEL = re.compile(r"\blevel \d+ of the prefix tree$")
_NEIGHBOURS = "add or remove "
_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"


class PrivacyParameters(InEpsilonOrRho):
    """The parameters of the guarantee."""

    epsilon: str = Field(pattern=POSITIVE, description="Total ε, an exact number or fraction.")
    delta: str = Field(
        default="0",
        pattern=EXACT,
        description="δ: 0 unless the universe was discovered or the budget is in ρ.",
    )
    rho: str | None = Field(
        default=None,
        pattern=POSITIVE,
        description="ρ of zero-concentrated differential privacy of all measurements in ρ; with "
        "those in ε it implies ε at δ; absent: all are in ε.",
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


class Implementation(Part):
    """The public choices, and the software that carried them out."""

    mechanisms: str
    pre_processing_eda_hyperparameter_tuning: str
    method: MethodName
    universe_size: int = Field(ge=1)
    height: int = Field(
        ge=1, description="Of the prefix tree; for calibrated the largest cap that was allowed."
    )
    purpose: Purpose = Field(
        default=EVERYTHING, description="What the tables were planned for; of calibrated."
    )
    threshold: int = Field(ge=0)
    max_trajectories_per_unit: int = Field(ge=1)
    max_nodes: int = Field(ge=1)
    time_grid: TimeGridRecord | None = Field(
        default=None, description="Null: trajectories have no times."
    )
    taxonomy: TaxonomyRecord | None = Field(default=None, description="Null: no zones were named.")
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


class SeriesRecord(Part):
    """The series that a release belongs to, and what all of its releases together may cost."""

    series: str = Field(pattern=_NAME, description="The series' name in the ledger.")
    release: int = Field(ge=1, description="Its number in the series: the first is 1.")
    period: str = Field(max_length=21, description="When its data is from.")
    epsilon: str = Field(pattern=POSITIVE, description="ε of all releases of the series together.")
    delta: str = Field(pattern=EXACT, description="δ of all of them together.")
    rho: str | None = Field(
        pattern=POSITIVE, description="The ρ that they share; null: they share that ε."
    )
    previous: str | None = Field(
        pattern=r"^[0-9a-f]{64}$",
        description="The SHA-256 of the certificate of the earlier release that it starts from.",
    )


class LedgerRecord(Part):
    """The charge that paid for a release; never where the ledger is."""

    dataset: str = Field(pattern=_NAME, description="The dataset's name in the ledger.")
    population: str | None = Field(
        pattern=_NAME, description="The declared population that was looked at; null: everybody."
    )
    entry: int = Field(ge=1, description="The number of the entry that charged it.")
    entry_sha256: str = Field(pattern=r"^[0-9a-f]{64}$", description="The hash of that entry.")
    series: SeriesRecord | None = Field(
        default=None, description="The series that it is a release of; absent: none."
    )

    @model_serializer(mode="wrap")
    def _without_no_series(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        values: dict[str, Any] = handler(self)
        if self.series is None:
            values.pop("series")
        return values


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
    about: About | None = Field(
        default=None, description="What the publisher says of it; null: nothing was said."
    )
    acceptance: Acceptance | None = Field(
        default=None,
        description="The rules that the publisher fixed beforehand, and that it keeps; absent: "
        "none.",
    )
    files: dict[str, FileRecord] = Field(description="The bundle's own files.")

    @model_serializer(mode="wrap")
    def _without_no_rules(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        values: dict[str, Any] = handler(self)
        if self.acceptance is None:
            values.pop("acceptance")
        return values

    def _repr_html_(self) -> str:
        return _card(self)

    def adds_up(self) -> bool:
        """Whether the shares sum to ε exactly, and the paper's methods have one for each level.

        With a taxonomy two: of its zones and of its locations.
        """
        given, lines = self.privacy_loss.privacy_parameters, self.accounting.budget
        if any((line.epsilon is None) == (line.rho is None) for line in lines):
            return False
        pure = sum((Fraction(line.epsilon) for line in lines if line.epsilon), Fraction())
        rho = sum((Fraction(line.rho) for line in lines if line.rho), Fraction())
        epsilon, choices = Fraction(given.epsilon), self.implementation
        if rho:
            is_kept = Concentrated(rho, self.gaussian_delta).keeps(epsilon - pure)
        else:
            is_kept = pure == epsilon
        bound = Fraction(self.dp_flavor.bound_on_output_distance)
        levels = [line for line in lines if LEVEL.search(line.measurement)]
        return (is_kept and rho == Fraction(given.rho or 0) and bound == epsilon) and (
            Method.named(choices.method).has_tables
            or len(levels) == choices.height * (1 if choices.taxonomy is None else 2)
        )

    @property
    def is_in_rho(self) -> bool:
        """Whether all noise is Gaussian."""
        return all(line.rho is not None for line in self.accounting.budget)

    @property
    def rho(self) -> Fraction:
        """ρ of all measurements with Gaussian noise; 0 if there is none."""
        return Fraction(self.privacy_loss.privacy_parameters.rho or 0)

    @property
    def gaussian_delta(self) -> Fraction:
        """The δ at which ρ is, or could have been, told: all but what a discovery has."""
        discovered = sum((Fraction(choice.delta) for choice in self.accounting.choices), Fraction())
        return Fraction(self.privacy_loss.privacy_parameters.delta) - discovered

    @property
    def expansion(self) -> Fraction | None:
        """How many trips there are for each that is used, by noisy counts; None: not known."""
        told = (choice.expansion for choice in self.accounting.choices)
        return next((Fraction(text) for text in told if text), None)

    @property
    def protect(self) -> Protect:
        """Who is protected as one."""
        return protected_by(self.implementation.trajectory_rules)

    def promise(self) -> Promise:
        """The promise to a unit that the accounting adds up to."""
        difference = self.dp_flavor.input_metric.removeprefix(_NEIGHBOURS)
        epsilon = Fraction(self.privacy_loss.privacy_parameters.epsilon)
        most = self.implementation.max_trajectories_per_unit
        told = Told(epsilon, self.gaussian_delta, most) if self.gaussian_delta else None
        return self.accounting.promise(difference, told)

    @classmethod
    def of(
        cls,
        parameters: Parameters,
        *,
        is_private: bool,
        ledger: LedgerRecord | None = None,
        universe_origin: str = LISTED,
        trajectory_rules: Sequence[str] = (),
        about: About | None = None,
        acceptance: Acceptance | None = None,
    ) -> "Certificate":
        """The certificate that these public parameters deserve, with no files yet.

        What it says about privacy is written from the maps of `promise.stability`.
        """
        promise, protect = unit_promise(parameters), protected_by(trajectory_rules)
        starts_from = ledger is not None and ledger.series is not None and ledger.series.previous
        epsilon, delta = str(promise.epsilon), str(promise.delta)
        return cls(
            status=PRIVATE if is_private else NOT_PRIVATE,
            dp_flavor=DpFlavor(
                name="Approximate DP" if promise.delta else "Pure DP",
                input_metric=f"{_NEIGHBOURS}{promise.difference}",
                bound_on_input_distance=1,
                output_measure=_output_measure(promise),
                bound_on_output_distance=epsilon,
                data_domain=_data_domain(parameters),
                unprotected_quantities=_unprotected(promise),
            ),
            privacy_loss=PrivacyLoss(
                privacy_unit=UNITS[protect].on_certificate,
                privacy_unit_description=unit_description(
                    promise, kept_by(trajectory_rules), protect
                ),
                privacy_parameters=PrivacyParameters(
                    epsilon=epsilon,
                    delta=delta,
                    rho=str(promise.rho(1)) if promise.rho(1) else None,
                ),
            ),
            model=Model(
                model_name="Central",
                is_many_release=ledger is not None and ledger.series is not None,
                is_interactive=False,
                is_dynamic=False,
            ),
            accounting=Accounting.of(promise, parameters, leans=bool(starts_from)),
            implementation=_implementation(parameters, promise).model_copy(
                update={
                    "universe_origin": universe_origin,
                    "trajectory_rules": list(trajectory_rules),
                }
            ),
            ledger=ledger,
            about=about or None,
            acceptance=acceptance or None,
            files={},
        )


def unit_description(unit: Promise, keep: Keep | None, protect: Protect = PERSON) -> str:
    """How much of a unit is used, what neighbours are, what one trajectory or a year has."""
    used = (
        f"At most {unit.distance} trajectories of a unit are used; neighbouring databases differ "
        f"in {unit.difference}. {Year.of(unit, protect).sentence(unit)}"
    )
    if unit.distance == 1:
        return used
    trips = trip_promises(unit, keep)
    protections = [f"{trip.difference} has {in_terms_of(unit, trip.epsilon)}" for trip in trips]
    if len(trips) == 1:
        protections.append("for one of a unit with more nothing is claimed")
    return f"{used} By itself, there or not there, {', and '.join(protections)}."


def _output_measure(promise: Promise) -> str:
    if promise.rho(1):
        return (
            "Rényi divergence of every order α, at most E + ρ·α, E being the ε of the measurements "
            "in ε; it implies that every event is at most e^ε times as probable, plus δ"
        )
    return "max divergence, except with probability δ" if promise.delta else "max divergence"


def _data_domain(parameters: Parameters) -> str:
    universe = (
        "a universe that was discovered in the data"
        if parameters.is_discovered
        else "a public universe"
    )
    if parameters.time_grid is None:
        return f"trajectories: ordered lists of locations of {universe}"
    return (
        f"trajectories: lists of pairs (a location of {universe}, a slot of a public time "
        "grid) whose slots never decrease"
    )


def _unprotected(promise: Promise) -> list[str]:
    public = "every parameter on this certificate: they are public"
    two = in_terms_of(promise, promise.map(2))
    not_one = ", not ε" if promise.told is None else ""
    return [
        # A discovered universe is protected, by (ε, δ).
        public if promise.is_discovered else f"the universe of locations and {public}",
        f"facts about groups larger than one unit (two units have {two}, and so on)",
        f"what exactly a unit did, if it is known to be in the data: that has {two}{not_one}",
        "facts that hold for the population whether or not one unit is in the data",
        "other releases about the same units: their ε adds to this one",
        "how long the computation took, and that it took place",
    ]


def _noises(promise: Promise) -> str:
    noises = {
        "two-sided geometric noise (discrete Laplace)": promise.pure(1),
        "discrete Gaussian noise": promise.rho(1),
    }
    return " or ".join(noise for noise, spent in noises.items() if spent)


def _implementation(parameters: Parameters, promise: Promise) -> Implementation:
    return Implementation(
        mechanisms=(
            f"{_noises(promise)} on the count of every cell of a table "
            "(every potential node of a prefix tree, visited or not), exact integer sampling from "
            "the operating system's secure generator; counts below a threshold are dropped"
        ),
        pre_processing_eda_hyperparameter_tuning=_tuning(parameters),
        method=parameters.method,
        universe_size=parameters.universe_size,
        height=parameters.height,
        purpose=parameters.purpose,
        threshold=parameters.threshold,
        max_trajectories_per_unit=parameters.max_trajectories_per_unit,
        max_nodes=parameters.max_nodes,
        time_grid=TimeGridRecord.of(parameters.time_grid) if parameters.time_grid else None,
        taxonomy=_taxonomy_record(parameters),
        software=SOFTWARE,
        software_version=version(SOFTWARE),
    )


def _taxonomy_record(parameters: Parameters) -> TaxonomyRecord | None:
    taxonomy = parameters.taxonomy
    return None if taxonomy is None else TaxonomyRecord.of(taxonomy, parameters.sub_levels)


def _tuning(parameters: Parameters) -> str:
    """What the software chose from data, and paid for; and what it can't know."""
    chosen = [
        f"with a share of {'ρ' if one.in_rho else 'ε'} of its own: {one.rule}"
        for one in parameters.preparations
    ]
    if parameters.planned is not None and parameters.planned.reasons:
        chosen.append("from noisy tables: the caps and shares of the other tables")
    return (
        f"by the software: {'; '.join(chosen) or 'none on the data'}; all other parameters were "
        "given by the publisher, and the software can't know whether the publisher had looked at "
        "the data; visits outside the universe are dropped, and what one trajectory adds to a "
        "table is capped"
    )


def _card(certificate: Certificate) -> str:
    """A certificate: the promise in figures."""
    loss, choices = certificate.privacy_loss, certificate.implementation
    is_private = certificate.status == "PRIVATE"
    return html_card(
        "Privacy certificate",
        {
            "status": certificate.status,
            **dict(certificate.about or ()),
            "definition": certificate.dp_flavor.name,
            "ε": loss.privacy_parameters.epsilon,
            "δ": loss.privacy_parameters.delta,
            **({"ρ": loss.privacy_parameters.rho} if loss.privacy_parameters.rho else {}),
            "unit": loss.privacy_unit,
            "neighbours": certificate.dp_flavor.input_metric,
            "method": method_words(choices.method, choices.height, choices.purpose),
            "software": f"{choices.software} {choices.software_version}",
        },
        alarm="" if is_private else "NOT PRIVATE: for tests only; never publish it.",
    )
