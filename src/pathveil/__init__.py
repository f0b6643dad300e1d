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
    from pathveil.ledger.ledger import Ledger
    from pathveil.model.budget import Budget
    from pathveil.model.noisy_tree import NoisyPrefixTree
    from pathveil.model.parameters import Parameters
    from pathveil.model.paths import Paths, WeightedPaths
    from pathveil.model.taxonomy import Taxonomy
    from pathveil.model.taxonomy_spec import read_taxonomy
    from pathveil.model.time_grid import TimeGrid
    from pathveil.model.universe import Universe
    from pathveil.publishing import publish
    from pathveil.raw.database import TrajectoryDatabase
    from pathveil.raw.reading import read_trajectories
    from pathveil.release.bundle import read_release
    from pathveil.release.release import Release
    from pathveil.simulation import simulate_week

_HOMES = {
    "Budget": "pathveil.model.budget",
    "Ledger": "pathveil.ledger.ledger",
    "NoisyPrefixTree": "pathveil.model.noisy_tree",
    "Parameters": "pathveil.model.parameters",
    "Paths": "pathveil.model.paths",
    "Pattern": "pathveil.analysis.patterns",
    "Release": "pathveil.release.release",
    "Taxonomy": "pathveil.model.taxonomy",
    "TimeGrid": "pathveil.model.time_grid",
    "TrajectoryDatabase": "pathveil.raw.database",
    "Universe": "pathveil.model.universe",
    "WeightedPaths": "pathveil.model.paths",
    "count_many": "pathveil.analysis.count_queries",
    "length_distribution": "pathveil.analysis.flows",
    "origin_destination": "pathveil.analysis.flows",
    "publish": "pathveil.publishing",
    "read_release": "pathveil.release.bundle",
    "read_taxonomy": "pathveil.model.taxonomy_spec",
    "read_trajectories": "pathveil.raw.reading",
    "simulate_week": "pathveil.simulation",
    "top_patterns": "pathveil.analysis.patterns",
    "transitions": "pathveil.analysis.flows",
    "visit_counts": "pathveil.analysis.flows",
    "visits": "pathveil.analysis.flows",
}

__all__ = [
    "Budget",
    "Ledger",
    "NoisyPrefixTree",
    "Parameters",
    "Paths",
    "Pattern",
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
