"""A Frictionless data package description, so that standard tools can load the bundle."""

from typing import TYPE_CHECKING, Any

from pathveil.model.certificate import CERTIFICATE_FILE
from pathveil.release import tables

if TYPE_CHECKING:
    from pathveil.release.release import Release

DATAPACKAGE = "datapackage.json"


def describe(release: "Release", *, csv: bool) -> dict[str, Any]:
    """The descriptor of the bundle's tables."""
    resources = [
        _resource(
            "trajectories",
            tables.TRAJECTORIES,
            "The released trajectories: distinct lists of locations and how often each occurs.",
            {"locations": "array", "count": "integer"},
        ),
        _resource(
            "prefix_tree",
            tables.TREE,
            "The noisy prefix tree: parent is a row number from 0, or -1 below the root.",
            {
                "parent": "integer",
                "level": "integer",
                "location": "string",
                "noisy_count": "integer",
                "estimate": "integer",
            },
        ),
        _resource("locations", tables.LOCATIONS, "The public universe.", _location_fields(release)),
    ]
    if csv:
        positions = {f"location_{i}": "string" for i in range(1, release.longest + 1)}
        resources.append(
            _resource(
                "trajectories-csv",
                tables.TRAJECTORIES_CSV,
                "The released trajectories as CSV; a leading apostrophe in a cell is not part of "
                "the label.",
                {"count": "integer", **positions},
            )
        )
    stamp = "" if release.is_private else "NOT PRIVATE: "
    return {
        "profile": "data-package",
        "name": "pathveil-release",
        "title": f"{stamp}Trajectories released under differential privacy",
        "description": f"{stamp}Synthetic trajectories with epsilon = {release.parameters.budget}; "
        f"see {CERTIFICATE_FILE}. Every count is noisy.",
        "resources": resources,
    }


def _location_fields(release: "Release") -> dict[str, str]:
    fields = {"location": "string"}
    if release.universe.names is not None:
        fields["name"] = "string"
    if release.universe.has_coordinates:
        fields |= {"latitude": "number", "longitude": "number"}
    return fields


def _resource(name: str, path: str, description: str, fields: dict[str, str]) -> dict[str, Any]:
    return {
        "name": name,
        "path": path,
        "description": description,
        "format": path.rsplit(".", 1)[1],
        "schema": {"fields": [{"name": n, "type": t} for n, t in fields.items()]},
    }
