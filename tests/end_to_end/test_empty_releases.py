"""Releases of nobody and of one person: paid for like any other, so every page must take them.

From a file on disk through every command that reads a release, every export, chart and answer of
the explorer, for every method and every kind of time grid.
"""

from itertools import product

import pytest
from tests.explorer.releases import Caller

import pathveil as pv
from pathveil.core.methods import METHODS
from pathveil.explorer.routes import ROUTES
from pathveil.release.exports.published import NAMES

GRIDS = {
    "no times": None,
    "day": "6h",
    "one slot": "24h",
    "week": "weekday-hour",
    "slots of the day": "start,end\n07:00,10:00\n12:00,14:30\n",
    "dates": "start\n2024-02-28T00:00\n2024-02-29T00:00\n",
    "many dates": "start\n" + "".join(f"2024-01-{day:02d}T00:00\n" for day in range(1, 32))
    + "2024-02-01T00:00\n",
}  # fmt: skip
QUICK = {*((grid, "calibrated", "nobody") for grid in GRIDS), ("day", "full", "nobody")}
ROWS = {"nobody": "", "one person": "u,2024-02-28T07:00,A\nu,2024-02-28T07:30,B\n"}
OTHERS = "".join(f"v{n},2024-0{1 + n % 2}-28T07:{n + 10},{'ABC'[n % 3]}\n" for n in range(20))


EVERY = [
    pytest.param(made, marks=() if made in QUICK else pytest.mark.long, id="-".join(made))
    for made in product(GRIDS, METHODS, ROWS)
]


@pytest.fixture(params=EVERY)
def published(request, folder, pathveil):
    """A bundle: who is in it, and its columns. At ε = 100 the noise is 0 but once in 10⁶ runs."""
    grid, method, who = request.param
    (folder / "taps.csv").write_text(f"card,when,stop\n{ROWS[who]}", encoding="utf-8")
    (folder / "other.csv").write_text(f"card,when,stop\n{OTHERS}", encoding="utf-8")
    (folder / "stops.csv").write_text("location,latitude,longitude\nA,1,2\nB,1.5,2.5\nC,,\n")
    columns = ["--unit-column", "card", "--location-column", "stop"]
    times = ["--order-column", "when"]
    if GRIDS[grid] is not None:
        text = GRIDS[grid]
        if "\n" in text:
            (folder / "grid.csv").write_text(text, encoding="utf-8")
            text = "grid.csv"
        times = ["--time-column", "when", "--time-grid", text]
    result = pathveil(
        *("publish", "taps.csv", "--universe", "stops.csv", *columns, *times),
        *("--epsilon", "100", "--height", "2", "--method", method, "--out", "out", "--csv"),
    )
    assert result.code == 0, result
    return who, [*columns, *times[:2]]


PUBLISHER = [
    *("--name", "Taps", "--curator", "City", "--intended-use", "Planning", "--region", "Here"),
    *("--date", "2026-03-01", "--author", "A. Curator"),
]


def test_every_use_of_a_release_takes_an_empty_one(published, pathveil):
    who, read_by = published
    for command in (
        ["verify", "out"],
        ["registry", "out", *PUBLISHER],
        ["registry", "out", *PUBLISHER, "--json"],
        ["evaluate", "other.csv", "out", *read_by, "--queries", "40"],
        ["evaluate", "other.csv", "out", *read_by, "--queries", "40", "--out", "b.html", "--json"],
        ["explain", "out"],
        ["count", "out", "A"],
        ["count", "out", "A", "C", "--ordered"],
        ["count", "out", "A", "--prefix", "--json"],
        ["patterns", "out"],
        ["patterns", "out", "--json"],
        ["report", "out", "--out", "page.html"],
        *(["export", "out", "--out", f"visits.{kind}"]
          for kind in ("csv", "parquet", "geojson", "geoparquet", "xes")),
        *(["export", "out", "--out", f"{names}.csv", "--names", names] for names in NAMES),
        ["keygen", "city.key"],
        ["sign", "out", "--key", "city.key", "--signer", "City"],
        ["verify", "out", "--public-key", "city.key.pub"],
    ):  # fmt: skip
        result = pathveil(*command)
        assert result.code == 0, (command, result)
    nothing = pathveil("evaluate", "taps.csv", "out", *read_by)
    assert who == "one person" or (nothing.code, "no trajectory" in nothing.err) == (2, True)
    release = pv.read_release("out")
    assert who == "one person" or len(release) == 0
    for chart in ("visits", "flows", "tree", "lengths", *(["hours"] if release.time_grid else [])):
        getattr(release.plot, chart)().to_dict()
    for frame in (release.to_arrow(), release.to_pandas(), release.to_polars()):
        assert len(frame) == sum(map(len, release.to_sequences()))
    assert "trajectories" in release._repr_html_()
    caller = Caller(release, release)
    for route in ROUTES:
        question = {"location": ["A", "C"]} if route.path.endswith("/count") else {}
        assert caller.get(f"/api{route.path}", **question).status == 200, route.path
