"""The audit of the software as it is installed: every gate, one false-alarm probability."""

import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version

from pathveil.audit.attacking import FALSE_ALARM, AuditReport, Progress, audit
from pathveil.audit.events import Mechanism, front_door
from pathveil.audit.neighbours import (
    NeighbouringPair,
    a_unit_with_three,
    neighbouring_pairs,
    timed_pairs,
    zoned_pairs,
)
from pathveil.audit.noisy_tables import audit_tables
from pathveil.audit.planner_attack import audit_plan
from pathveil.audit.raw_neighbours import from_rows, raw_pairs
from pathveil.core.methods import METHODS, Method
from pathveil.errors import ParameterError

HEIGHTS = (1, 3)  # at 1 all of ε stands in one count; at 3 it is divided over levels
TIMED_HEIGHT = 2  # the least at which a step has a time before it
RAW_HEIGHT = 1  # the least: what is attacked lies before the gate
ZONED_HEIGHT = 1  # the budget is divided over zones and locations even then
TREE_EPSILON, TABLES_EPSILON, TABLES_HEIGHT = "1", "8", 8
TABLES_RHO = "5"  # with Gaussian noise: so large that shares of it show
PACKAGES = ("pathveil", "numpy", "numba", "llvmlite", "scipy")
ALL = "all"
CHOICES = (ALL, *METHODS)

Part = Callable[[float, Progress], AuditReport]
"""Audits one part, given its share of the false-alarm probability."""


@dataclass(frozen=True, slots=True)
class SoftwareAudit:
    """What a security reviewer files.

    Attributes:
        versions: of the software, its compiled dependencies, Python and the system.
        date: when it ran, UTC, YYYY-MM-DD.
        parts: what was attacked and what was found.
        runs: runs per database that were asked for.
        false_alarm: the probability that right software raises any alarm at all.
    """

    versions: dict[str, str]
    date: str
    parts: tuple[AuditReport, ...]
    runs: int
    false_alarm: float

    @property
    def passed(self) -> bool:
        """Whether no part raised an alarm."""
        return not any(part.alarms for part in self.parts)


def audit_software(
    *,
    method: str = "all",
    epsilon: str | None = None,
    height: int | None = None,
    runs: int,
    false_alarm: float = FALSE_ALARM,
    progress: Callable[[float], None] = lambda _share: None,
) -> SoftwareAudit:
    """Attack the installed software.

    Args:
        method: "basic" or "full" (both are made of the same noisy tree), "calibrated" or "all".
        epsilon: the claim; 1 for trees and 8 for tables if None.
        height: h; if None trees of height 1 and 3, with times 2, with zones 1, from rows 1, and
            tables of height 8.
        runs: runs per database, on average.
        false_alarm: shared equally by the parts.
        progress: told which share of the work is done, 0 to 1.

    Raises:
        ParameterError: if a choice can't be used, or scipy is missing.
    """
    if method not in CHOICES:
        raise ParameterError(f"The method must be one of {', '.join(CHOICES)}.")
    _require_scipy()
    chosen = _parts(method, epsilon, height, runs)
    everything, done = sum(size for size, _ in chosen), 0

    def tell(more: int) -> None:
        nonlocal done
        done += more
        progress(min(done / everything, 1))

    parts = tuple(run(false_alarm / len(chosen), tell) for _, run in chosen)
    return SoftwareAudit(_versions(), _today(), parts, runs, false_alarm)


def _parts(
    method: str, epsilon: str | None, height: int | None, runs: int
) -> list[tuple[int, Part]]:
    """The parts, each with its number of runs."""
    parts = []
    has_tables = None if method == ALL else Method.named(method).has_tables
    if not has_tables:
        claim = epsilon or TREE_EPSILON
        for each in HEIGHTS if height is None else (height,):
            pairs = (*neighbouring_pairs(claim, each), a_unit_with_three(claim, each))
            parts.append(_tree(pairs, runs))
        parts.append(_tree(timed_pairs(claim, height or TIMED_HEIGHT), runs))
        parts.append(_tree(zoned_pairs(claim, height or ZONED_HEIGHT), runs))
        raw = raw_pairs(claim, height or RAW_HEIGHT)
        parts.append(_tree(raw, runs, from_rows, begins="rows of files, read, then the "))
    if has_tables is not False:
        parts.append((2 * runs, _tables(epsilon, height, runs)))
        parts.append((2 * runs, _tables(epsilon, height, runs, TABLES_RHO)))
        parts.append((2 * runs, _plan(runs)))
    return parts


def _tree(
    pairs: tuple[NeighbouringPair, ...],
    runs: int,
    mechanism: Mechanism = front_door,
    begins: str = "",
) -> tuple[int, Part]:
    def run(false_alarm: float, progress: Progress) -> AuditReport:
        return audit(
            mechanism,
            pairs=pairs,
            runs=runs,
            false_alarm=false_alarm,
            progress=progress,
            begins=begins,
        )

    return 2 * runs * len(pairs), run


def _tables(epsilon: str | None, height: int | None, runs: int, rho: str | None = None) -> Part:
    def run(false_alarm: float, progress: Progress) -> AuditReport:
        return audit_tables(
            epsilon=epsilon or TABLES_EPSILON,
            rho=rho,
            height=height or TABLES_HEIGHT,
            runs=runs,
            false_alarm=false_alarm,
            progress=progress,
        )

    return run


def _plan(runs: int) -> Part:
    def run(false_alarm: float, progress: Progress) -> AuditReport:
        return audit_plan(runs=runs, false_alarm=false_alarm, progress=progress)

    return run


def _require_scipy() -> None:
    try:
        import scipy  # noqa: F401
    except ImportError:
        raise ParameterError("The audit needs scipy: install pathveil[evaluation].") from None


def _versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    system = f"{platform.system()} {platform.machine()}"
    return found | {"python": sys.version.split()[0], "system": system}


def _today() -> str:
    return datetime.now(tz=UTC).date().isoformat()
