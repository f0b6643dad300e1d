"""The certificate: a published schema, exact numbers, and nothing that depends on the data."""

import json
import re
from fractions import Fraction
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from pydantic import ValidationError

import pathveil as pv
from pathveil.promise.certificate import Certificate

DOCS = Path(__file__).parents[2] / "docs"
UNIVERSE = pv.Universe(["a", "b", "c"])


def certificate(**choices):
    choices = {"epsilon": "1/3", "height": 4, "universe_size": 3, "method": "full"} | choices
    return Certificate.of(pv.Parameters.choose(**choices), is_private=True)


def published_schema():
    return json.loads((DOCS / "privacy-certificate.schema.json").read_text(encoding="utf-8"))


def test_the_published_schema_is_the_one_that_the_code_uses():
    """If this fails, write ``Certificate.model_json_schema()`` there, indented by 2."""
    assert published_schema() == Certificate.model_json_schema()


@pytest.mark.parametrize("injected", [False, True])
def test_a_written_certificate_validates_against_the_published_schema(tmp_path, injected):
    release = pv.publish(
        pv.TrajectoryDatabase.from_sequences([["a", "b"]] * 100, UNIVERSE),
        epsilon="1/3",
        height=2,
        generator=np.random.default_rng(1) if injected else None,  # noqa: TID251
    )
    directory = release.write(tmp_path / "release", csv=True)
    written = json.loads((directory / "privacy-certificate.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(
        published_schema(), format_checker=jsonschema.FormatChecker()
    ).validate(written)
    assert written["files"].keys() == {p.name for p in directory.iterdir()} - {
        "privacy-certificate.json"
    }


def test_the_schema_refuses_a_float_epsilon_and_an_unknown_field():
    written = certificate().model_dump()
    validator = jsonschema.Draft202012Validator(published_schema())
    assert validator.is_valid(written)
    as_float = json.loads(json.dumps(written))
    as_float["privacy_loss"]["privacy_parameters"]["epsilon"] = 0.333
    assert not validator.is_valid(as_float)
    assert not validator.is_valid(written | {"seed": 1})


def field_paths(schema, definition, prefix=""):
    """Every field of the schema as a dotted path."""
    for name, field in definition.get("properties", {}).items():
        yield prefix + name
        inside = (field, field.get("items", {}), field.get("additionalProperties", {}))
        for inner in (*inside, *field.get("anyOf", [])):
            if isinstance(inner, dict) and "$ref" in inner:
                target = schema["$defs"][inner["$ref"].rsplit("/", 1)[1]]
                yield from field_paths(schema, target, f"{prefix}{name}.")


def test_every_field_is_explained_in_the_docs():
    schema = Certificate.model_json_schema()
    explained = set(re.findall(r"^\| `([a-z0-9_.]+)` \|", _page(), flags=re.MULTILINE))
    assert explained == set(field_paths(schema, schema))


def _page():
    return (DOCS / "certificate.md").read_text(encoding="utf-8")


def test_epsilon_is_exact_text_and_the_levels_add_up_to_it():
    paper = certificate()
    assert paper.privacy_loss.privacy_parameters.epsilon == "1/3"
    assert paper.dp_flavor.bound_on_output_distance == "1/3"
    assert [line.epsilon for line in paper.accounting.budget] == ["1/12"] * 4
    assert sum(Fraction(line.epsilon) for line in paper.accounting.budget) == Fraction(1, 3)
    assert paper.adds_up()


def test_it_names_the_unit_the_neighbour_relation_and_the_bound():
    paper = certificate(max_trajectories_per_unit=5)
    assert paper.dp_flavor.name == "Pure DP"
    assert paper.dp_flavor.input_metric == "add or remove one unit with all its trajectories"
    assert paper.dp_flavor.bound_on_input_distance == 1
    assert "At most 5 trajectories" in paper.privacy_loss.privacy_unit_description
    assert {line.sensitivity for line in paper.accounting.budget} == {5}
    assert paper.implementation.max_trajectories_per_unit == 5
    assert any("other releases" in line for line in paper.dp_flavor.unprotected_quantities)


@pytest.mark.parametrize("method", ["basic", "full"])
def test_neighbouring_databases_get_the_same_certificate(method):
    def of(rows):
        database = pv.TrajectoryDatabase.from_sequences(rows, UNIVERSE)
        return pv.publish(database, epsilon="1", height=3, method=method).certificate

    assert of([["a", "b"]] * 50) == of([["a", "b"]] * 49) == of([])


def test_a_budget_that_does_not_add_up_is_noticed():
    paper = certificate()
    for change in (
        {"implementation": paper.implementation.model_copy(update={"height": 5})},
        {"accounting": paper.accounting.model_copy(update={"budget": []})},
        {"dp_flavor": paper.dp_flavor.model_copy(update={"bound_on_output_distance": "1/4"})},
    ):
        assert not paper.model_copy(update=change).adds_up()


@pytest.mark.parametrize("epsilon", ["0.5", "1/0", "-1", "", "1e3", "9" * 101, "1/3\n"])
def test_a_certificate_with_an_inexact_epsilon_is_no_certificate(epsilon):
    written = certificate().model_dump()
    written["privacy_loss"]["privacy_parameters"]["epsilon"] = epsilon
    with pytest.raises(ValidationError):
        Certificate.model_validate(written)
