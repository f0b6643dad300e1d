"""A release as a pandas frame: the busiest stops, and how long trajectories are."""

from simulated_release import simulated_release

visits = simulated_release().to_pandas()

print(visits.head())
print(visits.groupby("location").size().nlargest(5))
print(visits.groupby("trajectory_id").size().value_counts().sort_index())
