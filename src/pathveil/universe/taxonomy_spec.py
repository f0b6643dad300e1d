"""Taxonomies people have: a file, the stations of a GTFS feed, coarser cells.

The text that names one is public and goes on the certificate as the taxonomy's origin; of a path
only the file's name does.
"""

import re
from pathlib import Path
from typing import Final

import numpy as np

from pathveil.errors import UniverseError
from pathveil.universe.coordinates import OUTSIDE
from pathveil.universe.h3_cells import H3Cells, parents
from pathveil.universe.lat_lon_grid import LatLonGrid
from pathveil.universe.specification import file_origin
from pathveil.universe.taxonomy import Taxonomy
from pathveil.universe.universe import Universe
from pathveil.universe.universe_file import read_zone_file

SPELLINGS: Final = (
    "a CSV or Parquet file with the columns location and zone, parent:1, gtfs:FEED.zip, "
    "grid:ROWSxCOLS:SOUTH,WEST,NORTH,EAST or h3:RESOLUTION:SOUTH,WEST,NORTH,EAST"
)
_PARENT = re.compile(r"parent:([0-9]{1,2})")
_CELLS = re.compile(r"(?:grid|h3):.*", re.DOTALL)
_FINEST_BLOCK = 31


def read_taxonomy(where: str | Path, universe: Universe) -> Taxonomy:
    """The taxonomy that a text describes, or that a file holds.

    Args:
        where: ``parent:K`` (of a grid: blocks of 2^K by 2^K cells; of H3 cells: K resolutions
            coarser); ``gtfs:FEED`` (the station of each stop; a stop without one is a zone by
            itself); ``grid:…`` or ``h3:…`` as for a universe (the cell in which each location
            lies); else the path of a CSV or Parquet file with a column ``location`` and a column
            ``zone`` (or ``parent_station``, ``parent``).
        universe: the public universe; each of its locations needs one zone.

    Raises:
        UniverseError: if it can't be used.
    """
    text = str(where)
    step = _PARENT.fullmatch(text)
    if step is not None:
        return Taxonomy.of(universe, _parents(universe, int(step[1])), origin=text)
    if isinstance(where, str) and where.startswith("gtfs:"):
        return _of_stations(Path(where.removeprefix("gtfs:")), universe)
    if isinstance(where, str) and _CELLS.fullmatch(where):
        return _of_cells(Universe.read(where), universe)
    return _of_file(Path(where), universe)


def _parents(universe: Universe, steps: int) -> list[str]:
    cells = universe.cells
    if steps < 1:
        raise UniverseError("The parents of cells are 1 step away or more: parent:1.")
    if isinstance(cells, H3Cells):
        return parents(cells, steps)
    if not isinstance(cells, LatLonGrid):
        raise UniverseError(
            f"Only the cells of a grid: or h3: universe have parents; give {SPELLINGS}."
        )
    side = 1 << min(steps, _FINEST_BLOCK)
    blocks = LatLonGrid(-(-cells.rows // side), -(-cells.columns // side), cells.box)
    row, column = np.divmod(np.arange(cells.rows * cells.columns), cells.columns)
    labels = blocks.labels()
    return [labels[block] for block in (row // side * blocks.columns + column // side).tolist()]


def _of_stations(feed: Path, universe: Universe) -> Taxonomy:
    from pathveil.universe.gtfs import read_stops, stops_at

    stops = read_stops(feed)
    _, station = stops_at(stops, "merged")
    known = {stop.stop_id for stop in stops}
    missing = next((label for label in universe.labels if label not in known), None)
    if missing is not None:
        raise UniverseError(f"The feed {feed} has no stop {missing[:80]!r} of the universe.")
    zones = [station.get(label, label) for label in universe.labels]
    return Taxonomy.of(universe, zones, origin=file_origin("gtfs", feed))


def _of_cells(coarse: Universe, universe: Universe) -> Taxonomy:
    if universe.latitude is None or universe.longitude is None or coarse.cells is None:
        raise UniverseError("Zones that are cells need a universe with coordinates.")
    codes = np.full(len(universe), OUTSIDE, dtype=np.int32)
    placed = ~np.isnan(universe.latitude)
    codes[placed] = coarse.cells.codes(universe.latitude[placed], universe.longitude[placed])
    outside = np.flatnonzero(codes == OUTSIDE)
    if len(outside):
        raise UniverseError(
            f"{len(outside):,} locations of the universe lie outside the zones or have no "
            f"coordinates, the first is {universe.labels[outside[0]][:80]!r}; choose a larger box."
        )
    zones = [coarse.labels[code] for code in codes.tolist()]
    return Taxonomy.of(universe, zones, origin=coarse.origin)


def _of_file(path: Path, universe: Universe) -> Taxonomy:
    """The file is public, as the universe is: its labels may be quoted."""
    zone_of: dict[str, str] = {}
    for label, zone in read_zone_file(path):
        if label not in universe:
            raise UniverseError(
                f"The taxonomy {path} names the location {label[:80]!r}, which the universe does "
                "not have."
            )
        if not zone.strip():
            raise UniverseError(f"The taxonomy {path} gives {label[:80]!r} an empty zone.")
        if zone_of.setdefault(label, zone) != zone:
            raise UniverseError(f"The taxonomy {path} gives {label[:80]!r} two zones.")
    missing = [label for label in universe.labels if label not in zone_of]
    if missing:
        raise UniverseError(
            f"The taxonomy {path} has no zone for {len(missing):,} locations of the universe, the "
            f"first is {missing[0][:80]!r}."
        )
    zones = [zone_of[label] for label in universe.labels]
    return Taxonomy.of(universe, zones, origin=file_origin("file", path))
