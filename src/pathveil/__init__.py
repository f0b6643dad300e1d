"""pathveil: publish who-went-where data under differential privacy, and use what was published.

The public names are loaded when first used, so that ``import pathveil`` and the command line
start at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pathveil import errors

if TYPE_CHECKING:
    from pathveil.analysis.count_queries import count_many
    from pathveil.analysis.flows import (
        length_distribution,
        origin_destination,
        transitions,
        visit_counts,
        visits,
    )
    from pathveil.analysis.patterns import Pattern, top_patterns
    from pathveil.core.about import About
    from pathveil.core.budget import Budget
    from pathveil.core.noisy_tree import NoisyPrefixTree
    from pathveil.core.parameters import Parameters
    from pathveil.core.paths import Paths, WeightedPaths
    from pathveil.ledger.ledger import Ledger
    from pathveil.publishing import publish
    from pathveil.raw.database import TrajectoryDatabase
    from pathveil.raw.reading import read_trajectories
    from pathveil.raw.reading_plan import Reading
    from pathveil.release.bundle import read_release
    from pathveil.release.release import Release
    from pathveil.simulation import simulate_week
    from pathveil.times.time_grid import TimeGrid
    from pathveil.universe.taxonomy import Taxonomy
    from pathveil.universe.taxonomy_spec import read_taxonomy
    from pathveil.universe.universe import Universe

_HOMES = {
    "About": "pathveil.core.about",
    "Budget": "pathveil.core.budget",
    "Ledger": "pathveil.ledger.ledger",
    "NoisyPrefixTree": "pathveil.core.noisy_tree",
    "Parameters": "pathveil.core.parameters",
    "Paths": "pathveil.core.paths",
    "Pattern": "pathveil.analysis.patterns",
    "Reading": "pathveil.raw.reading_plan",
    "Release": "pathveil.release.release",
    "Taxonomy": "pathveil.universe.taxonomy",
    "TimeGrid": "pathveil.times.time_grid",
    "TrajectoryDatabase": "pathveil.raw.database",
    "Universe": "pathveil.universe.universe",
    "WeightedPaths": "pathveil.core.paths",
    "count_many": "pathveil.analysis.count_queries",
    "length_distribution": "pathveil.analysis.flows",
    "origin_destination": "pathveil.analysis.flows",
    "publish": "pathveil.publishing",
    "read_release": "pathveil.release.bundle",
    "read_taxonomy": "pathveil.universe.taxonomy_spec",
    "read_trajectories": "pathveil.raw.reading",
    "simulate_week": "pathveil.simulation",
    "top_patterns": "pathveil.analysis.patterns",
    "transitions": "pathveil.analysis.flows",
    "visit_counts": "pathveil.analysis.flows",
    "visits": "pathveil.analysis.flows",
}

__all__ = [
    "About",
    "Budget",
    "Ledger",
    "NoisyPrefixTree",
    "Parameters",
    "Paths",
    "Pattern",
    "Reading",
    "Release",
    "Taxonomy",
    "TimeGrid",
    "TrajectoryDatabase",
    "Universe",
    "WeightedPaths",
    "count_many",
    "errors",
    "length_distribution",
    "origin_destination",
    "publish",
    "read_release",
    "read_taxonomy",
    "read_trajectories",
    "simulate_week",
    "top_patterns",
    "transitions",
    "visit_counts",
    "visits",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'pathveil' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted(__all__)
