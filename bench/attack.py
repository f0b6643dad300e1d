"""An attack from outside: files on disk, the command line, the files that it wrote.

    python -m bench.attack                                      # every mode, some minutes
    python -m bench.attack --methods calibrated --runs 4000
    python -m bench.attack --inject doubled-cap                 # a breach: does it alarm?

Two files differ in one unit, or in nothing that counts (`attack_files`). Both are published again
and again through the command line (`attack_workers`). Everything that can be read off the bundles
(`attack_release`) is used to choose an event on one half of the runs, and it is tested on the other
(`attack_events`). Printed are the loss that is claimed and the 99% lower bounds of the loss in both
directions. A bound above the claim is an alarm, and the exit code is 1: either the one in a hundred
that chance gives each line, or a breach. Run the line again.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from bench.attack_events import Finding, attack
from bench.attack_files import write_files
from bench.attack_modes import METHODS, Mode, modes
from bench.attack_release import Features
from bench.attack_workers import INJECTIONS, publish_many, published_claim, workers

ERROR = 0.01
HEADER = ("method", "mode", "runs", "claimed ε", "one/other", "other/one", "event", "verdict")


@dataclass(frozen=True, slots=True)
class Line:
    """What was found in one mode.

    Attributes:
        method, mode: which.
        claim: the loss that is claimed; None if the command refused the mode.
        findings: one for each direction.
    """

    method: str
    mode: str
    claim: Fraction | None
    findings: tuple[Finding, ...] = ()

    @property
    def strongest(self) -> Finding:
        """The direction that proves more."""
        return max(self.findings, key=lambda finding: finding.loss)

    @property
    def is_alarm(self) -> bool:
        """Whether more than the claim was proved to be lost."""
        return self.claim is not None and self.strongest.loss > self.claim

    def cells(self) -> list[str]:
        """As a row of the table."""
        if self.claim is None:
            return [self.method, self.mode, *["–"] * 5, "refused"]
        losses = [f"{max(finding.loss, 0):.2f}" for finding in self.findings]
        return [
            *(self.method, self.mode, f"{self.strongest.runs:,}", f"{float(self.claim):g}"),
            *(*losses, self.strongest.event, "ALARM" if self.is_alarm else "no alarm"),
        ]


def attack_mode(
    pool: Executor, folder: Path, method: str, mode: Mode, runs: int, error: float = ERROR
) -> Line:
    """Publish both files ``runs`` times and attack."""
    claimed = published_claim(pool, folder, mode.files[1], mode.options, mode.measurement)
    if claimed is None:
        return Line(method, mode.name, None)
    seen = [
        [_looked_at(run, mode) for run in publish_many(pool, folder, file, mode.options, runs)]
        for file in mode.files
    ]
    epsilon, delta = claimed
    claim = epsilon if mode.claim is None else mode.claim
    return Line(method, mode.name, claim, attack(*seen, float(delta), error))


def _looked_at(run: Features, mode: Mode) -> Features:
    return run if mode.only is None else {mode.only: run.get(mode.only, 0.0)}


def attack_all(
    methods: Sequence[str], wanted: Sequence[str], epsilon: str, runs: int, injection: str
) -> Iterator[Line]:
    """Every mode of these methods; only those named, if any are."""
    with tempfile.TemporaryDirectory() as name, workers(injection) as pool:
        write_files(Path(name))
        for method in methods:
            for mode in modes(method, epsilon):
                if not wanted or mode.name in wanted:
                    yield attack_mode(pool, Path(name), method, mode, runs)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    parser.add_argument("--modes", nargs="+", default=[], metavar="MODE")
    parser.add_argument("--epsilon", default="2")
    parser.add_argument("--runs", type=int, default=1000, help="of each file")
    parser.add_argument("--inject", default="nothing", choices=INJECTIONS)
    options = parser.parse_args()
    if options.inject != "nothing":
        print(f"Injected: {options.inject}. What follows is not pathveil.\n")
    print(f"| {' | '.join(HEADER)} |\n|{'---|' * len(HEADER)}")
    alarms = 0
    for line in attack_all(
        options.methods, options.modes, options.epsilon, options.runs, options.inject
    ):
        print(f"| {' | '.join(line.cells())} |", flush=True)
        alarms += line.is_alarm
    sys.exit(1 if alarms else 0)


if __name__ == "__main__":
    if not Path("bench").is_dir():
        raise SystemExit("Run it from the project's root: python -m bench.attack")
    main()
