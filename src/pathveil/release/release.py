"""A release: what was published, in memory, and the questions one can ask it."""

from collections.abc import Collection, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pathveil.analysis.count_queries import count_ordered, count_prefix
from pathveil.analysis.patterns import Pattern, top_patterns
from pathveil.analysis.visit_index import VisitIndex
from pathveil.model.certificate import Certificate
from pathveil.model.noisy_tree import EstimatedTree
from pathveil.model.parameters import Parameters
from pathveil.model.paths import Paths
from pathveil.model.universe import Universe
from pathveil.release.generate import distinct_paths


class Release:
    """A differentially private release of a trajectory database.

    Everything here derives from the noisy tree and public parameters; asking costs no budget.

    Attributes:
        universe: the public universe.
        tree: the noisy prefix tree with the released counts.

    Args:
        universe: the public universe.
        tree: the tree.
        paths: the released trajectories, distinct and in canonical order; None if they are
            those that the tree implies.
    """

    def __init__(self, universe: Universe, tree: EstimatedTree, paths: Paths | None = None) -> None:
        self.universe = universe
        self.tree = tree
        self._paths = distinct_paths(tree, tree.terminal()) if paths is None else paths

    @property
    def parameters(self) -> Parameters:
        """The public parameters of the release."""
        return self.tree.parameters

    @property
    def is_private(self) -> bool:
        """False if the noise came from an injected generator: then it protects nobody."""
        return self.tree.is_private

    @property
    def certificate(self) -> Certificate:
        """What is promised, and what is not."""
        return Certificate.of(self.parameters, is_private=self.is_private)

    def __len__(self) -> int:
        return int(self.paths().weights.sum())

    def __repr__(self) -> str:
        stamp = "" if self.is_private else ", NOT PRIVATE"
        return (
            f"Release({len(self):,} trajectories on {len(self.paths()):,} distinct paths, "
            f"epsilon={self.parameters.budget}, method={self.parameters.method}{stamp})"
        )

    def paths(self) -> Paths:
        """The distinct released trajectories with their multiplicities, in canonical order."""
        return self._paths

    @property
    def longest(self) -> int:
        """The number of locations of the longest trajectory that could be, or was, released."""
        return max(self.parameters.height, int(self._paths.lengths.max(initial=0)))

    @cached_property
    def _index(self) -> VisitIndex:
        return VisitIndex.build(self)

    def to_sequences(self) -> list[list[str]]:
        """Every released trajectory as a list of labels."""
        paths, labels = self.paths(), self.universe.labels
        distinct = [
            [labels[code] for code in paths.codes[start:stop]]
            for start, stop in zip(paths.offsets[:-1], paths.offsets[1:], strict=True)
        ]
        return [
            list(path)
            for path, weight in zip(distinct, paths.weights, strict=True)
            for _ in range(weight)
        ]

    def count(self, locations: Collection[str]) -> int:
        """How many released trajectories visit all of these locations, in any order."""
        return int(self.count_many([locations])[0])

    def count_many(self, queries: Sequence[Collection[str]]) -> NDArray[np.int64]:
        """The answers to many count queries at once, int64."""
        return self._index.count_many(queries)

    def count_ordered(self, locations: Sequence[str]) -> int:
        """How many released trajectories visit these locations in this order, gaps allowed."""
        return count_ordered(self, locations)

    def count_prefix(self, locations: Sequence[str]) -> int:
        """How many released trajectories start with exactly these locations."""
        return count_prefix(self, locations)

    def top_patterns(
        self,
        k: int,
        *,
        contiguous: bool = False,
        min_length: int = 1,
        max_length: int | None = None,
    ) -> list[Pattern]:
        """The k most frequent sequential patterns: see `pathveil.top_patterns`."""
        return top_patterns(
            self, k, contiguous=contiguous, min_length=min_length, max_length=max_length
        )

    def write(self, directory: str | Path, *, csv: bool = False) -> Path:
        """Write the release bundle; it appears whole or not at all.

        Args:
            directory: a folder that does not exist yet, or is empty.
            csv: also write the trajectories as CSV.

        Raises:
            ReleaseError: if the folder is taken or can't be written.
        """
        from pathveil.release.bundle import write_bundle

        return write_bundle(self, Path(directory), csv=csv)
