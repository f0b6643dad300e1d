"""Neighbours that are raw rows: two files that differ in one unit's rows, read by the real reader.

All other pairs are databases, so they attack the gate alone. Here the attack begins where the data
does: people's rows are written to a file, and to another one with a unit's rows in front of them;
both are read as `pathveil.publish` reads them, and what was read goes through the gate. The unit's
rows are such that a reader which lets one row decide for others would show it: rows at the same
moment, one unit in many spellings, values of other types, more trips than are used, labels that
nobody else has.

The files are made up, private to this process, and gone once they are read.
"""

import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np

from pathveil.audit.events import Observation
from pathveil.audit.neighbours import UNIVERSE, NeighbouringPair, pair_parameters
from pathveil.core.methods import FULL
from pathveil.core.noisy_tree import NoisyPrefixTree
from pathveil.core.parameters import Parameters
from pathveil.core.preparations import DISCOVER, discovery_threshold
from pathveil.errors import ParameterError, PathveilError
from pathveil.gate.grow_hierarchy import grow
from pathveil.gate.prepare import prepare
from pathveil.gate.randomness import Randomness
from pathveil.raw.database import TrajectoryDatabase
from pathveil.raw.reading import read_trajectories
from pathveil.times.time_grid import TimeGrid
from pathveil.universe.universe import Universe

Row = tuple[Any, ...]
Writer = Callable[[Path, list[Row]], dict[str, Any]]
"""Writes rows to a file; what the reader must be told beside the columns."""

SPELLINGS: Final = ("7", " 7", "7 ", "07", "+7", "7.0", "\u00a07")
# So small that naming a label of one unit would not be seen in any number of runs.
DELTA: Final = "1e-12"
_DIGITS: Final = Universe("123456")
_GRID: Final = TimeGrid.parse("8h")
_COLUMNS: Final = ("who", "trip", "moment", "place")
_READING: Final = {"unit": "who", "trajectory": "trip", "location": "place"}


def raw_pairs(epsilon: object = "1", height: int = 1) -> tuple[NeighbouringPair, ...]:
    """Six pairs: ties, spellings, mixed types in CSV and in SQLite, over the cap, discovery."""
    public = pair_parameters(epsilon, height, max_trajectories_per_unit=1)
    crowd = ["abc"] * (4 * public.threshold) + ["c"] * (2 * public.threshold)
    people = _rows(crowd)
    open_one = _open_parameters(epsilon, height, None)
    timed = _open_parameters(epsilon, height, _GRID)
    many = _enough_to_be_named(open_one)
    with TemporaryDirectory(prefix="pathveil-audit-") as name:
        folder = Path(name)

        def pair(name: str, *given: Any, **more: Any) -> NeighbouringPair:
            return _pair(folder, name, *given, **more)

        return (
            pair(
                # Everybody is at b and at a in one moment; the unit names a first.
                "ties", ["ab"] * many, _tied(many), [("u", 1, 1, "a")], "ab", open_one,
                labels=UNIVERSE.labels,
            ),
            pair(
                "one unit in seven spellings", crowd, people,
                [(form, 1, step, label) for form in SPELLINGS for step, label in enumerate("abc")],
                "abc", public,
            ),
            pair(
                "mixed types", crowd, people,
                [("u", "x", "2026-03-02", "a"), ("u", 1.5, "2026-03-02T00:00+05:30", "b"),
                 ("u", 1, 1e300, 1.5), ("u", "", "", ""), ("u", 1, "nan", "true")],
                "abc", public,
            ),
            pair(
                "mixed types in SQLite", _in_digits(crowd), _rows(_in_digits(crowd), number=int),
                [("u", "x", 1.25, 1.5), ("u", 1.5, "2026-03-02", "1"), ("u", None, b"\xff", None)],
                "123", public, write=_write_sqlite, universe=_DIGITS,
            ),
            pair(
                "over the cap", crowd, people,
                [("u", trip, step, "abc"[step]) for trip in range(40) for step in range(3)],
                "abc", public,
            ),
            pair(
                # Labels before, between and after all others, on many days.
                "discovery", ["ab"] * many, _tied(many, "2026-03-02T01:00"),
                [("u", day, f"2026-03-{day:02d}T01:00", f"{first}{number}")
                 for first in ("!", "aa", "~") for number in range(100) for day in range(1, 4)],
                "ab", timed, labels=UNIVERSE.labels,
            ),
        )  # fmt: skip


def from_rows(
    database: TrajectoryDatabase, parameters: Parameters, randomness: Randomness
) -> Observation:
    """The mechanism as `pathveil.publish` runs it, with what it prepares; satisfies `Mechanism`.

    Labels that are discovered have the codes of the auditor's own list of them. If none is named
    the run ends with an error, and the attacker sees a tree without nodes.
    """
    try:
        prepared, public = prepare(database, parameters, randomness)
    except ParameterError:
        none = np.empty(0, dtype=np.int64)
        small = none.astype(np.int32)
        return Observation(
            NoisyPrefixTree(none, small, small, none, parameters, randomness.is_private)
        )
    tree = grow(prepared, public, randomness)
    if parameters.universe_is_open:
        known = {label: code for code, label in enumerate(UNIVERSE.labels)}
        # What is not on the list is named with probability `DELTA`.
        codes = np.array([known.get(label, len(known) - 1) for label in prepared.universe.labels])
        slot, location = np.divmod(tree.location, len(codes))
        named = slot * len(known) + codes[location]
        tree = replace(tree, location=named.astype(np.int32))
    return Observation(tree)


def _open_parameters(epsilon: object, height: int, grid: TimeGrid | None) -> Parameters:
    return Parameters.choose(
        epsilon=epsilon,
        height=height,
        universe_size=None,
        delta=DELTA,
        time_grid=grid,
        method=FULL.name,
    )


def _enough_to_be_named(parameters: Parameters) -> int:
    """So many people that their labels are named in every run that anybody will see."""
    naming = parameters.preparations[0]
    return 2 * discovery_threshold(naming.epsilon, 1, naming.delta)


def _rows(trips: Iterable[str], number: Callable[[str], Any] = str) -> list[Row]:
    """A unit for each trip."""
    return [
        (f"p{unit}", 1, step, number(location))
        for unit, trip in enumerate(trips)
        for step, location in enumerate(trip)
    ]


def _tied(people: int, moment: str = "1") -> list[Row]:
    return [(f"p{unit}", 1, moment, location) for unit in range(people) for location in "ba"]


def _in_digits(trips: list[str]) -> list[str]:
    return [trip.translate(str.maketrans("abcdef", "123456")) for trip in trips]


def _pair(
    folder: Path,
    name: str,
    trips: list[str],
    people: list[Row],
    unit: list[Row],
    watched: str,
    parameters: Parameters,
    *,
    write: Writer | None = None,
    universe: Universe = UNIVERSE,
    labels: tuple[str, ...] | None = None,
) -> NeighbouringPair:
    """Write both files and read them.

    Args:
        folder: where they are written.
        name: of the pair.
        trips: what people's rows mean, as the documentation says.
        people: their rows.
        unit: the rows of the unit, which stand first in the second file.
        watched: the locations of the watched path.
        parameters: public; the same for both.
        write: what kind of file it is; CSV if None.
        universe: the public universe, if it is not to be discovered.
        labels: the auditor's own list of labels, if it is.
    """
    watched = watched[: parameters.height]
    chosen = DISCOVER if parameters.universe_is_open else universe
    without, with_unit = (
        _read(folder, rows, write or _write_csv, chosen, parameters)
        for rows in (people, [*unit, *people])
    )
    return NeighbouringPair(
        name=name,
        without=without,
        with_unit=with_unit,
        parameters=parameters,
        path=tuple(universe.codes(watched)),
        counts=tuple(
            sum(trip.startswith(watched[: level + 1]) for trip in trips)
            for level in range(len(watched))
        ),
        labels=labels,
    )


def _read(
    folder: Path, rows: list[Row], write: Writer, universe: Any, parameters: Parameters
) -> TrajectoryDatabase:
    """The trajectories of a file; none if it is refused, which an attacker would see."""
    path = folder / "rows"
    path.unlink(missing_ok=True)
    grid = parameters.time_grid
    times = {"order": "moment"} if grid is None else {"time": "moment", "time_grid": grid}
    more = write(path, rows) | times
    try:
        return read_trajectories(path, universe, **_READING, **more)  # type: ignore[arg-type]
    except PathveilError:
        nobody = write(path, rows[:0]) | times
        return read_trajectories(path, universe, **_READING, **nobody)  # type: ignore[arg-type]


def _write_csv(path: Path, rows: list[Row]) -> dict[str, Any]:
    lines = [",".join(map(str, row)) for row in (_COLUMNS, *rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return {}


def _write_sqlite(path: Path, rows: list[Row]) -> dict[str, Any]:
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"CREATE TABLE visits ({', '.join(_COLUMNS)})")
        connection.executemany("INSERT INTO visits VALUES (?, ?, ?, ?)", rows)
    return {"table": "visits"}
