"""Flows as GeoParquet 1.1: lines in well-known binary, longitude and latitude (OGC:CRS84)."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pathveil.model.certificate import NOT_PRIVATE
from pathveil.progress_reports import report_progress
from pathveil.release.exports.flow_lines import flow_lines
from pathveil.release.exports.published import Published

# Well-known binary of a line of two points, little-endian.
_LINE = np.dtype(
    [("order", "u1"), ("type", "<u4"), ("points", "<u4"), ("coordinates", "<f8", (2, 2))]
)
_LITTLE_ENDIAN, _LINE_STRING = 1, 2


def write_geoparquet(release: Published, path: Path, flows: str) -> None:
    """Write the flows of a release: origin, destination, count and geometry."""
    lines = flow_lines(release, flows)
    report_progress(1, 3)
    table = pa.table(
        {
            "origin": pa.array(lines.origin, pa.string()),
            "destination": pa.array(lines.destination, pa.string()),
            "count": pa.array(lines.counts),
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
