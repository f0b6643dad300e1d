"""An answer as CSV: a row for each of its rows, with cells that no spreadsheet executes."""

import csv
import io
from typing import Any

from pathveil.explorer.shapes import Answer
from pathveil.release.csv_cells import escape


def csv_text(answer: Answer) -> str:
    """The table, with a header; lists are joined by ``→``, and what is not there is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    rows = [dict(row) for row in answer.csv_rows()]
    columns = list(rows[0]) if rows else []
    writer.writerow(columns)
    writer.writerows([_cell(row[column]) for column in columns] for row in rows)
    return text.getvalue()


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, list):
        value = " → ".join(map(str, value))
    return escape(value) if isinstance(value, str) else value
