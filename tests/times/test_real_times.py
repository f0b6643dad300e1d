"""Real times: a bike-share's weeks and a year of flights, if the data is there."""

from pathlib import Path

import pytest

import pathveil as pv

DATA = Path(__file__).resolve().parents[3] / "shared/data"


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "grid", "zone"),
    [
        ("mibici", "weekday-hour", "America/Mexico_City"),
        ("mibici", "1h", "America/Mexico_City"),
        ("nycflights13", "weekday-hour", "America/New_York"),
    ],
)
@pytest.mark.parametrize("method", ["basic", "full"])
def test_real_times_are_published(name, grid, zone, method, tmp_path):
    folder = DATA / name
    if not (folder / "trajectories.parquet").exists():
        pytest.skip(f"{name} is not in ../shared/data")
    universe = pv.Universe.read(folder / "universe.csv")
    database = pv.read_trajectories(
        folder / "trajectories.parquet",
        universe,
        unit="user_id",
        trajectory="trajectory_id",
        time="time",
        time_grid=pv.TimeGrid.parse(grid, zone),
        location="location",
    )
    release = pv.publish(database, epsilon="8", height=4, method=method)
    again = pv.read_release(release.write(tmp_path / "out"))
    slots = [again.time_grid.labels.index(time) for row in again.to_timed_sequences()
             for _, time in row]  # fmt: skip
    assert len(again) > 100
    assert set(slots) <= set(range(len(again.time_grid)))
    # People ride and fly by day: the release knows it.
    by_day, by_night = again.during("06:00", "22:00"), again.during("22:00", "06:00")
    assert len(by_day) > 4 * len(by_night)
