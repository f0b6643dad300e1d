"""What was published, as a short table or JSON. Derives from the release alone."""

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathveil.analysis.patterns import Pattern
    from pathveil.core.parameters import Parameters
    from pathveil.release.release import Release
    from pathveil.times.protected_units import Protect

SHOWN_STOPS, SHOWN_JOURNEYS = 3, 5
EXACT = ("epsilon", "delta", "rho")

WORDS = {
    "epsilon": "epsilon",
    "delta": "delta",
    "rho": "rho",
    "protect": "protected as one",
    "method": "method",
    "universe_size": "locations in the universe",
    "zones": "zones",
    "time_slots": "time slots",
    "height": "height",
    "purpose": "planned for",
    "threshold": "threshold",
    "visit_noise": "noise on the visitors of a location",
    "max_trajectories_per_unit": "trajectories per unit, at most",
    "released_trajectories": "released trajectories",
    "of_all_trips": "trips in all, estimated",
    "distinct_paths": "distinct paths",
    "tree_nodes": "tree nodes",
    "deepest_level": "deepest level",
    "status": "status",
}


def print_summary(release: "Release", directory: Path, *, json: bool) -> None:
    """Say what the release holds and where it is."""
    from pathveil.cli.console import (
        Copied,
        print_json,
        print_table,
        stdout_console,
        warn_if_injected,
    )
    from pathveil.core.told_numbers import told

    facts = _facts(release)
    if json:
        print_json({**facts, "bundle": str(directory)})
        return
    facts |= {key: told(Fraction(str(facts[key]))) for key in EXACT if facts[key] is not None}
    facts["protect"] = _unless_a_person(release.certificate.protect)
    known = {WORDS[key]: value for key, value in facts.items() if value is not None}
    print_table("What was published", ["", ""], [*known.items()], numbers={1})
    _print_largest(release)
    console = stdout_console()
    warn_if_injected(release)
    console.print("The bundle is in", style="bold", end=" ")
    console.print(Copied(directory), markup=False, highlight=False)


def _print_largest(release: "Release") -> None:
    """What is largest and known, with intervals and marks; what was left out, by which rule."""
    from pathveil.cli.console import print_note
    from pathveil.cli.intervals import left_out_words
    from pathveil.core.error_table import RULE

    stops, (found, of) = busiest(release), journeys(release)
    _print_patterns(release, "Busiest locations", stops)
    if not stops and len(release):
        print_note("None of the busiest locations can be told from noise, so none is shown.")
    _print_patterns(release, "Most frequent journeys between different locations", found)
    if of and not found:
        print_note(
            f"None of the {of:,} most frequent journeys between different locations can be told "
            "from noise, so none is shown."
        )
    if release.error_table is not None and (stops or found):
        left_out = left_out_words(of - len(found), of) if found else ""
        print_note(f"{left_out}Marks: {RULE}.")


def _print_patterns(release: "Release", title: str, shown: list["Pattern"]) -> None:
    from pathveil.cli.console import called, print_table
    from pathveil.cli.intervals import HEADINGS, cells

    if not shown:
        return
    headings = HEADINGS if release.error_table is not None else ("trajectories",)
    print_table(
        title,
        ["locations", *headings],
        [
            (" → ".join(called(release, one.locations)), *cells(one.support)[: len(headings)])
            for one in shown
        ],
        numbers={1, 2},
    )


def busiest(release: "Release") -> list["Pattern"]:
    """The most visited locations, as far as they can be told from noise."""
    return _told(release.top_patterns(SHOWN_STOPS, max_length=1))


def journeys(release: "Release") -> tuple[list["Pattern"], int]:
    """The most frequent journeys that can be told from noise, and how many were looked at.

    A journey visits no location twice: people return to where they began, so the most frequent
    patterns of all are often one location and itself, which is true and tells nothing about where
    people go.
    """
    found = release.top_patterns(SHOWN_JOURNEYS, min_length=2, different=True)
    return _told(found), len(found)


def _told(found: list["Pattern"]) -> list["Pattern"]:
    from pathveil.cli.intervals import told
    from pathveil.core.error_table import largest_first

    ranked = largest_first(found, lambda one: one.support)
    return told([(one, one.support) for one in ranked], everything=False)[0]


def _facts(release: "Release") -> dict[str, object]:
    """By the keys of docs/json.md; what does not apply is None."""
    parameters, tree = release.parameters, release.tree
    return {
        "epsilon": str(parameters.budget),
        "delta": str(parameters.delta) if parameters.delta else None,
        "rho": release.certificate.privacy_loss.privacy_parameters.rho,
        "protect": release.certificate.protect,
        "method": parameters.method,
        "universe_size": parameters.universe_size,
        "zones": len(parameters.taxonomy) if parameters.taxonomy else None,
        "time_slots": len(parameters.time_grid) if parameters.time_grid else None,
        "height": None if parameters.how.has_tables else parameters.height,
        "purpose": parameters.purpose if parameters.how.has_tables else None,
        **_accuracy(parameters),
        "max_trajectories_per_unit": parameters.max_trajectories_per_unit,
        "released_trajectories": len(release),
        "of_all_trips": release.of_all_trips(len(release)) if parameters.expansion else None,
        "distinct_paths": len(release.paths()),
        "tree_nodes": len(tree),
        "deepest_level": tree.depth,
        "status": release.certificate.status,
    }


def _unless_a_person(protect: "Protect") -> str | None:
    """Whose ε it is, where it is not that of a person, for which everybody takes it."""
    from pathveil.times.protected_units import PERSON, UNITS

    return None if protect == PERSON else UNITS[protect].one


def _accuracy(parameters: "Parameters") -> dict[str, object]:
    """What decides how fine the release is: θ, or the noise where every table has its own θ."""
    from pathveil.statistics.measurement_plan import MeasurementPlan
    from pathveil.statistics.visits import VISITS

    if not parameters.how.has_tables:
        return {"threshold": parameters.threshold, "visit_noise": None}
    visits = MeasurementPlan.of(parameters)[VISITS]
    return {"threshold": None, "visit_noise": round(visits.deviation, 1)}
