"""Simulated weeks of any size as a folder of Parquet files, a million riders each."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pathveil import Universe, simulate_week

RIDERS_PER_FILE = 1_000_000
STOPS = 1012


def write_taps(riders: int, folder: Path) -> int:
    """Write taps (card_id, seq, stop_id) in long form, grouped by card; how many there are."""
    folder.mkdir(parents=True)
    taps = 0
    for first in range(0, riders, RIDERS_PER_FILE):
        table = _taps(first, min(RIDERS_PER_FILE, riders - first))
        pq.write_table(table, folder / f"part-{first // RIDERS_PER_FILE:05}.parquet")
        taps += table.num_rows
    return taps


def stops() -> Universe:
    return simulate_week(1, STOPS).universe


def _taps(first: int, riders: int) -> pa.Table:
    week = simulate_week(riders, STOPS, seed=first)
    # Every file draws its own popularities; by rank, the same stops are popular in all of them.
    rank = np.argsort(np.argsort(-np.bincount(week.codes, minlength=STOPS)))
    rider = np.repeat(np.arange(riders), np.diff(week.offsets))
    numbers = pc.utf8_lpad(pa.array(np.arange(first, first + riders)).cast("string"), 10, "0")
    cards = pc.binary_join_element_wise(pa.scalar("card-"), numbers, "")
    return pa.table(
        {
            "card_id": cards.take(pa.array(rider)),
            "seq": pa.array(np.arange(len(rider)) - week.offsets[rider], pa.int32()),
            "stop_id": pa.array(week.universe.labels).take(pa.array(rank[week.codes])),
        }
    )
