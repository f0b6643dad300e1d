"""One entry of a ledger: what happened, when, and the hash of the entry before.

An entry is kept as canonical JSON (sorted keys, no spaces, ASCII). Its hash is the SHA-256 of that
text, which holds the previous hash: so each hash speaks for the whole chain before it.
"""

import hashlib
import json
from datetime import UTC, datetime
from fractions import Fraction
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
)

from pathveil.errors import LedgerError
from pathveil.ledger.periods import Period
from pathveil.times.protected_units import PERSON, Protect

VERSION: Literal[1] = 1
NO_HASH = "0" * 64
NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
Disjoint = Literal["declared disjoint: no unit is in two populations of this dataset"]
DISJOINT: Disjoint = "declared disjoint: no unit is in two populations of this dataset"
LAST_YEAR = 9000
MOST_RELEASES = 1000

Name = Annotated[str, Field(pattern=NAME)]
Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
ExactOrZero = Annotated[str, Field(pattern=r"^(0|[1-9][0-9]{0,99}(/[1-9][0-9]{0,99})?)$")]
Exact = Annotated[str, Field(pattern=r"^[1-9][0-9]{0,99}(/[1-9][0-9]{0,99})?$")]


_DAY = r"[0-9]{4}(-[0-9]{2}(-[0-9]{2})?)?"
PeriodText = Annotated[str, Field(pattern=rf"^{_DAY}(/{_DAY})?$")]


def _is_a_time(text: str) -> str:
    if datetime.fromisoformat(text).year > LAST_YEAR:
        raise ValueError("too far in the future")
    return text


Time = Annotated[
    str,
    Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"),
    AfterValidator(_is_a_time),
]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Opened(_Part):
    """The first entry: which ledger this is."""

    kind: Literal["opened"] = "opened"
    version: Literal[1] = VERSION
    identity: Hash = Field(description="Random, so that no two ledgers share a hash.")


class Defined(_Part):
    """A dataset was set up, or its limit or populations were changed."""

    kind: Literal["defined"] = "defined"
    dataset: Name
    limit: Exact
    delta_limit: ExactOrZero
    period: Period | None
    populations: tuple[Name, ...]
    declaration: Disjoint | None
    reason: str = Field(max_length=500)
    protect: tuple[Protect, ...] = Field(
        default=(), description="Whom its releases may protect; none: whom the first one does."
    )

    @model_serializer(mode="wrap")
    def _as_it_was_written(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        values: dict[str, Any] = handler(self)
        if not self.protect:
            values.pop("protect")
        return values


class Planned(_Part):
    """A series of releases was opened, and all of it charged; or it got more or fewer releases."""

    kind: Literal["planned"] = "planned"
    series: Name
    dataset: Name
    population: Name | None
    releases: int = Field(ge=1, le=MOST_RELEASES)
    epsilon: Exact = Field(description="What all of them together have cost: ε …")
    delta: ExactOrZero = Field(description="… and δ.")
    rho: Exact | None = Field(description="What they share: this ρ; null: that ε.")
    reason: str = Field(max_length=500)


class Share(_Part):
    """Which release of a series a charge pays for."""

    series: Name
    release: int = Field(ge=1, description="Its number: the first is 1.")
    period: PeriodText = Field(description="When its data is from, as the publisher says.")
    rho: Exact | None = Field(description="What it takes of the series' ρ; null: ε is taken.")
    previous: Hash | None = Field(
        description="The SHA-256 of the certificate of the release that it starts from."
    )


class Charged(_Part):
    """ε (and δ) was spent, whatever became of the run.

    That of a release of a series was charged to the dataset when the series was opened: ``share``
    then says what is taken of it. Entries without one have no such word, as they always had.
    """

    kind: Literal["charged"] = "charged"
    dataset: Name
    population: Name | None
    epsilon: Exact
    delta: ExactOrZero = Field(description="δ: 0, unless the release is only approximately DP.")
    share: Share | None = None
    protect: Protect = Field(
        default=PERSON,
        description="Whose ε it is; absent: a person's, one value of the unit column.",
    )

    @model_serializer(mode="wrap")
    def _as_it_was_written(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        values: dict[str, Any] = handler(self)
        if self.share is None:
            values.pop("share")
        if self.protect == PERSON:
            values.pop("protect")
        return values


class Begun(_Part):
    """Noise is about to be drawn for a charge: from now on it pays for no other release."""

    kind: Literal["begun"] = "begun"
    charge: int = Field(ge=1, description="The number of the entry that pays for it.")


class Published(_Part):
    """The run of a charge wrote a bundle with this certificate."""

    kind: Literal["published"] = "published"
    charge: int = Field(ge=1, description="The number of the entry that paid for it.")
    certificate_sha256: Hash


class Required(_Part):
    """From now on `pathveil publish` needs a dataset to charge, or no longer does."""

    kind: Literal["required"] = "required"
    required: bool
    reason: str = Field(max_length=500)


class Withdrawn(_Part):
    """The release of a charge is not to be used any more. What it cost stays spent."""

    kind: Literal["withdrawn"] = "withdrawn"
    charge: int = Field(ge=1, description="The number of the entry that paid for it.")
    reason: str = Field(min_length=1, max_length=500)


class Corrected(_Part):
    """A later release takes the place of one. What both cost stays spent."""

    kind: Literal["corrected"] = "corrected"
    charge: int = Field(ge=1, description="The number of the entry that paid for the old one.")
    by: int = Field(ge=1, description="The number of the entry that paid for the new one.")
    reason: str = Field(min_length=1, max_length=500)


Event = Annotated[
    Opened | Defined | Planned | Charged | Begun | Published | Withdrawn | Corrected | Required,
    Field(discriminator="kind"),
]


class Entry(_Part):
    """One line of the ledger.

    Attributes:
        totals: the hash of what all datasets have spent once it is entered (`Books.text`), so that
            the last entry speaks for the sums as it does for the entries. None in entries of
            earlier versions, whose text has no such word.
    """

    number: int = Field(ge=0)
    at: Time
    previous: Hash
    event: Event
    totals: Hash | None = None

    @model_serializer(mode="wrap")
    def _as_it_was_written(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        values: dict[str, Any] = handler(self)
        if self.totals is None:
            values.pop("totals")
        return values

    @property
    def time(self) -> datetime:
        """When it was written, in UTC, to the second."""
        return datetime.fromisoformat(self.at)

    def text(self) -> str:
        """The canonical JSON."""
        return json.dumps(self.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))

    @property
    def hash(self) -> str:
        """The SHA-256 of the canonical JSON, in hexadecimal."""
        return hashlib.sha256(self.text().encode()).hexdigest()

    def row(self) -> "Row":
        """As it is stored."""
        return Row(self.number, self.text(), self.hash)


class Row(NamedTuple):
    """An entry as a store keeps it."""

    number: int
    text: str
    hash: str


def read_row(row: Row) -> Entry:
    """The entry of a stored row, if the row is what was written.

    Raises:
        LedgerError: if it was changed.
    """
    if not isinstance(row.text, str) or not isinstance(row.number, int):
        raise LedgerError("A row of the ledger is not an entry. Restore it from a backup.")
    if _newer(row):
        raise LedgerError(
            "The ledger was written by a newer version of pathveil. Upgrade pathveil to use it."
        )
    try:
        entry = Entry.model_validate_json(row.text)
        unchanged = (entry.text(), entry.hash, entry.number) == (row.text, row.hash, row.number)
    except (ValidationError, ValueError):
        unchanged = False
    if not unchanged:
        raise LedgerError(
            f"Entry {row.number} of the ledger was changed after it was written: its text and its "
            "hash do not agree. Nothing is charged to a ledger that was tampered with; restore it "
            "from a backup."
        )
    return entry


def _newer(row: Row) -> bool:
    """Whether the first entry says that it has a later layout than we know."""
    if row.number:
        return False
    try:
        version = json.loads(row.text)["event"]["version"]
    except (ValueError, TypeError, LookupError, RecursionError):
        return False
    return isinstance(version, int) and version > VERSION


def written_at(moment: datetime) -> str:
    """A moment as an entry writes it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def check_clock(moment: datetime) -> None:
    """Refuse a clock that nobody can have set right: its time would stay in the ledger for ever.

    Raises:
        LedgerError: if it is so far in the future that calendars end.
    """
    if moment.year > LAST_YEAR:
        raise LedgerError(
            f"The computer's clock says that it is the year {moment.year}. Set it right, and try "
            "again. No entry was added."
        )


def exact(text: str) -> Fraction:
    """The fraction that an `Exact` text says."""
    return Fraction(text)
