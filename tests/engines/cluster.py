"""A standalone Spark cluster on loopback: a master and workers, each a process of its own."""

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

JAVA = "openjdk-17-jre-headless"
SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "512m",
    "spark.executor.memory": "512m",
    "spark.sql.shuffle.partitions": "3",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.io.encryption.enabled": "true",
}


def find_java():
    """Why Spark can't run here; None if it can. As root on Debian, Java is installed."""
    if importlib.util.find_spec("pyspark") is None:
        return "pyspark is not installed (requirements-spark.txt)"
    if shutil.which("java") is None and os.geteuid() == 0 and shutil.which("apt-get"):
        for command in (["update", "-qq"], ["install", "-y", "-qq", JAVA]):
            subprocess.run(["apt-get", *command], check=False, capture_output=True)
    return None if shutil.which("java") else f"there is no Java ({JAVA})"


class Cluster:
    """Starts when the block begins, and ends with it."""

    def __init__(self, folder, workers, *, memory="1g", has_session=True):
        self.folder, self.count = Path(folder), workers
        self.memory, self.has_session = memory, has_session
        self.processes, self.session, self.master = [], None, None

    def __enter__(self):
        try:
            self.master = self._start_master()
            for _ in range(self.count):
                self.add_worker()
            if self.has_session:
                self.session = self._start_session()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.session is not None:
            self.session.stop()
        for process in self.processes:
            self.kill(process)

    def add_worker(self):
        name = f"worker-{len(self.processes)}"
        process = self._spawn(
            name, "worker.Worker", "-c", "1", "-m", self.memory, "-d", self.folder / name,
            "--webui-port", "0", self.master,
        )  # fmt: skip
        self._wait_for(name, process, "Successfully registered with master")
        return process

    def local(self, name):
        """Where a worker's tables and shuffles are."""
        return self.folder / f"{name}-local"

    def workers(self):
        return self.processes[1:]

    @staticmethod
    def kill(process):
        """The process and what it started in its group; as if the machine were gone."""
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def _start_master(self):
        process = self._spawn("master", "master.Master", "--port", "0", "--webui-port", "0")
        found = self._wait_for("master", process, r"Starting Spark master at (spark://\S+)")
        self._wait_for("master", process, "I have been elected leader")
        return found[1]

    def _spawn(self, name, role, *arguments):
        script = Path(importlib.util.find_spec("pyspark").origin).parent / "bin" / "spark-class"
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                [*_ending_with_us(), script, f"org.apache.spark.deploy.{role}",
                 "--host", "127.0.0.1", *map(str, arguments)],
                stdout=log,
                stderr=log,
                env=os.environ | environment() | {"SPARK_LOCAL_DIRS": str(self.local(name))},
                start_new_session=True,
            )  # fmt: skip
        self.processes.append(process)
        return process

    def _wait_for(self, name, process, pattern, seconds=120):
        for _ in range(10 * seconds):
            text = (self.folder / f"{name}.log").read_text(errors="replace")
            if found := re.search(pattern, text):
                return found
            if process.poll() is not None:
                break
            time.sleep(0.1)
        raise RuntimeError(f"the {name} did not start: {text[-2000:]}")

    def _start_session(self):
        from pyspark.sql import SparkSession

        os.environ.update(environment())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            builder = SparkSession.builder.master(self.master).appName("tests")
            tables = {"spark.sql.warehouse.dir": str(self.folder / "tables")}
            for key, value in (SETTINGS | tables).items():
                builder = builder.config(key, value)
            session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        return session


def _ending_with_us():
    """A command is killed when we are, however that comes; its executors end by themselves."""
    found = shutil.which("setpriv")  # of Debian's util-linux
    return [found, "--pdeathsig", "KILL"] if found else []


def environment():
    return {
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_NO_DAEMONIZE": "1",
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }
