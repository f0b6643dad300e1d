"""An entry for the OpenDP deployments registry, written from a certificate, as YAML."""

import json
import math
import re
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

from pathveil.core.methods import method_words
from pathveil.errors import ParameterError, ReleaseError
from pathveil.promise import plain_words as words
from pathveil.promise.accounting import BudgetLine
from pathveil.promise.certificate import PRIVATE, Certificate

# YAML, as much of it as a registry entry needs.
#
# Text on one line is written as JSON writes it, which YAML reads the same; text on several lines
# as a literal block, which people can read.


def yaml_text(value: object, indent: str = "") -> str:
    """A mapping or a list, in block form."""
    if isinstance(value, dict):
        return "".join(f"{indent}{key}:{_nested(item, indent)}" for key, item in value.items())
    if isinstance(value, list):
        return "".join(f"{indent}-{_nested(item, indent)}" for item in value)
    raise TypeError(f"YAML text of a {type(value).__name__} stands in a mapping or a list.")


def _nested(value: object, indent: str) -> str:
    deeper = f"{indent}  "
    if isinstance(value, dict | list):
        return f"\n{yaml_text(value, deeper)}"
    if isinstance(value, str) and "\n" in value:
        return " |-\n" + "".join(f"{deeper}{line}\n" for line in value.split("\n"))
    return f" {json.dumps(value, ensure_ascii=False)}\n"


# An entry for the OpenDP deployments registry, written from a certificate.
#
# The registry is a public collection of releases made under differential privacy; an entry is one
# YAML file. Its layout is in docs/registry-entry.schema.json; docs/certificate.md says with which
# version of the registry's own schema that was compared. What the software knows is filled in
# from the certificate; what only the publisher knows is asked for. How many people are in the data
# is left out: the exact number is private.


CURATOR_TYPES = ("Government", "Industry", "Nonprofit")
SECTORS = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")
LONGEST = 2000


@dataclass(frozen=True, slots=True)
class Publisher:
    """What only the publisher knows; all of it becomes public.

    Attributes:
        product: the name of the data product.
        curator: who publishes it.
        curator_type: one of `CURATOR_TYPES`.
        intended_use: what it is for.
        region: what region it is about.
        published: the date of publication, YYYY-MM-DD.
        author: who fills in the entry.
        sector: one of `SECTORS`, or None.
        url: where the release or its description is, or None.
    """

    product: str
    curator: str
    curator_type: str
    intended_use: str
    region: str
    published: str
    author: str
    sector: str | None = None
    url: str | None = None

    def __post_init__(self) -> None:
        texts = (self.product, self.curator, self.intended_use, self.region, self.author)
        for text in (*texts, self.url or "-"):
            if not text.strip() or not text.isprintable() or len(text) > LONGEST:
                raise ParameterError("Every text of the entry must be one line that is not empty.")
        if self.curator_type not in CURATOR_TYPES:
            raise ParameterError(f"The curator's type is one of {', '.join(CURATOR_TYPES)}.")
        if self.sector is not None and self.sector not in SECTORS:
            raise ParameterError(f"The sector is one of {', '.join(SECTORS)}, or left away.")
        try:
            exact = date.fromisoformat(self.published).isoformat() == self.published
        except ValueError:
            exact = False
        if not exact:
            raise ParameterError("The date of publication must be written as YYYY-MM-DD.")

    @property
    def slug(self) -> str:
        """The end of the entry's address: letters, digits and hyphens."""
        text = f"{self.product} {self.curator} {self.published[:4]}".lower()
        return re.sub(r"[^a-z0-9]+", "-", text).strip("-")


def registry_entry(
    certificate: Certificate, publisher: Publisher, since: str = ""
) -> dict[str, object]:
    """The entry, a draft of the registry's most complete tier.

    Args:
        certificate: of the release.
        publisher: what only the publisher knows.
        since: what the ledger records of it since it was published, in a sentence: that it was
            withdrawn, or replaced. The registry's own status is about the entry.

    Raises:
        ReleaseError: if the release is NOT PRIVATE.
    """
    if certificate.status != PRIVATE:
        raise ReleaseError("This release is NOT PRIVATE and for tests only; it has no entry.")
    return {
        "url_slug": publisher.slug,
        "deployment": {
            "basic": _basic(publisher),
            "dp_variant": {
                "variant_name": certificate.dp_flavor.name,
                "data_domain": certificate.dp_flavor.data_domain,
                "unprotected_quantities": _list(certificate.dp_flavor.unprotected_quantities),
            },
            "privacy_loss": _privacy_loss(certificate),
            "deployment_model": _deployment_model(certificate, since),
            "implementation": _implementation(certificate),
            "administrative": _administrative(publisher),
        },
    }


def _basic(publisher: Publisher) -> dict[str, object]:
    entry: dict[str, object] = {
        "name": publisher.product,
        "data_curators": [
            {
                "data_curator_name": publisher.curator,
                "data_curator_type": publisher.curator_type,
            }
        ],
        "description": (
            "Trajectories (ordered lists of locations) that were generated from noisy counts, with "
            "the noisy prefix tree, the public list of locations and a privacy certificate."
        ),
        "intended_use": publisher.intended_use,
        "data_product_type": "Synthetic data",
        "data_product_region": publisher.region,
        "publication_date": publisher.published,
    }
    return entry | ({"data_product_sector": publisher.sector} if publisher.sector else {})


def _privacy_loss(certificate: Certificate) -> dict[str, object]:
    parameters = certificate.privacy_loss.privacy_parameters
    exact, delta = Fraction(parameters.epsilon), Fraction(parameters.delta)
    losses = {"epsilon": _not_less(exact)} | ({"delta": _not_less(delta)} if delta else {})
    if certificate.is_in_rho:  # else it is a part of the loss only, and stands in the details
        losses["rho"] = _not_less(certificate.rho)
    return {
        "privacy_unit": certificate.privacy_loss.privacy_unit,
        "privacy_unit_details": (
            f"{certificate.privacy_loss.privacy_unit_description} The neighbour relation: "
            f"{certificate.dp_flavor.input_metric}."
        ),
        "privacy_parameters": losses,
        "privacy_parameters_details": (
            f"Exactly: epsilon {exact}, delta {delta}"
            f"{f', rho {parameters.rho}, of which they follow' if parameters.rho else ''}."
        ),
    }


def _not_less(exact: Fraction) -> int | float:
    """The registry wants a number: ε itself if whole, else the nearest float that is not less."""
    if exact.denominator == 1:
        return exact.numerator
    near = float(exact)
    return near if Fraction(near) >= exact else math.nextafter(near, math.inf)


def _deployment_model(certificate: Certificate, since: str) -> dict[str, object]:
    model, ledger = certificate.model, certificate.ledger
    charged = (
        f"Its epsilon was charged to the ledger of the dataset {ledger.dataset!r}."
        if ledger
        else "The certificate names no ledger of what was spent on the same people."
    )
    return {
        "model_name": model.model_name,
        "trust_assumptions": words.TRUST[0],
        "actors": _list(
            [
                "the publisher, who holds the raw data and is trusted with it",
                "everybody who sees the release: not trusted, with any knowledge and any computer",
            ]
        ),
        "release_type": "Many releases" if model.is_many_release else "One release",
        "release_type_details": " ".join(filter(None, (charged, _series(certificate), since))),
        "data_source_type": "Dynamic" if model.is_dynamic else "Static",
        "access_type": "Interactive" if model.is_interactive else "Non-interactive",
        "access_type_details": words.ACCESS,
    }


def _series(certificate: Certificate) -> str:
    """Where it stands in a programme of releases, if it does."""
    series = certificate.ledger.series if certificate.ledger else None
    if series is None:
        return ""
    return (
        f"It is release {series.release} ({series.period}) of the series {series.series!r}, whose "
        f"releases together have epsilon {series.epsilon} and delta {series.delta}; the budget "
        "was fixed and charged before the first of them, and no release goes beyond it."
    )


def _implementation(certificate: Certificate) -> dict[str, object]:
    choices, accounting = certificate.implementation, certificate.accounting
    shares = [
        f"{line.measurement}: {_share(line)}, sensitivity {line.sensitivity}"
        for line in accounting.budget
    ]
    return {
        "preprocessing_and_hyperparameter_tuning": choices.pre_processing_eda_hyperparameter_tuning,
        "mechanisms": _list(
            [
                choices.mechanisms,
                f"software: {choices.software} {choices.software_version}, method {choices.method}",
                (
                    "floating point: no float takes part in a privacy decision; noise is sampled "
                    "exactly from integers and exact fractions"
                ),
                "timing: not interactive; running time is not protected",
            ]
        ),
        "composition": f"{accounting.composition}\n{_list(shares)}",
        "post_processing": accounting.post_processing,
        "justification": (
            f"Universe of {choices.universe_size} locations, method "
            f"{method_words(choices.method, choices.height, choices.purpose)}, threshold "
            f"{choices.threshold}, at most {choices.max_trajectories_per_unit} trajectories per "
            f"unit. {_chosen(certificate)} How the publisher came to choose the rest, the "
            "software can't know. The software is audited empirically (pathveil audit)."
        ),
        "utility": words.ACCURACY,
    }


def _share(line: BudgetLine) -> str:
    return f"rho {line.rho}" if line.rho else f"epsilon {line.epsilon}"


def _chosen(certificate: Certificate) -> str:
    """What the software took from the data."""
    accounting = certificate.accounting
    rules = [choice.rule for choice in accounting.choices]
    rules += [accounting.plan.rule] if accounting.plan else []
    if not rules:
        return words.NONE_FROM_DATA
    return f"Chosen from the data by noisy counts, within epsilon: {'; '.join(rules)}."


def _administrative(publisher: Publisher) -> dict[str, object]:
    entry: dict[str, object] = {
        "status": "Draft",
        "registry_authors": [publisher.author],
        "tier": 3,
    }
    if publisher.url:
        entry["evidence_sources"] = {
            "release": {
                "evidence_source_type": "Authorized organizational attestation",
                "misc": {"title": publisher.product, "url": publisher.url},
            }
        }
    return entry


def _list(lines: list[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
