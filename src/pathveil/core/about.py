"""Who publishes a release, what it is called, and which city and time it is about.

All of it is said by the publisher and becomes public; nothing is taken from the data, and nobody
can check more than the form. It stands on the certificate, from which the pages, the citation and
the data package repeat it.
"""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import date
from pathlib import Path
from typing import Any, ClassVar, Final
from unicodedata import category

from pathveil.errors import ParameterError
from pathveil.plain_files import open_named

LONGEST: Final = 200
_MOST_BYTES: Final = 20_000
_CONTROLS: Final = {"Cc", "Cs", "Cn", "Co", "Zl", "Zp"}
# Signs that turn the direction of what stands behind them, and show nothing themselves.
_TURNING: Final = frozenset(
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
_LICENCE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")
_ADDRESS: Final = re.compile(r"https://[A-Za-z0-9][^\s<>\"'`{}|\\^]*")
_MAIL: Final = re.compile(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9][A-Za-z0-9.-]*\.[A-Za-z]{2,}")
_DATE: Final = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class About:
    """What the publisher says of a release; each is None if nothing is said.

    Attributes:
        title: what it is called.
        publisher: who publishes it.
        licence: its licence: an SPDX name such as CC-BY-4.0, or an https:// address.
        contact: an e-mail address or an https:// address to ask at.
        period: when the data is from: 2026, 2026-03, 2026-03-02, or two of them with a slash
            between.
        city: which city or region it is about.

    Raises:
        ParameterError: if one can't be used.
    """

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    title: str | None = None
    publisher: str | None = None
    licence: str | None = None
    contact: str | None = None
    period: str | None = None
    city: str | None = None

    def __post_init__(self) -> None:
        for name, text in self:
            _check_text(name, text)
        if self.licence is not None and not _is_licence(self.licence):
            raise ParameterError(
                "The licence must be an SPDX name such as CC-BY-4.0 or ODbL-1.0, or an https:// "
                "address."
            )
        if self.contact is not None and not (
            _MAIL.fullmatch(self.contact) or is_address(self.contact)
        ):
            raise ParameterError(
                "The contact must be an e-mail address, such as data@city.example, or an https:// "
                "address."
            )
        if self.period is not None:
            check_days(self.period)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """What is said: its name and its text."""
        return ((name, text) for name, text in asdict(self).items() if text is not None)

    def __bool__(self) -> bool:
        return any(True for _ in self)

    @classmethod
    def of(cls, said: "About | Mapping[str, object] | str | os.PathLike[str] | None") -> "About":
        """The value of what was given: itself, its fields by name, or a TOML file with them.

        Raises:
            ParameterError: if it can't be used.
        """
        if said is None:
            return cls()
        if isinstance(said, cls):
            return said
        if isinstance(said, str | os.PathLike):
            return cls._read(Path(said))
        if not isinstance(said, Mapping):
            raise ParameterError("about: give an About, its fields by name, or a TOML file.")
        known = [field.name for field in fields(cls)]
        for name in said:
            if name not in known:
                raise ParameterError(
                    f"A release has no {str(name)[:40]!r} of its own: say {', '.join(known)}."
                )
        return cls(**said)  # type: ignore[arg-type]  # each is checked

    @classmethod
    def _read(cls, path: Path) -> "About":
        try:
            with open_named(path) as file:
                said = tomllib.loads(file.read(_MOST_BYTES).decode("utf-8-sig"))
        except OSError as error:
            raise ParameterError(f"Can't read {path}: {error.strerror}.") from None
        except ValueError:  # TOML's own and that of UTF-8
            raise ParameterError(
                f'{path} is no TOML file in UTF-8: write lines such as title = "Taps of March".'
            ) from None
        return cls.of(said)


def is_address(text: str) -> bool:
    """Whether it is an address that a page may show as one."""
    return _ADDRESS.fullmatch(text) is not None


def _is_licence(text: str) -> bool:
    return _LICENCE.fullmatch(text) is not None or is_address(text)


def _check_text(name: str, text: object) -> None:
    if not isinstance(text, str):
        raise ParameterError(f"The {name} must be text, not a {type(text).__name__}.")
    if not text or text != text.strip():
        raise ParameterError(f"The {name} is empty, or begins or ends with a space.")
    if len(text) > LONGEST:
        raise ParameterError(f"The {name} is longer than {LONGEST} characters.")
    if any(category(one) in _CONTROLS or one in _TURNING for one in text):
        raise ParameterError(
            f"The {name} holds a control character, or one that turns the direction of writing; "
            "write it on one line, in plain text."
        )


def check_days(text: str) -> None:
    """Refuse a text that is not when data is from.

    Raises:
        ParameterError: if so.
    """
    parts = text.split("/")
    days = [_days(part) for part in parts]
    if len(parts) > 2 or None in days:  # noqa: PLR2004  (from and to)
        raise ParameterError(
            "The period must be 2026, 2026-03 or 2026-03-02, or two such dates with a slash "
            "between, as 2026-03-02/2026-03-08."
        )
    first, last = days[0], days[-1]
    if first is not None and last is not None and last < first:
        raise ParameterError("The period ends before it begins.")


def _days(text: str) -> date | None:
    """The first day of a year, month or day that is written so; None if there is none."""
    found = _DATE.fullmatch(text)
    if found is None:
        return None
    try:
        return date(*(int(part or 1) for part in found.groups()))
    except ValueError:
        return None
