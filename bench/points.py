"""GPS points to cells, in points a second, as a multiple of H3's own call in a loop."""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv

from bench.measuring import Work, best_of, row
from pathveil.raw.reading import read_trajectories
from pathveil.universe.universe import Universe

BOX = (45.40, -73.98, 45.70, -73.47)
POINTS, UNITS = 2_000_000, 10_000


def rate(work: Work, runs: int = 3) -> float:
    """Points a second, in the fastest of some runs."""
    return POINTS / best_of(runs, work)


def one_by_one(
    resolution: int, latitude: NDArray[np.float64], longitude: NDArray[np.float64]
) -> list[int]:
    from h3.api.basic_int import latlng_to_cell

    places = zip(latitude.tolist(), longitude.tolist(), strict=True)
    return [latlng_to_cell(north, east, resolution) for north, east in places]


def main() -> None:
    generator = np.random.default_rng(1)
    south, west, north, east = BOX
    latitude, longitude = (
        generator.uniform(south, north, POINTS),
        generator.uniform(west, east, POINTS),
    )
    box = ",".join(map(str, BOX))
    print(f"{POINTS:,} points")
    plain = rate(lambda: one_by_one(9, latitude, longitude), 1)
    row("H3 in a Python loop, resolution 9", f"{plain / 1e6:.2f} M points/s")
    for description in (f"h3:7:{box}", f"h3:9:{box}", f"grid:100x100:{box}"):
        universe = Universe.read(description)
        cells = universe.cells
        if cells is None:
            raise SystemExit(f"{description} has no cells")
        cells.codes(latitude[:50_000], longitude[:50_000])  # makes the raster and compiles
        ours = rate(lambda cells=cells: cells.codes(latitude, longitude))
        row(
            f"{description}, {len(universe):,} cells",
            f"{ours / 1e6:.2f} M points/s",
            f"ratio {ours / plain:.1f}",
        )
    with tempfile.TemporaryDirectory() as folder:  # made-up data
        path = Path(folder) / "gps.csv"
        table = pa.table({
            "uid": np.sort(generator.integers(0, UNITS, POINTS)), "seq": np.arange(POINTS),
            "lat": latitude.round(6), "lng": longitude.round(6),
        })  # fmt: skip
        csv.write_csv(table, path)
        for description in (f"h3:9:{box}", f"grid:100x100:{box}"):
            universe = Universe.read(description)
            whole = rate(lambda u=universe: read_trajectories(path, u, unit="uid"))
            row(f"CSV to trajectories, {description}", f"{whole / 1e6:.2f} M points/s")


if __name__ == "__main__":
    main()
