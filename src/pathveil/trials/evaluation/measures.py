"""The table of measures: every figure of a release, and beside it the empty release's.

`docs/measures.md` has the definitions and where they come from.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from pathveil.core.paths import WeightedPaths
from pathveil.errors import InputError, ParameterError
from pathveil.trials.evaluation.compared import EmptyRelease, Figures
from pathveil.trials.evaluation.random_queries import (
    PAPER_QUERIES,
    SUBSETS,
    Queries,
    paper_queries,
    queries_from_trajectories,
    single_location_queries,
)
from pathveil.trials.evaluation.scores import (
    Histogram,
    average_relative_error,
    hotspot_ndcg,
    invented_share,
    jensen_shannon,
    kendall_tau,
    match_patterns,
    support_error,
    supports,
)

Better = Literal["lower", "higher", "near 1"]
Compute = Callable[[Figures, Figures], float]

PATTERNS = 100
HOTSPOTS = 10


@dataclass(frozen=True, slots=True)
class Measure:
    """One way to compare a release with the raw data.

    Attributes:
        key: a short name for scripts.
        name: what the table says.
        group: the kind of use that it stands for.
        better: which values are good.
        compute: from (raw, released) to the figure.
    """

    key: str
    name: str
    group: str
    better: Better
    compute: Compute


@dataclass(frozen=True, slots=True)
class Figure:
    """A measure of one release.

    Attributes:
        measure: what was measured.
        release: the release's figure.
        empty: the same for the empty release, the null baseline.
    """

    measure: Measure
    release: float
    empty: float

    @property
    def beats_empty(self) -> bool:
        """Whether the release is strictly better than publishing nothing."""
        if self.measure.better == "higher":
            return self.release > self.empty
        if self.measure.better == "lower":
            return self.release < self.empty
        return abs(self.release - 1) < abs(self.empty - 1)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All figures of one release. INTERNAL: it was computed from raw data.

    Attributes:
        figures: one per measure.
        raw: the raw side, for plots.
        released: the release's side, for plots.
        patterns: k, the number of patterns compared.
    """

    figures: tuple[Figure, ...]
    raw: Figures
    released: Figures
    patterns: int


def evaluate(
    raw: WeightedPaths,
    released: WeightedPaths,
    *,
    height: int,
    queries: int = PAPER_QUERIES,
    patterns: int = PATTERNS,
    seed: int = 0,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Evaluation:
    """Measure a release against the raw data it was made from.

    Args:
        raw: the trajectory database, bounded as it was for the release. It is not cut to the
            height: what the release cuts off counts as its error.
        released: the release.
        height: h, which fixes the lengths of the paper's queries.
        queries: how many random queries, in all four subsets together.
        patterns: k, the number of top patterns.
        seed: fixes the queries.
        progress: called with (measures done, measures).

    Raises:
        ParameterError: if the two sides have different universes.
        InputError: if the raw data is empty.
    """
    if raw.universe != released.universe:
        raise ParameterError("The raw data and the release must be over the same universe.")
    compared = Figures(raw), Figures(released), Figures(EmptyRelease(raw.universe))
    if not compared[0].size:
        raise InputError("The raw data holds no trajectory: there is nothing to compare with.")
    every = list(measures(raw, height, queries, patterns, seed))
    figures = []
    for done, measure in enumerate(every, start=1):
        release, empty = (measure.compute(compared[0], figures) for figures in compared[1:])
        figures.append(Figure(measure, release, empty))
        progress(done, len(every))
    return Evaluation(tuple(figures), compared[0], compared[1], patterns)


def measures(raw: WeightedPaths, height: int, queries: int, k: int, seed: int) -> Iterator[Measure]:
    """Every measure of the suite, in the order of `docs/measures.md`; see `evaluate`."""
    yield from _query_measures(raw, height, queries, seed)
    yield from _pattern_measures(k)
    yield from _location_measures()
    yield from _distribution_measures()
    group = "The release as a whole"
    yield Measure(
        "size_ratio", "Size |D̃| / |D|", group, "near 1", lambda raw, it: it.size / raw.size
    )
    yield Measure(
        "invented_share",
        "Share of invented paths",
        group,
        "lower",
        lambda raw, it: invented_share(raw.paths, it.paths),
    )


def _query_measures(raw: WeightedPaths, height: int, queries: int, seed: int) -> Iterator[Measure]:
    group = "Count queries: average relative error"
    size = len(raw.universe)
    subsets = paper_queries(size, height, queries=queries, seed=seed)
    for i, subset in enumerate(subsets, start=1):
        yield Measure(
            f"query_error_{i}",
            _random_locations(subset.longest),
            group,
            "lower",
            _query_error(subset),
        )
    own = queries_from_trajectories(raw, longest=height, queries=-(-queries // SUBSETS), seed=seed)
    yield Measure(
        "query_error_data",
        f"Locations of a random trajectory, up to {height}",
        group,
        "lower",
        _query_error(own),
    )
    yield Measure(
        "query_error_single",
        "Every single location",
        group,
        "lower",
        _query_error(single_location_queries(size)),
    )


def _random_locations(longest: int) -> str:
    return "1 random location" if longest == 1 else f"1 to {longest} random locations"


def _query_error(queries: Queries) -> Compute:
    return lambda raw, it: average_relative_error(
        raw.answers(queries), it.answers(queries), raw.size
    )


def _pattern_measures(k: int) -> Iterator[Measure]:
    group = f"Sequential patterns: top {k}"

    def measure(key: str, name: str, better: Better, compute: Compute) -> Measure:
        return Measure(key, name, group, better, compute)

    yield measure(
        "true_positives",
        "True positives",
        "higher",
        lambda raw, it: match_patterns(raw.patterns(k), it.patterns(k)).true_positives,
    )
    yield measure(
        "false_positives",
        "False positives",
        "lower",
        lambda raw, it: match_patterns(raw.patterns(k), it.patterns(k)).false_positives,
    )
    yield measure(
        "false_drops",
        "False drops",
        "lower",
        lambda raw, it: match_patterns(raw.patterns(k), it.patterns(k)).false_drops,
    )
    yield measure(
        "pattern_f1",
        "F1",
        "higher",
        lambda raw, it: match_patterns(raw.patterns(k), it.patterns(k)).f1,
    )
    yield measure(
        "pattern_support_error",
        "Relative error of the support",
        "lower",
        lambda raw, it: support_error(raw.patterns(k), it.supports(raw.patterns(k))),
    )
    yield measure(
        "pattern_tau",
        "Kendall's τ of the support",
        "higher",
        lambda raw, it: kendall_tau(supports(raw.patterns(k)), it.supports(raw.patterns(k))),
    )


def _location_measures() -> Iterator[Measure]:
    group = "Popularity of locations"
    yield Measure(
        "location_tau",
        "Kendall's τ",
        group,
        "higher",
        lambda raw, it: kendall_tau(raw.popularity, it.popularity),
    )
    yield Measure(
        "hotspot_ndcg",
        f"NDCG of the {HOTSPOTS} busiest",
        group,
        "higher",
        lambda raw, it: hotspot_ndcg(raw.popularity, it.popularity, HOTSPOTS),
    )


def _distribution_measures() -> Iterator[Measure]:
    histograms: dict[str, tuple[str, Callable[[Figures], Histogram]]] = {
        "trips": ("Trips (first, last location)", lambda figures: figures.trips),
        "lengths": ("Lengths", lambda figures: figures.lengths),
        "visits": ("Visits", lambda figures: figures.visits),
        "transitions": ("Transitions", lambda figures: figures.transitions),
    }
    for key, (name, histogram) in histograms.items():
        yield Measure(
            f"divergence_{key}",
            name,
            "Distributions: Jensen-Shannon divergence, bits",
            "lower",
            _divergence(histogram),
        )


def _divergence(histogram: Callable[[Figures], Histogram]) -> Compute:
    return lambda raw, it: jensen_shannon(histogram(raw), histogram(it))
