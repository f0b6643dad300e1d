"""The registered statistics, in the order in which they are measured.

A new one is a file of its own, a name here and a share of ε in the plan.
"""

from pathveil.statistics.actions import STATISTIC as ACTIONS
from pathveil.statistics.first_slots import STATISTIC as FIRST_SLOTS
from pathveil.statistics.last_locations import STATISTIC as LAST_LOCATIONS
from pathveil.statistics.moves import STATISTIC as MOVES
from pathveil.statistics.pairs import STATISTIC as PAIRS
from pathveil.statistics.pauses import STATISTIC as PAUSES
from pathveil.statistics.prefix_tree import LEVELS
from pathveil.statistics.reach import STATISTIC as REACH
from pathveil.statistics.shapes import LENGTHS
from pathveil.statistics.shapes import STATISTIC as SHAPES
from pathveil.statistics.slots import STATISTIC as SLOTS
from pathveil.statistics.statistic import Statistic
from pathveil.statistics.total import STATISTIC as TOTAL
from pathveil.statistics.visit_slots import STATISTIC as VISIT_SLOTS
from pathveil.statistics.visited_sets import STATISTIC as VISITED_SETS
from pathveil.statistics.visits import STATISTIC as VISITS

__all__ = [
    "ACTIONS",
    "FIRST_SLOTS",
    "LAST_LOCATIONS",
    "LENGTHS",
    "LEVELS",
    "MOVES",
    "PAIRS",
    "PAUSES",
    "REACH",
    "SHAPES",
    "SLOTS",
    "STATISTICS",
    "TIME_STATISTICS",
    "TOTAL",
    "VISITED_SETS",
    "VISITS",
    "VISIT_SLOTS",
]

STATISTICS: tuple[Statistic, ...] = (
    TOTAL,
    SHAPES,
    LAST_LOCATIONS,
    VISITS,
    ACTIONS,
    MOVES,
    PAIRS,
    VISITED_SETS,
    REACH,
    *LEVELS,
)
TIME_STATISTICS: tuple[Statistic, ...] = (FIRST_SLOTS, PAUSES, SLOTS, VISIT_SLOTS)
