"""Figures that are made of two answers: a share of all trajectories, a difference of two releases.

Their intervals need no model of how the two answers err together. If each lies in its 95% interval,
the figure lies between the extremes that these allow; and both do in at least 90% of cases,
whatever the two have to do with each other (the union bound). So such intervals are wider than they
would be if errors were independent, and hold if they are not.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pathveil.analysis.flows import visits
from pathveil.analysis.timed_queries import Step
from pathveil.core.error_table import ANY, Estimate, as_estimate
from pathveil.errors import QueryError
from pathveil.times.trip_rules import are_cut_alike

if TYPE_CHECKING:
    from pathveil.release.release import Release

EACH_LEVEL, JOINT_LEVEL = 0.95, 0.9
HOW = ("any", "ordered", "prefix")

Ends = tuple[int | None, int | None]


@dataclass(frozen=True, slots=True)
class Share:
    """What share of all trajectories an answer is.

    Attributes:
        value: in [0, 1].
        low, high: the interval of the true share; None if the release has no intervals.
        level: how often such intervals hold the truth, at least; None likewise.
    """

    value: float
    low: float | None = None
    high: float | None = None
    level: float | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """One question, asked of two releases.

    Attributes:
        first, second: the answers, with their 95% intervals; None where a universe does not have
            the location, or a release leaves out what is so small.
        low, high: the interval of the true difference, second less first; None if one of them has
            no interval.
        level: how often such intervals hold the truth, at least; None likewise.
    """

    first: Estimate | None
    second: Estimate | None
    low: int | None
    high: int | None
    level: float | None

    @classmethod
    def of(cls, first: Estimate | None, second: Estimate | None) -> "Difference":
        """Of two answers with 95% intervals."""
        low, high = extremes(_ends(first), _ends(second))
        return cls(first, second, low, high, None if low is None else JOINT_LEVEL)

    @property
    def value(self) -> int | None:
        """Second less first."""
        if self.first is None or self.second is None:
            return None
        return int(self.second) - int(self.first)

    @property
    def is_certain(self) -> bool:
        """Whether the noise can't explain it: 0 lies outside the interval."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


def extremes(first: Ends | None, second: Ends | None) -> Ends:
    """The interval of second less first; None if one of them has none."""
    match first, second:
        case (int(low), int(high)), (int(other_low), int(other_high)):
            return other_low - high, other_high - low
    return None, None


def _ends(answer: Estimate | None) -> Ends | None:
    return None if answer is None else (answer.low, answer.high)


def share(release: "Release", locations: Sequence[Step], how: str = "any") -> Share:
    """What share of all trajectories visits these locations; see `Release.share`."""
    part = asked(release, locations, how)
    # Nobody asks about the times of no location, so all are counted without.
    whole = as_estimate(release.count([], level=EACH_LEVEL))
    value = int(part) / max(int(whole), 1)
    if part.low is None or part.high is None or whole.low is None or whole.high is None:
        return Share(value)
    low, high = part.low / max(whole.high, 1), part.high / max(whole.low, 1)
    return Share(value, min(low, 1.0), min(high, 1.0), JOINT_LEVEL)


def difference(
    one: "Release", other: "Release", locations: Sequence[Step], how: str = "any"
) -> Difference:
    """How much more the second release answers; see `Release.difference`."""
    return Difference.of(
        _told(one, asked(one, locations, how)), _told(other, asked(other, locations, how))
    )


def _told(release: "Release", answer: Estimate) -> Estimate | None:
    """The answer, unless a release leaves out what is so small."""
    return answer if int(answer) >= release.suppress_below else None


def asked(release: "Release", locations: Sequence[Step], how: str) -> Estimate:
    """The answer to one question, with its 95% interval.

    Args:
        release: whom to ask.
        locations: of the question.
        how: "any", "ordered" or "prefix".

    Raises:
        QueryError: if it is asked in another way, or a location is unknown.
    """
    if how not in HOW:
        raise QueryError(f"Questions are asked in these ways: {', '.join(HOW)}; choose one.")
    if how == "ordered":
        return release.count_ordered(locations, level=EACH_LEVEL)
    if how == "prefix":
        return release.count_prefix(locations, level=EACH_LEVEL)
    return release.count(locations, level=EACH_LEVEL)


def differences_of_visits(one: "Release", other: "Release") -> list[tuple[str, Difference]]:
    """How many more visit each location that either universe has, the largest difference first."""
    sides = [_visitors(release) for release in (one, other)]
    labels = dict.fromkeys(label for side in sides for label in side)
    found = [(label, Difference.of(*(side.get(label) for side in sides))) for label in labels]
    return sorted(
        (row for row in found if row[1].first or row[1].second),
        key=lambda row: -abs(int(row[1].second or 0) - int(row[1].first or 0)),
    )


def _visitors(release: "Release") -> dict[str, Estimate]:
    """How many visit each location, with 95% intervals."""
    counts = visits(release).counts
    labels: Collection[str] = release.universe.labels
    if release.answering is None:
        answers = [Estimate(count) for count in counts.tolist()]
    else:
        codes = [(code,) for code in range(len(counts))]
        answers = list(
            release.answering.asked(ANY, codes, counts.astype(np.int64), EACH_LEVEL).estimates()
        )
    return {
        label: answer
        for label, answer in zip(labels, answers, strict=True)
        if int(answer) >= release.suppress_below
    }


def counted_otherwise(first: "Release", second: "Release") -> str | None:
    """That the two count other trips, or other numbers of them, in words; None if they do not."""
    bounds = [one.parameters.max_trajectories_per_unit for one in (first, second)]
    if not are_cut_alike(first.rules, second.rules):
        return (
            "The two count other things: their trajectories were made by other rules, which "
            "`pathveil explain` tells. Differences may come from that alone."
        )
    if bounds[0] == bounds[1]:
        return None
    return (
        f"At most {bounds[0]:,} trajectories of a unit are counted in the first and {bounds[1]:,} "
        "in the second: differences may come from that alone. Compare shares of all trajectories, "
        "or publish both with one number."
    )
