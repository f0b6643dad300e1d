"""The length distribution as people read it: length by length, and the long tail as one."""

from pathveil.analysis.flows import length_distribution
from pathveil.model.paths import WeightedPaths

MOST_LENGTHS = 24


def length_rows(release: WeightedPaths, most: int = MOST_LENGTHS) -> list[tuple[str, int]]:
    """Lengths in words, shortest first, and how many trajectories have them.

    Args:
        release: the release.
        most: rows; what is longer is one more, such as "25 or more".
    """
    rows = length_distribution(release).to_rows()
    shown = [(f"{length:,}", count) for length, count in rows[:most]]
    rest = rows[most:]
    if rest:
        shown.append((f"{rest[0][0]:,} or more", sum(count for _, count in rest)))
    return shown
