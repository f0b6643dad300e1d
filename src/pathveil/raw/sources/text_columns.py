"""Columns of cells: texts as positions in a buffer of bytes, and order values as sort keys."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

UNREADABLE: Final = np.uint64(2**64 - 1)  # the `OrderKeys.rest` of what is not an order value
_LATITUDE, _LONGITUDE = 90.0, 180.0  # as far as degrees go


@dataclass(frozen=True, slots=True, repr=False)
class Texts:
    """Texts in a buffer: no Python string is made of a cell. What is missing is empty.

    Attributes:
        starts: int64, shape (n,); text i is ``data[starts[i]:stops[i]]``.
        stops: int64, shape (n,).
        data: uint8, the bytes.
    """

    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    data: NDArray[np.uint8]

    def __post_init__(self) -> None:
        # Read-only as Arrow's buffers are: compiled code then meets one type, not two.
        for name in ("starts", "stops", "data"):
            view = getattr(self, name).view()
            view.flags.writeable = False
            object.__setattr__(self, name, view)

    def __len__(self) -> int:
        return len(self.starts)

    @classmethod
    def from_offsets(cls, offsets: NDArray[np.int64], data: NDArray[np.uint8]) -> "Texts":
        """Texts that lie one after the other; ``offsets`` has n + 1 entries."""
        return cls(offsets[:-1], offsets[1:], data)

    def take(self, rows: NDArray[np.int64]) -> "Texts":
        """The texts of some rows, in the same buffer."""
        return Texts(self.starts[rows], self.stops[rows], self.data)


NO_TEXTS: Final = Texts.from_offsets(np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.uint8))


@dataclass(frozen=True, slots=True, repr=False)
class OrderKeys:
    """Sort keys of order values: compare the kind, then ``integer``, then ``rest``.

    Attributes:
        integer: int64, shape (n,); the integer part (floor), or seconds since 1970 in UTC.
        rest: uint64, shape (n,); in the lower bits the fraction in units of 10⁻¹⁸, in the two
            upper ones the kind (0 number, 1 timestamp), or `UNREADABLE`. None if all are 0.
        zoneless: bool, shape (n,); the timestamps that do not say in which zone they are, and
            were read as UTC. None if there are none.
    """

    integer: NDArray[np.int64]
    rest: NDArray[np.uint64] | None
    zoneless: NDArray[np.bool_] | None = None

    def readable(self) -> NDArray[np.bool_] | None:
        """Which values could be read, bool, shape (n,); None if all could."""
        return None if self.rest is None else self.rest != UNREADABLE

    def take(self, rows: NDArray[np.int64]) -> "OrderKeys":
        """The keys of some rows."""
        rest = None if self.rest is None else self.rest[rows]
        return OrderKeys(self.integer[rows], rest if rest is not None and rest.any() else None)


@dataclass(frozen=True, slots=True, repr=False)
class Points:
    """Points on Earth; NaN in both where either can't be read.

    Attributes:
        latitude: float64, shape (n,), degrees north.
        longitude: float64, shape (n,), degrees east.
    """

    latitude: NDArray[np.float64]
    longitude: NDArray[np.float64]

    @classmethod
    def of(cls, latitude: NDArray[np.float64], longitude: NDArray[np.float64]) -> "Points":
        """Points of two columns of degrees, checked."""
        good = (np.abs(latitude) <= _LATITUDE) & (np.abs(longitude) <= _LONGITUDE)
        return cls(np.where(good, latitude, np.nan), np.where(good, longitude, np.nan))

    def readable(self) -> NDArray[np.bool_]:
        """Which points could be read; bool, shape (n,)."""
        return ~np.isnan(self.latitude)
