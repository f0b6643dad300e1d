"""Datasets by name: a simulated week, the project's shared data, or a file of one's own."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pathveil.errors import InputError, ParameterError
from pathveil.raw.database import TrajectoryDatabase
from pathveil.universe.universe import Universe

SIMULATED = "simulated"
SHARED = ("stm_like", "msnbc", "cabspotting", "mibici", "nycflights13", "kosarak")
# Datasets whose locations are numbered: their universe is the published number of codes. (The
# kosarak click-stream has 41,270 pages; the shared file holds a sample of its visitors.)
CODES = {"kosarak": 41_270}
DATA_VARIABLE = "PATHVEIL_DATA"


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a file; None where the reader should recognise them.

    Attributes:
        unit: whose row it is.
        trajectory: which of the unit's trajectories.
        order: the place in the trajectory.
        location: the location.
        max_trajectories_per_unit: c.
    """

    unit: str | None = None
    trajectory: str | None = None
    order: str | None = None
    location: str | None = None
    max_trajectories_per_unit: int = 1


@dataclass(frozen=True, slots=True, repr=False)
class Dataset:
    """Where the trajectories come from; nothing private is read before ``load``.

    Attributes:
        name: for the page.
        about: one sentence for the page.
        universe: the public universe.
        max_trajectories_per_unit: c.
        load: reads the trajectories.
    """

    name: str
    about: str
    universe: Universe
    max_trajectories_per_unit: int
    load: Callable[[], TrajectoryDatabase]


def simulated(riders: int, stops: int, seed: int) -> Dataset:
    """A simulated transit week; the paper's STM data has 1,210,096 × 1,012."""
    from pathveil.simulation import simulate_week

    week = simulate_week(riders, stops, seed=seed)
    return Dataset(
        SIMULATED,
        f"A simulated transit week of {riders:,} riders on {stops:,} stops, one trajectory each.",
        week.universe,
        1,
        lambda: TrajectoryDatabase.from_arrays(week.offsets, week.codes, week.universe),
    )


def named(name: str, data: Path | None, universe: Path | None, columns: Columns) -> Dataset:
    """One of the shared datasets. Unless a unit is named, a trajectory is: the paper's setting.

    Raises:
        InputError: if the data is not there.
    """
    folder = find_data(name, data)
    if columns.unit is None:
        columns = Columns(
            "trajectory_id", None, "seq", "location", columns.max_trajectories_per_unit
        )
    source = folder / "trajectories.parquet"
    if universe is None and name in CODES:
        locations = Universe([str(code) for code in range(1, CODES[name] + 1)])
        return _of_file(source, locations, columns, name)
    return from_file(source, universe or folder / "universe.csv", columns, name=name)


def from_file(source: Path, universe: Path | None, columns: Columns, *, name: str) -> Dataset:
    """A CSV or Parquet file of one's own.

    Raises:
        ParameterError: if no universe is given.
    """
    if universe is None:
        raise ParameterError("A file needs its public list of locations: give --universe.")
    return _of_file(source, Universe.read(universe), columns, name)


def _of_file(source: Path, locations: Universe, columns: Columns, name: str) -> Dataset:
    def load() -> TrajectoryDatabase:
        from pathveil.raw.reading import read_trajectories

        return read_trajectories(
            source,
            locations,
            unit=columns.unit,
            trajectory=columns.trajectory,
            order=columns.order,
            location=columns.location,
            max_trajectories_per_unit=columns.max_trajectories_per_unit,
        )

    cap = columns.max_trajectories_per_unit
    unit = "a recognised column" if columns.unit is None else f"the column {columns.unit!r}"
    about = (
        f"{name}: the unit of privacy is {unit}, with at most {cap} "
        f"{'trajectory' if cap == 1 else 'trajectories'} each."
    )
    return Dataset(name, about, locations, cap, load)


def find_data(name: str, data: Path | None) -> Path:
    """The folder of a shared dataset.

    Looked for in ``data``, in the folder that PATHVEIL_DATA names, and in ``../shared/data``
    beside the project (seen from here or from the working directory).

    Raises:
        InputError: if none of them has it.
    """
    folders = [data] if data is not None else _usual_folders()
    for folder in folders:
        if (folder / name / "trajectories.parquet").exists():
            return folder / name
    raise InputError(
        f"The dataset {name} was not found. Name the folder that holds it with --data or "
        f"{DATA_VARIABLE}; or use --dataset {SIMULATED}."
    )


def _usual_folders() -> list[Path]:
    given = os.environ.get(DATA_VARIABLE)
    checkout = Path(__file__).resolve().parents[4]
    beside = [root.parent / "shared" / "data" for root in (Path.cwd(), checkout)]
    return [Path(given), *beside] if given else beside
