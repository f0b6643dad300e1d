"""The shapes of answers: what is sent as JSON, described in the API's document, and told as CSV."""

from collections.abc import Iterable
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field

from pathveil.core.error_table import as_estimate
from pathveil.explorer.indexed_release import IndexedRelease

LOW = Field(description="The least the true count may be; null: the release has no interval.")
HIGH = Field(description="The most it may be; null likewise.")
BEST = Field(description="The middle of what the true count may be: what a list shows.")
RULE_FIELD = Field(description="What the marks mean.")
MARK = Field(description="reliable, rough or noise (it can't be told from noise); null likewise.")


class Record(BaseModel):
    """An answer, or a part of one."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Location(Record):
    """A location."""

    label: str = Field(description="Its label in the universe.")
    name: str = Field(description="Its display name; empty if it has none.")

    @classmethod
    def at(cls, indexed: IndexedRelease, code: int, **more: Any) -> Self:
        """The location with a code."""
        return cls(label=indexed.release.askable.labels[code], name=indexed.name_of(code), **more)


class Figure(Record):
    """A count with its interval; null where the release has none."""

    count: int = Field(description="As released.")
    low: int | None = LOW
    high: int | None = HIGH
    best: int | None = BEST
    mark: str | None = MARK


def figure(count: int) -> dict[str, Any]:
    """The fields of a `Figure`."""
    known = as_estimate(count)
    return {
        "count": int(known),
        "low": known.low,
        "high": known.high,
        "best": known.best,
        "mark": known.mark,
    }


class Answer(Record):
    """A whole answer. As CSV it is a row; `Table` has several."""

    def csv_rows(self) -> Iterable[Record]:
        """The rows of its CSV file."""
        return (self,)


class Table(Answer):
    """An answer with rows."""

    rows: Any

    def csv_rows(self) -> Iterable[Record]:
        """The rows of its CSV file."""
        rows: Iterable[Record] = self.rows
        return rows


class Error(Answer):
    """Why there is no answer."""

    error: str = Field(description="What is wrong and what to do.")


class Waiting(Answer):
    """The answer is still being worked out; ask again."""

    waiting: str = Field(description="What for.")
    progress: float = Field(ge=0, le=1, description="The share that is done.")
