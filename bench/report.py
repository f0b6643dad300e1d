"""What the page costs: its share of publishing and writing a release, and its size.

Run: python bench/report.py. Each case has a process of its own, so that its first rendering loads
the templates and the compiled miner, as that of `pathveil publish` does. CPU seconds, all threads.
"""

from multiprocessing import get_context
from tempfile import TemporaryDirectory
from time import process_time

import pathveil as pv
from pathveil.pages.report import render_report

CASES = (("the demo's week", 120_000, 1012), ("8,760 stops", 120_000, 8760))


def timed(call):
    """A result, and the CPU seconds it took, of all threads."""
    start = process_time()
    return call(), process_time() - start


def measure(name, riders, stops):
    week = pv.simulate_week(riders, stops, seed=1)
    database = pv.TrajectoryDatabase.from_arrays(week.offsets, week.codes, week.universe)
    release, publishing = timed(lambda: pv.publish(database, epsilon="1", height=12))
    _, table = timed(lambda: release.error_table)  # writing a bundle works it out, once
    _, first = timed(lambda: render_report(release, release.certificate))
    page, second = timed(lambda: render_report(release, release.certificate))
    with TemporaryDirectory() as folder:
        _, writing = timed(lambda: release.write(f"{folder}/release"))
    # The write drew the page a third time; a user's write draws it for the first time.
    writing += table + first - second
    share = first / (publishing + writing)
    print(
        f"{name}: {len(page.encode()) / 1000:.0f} kB; first {first:.2f} s, "
        f"again {second:.2f} s; "
        f"publish {publishing:.1f} s and write {writing:.2f} s: the page is {share:.1%} of both"
    )


def main():
    for case in CASES:
        process = get_context("spawn").Process(target=measure, args=case)
        process.start()
        process.join()


if __name__ == "__main__":
    main()
