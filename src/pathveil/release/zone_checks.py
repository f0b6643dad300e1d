"""What must hold for the tree and the zones of a bundle with a taxonomy."""

import csv
import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pathveil.core.noisy_tree import NoisyPrefixTree
from pathveil.core.texts import unescape
from pathveil.errors import ReleaseError
from pathveil.plain_files import read_plain
from pathveil.promise.accounting import TaxonomyRecord
from pathveil.universe.taxonomy import PREFIX, Taxonomy
from pathveil.universe.universe import Universe


def read_zones(
    path: Path, universe: Universe, record: TaxonomyRecord, *, of_tree: bool
) -> Taxonomy:
    """The taxonomy of a bundle, from the last column of its list of locations.

    Args:
        path: the list of locations.
        universe: what it lists: the locations, then, if they are nodes of a tree, the zones.
        record: what the certificate says.
        of_tree: whether they are.

    Raises:
        ReleaseError: if they do not agree.
    """
    try:
        _, *rows = csv.reader(io.StringIO(read_plain(path).decode()), strict=True)
        size = len(universe) - (record.zones if of_tree else 0)
        locations = Universe(universe.labels[: max(size, 0)])
        zones = [unescape(row[-1]).removeprefix(PREFIX) for row in rows[:size]]
        taxonomy = Taxonomy.of(locations, zones, origin=record.origin)
    except (ValueError, csv.Error):
        taxonomy = None
    if (
        taxonomy is None
        or len(taxonomy) != record.zones
        or (taxonomy.extend(locations) if of_tree else locations) != universe
        or any(row[-1] for row in rows[size:])
    ):
        raise ReleaseError(f"{path} does not hold the zones that the certificate names.")
    return taxonomy


def thresholds(tree: NoisyPrefixTree) -> NDArray[np.int64]:
    """θ of each node, int64, shape (n,)."""
    sub_levels, least = tree.parameters.sub_levels, tree.parameters.threshold
    if sub_levels is None:
        return np.full(len(tree), least, dtype=np.int64)
    return np.where(_is_zone(tree), sub_levels.zone_threshold, least)


def visits(tree: NoisyPrefixTree) -> NDArray[np.int32]:
    """The visits up to each node, int32, shape (n,): its level, or the zones on its path."""
    if tree.parameters.sub_levels is None:
        return tree.level
    number = _is_zone(tree).astype(np.int32)
    for nodes in tree.level_slices()[1:]:
        number[nodes] += number[tree.parent[nodes]]
    return number


def zone_problem(tree: NoisyPrefixTree) -> bool:
    """Whether a location stands anywhere but below its own zone."""
    taxonomy = tree.parameters.taxonomy
    if taxonomy is None or tree.parameters.sub_levels is None:
        return False
    inside = ~_is_zone(tree)
    zone = taxonomy.locations + taxonomy.zone_of[tree.location[inside]]
    above = tree.parent[inside]
    return bool(np.any(above < 0) or np.any(tree.location[above] != zone))


def _is_zone(tree: NoisyPrefixTree) -> NDArray[np.bool_]:
    return np.asarray(tree.location >= tree.parameters.universe_size)
