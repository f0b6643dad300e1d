"""Finished cells: on disk, one JSON line each, and pooled over runs."""

import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from pathveil.core.methods import Method
from pathveil.errors import ParameterError, ReleaseError
from pathveil.plain_files import open_named
from pathveil.trials.evaluation.internal import PREFIX, refuse_bundle, stamped, write_internal
from pathveil.trials.reproduction.plan import TOP, AccuracyTrial, Panel, RuntimeTrial
from pathveil.trials.reproduction.runs import AccuracyResult, RuntimeResult

SETTINGS = f"{PREFIX}settings.json"
CELLS = f"{PREFIX}cells.jsonl"

Trial = AccuracyTrial | RuntimeTrial
Result = AccuracyResult | RuntimeResult


# Finished cells on disk, one JSON line each, so that a stopped run goes on where it stopped.


class Store:
    """The results in a folder. INTERNAL.

    Args:
        folder: made if it is missing.
        settings: what must not differ between the runs whose cells are pooled.

    Raises:
        ReleaseError: if the folder is a release bundle or can't be written.
        ParameterError: if it holds the cells of another experiment.
    """

    def __init__(self, folder: Path, settings: Mapping[str, object]) -> None:
        refuse_bundle(folder)
        self.folder = folder
        self._path = folder / CELLS
        self.results: dict[Trial, Result] = {}
        self._settle(settings)
        self._read()

    def add(self, trial: Trial, result: Result) -> None:
        """Keep a result, on disk at once."""
        line = json.dumps({"cell": asdict(trial), "result": asdict(result)})
        try:
            handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(line + "\n")
        except OSError as error:
            raise ReleaseError(f"Can't write {self._path}: {error.strerror}.") from None
        self.results[trial] = result

    def _settle(self, settings: Mapping[str, object]) -> None:
        path = self.folder / SETTINGS
        wanted = json.loads(json.dumps(stamped(settings)))
        if not path.exists():
            write_internal(path, json.dumps(wanted, indent=2) + "\n")
            return
        try:
            with open_named(path) as file:
                found = json.load(file)
        except (OSError, ValueError):
            found = {}
        if not isinstance(found, dict) or found != wanted:
            differing = sorted(
                key
                for key in wanted
                if not isinstance(found, dict) or found.get(key) != wanted[key]
            )
            raise ParameterError(
                f"{self.folder} holds another experiment (it differs in "
                f"{', '.join(differing) or 'its settings'}). Choose a new folder."
            )

    def _read(self) -> None:
        try:
            with open_named(self._path) as file:
                lines = file.read().decode("utf-8").splitlines()
        except FileNotFoundError:
            return
        except OSError as error:
            raise ReleaseError(f"Can't read {self._path}: {error.strerror}.") from None
        for line in lines:
            entry = _entry(line)
            if entry is not None:
                self.results[entry[0]] = entry[1]


def _entry(line: str) -> tuple[Trial, Result] | None:
    """A finished cell; None for a line that a stopped run left half-written."""
    try:
        entry = json.loads(line)
        trial, result = entry["cell"], entry["result"]
        if "panel" in trial:
            return RuntimeTrial(**trial), RuntimeResult(**result)
        return AccuracyTrial(**trial), AccuracyResult(**_tuples(result))
    except (ValueError, KeyError, TypeError):
        return None


def _tuples(result: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(v) if isinstance(v, list) else v for key, v in result.items()}


# Finished cells, pooled over runs: means and spreads.


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

    def __init__(self, trials: Mapping[Trial, Result]) -> None:
        self._accuracy: dict[tuple[str, int, Method], list[AccuracyResult]] = {}
        self._runtime: dict[tuple[Panel, int, Method], list[RuntimeResult]] = {}
        for trial, result in trials.items():
            if isinstance(trial, AccuracyTrial) and isinstance(result, AccuracyResult):
                setting = (trial.epsilon, trial.height, Method.named(trial.method))
                self._accuracy.setdefault(setting, []).append(result)
            elif isinstance(trial, RuntimeTrial) and isinstance(result, RuntimeResult):
                point = (trial.panel, trial.step, Method.named(trial.method))
                self._runtime.setdefault(point, []).append(result)

    def subset_error(self, epsilon: str, height: int, method: Method, subset: int) -> Statistic:
        """Average relative error in one of the four subsets, from 0 (Fig. 5)."""
        return self._pool(epsilon, height, method, lambda r: r.subset_errors[subset])

    def fixed_error(self, epsilon: str, height: int, method: Method) -> Statistic:
        """Average relative error of queries of exactly 6 locations (Fig. 6)."""
        return self._pool(epsilon, height, method, lambda r: r.fixed_error)

    def true_positives(self, epsilon: str, height: int, method: Method, k: int) -> Statistic:
        """True positives of the top k (tables III to V)."""
        return self._pool(epsilon, height, method, lambda r: r.true_positives[TOP.index(k)])

    def false_positives(self, epsilon: str, height: int, method: Method, k: int) -> Statistic:
        """False positives of the top k."""
        return self._pool(epsilon, height, method, lambda r: r.false_positives[TOP.index(k)])

    def false_drops(self, epsilon: str, height: int, method: Method, k: int) -> Statistic:
        """False drops of the top k."""
        return self._pool(epsilon, height, method, lambda r: r.false_drops[TOP.index(k)])

    def runtime(self, panel: Panel, step: int, method: Method) -> RuntimePoint:
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
        method: Method,
        figure: Callable[[AccuracyResult], float],
    ) -> Statistic:
        return Statistic.of(map(figure, self._accuracy[epsilon, height, method]))
