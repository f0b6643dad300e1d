"""How often the intervals hold the truth: the coverage tables of docs/accuracy.md.

    python -m bench.intervals mibici nycflights13 hubs:100000:220:4 --runs 3 --by-size

By kind of question (stops, pairs, three locations, in order, beginnings, moves, trips) and by how
it was picked: at random, from people's own trajectories, the 20 and the 100 that the release itself
ranks highest (`pathveil.trials.evaluation.coverage`). Beside the share that is held, in brackets:
the median width over the true answer; and what it would be if all intervals of that line were
longer or shorter by the one factor by which just 90% held. A dataset is a name of `shared/data`, or
a world of `bench.regime_simulators`: simulator:people:locations:visits. INTERNAL: it compares raw
data with releases.
"""

import argparse
import time
from collections import defaultdict
from pathlib import Path

import numpy as np

from bench.accuracy import line, load
from bench.regime_simulators import World
from pathveil import Release, TrajectoryDatabase, origin_destination, publish, transitions
from pathveil.analysis.count_queries import count_ordered_many
from pathveil.analysis.flows import PairCounts
from pathveil.core.error_table import as_estimate
from pathveil.methods.calibrated.uncertainty.error_model import ErrorModel
from pathveil.methods.calibrated.uncertainty.validated import validated
from pathveil.release.answering import Flow
from pathveil.statistics.statistic import Rows
from pathveil.statistics.validation import VALIDATION
from pathveil.trials.evaluation.coverage import (
    BELOW,
    LEAST_HELD,
    MOST_HELD,
    PICKED,
    SIZES,
    Coverage,
    by_chance,
    held,
    size_words,
)

REAL = ("msnbc", "cabspotting", "mibici", "nycflights13", "kosarak", "stm_like")
WANTED = (LEAST_HELD, MOST_HELD)
FAR_OFF = 3.0
FEW = 50  # questions: so few are told beside their share


def database_of(name: str) -> TrajectoryDatabase:
    """A dataset, or simulated people."""
    if ":" not in name:
        return load(name)
    simulator, people, size, length = name.split(":")
    return World(simulator, int(people), int(size), length).database(with_map=False)


def cell(found: list[Coverage]) -> str:
    """Held, its mark, width and what width would do, over several runs."""
    if not found:
        return "–"
    asked = sum(one.asked for one in found)
    width, would_do = (
        float(np.mean(each))
        for each in zip(*((one.width, one.width * one.factor) for one in found), strict=True)
    )
    few = f" of {asked}" if asked < FEW else ""
    return f"{_share(found):.3f}{mark(found)}{few} ({width:.2f}; {would_do:.2f})"


def _share(found: list[Coverage]) -> float:
    return sum(one.held * one.asked for one in found) / sum(one.asked for one in found)


def mark(found: list[Coverage]) -> str:
    """Too low (!) or too high (+), more than chance explains; bounds that need no model (b)."""
    share, asked = _share(found), sum(one.asked for one in found)
    least, most = by_chance(share, sum(one.distinct for one in found))
    if most < WANTED[0]:
        return "!"
    if sum(one.bounds * one.asked for one in found) > asked / 2:
        return "b"
    return "+" if least > WANTED[1] else ""


def counted(found: list[list[Coverage]]) -> str:
    """Of so many shares, how many are outside of what is wanted, and beyond chance."""
    shares, marks = [_share(one) for one in found], [mark(one) for one in found]
    low, high = (sum(each) for each in zip(*_outside(shares, marks), strict=True))
    return (
        f"{len(found)} shares: {low} below {WANTED[0]:.0%}, {marks.count('!')} of them beyond "
        f"chance; {high} above {WANTED[1]:.0%}, {marks.count('+')} of them beyond chance; "
        f"{marks.count('b')} bounds"
    )


def _outside(shares: list[float], marks: list[str]) -> list[tuple[bool, bool]]:
    """Whether each is too low or too high; bounds are neither."""
    told = zip(shares, marks, strict=True)
    return [(one < WANTED[0], one > WANTED[1] and mark != "b") for one, mark in told]


def far_off(database: TrajectoryDatabase, release: Release) -> str:
    """Of the 20 moves, trips and pairs shown first, those off by a factor of 3 or more."""
    moves = _flows_shown(transitions(database), release.flows(), database)
    ends = release.flows("origin-destination")
    trips = _flows_shown(origin_destination(database), ends, database)
    patterns = release.top_patterns(300, min_length=2, max_length=2, different=True)
    known = [one for one in patterns if as_estimate(one.support).mark != "noise"][:20]
    orders = count_ordered_many(database, [list(one.locations) for one in known])
    pairs = [(as_estimate(one.support).shown, int(n)) for one, n in zip(known, orders, strict=True)]
    return f"{_off(moves)}, {_off(trips)}, {_off(pairs)}"


def _flows_shown(
    true: PairCounts, flows: list[Flow], database: TrajectoryDatabase
) -> list[tuple[int, int]]:
    """The 20 flows between different locations that are shown first: (shown, true)."""
    counts = {(a, b): n for a, b, n in true.to_rows(database.universe)}
    apart = [one for one in flows if one.origin != one.destination]
    shown = [one for one in apart[:2000] if one.count.mark != "noise"][:20]
    return [(one.count.shown, counts.get((one.origin, one.destination), 0)) for one in shown]


def _off(shown: list[tuple[int, int]]) -> str:
    """How many of (shown, true) are far off."""
    ratios = [(count + 0.5) / (true + 0.5) for count, true in shown]
    return f"{sum(max(ratio, 1 / ratio) > FAR_OFF for ratio in ratios)} of {len(ratios)}"


def time_of_validation(database: TrajectoryDatabase, release: Release) -> float:
    """Processor seconds that validation takes: everybody answers, and so do the released."""
    errors = release._errors  # noqa: SLF001  (a bench looks inside)
    if not isinstance(errors, ErrorModel) or VALIDATION not in errors.evidence.measurements:
        return 0.0
    measurements = errors.evidence.measurements
    began = time.process_time()
    rows = Rows(database.offsets, database.codes, measurements.universe_size)
    VALIDATION.cell(rows.among(measurements.candidates), measurements.scope)
    validated(errors.evidence, release.paths())
    return time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", default=list(REAL))
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0, help="of the questions; the noise is secure")
    parser.add_argument("--purpose", default="everything", help="what releases are planned for")
    parser.add_argument("--by-size", action="store_true", help="a line for each size of answer")
    options = parser.parse_args()
    header = ["data", "questions about", "size", *PICKED, "reliable",
              "moves, trips, patterns off by 3", "time of validation"]  # fmt: skip
    line(header)
    line(["---"] * len(header))
    overall: list[list[Coverage]] = []
    by_size: list[list[Coverage]] = []
    for name in options.datasets:
        database = database_of(name)
        found: dict[tuple[str, float | None, str], list[Coverage]] = defaultdict(list)
        reliable, off, validating = [], [], []
        for run in range(options.runs):
            began = time.process_time()
            release = publish(database, epsilon=options.epsilon, purpose=options.purpose)
            published = time.process_time() - began
            validating.append(f"{time_of_validation(database, release) / published:.1%}")
            judged = held(database, release, seed=options.seed + run)
            if judged is None:
                raise SystemExit("A calibrated release has intervals.")
            for one in judged.coverage:
                found[one.kind, one.size, one.picked].append(one)
            reliable.append("–" if judged.reliable is None else f"{judged.reliable:.2f}")
            off.append(far_off(database, release))
        overall += [each for (_, size, _), each in found.items() if size is None]
        by_size += [each for (_, size, _), each in found.items() if size not in (None, BELOW)]
        for kind in dict.fromkeys(kind for kind, _, _ in found):
            for size in (None, *(SIZES if options.by_size else ())):
                cells = [cell(found.get((kind, size, picked), [])) for picked in PICKED]
                if set(cells) == {"–"}:
                    continue
                last = kind == "moves" and size is None
                line([name, kind, size_words(size), *cells, " ".join(reliable) if last else "",
                      " ".join(off) if last else "",
                      " ".join(validating) if last else ""])  # fmt: skip
        print(f"<!-- up to here {counted(overall)}; by size {counted(by_size)} -->", flush=True)


if __name__ == "__main__":
    if not Path("bench").is_dir():
        raise SystemExit("Run it from the project's root: python -m bench.intervals")
    main()
