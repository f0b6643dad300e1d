"""Trajectories drawn from n-grams: the longest known context says what comes next.

The last 0, 1, …, n_max − 1 symbols are contexts; those that are nodes of the tree know what comes
next. The longest decides. With the probability that its listed children leave over, the next
symbol is one that it does not list, and the next shorter context decides among those, and so on.
"""

import numpy as np
from numpy.typing import NDArray

from bench.baselines.growing_codes import first_codes, with_room
from bench.baselines.ngram_model import NGramModel
from pathveil.compiled import njit

TRIES = 20  # draws from a context until one is a symbol that the longer ones do not list


def draw_trajectories(
    model: NGramModel, height: int, generator: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Trajectories of 1 to ``height`` locations, as offsets and location codes."""
    first = first_codes(model.trajectories, height)
    offsets, codes = _draw(model, height, first, generator)
    return offsets, codes


@njit(cache=True)
def _draw(
    model: NGramModel, height: int, codes: NDArray[np.int32], generator: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    # Before the first location, "end" is no choice; it is the root's last child with a weight.
    listed = model.symbol[: model.starts[1]]
    locations = np.searchsorted(listed, model.boundary)
    places = model.cumulative[locations - 1] if locations > 0 else 0.0
    rows = model.trajectories if places > 0 else 0
    offsets = np.zeros(rows + 1, dtype=np.int64)
    context = np.empty(model.longest, dtype=np.int64)
    for row in range(rows):
        written = offsets[row]
        codes = with_room(codes, written, height)
        context[:] = -1
        context[0] = 0
        symbol = model.boundary
        for _ in range(height):
            _shift(model, context, symbol)
            symbol = _next_symbol(
                model, context, places if symbol == model.boundary else np.inf, generator
            )
            if symbol == model.boundary:
                break
            codes[written] = symbol
            written += 1
        offsets[row + 1] = written
    return offsets, codes[: offsets[rows]].copy()


@njit(cache=True)
def _shift(model: NGramModel, context: NDArray[np.int64], symbol: int) -> None:
    """``context[k]`` is the node of the last k symbols or -1: read one symbol more."""
    for k in range(len(context) - 1, 0, -1):
        place = _find(model, context[k - 1], symbol)
        context[k] = model.child[place] if place >= 0 else -1


@njit(cache=True)
def _next_symbol(
    model: NGramModel, context: NDArray[np.int64], most: float, generator: np.random.Generator
) -> int:
    """Draw it; of the root's weight only the first ``most`` counts."""
    symbol = model.boundary
    for k in range(len(context) - 1, -1, -1):
        node = context[k]
        if node < 0:
            continue
        start, stop = model.starts[node], model.starts[node + 1]
        listed = model.cumulative[stop - 1] if stop > start else 0.0
        if k == 0:
            listed = min(listed, most)
        for _ in range(TRIES):
            left = generator.random() * (listed + model.rest[node])
            if left >= listed:
                break
            i = start + np.searchsorted(model.cumulative[start:stop], left, side="right")
            symbol = int(model.symbol[min(i, stop - 1)])
            if not _is_listed(model, context[k + 1 :], symbol):
                return symbol
    return symbol  # if no other symbol is known, one that was listed


@njit(cache=True)
def _is_listed(model: NGramModel, contexts: NDArray[np.int64], symbol: int) -> bool:
    """Whether a context lists the symbol: then it had its chance there."""
    for i in range(len(contexts)):  # noqa: SIM110  (compiled code knows no generators)
        if _find(model, contexts[i], symbol) >= 0:
            return True
    return False


@njit(cache=True)
def _find(model: NGramModel, node: int, symbol: int) -> int:
    """The place of the symbol among the node's children, or -1."""
    if node < 0:
        return -1
    start, stop = model.starts[node], model.starts[node + 1]
    i = start + np.searchsorted(model.symbol[start:stop], symbol)
    return i if i < stop and model.symbol[i] == symbol else -1
