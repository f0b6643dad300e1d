"""A simulated week as files, in the shape in which a transit agency has its taps."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from pathveil.errors import InputError
from pathveil.folders import new_parents
from pathveil.progress_reports import report_progress
from pathveil.simulation import SimulatedWeek


def write_week(week: SimulatedWeek, folder: Path, *, csv: bool) -> tuple[Path, Path]:
    """Write taps (one row per visit: card_id, seq, stop_id) and the stop list; their paths."""
    taps, stops = folder / ("taps.csv" if csv else "taps.parquet"), folder / "stops.csv"
    try:
        with new_parents(taps):
            # Absolute, because Arrow takes a path such as file:week for an address.
            _write_taps(week, taps.absolute(), csv=csv)
            pa.csv.write_csv(_stops(week), stops.absolute())
    except OSError as error:
        raise InputError(f"Can't write to {folder}: {error.strerror}.") from None
    return taps, stops


def _write_taps(week: SimulatedWeek, path: Path, *, csv: bool) -> None:
    lengths = np.diff(week.offsets)
    rider = np.repeat(np.arange(len(lengths)), lengths)
    cards = pa.array([f"card-{i:08d}" for i in range(len(lengths))])
    report_progress(1, 3)
    table = pa.table(
        {
            "card_id": cards.take(pa.array(rider)),
            "seq": pa.array(np.arange(len(rider)) - week.offsets[rider] + 1, pa.int32()),
            "stop_id": pa.array(week.universe.labels).take(pa.array(week.codes)),
        }
    )
    report_progress(2, 3)
    if csv:
        pa.csv.write_csv(table, path)
    else:
        pq.write_table(table, path, compression="zstd")


def _stops(week: SimulatedWeek) -> pa.Table:
    universe = week.universe
    return pa.table(
        {
            "location": pa.array(universe.labels),
            "name": pa.array(universe.names),
            "latitude": pa.array(universe.latitude),
            "longitude": pa.array(universe.longitude),
        }
    )
