"""The tests' own Spark cluster leaves no process behind, however the tests end."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from tests.engines.cluster import find_java
from tests.engines.interrupted import wait_until

pytestmark = pytest.mark.long

MARK = "PATHVEIL_TEST_CLUSTER"
RUNS = """
import sys, time
from tests.engines.cluster import Cluster

with Cluster(sys.argv[1], workers=1) as cluster:
    cluster.session.range(10).repartition(2).count()  # now it has an executor, too
    print("running", flush=True)
    time.sleep(600)
"""


def marked(folder):
    """The processes that were started with the mark, by their environment."""
    mark, found = f"{MARK}={folder}".encode(), []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended, or is somebody else's
            if mark in (process / "environ").read_bytes().split(b"\0"):
                found.append(process.name)
    return found


def test_a_cluster_whose_tests_are_killed_ends(tmp_path):
    if (problem := find_java()) is not None:
        pytest.skip(problem)
    with subprocess.Popen(
        [sys.executable, "-c", RUNS, tmp_path],
        env=os.environ | {MARK: str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as tests:
        assert tests.stdout.readline() == "running\n"
        started = len(marked(tmp_path))
        tests.kill()
    assert started >= 5  # with master, worker, driver and executor
    wait_until(lambda: not marked(tmp_path), "Java was left behind", seconds=60)
