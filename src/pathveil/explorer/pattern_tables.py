"""The patterns that the explorer lists: mined once, length by length, then only filtered.

The top k patterns of 2 to 4 locations are among the top k of each of these lengths, so one table
for each length answers every filter on lengths exactly. Mining takes seconds to a minute on a
large release; whoever asks before a table is there is told how far it is.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pathveil.analysis.patterns import top_patterns
from pathveil.core.paths import WeightedPaths
from pathveil.freed import give_back

PER_TABLE = 500
MOST_LENGTH = 12
# Of a release of so many visits, on distinct paths, only patterns of a few locations are mined:
# those of many would take gigabytes, and half an hour.
MANY_VISITS = 10_000_000
MOST_LENGTH_OF_MANY = 4


@dataclass(frozen=True, slots=True)
class Mined:
    """The most frequent patterns of one length.

    Attributes:
        length: how many locations each has.
        contiguous: whether they follow each other directly.
        different: whether they visit no location twice.
        patterns: (location codes, number of trajectories), most frequent first.
    """

    length: int
    contiguous: bool
    different: bool
    patterns: tuple[tuple[tuple[int, ...], int], ...]

    @property
    def floor(self) -> int:
        """The support from which on the table is complete; 0 if nothing was left out."""
        return self.patterns[-1][1] if len(self.patterns) >= PER_TABLE else 0

    def to_line(self) -> str:
        """As one line of text, for another process."""
        return json.dumps([self.length, self.contiguous, self.different, self.patterns])

    @classmethod
    def from_line(cls, line: str) -> "Mined":
        """The way back."""
        length, contiguous, different, patterns = json.loads(line)
        found = tuple((tuple(codes), n) for codes, n in patterns)
        return cls(length, contiguous, different, found)


@dataclass(frozen=True, slots=True)
class Found:
    """The patterns that pass the filters.

    Attributes:
        patterns: (location codes, number of trajectories), most frequent first.
        complete_from: rarer patterns than this may be missing; 0 if none can be.
    """

    patterns: list[tuple[tuple[int, ...], int]]
    complete_from: int


def longest_pattern(paths: WeightedPaths) -> int:
    """How long the patterns are that are mined, at least 1."""
    found = paths.paths()
    most = MOST_LENGTH if len(found.codes) <= MANY_VISITS else MOST_LENGTH_OF_MANY
    return max(1, min(most, int(found.lengths.max(initial=0))))


def mine(paths: WeightedPaths) -> Iterator[Mined]:
    """Every table; those of different locations, which a list shows, and the short ones first."""
    for different in (True, False):
        for length in range(1, longest_pattern(paths) + 1):
            for contiguous in (False, True):
                give_back()
                found = top_patterns(
                    paths,
                    PER_TABLE,
                    contiguous=contiguous,
                    min_length=length,
                    max_length=length,
                    different=different,
                )
                yield Mined(
                    length,
                    contiguous,
                    different,
                    tuple((tuple(paths.universe.codes(p.locations)), p.support) for p in found),
                )


class PatternTables:
    """The tables that are there so far. One thread adds, others ask.

    Args:
        longest: the length of the longest patterns that will be mined.
    """

    def __init__(self, longest: int) -> None:
        self.longest = longest
        self.has_failed = False
        self._tables: dict[tuple[int, bool, bool], Mined] = {}

    @property
    def progress(self) -> float:
        """The share of tables that are there, in [0, 1]."""
        return len(self._tables) / (4 * self.longest)

    def add(self, table: Mined) -> None:
        """One more table."""
        self._tables[table.length, table.contiguous, table.different] = table

    def find(
        self,
        k: int,
        *,
        min_length: int,
        max_length: int,
        contains: int | None,
        contiguous: bool,
        different: bool,
    ) -> Found | None:
        """The k most frequent patterns that pass; None while they are being mined.

        Ties as in `top_patterns`: the shorter first, then by location codes.

        Args:
            k: at most `PER_TABLE`.
            min_length: fewest locations.
            max_length: most locations, at most `longest`.
            contains: the code of a location that they visit; None for any.
            contiguous: whether their locations follow each other directly.
            different: whether they visit no location twice.
        """
        lengths = range(min_length, max_length + 1)
        tables = [self._tables.get((length, contiguous, different)) for length in lengths]
        there = [table for table in tables if table is not None]
        if len(there) < len(tables):
            return None
        passing = [
            (codes, support)
            for table in there
            for codes, support in table.patterns
            if contains is None or contains in codes
        ]
        passing.sort(key=lambda pattern: (-pattern[1], len(pattern[0]), pattern[0]))
        shown = passing[:k]
        floor = int(np.max([table.floor for table in there], initial=0))
        is_exact = contains is None or (len(shown) == k and shown[-1][1] > floor)
        return Found(shown, 0 if is_exact else floor)
