"""A rehearsal before ε is charged: the whole way from a file to a bundle, with made-up people.

What a run needs is imported, compiled and loaded on the way (kernels, drivers, templates), in the
folders that the run will use. So a broken installation, too little memory for the compiler or a
full disk is found out while it costs nothing. The people are constants, the noise is not that of
a release (it is stamped NOT PRIVATE), and the bundle is removed: nothing is told about the data,
which is not opened.
"""

import os
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathveil.core.parameters import Parameters
    from pathveil.raw.engines.engine import Engine
    from pathveil.raw.reading_plan import Reading
    from pathveil.release.release import Release

_ROWS: Final = (
    ("unit", "trip", "when", "stop"),
    *((f"u{n % 7}", "t", f"2024-02-28T07:{n:02d}:00", "AB"[n % 3 // 2]) for n in range(30)),
)


class _NotPrivate:
    """Where a rehearsal's noise comes from; injected, so that nothing takes it for a release."""

    def bytes(self, length: int, /) -> bytes:
        return os.urandom(length)


def rehearse(
    engine: "Engine",
    source: str,
    parameters: "Parameters",
    reading: "Reading",
    beside: Path,
    *,
    csv: bool,
) -> None:
    """Publish made-up people the way that the run will.

    Args:
        engine: what will read and count.
        source: where the data is; only its name is looked at.
        parameters: the run's. Those of the rehearsal are of the same kind, and small.
        reading: the run's. The made-up people are read by the same rules, from other columns.
        beside: a folder on the disk that the bundle will be on.
        csv: whether the bundle will have a CSV file.

    Raises:
        PathveilError: if anything does not work.
    """
    from pathveil.cli.console import say_step
    from pathveil.core.preparations import DISCOVER
    from pathveil.gate.randomness import Randomness
    from pathveil.publishing import publish_with
    from pathveil.raw.engines.engine import MEMORY, SPARK
    from pathveil.universe.universe import Universe

    say_step("Rehearsing with made-up people …")
    small = _small(parameters)
    counting = replace(engine, name=MEMORY, master=None) if engine.name == SPARK else engine
    with (
        TemporaryDirectory(prefix="rehearsal-", dir=beside) as folder,
        counting.open(
            str(_written(Path(folder), source)),
            DISCOVER if small.universe_is_open else Universe(["A", "B"]),
            small.height,
            _read_alike(reading),
        ) as people,
    ):
        release = publish_with(people, small, Randomness(_NotPrivate()))
        _write(release, Path(folder) / "release", beside, csv=csv)
        _say_nothing(release, Path(folder))


def _read_alike(reading: "Reading") -> "Reading":
    """The same rules, for the columns of the made-up rows."""
    is_timed = reading.time_grid is not None
    return replace(
        reading,
        unit="unit",
        trajectory=None if reading.trajectory is None else "trip",
        order=None if is_timed else "when",
        time="when" if is_timed else None,
        location="stop",
        latitude=None,
        longitude=None,
        query=None,
        table=None,
    )


def _write(release: "Release", directory: Path, beside: Path, *, csv: bool) -> None:
    """Write the bundle. Its errors would speak of a release, and there is none."""
    from pathveil.errors import ReleaseError

    try:
        release.write(directory, csv=csv)
    except ReleaseError as error:
        refused = error.__context__
        number = refused.errno if isinstance(refused, OSError) else None
        reason = os.strerror(number) if number else "writing failed"
        raise ReleaseError(
            f"Can't write a bundle in {beside.parent}, as a rehearsal found out: {reason}. Nothing "
            "was charged."
        ) from None


def _say_nothing(release: "Release", folder: Path) -> None:
    """All that a run says, to nobody."""
    from pathveil.cli.console import stderr_console
    from pathveil.cli.summary import print_summary

    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        stderr_console().print("ε", markup=False, highlight=False, soft_wrap=True)
        print_summary(release, folder, json=False)


def _small(parameters: "Parameters") -> "Parameters":
    """Parameters of the same kind for two locations."""
    from pathveil.core.parameters import Parameters
    from pathveil.core.preparations import AUTO
    from pathveil.universe.taxonomy import Taxonomy
    from pathveil.universe.universe import Universe

    zones = None if parameters.taxonomy is None else Taxonomy.of(Universe(["A", "B"]), ["X", "Y"])
    return Parameters.choose(
        epsilon="100",  # nearly no noise, so that every step has something to do
        height=AUTO if parameters.height_is_open else 2,
        universe_size=None if parameters.universe_is_open else 2,
        delta="1e-9" if parameters.universe_is_open else None,
        method=parameters.method,
        time_grid=parameters.time_grid,
        taxonomy=zones,
    )


def _written(folder: Path, source: str) -> Path:
    """The made-up rows, in a file of the source's kind as far as its name tells that."""
    from pathveil.raw.sources.databases.addresses import file_of

    text = "".join(",".join(row) + "\n" for row in _ROWS)
    path = folder / "people.csv"
    path.write_text(text, encoding="utf-8")
    named = file_of(source)
    if named is None or named.suffix.lower() == ".csv":
        return path
    import pyarrow.csv
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.csv.read_csv(path), path.with_suffix(".parquet"))
    return path.with_suffix(".parquet")
