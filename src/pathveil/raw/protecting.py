"""Units that are smaller than a person: all rows of a person's week or day, or one trip.

The rows of a person come here together, as every engine brings them (`steps`); they leave as those
of several units. From then on a unit is all that anything looks at: its trajectories are cut,
ordered, sampled and bounded as those of a person would be.

Why one unit more or less changes nothing of another:

- *A week or a day* (`by_period`, before visits are split). The unit of a row follows from its own
  person and its own time, by a public clock; so the rows of other units are the same, in the same
  order among each other, and all steps that follow are given them alone. A trip that goes on after
  midnight is two, of two units.
- *A trip* (`by_trip`, after visits are split). A unit is a trajectory of a person. Told apart by
  ids, or by the day or the week, a row's trajectory follows from that row. Split by pauses, a
  trajectory is all visits between two pauses that are too long; without it the pause between the
  ones around it is longer still, so they are the same. (It is all there or not there: somebody who
  fills a pause makes another database, in which two trips are one.)

Each unit's sample (`sampling`) is drawn by its own hash: of the person's id and the period, which
are its own.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pathveil.errors import InputError
from pathveil.raw.bounding import Visits
from pathveil.raw.sampling import STEP, mixed
from pathveil.raw.splitting import periods
from pathveil.times.protected_units import TRIP, period_of
from pathveil.times.trip_rules import TripRules


def by_period(visits: Visits, rules: TripRules) -> Visits:
    """The same visits, each week or day of a person a unit, if that is protected.

    Raises:
        InputError: if the visits have no times.
    """
    period = period_of(rules.protect)
    if period is None or len(visits.unit) == 0:
        return visits
    if visits.integer is None:
        raise InputError("Visits without times are of no week and of no day.")
    number = periods(visits.integer, period == "day", rules.time_zone)
    unit, person, its_number = _paired(visits.unit, number)
    hashes = visits.unit_hash
    if hashes is not None:
        hashes = mixed(hashes[person] + its_number.astype(np.uint64) * STEP)
    return replace(visits, unit=unit, units=len(person), unit_hash=hashes)


def by_trip(visits: Visits, rules: TripRules) -> Visits:
    """The same visits, each trajectory a unit of its own, if that is protected."""
    if rules.protect != TRIP or visits.trajectory is None or len(visits.unit) == 0:
        return visits
    unit, person, _ = _paired(visits.unit, visits.trajectory.astype(np.int64))
    return replace(visits, unit=unit, units=len(person), trajectory=None, unit_hash=None)


def _paired(
    person: NDArray[np.int32], number: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """A code for each pair that occurs; and of each code the person and the number."""
    first = int(number.min())
    pair = (person.astype(np.int64) << 32) + (number - first)
    pairs, code = np.unique(pair, return_inverse=True)
    return code.astype(np.int32), (pairs >> 32).astype(np.int32), (pairs & 0xFFFF_FFFF) + first
