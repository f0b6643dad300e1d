"""A release to play with: 3,000 riders who do not exist, on 40 stops with coordinates."""

import pathveil as pv


def simulated_release() -> pv.Release:
    """Publish a simulated week at ε = 2."""
    week = pv.simulate_week(3000, 40)
    database = pv.TrajectoryDatabase.from_arrays(week.offsets, week.codes, week.universe)
    return pv.publish(database, epsilon="2", height=6)
