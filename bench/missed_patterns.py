"""Which of the most frequent patterns a release misses or invents, by kind, and why.

    python -m bench.same_noise keep tables msnbc100k kosarak --runs 4
    python -m bench.missed_patterns tables msnbc100k kosarak

For each kind of the 500 most frequent patterns (a: one location, aa: twice the same, aba: there and
back, …): how many are among the first 250, and of these how many a release misses, and how many of
that kind it invents, on average; by how much supports are off, as the mean of their logarithms over
the truth (bias of the kind), the spread of that between patterns (the model), and between runs (the
noise). INTERNAL: it compares raw data with releases.
"""

import argparse
from collections import Counter
from pathlib import Path

import numpy as np

from bench.accuracy import line
from bench.same_noise import SEED, Synthetic, data, kept_tables
from pathveil.methods.calibrated.synthesis.synthesize import synthesize
from pathveil.trials.evaluation.compared import Figures

TOP, LOOKED_AT, LETTERS, LONGEST = 250, 500, "abcdefgh", 4
HEADER = ("data", "kind", "of 250", "missed", "invented", "bias", "between patterns", "runs")


def kind(locations: tuple[str, ...]) -> str:
    """By which of its locations are the same; long ones together."""
    first_seen = list(dict.fromkeys(locations))
    if len(locations) < LONGEST:
        return "".join(LETTERS[first_seen.index(location)] for location in locations)
    if len(first_seen) == 1:
        return "aaaa…"
    return "abcd…" if len(first_seen) == len(locations) else "longer, with repeats"


def rows(folder: Path, name: str) -> list[list[str]]:
    """One for each kind."""
    database = data(name)
    raw = Figures(database)
    looked_at, wanted = raw.patterns(LOOKED_AT), {p.locations for p in raw.patterns(TOP)}
    true = np.array([pattern.support for pattern in looked_at])
    kinds = np.array([kind(pattern.locations) for pattern in looked_at])
    missed, invented, off = Counter[str](), Counter[str](), []
    kept = kept_tables(folder / name)
    for seen in kept:
        paths = synthesize(seen, seen.plan, np.random.default_rng(SEED))
        released = Figures(Synthetic(database.universe, paths))
        found = {pattern.locations for pattern in released.patterns(TOP)}
        missed.update(map(kind, wanted - found))
        invented.update(map(kind, found - wanted))
        off.append(np.log(np.maximum(released.supports(looked_at), 1) / true))
    shown = []
    for one in sorted(set(kinds) | set(invented), key=lambda one: (len(one), one)):
        of_kind = np.array(off)[:, kinds == one]
        mean, spread = of_kind.mean(axis=0), of_kind.std(axis=0)
        errors = (mean.mean(), mean.std(), spread.mean()) if mean.size else (np.nan,) * 3
        counts = (missed[one] / len(kept), invented[one] / len(kept))
        among = sum(kind(locations) == one for locations in wanted)
        texts = [*(f"{count:.1f}" for count in counts), *(f"{error:+.2f}" for error in errors)]
        shown.append([name, one, str(among), *texts])
    return shown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("data", nargs="+")
    options = parser.parse_args()
    line(HEADER)
    line(["---"] * len(HEADER))
    for name in options.data:
        for row in rows(options.folder, name):
            line(row)


if __name__ == "__main__":
    if not Path("bench").is_dir():
        raise SystemExit("Run it from the project's root: python -m bench.missed_patterns")
    main()
