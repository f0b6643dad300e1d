"""The main question: how many visited all of these locations?"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from pydantic import Field

from pathveil.analysis.timed_queries import Step, has_windows, read_step
from pathveil.analysis.visit_index import codes_of
from pathveil.core.error_table import ANY, HOURS, NOISE, ORDERED, USUAL_LEVEL, Estimate
from pathveil.errors import QueryError
from pathveil.explorer.answers import BEST, HIGH, LOW, MARK, Answer
from pathveil.explorer.asking import Asked
from pathveil.explorer.indexed_release import IndexedRelease, Window
from pathveil.times.time_windows import slots_in

Order = Literal["any", "given"]


class Counted(Answer):
    """How many released trajectories visit all of the locations."""

    locations: list[str] = Field(description="What was asked for.")
    order: Order = Field(description="any: in any order; given: in the order asked for.")
    during: str | None = Field(description="The hours in which all visits lie; null: any.")
    count: int = Field(description="As released.")
    low: int | None = LOW
    high: int | None = HIGH
    best: int | None = BEST
    mark: str | None = MARK
    level: float | None = Field(description="How often such intervals hold the true count.")
    at_most: int | None = Field(
        description="If nothing was measured that tells how far such an answer is off: as many "
        "visit the rarest of the locations at all, at most; the interval ends there. Else null."
    )
    says: list[str] = Field(description="The answer in plain words.")


def counted(indexed: IndexedRelease, asked: Asked) -> Counted:
    """The answer of ``/api/count``."""
    return count(indexed, asked, USUAL_LEVEL)


def count(indexed: IndexedRelease, asked: Asked, level: float) -> Counted:
    """The answer to a question with intervals of some level."""
    texts, during = asked.texts("location"), asked.text("during") or None
    if not texts:
        raise QueryError("Name at least one location: ?location=A&location=B.")
    in_order = asked.text("order") == "given"
    release = indexed.release
    steps = [read_step(text, release.askable) for text in texts]
    labels = [step if isinstance(step, str) else step[0] for step in steps]
    is_plain = not in_order and during is None and not has_windows(steps)
    if is_plain:
        found = release.count(labels, level=level)
    else:
        number = _counted(indexed, steps, during, in_order=in_order)
        found = _with_interval(indexed, labels, number, level, _kind(steps, during))
    answer = Counted(
        locations=texts,
        order="given" if in_order else "any",
        during=during,
        count=int(found),
        low=found.low,
        high=found.high,
        best=found.best,
        mark=found.mark,
        level=found.level,
        at_most=found.high if found.is_bound else None,
        says=[],
    )
    return answer.model_copy(update={"says": _words(answer)})


def _kind(steps: Sequence[Step], during: str | None) -> str:
    """Of a question about an order or about hours."""
    if during is not None or has_windows(steps):
        return HOURS
    return ORDERED if len(steps) > 1 else ANY


def _with_interval(
    indexed: IndexedRelease, labels: list[str], count: int, level: float, kind: str
) -> Estimate:
    answering = indexed.release.answering
    if answering is None:
        return Estimate(count)
    codes = codes_of(indexed.release.askable, labels)
    return next(answering.asked(kind, [codes], np.array([count], np.int64), level).estimates())


def _counted(
    indexed: IndexedRelease, steps: Sequence[Step], during: str | None, *, in_order: bool
) -> int:
    """A count, by the index of visits; with zones by the release itself."""
    release = indexed.release
    if release.parameters.taxonomy is not None:
        asked = release if during is None else release.within(during)
        return asked.count_ordered(steps) if in_order else int(asked.count(steps))
    everywhere = None if during is None else slots_in(release.time_grid, during)
    coded = [_coded(indexed, step, everywhere) for step in steps]
    return (
        indexed.visit_positions.count_ordered(coded)
        if in_order
        else indexed.visit_positions.count(coded)
    )


def _coded(indexed: IndexedRelease, step: Step, during: Window) -> tuple[int, Window]:
    universe, grid = indexed.release.universe, indexed.release.time_grid
    if isinstance(step, str):
        return codes_of(universe, [step])[0], during
    window = slots_in(grid, step[1])
    return codes_of(universe, [step[0]])[0], window if during is None else np.logical_and(
        window, during
    )


def _words(answer: Counted) -> list[str]:
    many = len(answer.locations) > 1
    what = "visit all of these locations" if many else "visit this location"
    how = " in this order" if many and answer.order == "given" else ""
    when = f", all between {answer.during.replace('-', ' and ')}" if answer.during else ""
    lines = [f"About {answer.count:,} trajectories {what}{how}{when}."]
    if answer.at_most is not None:
        lines.append(
            "Nothing was measured that tells how far such an answer is off. But no more can do so "
            f"than visit the rarest of the locations at all: probably at most {answer.at_most:,}."
        )
    elif answer.low is not None and answer.high is not None and answer.level is not None:
        lines.append(
            f"The true number is probably between {answer.low:,} and {answer.high:,}: of 100 such "
            f"intervals about {round(100 * answer.level)} hold the true number."
        )
        if answer.mark == NOISE:
            lines.append("This answer can't be told from noise.")
    else:
        lines.append(
            "There is no interval: this release does not tell how far its answers are off."
        )
    return lines
