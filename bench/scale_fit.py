"""How cost grows with |D|: the exponents of what `bench.scale` measured, beside np.sort's.

``python -m bench.scale_fit RESULTS.json…`` takes several results together: the small sizes of one
run and the large ones of another. Each engine is fitted over all its sizes, and over the three
largest, where what every run costs is small beside what grows.
"""

import json
import sys
from pathlib import Path

import numpy as np

from bench.measuring import row, verdict

LARGEST = 3
MORE_THAN_SORTING = 0.1


def exponent(sizes: list[int], values: list[float]) -> float:
    """The slope of log value against log size."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def print_growth(engine: str, runs: dict[int, dict], sorts: dict[int, dict]) -> None:
    """By both clocks, over all sizes and over the largest."""
    every = sorted(runs)
    for sizes in dict.fromkeys((tuple(every), tuple(every[-LARGEST:]))):
        for what in ("seconds", "processor"):
            base = exponent(list(sizes), [sorts[size][what] for size in sizes])
            growth = exponent(list(sizes), [runs[size][what] for size in sizes])
            name = f"{engine}, {what}, {sizes[0]:,} to {sizes[-1]:,}"
            row(name, f"exponent {growth:.2f}", f"np.sort {base:.2f}")
            verdict(f"{name}: above sorting", growth - base, MORE_THAN_SORTING)


def merged(results: list[dict]) -> tuple[dict[str, dict[int, dict]], dict[int, dict]]:
    """All runs of all results, and the sorts; what was measured last holds."""
    found: dict[str, dict[int, dict]] = {}
    sorts: dict[int, dict] = {}
    for result in results:
        sorts |= {int(size): sort for size, sort in result["sorts"].items()}
        for engine, runs in result["found"].items():
            found.setdefault(engine, {}).update({int(size): run for size, run in runs.items()})
    return found, sorts


def main() -> None:
    """Fit what the files hold."""
    found, sorts = merged([json.loads(Path(name).read_text()) for name in sys.argv[1:]])
    for engine, runs in found.items():
        print_growth(engine, runs, sorts)


if __name__ == "__main__":
    main()
