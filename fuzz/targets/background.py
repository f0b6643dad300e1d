"""Public lines under the maps: the input is a GeoJSON file, or a GTFS feed with shapes."""

import io
import json
import zipfile
from pathlib import Path

from fuzz.harness import Finding

from pathveil.universe.background import Background

LINE = [[-73.9, 45.4], [-73.5, 45.4], [-73.5, 45.7]]
SHAPES = "shape_id,shape_pt_lat,shape_pt_lon,shape_pt_sequence\nA,45.4,-73.9,1\nA,45.5,-73.6,2\n"


def read(data: bytes, folder: Path) -> None:
    """Read it as ``--background FILE`` does; what is accepted comes back from a bundle."""
    path = folder / "lines"
    path.write_bytes(data)
    found = Background.read(path)
    if Background.from_text(found.to_text().encode()) != found:
        raise Finding("lines that were accepted are written as others")


def seeds() -> dict[str, bytes]:
    """Each type that is accepted, and a feed."""
    line = {"type": "LineString", "coordinates": LINE}
    documents = {
        "line": line,
        "several": {"type": "MultiLineString", "coordinates": [LINE, LINE[:2]]},
        "area": {"type": "Polygon", "coordinates": [LINE]},
        "areas": {"type": "MultiPolygon", "coordinates": [[LINE]]},
        "collection": {
            "type": "FeatureCollection",
            "features": [
                {"type": "Feature", "geometry": line},
                {"type": "Feature", "geometry": None},
            ],
        },
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as feed:
        feed.writestr(zipfile.ZipInfo("shapes.txt", (2024, 1, 1, 0, 0, 0)), SHAPES)
    texts = {name: json.dumps(document).encode() for name, document in documents.items()}
    return texts | {"feed": packed.getvalue()}
