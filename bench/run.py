"""`make bench`: every benchmark, one after another."""

import sys
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

BENCHMARKS = (
    "publish",
    "scale",
    "noise",
    "reading",
    "points",
    "count_queries",
    "patterns",
    "calibrated",
    "explorer",
    "report",
)


def main() -> None:
    for name in BENCHMARKS:
        print(f"\n=== {name}")
        import_module(f"bench.{name}").main()


if __name__ == "__main__":
    main()
