"""How synthetic people move where the tree says nothing: one small set of weights.

At each step a trajectory ends, stays, goes back to where it was before, returns to an older
location or goes on to a new one. How likely that is depends on its last action and on how many
different locations it has seen (the measured `statistics.actions`), and is corrected by six sets
of factors: how readily people come back to a location, stay there, end there, look for new
locations from there, end after so many visits, and look for new locations after so many visits.
Where to: new and older locations follow the measured moves from here, mixed with general popularity
for the moves that were too rare to be measured.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import njit
from pathveil.methods.calibrated.synthesis.estimates import Estimated
from pathveil.methods.calibrated.synthesis.gravity import Neighbourhood, unmeasured_moves
from pathveil.methods.calibrated.synthesis.rare_moves import RareMoves
from pathveil.methods.calibrated.synthesis.small_moves import SmallMoves, moves_in_all
from pathveil.statistics.actions import ACTIONS, END, NEW
from pathveil.statistics.constants import (
    LEAST_ANYWHERE,
    LEAST_BACKGROUND,
    LEAST_VISITS,
    LEFT_DEVIATIONS,
)
from pathveil.statistics.denoise import Estimates
from pathveil.statistics.distances import DISTANCES
from pathveil.statistics.last_locations import LAST_LOCATIONS
from pathveil.statistics.measurement_plan import MeasurementPlan
from pathveil.statistics.moves import MOVES
from pathveil.statistics.prefix_tree import LEVELS
from pathveil.statistics.returns import OFTEN
from pathveil.statistics.visits import VISITS

# The columns of `MovementModel.by_location` and of `MovementModel.by_length`.
RETURNING, ENDING, BACKGROUND, FAMILIAR, POPULARITY, EXPLORING, STAYING = range(7)
ENDING_AFTER, NOVELTY = range(2)
# And those of `MovementModel.columns`.
OWN, OTHER, KEPT = range(3)
WHOLE_COLUMN = (1 << 31) - 1

MOST_RAISED = 2.0  # times: what rare moves that are told stand for
GUIDE_PARTS = 4096  # about one search step for the popularity of a thousand locations


class MovementModel(NamedTuple):
    """All weights. n candidates; position n is an unnamed location.

    A named tuple of arrays, because compiled code reads it as it is.

    Attributes:
        actions: float64, shape `statistics.actions.SHAPE`.
        by_location: float64, shape (n + 1, 7). RETURNING, STAYING, ENDING and EXPLORING are factors
            (nobody returns to an unnamed location, or stays there: 0). BACKGROUND is how many
            people leave for anywhere, to a new location; FAMILIAR the same weight for where
            somebody was before; and POPULARITY the share of those who come.
        by_length: float64, shape (longest + 1, 2); factors by the number of visits so far.
        starts: int64, shape (n + 2,); the listed moves from x are at starts[x]:starts[x + 1]:
            those that were measured and, with a map, those that it tells.
        to: int64; their destinations, ascending for each x; one more entry that is no move.
        weight: float64; how many people make each.
        columns: int32, shape (moves, 3); to draw a listed move at once (Walker's alias method):
            any from x, then with probability KEPT / `WHOLE_COLUMN` to OWN and else to OTHER.
        listed: float64, shape (n + 1,); sums of ``weight`` for each x.
        sums: float64, shape (n + 1,); of the popularity.
        guide: int64; the k-th of its m parts of [0, sums[-1]) begins at location guide[k].
        lingering: how likely who goes on from an unnamed location goes to another such one, because
            it is one; the others go on as from the last location that has a name.
        is_lost: whether who goes on from an unnamed location goes anywhere instead: with a map.
    """

    actions: NDArray[np.float64]
    by_location: NDArray[np.float64]
    by_length: NDArray[np.float64]
    starts: NDArray[np.int64]
    to: NDArray[np.int64]
    weight: NDArray[np.float64]
    columns: NDArray[np.int32]
    listed: NDArray[np.float64]
    sums: NDArray[np.float64]
    guide: NDArray[np.int64]
    lingering: float
    is_lost: bool


@dataclass(frozen=True, slots=True, eq=False)
class Destinations:
    """Where people go from each location, and where in general.

    The attributes are those of `MovementModel`, the first three are among its columns; and

    Attributes:
        measured: int64; which of the listed moves were measured, in the order of their table; -1
            if nobody makes one.
        leaving: float64, shape (n,); how many people go on to a new location from each, about,
            under the cap of the table of moves.
        beside: float64, as ``measured``; what of their weights is background, which stays.
        lingering, is_lost: as of `MovementModel`.
    """

    background: NDArray[np.float64]
    familiar: NDArray[np.float64]
    popularity: NDArray[np.float64]
    starts: NDArray[np.int64]
    to: NDArray[np.int64]
    weight: NDArray[np.float64]
    columns: NDArray[np.int32]
    listed: NDArray[np.float64]
    measured: NDArray[np.int64]
    leaving: NDArray[np.float64]
    beside: NDArray[np.float64]
    lingering: float = 0.0
    is_lost: bool = False

    @classmethod
    def of(
        cls,
        known: Estimated,
        plan: MeasurementPlan,
        near: Neighbourhood | None = None,
        rare: RareMoves | None = None,
        small: SmallMoves | None = None,
    ) -> "Destinations":
        """The destinations that the measurements name, and a background for those they don't.

        Args:
            known: the denoised tables.
            plan: the public caps with which they were measured.
            near: the map; without it the background is general popularity.
            rare: what an earlier release of the series says of moves that are not listed.
            small: what their noisy counts say, if there is none.
        """
        visits, moves = known[VISITS].value, known.listed(MOVES)
        count = len(visits)
        first, second = np.divmod(moves.listed_keys, max(count, 1))
        measured = np.bincount(first, moves.value, count).astype(np.float64)
        # On the scale of the table, whose cap cuts what is measured.
        in_all = _moves_from(known, plan, measured)
        unmeasured = np.maximum(in_all - measured, LEAST_BACKGROUND * measured)
        # One more, so that everybody can leave; from an unnamed location it is all there is.
        familiar = np.append(unmeasured, 0.0) + 1.0
        attraction = np.append(visits + LEAST_VISITS, known.unnamed_visits)
        popularity = attraction / attraction.sum()
        # An unnamed location is a destination like any other; nobody knows how far it is.
        to_unnamed, lingering = _unnamed_moves(known, plan)
        is_mapped = near is not None and DISTANCES in known.tables
        if near is None or not is_mapped:
            told = (first, second, moves.value)
            leaving = _all_from(known, plan, measured) if MOVES in plan else measured
            anywhere = familiar
            by_chance = unmeasured * (popularity[-1] / (1.0 - popularity[-1]))
            unnamed = np.maximum((measured + unmeasured) * to_unnamed - by_chance, 0.0)
        else:
            found = unmeasured_moves(
                near,
                moves.listed_keys,
                moves.value,
                in_all,
                unlisted_to(_moves_to(known, plan), second, moves),
                known[DISTANCES],
            )
            told = (
                np.concatenate((first, found.first)),
                np.concatenate((second, found.second)),
                np.concatenate((moves.value, found.moves)),
            )
            leaving = measured + np.bincount(found.first, found.moves, count) + found.elsewhere
            anywhere = np.append(found.elsewhere + LEAST_ANYWHERE * leaving + LEAST_VISITS, 1.0)
            unnamed = leaving * to_unnamed
        first = np.concatenate((told[0], np.arange(count)))
        second = np.concatenate((told[1], np.full(count, count)))
        weight = np.concatenate((told[2], unnamed))
        # Three lists in order are merged: that is what this sort is quick at.
        order = np.argsort(first * (count + 1) + second, kind="stable")
        order = order[weight[order] > 0]
        place = np.full(len(first), -1)
        place[order] = np.arange(len(order))
        model = cls(
            anywhere,
            familiar,
            popularity,
            *listed_moves(first[order], second[order], weight[order], count),
            place[: len(moves.value)],
            leaving,
            np.zeros(len(moves.value)),
            0.0 if is_mapped else lingering,
            is_mapped,
        )
        return model._told(rare, small, moves)

    def _told(
        self, rare: RareMoves | None, small: SmallMoves | None, listed: Estimates
    ) -> "Destinations":
        """With what else is known of the moves that are not listed."""
        if rare is not None:
            return self.with_rare(rare, listed)
        return self if small is None else self.with_small(small, listed)

    def with_rare(self, rare: RareMoves, listed: Estimates) -> "Destinations":
        """The same, with the moves that are not listed as an earlier release tells them, too."""
        count = len(self.starts) - 2
        model = self._matrix()
        model, unnamed = model[:-1, :-1].copy(), model[:-1, -1:]
        # What is listed follows from the same noise: it must not explain it.
        model.ravel()[listed.listed_keys] -= listed.value
        value = rare.estimates(model.ravel())
        model.ravel()[listed.listed_keys] = value[listed.listed_keys] = 0.0
        value = value.reshape(count, count)
        # As many as the model says leave for them, if they can tell where to.
        there, found = model.sum(axis=1), value.sum(axis=1)
        value *= np.minimum(there / np.maximum(found, 1.0), MOST_RAISED)[:, None]
        anywhere = np.maximum(there - value.sum(axis=1), LEAST_ANYWHERE * there) + LEAST_VISITS
        value.ravel()[listed.listed_keys] = listed.value
        value = np.hstack((value, unnamed))
        first, second = np.nonzero(value)
        place = np.full(value.shape, -1)
        place[first, second] = np.arange(len(first))
        return replace(
            self,
            background=np.append(anywhere, self.background[-1]),
            measured=place[:, :-1].ravel()[listed.listed_keys],
            **listed_moves(first, second, value[first, second], count)._asdict(),
        )

    def with_small(self, small: SmallMoves, listed: Estimates) -> "Destinations":
        """The same, with the moves that are not listed as their noisy counts tell them, too."""
        count = len(self.starts) - 2
        value = self._matrix()[:-1]
        moves = value[:, :-1].ravel()
        background = moves[listed.listed_keys] - listed.value
        moves[listed.listed_keys] = 0.0  # they are told already
        value[:, :-1] = small.told(moves, listed, mapped=self.is_lost).reshape(count, count)
        value[np.divmod(listed.listed_keys, count)] = listed.value + background
        first, second = np.nonzero(value)
        place = np.full(value.shape, -1)
        place[first, second] = np.arange(len(first))
        anywhere = np.append(LEAST_ANYWHERE * value.sum(axis=1) + LEAST_VISITS, 1.0)
        return replace(
            self,
            background=anywhere,
            familiar=anywhere,
            measured=place[:, :-1].ravel()[listed.listed_keys],
            beside=background,
            **listed_moves(first, second, value[first, second], count)._asdict(),
        )

    def _matrix(self) -> NDArray[np.float64]:
        """How many go from each location to each, listed or not; shape (n + 1, n + 1)."""
        first = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        matrix = np.outer(self.background, self.popularity)
        matrix[first, self.to[:-1]] += self.weight[:-1]
        np.fill_diagonal(matrix, 0.0)
        return matrix

    def reweighed(self, ratios: NDArray[np.float64]) -> "Destinations":
        """With other weights of the moves that were measured: so many times as large."""
        weight = self.weight[:-1].copy()
        made = self.measured >= 0
        at, beside = self.measured[made], self.beside[made]
        weight[at] = beside + (weight[at] - beside) * ratios[made]
        count = len(self.starts) - 2
        first = np.repeat(np.arange(count + 1), np.diff(self.starts))
        starts, to, weight, columns, listed = listed_moves(first, self.to[:-1], weight, count)
        return replace(self, starts=starts, to=to, weight=weight, columns=columns, listed=listed)

    def model(
        self,
        actions: NDArray[np.float64],
        returning: NDArray[np.float64],
        ending: NDArray[np.float64],
        exploring: NDArray[np.float64],
        staying: NDArray[np.float64],
        by_length: NDArray[np.float64],
    ) -> MovementModel:
        """Put the fitted weights beside them."""
        sums = np.cumsum(self.popularity)
        parts = np.linspace(0.0, sums[-1], GUIDE_PARTS + 1)
        return MovementModel(
            actions,
            np.column_stack(
                (
                    returning,
                    ending,
                    self.background,
                    self.familiar,
                    self.popularity,
                    exploring,
                    staying,
                )
            ),
            by_length,
            self.starts,
            self.to,
            self.weight,
            self.columns,
            self.listed,
            sums,
            np.minimum(np.searchsorted(sums, parts, side="right"), len(sums) - 1),
            self.lingering,
            self.is_lost,
        )


class _Rows(NamedTuple):
    starts: NDArray[np.int64]
    to: NDArray[np.int64]
    weight: NDArray[np.float64]
    columns: NDArray[np.int32]
    listed: NDArray[np.float64]


def listed_moves(
    first: NDArray[np.int64], second: NDArray[np.int64], moves: NDArray[np.float64], count: int
) -> _Rows:
    """Moves in ascending order as ``starts``, ``to``, ``weight``, ``columns`` and ``listed``."""
    starts = np.searchsorted(first, np.arange(count + 2))
    listed = np.bincount(first, moves, count + 1).astype(np.float64)
    # Memory of NumPy's has large pages, and that of compiled code small ones: walkers jump about.
    columns = np.empty((len(second), 3), dtype=np.int32)
    _fill_columns(columns, starts, second.astype(np.int32), moves, listed)
    return _Rows(starts, np.append(second, -1), np.append(moves, 0.0), columns, listed)


@njit(cache=True, nogil=True)
def _fill_columns(
    columns: NDArray[np.int32],
    starts: NDArray[np.int64],
    to: NDArray[np.int32],
    weight: NDArray[np.float64],
    listed: NDArray[np.float64],
) -> None:
    """Columns of the same height: what is too high fills up what is too low (Vose 1991)."""
    height = np.empty(len(to))
    low = np.empty(len(to), dtype=np.int64)
    high = np.empty(len(to), dtype=np.int64)
    for x in range(len(starts) - 1):
        lows = highs = 0
        for i in range(starts[x], starts[x + 1]):
            columns[i, OWN] = columns[i, OTHER] = to[i]
            columns[i, KEPT] = WHOLE_COLUMN
            height[i] = weight[i] / listed[x] * (starts[x + 1] - starts[x])
            if height[i] < 1.0:
                low[lows] = i
                lows += 1
            else:
                high[highs] = i
                highs += 1
        while lows > 0 and highs > 0:
            lows -= 1
            filled, giving = low[lows], high[highs - 1]
            columns[filled, KEPT] = int(height[filled] * WHOLE_COLUMN)
            columns[filled, OTHER] = to[giving]
            height[giving] -= 1.0 - height[filled]
            if height[giving] < 1.0:
                low[lows] = giving
                lows += 1
                highs -= 1


def _departures(known: Estimated) -> NDArray[np.float64]:
    """All visits but the last are left again."""
    visits, actions = known[VISITS].value, known[ACTIONS].value
    if known.returns is not None:
        everything = visits + known.returns[:OFTEN].sum(axis=0)
    else:  # everywhere as many as there are in all
        new = actions[..., NEW].sum() + known.total
        everything = visits * (actions[..., :END].sum() + known.total) / max(new, 1.0)
    departures: NDArray[np.float64] = np.maximum(everything - known[LAST_LOCATIONS].value, 0.0)
    return departures


def _share_to_new(known: Estimated) -> float:
    """Some departures are to new locations."""
    actions = known[ACTIONS].value
    going_on = actions[..., :END].sum()
    return float(max(actions[..., NEW].sum(), 1.0) / max(going_on, 1.0))


def _unnamed_moves(known: Estimated, plan: MeasurementPlan) -> tuple[float, float]:
    """How many move to an unnamed location for each who moves among the candidates; `lingering`."""
    in_all, one, both = (moves_in_all(known, plan, ends) for ends in range(3))
    if one >= in_all or both <= 0:
        return 0.0, 0.0
    # How likely the next location has a name, if this one has and if it has not.
    from_named, from_unnamed = both / one, (one - both) / (in_all - one)
    return one / both - 1.0, max(1.0 - from_unnamed / from_named, 0.0)


def _moves_from(
    known: Estimated, plan: MeasurementPlan, measured: NDArray[np.float64]
) -> NDArray[np.float64]:
    """How many of them begin at each candidate: by its departures, at least what was measured."""
    departures = _departures(known) + LEAST_VISITS
    in_all = moves_in_all(known, plan)
    missing = np.maximum(departures * (in_all / departures.sum()) - measured, 0.0)
    missing += LEAST_ANYWHERE * departures
    left = max(in_all - measured.sum(), LEAST_ANYWHERE * in_all)
    moves: NDArray[np.float64] = measured + missing * (left / missing.sum())
    return moves


def _all_from(
    known: Estimated, plan: MeasurementPlan, measured: NDArray[np.float64]
) -> NDArray[np.float64]:
    """How many moves begin at each candidate, wherever they end; some are never listed."""
    departures = _departures(known) + LEAST_VISITS
    moves = departures * (moves_in_all(known, plan, ends=1) / departures.sum())
    leaving: NDArray[np.float64] = np.maximum(moves, (1.0 + LEAST_BACKGROUND) * measured)
    return leaving


def _moves_to(known: Estimated, plan: MeasurementPlan) -> NDArray[np.float64]:
    """How many of them end there: whoever visits it, but those who begin there."""
    beginnings = known.listed(LEVELS[0])
    begun = np.zeros(known.scope.named)
    begun[beginnings.listed_keys] = beginnings.value
    coming = np.maximum(known[VISITS].value - begun, 0.0) + LEAST_VISITS
    arriving: NDArray[np.float64] = coming * (moves_in_all(known, plan) / coming.sum())
    return arriving


def unlisted_to(
    coming: NDArray[np.float64], second: NDArray[np.int64], moves: Estimates
) -> NDArray[np.float64]:
    """How many of those who come to each candidate do so by moves that are not listed.

    Whom the listed moves bring does not come once more by the others: to a hub, or to where only
    one leads, all moves may be listed. What is left is a difference of noisy counts, so nobody is
    taken to be out of reach.
    """
    listed = np.bincount(second, moves.value, len(coming))
    noise = LEFT_DEVIATIONS * np.sqrt(np.bincount(second, moves.variance, len(coming)))
    unsure = np.minimum(noise + LEAST_BACKGROUND * coming, coming)
    left: NDArray[np.float64] = np.maximum(coming - listed, 0.0) + unsure
    return left
