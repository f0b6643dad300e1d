"""Small noisy prefix trees for tests: written down as nested dictionaries, or arbitrary."""

from dataclasses import fields

import numpy as np
from hypothesis import strategies as st

from pathveil.core.noisy_tree import NoisyPrefixTree
from pathveil.core.parameters import Parameters

SIZE = 4  # locations


def tree_of(nested, height=6, *, is_private=True):
    """A tree from ``{location: (noisy count, {children})}``, in canonical order."""
    rows = []
    level, waiting = 1, [(-1, nested)]
    while waiting:
        following = []
        for parent, children in waiting:
            for location, (count, below) in sorted(children.items()):
                following.append((len(rows), below))
                rows.append((parent, location, level, count))
        level, waiting = level + 1, following
    columns = list(zip(*rows, strict=True)) or [(), (), (), ()]
    kinds = (np.int64, np.int32, np.int32, np.int64)
    return NoisyPrefixTree(
        *(np.array(column, dtype=kind) for column, kind in zip(columns, kinds, strict=True)),
        parameters=Parameters.choose(
            epsilon="1",
            height=height,
            universe_size=SIZE,
            threshold=1,
            max_nodes=10**12,
            method="full",
        ),
        is_private=is_private,
    )


def counted(tree, counts):
    """The same tree with other noisy counts."""
    values = {field.name: getattr(tree, field.name) for field in fields(NoisyPrefixTree)}
    return NoisyPrefixTree(**values | {"noisy_count": np.array(counts, dtype=np.int64)})


def children_of(tree):
    """For every node, and for -1 (the root), the list of its children."""
    children = {node: [] for node in range(-1, len(tree))}
    for node, parent in enumerate(tree.parent.tolist()):
        children[parent].append(node)
    return children


def _node(counts, below):
    return st.dictionaries(
        st.integers(0, SIZE - 1), st.tuples(counts, below), min_size=0, max_size=3
    )


def trees(counts=None, height=4):
    """Arbitrary trees of at most ``height`` levels."""
    counts = st.integers(-20, 60) if counts is None else counts
    nested = st.just({})
    for _ in range(height):
        nested = _node(counts, nested)
    return nested.map(tree_of)
