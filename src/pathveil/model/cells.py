"""What a universe of cells can do that a list of stops can't: say in which cell a point lies."""

from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from pathveil.errors import UniverseError

OUTSIDE: Final = -1
MOST_CELLS: Final = 1_000_000


class Cells(Protocol):
    """A public rule that gives each point on Earth one cell of the universe, or none."""

    def codes(
        self, latitude: NDArray[np.float64], longitude: NDArray[np.float64]
    ) -> NDArray[np.int32]:
        """The code of each point's cell, `OUTSIDE` where it has none.

        Args:
            latitude: degrees north, shape (n,), each in [-90, 90].
            longitude: degrees east, shape (n,), each in [-180, 180].

        Returns:
            int32, shape (n,). What becomes of a point depends on that point alone.
        """
        ...


def check_number_of_cells(what: str, cells: float, advice: str) -> None:
    """Refuse a cover that is too large, before any of it exists.

    Raises:
        UniverseError: if there are more than `MOST_CELLS`.
    """
    if cells > MOST_CELLS:
        raise UniverseError(
            f"{what} has about {cells:,.0f} locations, more than the {MOST_CELLS:,} that a "
            f"universe may have; {advice}."
        )
