"""How quickly the explorer answers on a release of the size of the STM week.

Starts the real command in another process and asks each route many times over one connection, as
a browser does. The baseline is a file of fixed content from the same server in the same run: what
HTTP alone costs. To measure a release of your own: ``python -m bench.explorer DIR``.
"""

import http.client
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pathveil as pv
from bench.measuring import row
from pathveil.explorer.pattern_tables import MOST_LENGTH

REQUESTS = 40
TARGET = 100.0  # milliseconds
BASELINE = "/static/icon.svg"


def main(folder: Path | None = None) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        explored = folder or _published(Path(scratch) / "week")
        started = time.perf_counter()
        with subprocess.Popen(
            [
                *(sys.executable, "-m", "pathveil", "explore", str(explored), str(explored)),
                *("--port", "0", "--no-open", "--json"),
            ],
            stdout=subprocess.PIPE,
            text=True,
        ) as server:
            try:
                address = urlsplit(address_of(server))
                print(f"ready after {time.perf_counter() - started:.1f} s, with two releases")
                connection = http.client.HTTPConnection(address.hostname, address.port)
                _measure(getter(connection), server.pid, started)
            finally:
                server.send_signal(signal.SIGINT)


def _measure(get, server: int, started: float) -> None:
    print("\nwhile patterns are being mined in two other processes")
    _report(
        get, server, {name: asked for name, asked in _questions(get).items() if name != "/patterns"}
    )
    while get("/api/patterns?release=2")[0] == 202 or get("/api/patterns")[0] == 202:
        time.sleep(1)
    print(f"\nall patterns mined after {time.perf_counter() - started:.0f} s")
    _report(get, server, _questions(get))


def _report(get, server: int, questions) -> None:
    base = statistics.median(_times(get, [BASELINE] * REQUESTS))
    row("route (milliseconds)", "processor", "median", "p95", "most", "x baseline", "target 100")
    row("baseline: a fixed file", "", f"{base:.2f}")
    for name, asked in questions.items():
        before = _processor(server)
        times = sorted(_times(get, asked))
        worked = (_processor(server) - before) / len(times)
        middle, most = statistics.median(times), times[-1]
        high = times[round(0.95 * (len(times) - 1))]
        word = "met" if most <= TARGET else "MISSED"
        row(
            *(name, f"{worked:.2f}", f"{middle:.2f}", f"{high:.2f}", f"{most:.2f}"),
            *(f"{middle / base:.1f}", word),
        )


def _processor(process: int) -> float:
    """Milliseconds of processor time of a process: what a busy machine does not change (Linux)."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return 1000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _times(get, asked) -> list[float]:
    """Milliseconds of each request."""
    times = []
    for path in asked:
        start = time.perf_counter()
        status, _ = get(path)
        times.append(1000 * (time.perf_counter() - start))
        if status != 200:
            raise RuntimeError(f"{path} was answered with {status}")
    return times


def _questions(get) -> dict[str, list[str]]:
    """For each route requests that differ, the expensive ones (busy locations) among them."""
    visits = json.loads(get("/api/visits?limit=1000")[1])["rows"]
    labels = [one["label"] for one in visits]

    def asked(path, **choices):
        return f"/api{path}?{urlencode(choices, doseq=True)}"

    def sets(path, size, **more):
        return [asked(path, location=labels[i : i + size], **more) for i in range(REQUESTS)]

    busiest = [asked("/tree", location=[label]) for label in labels[: REQUESTS // 2]]
    deeper = [asked("/tree", location=labels[i : i + 2]) for i in range(REQUESTS // 2)]
    typed = ["s", "st", "street", "avenue 1", "S01", "9", "nowhere", "/"] * (REQUESTS // 8)
    return {
        "/overview": ["/api/overview"] * REQUESTS,
        "/locations": [asked("/locations", q=text, limit=12) for text in typed],
        "/map": ["/api/map"] * REQUESTS,
        "/visits": [asked("/visits", limit=20)] * REQUESTS,
        "/visits, 1,000 rows": [asked("/visits", limit=1000)] * REQUESTS,
        "/lengths": ["/api/lengths"] * REQUESTS,
        "/count, 2 in any order": sets("/count", 2),
        "/count, 5 in any order": sets("/count", 5),
        "/count, 2 in order": sets("/count", 2, order="given"),
        "/count, 5 in order": sets("/count", 5, order="given"),
        "/patterns": [
            asked("/patterns", k=50, min_length=1 + i % 3, max_length=MOST_LENGTH - i % 3)
            for i in range(REQUESTS // 2)
        ]
        + [asked("/patterns", k=500, contains=label) for label in labels[: REQUESTS // 2]],
        "/tree, the root": ["/api/tree"] * REQUESTS,
        "/tree": [*busiest, *deeper],
        "/flows": [asked("/flows", kind=kind) for kind in ("ends", "steps")] * (REQUESTS // 2),
        "/flows/matrix, 50": [asked("/flows/matrix", kind=kind, n=50) for kind in ("ends", "steps")]
        * (REQUESTS // 2),
        "/flows, CSV of 1,000": [asked("/flows", limit=1000, format="csv")] * REQUESTS,
        "/compare/visits": ["/api/compare/visits"] * REQUESTS,
        "/compare/lengths": ["/api/compare/lengths"] * REQUESTS,
        "/compare/count, 2 in order": sets("/compare/count", 2, order="given"),
    }


def getter(connection):
    def get(path: str) -> tuple[int, bytes]:
        connection.request("GET", path)
        reply = connection.getresponse()
        return reply.status, reply.read()

    return get


def address_of(server: "subprocess.Popen[str]") -> str:
    lines = []
    for line in server.stdout:
        lines.append(line)
        if line.startswith("}"):
            return json.loads("".join(lines))["address"]
    raise RuntimeError("the explorer did not start")


def _published(folder: Path) -> Path:
    week = pv.simulate_week(1_210_096, 1012, seed=7)
    database = pv.TrajectoryDatabase.from_arrays(week.offsets, week.codes, week.universe)
    return pv.publish(database, epsilon="1", height=12).write(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
