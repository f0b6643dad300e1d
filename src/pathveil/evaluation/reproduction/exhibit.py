"""A figure or table of the reproduction: its numbers, its drawing, its words."""

import csv
from dataclasses import dataclass
from io import StringIO

from pathveil.evaluation.reproduction.results import Statistic

Value = str | int | float


@dataclass(frozen=True, slots=True)
class Exhibit:
    """One figure or table.

    Attributes:
        stem: the file name without ``INTERNAL-`` and ending.
        title: as on the page.
        note: what one must know to read it.
        columns: of the CSV file.
        rows: of the CSV file, one observation each.
        shown_columns: of the table on the page.
        shown_rows: of the table on the page.
        svg: the drawing, if there is one.
    """

    stem: str
    title: str
    note: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    shown_columns: tuple[str, ...]
    shown_rows: tuple[tuple[Value, ...], ...]
    svg: str | None = None

    def to_csv(self) -> str:
        """The rows as CSV."""
        text = StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        return text.getvalue()


def shown(statistic: Statistic, places: int) -> str:
    """Mean ± spread for people."""
    mean = f"{statistic.mean:,.{places}f}"
    return f"{mean} ± {statistic.spread:,.{places}f}" if statistic.runs > 1 else mean
