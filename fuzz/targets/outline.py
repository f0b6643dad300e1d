"""A GeoJSON outline that H3 cells cover: the input is the file."""

import json
from pathlib import Path

from pathveil.universe.universe import Universe

RESOLUTION = 3
SQUARE = [[-73.9, 45.4], [-73.5, 45.4], [-73.5, 45.7], [-73.9, 45.7], [-73.9, 45.4]]
HOLE = [[-73.8, 45.5], [-73.6, 45.5], [-73.6, 45.6], [-73.8, 45.5]]


def read(data: bytes, folder: Path) -> None:
    """Read it as ``--universe h3:3:FILE`` does."""
    path = folder / "area.geojson"
    path.write_bytes(data)
    Universe.from_h3(RESOLUTION, path)


def seeds() -> dict[str, bytes]:
    """Each type that is accepted."""
    polygon = {"type": "Polygon", "coordinates": [SQUARE, HOLE]}
    feature = {"type": "Feature", "geometry": polygon, "properties": None}
    documents = {
        "polygon": polygon,
        "several": {"type": "MultiPolygon", "coordinates": [[SQUARE], [HOLE]]},
        "feature": feature,
        "collection": {"type": "FeatureCollection", "features": [feature]},
    }
    return {name: json.dumps(document).encode() for name, document in documents.items()}
