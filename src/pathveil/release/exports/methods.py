"""The exports as methods of a release."""

from pathlib import Path
from typing import Any

from pathveil.release.exports.published import Published


class Exports:
    """What a release can be turned into; see docs/exports.md for the columns."""

    def to_arrow(self: Published, names: str = "pathveil") -> Any:
        """Every visit of every released trajectory as a pyarrow table, one row each.

        Args:
            names: whose column names: "pathveil", "scikit-mobility", "movingpandas" or "gtfs".

        Raises:
            ParameterError: if we do not know these names.
        """
        from pathveil.release.exports.frames import to_arrow

        return to_arrow(self, names)

    def to_pandas(self: Published, names: str = "pathveil") -> Any:
        """The same as a pandas frame; see `to_arrow`."""
        from pathveil.release.exports.frames import to_pandas

        return to_pandas(self, names)

    def to_polars(self: Published, names: str = "pathveil") -> Any:
        """The same as a polars frame; see `to_arrow`."""
        from pathveil.release.exports.frames import to_polars

        return to_polars(self, names)

    def flows_geojson(self: Published, flows: str = "transitions") -> dict[str, Any]:
        """Flows between places as a GeoJSON FeatureCollection of lines, for ``json.dump``.

        Args:
            flows: "transitions" (what directly follows what) or "origin-destination".

        Raises:
            ReleaseError: if the universe has no coordinates.
        """
        from pathveil.release.exports.geojson import flows_geojson

        return flows_geojson(self, flows)

    def export(
        self: Published,
        path: str | Path,
        *,
        format: str | None = None,  # noqa: A002  (as on the command line)
        names: str = "pathveil",
        flows: str = "transitions",
        overwrite: bool = False,
    ) -> Path:
        """Write one file of another format, whole or not at all.

        Args:
            path: the file.
            format: "csv" or "parquet" (a row per visit), "geojson" or "geoparquet" (flows), or
                "xes" (an event log). None goes by the file's ending.
            names: whose column names the tables have; see `to_arrow`.
            flows: which flows; see `flows_geojson`.
            overwrite: whether a file that is there may be replaced.

        Raises:
            ReleaseError: if the file exists, lies in a bundle or can't be written.
            ParameterError: if we do not know the format, the names or the flows.
        """
        from pathveil.release.exports.writing import export

        return export(self, Path(path), kind=format, names=names, flows=flows, overwrite=overwrite)
