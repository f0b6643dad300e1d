"""How often the intervals of a release hold the truth: by kind of question, by how it was picked.

Questions are picked in four ways. *random*: locations that enough people visit, drawn alike. *own*:
locations of a random trajectory of the raw data, as people ask who think of a journey. *top 20* and
*top 100*: what the release itself ranks highest, which is what people look at. Of the first two
only those count whose released answer reaches the sanity bound, 0.1% of all trajectories; those
below are as good as any other so small. What truly reaches it and is answered by less is told by
itself (`BELOW`). INTERNAL: raw data is compared with a release.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.analysis.count_queries import count_ordered_many, count_prefix_many
from pathveil.analysis.flows import PairCounts, origin_destination, transitions, visits
from pathveil.analysis.patterns import top_patterns
from pathveil.analysis.visit_index import VisitIndex
from pathveil.core.error_table import (
    ANY,
    MOVE,
    ORDERED,
    PREFIX,
    RELIABLE,
    TRIP,
    USUAL_LEVEL,
    Answers,
)
from pathveil.core.paths import WeightedPaths
from pathveil.release.answering import Answering
from pathveil.release.release import Release
from pathveil.statistics.constants import SANITY

RANDOM, OWN, TOP_20, TOP_100 = PICKED = ("random", "own", "top 20", "top 100")
# Ends of the sizes of released answers, as shares of all. Below the first, the sanity bound, are
# questions whose true answer reaches it.
SIZES = (BELOW, *_, MOST) = (SANITY, 0.003, 0.01, 0.03, 1.0)
_OFFERED = 20_000  # questions that are drawn, of which those above the sanity bound are asked
_ASKED = 2000
_MINED = 300  # patterns among which the largest pairs are looked for


@dataclass(frozen=True, slots=True)
class Coverage:
    """How often intervals held, of some questions.

    Attributes:
        kind: of question, in words.
        picked: one of `PICKED`.
        size: up to which share of all trajectories the released answers go; None: of all sizes
            from the sanity bound on.
        asked: how many questions.
        held: the share of them whose 90% interval holds the truth.
        width: the median width of the intervals, over the true answer or the sanity bound.
        bounds: the share of intervals that are bounds which need no model: these hold nearly
            always.
        distinct: how many of them differ in their true or released answer; those that do not may
            be the same question, asked again.
        factor: were all these intervals so many times as long, on either side of `Answers.best`,
            just 90% would hold; who does not know the truth can't know it.
    """

    kind: str
    picked: str
    size: float | None
    asked: int
    held: float
    width: float
    bounds: float
    distinct: int
    factor: float

    @property
    def by_chance(self) -> tuple[float, float]:
        """Between what shares chance may have brought this one about."""
        return by_chance(self.held, self.distinct)


@dataclass(frozen=True, slots=True)
class Missed:
    """A location whose count is far off.

    Attributes:
        location: its label.
        true, released, low, high: how many visit it.
    """

    location: str
    true: int
    released: int
    low: int
    high: int


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """What the intervals of a release are worth.

    Attributes:
        coverage: by kind, by how questions were picked, and by size.
        reliable: of the pairs and flows that are marked reliable, the share whose interval holds.
        worst: the stops that are furthest off, in widths of their intervals.
    """

    coverage: tuple[Coverage, ...]
    reliable: float | None
    worst: tuple[Missed, ...]

    def verdict(self) -> list[str]:
        """In words, the most important first."""
        overall = [one for one in self.coverage if one.size is None]
        if not overall:
            return ["No question reaches the sanity bound: nothing can be said about intervals."]
        low = [one for one in overall if one.by_chance[1] < LEAST_HELD]
        asked = sum(one.asked for one in overall)
        mean = sum(one.held * one.asked for one in overall) / asked
        said = "hold as promised"
        if low:
            said = "hold less often than promised for some questions"
        elif mean > MOST_HELD:
            said = "hold more often than promised, so most are wider than they need be"
        lines = [f"The 90% intervals {said}: {mean:.0%} of {asked:,} questions lie in theirs."]
        lines += [
            f"Only {one.held:.0%} of {one.asked:,} questions about {one.kind} ({one.picked}) do."
            for one in sorted(low, key=lambda one: one.held)[:3]
        ]
        below = [one for one in self.coverage if one.size == BELOW and one.picked == RANDOM]
        if below:
            many = sum(one.asked for one in below)
            mean = sum(one.held * one.asked for one in below) / many
            lines.append(
                f"Of {many:,} questions answered by less than {BELOW:.1%} of all that truly "
                f"reach it {mean:.0%} do."
            )
        if self.reliable is not None:
            lines.append(f"Of pairs and flows marked reliable {self.reliable:.0%} lie in theirs.")
        return lines


LEAST_HELD, MOST_HELD = 0.88, 0.97
SURE = 1.96  # deviations: a share is called too small or too large if chance does not explain it


def by_chance(share: float, asked: int) -> tuple[float, float]:
    """Wilson's 95% interval of a share of so many questions, as if they erred one by one."""
    slack = SURE**2 / asked
    middle = (share + slack / 2) / (1 + slack)
    half = SURE * float(np.sqrt(share * (1 - share) / asked + slack / (4 * asked))) / (1 + slack)
    return middle - half, middle + half


def by_kind(coverage: Iterable[Coverage]) -> list[list[str]]:
    """A table of text, the heading first: a line for each kind and size, a column for each way."""
    found = {(one.kind, one.size, one.picked): one for one in coverage}
    rows = [["questions about", "size", *PICKED]]
    for kind in dict.fromkeys(kind for kind, _, _ in found):
        for size in (None, *SIZES):
            cells = [found.get((kind, size, picked)) for picked in PICKED]
            if any(cells):
                rows.append([kind, size_words(size), *(_cell(one) for one in cells)])
    return rows


def size_words(size: float | None) -> str:
    """The size of answers in words."""
    if size is None:
        return "all"
    return f"below {size:.1%}" if size == BELOW else "more" if size == MOST else f"to {size:.1%}"


def _cell(one: Coverage | None) -> str:
    if one is None:
        return "–"
    return f"{one.held:.0%} ({one.width:.2f}{', bounds' if one.bounds > 0.5 else ''})"  # noqa: PLR2004


def held(raw: WeightedPaths, release: Release, *, seed: int = 0) -> Held | None:
    """How often the intervals hold the truth; None if the release has none."""
    answering = release.answering
    if answering is None:
        return None
    draw = np.random.default_rng(seed)
    coverage: list[Coverage] = []
    reliable: list[NDArray[np.bool_]] = []
    for asker in ASKERS:
        for kind, picked, true, answers in asker(raw, release, answering, draw):
            coverage += rows_of(kind, picked, true, answers, _size(raw))
            if kind != STOPS and picked == TOP_100:
                marked = np.array([mark == RELIABLE for mark in answers.marks], dtype=np.bool_)
                reliable.append(_inside(true, answers)[marked])
    marked = np.concatenate(reliable) if reliable else np.zeros(0, dtype=np.bool_)
    return Held(
        tuple(coverage), float(marked.mean()) if len(marked) else None, _worst(raw, answering)
    )


STOPS = "stops"
_Asked = tuple[str, str, NDArray[np.int64], Answers]
"""Kind, how they were picked, true answers, released ones."""


def _size(raw: WeightedPaths) -> int:
    return int(raw.paths().weights.sum())


def _inside(true: NDArray[np.int64], answers: Answers) -> NDArray[np.bool_]:
    return (answers.low <= true) & (true <= answers.high)


def rows_of(
    kind: str, picked: str, true: NDArray[np.int64], answers: Answers, size: int
) -> Iterable[Coverage]:
    """All sizes together, and each."""
    share = answers.counts / max(size, 1)
    picked_by_size = picked in (RANDOM, OWN)
    size_of = np.minimum(np.searchsorted(SIZES, share, side="right"), len(SIZES) - 1)
    small = (share < BELOW) & (true >= SANITY * size if picked_by_size else share > 0)
    asked = share >= BELOW if picked_by_size else share > 0
    inside = _inside(true, answers)
    width = (answers.high - answers.low) / np.maximum(true, SANITY * size)
    off = _in_half_widths(true, answers)
    for end, chosen in (
        (None, asked),
        (BELOW, small),
        *((end, size_of == i) for i, end in enumerate(SIZES[1:], start=1)),
    ):
        if chosen.any():
            yield Coverage(
                kind,
                picked,
                end,
                int(chosen.sum()),
                float(inside[chosen].mean()),
                float(np.median(width[chosen])),
                float(answers.is_bound[chosen].mean()),
                len(np.unique(np.stack((true, answers.counts))[:, chosen], axis=1).T),
                float(np.quantile(off[chosen], USUAL_LEVEL)),
            )


def _in_half_widths(true: NDArray[np.int64], answers: Answers) -> NDArray[np.float64]:
    """How far the truth is from the best guess: 1 is the end of the interval on its side."""
    above = true > answers.best
    half = np.where(above, answers.high - answers.best, answers.best - answers.low)
    result: NDArray[np.float64] = np.abs(true - answers.best) / np.maximum(half, 1)
    return result


def _about_stops(
    raw: WeightedPaths, release: Release, answering: Answering, _draw: np.random.Generator
) -> Iterable[_Asked]:
    true, released = visits(raw).counts, visits(release).counts
    order = np.argsort(-released, kind="stable")
    for picked, codes in ((RANDOM, order), (TOP_20, order[:20]), (TOP_100, order[:100])):
        asked = [(code,) for code in codes.tolist()]
        yield STOPS, picked, true[codes], answering.asked(ANY, asked, released[codes])


def _about_sets(
    raw: WeightedPaths, release: Release, answering: Answering, draw: np.random.Generator
) -> Iterable[_Asked]:
    indices = VisitIndex.build(raw), VisitIndex.build(release)

    def ask(kind: str, picked: str, codes: NDArray[np.int64]) -> _Asked:
        offsets = np.arange(len(codes) + 1) * codes.shape[1]
        true, released = (index.count_many_codes(offsets, codes.ravel()) for index in indices)
        return kind, picked, true, answering.asked(ANY, codes.tolist(), released)

    for kind, many in (("pairs", 2), ("three locations", 3)):
        yield ask(kind, RANDOM, _frequent(raw, release, many, draw))
        yield ask(kind, OWN, _of_trajectories(raw, many, draw, _sets))
        mined = top_patterns(release, _MINED, min_length=many, max_length=many, different=True)
        ranked = np.array([sorted(raw.universe.codes(p.locations)) for p in mined], dtype=np.int64)
        if len(ranked):
            ranked = np.unique(ranked, axis=0)
            offsets = np.arange(len(ranked) + 1) * many
            counts = indices[1].count_many_codes(offsets, ranked.ravel())
            ranked = ranked[np.argsort(-counts, kind="stable")]
            yield ask(kind, TOP_20, ranked[:20])
            yield ask(kind, TOP_100, ranked[:100])


def _about_orders(
    raw: WeightedPaths, release: Release, answering: Answering, draw: np.random.Generator
) -> Iterable[_Asked]:
    labels = raw.universe.labels

    def ask(
        kind: str,
        of: str,
        count: Callable[[WeightedPaths, Sequence[Sequence[str]]], NDArray[np.int64]],
        picked: str,
        codes: NDArray[np.int64],
    ) -> _Asked:
        asked = [[labels[code] for code in query] for query in codes.tolist()]
        true, released = count(raw, asked), count(release, asked)
        return kind, picked, true, answering.asked(of, codes.tolist(), released)

    ordered = "two in order", ORDERED, count_ordered_many
    yield ask(*ordered, RANDOM, _frequent(raw, release, 2, draw)[:_ASKED])
    yield ask(*ordered, OWN, _of_trajectories(raw, 2, draw, _in_order))
    mined = top_patterns(release, 100, min_length=2, max_length=2, different=True)
    ranked = np.array([raw.universe.codes(p.locations) for p in mined], dtype=np.int64)
    if len(ranked):
        yield ask(*ordered, TOP_20, ranked[:20])
        yield ask(*ordered, TOP_100, ranked)
    yield ask("beginnings", PREFIX, count_prefix_many, OWN, _of_trajectories(raw, 2, draw, _first))


def _about_flows(
    raw: WeightedPaths, release: Release, answering: Answering, draw: np.random.Generator
) -> Iterable[_Asked]:
    for kind, of, table in (("moves", MOVE, transitions), ("trips", TRIP, origin_destination)):
        true, released = (_apart(table(paths)) for paths in (raw, release))
        size, floor = len(raw.universe), SANITY * _size(raw)
        large = [
            (pairs.first.astype(np.int64) * size + pairs.second)[pairs.counts >= floor]
            for pairs in (true, released)
        ]
        own = (
            draw.choice(len(true.counts), _ASKED, p=true.counts / max(true.counts.sum(), 1))
            if len(true.counts)
            else np.zeros(0, dtype=np.int64)
        )
        best = released.largest(100)
        for picked, cells in (
            (RANDOM, np.unique(np.concatenate(large))),
            (OWN, true.first[own].astype(np.int64) * size + true.second[own]),
            (TOP_20, (best.first.astype(np.int64) * size + best.second)[:20]),
            (TOP_100, best.first.astype(np.int64) * size + best.second),
        ):
            first, second = (part.astype(np.int32) for part in np.divmod(cells, size))
            counted = [_at(pairs, cells, size) for pairs in (true, released)]
            answers = answering.pairs(of, PairCounts(first, second, counted[1]))
            yield kind, picked, counted[0], answers


def _apart(pairs: PairCounts) -> PairCounts:
    """Without who stays."""
    kept = pairs.first != pairs.second
    return PairCounts(pairs.first[kept], pairs.second[kept], pairs.counts[kept])


def _at(pairs: PairCounts, cells: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """The counts of some cells; tables are in order of their cells."""
    keys = pairs.first.astype(np.int64) * size + pairs.second
    position = np.searchsorted(keys, cells)
    found = np.append(keys, -1)[position] == cells
    return np.where(found, np.append(pairs.counts, 0)[position], 0)


def _frequent(
    raw: WeightedPaths, release: WeightedPaths, many: int, draw: np.random.Generator
) -> NDArray[np.int64]:
    """Different locations that reach the sanity bound by themselves, drawn alike."""
    most = np.maximum(visits(raw).counts, visits(release).counts)
    named = np.flatnonzero(most >= SANITY * _size(raw))
    if len(named) < many:
        return np.zeros((0, many), dtype=np.int64)
    drawn = named[draw.integers(0, len(named), (_OFFERED, many))]
    ordered = np.sort(drawn, axis=1)
    return drawn[(np.diff(ordered, axis=1) > 0).all(axis=1)]


_Choose = Callable[[NDArray[np.int32], int, np.random.Generator], NDArray[np.int32] | None]


def _sets(
    path: NDArray[np.int32], many: int, draw: np.random.Generator
) -> NDArray[np.int32] | None:
    different = np.unique(path)
    return draw.choice(different, many, replace=False) if len(different) >= many else None


def _in_order(
    path: NDArray[np.int32], many: int, draw: np.random.Generator
) -> NDArray[np.int32] | None:
    if len(path) < many:
        return None
    chosen = path[np.sort(draw.choice(len(path), many, replace=False))]
    return chosen if len(np.unique(chosen)) == many else None


def _first(
    path: NDArray[np.int32], many: int, _draw: np.random.Generator
) -> NDArray[np.int32] | None:
    return path[:many] if len(np.unique(path[:many])) == many else None


def _of_trajectories(
    raw: WeightedPaths, many: int, draw: np.random.Generator, choose: _Choose
) -> NDArray[np.int64]:
    """Locations of random trajectories."""
    paths = raw.paths()
    rows = draw.choice(len(paths), _ASKED, p=paths.weights / max(paths.weights.sum(), 1))
    found = (choose(paths.codes[paths.offsets[r] : paths.offsets[r + 1]], many, draw) for r in rows)
    chosen = [one for one in found if one is not None]
    return np.array(chosen, dtype=np.int64).reshape(-1, many)


def _worst(raw: WeightedPaths, answering: Answering, most: int = 5) -> tuple[Missed, ...]:
    """The stops that are furthest outside their intervals, in widths."""
    true, released = visits(raw).counts, visits(answering.paths).counts
    answers = answering.asked(ANY, [(code,) for code in range(len(true))], released)
    outside = np.maximum(answers.low - true, true - answers.high)
    outside = outside / np.maximum(answers.high - answers.low, 1)
    labels = raw.universe.labels
    return tuple(
        Missed(labels[i], *(int(x[i]) for x in (true, released, answers.low, answers.high)))
        for i in np.argsort(-outside, kind="stable")[:most].tolist()
        if outside[i] > 0
    )


ASKERS = _about_stops, _about_sets, _about_orders, _about_flows
