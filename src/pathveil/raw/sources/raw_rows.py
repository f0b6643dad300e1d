"""What every source gives: names of columns, rows piece by piece, failures in our words."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from pathveil.errors import InputError, PathveilError
from pathveil.raw.sources.columns import Columns
from pathveil.raw.sources.text_columns import OrderKeys, Points, Texts
from pathveil.universe.universe import Universe

T = TypeVar("T")


def attempt(call: Callable[[], T], problem: str) -> T:
    """Run a call into a library; if it fails, say ``problem`` and nothing of its own.

    The new error is raised outside the handler, so that not even its ``__context__`` leads back
    to the original message.

    Args:
        call: what to run.
        problem: the whole message of the error. It must not hold a value of the data.

    Raises:
        InputError: if ``call`` fails with anything but an error of our own.
    """
    try:
        return call()
    except PathveilError:
        raise
    except MemoryError:
        problem = f"Not enough memory. {problem}"
    except Exception:  # noqa: BLE001, S110  (whatever it is, its message may quote a cell)
        pass
    raise InputError(problem)


# What every source gives: its columns' names, and its rows piece by piece.


@dataclass(frozen=True, slots=True, repr=False)
class RawRows:
    """Consecutive rows of a source, n of them.

    Attributes:
        unit: the unit of each row.
        trajectory: the trajectory id of each row; None without such a column.
        order: the order value of each row; None without such a column and in list form.
        location: in long form the location of each row; in list form those of all rows' lists,
            one after the other.
        lengths: int64, shape (n,); how many locations each row has, -1 for a missing list. None
            in long form.
        unreadable: how many further rows the source could not tell apart into cells.
        points: where each row was, if rows give coordinates; ``location`` is empty then.
        too_long: how many of the unreadable ones were lines before these, too long to keep.
        in_lines: whether they are lines of a text; the data of ``unit`` is the text then.
        piece: which piece of the source they are, counted from 0, if somebody wants to know.
    """

    unit: Texts
    trajectory: Texts | None
    order: OrderKeys | None
    location: Texts
    lengths: NDArray[np.int64] | None = None
    unreadable: int = 0
    points: Points | None = None
    too_long: int = 0
    in_lines: bool = False
    piece: int = 0


class Source(Protocol):
    """Raw visits somewhere: a file or a table in memory."""

    label: str
    names: list[str]

    def is_list(self, column: str) -> bool:
        """Whether a column holds lists, so that a row is a whole trajectory."""
        ...

    def showable(self, universe: Universe | None, wanted: Sequence[str]) -> bool:
        """Whether the column names are surely names, and not a row of data."""
        ...

    def check(self, columns: Columns) -> None:
        """Refuse columns by what the schema says of them. No row is looked at.

        Raises:
            ParameterError: if they can't play their roles.
            InputError: if their types can't be read.
        """
        ...

    def pieces(self, columns: Columns) -> Iterator[Callable[[], RawRows]]:
        """Yield the rows in order, as calls that may run side by side in threads."""
        ...
