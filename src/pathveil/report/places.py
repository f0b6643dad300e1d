"""A location as people read it: its label, and its name if the universe has one."""

from dataclasses import dataclass
from unicodedata import east_asian_width

from pathveil.model.universe import Universe

# Around a text whose direction is its own, so that it can't turn what stands beside it.
_ISOLATE, _END = "\u2068", "\u2069"


@dataclass(frozen=True, slots=True)
class Place:
    """A location of the universe.

    Attributes:
        label: as in the data.
        name: for people; "" without one.
    """

    label: str
    name: str

    @classmethod
    def of(cls, universe: Universe, code: int) -> "Place":
        """The location with this code."""
        return cls(universe.labels[code], universe.names[code] if universe.names else "")

    @property
    def told(self) -> str:
        """The name and the label on one line, each in its own direction."""
        return (
            f"{isolated(self.name)} ({isolated(self.label)})" if self.name else isolated(self.label)
        )


def isolated(text: str) -> str:
    """A text that is read in its own direction wherever no markup can say so."""
    return f"{_ISOLATE}{text}{_END}"


def shortened(text: str, most: int) -> str:
    """The text, cut to about ``most`` letters of usual width; wide ones count twice."""
    room = most
    for position, letter in enumerate(text):
        room -= 2 if east_asian_width(letter) in "WF" else 1
        if room < 0:
            return f"{text[: max(position - 1, 1)]}…"
    return text
