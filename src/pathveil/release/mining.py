"""Mining, alike for a release and for every view of it."""

from pathveil.analysis.patterns import Pattern, top_patterns
from pathveil.model.paths import WeightedPaths


class Mining:
    """What has paths can be mined for patterns."""

    __slots__ = ()

    def top_patterns(
        self: WeightedPaths,
        k: int,
        *,
        contiguous: bool = False,
        min_length: int = 1,
        max_length: int | None = None,
    ) -> list[Pattern]:
        """The k most frequent sequential patterns: see `pathveil.top_patterns`."""
        return top_patterns(
            self, k, contiguous=contiguous, min_length=min_length, max_length=max_length
        )
