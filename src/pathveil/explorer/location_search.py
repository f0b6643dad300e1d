"""Completion: which locations does a half-typed text mean?

All labels and names stand in one long text, so a search is a few passes of the C library over it
and takes milliseconds for a million locations. Case and accents do not matter.
"""

import unicodedata
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.model.universe import Universe

# Neither can be part of a label or a name: control characters are refused.
_LABEL, _NAME = "\n", "\x1f"


@dataclass(frozen=True, slots=True, repr=False)
class LocationSearch:
    """The labels and names of a universe, ready to be searched.

    Attributes:
        text: for each location a line feed, its label, a unit separator and its name, folded.
        starts: int64, shape (|L|,); where each location begins in the text.
    """

    text: str
    starts: NDArray[np.int64]

    @classmethod
    def build(cls, universe: Universe) -> "LocationSearch":
        """Fold all labels and names."""
        names = universe.names or ("",) * len(universe)
        entries = [
            f"{_LABEL}{folded(label)}{_NAME}{folded(name)}"
            for label, name in zip(universe.labels, names, strict=True)
        ]
        lengths = np.fromiter(map(len, entries), np.int64, len(entries))
        return cls("".join(entries) + _LABEL, np.cumsum(lengths) - lengths)

    def find(self, typed: str, limit: int) -> list[int]:
        """The codes of up to ``limit`` locations, best first.

        A label that is the text comes first; then labels and names that begin with it, words
        that do, and texts that hold it anywhere; within each the universe's order.
        """
        wanted = folded(typed).strip()
        if not wanted:
            return list(range(min(limit, len(self.starts))))
        found: dict[int, None] = {}
        for needle in (
            f"{_LABEL}{wanted}{_NAME}",
            f"{_LABEL}{wanted}",
            f"{_NAME}{wanted}",
            f" {wanted}",
            wanted,
        ):
            self._add(needle, found, limit)
        return list(found)

    def _add(self, needle: str, found: dict[int, None], limit: int) -> None:
        at = self.text.find(needle)
        while at >= 0 and len(found) < limit:
            code = int(np.searchsorted(self.starts, at, side="right")) - 1
            found.setdefault(code)
            # On to the next location: a text may occur many times in one.
            after = self.starts[code + 1] if code + 1 < len(self.starts) else len(self.text)
            at = self.text.find(needle, max(int(after), at + 1))


def folded(text: str) -> str:
    """A text without case and accents: ``Crémazie`` is found by ``cremazie``."""
    if text.isascii():
        return text.lower()
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(part for part in parts if not unicodedata.combining(part))
