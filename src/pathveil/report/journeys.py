"""The most frequent sequential patterns, for the page: those that lead from place to place.

Bounded by the size of the work and not by a clock, for a bundle is checked by writing its page
again: the same release must always give the same text.
"""

from dataclasses import dataclass

from pathveil.analysis.patterns import top_patterns
from pathveil.model.paths import WeightedPaths
from pathveil.report.places import Place

SHOWN = 20
LONGEST = 4
_MINED = 200  # of which those that stay in one place are left out
MOST_VISITS = 20_000_000


@dataclass(frozen=True, slots=True)
class Journey:
    """A pattern.

    Attributes:
        places: in their order; other places may lie between.
        support: how many released trajectories contain it.
    """

    places: tuple[Place, ...]
    support: int


def top_journeys(release: WeightedPaths) -> list[Journey] | None:
    """The most frequent patterns of 2 to 4 visits to at least two locations.

    None if the release is too large to be mined for a page.
    """
    if len(release.paths().codes) > MOST_VISITS:
        return None
    universe = release.universe
    found = top_patterns(release, _MINED, min_length=2, max_length=LONGEST)
    telling = [pattern for pattern in found if len(set(pattern.locations)) > 1]
    return [
        Journey(
            tuple(Place.of(universe, code) for code in universe.codes(pattern.locations)),
            pattern.support,
        )
        for pattern in telling[:SHOWN]
    ]
