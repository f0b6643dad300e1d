"""Flows as GeoJSON (RFC 7946): a feature per flow, longitude before latitude."""

import json
from pathlib import Path
from typing import Any

from pathveil.model.certificate import NOT_PRIVATE
from pathveil.release.exports.flow_lines import flow_lines
from pathveil.release.exports.published import Published


def flows_geojson(release: Published, flows: str) -> dict[str, Any]:
    """See `Release.flows_geojson`."""
    lines = flow_lines(release, flows)
    features = [
        {
            "type": "Feature",
            "geometry": {"type": "LineString", "coordinates": ends},
            "properties": {"origin": origin, "destination": destination, "count": count},
        }
        for origin, destination, count, ends in zip(
            lines.origin, lines.destination, lines.counts.tolist(), lines.ends.tolist(), strict=True
        )
    ]
    collection: dict[str, Any] = {"type": "FeatureCollection", "features": features}
    return collection if release.is_private else {"status": NOT_PRIVATE, **collection}


def write_geojson(release: Published, path: Path, flows: str) -> None:
    """Write the flows of a release."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        json.dump(flows_geojson(release, flows), file, ensure_ascii=False)
        file.write("\n")
