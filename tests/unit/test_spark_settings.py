"""How a Spark session of the command line is set up, without starting one."""

from pathlib import Path

import pytest

from pathveil.raw.engines.spark_session import _settings


@pytest.mark.parametrize(
    ("master", "is_alone"),
    [("local", True), ("local[2]", True), ("local-cluster[2,1,512]", False), ("yarn", False)],
)
def test_only_a_spark_on_one_machine_waits_for_what_stands_still(master, is_alone):
    """On a cluster a worker that is silent for two minutes is given up."""
    assert ("spark.network.timeout" in _settings(master, Path("spill"))) == is_alone


def test_what_is_on_disk_is_encrypted_on_every_master():
    for master in ("local[2]", "spark://host:7077"):
        assert _settings(master, Path("spill"))["spark.io.encryption.enabled"] == "true"
