"""Take the pictures of docs/explorer.md: ``python docs/make_screenshots.py``.

The city of the tutorial and of all other pictures (`make_pictures.py`): its week, published as any
other data, in the real explorer and a real browser (chromium).
"""

import json
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
RIDERS, STOPS, SEED = 120_000, 1012, 1  # those of the tutorial
LARGEST = 200_000  # bytes of a picture
DESK, PHONE = {"width": 1000, "height": 640}, {"width": 390, "height": 760}
# File, view, window, colours.
SHOTS = (
    ("explorer-count", "#/count?location={0}&location={1}", DESK, "light"),
    ("explorer-flows", "#/flows?kind=steps", DESK, "dark"),
    ("explorer-phone", "#/tree?location={0}", PHONE, "light"),
)


def published(folder: Path) -> list[str]:
    """Write a release of the city's week; its busiest stops."""
    week = pv.simulate_week(RIDERS, STOPS, seed=SEED)
    database = pv.TrajectoryDatabase.from_arrays(week.offsets, week.codes, week.universe)
    release = pv.publish(database, epsilon="1")
    release.write(folder)
    busiest = np.argsort(-pv.visits(release).counts, kind="stable")
    return [week.universe.labels[code] for code in busiest]


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
