"""NoisyCount (Procedure 1, line 12): an exact count plus two-sided geometric noise.

Sensitivity: on one level of the tree a trajectory is counted in one node at most, so adding or
removing a unit with at most c trajectories changes the level's vector of counts by at most c in
L1. Noise with P[X = x] = (1 − α)/(1 + α)·α^|x| and α = e^(−ε/(h·c)) changes the probability of any
outcome by at most a factor α^(−c) = e^(ε/h): one level is ε/h-differentially private, and h levels
compose to ε.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pathveil.mechanism.geometric import noise_geometric
from pathveil.mechanism.randomness import Randomness


def discrete_laplace(
    size: int, level_epsilon: Fraction, randomness: Randomness
) -> NDArray[np.int64]:
    """Integer noise: the difference of two geometric numbers has exactly the law above."""
    geometric = noise_geometric(level_epsilon)
    return geometric.draw(size, randomness) - geometric.draw(size, randomness)
