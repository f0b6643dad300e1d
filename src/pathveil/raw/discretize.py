"""From what a row says to a location of the universe: by its label, or by the cell of its point."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pathveil.errors import InputError
from pathveil.raw.sources.raw_rows import RawRows
from pathveil.raw.sources.text_codes import MALFORMED, UNKNOWN, TextCodes, hash_texts
from pathveil.raw.sources.text_values import text_buffers
from pathveil.universe.coordinates import OUTSIDE, Cells
from pathveil.universe.universe import Universe


class Locator(Protocol):
    """How the rows of a source name their locations. Used by several threads at once."""

    def locate(self, rows: RawRows) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """The location of each visit of some rows.

        Returns:
            int32 location codes, negative outside the universe; and bool, whether the visit says
            where it was in a way that can be read. Both of shape (n,), in the order of the rows.
        """
        ...


@dataclass(frozen=True, slots=True, repr=False)
class LabelLocator:
    """Locations by their labels.

    Attributes:
        codes: the labels, and then the aliases.
        stands_for: int32, shape (len(codes),); the location code of each; None without aliases.
    """

    codes: TextCodes
    stands_for: NDArray[np.int32] | None = None

    def locate(self, rows: RawRows) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """See `Locator`."""
        hashes = hash_texts(rows.location)
        found = self.codes.find(rows.location, hashes)
        if self.stands_for is not None:
            found = np.append(self.stands_for, np.int32(UNKNOWN))[found]
        return found, hashes != MALFORMED


@dataclass(frozen=True, slots=True, repr=False)
class CellLocator:
    """Locations by coordinates: the cell in which the point lies."""

    cells: Cells

    def locate(self, rows: RawRows) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """See `Locator`."""
        if rows.points is None:
            raise InputError("The source gives no coordinates.")
        readable = rows.points.readable()
        codes = np.full(len(readable), OUTSIDE, dtype=np.int32)
        latitude, longitude = rows.points.latitude[readable], rows.points.longitude[readable]
        codes[readable] = self.cells.codes(latitude, longitude)
        return codes, readable


def locator_of(universe: Universe, *, by_point: bool) -> Locator:
    """How to find the locations of a universe, by label or by point."""
    if by_point and universe.cells is not None:
        return CellLocator(universe.cells)
    return label_locator(universe)


def label_locator(universe: Universe) -> LabelLocator:
    """The labels of a universe by their bytes, with the universe's own codes, and its aliases."""
    import pyarrow as pa

    further = [alias for alias in universe.aliases if alias not in universe]
    labels = text_buffers(pa.array([*universe.labels, *further], pa.large_string()))
    codes = TextCodes()
    codes.add(labels, hash_texts(labels))
    if not further:
        return LabelLocator(codes)
    targets = universe.codes(universe.aliases[alias] for alias in further)
    return LabelLocator(codes, np.array([*range(len(universe)), *targets], dtype=np.int32))
