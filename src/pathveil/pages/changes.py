"""What has changed since an earlier release: visits, with what noise may explain set apart.

If each count lies in its 95% interval, their difference lies between the extremes; both do in at
least 90% of cases, whatever the two have to do with each other (the union bound). So a release that
leans on the earlier one may be compared with it, too.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.analysis.flows import visits
from pathveil.core.error_table import ANY
from pathveil.pages.listings import Location, Released

EACH_LEVEL = 0.95
MOST_CHANGES = 20


@dataclass(frozen=True, slots=True)
class Change:
    """The visits of one location in two releases.

    Attributes:
        location: where.
        before: the count of the earlier release.
        now: that of this one.
        low: the least the true difference may be; None if there is no interval.
        high: the most it may be.
    """

    location: Location
    before: int
    now: int
    low: int | None
    high: int | None

    @property
    def difference(self) -> int:
        """Now less before."""
        return self.now - self.before

    @property
    def may_be_noise(self) -> bool:
        """Whether the interval holds 0, or there is none."""
        return self.low is None or self.high is None or self.low <= 0 <= self.high


def changes(release: Released, earlier: Released) -> list[Change]:
    """The locations of both universes whose visits differ most; those that noise explains last."""
    ours, theirs = release.universe, earlier.universe
    both = [label for label in ours.labels if label in theirs]
    now, before = (
        np.array([one.code(label) for label in both], dtype=np.int64) for one in (ours, theirs)
    )
    counts = visits(release).counts[now], visits(earlier).counts[before]
    order = np.argsort(-np.abs(counts[0] - counts[1]), kind="stable")[: 4 * MOST_CHANGES]
    order = order[(counts[0] != counts[1])[order]]
    new, old = _bounds(release, now[order]), _bounds(earlier, before[order])
    found = [
        Change(
            Location.of(ours, int(now[at])),
            int(counts[1][at]),
            int(counts[0][at]),
            None if new is None or old is None else int(new[0][i] - old[1][i]),
            None if new is None or old is None else int(new[1][i] - old[0][i]),
        )
        for i, at in enumerate(order.tolist())
    ]
    return sorted(found, key=lambda one: one.may_be_noise)[:MOST_CHANGES]


def _bounds(
    release: Released, codes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """The 95% intervals of the visits of some locations."""
    if release.answering is None:
        return None
    counts = visits(release).counts[codes]
    asked = release.answering.asked(ANY, [[code] for code in codes.tolist()], counts, EACH_LEVEL)
    return asked.low, asked.high
