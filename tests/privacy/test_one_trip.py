"""What one trip by itself is promised, measured: from two files on disk to the noisy counts.

The files differ in one trip of one unit (`bench.one_trip`). With more trips than are used, a trip
that goes lets others in, and more than ε/c is lost: a certificate that claims ε/c for it is refuted
here.
"""

import re
from fractions import Fraction

from bench.one_trip import EPSILON, PARAMETERS, C, counts, first_trips, measured_loss, sampled_trips

from pathveil.gate.randomness import Randomness
from pathveil.publishing import publish_with

RUNS = 800  # for each file, on average
FALSE_ALARM = 1e-6


def claim(database):
    """The largest ε that the certificate names for one trip, whoever's it is."""
    paper = publish_with(database, PARAMETERS, Randomness()).certificate
    said = paper.privacy_loss.privacy_unit_description
    return max(map(Fraction, re.findall(r"= ([0-9/]+)", said)))


def test_with_the_first_trips_two_change(tmp_path):
    """Without trip 1, trip 3 is used."""
    whole, less = first_trips(tmp_path)
    assert (counts(whole) - counts(less)).tolist() == [1, -1]
    assert EPSILON / C < measured_loss(whole, less, RUNS, FALSE_ALARM) <= claim(whole)


def test_with_a_sample_all_may_change(tmp_path):
    """Without trip 1 all others move up in the unit's own numbers, and others are sampled."""
    whole, less = sampled_trips(tmp_path)
    loss = measured_loss(whole, less, RUNS, FALSE_ALARM)
    assert EPSILON < loss <= claim(whole)  # more than the unit's own ε
