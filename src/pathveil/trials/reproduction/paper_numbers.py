"""What the paper prints (section V), to set beside ours.

Its figures are pictures without numbers in the text, so only what the text states is here.
"""

from collections.abc import Mapping
from dataclasses import dataclass

TRAJECTORIES = 1_210_096
LOCATIONS = 1_012
LONGEST = 121
MEAN_LENGTH = 6.7


@dataclass(frozen=True, slots=True)
class TruePositives:
    """True positives of one row of tables III to V; false positives are k less them."""

    basic: int
    full: int


# Table III: by k, at ε = 1.0 and h = 12.
BY_K: Mapping[int, TruePositives] = {
    50: TruePositives(50, 50),
    100: TruePositives(92, 96),
    150: TruePositives(131, 139),
    200: TruePositives(150, 169),
    250: TruePositives(171, 197),
}

# Table IV: by ε, at h = 12 and k = 200.
BY_EPSILON: Mapping[str, TruePositives] = {
    "0.5": TruePositives(145, 160),
    "0.75": TruePositives(147, 161),
    "1.0": TruePositives(150, 169),
    "1.25": TruePositives(153, 169),
    "1.5": TruePositives(153, 170),
}

# Table V: by h, at ε = 1.0 and k = 200.
BY_HEIGHT: Mapping[int, TruePositives] = {
    6: TruePositives(154, 167),
    8: TruePositives(154, 168),
    10: TruePositives(153, 168),
    12: TruePositives(150, 169),
    14: TruePositives(150, 169),
    16: TruePositives(148, 168),
    18: TruePositives(145, 167),
    20: TruePositives(146, 167),
}

# "Even in the worst case (ε = 0.5 and max|Q| = 3), the average relative error of Full is still
# less than 12%. Under the typical setting ε = 1.0, [it] is less than 10% for all query subsets."
WORST_ERROR, TYPICAL_ERROR = 0.12, 0.10
# The improvement by constrained inference is said to be "30% − 74%".
IMPROVEMENT = (0.30, 0.74)
# "When |D| = 1,200,000, the runtime of Full is just 24 seconds", at ε = 1.0 and h = 20.
SECONDS = 24.0
# "we fix the database size for all test sets to 800,000", of 1,210,096.
UNIVERSE_PANEL_SHARE = 800_000 / TRAJECTORIES
