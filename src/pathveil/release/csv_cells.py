"""Labels as CSV cells that no spreadsheet takes for a formula.

A cell that starts with one of ``= + - @``, a tab or a carriage return is executed by some
spreadsheets. Such a label gets an apostrophe in front, the spreadsheets' own sign for "this is
text"; a label that starts with an apostrophe gets a second one, so the way back is exact.
"""

_RISKY = ("=", "+", "-", "@", "\t", "\r", "'")


def escape(label: str) -> str:
    """The cell for a label."""
    return "'" + label if label.startswith(_RISKY) else label


def unescape(cell: str) -> str:
    """The label of a cell."""
    return cell.removeprefix("'")
