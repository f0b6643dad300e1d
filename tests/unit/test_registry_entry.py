"""An entry for the OpenDP deployments registry has the registry's fields, and reads as YAML."""

import json
from fractions import Fraction
from pathlib import Path

import jsonschema
import pytest

import pathveil as pv
from pathveil.core.budget import Budget
from pathveil.promise.certificate import Certificate
from pathveil.promise.registry_entry import Publisher, registry_entry, yaml_text

DOCS = Path(__file__).parents[2] / "docs"
SCHEMA = json.loads((DOCS / "registry-entry.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft7Validator(SCHEMA, format_checker=jsonschema.FormatChecker())
FACTS = {
    "product": "City taps: week 1",
    "curator": 'City «Transit» "&" Co',
    "curator_type": "Government",
    "intended_use": "Planning",
    "region": "Our city",
    "published": "2026-03-01",
    "author": "A. Curator",
}


def entry(publisher=None, *, is_private=True, **choices):
    choices = {"epsilon": "1", "height": 4, "universe_size": 30, "method": "full"} | choices
    certificate = Certificate.of(pv.Parameters.choose(**choices), is_private=is_private)
    return registry_entry(certificate, Publisher(**(FACTS | (publisher or {}))))


@pytest.mark.parametrize("method", ["basic", "full", "calibrated"])
@pytest.mark.parametrize("more", [{}, {"sector": "Government", "url": "taps.example/release"}])
def test_an_entry_validates_against_the_registrys_fields(method, more):
    VALIDATOR.validate(entry(more, method=method))


def test_the_schema_itself_is_one_and_can_refuse():
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    wrong = entry()
    wrong["deployment"]["dp_variant"]["surprise"] = "x"
    assert not VALIDATOR.is_valid(wrong)
    wrong = entry()
    wrong["deployment"]["basic"]["publication_date"] = "1/3/2026"
    assert not VALIDATOR.is_valid(wrong)
    wrong = entry()
    del wrong["deployment"]["administrative"]["tier"]
    assert not VALIDATOR.is_valid(wrong)


def test_every_field_of_the_most_complete_tier_is_filled_in():
    """But for how many people there are, which is private, and details with nothing to say."""
    left_out = {
        *("number_of_privacy_units", "model_name_details", "data_source_type_details"),
        "additional_information",
    }
    groups = SCHEMA["properties"]["deployment"]["properties"]
    found = entry({"sector": "Government", "url": "x"})["deployment"]
    for name, group in groups.items():
        assert set(group["properties"]) - set(found[name]) <= left_out


def test_a_budget_in_rho_is_told_in_all_three():
    budget = Budget.choose(None, rho="0.015", delta="1e-9")
    made = entry(epsilon=budget, rho="0.015", delta="1e-9", method="calibrated", height=None)
    VALIDATOR.validate(made)
    told = made["deployment"]["privacy_loss"]["privacy_parameters"]
    assert Fraction(told["rho"]) >= Fraction(15, 1000)
    assert Fraction(told["delta"]) >= Fraction(1, 10**9)
    assert made["deployment"]["dp_variant"]["variant_name"] == "Approximate DP"


@pytest.mark.parametrize("epsilon", ["1", "1/3", "0.1", "2/7", "0.7"])
def test_epsilon_is_never_understated(epsilon):
    loss = entry(epsilon=epsilon)["deployment"]["privacy_loss"]
    told = loss["privacy_parameters"]["epsilon"]
    assert Fraction(epsilon) <= Fraction(told) < Fraction(epsilon) + Fraction(1, 10**15)
    assert f"epsilon {Fraction(epsilon)}, delta 0." in loss["privacy_parameters_details"]


def test_an_exception_with_probability_delta_is_told():
    told = entry(universe_size=None, delta="1e-6")
    VALIDATOR.validate(told)
    assert told["deployment"]["dp_variant"]["variant_name"] == "Approximate DP"
    parameters = told["deployment"]["privacy_loss"]["privacy_parameters"]
    assert Fraction(parameters["delta"]) >= Fraction(1, 10**6)


def test_a_release_that_is_not_private_has_no_entry():
    with pytest.raises(pv.errors.ReleaseError, match="NOT PRIVATE"):
        entry(is_private=False)


@pytest.mark.parametrize(
    "wrong",
    [
        {"published": "01.03.2026"},
        {"published": "20260301"},
        {"curator_type": "Me"},
        {"sector": "Transport"},
        {"product": " "},
        {"author": "a\nb"},
        {"region": "x" * 2001},
    ],
)
def test_facts_that_the_registry_would_refuse_are_refused(wrong):
    with pytest.raises(pv.errors.ParameterError):
        entry(wrong)


def read_yaml(lines, depth=0):
    """The oracle: mappings, lists, JSON scalars and literal blocks, by indentation."""
    found = None
    while lines and len(lines[0]) - len(lines[0].lstrip(" ")) == depth:
        line = lines.pop(0)[depth:]
        key, _, value = ("-", "", line[1:]) if line.startswith("-") else line.partition(":")
        value = value.strip()
        if value == "|-":
            block = []
            while lines and lines[0].startswith(" " * (depth + 2)):
                block.append(lines.pop(0)[depth + 2 :])
            item = "\n".join(block)
        else:
            item = json.loads(value) if value else read_yaml(lines, depth + 2)
        found = ([] if key == "-" else {}) if found is None else found
        found.append(item) if key == "-" else found.__setitem__(key, item)
    return found


def test_the_yaml_says_the_same():
    whole = entry({"sector": "Government", "url": "taps.example/release"})
    assert read_yaml(yaml_text(whole).splitlines()) == whole


def test_a_bare_value_is_no_document():
    with pytest.raises(TypeError):
        yaml_text("text")
