"""Tiny valid bundles for the targets to change; made anew, so that they never go stale.

Their noise comes from a seeded generator, so that they are the same every time. They are stamped
NOT PRIVATE, and are about nobody.
"""

import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from pathveil.publishing import publish
from pathveil.raw.database import TrajectoryDatabase
from pathveil.times.time_grid import TimeGrid
from pathveil.universe.universe import Universe

Bundle = dict[str, bytes]
_LABELS = ("S1", "=S2", "S 3")
_GRID = TimeGrid.of(["07:00", "12:00"])


def _database(*, timed: bool) -> TrajectoryDatabase:
    universe = Universe(_LABELS, latitude=[45.5, 45.6, None], longitude=[-73.5, -73.6, None])
    lengths = np.tile([2, 1, 3], 40)
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    codes = np.tile(np.array([0, 1, 2, 0, 1, 5] if timed else [0, 1, 2, 0, 1, 2], np.int32), 40)
    return TrajectoryDatabase.from_arrays(
        offsets, codes, universe, time_grid=_GRID if timed else None
    )


@cache
def bundles() -> tuple[Bundle, ...]:
    """The files of a plain bundle, one with times, and a calibrated one, by name."""
    plain, timed = _database(timed=False), _database(timed=True)
    return (
        _files(plain, method="full"),
        _files(timed, method="basic"),
        _files(plain, method="calibrated"),
    )


def _files(database: TrajectoryDatabase, *, method: str) -> Bundle:
    generator = np.random.default_rng(7)
    release = publish(database, epsilon="4", height=3, method=method, generator=generator)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "release"
        release.write(out, csv=True)
        return {path.name: path.read_bytes() for path in sorted(out.iterdir())}


def lay_out(bundle: Bundle, folder: Path) -> Path:
    """Write the files of a bundle into a new folder."""
    out = folder / "release"
    out.mkdir()
    for name, content in bundle.items():
        (out / name).write_bytes(content)
    return out
