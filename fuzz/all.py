"""Fuzz every target, one after the other: ``python -m fuzz.all SECONDS [TARGET…]``.

The seconds are for all of them together. Prints what each did, and ends with code 1 if one found
something: the input is then in ``fuzz/findings/TARGET``, where the tests replay it from now on.
"""

import re
import subprocess
import sys
import time

from fuzz.harness import HERE, names

_FIGURES = {
    "runs": re.compile(rb"stat::number_of_executed_units: +(\d+)"),
    "coverage": re.compile(rb"cov: (\d+)"),
}
_SHOWN = 6000


def main() -> int:
    """Run them."""
    total, targets = int(sys.argv[1]), sys.argv[2:] or names()
    share = max(1, total // len(targets))
    print(f"{len(targets)} targets, {share} s each")
    failed = []
    for name in targets:
        started = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "fuzz.one", name, str(share)],
            cwd=HERE.parent,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        figures = {what: found.findall(done.stdout) for what, found in _FIGURES.items()}
        said = ", ".join(f"{int(found[-1]):,} {what}" for what, found in figures.items() if found)
        outcome = "nothing found" if done.returncode == 0 else f"FAILED ({done.returncode})"
        print(f"{name:18} {outcome}; {said}; {time.monotonic() - started:.0f} s", flush=True)
        if done.returncode:
            failed.append(name)
            print(done.stdout.decode(errors="replace")[-_SHOWN:])
    print(f"Findings in: {', '.join(failed)}" if failed else "No target found anything.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
