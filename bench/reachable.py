"""What intervals could hold at all: the same releases and questions, by ours and by oracles.

    python -m bench.reachable keep FOLDER nycflights13 mibici kosarak --runs 1
    python -m bench.reachable score FOLDER --by-size

The first publishes, and keeps each release with the questions of `bench.intervals`, their true
answers, and those of the questions that validated it. The second counts, by the rule of
`bench.intervals`, how many shares lie in 88 to 97%, by

- *ours*: the intervals of the source as it is;
- *by kind and size*: the same without the cells that have an interval of their own;
- *ours, no noise*: the same rule, if validation had neither noise nor trajectories that answer one
  question only;
- *asked, no noise*: split conformal prediction by the questions that were asked, of which the true
  answers are known: what validation with such questions could do, were it free;
- *drawn alike, no noise*: split conformal prediction by as many questions, drawn from the very list
  that is scored: what so few questions can do at best. Nobody can ask these, because nobody knows
  whose trajectories suggest which, and one interval has to serve all lists.

Rules can so be compared in minutes, on the same noise. INTERNAL: it compares raw data with
releases, and what is kept holds true answers.
"""

import argparse
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from bench.accuracy import line
from bench.intervals import BELOW, PICKED, SIZES, cell, counted, database_of, size_words
from bench.same_noise import _Finding, _Keeping
from pathveil import Universe, publish, transitions
from pathveil.analysis.flows import PairCounts
from pathveil.core.error_table import Answers
from pathveil.core.noise import Laplace
from pathveil.core.paths import Paths
from pathveil.methods.calibrated.uncertainty import error_model
from pathveil.methods.calibrated.uncertainty.error_model import KINDS_OF_ROWS, ErrorModel
from pathveil.methods.calibrated.uncertainty.validated import Validated
from pathveil.methods.calibrated.uncertainty.what_is_left import taken_by
from pathveil.release.answering import Answering
from pathveil.statistics.constants import ALIKE_SIZES
from pathveil.statistics.statistic import Rows
from pathveil.statistics.validation import MOVE, queries_of
from pathveil.trials.evaluation import coverage
from pathveil.trials.evaluation.coverage import Coverage

LEVEL = 0.9


@dataclass(frozen=True)
class Released:
    """Trajectories over a universe: a release without its tree and errors."""

    universe: Universe
    kept: Paths

    def paths(self) -> Paths:
        """The trajectories."""
        return self.kept


@dataclass(frozen=True)
class Asked:
    """Questions of one kind that were picked in one way.

    Attributes:
        words: the kind in words.
        picked: how.
        kind: of `core.error_table.KINDS`.
        about: codes of each, or the cells of a table of flows.
        counts: as released.
        true: the true answers.
    """

    words: str
    picked: str
    kind: str
    about: list[Any] | PairCounts
    counts: NDArray[np.int64]
    true: NDArray[np.int64]

    @property
    def locations(self) -> int:
        """How many are asked for."""
        return 2 if isinstance(self.about, PairCounts) else len(self.about[0])

    def by(self, answering: Answering) -> Answers:
        """The answers with their intervals."""
        if isinstance(self.about, PairCounts):
            return answering.pairs(self.kind, self.about)
        return answering.asked(self.kind, self.about, self.counts)


@dataclass(frozen=True)
class Kept:
    """A release, and all that scores its intervals.

    Attributes:
        released: its trajectories.
        errors: its error model.
        asked: the questions of `bench.intervals`.
        size: how many true trajectories there are.
        taken: of the questions of validation, see `what_is_left.taken_by`; of true trajectories.
        taken_released: the same of released ones.
        moved, moved_released: how often the moves are made that validation asks for.
    """

    released: Released
    errors: ErrorModel
    asked: list[Asked]
    size: int
    taken: NDArray[np.float64]
    taken_released: NDArray[np.float64]
    moved: NDArray[np.float64]
    moved_released: NDArray[np.float64]

    def known(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Released and true answers to the questions of validation, moves as often as made."""
        kinds = queries_of(self.errors.evidence.measurements.scope).kind
        released, true = self.taken_released.sum(axis=1), self.taken.sum(axis=1)
        released[kinds == MOVE], true[kinds == MOVE] = self.moved_released, self.moved
        return released, true


class _Noting(Answering):
    """Notes what is asked."""

    def asked(self, kind: str, queries: Any, counts: NDArray[np.int64], *_: Any) -> Answers:
        self.noted.append((kind, list(queries)))
        return _nothing(counts)

    def pairs(self, kind: str, pairs: PairCounts, *_: Any) -> Answers:
        self.noted.append((kind, pairs))
        return _nothing(pairs.counts)

    @property
    def noted(self) -> list[tuple[str, Any]]:
        found: list[tuple[str, Any]] = self.__dict__.setdefault("_noted", [])
        return found


def _nothing(counts: NDArray[np.int64]) -> Answers:
    return Answers(counts, counts, counts, counts, [], counts > 0, LEVEL)


def keep(name: str, epsilon: str, seed: int) -> Kept:
    """Publish, and ask."""
    database = database_of(name)
    release = publish(database, epsilon=epsilon)
    errors, paths = release._errors, release.paths()  # noqa: SLF001  (a bench looks inside)
    answering = release.answering
    assert isinstance(errors, ErrorModel)
    assert answering is not None
    noting = _Noting(answering.table, answering.paths)
    draw, asked = np.random.default_rng(seed), []
    for asker in coverage.ASKERS:
        for words, picked, true, answers in asker(database, release, noting, draw):
            kind, about = noting.noted[-1]
            asked.append(Asked(words, picked, kind, about, answers.counts, true))
    scope = errors.evidence.measurements.scope
    candidates = errors.evidence.measurements.candidates
    queries = queries_of(scope)
    first, second = candidates[queries.locations[queries.kind == MOVE, :2].T]
    taken, moved = [], []
    for each in (database, release):
        raw = each.paths()
        rows = Rows(raw.offsets, raw.codes, scope.universe_size).among(candidates)
        taken.append(taken_by(Paths(raw.offsets, rows.positions, raw.weights), scope))
        moved.append(made(transitions(each), first, second))
    return Kept(Released(database.universe, paths), errors, asked, len(database), *taken, *moved)


def made(
    pairs: PairCounts, first: NDArray[np.int64], second: NDArray[np.int64]
) -> NDArray[np.float64]:
    """How often these moves are made."""
    columns = pairs.first.tolist(), pairs.second.tolist(), pairs.counts.tolist()
    counts = {(a, b): n for a, b, n in zip(*columns, strict=True)}
    asked = zip(first.tolist(), second.tolist(), strict=True)
    return np.array([counts.get(cell, 0) for cell in asked], dtype=np.float64)


def scored(kept: Kept, answered: Callable[[Asked], Answers | None]) -> Iterator[Coverage]:
    """How often the intervals hold, by the rule of `bench.intervals`."""
    for asked in kept.asked:
        answers = answered(asked)
        if answers is not None:
            yield from coverage.rows_of(asked.words, asked.picked, asked.true, answers, kept.size)


def conformal(
    known: tuple[NDArray[np.float64], NDArray[np.float64]], asked: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Split conformal intervals: quantiles of log(true/released) of questions about as large.

    Args:
        known: released and true answers.
        asked: released answers.
    """
    released, true = known
    ratio = np.log((true + 1.0) / (released + 1.0))
    order = np.argsort(ratio, kind="stable")
    ratio, at = ratio[order], np.log1p(released[order])
    sizes, back = np.unique(asked, return_inverse=True)
    alike = np.exp(-(((np.log1p(sizes)[:, None] - at) / ALIKE_SIZES) ** 2) / 2)
    reached = np.cumsum(alike, axis=1)
    # The question that is asked is one more, of which the answer may be anything.
    tail = (1 - LEVEL) / 2 * (reached[:, -1:] + 1.0)
    low = np.minimum((reached < tail).sum(axis=1), len(ratio) - 1)
    high = np.minimum((reached < reached[:, -1:] + 1.0 - tail).sum(axis=1), len(ratio) - 1)
    ends = [np.maximum((sizes + 1.0) * np.exp(ratio[each]) - 1.0, 0.0) for each in (low, high)]
    return np.floor(ends[0]).astype(np.int64)[back], np.ceil(ends[1]).astype(np.int64)[back]


def with_ends(
    counts: NDArray[np.int64], low: NDArray[np.int64], high: NDArray[np.int64]
) -> Answers:
    """Answers with these intervals."""
    low, high = np.minimum(low, counts), np.maximum(high, counts)
    return Answers(counts, low, high, counts, [], np.zeros(len(counts), dtype=np.bool_), LEVEL)


OF_QUERIES = {(kind, many): query for query, (kind, many) in KINDS_OF_ROWS.items()}


def without_noise(kept: Kept) -> Answering:
    """Ours, if validation knew all answers as they are."""
    kinds = queries_of(kept.errors.evidence.measurements.scope).kind.astype(np.int64)
    released, true = kept.known()
    found = Validated.fit(kinds, released, np.ones(len(kinds)), true, Laplace(Fraction(2)), 0.0)
    with patch.object(error_model, "validated", lambda *_: found):
        return Answering(kept.errors.table(kept.released.kept), kept.released)


def told_by(kept: Kept) -> Iterator[tuple[str, Callable[[Asked], Answers | None]]]:
    """The ways to intervals, by name."""
    ours = Answering(kept.errors.table(kept.released.kept), kept.released)
    nothing = replace(ours.table, listed=None)
    by_size = Answering(nothing, kept.released)
    kinds = queries_of(kept.errors.evidence.measurements.scope).kind
    released, true = kept.known()
    draw = np.random.default_rng(0)

    def of_kind(asked: Asked) -> NDArray[np.bool_] | None:
        query = OF_QUERIES.get((asked.kind, asked.locations))
        return None if query is None else kinds == query

    def asked_without_noise(asked: Asked) -> Answers | None:
        same = of_kind(asked)
        if same is None or not same.any():
            return None
        return with_ends(asked.counts, *conformal((released[same], true[same]), asked.counts))

    def drawn_alike(asked: Asked) -> Answers | None:
        same = of_kind(asked)
        large = np.flatnonzero(asked.counts >= BELOW * kept.size)
        if same is None or not same.any() or not len(large):
            return None
        drawn = draw.choice(large, int(same.sum()))
        known = asked.counts[drawn].astype(np.float64), asked.true[drawn].astype(np.float64)
        return with_ends(asked.counts, *conformal(known, asked.counts))

    yield "ours", lambda asked: asked.by(ours)
    yield "by kind and size", lambda asked: asked.by(by_size)
    knowing = without_noise(kept)
    yield "ours, no noise", lambda asked: asked.by(knowing)
    yield "asked, no noise", asked_without_noise
    yield "drawn alike, no noise", drawn_alike


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", choices=("keep", "score"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("data", nargs="*")
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--by-size", action="store_true", help="a line for each size of answer")
    options = parser.parse_args()
    options.folder.mkdir(exist_ok=True)
    if options.task == "keep":
        for name in options.data:
            for run in range(options.runs):
                with (options.folder / f"{name}.{run}").open("wb") as file:
                    _Keeping(file).dump(keep(name, options.epsilon, run))
                print(name, run, flush=True)
        return
    print_scores(options.folder, options.data, by_size=options.by_size)


def print_scores(folder: Path, names: list[str], *, by_size: bool) -> None:
    """A table for each way, and how many shares lie where."""
    found: dict[str, dict[tuple[str, str, float | None, str], list[Coverage]]] = {}
    for path in sorted(folder.iterdir()):
        name = path.name.rsplit(".", 1)[0]
        if names and name not in names:
            continue
        with path.open("rb") as file:
            kept = _Finding(file).load()
        for way, answered in told_by(kept):
            rows = found.setdefault(way, defaultdict(list))
            for one in scored(kept, answered):
                rows[name, one.kind, one.size, one.picked].append(one)
    for way, rows in found.items():
        line([way, "kind", "size", *PICKED])
        line(["---"] * (3 + len(PICKED)))
        for name, kind in dict.fromkeys((name, kind) for name, kind, _, _ in rows):
            for size in (None, *(SIZES if by_size else ())):
                cells = [cell(rows.get((name, kind, size, picked), [])) for picked in PICKED]
                if set(cells) != {"–"}:
                    line([name, kind, size_words(size), *cells])
        print()
    for way, rows in found.items():
        told = {key: each for key, each in rows.items() if key[1] != coverage.STOPS}
        whole = [each for key, each in told.items() if key[2] is None]
        parts = [each for key, each in told.items() if key[2] not in (None, BELOW)]
        width = np.median([one.width for each in whole for one in each])
        print(f"{way}: {counted(whole)}; by size {counted(parts)}; median width {width:.2f}")


if __name__ == "__main__":
    if not Path("bench").is_dir():
        raise SystemExit("Run it from the project's root: python -m bench.reachable")
    # What is kept is of this module by its name, not of the main one.
    import_module("bench.reachable").main()
