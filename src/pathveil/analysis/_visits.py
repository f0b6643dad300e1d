"""What the questions share: labels to codes, and which path each visit belongs to."""

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from pathveil.errors import QueryError, UniverseError
from pathveil.model.paths import Paths
from pathveil.model.universe import Universe


def codes_of(universe: Universe, labels: Collection[str]) -> tuple[int, ...]:
    """The codes of the labels that a question names, in its order.

    Raises:
        QueryError: if a label is not of the universe (with the nearest one that is), or if the
            question is one text instead of several labels.
    """
    if isinstance(labels, str):
        raise QueryError("A query is several location labels, not one text; write it as a list.")
    for label in labels:
        if not isinstance(label, str):
            raise QueryError(f"A location label is text, not {type(label).__name__}.")
    try:
        return tuple(universe.codes(labels))
    except UniverseError as error:
        raise QueryError(str(error)) from None


def rows_at(paths: Paths, positions: NDArray[np.int64]) -> NDArray[np.int64]:
    """The path that holds each position of ``paths.codes``; int64, the shape of positions."""
    # Of several paths that begin at one place all but the last are empty: hence "right".
    rows: NDArray[np.int64] = np.searchsorted(paths.offsets, positions, side="right") - 1
    return rows


def row_of_visits(paths: Paths) -> NDArray[np.int64]:
    """The path of every visit, int64, shape (len(paths.codes),)."""
    return np.repeat(np.arange(len(paths), dtype=np.int64), paths.lengths)


def order_by_code(codes: NDArray[np.int32], universe_size: int) -> NDArray[np.int64]:
    """The stable order that sorts codes, int64, shape (len(codes),)."""
    # NumPy sorts 16-bit keys by radix, about five times as fast as it merges wider ones.
    keys = codes.astype(np.uint16) if universe_size <= 2**16 else codes
    return np.argsort(keys, kind="stable")
