"""The oracle as an engine: prefixes in a dictionary, so that whole releases can be compared."""

from collections import Counter
from itertools import pairwise

import numpy as np

from pathveil.raw.engines.protocol import ExactCounts


class DictionaryCounter:
    """Stands in for `MemoryCounter`. Trajectories are cut at ``LONGEST``, to save memory."""

    LONGEST = 6

    def __init__(self, database, _taxonomy=None):
        self.universe = database.universe
        self.max_trajectories_per_unit = database.max_trajectories_per_unit
        codes, ends = database.codes.tolist(), database.offsets.tolist()
        self.rows = [tuple(codes[a : min(b, a + self.LONGEST)]) for a, b in pairwise(ends)]
        self.nodes = None

    def count_children(self, survivors):
        pairs = zip(survivors.parent.tolist(), survivors.location.tolist(), strict=True)
        self.nodes = [()] if self.nodes is None else [(*self.nodes[p], code) for p, code in pairs]
        number, size = {node: i for i, node in enumerate(self.nodes)}, len(self.nodes[0])
        following = Counter(row[: size + 1] for row in self.rows if len(row) > size)
        found = sorted(
            (number[prefix[:-1]], prefix[-1], count)
            for prefix, count in following.items()
            if prefix[:-1] in number
        )
        node, code, count = np.array(found, dtype=np.int64).reshape(-1, 3).T
        return iter((ExactCounts(node, code.astype(np.int32), count),))
