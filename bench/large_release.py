"""What it takes to publish very many trajectories, and to ask the release: time and memory.

``python -m bench.large_release --riders 50000000`` writes the data of `bench.scale`, publishes it
by the command line with DuckDB in 2 GB, and then counts, mines, draws and explores the release,
each by its own command. ``--data DIR`` takes data that `bench.scale` left there, ``--release DIR``
a bundle that is there already. Memory is the most that a command's process and its children had
resident together, looked at twenty times a second, or that any of them had at its peak.
"""

import argparse
import http.client
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from urllib.parse import urlencode, urlsplit

from bench.explorer import address_of, getter
from bench.measuring import row
from bench.processes import descendants, resident
from bench.scale import written
from bench.scale_data import stops

PATHVEIL = (sys.executable, "-m", "pathveil")
MOST = 2.0  # gigabytes
TICK = 0.25  # seconds between two looks: each takes a hundredth of one


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--riders", type=int, default=1_000_000)
    parser.add_argument("--data", type=Path, help="where the data is, or stays")
    parser.add_argument("--release", type=Path, help="a bundle, which is made if it is not there")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        data, release = arguments.data or scratch, arguments.release or scratch / "release"
        if not release.exists():
            publish(arguments.riders, data, release, scratch)
        ask(release, scratch)


def publish(riders: int, data: Path, release: Path, scratch: Path) -> None:
    """By the command line, on DuckDB."""
    written(riders, data)
    listed = scratch / "stops.csv"
    listed.write_text("\n".join(["location", *stops().labels]) + "\n")
    run(
        f"publish {riders:,}",
        *("publish", data / str(riders), "--universe", listed, "--unit-column", "card_id"),
        *("--order-column", "seq", "--location-column", "stop_id", "--epsilon", "1"),
        *("--engine", "duckdb", "--memory", "2GB", "--out", release),
    )


def ask(release: Path, scratch: Path) -> None:
    """Each command that reads a release."""
    print(f"{sum(f.stat().st_size for f in release.iterdir()) / 1e6:,.0f} MB in the bundle")
    most, second, *_ = stops().labels
    run("count, two stops", "count", release, most, second)
    run("count, in order", "count", release, most, second, "--ordered")
    run("patterns", "patterns", release, "-k", "20", "--min-length", "2")
    run("flows", "flows", release, "-k", "20")
    run("flows, origin-destination", "flows", release, "--kind", "origin-destination")
    run("report", "report", release, "--out", scratch / "report.html")
    run("verify", "verify", release)
    explore(release, most, second)


def run(name: str, *arguments: object) -> None:
    """Run a command to its end."""
    with subprocess.Popen(
        [*PATHVEIL, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        watch(name, process, lambda: process.poll() is not None)
        if process.returncode:
            raise SystemExit(process.stderr.read().decode())


def watch(name: str, process: subprocess.Popen, is_done: Callable[[], bool]) -> None:
    """Look at a command until it is done; tell what it took."""
    start, most, seconds = time.perf_counter(), 0, 0.0
    while not is_done():
        most = max(most, *resident(process.pid))
        seconds = max(seconds, sum(p.seconds for p in descendants(process.pid, [])))
        time.sleep(TICK)
    taken = time.perf_counter() - start
    gigabytes = most / 1e9
    word = "met" if gigabytes <= MOST else "MISSED"
    used = f"CPU {seconds:.1f} s"
    row(name, f"{taken:.1f} s", used, f"{gigabytes:.2f} GB", f"target {MOST}: {word}")


def explore(release: Path, *locations: str) -> None:
    """Start the explorer and ask it, until all patterns are mined."""
    with subprocess.Popen(
        [*PATHVEIL, "explore", str(release), "--port", "0", "--no-open", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        asking = Thread(target=explored, args=[server, locations], daemon=True)
        asking.start()
        try:
            watch("explore", server, lambda: not asking.is_alive())
        finally:
            server.send_signal(signal.SIGINT)


def explored(server: "subprocess.Popen[str]", locations: tuple[str, ...]) -> None:
    """Ask what a browser would."""
    address = urlsplit(address_of(server))
    get = getter(http.client.HTTPConnection(address.hostname, address.port))
    asked = urlencode({"location": locations}, doseq=True)
    paths = ("overview", "map", "visits", "lengths", f"count?{asked}", "tree", "flows", "patterns")
    for path in paths:
        while (status := get(f"/api/{path}")[0]) == 202:  # patterns are being mined
            time.sleep(1)
        if status != 200:
            raise RuntimeError(f"{path} was answered with {status}")


if __name__ == "__main__":
    main()
