"""What can be reached at all: each target beside ours, one table with all of ε, and no noise.

    python -m bench.bounds mibici stm_like --runs 3

For each target of docs/accuracy.md: what was wanted, what the default has at ε = 1, what **one
noisy table that spends all of ε on that very question** has at its best cap (`bench.single_tables`;
it answers nothing else), and what the default has at ε = 100, where the noise is next to nothing
and the model's own error is left. A target below both of the last two is out of reach for a
method of this kind. The paper's queries have no table of their own: theirs answers single locations
from the noisy visits and all others by 0. INTERNAL: it compares raw data with releases.
"""

import argparse
from collections import defaultdict
from fractions import Fraction

import numpy as np

from bench.accuracy import line, load
from bench.scoreboard import Scoreboard, own_queries
from bench.single_tables import CAPS, SingleTables, noisy_table
from pathveil.statistics.statistic import Rows
from pathveil.trials.evaluation.scores import average_relative_error

EPSILON, NO_NOISE = "1", "100"
COLUMNS = {"own1": 2, "own2": 3, "TP 250": 7, "transitions": 9, "random 3": 0}
TABLES = {"own1": "own1", "own2": "own2", "transitions": "divergence_transitions"}
# own1, own2, true positives of 250, divergence of transitions, queries of up to 3 locations.
WANTED = {
    "msnbc": (0.002, 0.018, 238, 0.008, 0.050),
    "stm_like": (0.012, 0.035, 238, 0.10, 0.009),
    "cabspotting": (0.015, 0.12, 238, 0.055, 0.024),
    "mibici": (0.014, 0.18, 240, 0.065, 0.020),
    "nycflights13": (0.018, 0.15, 225, 0.06, 0.0035),
    "kosarak": (0.25, 0.30, 175, 0.60, 0.026),
}


def by_tables(board: Scoreboard) -> dict[str, float]:
    """The best figure of one table for each target that a table can answer."""
    own = tuple(own_queries(board.database, locations, 10_000) for locations in (1, 2))
    tables = SingleTables(board.raw, board.database, Fraction(EPSILON), (own[0], own[1]))
    found = defaultdict(list)
    for key, figure in tables.figures():
        found[key].append(figure)
    best = {target: min(found[key]) for target, key in TABLES.items() if found[key]}
    return {**best, "random 3": min(queries_by_visits(board, cap) for cap in CAPS)}


def queries_by_visits(board: Scoreboard, cap: int) -> float:
    """The paper's queries, answered by a table of visits with all of ε; 0 for several locations."""
    database, queries = board.database, board.subset
    size = len(database.universe)
    visited = Rows(database.offsets, database.codes, size).first_visits(cap)
    table = noisy_table(visited[visited >= 0], size, Fraction(EPSILON) / cap)
    counts = np.zeros(size, dtype=np.int64)
    counts[table.keys] = np.maximum(table.counts, 0)
    is_single = np.diff(queries.offsets) == 1
    answers = np.where(is_single, counts[queries.codes[queries.offsets[:-1]]], 0)
    return average_relative_error(board.raw.answers(queries), answers, board.raw.size)


def shown(target: str, value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.0f}" if target.startswith("TP") else f"{value:.4f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="+", choices=list(WANTED))
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    header = ["data", "target", "wanted", "ours, ε = 1", "one table, ε = 1", "ours without noise"]
    line(header)
    line(["---"] * len(header))
    for name in options.datasets:
        board = Scoreboard(load(name))
        tables = by_tables(board)
        ours, without = (
            board.mean_score("calibrated", epsilon, runs)
            for epsilon, runs in ((EPSILON, options.runs), (NO_NOISE, 1))
        )
        for (target, column), wanted in zip(COLUMNS.items(), WANTED[name], strict=True):
            figures = (wanted, ours[column], tables.get(target), without[column])
            line([name, target, *(shown(target, figure) for figure in figures)])


if __name__ == "__main__":
    main()
