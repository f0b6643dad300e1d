"""What one trip by itself is promised, measured: from two files on disk to the noisy counts.

The files differ in one trip of one unit. With more trips than are used, a trip that goes lets
others in, and more than ε/c is lost: a certificate that claims ε/c for it is refuted here.
"""

import re
from fractions import Fraction

import numpy as np

import pathveil as pv
from pathveil.audit.attacking import bounds_of
from pathveil.gate.randomness import Randomness
from pathveil.publishing import publish_with

EPSILON, C = 2, 2  # so a count's noise has parameter 1, and ε/c = 1 was claimed
PARAMETERS = pv.Parameters.choose(
    epsilon=EPSILON, height=1, universe_size=2, method="basic", max_trajectories_per_unit=C
)
RUNS = 800  # for each file, on average
FALSE_ALARM = 1e-6
OTHERS = 60


def write(path, trips):
    """Others who go to a or to b once, and one unit with these trips, in the order of their ids."""
    rows = [f"u{i},1,{'ab'[i % 2]}" for i in range(OTHERS)]
    rows += [f"x,{number},{place}" for number, place in trips]
    path.write_text("\n".join(["unit,trip,place", *rows]), encoding="utf-8")
    return path


def read(path, keep, seed=None):
    return pv.read_trajectories(
        path,
        pv.Universe(["a", "b"]),
        unit="unit",
        trajectory="trip",
        location="place",
        max_trajectories_per_unit=C,
        keep=keep,
        keep_seed=seed,
    )


def counts(database):
    return np.bincount(database.codes, minlength=2)


def noisy_counts(database):
    """The noisy counts of a and b in one release, below every count if they are not there."""
    tree = publish_with(database, PARAMETERS, Randomness()).tree
    seen = np.full(2, -1000)
    seen[tree.location] = tree.noisy_count
    return seen


def measured_loss(first, second):
    """A lower bound on the loss between two databases that both hold c trips of the unit.

    The attacker knows both, and says "the first" where there are as many a as in it, or more, and
    no more b.
    """
    coins = Randomness().words(2 * RUNS) % 2 == 1
    seen = np.stack([noisy_counts(first if coin else second) for coin in coins])
    a, b = counts(first)
    happened = (seen[:, 0] >= a) & (seen[:, 1] <= b)
    return float(bounds_of(happened[np.newaxis], coins, FALSE_ALARM).max())


def claim(database):
    """The largest ε that the certificate names for one trip, whoever's it is."""
    paper = publish_with(database, PARAMETERS, Randomness()).certificate
    said = paper.privacy_loss.privacy_unit_description
    return max(map(Fraction, re.findall(r"= ([0-9/]+)", said)))


def test_with_the_first_trips_two_change(tmp_path):
    """Without trip 1, trip 3 is used."""
    trips = [(1, "a"), (2, "a"), (3, "b")]
    whole = read(write(tmp_path / "whole.csv", trips), "first")
    less = read(write(tmp_path / "less.csv", trips[1:]), "first")
    assert (counts(whole) - counts(less)).tolist() == [1, -1]
    assert EPSILON / C < measured_loss(whole, less) <= claim(whole)


def test_with_a_sample_all_may_change(tmp_path):
    """Without trip 1 all others move up in the unit's own numbers, and others are sampled."""
    trips = [(number, "ab"[number % 2]) for number in range(12)]
    files = (write(tmp_path / "whole.csv", trips), write(tmp_path / "less.csv", trips[1:]))
    for seed in range(100):  # a seed that somebody fixed, and that we look for
        whole, less = (read(path, "sample", seed) for path in files)
        if (counts(whole) - counts(less)).tolist() == [C, -C]:
            break
    assert EPSILON < measured_loss(whole, less) <= claim(whole)  # more than the unit's own ε
