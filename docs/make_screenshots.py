"""Take the pictures of docs/explorer.md: ``python docs/make_screenshots.py``.

A made-up city, published as any other data, in the real explorer and a real browser (chromium).
"""

import json
import math
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, sync_playwright

import pathveil as pv

PICTURES = Path(__file__).with_name("pictures")
RIDERS, STOPS, SEED = 150_000, 420, 1
LINES = 7  # of the made-up city, through its centre
LARGEST = 200_000  # bytes of a picture
DESK, PHONE = {"width": 1000, "height": 760}, {"width": 390, "height": 760}
# File, view, window, colours.
SHOTS = (
    ("explorer-count", "#/count?location={0}&location={1}", DESK, "light"),
    ("explorer-flows", "#/flows?kind=steps", DESK, "dark"),
    ("explorer-phone", "#/tree?location={0}", PHONE, "light"),
)


def city() -> tuple[pv.Universe, np.ndarray]:
    """Stops along lines through a centre, and their order from the centre out."""
    draw = np.random.default_rng(SEED)  # noqa: TID251  (a city that does not exist)
    line = np.arange(STOPS) % LINES
    along = (np.arange(STOPS) // LINES + 0.5) / (STOPS / LINES) * 2 - 1
    bend = draw.uniform(-0.5, 0.5, LINES)[line] * along**2
    angle = math.pi * line / LINES + bend
    east = along * np.cos(angle) + draw.normal(0, 0.012, STOPS)
    north = along * np.sin(angle) + draw.normal(0, 0.012, STOPS)
    universe = pv.Universe(
        [f"{10_000 + code}" for code in range(STOPS)],
        names=[f"Line {'ABCDEFG'[a]}, stop {i // LINES + 1}" for i, a in enumerate(line)],
        latitude=45.5 + 0.06 * north,
        longitude=-73.6 + 0.11 * east,
    )
    return universe, np.argsort(np.hypot(east, north) + draw.normal(0, 0.7, STOPS))


def published(folder: Path) -> list[str]:
    """Write a release of the city's week; its busiest stops."""
    universe, from_the_centre = city()
    week = pv.simulate_week(RIDERS, STOPS, seed=SEED)
    busiest = np.argsort(-np.bincount(week.codes, minlength=STOPS))
    moved = np.empty(STOPS, dtype=np.int32)
    moved[busiest] = from_the_centre
    database = pv.TrajectoryDatabase.from_arrays(week.offsets, moved[week.codes], universe)
    release = pv.publish(database, epsilon="1", height=12)
    release.write(folder)
    return [universe.labels[code] for code in from_the_centre]


def take(browser: Browser, address: str, busiest: list[str]) -> None:
    """Take every picture."""
    for name, view, window, colours in SHOTS:
        page = browser.new_page(viewport=window, color_scheme=colours)
        page.goto(address + view.format(*busiest))
        page.wait_for_load_state("networkidle")
        path = PICTURES / f"{name}.png"
        page.screenshot(path=path)
        page.close()
        if path.stat().st_size > LARGEST:
            sys.exit(f"{path.name} is larger than {LARGEST:,} bytes")


def main() -> None:
    """Publish, explore, look."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "city-week"
        busiest = published(folder)
        command = [sys.executable, "-m", "pathveil", "explore", str(folder), "--no-open", "--json"]
        with subprocess.Popen(  # noqa: S603  (our own command)
            [*command, "--port", "0"], stdout=subprocess.PIPE, text=True
        ) as server:
            told = "".join(iter(server.stdout.readline, "}\n")) + "}" if server.stdout else "{}"
            try:
                with sync_playwright() as playwright:
                    browser = playwright.chromium.launch(
                        executable_path=shutil.which("chromium"), args=["--no-sandbox"]
                    )
                    take(browser, json.loads(told)["address"], busiest)
                    browser.close()
            finally:
                server.send_signal(signal.SIGINT)


if __name__ == "__main__":
    main()
