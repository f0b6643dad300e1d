"""What the page and the charts list: locations by name, lengths, and the most frequent journeys."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol
from unicodedata import east_asian_width

import numpy as np
from numpy.typing import NDArray

from pathveil.analysis.flows import PairCounts, length_distribution
from pathveil.analysis.patterns import Pattern, top_patterns
from pathveil.core.error_table import NOISE, Answers, ErrorTable, Estimate, largest_first
from pathveil.core.paths import Paths, WeightedPaths
from pathveil.times.time_grid import TimeGrid
from pathveil.universe.background import Background
from pathveil.universe.universe import Universe

# Around a text whose direction is its own, so that it can't turn what stands beside it.
_ISOLATE, _END = "\u2068", "\u2069"
MOST_LENGTHS = 24
Counts = NDArray[np.int64]
SHOWN = 20
LONGEST = 4
MOST_VISITS = 20_000_000


# What the page needs to know of a release; raw data has no such thing.


class Intervals(Protocol):
    """How far answers of a release may be off. See `pathveil.release.answering.Answering`."""

    def asked(
        self, kind: str, queries: Sequence[Sequence[int]], counts: Counts, level: float = ..., /
    ) -> Answers:
        """Of questions of one kind about locations, by their codes."""
        ...

    def pairs(self, kind: str, pairs: PairCounts, /) -> Answers:
        """Of the cells of a table of flows."""
        ...

    def of_patterns(self, found: Sequence[Pattern], /, *, contiguous: bool) -> list[Pattern]:
        """Of the supports of patterns."""
        ...


class Released(WeightedPaths, Protocol):
    """A release, as the page and the charts see it. See `pathveil.release.release.Release`."""

    @property
    def is_private(self) -> bool:
        """False if its noise was injected."""
        ...

    @property
    def time_grid(self) -> TimeGrid | None:
        """The public time grid, if its visits have times."""
        ...

    @property
    def error_table(self) -> ErrorTable | None:
        """What its answers may be off by, if that is known."""
        ...

    @property
    def answering(self) -> Intervals | None:
        """Intervals for its answers, if they are known."""
        ...

    @property
    def background(self) -> Background:
        """Public lines under its maps."""
        ...

    def timed_paths(self) -> Paths:
        """The trajectories as pair codes, slot · |L| + location; without times, as `paths`."""
        ...


# A location as people read it: its label, and its name if the universe has one.


@dataclass(frozen=True, slots=True)
class Location:
    """A location of the universe.

    Attributes:
        label: as in the data.
        name: for people; "" without one.
    """

    label: str
    name: str

    @classmethod
    def of(cls, universe: Universe, code: int) -> "Location":
        """The location with this code."""
        return cls(universe.labels[code], universe.names[code] if universe.names else "")

    @property
    def is_named(self) -> bool:
        """Whether the name says more than the label."""
        return bool(self.name) and self.name != self.label

    @property
    def full_name(self) -> str:
        """The name and the label on one line, each in its own direction."""
        if not self.is_named:
            return isolated(self.label)
        return f"{isolated(self.name)} ({isolated(self.label)})"


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


def noise_words(counts: Iterable[Estimate]) -> str:
    """What stands below a table whose rows that noise explains are dimmed; nothing if none is."""
    marks = [count.mark for count in counts]
    dimmed = marks.count(NOISE)
    if not dimmed:
        return ""
    which = "None" if dimmed == len(marks) else f"{len(marks) - dimmed:,}"
    return f"{which} of these {len(marks):,} can be told from noise; the others are dimmed."


def estimated(count: int) -> Estimate:
    """A count as it is, or one without an interval."""
    return count if isinstance(count, Estimate) else Estimate(count)


# The length distribution as people read it: length by length, and the long tail as one.


def length_rows(release: WeightedPaths, most: int = MOST_LENGTHS) -> list[tuple[str, int]]:
    """Lengths in words, shortest first, and how many trajectories have them.

    Args:
        release: the release.
        most: rows; what is longer is one more, such as "25 or more".
    """
    rows = length_distribution(release).to_rows()
    shown = [(f"{length:,}", count) for length, count in rows[:most]]
    rest = rows[most:]
    if rest:
        shown.append((f"{rest[0][0]:,} or more", sum(count for _, count in rest)))
    return shown


# The most frequent sequential patterns, for the page: those that lead from one location to another.
#
# Bounded by the size of the work and not by a clock, for a bundle is checked by writing its page
# again: the same release must always give the same text.


@dataclass(frozen=True, slots=True)
class Journey:
    """A pattern.

    Attributes:
        locations: in their order; other ones may lie between.
        support: how many released trajectories contain it, with an interval if it is known.
    """

    locations: tuple[Location, ...]
    support: Estimate


def top_journeys(release: Released) -> list[Journey] | None:
    """The most frequent patterns of 2 to 4 different locations.

    None if the release is too large to be mined for a page.
    """
    if len(release.paths().codes) > MOST_VISITS:
        return None
    universe = release.universe
    found = top_patterns(release, SHOWN, min_length=2, max_length=LONGEST, different=True)
    if release.answering is not None:
        found = release.answering.of_patterns(found, contiguous=False)
    return [
        Journey(
            tuple(Location.of(universe, code) for code in universe.codes(pattern.locations)),
            estimated(pattern.support),
        )
        for pattern in largest_first(found, lambda one: one.support)
    ]
