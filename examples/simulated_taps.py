"""Taps as a transit agency has them: one row per visit of a simulated week."""

import numpy as np
import pyarrow as pa

import pathveil as pv


def simulated_taps() -> tuple[pa.Table, pv.Universe]:
    """The columns card_id, seq and stop_id, and the public list of stops."""
    week = pv.simulate_week(3000, 40)
    lengths = np.diff(week.offsets)
    rider = np.repeat(np.arange(len(lengths)), lengths)
    stops = pa.array(week.universe.labels)
    taps = {
        "card_id": pa.array(rider),
        "seq": pa.array(np.arange(len(rider)) - week.offsets[rider]),
        "stop_id": stops.take(pa.array(week.codes)),
    }
    return pa.table(taps), week.universe
