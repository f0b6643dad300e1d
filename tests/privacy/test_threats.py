"""Lines of docs/threat-model.md that no other test is about."""

import numpy as np
import pyarrow.parquet as pq
import pytest

import pathveil as pv
from pathveil import publishing
from pathveil.cli.summary import print_summary
from pathveil.errors import ReleaseError

UNIVERSE = pv.Universe(["a", "b", "c"])
ROWS = [["a", "b"], ["c"]] * 60


def database(rows=ROWS):
    return pv.TrajectoryDatabase.from_sequences(rows, UNIVERSE)


def seeded(rows=ROWS, **more):
    choices = {"epsilon": "4", "height": 2} | more
    generator = np.random.default_rng(5)  # noqa: TID251
    return pv.publish(database(rows), **choices, generator=generator)


@pytest.mark.parametrize("gate", ["grow", "measure"])
def test_a_run_that_fails_after_the_gate_draws_no_noise_again(monkeypatch, gate):
    """Whoever tries again until something fits has spent ε each time."""
    calls, right = [], getattr(publishing, gate)

    def counted(*arguments, **options):
        calls.append(gate)
        return right(*arguments, **options)

    def fail(*_arguments, **_options):
        raise ReleaseError("after the gate")

    monkeypatch.setattr(publishing, gate, counted)
    monkeypatch.setattr(publishing, "Release", fail)
    method = {"grow": "full", "measure": "calibrated"}[gate]
    with pytest.raises(ReleaseError, match="after the gate"):
        pv.publish(database(), epsilon="4", height=2, method=method)
    assert calls == [gate]


def test_what_publish_prints_to_stdout_follows_from_the_release(tmp_path, capsys):
    """The summary sees no database: a release that was read back prints the same."""
    directory = seeded().write(tmp_path / "release")
    printed = []
    for release in (seeded(), pv.read_release(directory)):
        print_summary(release, directory, json=False)
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1] != ""


def test_parquet_files_hold_no_times_and_no_names_of_inputs(tmp_path):
    directory = seeded().write(tmp_path / "release")
    for path in directory.glob("*.parquet"):
        metadata = pq.read_metadata(path).metadata
        assert set(metadata) <= {b"pathveil", b"ARROW:schema"}, path
