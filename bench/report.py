"""What the page costs: its share of publishing and writing a release, and its size.

Run: python bench/report.py. Each line is one process-wide first rendering (templates compiled) and
a second one, against the publish and the write of the same run.
"""

from tempfile import TemporaryDirectory
from time import process_time

import pathveil as pv
from pathveil.report.page import render_report

CASES = (("the demo's week", 120_000, 1012), ("8,760 stops", 120_000, 8760))


def timed(call):
    """A result, and the CPU seconds it took, of all threads."""
    start = process_time()
    return call(), process_time() - start


def measure(name, riders, stops):
    week = pv.simulate_week(riders, stops, seed=1)
    database = pv.TrajectoryDatabase.from_arrays(week.offsets, week.codes, week.universe)
    release, publishing = timed(lambda: pv.publish(database, epsilon="1", height=12))
    _ = release.error_table  # is worked out once, for the bundle
    first = timed(lambda: render_report(release, release.certificate))
    page, second = timed(lambda: render_report(release, release.certificate))
    with TemporaryDirectory() as folder:
        _, writing = timed(lambda: release.write(f"{folder}/release"))
    share = first[1] / (publishing + writing)
    print(
        f"{name}: {len(page.encode()) / 1000:.0f} kB; first {first[1]:.2f} s, "
        f"again {second:.2f} s; "
        f"publish {publishing:.1f} s and write {writing:.2f} s: the page is {share:.1%} of both"
    )


def main():
    for case in CASES:
        measure(*case)


if __name__ == "__main__":
    main()
