"""A release with times: the same riders, each tapping in some hour of the week."""

import numpy as np
import pyarrow as pa

import pathveil as pv


def timed_release() -> pv.Release:
    """Publish a simulated week with hours at ε = 4."""
    week = pv.simulate_week(3000, 12)
    lengths = np.diff(week.offsets)
    rider = np.repeat(np.arange(len(lengths)), lengths)
    place = np.arange(len(rider)) - week.offsets[rider]
    commute = np.where(place % 2 == 0, 8, 17)  # out in the morning, back in the afternoon
    time = np.datetime64("2026-03-02") + (place // 2 * 24 + commute).astype("timedelta64[h]")
    taps = pa.table(
        {
            "uid": pa.array(rider),
            "time": pa.array(time.astype("datetime64[s]")),
            "location": pa.array(week.universe.labels).take(pa.array(week.codes)),
        }
    )
    grid = pv.TimeGrid.parse("weekday-hour")
    database = pv.read_trajectories(
        taps, week.universe, unit="uid", time="time", time_grid=grid, location="location"
    )
    return pv.publish(database, epsilon="4", height=6)
