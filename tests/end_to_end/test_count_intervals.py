"""`pathveil count` tells how far the answer may be off."""

import numpy as np
import pytest

from pathveil import TrajectoryDatabase, publish, simulate_week


@pytest.fixture(scope="module")
def bundles(tmp_path_factory):
    """A calibrated release and one by `full` of the same week."""
    folder = tmp_path_factory.mktemp("bundles")
    week = simulate_week(2000, 20, seed=1)
    database = TrajectoryDatabase.from_arrays(week.offsets, week.codes, week.universe)
    for method in ("calibrated", "full"):
        noise = np.random.default_rng(2)  # noqa: TID251  (reproducible; nothing is published)
        release = publish(database, epsilon="1", height=6, method=method, generator=noise)
        release.write(folder / method)
    return folder, week.universe.labels[:2]


def test_as_text(bundles, pathveil):
    folder, labels = bundles
    said = pathveil("count", folder / "calibrated", *labels).out
    assert " to " in said
    assert "90%)" in said
    assert "%" not in pathveil("count", folder / "full", *labels).out


def test_as_json(bundles, pathveil):
    folder, labels = bundles
    answer = pathveil("count", folder / "calibrated", *labels, "--json").json()
    assert answer["low"] <= answer["count"] <= answer["high"]
    assert answer["level"] == 0.9
    for name, more in (("full", []), ("calibrated", ["--prefix"])):
        answer = pathveil("count", folder / name, *labels, "--json", *more).json()
        assert [answer[key] for key in ("low", "high", "level")] == [None] * 3
