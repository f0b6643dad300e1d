"""What all charts share: the drawing library, the colours, a title that says what one sees."""

from collections.abc import Mapping, Sequence
from typing import Any

from pathveil.errors import ParameterError

Rows = Sequence[Mapping[str, object]]

BLUE, ORANGE, GREY = "#2f6f9f", "#c2571a", "#8a8a8a"
WIDTH, HEIGHT = 480, 300
ROW = 18  # height of a row, in pixels
NOT_PRIVATE = "NOT PRIVATE: the noise was injected. For tests only."


def altair() -> Any:
    """The drawing library, an optional dependency that takes a second to import.

    Raises:
        ParameterError: if it is not installed.
    """
    try:
        import altair as alt
    except ImportError:
        raise ParameterError("Charts are drawn by altair: install pathveil[plot].") from None
    return alt


def chart(rows: Rows, **size: Any) -> Any:
    """A chart that carries these rows, and nothing from anywhere else."""
    alt = altair()
    return alt.Chart(alt.Data(values=list(rows)), **size)


def titled(drawn: Any, title: str, subtitle: str, *, is_private: bool) -> Any:
    """The chart with its title; one that is not private says so."""
    lines = [subtitle] if is_private else [NOT_PRIVATE, subtitle]
    return drawn.properties(title=altair().TitleParams(title, subtitle=lines, anchor="start"))


def check_most(most: object) -> int:
    """How many things a chart may show, at least 1.

    Raises:
        ParameterError: if it is anything else.
    """
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise ParameterError("How many to show is a whole number of at least 1.")
    return most
