"""Small releases to explore, and ways to ask the explorer."""

import asyncio
import json
import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlencode

import numpy as np

import pathveil as pv
from pathveil.explorer.indexed_release import IndexedRelease
from pathveil.explorer.web import application
from pathveil.times.time_grid import TimeGrid
from pathveil.universe.background import Background
from pathveil.universe.taxonomy import Taxonomy

PORT = 8321
# Markup, a formula, Hebrew, Arabic with a bracket, quotes, and one that looks like an address.
STRANGE = (
    *("<img src=x onerror=alert(1)>", "=1+1", "תחנה מרכזית", "محطة (١)"),
    *('"quoted" & <b>bold</b>', "a@b", "Crémazie"),
)


def trajectories(size, people, seed, longest=6):
    """Offsets and codes of made-up people, who like the first locations best."""
    rng = np.random.default_rng(seed)  # noqa: TID251
    lengths = rng.integers(1, longest, people)
    codes = (size * rng.random(lengths.sum()) ** 2).astype(np.int32)
    return np.concatenate(([0], np.cumsum(lengths))), codes


def week(method="calibrated", seed=7, riders=500, stops=9):
    """A release of a simulated week, with names and coordinates."""
    made = pv.simulate_week(riders, stops, seed=seed)
    database = pv.TrajectoryDatabase.from_arrays(made.offsets, made.codes, made.universe)
    return pv.publish(database, epsilon="4", height=4, method=method)


def strange(labels=STRANGE):
    """A release of locations with strange labels, without coordinates."""
    offsets, codes = trajectories(len(labels), 600, 3)
    universe = pv.Universe(labels)
    database = pv.TrajectoryDatabase.from_arrays(offsets, codes, universe)
    return pv.publish(database, epsilon="8", height=3, method="full")


def timed(method="full"):
    """A release with times: four slots of six hours."""
    grid = TimeGrid.parse("6h", "America/Montreal")
    rng = np.random.default_rng(1)  # noqa: TID251
    lengths = rng.integers(1, 5, 1500)
    rows = [np.sort(rng.integers(0, 4, n)) * 3 + rng.integers(0, 3, n) for n in lengths]
    database = pv.TrajectoryDatabase.from_arrays(
        np.cumsum([0, *lengths]),
        np.concatenate(rows).astype(np.int32),
        pv.Universe(["Park", "Mall", "a@b"]),
        time_grid=grid,
    )
    return pv.publish(database, epsilon="8", height=3, method=method)


def city():
    """A release with a map, public lines and hours: a market in the middle of a ring of stops."""
    ring = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    universe = pv.Universe(
        ["M", *(f"R{number}" for number in range(12))],
        names=["Market", *(f"Ring {number}" for number in range(12))],
        latitude=[45.5, *(45.5 + 0.05 * np.sin(ring))],
        longitude=[-73.6, *(-73.6 + 0.07 * np.cos(ring))],
    )
    rng = np.random.default_rng(8)  # noqa: TID251
    stop = rng.integers(1, 13, 1500)
    there, back = 6 + rng.integers(0, 4, 1500), 15 + rng.integers(0, 4, 1500)
    codes = np.stack((there * 13 + stop, there * 13, back * 13 + stop % 12 + 1), axis=1)
    database = pv.TrajectoryDatabase.from_arrays(
        np.arange(1501) * 3,
        codes.ravel().astype(np.int32),
        universe,
        time_grid=TimeGrid.parse("1h"),
    )
    lines = Background((((-73.67, 45.5), (-73.6, 45.5), (-73.53, 45.52)),))
    return pv.publish(database, epsilon="8").on(lines)


def zoned(method="full"):
    """A release with zones."""
    universe = pv.Universe("abcdef")
    offsets, codes = trajectories(6, 900, 5)
    database = pv.TrajectoryDatabase.from_arrays(offsets, codes, universe)
    taxonomy = Taxonomy.of(universe, list("XYXZZZ"))
    return pv.publish(database, epsilon="4", height=3, method=method, taxonomy=taxonomy)


def empty():
    """A release in which nothing survived."""
    database = pv.TrajectoryDatabase.from_sequences([], pv.Universe(["A", "B"]))
    return pv.publish(database, epsilon="1", height=2, method="full", threshold=300)


def stops(size=8760):
    """A release with as many stops as Montreal has, of which people visit some."""
    rng = np.random.default_rng(2)  # noqa: TID251
    universe = pv.Universe(
        [f"{50_000 + code}" for code in range(size)],
        names=[f"Station {code} / Boulevard Crémazie" for code in range(size)],
        latitude=45.5 + rng.normal(0, 0.05, size),
        longitude=-73.6 + rng.normal(0, 0.08, size),
    )
    offsets, codes = trajectories(size, 4000, 4)
    database = pv.TrajectoryDatabase.from_arrays(offsets, codes, universe)
    return pv.publish(database, epsilon="8", height=2, method="full")


@dataclass(frozen=True)
class Reply:
    """What the server sent."""

    status: int
    headers: dict
    body: bytes

    def json(self):
        return json.loads(self.body)

    def text(self):
        return self.body.decode()


class Caller:
    """Asks the application without a network."""

    def __init__(self, *releases):
        self.indexed = tuple(
            IndexedRelease.build(release, f"release {i}") for i, release in enumerate(releases, 1)
        )
        for one in self.indexed:
            one.mining.wait()
        self.app = application(self.indexed, PORT)

    def get(self, path, *, method="GET", host=f"127.0.0.1:{PORT}", **parameters):
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": urlencode(parameters, doseq=True).encode(),
            "headers": [] if host is None else [(b"host", host.encode())],
            "http_version": "1.1",
            "scheme": "http",
        }
        sent = []

        async def receive():
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message):
            sent.append(message)

        asyncio.run(self.app(scope, receive, send))
        headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        return Reply(sent[0]["status"], headers, b"".join(m.get("body", b"") for m in sent[1:]))

    def ask(self, path, **parameters):
        reply = self.get(f"/api{path}", **parameters)
        assert reply.status == 200, reply
        return reply.json()


@contextmanager
def served(*folders):
    """The real command in another process; gives its address and the process."""
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "pathveil", "explore", *map(str, folders)),
            *("--port", "0", "--no-open", "--json"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"NO_COLOR": "1"},
    )
    try:
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith("}"):
                break
        if not lines:
            raise RuntimeError(process.stderr.read())
        yield json.loads("".join(lines))["address"], process
    finally:
        process.kill()
        process.communicate()
