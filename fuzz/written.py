"""What is accepted must also be writable: else a run would fail after it was charged."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fuzz.harness import Finding

from pathveil.errors import PathveilError
from pathveil.promise.certificate import TimeGridRecord
from pathveil.release import bundle_tables
from pathveil.times.time_grid import TimeGrid
from pathveil.universe.universe import Universe


def check_universe(universe: Universe, folder: Path) -> None:
    """A universe comes back from a bundle as it was."""
    path = folder / "locations.csv"
    path.write_text(bundle_tables.locations_csv(universe), encoding="utf-8", newline="\n")
    with _expected():
        back = bundle_tables.read_locations(path, universe.origin)
    if (back.labels, back.names) != (universe.labels, universe.names):
        raise Finding("a universe that was accepted is written as another one")


def check_time_grid(grid: TimeGrid, folder: Path) -> None:
    """A time grid comes back from a bundle as it was."""
    path = folder / "times.csv"
    path.write_text(bundle_tables.times_csv(grid), encoding="utf-8", newline="\n")
    with _expected():
        back = bundle_tables.read_times(path, TimeGridRecord.of(grid))
    if back != grid:
        raise Finding("a time grid that was accepted is written as another one")


@contextmanager
def _expected() -> Iterator[None]:
    """Here a refusal is a finding: the input was accepted already."""
    try:
        yield
    except PathveilError as error:
        raise Finding("what was accepted can't be read back") from error
