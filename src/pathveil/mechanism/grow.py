"""The tree that the parameters ask for: the paper's, or one of two granularities."""

from pathveil.mechanism.grow_hierarchy import grow_hierarchy
from pathveil.mechanism.grow_tree import Progress, grow_tree
from pathveil.mechanism.randomness import Randomness
from pathveil.model.noisy_tree import NoisyPrefixTree
from pathveil.model.parameters import Parameters
from pathveil.raw.counting.memory import MemoryCounter
from pathveil.raw.counting.protocol import PrefixCounter
from pathveil.raw.counting.sql_counter import SqlCounter
from pathveil.raw.database import TrajectoryDatabase


def grow(
    database: TrajectoryDatabase | SqlCounter,
    parameters: Parameters,
    randomness: Randomness,
    progress: Progress = lambda _done, _height: None,
) -> NoisyPrefixTree:
    """Grow the noisy prefix tree of a database. Spends ``parameters.main_budget``."""
    counter: PrefixCounter
    if isinstance(database, SqlCounter):
        counter = database
    else:
        counter = MemoryCounter(database, parameters.taxonomy)
    build = grow_tree if parameters.taxonomy is None else grow_hierarchy
    return build(counter, parameters, randomness, progress)
