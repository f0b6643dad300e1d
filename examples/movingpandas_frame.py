"""A release with movingpandas' column names: traj_id, t, x, y."""

from timed_release import timed_release

visits = timed_release().to_pandas("movingpandas")
print(visits.head())

# With movingpandas installed, these are its trajectories:
# movingpandas.TrajectoryCollection(visits, traj_id_col="traj_id", t="t", x="x", y="y", crs=4326)
