"""The error table in a bundle: one row per number of locations and size of the estimate."""

import csv
import io
from pathlib import Path

import numpy as np

from pathveil.errors import ReleaseError
from pathveil.release.plain_files import read_plain
from pathveil.uncertainty.error_table import LEVELS, ErrorTable

ERROR_TABLE = "error_table.csv"
COLUMNS = (
    "locations",
    "estimate",
    *(f"{bound}_{level}" for level in LEVELS for bound in ("low", "high")),
)


def error_table_csv(table: ErrorTable) -> str:
    """The table as text: whole numbers only."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    cells = (
        table.locations[:, None],
        table.estimate[:, None],
        table.bounds.reshape(len(table.estimate), -1),
    )
    writer.writerows(np.hstack(cells).tolist())
    return text.getvalue()


def read_error_table(path: Path) -> ErrorTable:
    """The error table of a bundle, checked to be one.

    Raises:
        ReleaseError: if it is not.
    """
    try:
        header, *rows = csv.reader(io.StringIO(read_plain(path).decode()), strict=True)
        cells = np.array([[int(cell) for cell in row] for row in rows], dtype=np.int64)
    except (OSError, ValueError, OverflowError, csv.Error):
        raise ReleaseError(f"{path} is not an error table that pathveil wrote.") from None
    if tuple(header) != COLUMNS or cells.shape != (len(rows), len(COLUMNS)):
        raise ReleaseError(f"{path} does not have the columns of an error table.")
    bounds = cells[:, 2:].reshape(-1, len(LEVELS), 2)
    table = ErrorTable(cells[:, 0].copy(), cells[:, 1].copy(), bounds)
    problem = table.problem()
    if problem:
        raise ReleaseError(f"{path} is not an error table: {problem}.")
    return table
