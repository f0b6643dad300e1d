"""Labels as CSV cells that no spreadsheet takes for a formula.

A cell that starts with one of ``= + - @``, a tab or a carriage return is executed by some
spreadsheets. Where the comma is the decimal sign they cut rows at semicolons instead of commas, and
quotes inside a row do not stop them: there a cell also starts behind each semicolon. Such a place
gets an apostrophe, the spreadsheets' own sign for "this is text"; one that has an apostrophe there
already gets a second one, so the way back is exact.
"""

import re

_RISKY = re.compile(r"(^|;)(?=[=+\-@\t\r'])")
_ESCAPED = re.compile(r"(^|;)'")


def escape(label: str) -> str:
    """The cell for a label."""
    return _RISKY.sub(r"\1'", label)


def unescape(cell: str) -> str:
    """The label of a cell."""
    return _ESCAPED.sub(r"\1", cell)
