"""The rate at which a label of one unit is named: our law against another implementation's.

OpenDP's thresholded noise keeps a count that reaches the threshold, as ours does, so its rate
checks ours. Its own δ is not used: it is that of passing the threshold by 1 more, which is smaller
(docs/unknown-universe.md).
"""

from fractions import Fraction
from math import exp, sqrt

import opendp.prelude as dp
import pytest

from pathveil.core.thresholds import pass_fraction

DRAWS, LABELS = 100, 400
# 6.5 standard deviations: a false alarm has a probability below 10⁻⁹ for each of the three tests.
DEVIATIONS = 6.5


@pytest.fixture(autouse=True)
def contrib():
    dp.enable_features("contrib")


@pytest.mark.parametrize(("scale", "threshold"), [(2, 5), (1, 3), (4, 9)])
def test_a_label_of_one_trajectory_is_named_as_often_as_the_law_says(scale, threshold):
    counts = dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int))
    space = counts, dp.l01inf_distance(dp.absolute_distance(T=int))
    naming = space >> dp.m.then_laplace_threshold(scale=float(scale), threshold=threshold)
    once = {f"label {i}": 1 for i in range(LABELS)}
    named = sum(len(naming(once)) for _ in range(DRAWS))
    rate = float(pass_fraction(Fraction(1, scale), threshold - 1))
    assert rate == pytest.approx(exp(-(threshold - 1) / scale) / (1 + exp(-1 / scale)))
    size = DRAWS * LABELS
    assert abs(named - size * rate) < DEVIATIONS * sqrt(size * rate * (1 - rate))
