"""Spark, interrupted in mid-run: charged, nothing published, nothing raw left, and it is said.

On a standalone cluster of its own, whose workers can be lost, by the command line.
"""

import signal
import threading

import pytest
from tests.engines.cluster import Cluster, find_java
from tests.engines.cluster import environment as cluster_environment
from tests.engines.interrupted import (
    UNIT,
    files_in,
    holding,
    small_disk,
    wait_until,
    write_taps,
)

pytestmark = pytest.mark.long

TIMEOUT = 5  # seconds without a worker


@pytest.fixture(scope="module", autouse=True)
def java():
    if (problem := find_java()) is not None:
        pytest.skip(problem)


@pytest.fixture(scope="module")
def taps(tmp_path_factory):
    return write_taps(tmp_path_factory.mktemp("taps"), 200_000)


@pytest.fixture
def workers(tmp_path):
    """A cluster of a test's own."""
    folder = tmp_path / "cluster"
    folder.mkdir()
    with Cluster(folder, workers=2, has_session=False) as running:
        yield running


def settings(folder, timeout=TIMEOUT):
    """The environment of a run with a small Spark, set up as an administrator would."""
    place = folder / "conf"
    place.mkdir()
    lines = [
        "spark.driver.memory 512m",
        "spark.executor.memory 512m",
        "spark.sql.shuffle.partitions 3",
        f"spark.pathveil.workerTimeout {timeout}",
    ]
    (place / "spark-defaults.conf").write_text("\n".join(lines) + "\n")
    return cluster_environment() | {"SPARK_CONF_DIR": str(place)}


def on_cluster(begin, taps, folder, workers, timeout=TIMEOUT):
    """A run whose workers have begun to shuffle."""
    options = ("--engine", "spark", "--master", workers.master)
    run = begin(taps, folder, *options, env=settings(folder, timeout))
    wait_until(
        lambda: shuffled(workers) or run.process.poll() is not None, "the workers do nothing"
    )
    assert run.process.poll() is None, run.finish()
    return run


def shuffled(workers):
    return [path for path in kept_by(workers) if path.name.startswith("shuffle_")]


def kept_by(workers):
    return [path for folder in workers.folder.glob("worker-*-local") for path in files_in(folder)]


def check_workers_forget(workers):
    wait_until(lambda: not kept_by(workers), "the workers kept files")
    assert holding(workers.folder, UNIT.encode()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal(begin, taps, tmp_path, workers, number):
    run = on_cluster(begin, taps, tmp_path, workers)
    run.signal(number)
    run.check_said(run.finish(), 128 + number)
    run.check_charged_for_nothing()
    check_workers_forget(workers)


def test_a_killed_driver(begin, taps, tmp_path, workers):
    """Python and its Java, both without a chance to clean up."""
    run = on_cluster(begin, taps, tmp_path, workers)
    run.signal(signal.SIGKILL)
    assert run.finish().code == -signal.SIGKILL
    run.check_charged_for_nothing()
    check_workers_forget(workers)


def test_the_loss_of_all_workers(begin, taps, tmp_path, workers):
    """Spark would wait for new ones for ever; what the lost ones leave can't be read."""
    run = on_cluster(begin, taps, tmp_path, workers)
    for worker in workers.workers():
        workers.kill(worker)
    result = run.finish()
    run.check_said(result, 2)
    assert f"no worker for {TIMEOUT} seconds" in result.err
    run.check_charged_for_nothing()
    assert holding(workers.folder, UNIT.encode()) == []


def test_the_loss_of_the_whole_cluster(begin, taps, tmp_path, workers):
    run = on_cluster(begin, taps, tmp_path, workers)
    for process in workers.processes:
        workers.kill(process)
    run.check_said(run.finish(), 2)
    run.check_charged_for_nothing()


def test_workers_that_come_late(begin, taps, tmp_path, workers):
    """All are lost, and others come before it is given up: the release is made."""
    run = on_cluster(begin, taps, tmp_path, workers, timeout=200)
    for worker in workers.workers():
        threading.Thread(target=workers.kill, args=[worker]).start()
    workers.add_worker()
    result = run.finish()
    assert result.code == 0, result
    assert (run.out / "privacy-certificate.json").exists()
    assert list(run.spill.iterdir()) == []


def test_a_full_disk(begin, taps, tmp_path):
    """Of a Spark on this machine, which spills where it is told to."""
    with small_disk(tmp_path / "disk", "2m") as disk:
        options = ("--engine", "spark", "--master", "local[1]")
        run = begin(taps, tmp_path, *options, spill=disk, env=settings(tmp_path))
        result = run.finish()
        run.check_said(result, 2)
        assert "room on their disks" in result.err
        run.check_charged_for_nothing()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_signal_to_a_spark_on_this_machine(begin, taps, tmp_path, number):
    options = ("--engine", "spark", "--master", "local[1]")
    run = begin(taps, tmp_path, *options, env=settings(tmp_path))

    def has_begun():
        names = [path.name for path in files_in(run.spill)]
        return any(name.startswith("shuffle_") for name in names)

    wait_until(lambda: has_begun() or run.process.poll() is not None, "it did not spill")
    run.signal(number)
    result = run.finish()
    if number == signal.SIGINT:
        run.check_said(result, 128 + number)
    run.check_charged_for_nothing()
