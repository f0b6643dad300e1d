"""Flows as lines on a map, as GeoJSON and as GeoParquet."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pathveil.analysis.flows import PairCounts, origin_destination, transitions, visits
from pathveil.core.error_table import ANY, Answers
from pathveil.core.paths import WeightedPaths
from pathveil.errors import ParameterError, ReleaseError
from pathveil.progress_reports import portion, report_progress
from pathveil.promise.certificate import NOT_PRIVATE
from pathveil.release.answering import FLOW_KINDS
from pathveil.release.exports.published import Published

FLOWS: Final[dict[str, Callable[[WeightedPaths], PairCounts]]] = {
    "transitions": transitions,
    "origin-destination": origin_destination,
}
_NO_COORDINATES: Final = (
    "The universe of this release has no coordinates, so its flows can't be put on a map; export a "
    "table instead (csv, parquet)."
)
_COUNTING = 0.3  # of the time, the rest is writing; about
_REPORTED_EVERY = 1 << 12  # features between two reports of progress
# Well-known binary of a line of two points, little-endian.
_LINE = np.dtype(
    [("order", "u1"), ("type", "<u4"), ("points", "<u4"), ("coordinates", "<f8", (2, 2))]
)
_LITTLE_ENDIAN, _LINE_STRING = 1, 2


# Flows as lines on a map: from one location to another, and how many.


@dataclass(frozen=True, slots=True, repr=False)
class FlowLines:
    """Flows between two different locations, by their location codes in ascending order.

    Attributes:
        origin: labels, n of them.
        destination: labels, n of them.
        counts: int64, shape (n,).
        ends: float64, shape (n, 2, 2); of each line the first and the last point, each as
            longitude and latitude.
        answers: the counts with intervals and marks; None if the release has none.
    """

    origin: list[str]
    destination: list[str]
    counts: NDArray[np.int64]
    ends: NDArray[np.float64]
    answers: Answers | None


def interval_columns(answers: Answers | None) -> dict[str, list[Any]]:
    """The columns that tell how far counts are off; none if that is not known."""
    if answers is None:
        return {}
    return {
        "best": answers.best.tolist(),
        "low": answers.low.tolist(),
        "high": answers.high.tolist(),
        "mark": answers.marks,
    }


def flow_lines(release: Published, flows: str) -> FlowLines:
    """The flows of a release that have a line.

    Staying in one location has none, nor has a flow from or to a location without coordinates.

    Args:
        release: what was published.
        flows: "transitions" (what follows what) or "origin-destination".

    Raises:
        ParameterError: if there are no such flows.
        ReleaseError: if the universe has no coordinates.
    """
    if flows not in FLOWS:
        raise ParameterError(f"Flows are {' or '.join(FLOWS)}; choose one of these.")
    universe = release.universe
    if universe.latitude is None or universe.longitude is None:
        raise ReleaseError(_NO_COORDINATES)
    pairs = FLOWS[flows](release)
    points = np.column_stack((universe.longitude, universe.latitude))
    has_line = pairs.first != pairs.second
    has_line &= pairs.counts >= release.suppress_below
    has_line &= ~np.isnan(points[pairs.first] + points[pairs.second]).any(axis=1)
    first, second = pairs.first[has_line], pairs.second[has_line]
    counted = PairCounts(first, second, pairs.counts[has_line])
    answering = release.answering
    return FlowLines(
        origin=[universe.labels[code] for code in first],
        destination=[universe.labels[code] for code in second],
        counts=pairs.counts[has_line],
        ends=np.stack((points[first], points[second]), axis=1),
        answers=None if answering is None else answering.pairs(FLOW_KINDS[flows], counted),
    )


# Flows as GeoJSON (RFC 7946): a feature per flow, longitude before latitude.


def flows_geojson(release: Published, flows: str) -> dict[str, Any]:
    """See `Release.flows_geojson`."""
    return {**_head(release), "features": list(_features(release, flows))}


def write_geojson(release: Published, path: Path, flows: str) -> None:
    """Write the flows of a release, feature by feature."""
    head = json.dumps(_head(release), ensure_ascii=False).removesuffix("}")
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f'{head}, "features": [')
        for number, feature in enumerate(_features(release, flows)):
            file.write(", " if number else "")
            file.write(json.dumps(feature, ensure_ascii=False))
        file.write("]}\n")


def write_points(release: Published, path: Path) -> None:
    """Write the locations of a release as points: how many trajectories visit each."""
    universe = release.universe
    if universe.latitude is None or universe.longitude is None:
        raise ReleaseError(_NO_COORDINATES)
    counts = visits(release).counts
    names = universe.names or universe.labels
    is_told = counts >= max(release.suppress_below, 1)
    codes = np.flatnonzero(is_told & ~np.isnan(universe.latitude)).tolist()
    answers = None
    if release.answering is not None:
        answers = release.answering.asked(ANY, [(code,) for code in codes], counts[codes])
    columns = {
        "location": [universe.labels[code] for code in codes],
        "name": [names[code] for code in codes],
        "count": counts[codes].tolist(),
        **interval_columns(answers),
    }
    features = [
        {
            "type": "Feature",
            "geometry": {
                "type": "Point",
                "coordinates": [float(universe.longitude[code]), float(universe.latitude[code])],
            },
            "properties": dict(zip(columns, values, strict=True)),
        }
        for code, *values in zip(codes, *columns.values(), strict=True)
    ]
    text = json.dumps({**_head(release), "features": features}, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8", newline="\n")


def _head(release: Published) -> dict[str, Any]:
    head = {"type": "FeatureCollection"}
    return head if release.is_private else {"status": NOT_PRIVATE, **head}


def _features(release: Published, flows: str) -> Iterator[dict[str, Any]]:
    lines = flow_lines(release, flows)
    columns = {
        "origin": lines.origin,
        "destination": lines.destination,
        "count": lines.counts.tolist(),
        **interval_columns(lines.answers),
    }
    for number, (ends, *values) in enumerate(
        zip(lines.ends.tolist(), *columns.values(), strict=True)
    ):
        if number % _REPORTED_EVERY == 0:
            with portion(_COUNTING, 1):
                report_progress(number, len(lines.origin))
        yield {
            "type": "Feature",
            "geometry": {"type": "LineString", "coordinates": ends},
            "properties": dict(zip(columns, values, strict=True)),
        }


# Flows as GeoParquet 1.1: lines in well-known binary, longitude and latitude (OGC:CRS84).


def write_geoparquet(release: Published, path: Path, flows: str) -> None:
    """Write the flows of a release: origin, destination, count and geometry."""
    lines = flow_lines(release, flows)
    report_progress(1, 3)
    table = pa.table(
        {
            "origin": pa.array(lines.origin, pa.string()),
            "destination": pa.array(lines.destination, pa.string()),
            "count": pa.array(lines.counts),
            **interval_columns(lines.answers),
            "geometry": _well_known_binary(lines.ends),
        }
    )
    report_progress(2, 3)
    metadata = {"geo": json.dumps(_metadata(lines.ends))}
    if not release.is_private:
        metadata["pathveil"] = NOT_PRIVATE
    pq.write_table(table.replace_schema_metadata(metadata), path, compression="zstd")


def _well_known_binary(ends: NDArray[np.float64]) -> Any:
    lines = np.empty(len(ends), dtype=_LINE)
    lines["order"], lines["type"], lines["points"] = _LITTLE_ENDIAN, _LINE_STRING, 2
    lines["coordinates"] = ends
    offsets = np.arange(len(ends) + 1, dtype=np.int32) * _LINE.itemsize
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(lines.tobytes())]
    return pa.Array.from_buffers(pa.binary(), len(ends), buffers)


def _metadata(ends: NDArray[np.float64]) -> dict[str, Any]:
    column: dict[str, Any] = {"encoding": "WKB", "geometry_types": ["LineString"]}
    if len(ends):
        points = ends.reshape(-1, 2)
        column["bbox"] = [*points.min(axis=0).tolist(), *points.max(axis=0).tolist()]
    return {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": column}}
