"""Flows as GeoJSON (RFC 7946): a feature per flow, longitude before latitude."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pathveil.model.certificate import NOT_PRIVATE
from pathveil.progress_reports import portion, report_progress
from pathveil.release.exports.flow_lines import flow_lines
from pathveil.release.exports.published import Published

_COUNTING = 0.3  # of the time, the rest is writing; about
_TOLD_EVERY = 1 << 12  # features between two reports of progress


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


def _head(release: Published) -> dict[str, Any]:
    head = {"type": "FeatureCollection"}
    return head if release.is_private else {"status": NOT_PRIVATE, **head}


def _features(release: Published, flows: str) -> Iterator[dict[str, Any]]:
    lines = flow_lines(release, flows)
    every = zip(
        lines.origin, lines.destination, lines.counts.tolist(), lines.ends.tolist(), strict=True
    )
    for number, (origin, destination, count, ends) in enumerate(every):
        if number % _TOLD_EVERY == 0:
            with portion(_COUNTING, 1):
                report_progress(number, len(lines.origin))
        yield {
            "type": "Feature",
            "geometry": {"type": "LineString", "coordinates": ends},
            "properties": {"origin": origin, "destination": destination, "count": count},
        }
