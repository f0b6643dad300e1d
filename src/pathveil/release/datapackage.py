"""A Frictionless data package description, so that standard tools can load the bundle."""

from typing import TYPE_CHECKING, Any

from pathveil.core.about import About, is_address
from pathveil.promise.certificate import CERTIFICATE_FILE
from pathveil.release import bundle_tables
from pathveil.release.bundle_tables import CELL_COLUMNS, COLUMNS, ERROR_TABLE, LISTED_CELLS

if TYPE_CHECKING:
    from pathveil.release.release import Release

DATAPACKAGE = "datapackage.json"
_TITLE = "Trajectories released under differential privacy"
_CELL_TEXTS = dict.fromkeys(("kind", "first", "second"), "string")
_SLOTS_OF = {"day": "day", "week": "week", "dates": "calendar"}


def describe(release: "Release", *, csv: bool) -> dict[str, Any]:
    """The descriptor of the bundle's tables."""
    grid = release.time_grid
    timed = grid is not None
    resources = [
        _resource(
            "trajectories",
            bundle_tables.TRAJECTORIES,
            "The released trajectories: distinct lists of locations"
            f"{', with the times of the visits,' if timed else ''} and how often each occurs.",
            {"locations": "array", **({"times": "array"} if timed else {}), "count": "integer"},
        ),
        _resource(
            "prefix_tree",
            bundle_tables.TREE,
            "The noisy prefix tree: parent is a row number from 0, or -1 below the root.",
            {
                "parent": "integer",
                "level": "integer",
                "location": "string",
                **({"time": "string"} if timed else {}),
                "noisy_count": "integer",
                "estimate": "integer",
            },
        ),
        _resource(
            "locations",
            bundle_tables.LOCATIONS,
            f"The universe, made from: {release.universe.origin}.",
            _location_fields(release),
        ),
    ]
    if grid is not None:
        resources.append(
            _resource(
                "times",
                bundle_tables.TIMES,
                f"The public time grid: slots of the {_SLOTS_OF[grid.kind]} by the wall clock of "
                f"{grid.time_zone}, each named by its start; the end is not part of it.",
                {"time": "string", "end": "string"},
            )
        )
    if release.error_table is not None:
        resources.append(
            _resource(
                "error_table",
                ERROR_TABLE,
                "Intervals for answers, by the kind of question, the number of distinct locations "
                "asked for (-1: several, one of which no released trajectory visits) and the "
                "released count: low_90 and high_90 are the bounds at the level of 90%, best is "
                "the middle of what the true count may be.",
                {**dict.fromkeys(COLUMNS, "integer"), "kind": "string"},
            )
        )
        if release.error_table.listed is not None:
            resources.append(
                _resource(
                    "listed_cells",
                    LISTED_CELLS,
                    "Intervals of answers about two locations that a noisy table counts one by "
                    "one; they go before those of the error table. In any order (kind: any) the "
                    "location that stands first in the universe is named first.",
                    {**dict.fromkeys(CELL_COLUMNS, "integer"), **_CELL_TEXTS},
                )
            )
    if csv:
        names = ("location", "time") if timed else ("location",)
        positions = {
            f"{name}_{i}": "string" for i in range(1, release.longest + 1) for name in names
        }
        resources.append(
            _resource(
                "trajectories-csv",
                bundle_tables.TRAJECTORIES_CSV,
                "The released trajectories as CSV; an apostrophe that begins a cell or follows a "
                "semicolon is not part of the label.",
                {"count": "integer", **positions},
            )
        )
    stamp = "" if release.is_private else "NOT PRIVATE: "
    return {
        "profile": "data-package",
        "name": "pathveil-release",
        "title": f"{stamp}{release.about.title or _TITLE}",
        "description": f"{stamp}Synthetic trajectories with epsilon = {release.parameters.budget}; "
        f"see {CERTIFICATE_FILE}. Every count is noisy.",
        **_said(release.about),
        **_suppression(release.suppress_below),
        "resources": resources,
    }


def _said(about: About) -> dict[str, Any]:
    """What the publisher says, where Frictionless has a place for it; the rest by our words."""
    said: dict[str, Any] = {}
    who = about.publisher or about.contact
    if who is not None:
        contact = (
            {"path" if is_address(about.contact) else "email": about.contact}
            if about.contact
            else {}
        )
        said["contributors"] = [{"title": who, "role": "publisher", **contact}]
    if about.licence is not None:
        kind = "path" if is_address(about.licence) else "name"
        said["licenses"] = [{kind: about.licence}]
    return said | {name: text for name, text in about if name in ("period", "city")}


def _suppression(below: int) -> dict[str, Any]:
    """The publisher's rule, where there is one."""
    return {"suppression": {"counts_below": below}} if below else {}


def _location_fields(release: "Release") -> dict[str, str]:
    fields = {"location": "string"}
    if release.universe.names is not None:
        fields["name"] = "string"
    if release.universe.has_coordinates:
        fields |= {"latitude": "number", "longitude": "number"}
    if release.parameters.taxonomy is not None:
        fields[bundle_tables.ZONE] = "string"
    return fields


def _resource(name: str, path: str, description: str, fields: dict[str, str]) -> dict[str, Any]:
    return {
        "name": name,
        "path": path,
        "description": description,
        "format": path.rsplit(".", 1)[1],
        "schema": {"fields": [{"name": n, "type": t} for n, t in fields.items()]},
    }
