"""Small databases with zones for tests, and what a tree of two granularities is, in few lines."""

from collections import defaultdict

import numpy as np
from hypothesis import strategies as st

from pathveil.raw.database import TrajectoryDatabase
from pathveil.universe.taxonomy import Taxonomy
from pathveil.universe.universe import Universe

UNIVERSE = Universe("abcdef")
TAXONOMY = Taxonomy.of(UNIVERSE, list("XYXZZZ"))
ROWS = st.lists(st.text("abcdef", max_size=4), max_size=25)


def database_of(rows, universe=UNIVERSE):
    return TrajectoryDatabase.from_sequences(rows, universe)


def paths_to(tree):
    """The codes on the way to each node."""
    found = []
    for parent, code in zip(tree.parent.tolist(), tree.location.tolist(), strict=True):
        found.append((*(found[parent] if parent >= 0 else ()), code))
    return found


def told(path):
    """A path of nodes as visits: (zone, location or None)."""
    visits, size = [], len(UNIVERSE)
    for code in path:
        if code >= size:
            visits.append((code - size, None))
        else:
            visits[-1] = (visits[-1][0], code)
    return tuple(visits)


def exact_counts(tree, rows, taxonomy=TAXONOMY):
    """How many rows each node holds: every row walks down the tree and is counted on its way."""
    nodes = {path: node for node, path in enumerate(paths_to(tree))}
    counts, size = defaultdict(int), taxonomy.locations
    for row in rows:
        here = ()
        for place in row:
            code = UNIVERSE.code(place)
            zone = (*here, size + int(taxonomy.zone_of[code]))
            if zone not in nodes:
                break
            counts[nodes[zone]] += 1
            here = (*zone, code) if (*zone, code) in nodes else zone
            if here != zone:
                counts[nodes[here]] += 1
    return np.array([counts[node] for node in range(len(tree))])
