"""The page of `pathveil evaluate`: the table of measures and four plots. INTERNAL."""

from collections.abc import Iterator, Sequence

import numpy as np

from pathveil.core.parameters import Parameters
from pathveil.trials.evaluation import charts
from pathveil.trials.evaluation.coverage import Held, by_kind
from pathveil.trials.evaluation.internal import Chart, render
from pathveil.trials.evaluation.measures import Evaluation, Figure
from pathveil.trials.evaluation.scores import Histogram, supports

RAW, RELEASE, EMPTY = "raw data", "release", "empty release"
LONGEST_SHOWN = 40
LOCATIONS_SHOWN = 2000


def evaluation_page(
    evaluation: Evaluation,
    parameters: Parameters,
    *,
    is_private: bool,
    intervals: Held | None = None,
) -> str:
    """Render the page.

    Args:
        evaluation: the figures.
        parameters: of the release.
        is_private: of the release.
        intervals: what its intervals are worth; None if it has none.
    """
    return render(
        "evaluation.html",
        parameters=parameters,
        is_private=is_private,
        verdict=verdict(evaluation.figures, evaluation.patterns),
        figures=evaluation.figures,
        intervals=intervals,
        held_by_kind=by_kind(intervals.coverage) if intervals else [],
        charts=list(_charts(evaluation)),
    )


def verdict(figures: Sequence[Figure], patterns: int) -> list[str]:
    """What the figures come to, in sentences.

    Args:
        figures: all of them.
        patterns: how many of the most frequent patterns were compared.
    """
    found = {figure.measure.key: figure for figure in figures}
    worse = [figure.measure.name for figure in figures if not figure.beats_empty]
    better = len(figures) - len(worse)
    nothing = f"It is better than publishing nothing in {better} of {len(figures)} measures"
    single, true = found["query_error_single"], found["true_positives"]
    return [
        f"{nothing}." if not worse else f"{nothing}; not in: {', '.join(worse)}.",
        (
            f"How many visit one location is off by {single.release:.1%} on average; whoever "
            f"publishes nothing is off by {single.empty:.1%}."
        ),
        f"Of the {patterns:,} most frequent patterns of the raw data it has {true.release:,.0f}.",
    ]


def _charts(evaluation: Evaluation) -> Iterator[Chart]:
    yield _query_errors(evaluation)
    yield _lengths(evaluation)
    yield _popularity(evaluation)
    yield _patterns(evaluation)


def _query_errors(evaluation: Evaluation) -> Chart:
    rows = [
        {"queries": name, "average relative error": value, "series": series}
        for figure in evaluation.figures
        if (name := _short_name(figure.measure.key, figure.measure.name))
        for series, value in ((RELEASE, figure.release), (EMPTY, figure.empty))
    ]
    svg = charts.bars(
        rows,
        x="queries",
        y="average relative error",
        series=(RELEASE, EMPTY),
        title="Error of count queries",
    )
    return Chart(svg, "Average relative error of each set of count queries; lower is better.")


def _short_name(key: str, name: str) -> str | None:
    """What fits under a bar; None for a measure that is no query error."""
    if not key.startswith("query_error_"):
        return None
    subset = key.removeprefix("query_error_")
    own = {"data": "of a trajectory", "single": "single"}
    return own.get(subset) or name.partition(" random")[0]


def _lengths(evaluation: Evaluation) -> Chart:
    rows = [
        {"length": length, "share of trajectories": share, "series": series}
        for series, figures in ((RAW, evaluation.raw), (RELEASE, evaluation.released))
        for length, share in _shares(figures.lengths)
        if length <= LONGEST_SHOWN
    ]
    svg = charts.lines(
        rows,
        x="length",
        y="share of trajectories",
        series=(RAW, RELEASE),
        title="Length of trajectories",
        is_whole=True,
    )
    return Chart(
        svg,
        f"Share of trajectories by number of locations, up to {LONGEST_SHOWN}. Basic and Full "
        "release none longer than the height.",
    )


def _shares(histogram: Histogram) -> list[tuple[int, float]]:
    total = max(int(histogram.counts.sum()), 1)
    return [
        (int(key), float(count) / total)
        for key, count in zip(histogram.keys, histogram.counts, strict=True)
    ]


def _popularity(evaluation: Evaluation) -> Chart:
    raw, released = evaluation.raw.popularity, evaluation.released.popularity
    busiest = np.argsort(-raw, kind="stable")[:LOCATIONS_SHOWN]
    rows = [{RAW: int(raw[code]), RELEASE: int(released[code])} for code in busiest]
    return Chart(
        charts.dots(rows, x=RAW, y=RELEASE, title="Trajectories that visit a location"),
        f"One dot per location (the {LOCATIONS_SHOWN:,} busiest at most); on the dashed line the "
        "release is exact.",
    )


def _patterns(evaluation: Evaluation) -> Chart:
    patterns = evaluation.raw.patterns(evaluation.patterns)
    pairs = zip(supports(patterns), evaluation.released.supports(patterns), strict=True)
    rows = [{RAW: int(truth), RELEASE: int(released)} for truth, released in pairs]
    return Chart(
        charts.dots(rows, x=RAW, y=RELEASE, title="Support of the top patterns"),
        f"One dot for each of the raw data's top {len(patterns)} sequential patterns.",
    )
