"""The reproduction from beginning to end: load → ask the raw data → release and measure → page."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from pathveil.analysis.flows import length_distribution
from pathveil.raw.database import TrajectoryDatabase
from pathveil.trials.evaluation.charts import altair
from pathveil.trials.evaluation.internal import render, write_internal
from pathveil.trials.reproduction.datasets import Dataset
from pathveil.trials.reproduction.exhibits import (
    Exhibit,
    budget_exhibit,
    height_exhibit,
    height_readings,
    lengths_exhibit,
    runtime_exhibits,
    table_by_epsilon,
    table_by_height,
    table_by_k,
)
from pathveil.trials.reproduction.findings import DatasetFacts, Finding, findings
from pathveil.trials.reproduction.plan import Plan
from pathveil.trials.reproduction.results import Results, Store
from pathveil.trials.reproduction.runs import Bench, Truth
from pathveil.trials.reproduction.threshold import Threshold, choose_threshold
from pathveil.trials.reproduction.workers import run_accuracy

PAGE = "reproduction.html"


@dataclass(frozen=True, slots=True)
class Reproduction:
    """What was found and where it was written. INTERNAL.

    Attributes:
        exhibits: the figures and tables.
        findings: the paper's claims and our verdicts.
        threshold: which was used, and why.
        page: the HTML page.
    """

    exhibits: tuple[Exhibit, ...]
    findings: tuple[Finding, ...]
    threshold: Threshold
    page: Path


def reproduce(
    dataset: Dataset,
    plan: Plan,
    out: Path,
    *,
    threshold: str | None,
    max_nodes: int,
    seed: int,
    workers: int,
    command: str,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Reproduction:
    """Run section V of the paper on a dataset, or go on with a run that was stopped.

    Args:
        dataset: where the trajectories come from.
        plan: what to run.
        out: the folder for results.
        threshold: "auto", "paper", a number, or None for the paper's where it fits.
        max_nodes: the largest tree.
        seed: of queries, noise and samples.
        workers: processes for the accuracy cells. Timed cells run alone, one after the other.
        command: what was typed, for the page.
        progress: called with (cells done, cells), of those that were not in the folder already.

    Raises:
        PathveilError: if the request or the data can't be used.
    """
    altair()  # fails before anything is computed
    theta = choose_threshold(
        plan,
        threshold,
        universe_size=len(dataset.universe),
        contribution=dataset.max_trajectories_per_unit,
        max_nodes=max_nodes,
    )
    database = dataset.load()
    settings = {
        "software": version("pathveil"),
        "dataset": dataset.name,
        "data": _fingerprint(database),
        "threshold": theta.choice,
        "max_nodes": max_nodes,
        "queries": plan.queries,
        "seed": seed,
        "steps": [plan.database_steps, plan.universe_steps],
    }
    store = Store(out, settings)
    truth = Truth.of(database, queries=plan.queries, seed=seed)
    bench = Bench(
        database,
        truth,
        theta.choice,
        max_nodes,
        seed,
        database_steps=plan.database_steps,
        universe_steps=plan.universe_steps,
    )
    _run(bench, plan, store, workers, progress)
    return _write(dataset, database, plan, truth, theta, store, command)


def _run(
    bench: Bench, plan: Plan, store: Store, workers: int, progress: Callable[[int, int], None]
) -> None:
    """Run what is not in the store yet."""
    accuracy = [trial for trial in plan.accuracy_trials() if trial not in store.results]
    runtime = [trial for trial in plan.runtime_trials() if trial not in store.results]
    total = len(accuracy) + len(runtime)
    for done, (trial, result) in enumerate(run_accuracy(bench, accuracy, workers), start=1):
        store.add(trial, result)
        progress(done, total)
    for done, timed in enumerate(runtime, start=len(accuracy) + 1):
        store.add(timed, bench.runtime(timed))
        progress(done, total)


def _write(
    dataset: Dataset,
    database: TrajectoryDatabase,
    plan: Plan,
    truth: Truth,
    threshold: Threshold,
    store: Store,
    command: str,
) -> Reproduction:
    wanted = {*plan.accuracy_trials(), *plan.runtime_trials()}
    results = Results({trial: r for trial, r in store.results.items() if trial in wanted})
    exhibits = (
        lengths_exhibit(length_distribution(database)),
        budget_exhibit(plan, results, truth),
        *(height_exhibit(plan, reading) for reading in height_readings(results, truth)),
        table_by_k(plan, results),
        table_by_epsilon(plan, results),
        table_by_height(plan, results),
        *runtime_exhibits(plan, results),
    )
    for exhibit in exhibits:
        write_internal(store.folder / f"{exhibit.stem}.csv", exhibit.to_csv())
        if exhibit.svg is not None:
            write_internal(store.folder / f"{exhibit.stem}.svg", exhibit.svg)
    claims = findings(plan, results, truth, threshold)
    html = render(
        "reproduction.html",
        dataset=dataset,
        facts=DatasetFacts.of(database),
        plan=plan,
        threshold=threshold,
        command=command,
        findings=claims,
        exhibits=exhibits,
    )
    page = write_internal(store.folder / PAGE, html)
    return Reproduction(exhibits, claims, threshold, page)


def _fingerprint(database: TrajectoryDatabase) -> str:
    """Tells whether a folder's cells are of the same data; written to INTERNAL files only."""
    digest = hashlib.sha256("\n".join(database.universe.labels).encode())
    digest.update(database.offsets.tobytes())
    digest.update(database.codes.tobytes())
    return digest.hexdigest()
