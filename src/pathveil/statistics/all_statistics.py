"""All statistics, in the order in which they are measured: that of their shares of ε.

A share of "visited sets" stands for `VISITED_SETS` of the file ``visited_sets.py``. So a new
statistic is its file and its share; nothing else lists it.
"""

from collections.abc import Iterable
from importlib import import_module

from pathveil.statistics.constants import SHARES, TIME_SHARES
from pathveil.statistics.prefix_tree import LEVELS
from pathveil.statistics.statistic import Statistic


def named(names: Iterable[str]) -> tuple[Statistic, ...]:
    """The statistics of these names, each from its own file."""
    found = []
    for name in names:
        file = name.replace(" ", "_")
        statistic: Statistic = getattr(import_module(f"pathveil.statistics.{file}"), file.upper())
        found.append(statistic)
    return tuple(found)


STATISTICS = (*named(SHARES), *LEVELS)
TIME_STATISTICS = named(TIME_SHARES)
