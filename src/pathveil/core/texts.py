"""Texts that other programs read: CSV cells that no spreadsheet executes, JSON that says one thing.

Labels as CSV cells that no spreadsheet takes for a formula.

A cell that starts with one of ``= + - @`` (in some countries in their full width, too), a tab or a
carriage return is executed by some spreadsheets, also behind spaces or quotes. Where the comma is
the decimal sign they cut rows at semicolons instead of commas, and quotes inside a row do not stop
them: there a cell also starts behind each semicolon, as behind other signs that people choose to
cut at. Such a place gets an apostrophe, the spreadsheets' own sign for "this is text"; one that
has an apostrophe there already gets a second one, so the way back is exact.
"""

import json
import re
from typing import Any

_RISKY = re.compile(r"""(^|[;|\t])(?='|["\s]*[=+\-@\t\r＝＋－＠])""")
_ESCAPED = re.compile(r"(^|[;|\t])'")


def escape(label: str) -> str:
    """The cell for a label."""
    return _RISKY.sub(r"\1'", label)


def unescape(cell: str) -> str:
    """The label of a cell."""
    return _ESCAPED.sub(r"\1", cell)


# JSON from others: read in one way only.


class RepeatedNameError(ValueError):
    """An object names something twice: readers of JSON disagree about which of the two counts."""


def read_json(content: bytes | str) -> Any:
    """What a JSON text says, if no object in it names anything twice.

    Raises:
        RepeatedNameError: if one does.
        ValueError: if it is no JSON, or nested too deeply.
    """
    try:
        return json.loads(content, object_pairs_hook=_without_repeats)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise RepeatedNameError
    return found
