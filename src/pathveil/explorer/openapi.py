"""The API's description in OpenAPI 3.1, made from the list of routes."""

from importlib.metadata import version
from typing import Any

from pydantic.json_schema import models_json_schema

from pathveil.explorer.answers import Answer, Error, Waiting
from pathveil.explorer.asking import Parameter
from pathveil.explorer.routes import ROUTES, Route

DESCRIPTION = "/api/openapi.json"
_REFERENCE = "#/components/schemas/{model}"


def describe() -> dict[str, Any]:
    """The document. It depends on the software only, not on any release."""
    records: set[type[Answer]] = {Error, Waiting, *(route.answers for route in ROUTES)}
    ordered = sorted(records, key=_name)
    _, schemas = models_json_schema(
        [(record, "serialization") for record in ordered], ref_template=_REFERENCE
    )
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "pathveil explorer",
            "version": version("pathveil"),
            "description": "Questions to differentially private releases of trajectories. Asking "
            "costs no privacy budget: every answer derives from what was published. The server "
            "listens on this computer only.",
        },
        "paths": {
            **{f"/api{route.path}": {"get": _operation(route)} for route in ROUTES},
            DESCRIPTION: {"get": _of_itself()},
        },
        "components": {"schemas": schemas["$defs"]},
    }


def _operation(route: Route) -> dict[str, Any]:
    content = {"application/json": {"schema": _schema(route.answers.__name__)}}
    if route.has_csv:
        content["text/csv"] = {"schema": {"type": "string"}}
    responses = {
        "200": {"description": route.says, "content": content},
        "400": _failure("The question can't be answered as it is."),
        "404": _failure("There is no such release."),
    }
    if route.may_wait:
        responses["202"] = {
            "description": "Not yet: ask again.",
            "content": {"application/json": {"schema": _schema(Waiting.__name__)}},
        }
    return {
        "operationId": route.path.strip("/").replace("/", "_"),
        "summary": route.says,
        "parameters": [_parameter(parameter) for parameter in route.every_parameter()],
        "responses": responses,
    }


def _parameter(parameter: Parameter) -> dict[str, Any]:
    schema = dict(parameter.schema)
    if parameter.default is not None:
        schema["default"] = parameter.default
    if parameter.many:
        schema = {"type": "array", "items": schema}
    return {
        "name": parameter.name,
        "in": "query",
        "required": False,
        "description": parameter.says,
        "schema": schema,
    }


def _failure(says: str) -> dict[str, Any]:
    content = {"application/json": {"schema": _schema(Error.__name__)}}
    return {"description": says, "content": content}


def _of_itself() -> dict[str, Any]:
    says = "This description."
    return {
        "operationId": "openapi",
        "summary": says,
        "responses": {
            "200": {
                "description": says,
                "content": {"application/json": {"schema": {"type": "object"}}},
            }
        },
    }


def _name(record: type[Answer]) -> str:
    return record.__name__


def _schema(name: str) -> dict[str, str]:
    return {"$ref": _REFERENCE.format(model=name)}
