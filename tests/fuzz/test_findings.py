"""Findings whose files could go stale with a layout: what they were, said without bytes."""

import pytest
from tests.commands import edit_certificate

import pathveil as pv
from pathveil.core.told_numbers import decimal
from pathveil.errors import ParameterError, ReleaseError
from pathveil.release.bundle import check_free, read_certificate


def written(folder):
    universe = pv.Universe(["S1", "S2"])
    database = pv.TrajectoryDatabase.from_arrays([0, 2], [0, 1], universe)
    return pv.publish(database, epsilon="4", height=2).write(folder / "release")


def test_a_certificate_with_a_share_of_0_is_refused(tmp_path):
    """Its explanation never ended."""
    bundle = written(tmp_path)
    read_certificate(bundle)

    def change(certificate):
        certificate["accounting"]["budget"][0]["epsilon"] = "0"

    edit_certificate(bundle, change)
    with pytest.raises(ReleaseError, match=r"accounting.budget.0.epsilon"):
        read_certificate(bundle)
    assert decimal(pv.Budget.parse("1").epsilon * 0) == "0"


def test_a_name_that_is_too_long_is_refused_before_anything_is_spent(tmp_path):
    """Also below a folder that is not there yet."""
    with pytest.raises(ReleaseError, match="too long"):
        check_free(tmp_path / "new" / ("x" * 300))
    check_free(tmp_path / "new" / ("x" * 200))
    assert list(tmp_path.iterdir()) == []


def test_a_time_grid_that_could_not_be_written_is_refused():
    with pytest.raises(ParameterError, match="9999"):
        pv.TimeGrid.of(["0001-01-01", "9999-12-31"])
    early = pv.TimeGrid.of(["0999-01-01", "1999-01-01"])
    assert pv.TimeGrid.of(early.labels, early.ends_as_texts()) == early
