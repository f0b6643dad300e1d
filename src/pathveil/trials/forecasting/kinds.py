"""What one may ask of a release: how its largest answers of each kind are marked, and are right."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

import numpy as np

from pathveil.analysis.flows import origin_destination, transitions, visits
from pathveil.analysis.patterns import top_patterns
from pathveil.core.error_table import ANY, NOISE, RELIABLE, Estimate, as_estimate
from pathveil.core.paths import WeightedPaths
from pathveil.release.release import Release

LOOKED_AT, RIGHT_OF = 100, 20
HALF = 0.5

Found = Sequence[tuple[tuple[str, ...], Estimate]]
"""What a release ranks highest: locations, and how many."""


@dataclass(frozen=True, slots=True)
class KindForecast:
    """The largest answers of one kind.

    Attributes:
        kind: of question, in words.
        looked_at: the answers that the release ranks highest, at most 100.
        reliable, rough, noise: how many of them are marked so; all 0 without intervals.
        top: of the truly largest so many were looked for, at most 20.
        right: how many of these the release has among as many.
    """

    kind: str
    looked_at: int
    reliable: int
    rough: int
    noise: int
    top: int
    right: int

    @property
    def can_be_asked(self) -> bool:
        """Whether most of the largest answers are reliable."""
        return self.reliable >= HALF * self.looked_at > 0

    @property
    def is_rough(self) -> bool:
        """Whether most can at least be told from noise."""
        return self.reliable + self.rough >= HALF * self.looked_at > 0


def kinds(truth: WeightedPaths, release: Release) -> Iterator[KindForecast]:
    """Stops, moves, trips and patterns of two different locations."""
    universe = truth.universe
    for kind, found, right in (
        ("stops", _stops(release), _labels(visits(truth).to_rows(universe, limit=RIGHT_OF))),
        ("moves", _flows(release, "transitions"), _pairs(transitions(truth).to_rows(universe))),
        (
            "origins and destinations",
            _flows(release, "origin-destination"),
            _pairs(origin_destination(truth).to_rows(universe)),
        ),
        ("patterns of two stops", _patterns(release), _patterns(truth)),
    ):
        known = {locations for locations, *_ in right[:RIGHT_OF]}
        marks = [estimate.mark for _, estimate in found]
        yield KindForecast(
            kind,
            len(found),
            sum(mark == RELIABLE for mark in marks),
            sum(mark not in (RELIABLE, NOISE, None) for mark in marks),
            sum(mark == NOISE for mark in marks),
            len(known),
            sum(locations in known for locations, _ in found[: len(known)]),
        )


def what_to_ask(found: Sequence[KindForecast]) -> str:
    """One sentence: what one may ask of such a release, and what not."""
    if not any(one.reliable + one.rough + one.noise for one in found):
        return "Answers of such a release have no intervals: nothing says which can be relied on."
    good = [one.kind for one in found if one.can_be_asked]
    rough = [one.kind for one in found if one.is_rough and not one.can_be_asked]
    bad = [one.kind for one in found if not one.is_rough]
    parts = [f"ask such a release about {_listed(good)}"] if good else []
    parts += [f"take what it says about {_listed(rough)} as rough"] if rough else []
    parts += (
        [f"do not ask it about {_listed(bad)}, most of which can't be told from noise"]
        if bad
        else []
    )
    sentence = "; ".join(parts)
    return f"{sentence[0].upper()}{sentence[1:]}."


def _listed(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _stops(release: Release) -> Found:
    counts = visits(release).counts
    codes = np.argsort(-counts, kind="stable")[:LOOKED_AT]
    codes = codes[counts[codes] > 0]
    labels = release.universe.labels
    estimates: list[Estimate] = [Estimate(int(counts[code])) for code in codes]
    if release.answering is not None:
        asked = [(code,) for code in codes.tolist()]
        estimates = list(release.answering.asked(ANY, asked, counts[codes]).estimates())
    return [((labels[code],), one) for code, one in zip(codes, estimates, strict=True)]


def _flows(release: Release, table: str) -> Found:
    apart = (flow for flow in release.flows(table) if flow.origin != flow.destination)
    return [((flow.origin, flow.destination), flow.count) for flow in islice(apart, LOOKED_AT)]


def _patterns(paths: WeightedPaths) -> Found:
    mine = paths.top_patterns if isinstance(paths, Release) else partial(top_patterns, paths)
    found = mine(LOOKED_AT, min_length=2, max_length=2, different=True)
    return [(one.locations, as_estimate(one.support)) for one in found]


def _labels(rows: list[tuple[str, int]]) -> Found:
    return [((label,), Estimate(count)) for label, count in rows]


def _pairs(rows: list[tuple[str, str, int]]) -> Found:
    apart = ((first, second, count) for first, second, count in rows if first != second)
    return [((first, second), Estimate(count)) for first, second, count in apart][:LOOKED_AT]
