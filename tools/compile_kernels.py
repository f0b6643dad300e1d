"""Compile what nearly every test calls, once: processes that start together each would do it.

    python tools/compile_kernels.py

Numba keeps what it compiles beside the source. What is left out here, the test
that needs it compiles.
"""

import os
import sys
import tempfile

from pathveil.cli.run import run

NAMES = ("--universe", "week/stops.csv", "--unit-column", "card_id", "--location-column", "stop_id")
COMMANDS = [
    ("simulate", "--riders", "2000", "--stops", "30", "--out", "week", "--csv"),
    ("simulate", "--riders", "500", "--stops", "30", "--out", "again"),
    *(
        ("publish", "week/taps.csv", *NAMES, *choices, "--epsilon", "4", "--out", f"release-{i}")
        for i, choices in enumerate(
            [
                ("--order-column", "seq", "--method", "full", "--height", "4"),
                ("--order-column", "seq"),
                ("--order-column", "seq", "--delta", "1e-9", "--for", "flows"),
                ("--order-column", "seq", "--engine", "duckdb"),
            ]
        )
    ),
    ("patterns", "release-1"),
    ("flows", "release-1"),
    ("count", "release-1", "S0001", "S0002"),
    ("compare", "release-1", "release-2"),
    ("evaluate", "week/taps.csv", "release-1", *NAMES[2:], "--order-column", "seq"),
]


def main() -> None:
    """Run commands of each kind on a small week; whatever they say, the tests will say."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ |= {"HOME": folder}
        for command in COMMANDS:
            if run([*command, "--quiet"] if command[0] == "publish" else list(command)):
                print(*command, file=sys.stderr)


if __name__ == "__main__":
    main()
