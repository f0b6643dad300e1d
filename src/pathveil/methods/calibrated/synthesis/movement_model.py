"""How synthetic people move where the tree says nothing: one small set of weights.

At each step a trajectory ends, stays, goes back to where it was before, returns to an older
location or goes on to a new one. How likely that is depends on its last action and on how many
different locations it has seen (the measured `statistics.actions`), and is corrected by four sets
of factors: how readily people return to a location, end there, end after so many visits, and look
for new locations after so many visits. Where to: new and older locations follow the measured moves
from here, mixed with general popularity for the moves that were too rare to be measured.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pathveil.methods.calibrated.synthesis.estimates import Estimated
from pathveil.statistics.actions import ACTIONS, END, NEW
from pathveil.statistics.constants import LEAST_BACKGROUND, LEAST_VISITS
from pathveil.statistics.last_locations import LAST_LOCATIONS
from pathveil.statistics.moves import MOVES
from pathveil.statistics.visits import VISITS

# The columns of `MovementModel.by_location` and of `MovementModel.by_length`.
RETURNING, ENDING, BACKGROUND, POPULARITY = range(4)
ENDING_AFTER, NOVELTY = range(2)

GUIDE_PARTS = 4096  # about one search step for the popularity of a thousand locations


class MovementModel(NamedTuple):
    """All weights. n candidates; position n is an unnamed location.

    A named tuple of arrays, because compiled code reads it as it is.

    Attributes:
        actions: float64, shape `statistics.actions.SHAPE`.
        by_location: float64, shape (n + 1, 4). RETURNING and ENDING are factors (nobody returns to
            an unnamed location: 0); BACKGROUND is how many people leave by moves not measured, and
            POPULARITY the share of those who come.
        by_length: float64, shape (longest + 1, 2); factors by the number of visits so far.
        starts: int64, shape (n + 2,); the measured moves from x are at starts[x]:starts[x + 1].
        to: int64; their destinations, ascending for each x; one more entry that is no move.
        weight: float64; how many people make each.
        cumulative: float64; sums of ``weight`` within each x.
        sums: float64, shape (n + 1,); of the popularity.
        guide: int64; the k-th of its m parts of [0, sums[-1]) begins at location guide[k].
    """

    actions: NDArray[np.float64]
    by_location: NDArray[np.float64]
    by_length: NDArray[np.float64]
    starts: NDArray[np.int64]
    to: NDArray[np.int64]
    weight: NDArray[np.float64]
    cumulative: NDArray[np.float64]
    sums: NDArray[np.float64]
    guide: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Destinations:
    """Where people go from each location, and where in general: what is not fitted.

    The attributes are those of `MovementModel`; background and popularity are two of its columns.
    """

    background: NDArray[np.float64]
    popularity: NDArray[np.float64]
    starts: NDArray[np.int64]
    to: NDArray[np.int64]
    weight: NDArray[np.float64]
    cumulative: NDArray[np.float64]

    @classmethod
    def of(cls, known: Estimated) -> "Destinations":
        """The destinations that the measurements name, and a background for those they don't."""
        visits, actions, moves = known[VISITS].value, known[ACTIONS].value, known.listed(MOVES)
        count = len(visits)
        first, second = np.divmod(moves.listed_keys, max(count, 1))
        starts = np.searchsorted(first, np.arange(count + 2))
        running = np.cumsum(moves.value)
        before = np.concatenate((np.zeros(1), running))[starts]
        measured = np.diff(before)[:count]
        # All visits but the last are left again, and some departures are to new locations.
        going_on = actions[..., :END].sum()
        to_new = max(actions[..., NEW].sum(), 1.0) / max(going_on, 1.0)
        if known.returns is not None:
            everything = visits + known.returns
        else:  # everywhere as many as there are in all
            new = actions[..., NEW].sum() + known.total
            everything = visits * (going_on + known.total) / max(new, 1.0)
        departures = np.maximum(everything - known[LAST_LOCATIONS].value, 0.0)
        unmeasured = np.maximum(departures * to_new - measured, LEAST_BACKGROUND * measured)
        attraction = np.append(visits + LEAST_VISITS, known.unnamed_visits)
        return cls(
            # One more, so that everybody can leave; from an unnamed location it is all there is.
            np.append(unmeasured, 0.0) + 1.0,
            attraction / attraction.sum(),
            starts,
            np.append(second, -1),
            np.append(moves.value, 0.0),
            np.append(running - before[first], 0.0),
        )

    def model(
        self,
        actions: NDArray[np.float64],
        returning: NDArray[np.float64],
        ending: NDArray[np.float64],
        by_length: NDArray[np.float64],
    ) -> MovementModel:
        """Put the fitted weights beside them."""
        sums = np.cumsum(self.popularity)
        parts = np.linspace(0.0, sums[-1], GUIDE_PARTS + 1)
        return MovementModel(
            actions,
            np.column_stack((returning, ending, self.background, self.popularity)),
            by_length,
            self.starts,
            self.to,
            self.weight,
            self.cumulative,
            sums,
            np.minimum(np.searchsorted(sums, parts, side="right"), len(sums) - 1),
        )
