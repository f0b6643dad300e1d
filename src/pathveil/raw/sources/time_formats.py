"""Times that are not ISO 8601: by a public format, in the letters of Python's ``strptime``.

A format is a choice like the order column itself: it is given, never found out from the values, for
``03/04/2026`` is in March or in April, and one person's ``13/04/2026`` must not settle that for
everybody. A value that does not fit it is unreadable, on its own. The named formats are several
formats each; a value is read by the first that it fits, which depends on that value alone.

| letter | what it reads |
|---|---|
| `%d` `%m` `%H` `%I` `%M` `%S` | day, month, hours of 24 or 12, minute, second: one digit or two |
| `%Y` `%y` | year: four digits, or two (69 to 99 are of the last century) |
| `%b` | month: the first three letters of its English name |
| `%f` `%p` `%z` | fraction of a second; AM or PM; ``Z``, ``±hh``, ``±hhmm`` or ``±hh:mm`` |

A space stands for one or more, and ``%%`` for ``%``.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from pathveil.errors import ParameterError, did_you_mean
from pathveil.raw.sources.text_columns import OrderKeys, Texts

ISO: Final = "iso"
_CLOCKS: Final = (" %H:%M:%S", " %H:%M", ", %H:%M:%S", ", %H:%M", "")
_TWELVE: Final = (" %I:%M:%S %p", " %I:%M %p", ", %I:%M:%S %p", ", %I:%M %p")


def _dated(date: str, clocks: tuple[str, ...] = _CLOCKS) -> tuple[str, ...]:
    years = (date, date.replace("%Y", "%y"))
    return tuple(f"{year}{clock}" for year in years for clock in clocks)


NAMED: Final = {
    "de": _dated("%d.%m.%Y"),
    "us": _dated("%m/%d/%Y", _TWELVE + _CLOCKS),
    "uk": _dated("%d/%m/%Y"),
}

# A letter is coded by the negative of its ASCII code, a literal by its own, the end by 0.
_LETTERS: Final = "dmYybHIMSfpz"
_ONCE: Final = ("d", "mb", "Yy", "HI", "M", "S", "f", "p", "z")
END: Final = 0


@dataclass(frozen=True, slots=True)
class TimeFormat:
    """How times are written.

    Attributes:
        name: as it was asked for: "de", "us", "uk", or a format.
        program: the formats that are tried, one after the other, as codes.
    """

    name: str
    program: tuple[int, ...]

    @classmethod
    def parse(cls, text: object) -> "TimeFormat | None":
        """By a name or a format; None for ISO 8601, the default.

        Raises:
            ParameterError: if it is neither, or leaves the date open.
        """
        if text == ISO:
            return None
        if not isinstance(text, str) or (text not in NAMED and "%" not in text):
            raise ParameterError(
                f"The time format is iso, {', '.join(NAMED)}, or a format such as "
                f"'%d.%m.%Y %H:%M'.{did_you_mean(text, [ISO, *NAMED])}"
            )
        formats = NAMED.get(text, (text,))
        return cls(text, tuple(code for one in formats for code in (*_codes(one), END)))

    @property
    def example(self) -> str:
        """One of the formats, for `strftime`."""
        return NAMED[self.name][0] if self.name in NAMED else self.name

    def order_keys(self, texts: Texts) -> OrderKeys:
        """Read times from their text; what does not fit is unreadable."""
        from pathveil.raw.sources.time_parsing import parse  # compiled: the compiler starts slowly

        integer = np.zeros(len(texts), dtype=np.int64)
        rest = np.empty(len(texts), dtype=np.uint64)
        zoneless = np.zeros(len(texts), dtype=np.bool_)
        program = np.array(self.program, dtype=np.int64)
        parse(texts.starts, texts.stops, texts.data, program, integer, rest, zoneless)
        return OrderKeys(integer, rest, zoneless)


def _codes(text: str) -> list[int]:
    """The codes of one format."""
    codes: list[int] = []
    rest = iter(text.encode())
    for byte in rest:
        if byte != ord("%"):
            codes.append(byte)
            continue
        letter = chr(next(rest, 0))
        if letter == "%":
            codes.append(byte)
        elif letter in _LETTERS:
            codes.append(-ord(letter))
        else:
            raise ParameterError(
                f"The time format has a %{letter[:1]}, which is not among those that are read: "
                f"{', '.join(f'%{known}' for known in _LETTERS)}."
            )
    _check(codes)
    return codes


def _check(codes: list[int]) -> None:
    times = {group: sum(codes.count(-ord(letter)) for letter in group) for group in _ONCE}
    if any(number > 1 for number in times.values()):
        raise ParameterError("The time format says one thing twice; leave one of them out.")
    if not times["d"] or not times["mb"] or not times["Yy"]:
        raise ParameterError("The time format must have a day, a month and a year: %d, %m, %Y.")
    if (-ord("I") in codes) != (-ord("p") in codes):
        raise ParameterError("In a time format %I (hours up to 12) and %p (AM or PM) go together.")
    if END in codes:
        raise ParameterError("The time format holds a NUL character.")
