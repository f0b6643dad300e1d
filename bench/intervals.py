"""How often the intervals hold the truth: the coverage tables and the plot of docs/accuracy.md.

    python -m bench.intervals msnbc mibici --epsilons 0.5 1 2 --runs 3 --plot docs/coverage.svg

The paper's workload: four subsets of random queries, locations drawn with replacement. Coverage is
counted over queries with a true answer that is not 0. INTERNAL: it compares raw data with releases.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.accuracy import HEIGHT, QUERIES, line, load
from pathveil import Release, TrajectoryDatabase, publish
from pathveil.analysis.visit_index import VisitIndex
from pathveil.core.error_table import LEVELS
from pathveil.trials.evaluation.random_queries import Queries, paper_queries

REAL = ("msnbc", "cabspotting", "mibici", "nycflights13", "kosarak")
WANTED = (0.80, 0.97)
BY_LOCATIONS = (1, 2, 3, 4, 6, 8)


@dataclass(frozen=True, slots=True, eq=False)
class Workload:
    """Queries with their true answers; those with the answer 0 are left out.

    Attributes:
        subset: int64; which of the four subsets.
        locations: int64; how many distinct locations.
        true: int64; how many trajectories visit them all.
        queries: the four subsets.
        asked: bool, for each subset; which of its queries are kept.
    """

    subset: NDArray[np.int64]
    locations: NDArray[np.int64]
    true: NDArray[np.int64]
    queries: tuple[Queries, ...]
    asked: list[NDArray[np.bool_]]

    @classmethod
    def of(cls, database: TrajectoryDatabase, seed: int) -> "Workload":
        """The paper's workload on a database."""
        queries = paper_queries(len(database.universe), HEIGHT, queries=QUERIES, seed=seed)
        index = VisitIndex.build(database)
        true = [index.count_many_codes(part.offsets, part.codes) for part in queries]
        asked = [answers > 0 for answers in true]
        return cls(
            np.repeat(np.arange(len(queries)), [part.sum() for part in asked]),
            np.concatenate([_distinct(p)[kept] for p, kept in zip(queries, asked, strict=True)]),
            np.concatenate([part[kept] for part, kept in zip(true, asked, strict=True)]),
            queries,
            asked,
        )

    def answers(self, release: Release) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Released answers, and whether all locations of a query are named."""
        index = VisitIndex.build(release)
        singles = np.arange(len(release.universe) + 1)
        visitors = index.count_many_codes(singles, singles[:-1])
        estimates, named = [], []
        for part, kept in zip(self.queries, self.asked, strict=True):
            estimates.append(index.count_many_codes(part.offsets, part.codes)[kept])
            rarest = np.minimum.reduceat(visitors[part.codes], part.offsets[:-1])
            named.append(rarest[kept] > 0)
        return np.concatenate(estimates), np.concatenate(named)


def _distinct(queries: Queries) -> NDArray[np.int64]:
    row = np.repeat(np.arange(len(queries)), np.diff(queries.offsets))
    pairs = np.unique(row * (1 << 32) + queries.codes)
    return np.bincount(pairs >> 32, minlength=len(queries))


def held(database: TrajectoryDatabase, work: Workload, epsilon: str) -> NDArray[np.float64]:
    """Whether the interval holds the truth, shape (levels, queries); then relative widths."""
    release = publish(database, epsilon=epsilon, method="calibrated")
    estimates, named = work.answers(release)
    if release.error_table is None:
        raise SystemExit("A calibrated release has an error table.")
    rows = []
    for level in LEVELS:
        low, high = release.error_table.intervals(work.locations, estimates, named, level / 100)
        rows.append((low <= work.true) & (work.true <= high))
        if level == 90:
            widths = (high - low) / np.maximum(work.true, 0.001 * len(database))
    return np.vstack([*rows, widths])


def share(values: NDArray[np.float64]) -> str:
    return f"{values.mean():.3f}" if len(values) else "–"


def report(name: str, epsilon: str, work: Workload, runs: list[NDArray[np.float64]]) -> list[float]:
    """Print a line of the table; the coverage at each level."""
    every = np.mean(runs, axis=0)
    usual = every[LEVELS.index(90)]
    pooled = usual.mean()
    spread = [run[LEVELS.index(90)].mean() for run in runs]
    line(
        [
            name,
            epsilon,
            f"{len(usual):,}",
            f"**{pooled:.3f}**" + ("" if WANTED[0] <= pooled <= WANTED[1] else " (!)"),
            f"{min(spread):.3f}–{max(spread):.3f}",
            "/".join(share(usual[work.subset == subset]) for subset in range(4)),
            "/".join(
                share(
                    usual[work.locations == k]
                    if k < BY_LOCATIONS[-1]
                    else usual[work.locations >= k]
                )
                for k in BY_LOCATIONS
            ),
            f"{np.median(every[-1]):.3f}",
        ]
    )
    return [float(every[place].mean()) for place in range(len(LEVELS))]


def plot(points: list[dict[str, object]], path: Path) -> None:
    """Nominal level against coverage, a line for each dataset."""
    import altair as alt

    scale = alt.Scale(domain=[45, 100], zero=False)
    data = alt.Data(values=points)
    lines = (
        alt.Chart(data)
        .mark_line(point=True)
        .encode(
            x=alt.X("level:Q", title="level of the intervals, %", scale=scale),
            y=alt.Y("coverage:Q", title="true answers inside, %", scale=scale),
            color=alt.Color("data:N", title=None),
        )
    )
    ideal = (
        alt.Chart(alt.Data(values=[{"x": 45, "y": 45}, {"x": 100, "y": 100}]))
        .mark_line(strokeDash=[4, 4], color="grey")
        .encode(x=alt.X("x:Q", scale=scale), y=alt.Y("y:Q", scale=scale))
    )
    (ideal + lines).properties(width=360, height=360).save(str(path), format="svg")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", default=list(REAL))
    parser.add_argument("--epsilons", nargs="+", default=["1"])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0, help="of the queries; the noise is secure")
    parser.add_argument("--plot", type=Path, help="an SVG of the first ε")
    options = parser.parse_args()
    counts = "/".join(map(str, BY_LOCATIONS))
    header = ["data", "ε", "queries", "held by 90%", "runs", "subsets 3/6/9/12"]
    header += [f"by locations {counts}+", "median width"]
    line(header)
    line(["---"] * len(header))
    points: list[dict[str, object]] = []
    for name in options.datasets:
        database = load(name)
        work = Workload.of(database, options.seed)
        for epsilon in options.epsilons:
            runs = [held(database, work, epsilon) for _ in range(options.runs)]
            covered = report(name, epsilon, work, runs)
            if epsilon == options.epsilons[0]:
                points += [
                    {"data": name, "level": level, "coverage": 100 * share_held}
                    for level, share_held in zip(LEVELS, covered, strict=True)
                ]
    if options.plot:
        plot(points, options.plot)


if __name__ == "__main__":
    if not Path("bench").is_dir():
        raise SystemExit("Run it from the project's root: python -m bench.intervals")
    main()
