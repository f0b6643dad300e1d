"""Finished cells, pooled over runs: means and spreads."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean, stdev

from pathveil.evaluation.reproduction.cells import AccuracyResult, RuntimeResult
from pathveil.evaluation.reproduction.plan import TOP, AccuracyCell, Panel, RuntimeCell
from pathveil.evaluation.reproduction.store import Cell, Result
from pathveil.model.methods import MethodName


@dataclass(frozen=True, slots=True)
class Statistic:
    """A figure over repeated runs.

    Attributes:
        mean: over the runs.
        spread: the standard deviation over the runs (n − 1); 0 for a single run.
        runs: how many.
    """

    mean: float
    spread: float
    runs: int

    @classmethod
    def of(cls, values: Iterable[float]) -> "Statistic":
        """Pool values; at least one."""
        pooled = list(values)
        return cls(fmean(pooled), stdev(pooled) if len(pooled) > 1 else 0.0, len(pooled))


@dataclass(frozen=True, slots=True)
class RuntimePoint:
    """One point of Fig. 7.

    Attributes:
        trajectories: |D|.
        locations: |L|, on average over runs (each run draws its own locations).
        seconds: the time of a release.
    """

    trajectories: int
    locations: int
    seconds: Statistic


class Results:
    """All finished cells of an experiment."""

    def __init__(self, cells: Mapping[Cell, Result]) -> None:
        self._accuracy: dict[tuple[str, int, MethodName], list[AccuracyResult]] = {}
        self._runtime: dict[tuple[Panel, int, MethodName], list[RuntimeResult]] = {}
        for cell, result in cells.items():
            if isinstance(cell, AccuracyCell) and isinstance(result, AccuracyResult):
                setting = (cell.epsilon, cell.height, cell.method)
                self._accuracy.setdefault(setting, []).append(result)
            elif isinstance(cell, RuntimeCell) and isinstance(result, RuntimeResult):
                point = (cell.panel, cell.step, cell.method)
                self._runtime.setdefault(point, []).append(result)

    def subset_error(self, epsilon: str, height: int, method: MethodName, subset: int) -> Statistic:
        """Average relative error in one of the four subsets, from 0 (Fig. 5)."""
        return self._pool(epsilon, height, method, lambda r: r.subset_errors[subset])

    def fixed_error(self, epsilon: str, height: int, method: MethodName) -> Statistic:
        """Average relative error of queries of exactly 6 locations (Fig. 6)."""
        return self._pool(epsilon, height, method, lambda r: r.fixed_error)

    def true_positives(self, epsilon: str, height: int, method: MethodName, k: int) -> Statistic:
        """True positives of the top k (tables III to V)."""
        return self._pool(epsilon, height, method, lambda r: r.true_positives[TOP.index(k)])

    def false_positives(self, epsilon: str, height: int, method: MethodName, k: int) -> Statistic:
        """False positives of the top k."""
        return self._pool(epsilon, height, method, lambda r: r.false_positives[TOP.index(k)])

    def false_drops(self, epsilon: str, height: int, method: MethodName, k: int) -> Statistic:
        """False drops of the top k."""
        return self._pool(epsilon, height, method, lambda r: r.false_drops[TOP.index(k)])

    def runtime(self, panel: Panel, step: int, method: MethodName) -> RuntimePoint:
        """One point of Fig. 7."""
        results = self._runtime[panel, step, method]
        return RuntimePoint(
            round(fmean(result.trajectories for result in results)),
            round(fmean(result.locations for result in results)),
            Statistic.of(result.seconds for result in results),
        )

    def _pool(
        self,
        epsilon: str,
        height: int,
        method: MethodName,
        figure: Callable[[AccuracyResult], float],
    ) -> Statistic:
        return Statistic.of(map(figure, self._accuracy[epsilon, height, method]))
