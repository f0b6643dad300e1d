"""Publish simulated trajectories for a few budgets, and measure what comes out of each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from pathveil.core.parameters import Parameters
from pathveil.errors import ParameterError
from pathveil.gate.randomness import ByteGenerator, Randomness
from pathveil.publishing import publish_with
from pathveil.raw.database import TrajectoryDatabase
from pathveil.trials.evaluation.compared import Figures
from pathveil.trials.evaluation.scores import invented_share
from pathveil.trials.forecasting.accuracy import Asked, CountError, PatternHits, QuestionError
from pathveil.trials.forecasting.data_size import (
    DataSize,
    LevelSurvival,
    simulated,
    size_of,
    survival,
)
from pathveil.trials.forecasting.kinds import KindForecast, kinds

AROUND = (Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4))
"""The budgets that are tried, as multiples of the wanted one."""

# Of the time that a run takes, so much passes until the release is there.
_PUBLISHING = 0.6


@dataclass(frozen=True, slots=True)
class Run:
    """One release of simulated data, measured.

    Attributes:
        parameters: with which it was made; with an open height, as it came out.
        levels: what survives, level by level; levels without any node are left out.
        kept: released trajectories as a share of |D|.
        distinct: distinct released paths.
        invented: the share of released trajectories that no simulated one begins with.
        by_locations: the error by size of the question.
        by_count: the error by size of the count.
        patterns: the right ones among the top k.
        kinds: what one may ask of it.
    """

    parameters: Parameters
    levels: tuple[LevelSurvival, ...]
    kept: float
    distinct: int
    invented: float
    by_locations: tuple[QuestionError, ...]
    by_count: tuple[CountError, ...]
    patterns: tuple[PatternHits, ...]
    kinds: tuple[KindForecast, ...]


@dataclass(frozen=True, slots=True)
class SimulatedForecast:
    """What to expect, for the wanted budget and some around it.

    Attributes:
        expected: the size that was asked for.
        simulated: the size that was simulated.
        runs: by rising ε.
        wanted: which of them has the wanted ε.
    """

    expected: DataSize
    simulated: DataSize
    runs: tuple[Run, ...]
    wanted: int

    @property
    def run(self) -> Run:
        """The one with the wanted budget."""
        return self.runs[self.wanted]


def check_can_be_simulated(parameters: Parameters) -> None:
    """Refuse what simulated commuters know nothing of; before anything is simulated.

    Raises:
        ParameterError: if the plan has times, zones, or a universe of unknown size.
    """
    lacks = None
    if parameters.universe_is_open:
        lacks = "the size of the universe; say how many locations you expect: --universe-size N"
    elif parameters.time_grid is not None:
        lacks = "times; leave --time-grid out (with times less survives than without)"
    elif parameters.taxonomy is not None:
        lacks = "zones; leave --taxonomy out of the simulation, or --trajectories out of the plan"
    if lacks:
        raise ParameterError(f"A simulated forecast does not know {lacks}.")


def forecast(
    expected: DataSize,
    choices: Callable[[Fraction], Parameters],
    *,
    generator: ByteGenerator | None = None,
    progress: Callable[[float], None] = lambda _share: None,
) -> SimulatedForecast:
    """Simulate, publish and measure. Reads nothing, spends nothing, writes nothing.

    Args:
        expected: the size of the data.
        choices: the parameters for a multiple of the wanted budget. Budgets that can't be used
            are left out, but for the wanted one itself.
        generator: for tests: where the noise comes from.
        progress: told which share of the work is done, 0 to 1.

    Raises:
        ParameterError: if the wanted parameters can't be used or simulated.
    """
    check_can_be_simulated(choices(Fraction(1)))
    tried = _usable(choices)
    database = simulated(expected.capped(), choices(Fraction(1)).max_trajectories_per_unit)
    runs = measured_runs(
        database,
        [_fitting(parameters, database) for parameters in tried.values()],
        generator=generator,
        progress=progress,
    )
    return SimulatedForecast(expected, size_of(database), runs, [*tried].index(Fraction(1)))


def measured_runs(
    database: TrajectoryDatabase,
    choices: Sequence[Parameters],
    *,
    generator: ByteGenerator | None = None,
    progress: Callable[[float], None] = lambda _share: None,
) -> tuple[Run, ...]:
    """Publish once for each choice, in memory only, and measure each release."""
    truth = Figures(database)
    asked = Asked(truth)
    runs = []
    for i, parameters in enumerate(choices):

        def tell(share: float, before: int = i) -> None:
            progress((before + share) / len(choices))

        runs.append(_measured(database, parameters, truth, asked, Randomness(generator), tell))
    return tuple(runs)


def _usable(choices: Callable[[Fraction], Parameters]) -> dict[Fraction, Parameters]:
    """By multiple of the wanted budget."""
    found = {}
    for multiple in AROUND:
        try:
            found[multiple] = choices(multiple)
        except ParameterError:
            if multiple == 1:
                raise
    return found


def _fitting(parameters: Parameters, database: TrajectoryDatabase) -> Parameters:
    """The same choices for the universe that was simulated, if that is a smaller one."""
    if parameters.universe_size == len(database.universe):
        return parameters
    return parameters.with_universe_size(len(database.universe))


def _measured(
    database: TrajectoryDatabase,
    parameters: Parameters,
    truth: Figures,
    asked: Asked,
    randomness: Randomness,
    tell: Callable[[float], None],
) -> Run:
    release = publish_with(
        database,
        parameters,
        randomness,
        lambda done, everything: tell(_PUBLISHING * done / everything),
    )
    tell(_PUBLISHING)
    released = Figures(release)
    by_locations, by_count = tuple(asked.by_locations(released)), tuple(asked.by_count(released))
    patterns = tuple(asked.top_patterns(released))
    tell(0.9)
    run = Run(
        release.parameters,
        survival(release.tree, database.paths(), len(database.universe)),
        released.size / truth.size,
        len(release.paths()),
        invented_share(database, release),
        by_locations,
        by_count,
        patterns,
        tuple(kinds(database, release)),
    )
    tell(1.0)
    return run
