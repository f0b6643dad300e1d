"""What every audit on pairs of neighbouring databases checks."""

import numpy as np

from pathveil.audit import audit


def named(pairs, name):
    """The pair of this name."""
    return next(pair for pair in pairs if pair.name == name)


def assert_neighbours(pairs):
    """The two databases of each pair differ in the trajectories of one unit."""
    for pair in pairs:
        more = len(pair.with_unit) - len(pair.without)
        assert more == pair.parameters.max_trajectories_per_unit
        assert np.array_equal(pair.with_unit.codes[: len(pair.without.codes)], pair.without.codes)


def assert_caught(mutant, pairs, false_alarm, patch):
    """The audit of one pair raises an alarm."""
    pair = named(pairs, mutant.pair)
    report = audit(mutant.make(patch), pairs=[pair], runs=mutant.runs, false_alarm=false_alarm)
    assert report.alarms, f"{mutant.name} was not caught: {report.strongest}"
