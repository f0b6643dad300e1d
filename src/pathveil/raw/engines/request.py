"""What is asked for when something is to be published: public choices only, all of them checked.

It is made before anything is charged or opened, and everything after it is told by it.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pathveil.core.about import About
from pathveil.core.acceptance import Acceptance
from pathveil.core.budget import Budget
from pathveil.core.parameters import Parameters
from pathveil.core.paths import Paths
from pathveil.core.preparations import AUTO as AUTO_TRIPS
from pathveil.core.preparations import DISCOVER
from pathveil.errors import ParameterError
from pathveil.raw.engines.engine import AUTO, Engine, Trajectories, is_read
from pathveil.raw.engines.memory_size import DEFAULT_MEMORY
from pathveil.raw.observed import is_observed
from pathveil.raw.reading import Report
from pathveil.raw.reading_plan import Reading, check_worth
from pathveil.times.protected_units import Protect, check_protect, protected_by
from pathveil.universe.background import Background
from pathveil.universe.universe import Universe


@dataclass(frozen=True, slots=True)
class Request:
    """Where the trajectories are, how they are read, what is published of them and by which engine.

    Attributes:
        source: trajectories that are read already; or whatever `read_trajectories` reads, or a
            Spark DataFrame; with a master the address of a table.
        universe: the public universe or "discover"; None if they are read already.
        reading: how they are read; None if they are.
        parameters: of the release.
        engine: what reads and counts.
        about: what the publisher says of the release.
        background: public lines under its maps.
        acceptance: what the release must keep to go out.
        earlier: the trajectories of an earlier release of the series, which is public.
    """

    source: Any
    universe: Universe | Literal["discover"] | None
    reading: Reading | None
    parameters: Parameters
    engine: Engine
    about: About = field(default_factory=About)
    background: Background = field(default_factory=Background)
    acceptance: Acceptance = field(default_factory=Acceptance)
    earlier: Paths | None = None

    @classmethod
    def choose(
        cls,
        source: Any,
        universe: Universe | Literal["discover"] | None,
        reading: Reading | None,
        *,
        epsilon: object = None,
        epsilon_per_trip: object = None,
        rho: object = None,
        delta: object = None,
        engine: str = AUTO,
        memory: str = DEFAULT_MEMORY,
        spill: str | os.PathLike[str] | None = None,
        master: str | None = None,
        about: About | Mapping[str, object] | str | os.PathLike[str] | None = None,
        background: Background | str | os.PathLike[str] | None = None,
        accept: Acceptance | Mapping[str, Any] | str | os.PathLike[str] | None = None,
        **choices: Any,
    ) -> "Request":
        """Check the choices together. Opens nothing.

        Args:
            source: see the attributes; likewise ``universe`` and ``reading``.
            universe: the public universe.
            reading: how it is read.
            epsilon: ε for a unit; or None.
            epsilon_per_trip: ε for each of its trajectories that is used; or None.
            rho: ρ for a unit, with δ; or None.
            delta: δ; or None.
            engine: see `Engine.choose`; likewise the three that follow.
            memory: for DuckDB.
            spill: for its files.
            master: the Spark cluster.
            about: what the publisher says of the release; see `About.of`.
            background: public lines under its maps, or where they are; see `Background.read`.
            accept: what the release must keep to go out; see `Acceptance.of`.
            **choices: the height, the method … of `Parameters.choose`.

        Raises:
            ParameterError: if they can't be used.
        """
        said, lines = About.of(about), Background.of(background)
        rules = Acceptance.of(accept)
        size, cap, grid = _facts(source, universe, reading)
        parameters = Parameters.choose(
            epsilon=Budget.choose(epsilon, epsilon_per_trip, cap, rho=rho, delta=delta),
            rho=rho,
            delta=delta,
            universe_size=size,
            max_trajectories_per_unit=cap,
            time_grid=grid,
            **choices,
        )
        rules.check_forecast(parameters)
        snapshot = None if reading is None else reading.snapshot
        chosen = Engine.choose(
            engine, source, memory=memory, spill=spill, master=master, snapshot=snapshot
        )
        return cls(source, universe, reading, parameters, chosen, said, lines, rules)

    @property
    def needs(self) -> str:
        """What a run will take, in words: see `Engine.needs`."""
        snapshot = None if self.reading is None else self.reading.snapshot
        return self.engine.needs(self.source, self.parameters, snapshot)

    @property
    def protect(self) -> Protect:
        """Who is protected as one."""
        if self.reading is None:
            return protected_by(self.source.rules)
        return check_protect(self.reading.protect)

    def checked(self) -> "Request":
        """The same request, once the header or schema of its source is found to fit it.

        Raises:
            ParameterError: if a column is not there, or can't play its role.
            InputError: if the source can't be opened, or a type can't be read.
        """
        if self.reading is None:
            return self
        return replace(self, source=self.engine.check(self.source, self.universe, self.reading))

    @contextmanager
    def opened(
        self, report: Report | None = None, *, inspect: bool = False
    ) -> Iterator[Trajectories]:
        """Read the trajectories, and forget them when the block ends, well or not."""
        asked = self.parameters
        # Nothing looks at more of a trajectory than the height of its tree, unless locations that
        # are not named are still to be left out.
        is_whole = asked.how.has_tables or asked.universe_is_open
        height = None if is_whole else asked.height
        with self.engine.open(
            self.source, self.universe, height, self.reading, report, inspect=inspect
        ) as opened:
            if self.reading is not None:
                check_worth(opened.rules, asked.max_trajectories_per_unit, self.protect)
            yield opened


def _facts(
    source: Any, universe: object, reading: Reading | None
) -> tuple[int | None, int | str, Any]:
    """What the parameters need to know before reading: |L| (None: open), c (or auto), the grid."""
    if is_read(source):
        if universe is not None or reading is not None:
            raise ParameterError("These trajectories are read already: leave the columns out.")
        size = None if is_observed(source.universe) else len(source.universe)
        cap = AUTO_TRIPS if source.trips_are_open else source.max_trajectories_per_unit
        return size, cap, source.time_grid
    if reading is None or (universe != DISCOVER and not isinstance(universe, Universe)):
        raise ParameterError(
            "Give a TrajectoryDatabase; or where the data is, with universe=… and unit=…."
        )
    size = len(universe) if isinstance(universe, Universe) else None
    cap = reading.max_trajectories_per_unit
    return size, cap if isinstance(cap, str) else int(cap), reading.time_grid
