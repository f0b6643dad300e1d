"""The least that every finding needs: a claim, a figure, a verdict."""

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["agrees", "agrees in part", "differs", "can't be compared"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One claim.

    Attributes:
        where: the paper's place.
        paper: what it says.
        ours: what we measured.
        verdict: whether ours bears it out.
    """

    where: str
    paper: str
    ours: str
    verdict: Verdict


def verdict(holds: int, of: int) -> Verdict:
    """From how many of several comparisons bear a claim out: all, at least half, or fewer."""
    return "agrees" if holds == of else "agrees in part" if 2 * holds >= of else "differs"


def percent(share: float) -> str:
    """A share for people."""
    return f"{100 * share:.1f}%"
