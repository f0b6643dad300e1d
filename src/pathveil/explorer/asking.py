"""What a request may ask for: parameters are declared once, and checked before anything runs."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pathveil.errors import QueryError

MOST_VALUES = 50
MOST_CHARACTERS = 500


class NotThereError(QueryError):
    """What is asked for does not exist; HTTP status 404."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a request.

    Attributes:
        name: as it stands in the query.
        says: what it is.
        schema: JSON Schema of one value: a whole number with bounds, text, or one of a few texts.
        default: what it is if it is not given; None if there is none.
        many: whether it may be repeated.
    """

    name: str
    says: str
    schema: dict[str, Any] = field(default_factory=lambda: {"type": "string"})
    default: int | str | None = None
    many: bool = False

    def read(self, values: Sequence[str]) -> int | str | list[str] | None:
        """The value of a request's texts.

        Raises:
            QueryError: if it does not fit the schema.
        """
        if self.many:
            if len(values) > MOST_VALUES:
                raise QueryError(f"Give {self.name!r} at most {MOST_VALUES} times.")
            return [self._text(value) for value in values]
        if len(values) > 1:
            raise QueryError(f"Give {self.name!r} once.")
        if not values:
            return self.default
        if self.schema["type"] == "integer":
            return self._integer(values[0])
        return self._text(values[0])

    def _integer(self, value: str) -> int:
        least, most = self.schema["minimum"], self.schema["maximum"]
        # isdecimal: int() would also take "1_000", and digits without end take long to read.
        number = int(value) if value.isdecimal() and len(value) < len(str(most)) + 2 else least - 1
        if not least <= number <= most:
            raise QueryError(f"{self.name!r} must be a whole number from {least} to {most}.")
        return number

    def _text(self, value: str) -> str:
        allowed = self.schema.get("enum")
        if allowed is not None and value not in allowed:
            raise QueryError(f"{self.name!r} must be one of {', '.join(allowed)}.")
        if len(value) > MOST_CHARACTERS:
            raise QueryError(f"{self.name!r} is longer than {MOST_CHARACTERS} characters.")
        return value


@dataclass(frozen=True, slots=True)
class Asked:
    """The parameters of one request, checked; each is asked for by its type."""

    values: dict[str, int | str | list[str] | None]

    @classmethod
    def read(cls, parameters: Sequence[Parameter], query: Sequence[tuple[str, str]]) -> "Asked":
        """Check a query against the parameters of its route.

        Raises:
            QueryError: if a parameter is unknown or malformed.
        """
        known = {parameter.name for parameter in parameters}
        for name, _ in query:
            if name not in known:
                offered = ", ".join(sorted(known)) or "none"
                raise QueryError(f"There is no parameter {name[:80]!r} here; there is: {offered}.")
        return cls(
            {
                parameter.name: parameter.read(
                    [value for name, value in query if name == parameter.name]
                )
                for parameter in parameters
            }
        )

    def integer(self, name: str) -> int:
        """A whole number that is always there."""
        value = self.values[name]
        if not isinstance(value, int):
            raise QueryError(f"{name!r} is missing.")
        return value

    def text(self, name: str) -> str | None:
        """A text, or None."""
        value = self.values[name]
        return value if isinstance(value, str) else None

    def texts(self, name: str) -> list[str]:
        """All texts of a parameter that may be repeated."""
        value = self.values[name]
        return value if isinstance(value, list) else []


def integer(name: str, says: str, *, default: int | None, least: int, most: int) -> Parameter:
    """A parameter that is a whole number."""
    return Parameter(
        name, says, {"type": "integer", "minimum": least, "maximum": most}, default=default
    )


def choice(name: str, says: str, *texts: str) -> Parameter:
    """A parameter that is one of a few texts; the first is the default."""
    return Parameter(name, says, {"type": "string", "enum": list(texts)}, default=texts[0])
