"""Tables of a release for people: flows, origins and destinations, visits, visits by time slot.

One row per pair of locations or per location, the largest count first, with ids, names and
coordinates. Counts of a calibrated release have their 90% intervals and a mark that says how much
they are worth (`core.error_table.RULE`).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pathveil.analysis.flows import visits
from pathveil.core.error_table import ANY, Answers
from pathveil.core.texts import escape
from pathveil.errors import ParameterError, ReleaseError, did_you_mean
from pathveil.promise.certificate import NOT_PRIVATE
from pathveil.release.answering import FLOW_KINDS
from pathveil.release.exports.flow_lines import FLOWS
from pathveil.release.exports.published import Published
from pathveil.universe.universe import Universe

VISITS, BY_TIME = "visits", "visits-by-time"
FLOWMAP: Final = "flowmap"
TABLES: Final = (*FLOWS, VISITS, BY_TIME)
# What a location of a flow, and of a visit, is called: id, name, latitude, longitude.
_USUAL = ("{}", "{}_name", "{}_latitude", "{}_longitude")
LAYOUTS: Final = {
    "pathveil": (_USUAL, ("location", "name", "latitude", "longitude"), ("origin", "destination")),
    "kepler": (
        ("{}", "{}_name", "{}_lat", "{}_lng"), ("location", "name", "lat", "lng"),
        ("origin", "dest"),
    ),
    # The sheets "flows" and "locations" of flowmap.blue, which knows nothing else.
    FLOWMAP: (("{}", None, None, None), ("id", "name", "lat", "lon"), ("origin", "dest")),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Location:
    """The columns of a location: the name of each, None for those that a layout leaves out."""

    label: str
    name: str | None
    latitude: str | None
    longitude: str | None

    def columns(self, universe: Universe, codes: NDArray[Any]) -> dict[str, Any]:
        found: dict[str, Any] = {self.label: pa.array([universe.labels[code] for code in codes])}
        if self.name is not None:
            names = universe.names or universe.labels
            found[self.name] = pa.array([names[code] for code in codes])
        if universe.latitude is None or universe.longitude is None:
            return found
        for column, degrees in (
            (self.latitude, universe.latitude),
            (self.longitude, universe.longitude),
        ):
            if column is not None:
                found[column] = pa.array(degrees[codes], from_pandas=True)
        return found


def check_table(table: str, names: str) -> None:
    """Refuse a table or a layout that we do not write.

    Raises:
        ParameterError: if so.
    """
    if table not in TABLES:
        raise ParameterError(
            f"Flows are {', '.join(TABLES)}; choose one of these.{did_you_mean(table, TABLES)}"
        )
    if names not in LAYOUTS:
        raise ParameterError(
            f"Names of columns of flows and counts are those of {', '.join(LAYOUTS)}; choose one "
            f"of these.{did_you_mean(names, LAYOUTS)}"
        )


def flow_table(release: Published, table: str, names: str = "pathveil") -> Any:
    """A table of a release, in Arrow.

    Args:
        release: what was published.
        table: one of `TABLES`.
        names: whose columns they are: one of `LAYOUTS`.

    Raises:
        ParameterError: if there is no such table or layout.
        ReleaseError: if it needs times or coordinates that the release does not have.
    """
    check_table(table, names)
    of_flow, of_visit, ends = LAYOUTS[names]
    universe = release.universe
    if names != "pathveil" and universe.latitude is None:
        raise ReleaseError(
            "The universe of this release has no coordinates, and a map needs them; use the names "
            "'pathveil'."
        )
    if table in FLOWS:
        pairs = FLOWS[table](release).largest()
        columns: dict[str, Any] = {}
        for end, codes in zip(ends, (pairs.first, pairs.second), strict=True):
            location = _Location(*(None if one is None else one.format(end) for one in of_flow))  # type: ignore[arg-type]
            columns |= location.columns(universe, codes)
        columns["count"] = pairs.counts
        if release.answering is not None and names != FLOWMAP:
            columns |= _intervals(release.answering.pairs(FLOW_KINDS[table], pairs))
        return _marked(release, pa.table(columns))
    location = _Location(*of_visit)
    if table == VISITS:
        return _marked(release, _visits(release, location))
    return _marked(release, _visits_by_time(release, location))


def _visits(release: Published, location: _Location) -> Any:
    """How many trajectories visit each location that somebody visits, with intervals."""
    counts = visits(release).counts
    codes = np.argsort(-counts, kind="stable")
    codes = codes[counts[codes] > 0]
    columns = location.columns(release.universe, codes) | {"count": counts[codes]}
    if release.answering is not None:
        asked_for = [(code,) for code in codes.tolist()]
        columns |= _intervals(release.answering.asked(ANY, asked_for, counts[codes]))
    return pa.table(columns)


def _intervals(answers: Answers) -> dict[str, Any]:
    """The columns that tell how far the counts are off."""
    return {
        "best": answers.best,
        "low": answers.low,
        "high": answers.high,
        "mark": pa.array(answers.marks, pa.string()),
    }


def _visits_by_time(release: Published, location: _Location) -> Any:
    """How often each location is visited in each time slot."""
    grid = release.time_grid
    if grid is None:
        raise ReleaseError(
            "The visits of this release have no times; export the table 'visits' instead."
        )
    paths, size = release.timed_paths(), len(release.universe)
    weights = np.repeat(paths.weights, paths.lengths)
    pairs, at = np.unique(paths.codes, return_inverse=True)
    counts = np.zeros(len(pairs), dtype=np.int64)
    np.add.at(counts, at, weights)
    slot, code = np.divmod(pairs, size)
    labels = grid.labels
    columns = {"time": pa.array([labels[one] for one in slot], pa.string())}
    columns |= location.columns(release.universe, code) | {"count": counts}
    if release.answering is not None:
        columns |= _intervals(release.answering.visits_at_hours(code, counts))
    return pa.table(columns)


def _marked(release: Published, table: Any) -> Any:
    """Without what the publisher's rule suppresses; stamped if the noise was injected."""
    if release.suppress_below:
        table = table.filter(pc.greater_equal(table["count"], release.suppress_below))
    return table if release.is_private else table.replace_schema_metadata({"pathveil": NOT_PRIVATE})


def write_table_csv(table: Any, path: Path) -> None:
    """As CSV; no cell is a formula."""
    import pyarrow.csv

    for number, field in enumerate(table.schema):
        if field.type == pa.string():
            cells = [None if cell is None else escape(cell) for cell in table[number].to_pylist()]
            table = table.set_column(number, field.name, pa.array(cells, pa.string()))
    pyarrow.csv.write_csv(table, path)


def write_table_excel(table: Any, path: Path) -> None:
    """As a sheet of an Excel workbook; text is text, never a formula or a link."""
    try:
        import xlsxwriter
    except ImportError:
        raise ParameterError("Writing Excel needs a library: install pathveil[excel].") from None
    if table.num_rows >= _MOST_EXCEL_ROWS:
        raise ReleaseError(
            f"The table has {table.num_rows:,} rows, more than a sheet of Excel holds; export csv."
        )
    options = {
        "in_memory": True, "strings_to_formulas": False, "strings_to_urls": False,
        "strings_to_numbers": False,
    }  # fmt: skip
    status = (table.schema.metadata or {}).get(b"pathveil")
    with xlsxwriter.Workbook(path, options) as book:
        sheet = book.add_worksheet("NOT PRIVATE" if status else "pathveil")
        sheet.write_row(0, 0, table.column_names, book.add_format({"bold": True}))
        sheet.freeze_panes(1, 0)
        for number, column in enumerate(table.columns):
            sheet.write_column(1, number, column.to_pylist())


_MOST_EXCEL_ROWS: Final = 2**20
