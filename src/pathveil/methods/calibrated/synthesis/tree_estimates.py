"""The noisy prefix tree as work to do: how many trajectories start with which prefix and go on.

The children of a node share its trajectories (END is one of them). Those that the threshold kept
are denoised; what they leave of the parent belongs to the children that were dropped, and is
continued from the movement model, which then must not take a step that a kept child stands for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pathveil.statistics.constants import DROPPED_SHARE
from pathveil.statistics.denoise import posterior
from pathveil.statistics.measurements import TreeLevel


class Continuations(NamedTuple):
    """Prefixes, how many trajectories start with each, and where those may not go next.

    A named tuple, because compiled code reads it as it is.

    Attributes:
        prefixes: int64, shape (m, levels); positions of candidates, −1 after the end.
        lengths: int64, shape (m,).
        masses: float64, shape (m,), > 0; they sum to the number of trajectories.
        ended: bool, shape (m,); whether they end right there.
        taken_starts, taken_ends: int64, shape (m,); the next step is none of
            ``taken[taken_starts[i]:taken_ends[i]]``.
        taken: int64; positions of candidates; their number n stands for END.
    """

    prefixes: NDArray[np.int64]
    lengths: NDArray[np.int64]
    masses: NDArray[np.float64]
    ended: NDArray[np.bool_]
    taken_starts: NDArray[np.int64]
    taken_ends: NDArray[np.int64]
    taken: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class _Level:
    """One level of nodes with their shares.

    Attributes:
        parent, label: as in `TreeLevel`.
        share: float64; how many trajectories have this prefix.
    """

    parent: NDArray[np.int64]
    label: NDArray[np.int64]
    share: NDArray[np.float64]


def continuations(
    tree: Sequence[TreeLevel], total: float, candidates: int, unnamed: float = 0.0
) -> Continuations:
    """Turn the tree into prefixes to continue.

    Args:
        tree: its levels, from the top.
        total: how many trajectories there are.
        candidates: n; the label n is END.
        unnamed: visits to unnamed locations, which are no children of any node.
    """
    depth = len(tree)
    prefixes = np.full((1, depth), -1, dtype=np.int64)
    open_nodes, shares = np.ones(1, dtype=np.bool_), np.array([total])
    parts: list[Continuations] = []
    taken_before = 0
    for level, noisy in enumerate(tree):
        children, left = _share_out(noisy, shares, candidates, unnamed, may_end=level > 0)
        going_on = np.flatnonzero(open_nodes & (left > 0))
        # Children are sorted by their parent.
        starts = taken_before + np.searchsorted(children.parent, going_on)
        ends = taken_before + np.searchsorted(children.parent, going_on, side="right")
        parts.append(_part(prefixes[going_on], level, left[going_on], starts, ends))
        taken_before += len(children.label)

        ending = np.flatnonzero((children.label == candidates) & (children.share > 0))
        parts.append(_part(prefixes[children.parent[ending]], level, children.share[ending]))
        prefixes = prefixes[children.parent]
        prefixes[:, level] = children.label
        open_nodes, shares = children.label != candidates, children.share
    deepest = np.flatnonzero(open_nodes & (shares > 0))
    nothing = np.zeros(len(deepest), dtype=np.int64)
    parts.append(_part(prefixes[deepest], depth, shares[deepest], nothing, nothing))
    return _together(parts, [level.label for level in tree])


def _share_out(
    noisy: TreeLevel,
    parents: NDArray[np.float64],
    candidates: int,
    unnamed: float,
    *,
    may_end: bool,
) -> tuple[_Level, NDArray[np.float64]]:
    """Give each node's trajectories to its kept children, and say what is left for the others."""
    table = noisy.table
    count = posterior(
        table.counts,
        table.noise,
        hidden=table.cells - len(table.counts),
        threshold=table.threshold,
    ).mean
    if not may_end:  # the empty trajectory is not measured: who ends at the root is noise
        count = np.where(noisy.label == candidates, 0.0, count)
    kept = np.bincount(noisy.parent, count, len(parents))
    dropped = candidates + 1 - np.bincount(noisy.parent, minlength=len(parents))
    room = np.maximum(dropped, 0) * (table.threshold or 0) * DROPPED_SHARE + unnamed
    left = np.where(kept > 0, np.clip(parents - kept, 0.0, room), parents)
    scaling = np.divide(parents - left, kept, out=np.zeros(len(parents)), where=kept > 0)
    return _Level(noisy.parent, noisy.label, count * scaling[noisy.parent]), left


def _part(
    prefixes: NDArray[np.int64],
    length: int,
    masses: NDArray[np.float64],
    starts: NDArray[np.int64] | None = None,
    ends: NDArray[np.int64] | None = None,
) -> Continuations:
    """Continuations of one length; without a range of taken steps they have ended."""
    nothing = np.zeros(len(masses), dtype=np.int64)
    return Continuations(
        prefixes,
        np.full(len(masses), length, dtype=np.int64),
        masses,
        np.full(len(masses), starts is None),
        nothing if starts is None else starts,
        nothing if ends is None else ends,
        nothing[:0],
    )


def _together(parts: list[Continuations], labels: list[NDArray[np.int64]]) -> Continuations:
    return Continuations(
        np.concatenate([part.prefixes for part in parts]),
        np.concatenate([part.lengths for part in parts]),
        np.concatenate([part.masses for part in parts]),
        np.concatenate([part.ended for part in parts]),
        np.concatenate([part.taken_starts for part in parts]),
        np.concatenate([part.taken_ends for part in parts]),
        np.concatenate([np.zeros(0, dtype=np.int64), *labels]),
    )
