"""A release as a polars frame: which stop most trajectories begin at."""

import polars as pl
from simulated_release import simulated_release

visits = simulated_release().to_polars()

first = visits.filter(pl.col("seq") == 1)
print(first.group_by("location").len().sort("len", descending=True).head())
