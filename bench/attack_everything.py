"""``python -m bench.attack_everything``: a bad day, as a table of attempts and failures.

Every kind of attack is kept as tests that start at a file on disk; this runs them all, the long
ones too, and the fuzzers' inputs, and counts. ``--quick`` leaves the long ones out; words choose
kinds. A failure is an attack that succeeded; the exit code is then 1.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from xml.etree import ElementTree as ET

ROOT = Path(__file__).resolve().parent.parent
ATTACKS = {
    "code in the current folder": ["tests/end_to_end/test_hostile_folder.py"],
    "forged bundles, traps, numbers, terminals": ["tests/end_to_end/test_forged_bundles.py"],
    "changed bundles and signatures": ["tests/unit/test_bundle.py", "tests/unit/test_signature.py"],
    "connections to the explorer": ["tests/explorer/test_connections.py"],
    "labels in a browser": ["tests/browser"],
    "the ledger: edits, races, mounts": [
        "tests/ledger/test_ledger_file.py",
        "tests/ledger/test_ledger_rules.py",
        "tests/ledger/test_ledger_postgresql.py",
        "tests/ledger/test_single_use.py",
        "tests/end_to_end/test_ledger_processes.py",
    ],
    "the witness: rollback, forks, forgeries, lies": ["tests/ledger/test_witness.py"],
    "kill, signals, full disks": [
        "tests/end_to_end/test_interrupts.py",
        "tests/end_to_end/test_stopping.py",
        "tests/end_to_end/test_around_the_charge.py",
        "tests/engines/test_out_of_core.py",
    ],
    "faults: any call fails": ["tests/end_to_end/test_faults.py"],
    "hostile input and command lines": [
        "tests/end_to_end/test_bad_input.py",
        "tests/end_to_end/test_plain_files.py",
        "tests/end_to_end/test_any_command_line.py",
        "tests/databases",
    ],
    "a record that must not come out": ["tests/end_to_end/test_canary.py"],
    "empty and tiny releases": ["tests/end_to_end/test_empty_releases.py"],
    "what the fuzzers keep": ["tests/fuzz"],
}


def main() -> int:
    """Run them, kind by kind, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave the long ones out")
    parser.add_argument("words", nargs="*", help="only kinds whose name holds one of these")
    asked = parser.parse_args()
    chosen = [
        kind for kind in ATTACKS if not asked.words or any(word in kind for word in asked.words)
    ]
    print(f"{'attack':46} {'attempts':>8} {'skipped':>8} {'failures':>8} {'seconds':>8}")
    failures = 0
    for kind in chosen:
        started = time.monotonic()
        attempts, skipped, failed = _run(kind, quick=asked.quick)
        failures += failed
        seconds = time.monotonic() - started
        print(f"{kind:46} {attempts:8,} {skipped:8,} {failed:8,} {seconds:8.0f}", flush=True)
    print("No attack succeeded." if not failures else f"{failures} attacks succeeded.")
    return 1 if failures else 0


def _run(kind: str, *, quick: bool) -> tuple[int, int, int]:
    """How many were tried, could not be tried here, and succeeded."""
    places = ATTACKS[kind]
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "told.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-n", "auto"]
        done = subprocess.run(
            [*command, *(["-m", "not long"] if quick else []), f"--junitxml={told}", *places],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        if not told.exists():
            raise SystemExit(f"The attacks of {kind!r} did not run:\n{done.stdout[-2000:]}")
        suites = ET.parse(told).getroot().iter("testsuite")
        counted = [
            [int(suite.get(name, 0)) for name in ("tests", "skipped", "failures", "errors")]
            for suite in suites
        ]
    tests, skipped, failed, broken = (sum(column) for column in zip(*counted, strict=True))
    for line in done.stdout.splitlines():
        if line.startswith(("FAILED", "ERROR")):
            print(f"  {line[:200]}")
    return tests - skipped, skipped, failed + broken


if __name__ == "__main__":
    sys.exit(main())
