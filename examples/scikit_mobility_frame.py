"""A release with scikit-mobility's column names: uid, tid, datetime, lat, lng."""

from timed_release import timed_release

visits = timed_release().to_pandas("scikit-mobility")
print(visits.head())

# With scikit-mobility installed, this is a TrajDataFrame:
# skmob.TrajDataFrame(visits, latitude="lat", longitude="lng", datetime="datetime", user_id="uid")
