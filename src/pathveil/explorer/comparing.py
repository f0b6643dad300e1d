"""Two releases side by side. How a difference gets its interval, `release.differences` says."""

from functools import lru_cache

import numpy as np
from pydantic import Field

from pathveil.explorer.answers import Answer, Location, Record, Table
from pathveil.explorer.asking import Asked
from pathveil.explorer.counting import Counted, count
from pathveil.explorer.indexed_release import MOST_ROWS, IndexedRelease, single_intervals
from pathveil.release.differences import EACH_LEVEL, JOINT_LEVEL, counted_otherwise, extremes

LOW_DIFFERENCE = Field(description="The least the true difference may be; null: no interval.")
HIGH_DIFFERENCE = Field(description="The most it may be; null likewise.")


class VisitsOfTwo(Location):
    """A location in two releases; null where a universe does not have it."""

    first: int | None = Field(description="Trajectories of the first release that visit it.")
    second: int | None = Field(description="Those of the second.")
    difference: int | None = Field(description="Second less first.")
    low: int | None = LOW_DIFFERENCE
    high: int | None = HIGH_DIFFERENCE


class VisitsCompared(Table):
    """Visits in both releases, the largest differences first."""

    rows: list[VisitsOfTwo]
    names: list[str] = Field(description="The names of the two releases.")
    counted_otherwise: str | None = Field(
        description="That the two count other trips, in words; null: they do not."
    )


class LengthOfTwo(Record):
    """A length in two releases."""

    length: int
    first: int = Field(description="Trajectories of the first release.")
    second: int = Field(description="Those of the second.")
    first_share: float = Field(description="As a share of all of the first.")
    second_share: float = Field(description="As a share of all of the second.")


class LengthsCompared(Table):
    """Lengths in both releases."""

    rows: list[LengthOfTwo]
    names: list[str] = Field(description="The names of the two releases.")


class CountsCompared(Answer):
    """One question, asked of both releases."""

    first: Counted
    second: Counted
    difference: int = Field(description="Second less first.")
    low: int | None = LOW_DIFFERENCE
    high: int | None = HIGH_DIFFERENCE
    level: float | None = Field(description="How often such intervals hold the truth, at least.")
    says: list[str] = Field(description="The difference in plain words.")
    names: list[str] = Field(description="The names of the two releases.")

    def csv_rows(self) -> tuple[Counted, Counted]:
        """One row for each release."""
        return self.first, self.second


def compared_counts(one: IndexedRelease, other: IndexedRelease, asked: Asked) -> CountsCompared:
    """The answer of ``/api/compare/count``."""
    first, second = (count(indexed, asked, EACH_LEVEL) for indexed in (one, other))
    low, high = extremes((first.low, first.high), (second.low, second.high))
    difference = second.count - first.count
    return CountsCompared(
        first=first,
        second=second,
        difference=difference,
        low=low,
        high=high,
        level=None if low is None else JOINT_LEVEL,
        says=_words(difference, low, high),
        names=[one.name, other.name],
    )


def compared_visits(one: IndexedRelease, other: IndexedRelease, asked: Asked) -> VisitsCompared:
    """The answer of ``/api/compare/visits``."""
    labels = largest_differences(one, other)[: asked.integer("limit")]
    sides = [_visits_in(indexed, labels) for indexed in (one, other)]
    rows = []
    for label in labels:
        first, second = (of_one.get(label) for of_one in sides)
        named = one if first else other
        low, high = extremes(first[1:] if first else None, second[1:] if second else None)
        rows.append(
            VisitsOfTwo(
                label=label,
                name=named.name_of(named.release.universe.code(label)),
                first=first[0] if first else None,
                second=second[0] if second else None,
                difference=second[0] - first[0] if first and second else None,
                low=low,
                high=high,
            )
        )
    return VisitsCompared(
        rows=rows,
        names=[one.name, other.name],
        counted_otherwise=counted_otherwise(one.release, other.release),
    )


def compared_lengths(one: IndexedRelease, other: IndexedRelease, _asked: Asked) -> LengthsCompared:
    """The answer of ``/api/compare/lengths``."""
    first, second = dict(one.lengths.to_rows()), dict(other.lengths.to_rows())
    totals = [max(sum(of_one.values()), 1) for of_one in (first, second)]
    return LengthsCompared(
        rows=[
            LengthOfTwo(
                length=length,
                first=first.get(length, 0),
                second=second.get(length, 0),
                first_share=round(first.get(length, 0) / totals[0], 6),
                second_share=round(second.get(length, 0) / totals[1], 6),
            )
            for length in sorted(first.keys() | second.keys())
        ],
        names=[one.name, other.name],
    )


@lru_cache(maxsize=2)  # one list for each pair of releases, and there is one pair
def largest_differences(one: IndexedRelease, other: IndexedRelease) -> list[str]:
    """The labels whose visits differ most; what only one universe has differs by all of them."""
    labels, theirs = one.release.universe.labels, other.release.universe
    match = np.fromiter(
        (theirs.code(label) if label in theirs else -1 for label in labels), np.int64, len(labels)
    )
    second = np.where(match >= 0, other.visits[match], 0)
    only = np.setdiff1d(np.arange(len(theirs)), match)
    all_labels = [*labels, *(theirs.labels[code] for code in only)]
    size = np.concatenate((np.abs(second - one.visits), other.visits[only]))
    return [all_labels[i] for i in np.argsort(-size, kind="stable")[:MOST_ROWS] if size[i]]


_Visits = dict[str, tuple[int, int | None, int | None]]


def _visits_in(indexed: IndexedRelease, labels: list[str]) -> _Visits:
    """Count and 95% interval of the labels that a release's universe has."""
    universe = indexed.release.universe
    codes = np.array([universe.code(label) for label in labels if label in universe], np.int64)
    low, high = single_intervals(indexed.release, codes, EACH_LEVEL)
    return {
        universe.labels[code]: (int(indexed.visits[code]), low[i], high[i])
        for i, code in enumerate(codes.tolist())
    }


def _words(difference: int, low: int | None, high: int | None) -> list[str]:
    more = "more" if difference > 0 else "fewer"
    lines = [
        f"About {abs(difference):,} {more} in the second release."
        if difference
        else "As many in both releases."
    ]
    if low is None or high is None:
        return [*lines, "There is no interval for this difference."]
    verdict = (
        "so it is no accident of the noise" if low > 0 or high < 0 else "so noise may explain it"
    )
    span = f"The true difference is probably between {low:,} and {high:,} (at least 90%)"
    return [*lines, f"{span}, {verdict}."]
