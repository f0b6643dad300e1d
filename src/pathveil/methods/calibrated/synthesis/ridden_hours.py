"""At which times of the day does anybody ride at all? By Bayes' rule, from noisy tables of times.

Nobody rides at three in the morning, on no day; or on weekends only. A noisy count of one such hour
does not show it, but others help to tell: the same time of other days, the beginnings of
trajectories, whose noise is smaller, and the times next to it, because a night is one stretch. So
for every time of the day, on working days and on weekends, two explanations are weighed:

- nobody rides: all its counts are noise;
- somebody does: it has A visits on a usual day, and B beginnings; on other days in proportion to
  what the whole day has. Of A no more is said than a mean (an exponential prior, whose mean is the
  one that the ridden hours turn out to have), and no more of B/A (uniform from 0 to twice what
  such days have together, and at most 1: a beginning is a visit).

How much likelier one makes the counts than the other is exact, by the law of their noise. Before
the counts are seen, the times of a day, which goes round, are a chain: each is ridden or not like
the one before it with some chance, and on weekends as on working days with another. Nothing is
said of these chances either: all of them from a half to 1 are averaged.

What is given up follows from this (`occupied_slots`): there is no constant to tune, only grids to
compute on. All of it is post-processing: it sees noisy tables and the public grid.
"""

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pathveil.statistics.denoise import posterior_means
from pathveil.statistics.noisy_table import NoisyTable
from pathveil.times.time_grid import DAY, SINCE_MONDAY, TimeGrid

Floats = NDArray[np.float64]

# The grids on which is computed. A count of so many scales of its noise is as clear as any larger.
CLEAR = 20.0
AMOUNTS = np.arange(0.0, 2 * CLEAR, 0.25)  # of A, in scales of the noise of visits
BEGINNINGS = np.arange(9) / 8  # of B/A
STAYS = np.arange(0.525, 1.0, 0.05)  # chances to be like the time before, or like other days
ROUNDS = 5  # until the mean of the ridden hours agrees with itself
_TINY = 1e-300
SATURDAY = 5  # days after Monday


class Calendar(NamedTuple):
    """What each slot of a grid is. int64, shape (T,) all three.

    Attributes:
        time: the number of its time of the day.
        day: the number of its day.
        kind: 1 on a weekend, 0 else, and where all days are alike.
    """

    time: NDArray[np.int64]
    day: NDArray[np.int64]
    kind: NDArray[np.int64]

    @classmethod
    def of(cls, grid: TimeGrid) -> "Calendar":
        """By the wall clock of the grid."""
        starts = np.array(grid.starts, dtype=np.int64)
        number = starts // DAY
        if grid.kind == "day":
            weekend = np.zeros(len(starts), dtype=np.bool_)
        else:
            first = SINCE_MONDAY // DAY if grid.kind == "dates" else 0
            weekend = (number + first) % 7 >= SATURDAY
        return cls(
            np.unique(starts % DAY, return_inverse=True)[1].astype(np.int64),
            np.unique(number, return_inverse=True)[1].astype(np.int64),
            np.unique(weekend, return_inverse=True)[1].astype(np.int64),
        )

    @property
    def shape(self) -> tuple[int, int]:
        """How many kinds of days, and times of the day."""
        return int(self.kind.max()) + 1, int(self.time.max()) + 1

    @property
    def hour(self) -> NDArray[np.int64]:
        """Kind and time together."""
        return self.kind * self.shape[1] + self.time


def occupied_slots(visits: NoisyTable, beginnings: NoisyTable, grid: TimeGrid) -> NDArray[np.bool_]:
    """The slots that are not taken for empty; bool, shape (T,).

    Times of the day are given up, the least likely first, as long as that lowers what is expected
    to be wrong: visits released where nobody rides, of all that are released, and visits lost, of
    all that were made. Where noise explains everything this is nobody's gain, and all are kept.

    Args:
        visits: the table `SLOTS`.
        beginnings: the table `FIRST_SLOTS`.
        grid: whose slots they are.
    """
    calendar = Calendar.of(grid)
    ridden = chances(visits, beginnings, calendar).ravel()
    each = posterior_means(visits.counts, visits.noise).value
    likely = np.bincount(calendar.hour, each, len(ridden))
    order = np.argsort(ridden, kind="stable")
    made, released = (ridden * likely)[order], likely[order]
    # Entry n: if the first n are given up.
    lost = np.append(0.0, np.cumsum(made)) / max(made.sum(), _TINY)
    right = np.append(np.cumsum(made[::-1])[::-1], 0.0)
    kept = np.append(np.cumsum(released[::-1])[::-1], 0.0)
    invented = 1.0 - right / np.maximum(kept, _TINY)
    occupied = np.ones(len(order), dtype=np.bool_)
    occupied[order[: int(np.argmin(lost + invented))]] = False
    found: NDArray[np.bool_] = occupied[calendar.hour]
    return found


def chances(visits: NoisyTable, beginnings: NoisyTable, calendar: Calendar) -> Floats:
    """How likely it is that anybody rides; float64, shape (kinds of days, times of the day)."""
    amounts = AMOUNTS * visits.scale
    kinds = calendar.shape[0]
    of_visits = _log_likelihood(visits, np.tile(amounts, (kinds, 1)), calendar)
    both = np.outer(BEGINNINGS, amounts)
    most_beginnings = np.minimum(2 * _beginnings_of_a_visit(visits, beginnings, calendar), 1.0)
    of_beginnings = _log_likelihood(beginnings, np.outer(most_beginnings, both), calendar)
    together = of_visits[:, None] + of_beginnings.reshape(-1, *both.shape)
    gained = together - together[:, :1, :1]  # over no visits and no beginnings
    most = gained.max(axis=(1, 2))
    likelihood = np.exp(gained - most[:, None, None]).mean(axis=1)
    least = visits.scale / 8
    mean = max(float(visits.counts.mean()), least)
    ridden = np.ones(len(most))
    for _ in range(ROUNDS):
        prior = np.exp(-amounts / mean)
        weights = likelihood * prior / prior.sum()
        sums = np.maximum(weights.sum(1), _TINY)
        ridden = _round_the_clock((np.log(sums) + most).reshape(calendar.shape)).ravel()
        mean = max(float(ridden @ (weights @ amounts / sums) / max(ridden.sum(), _TINY)), least)
    return ridden.reshape(calendar.shape)


def _beginnings_of_a_visit(
    visits: NoisyTable, beginnings: NoisyTable, calendar: Calendar
) -> Floats:
    """How many of the visits of each kind of day are beginnings."""
    first, all_of_them = (
        np.maximum(np.bincount(calendar.kind, table.counts), table.scale)
        for table in (beginnings, visits)
    )
    result: Floats = first / all_of_them
    return result


def _log_likelihood(table: NoisyTable, amounts: Floats, calendar: Calendar) -> Floats:
    """Of the counts of each kind and time, given amounts on a usual day; (kinds · times, amounts).

    Args:
        table: of all slots.
        amounts: float64, shape (kinds, amounts).
        calendar: of the slots.
    """
    of_day = np.maximum(np.bincount(calendar.day, table.counts), 0.0) + table.scale
    kind = np.zeros(len(of_day), dtype=np.int64)
    kind[calendar.day] = calendar.kind
    usual = np.bincount(kind, of_day) / np.bincount(kind)
    share = (of_day / usual[kind])[calendar.day]
    clear = CLEAR * table.scale
    expected = np.minimum(share[:, None] * amounts[calendar.kind], clear)
    gap = np.minimum(table.counts, clear)[:, None] - expected
    found = np.zeros((int(np.prod(calendar.shape)), amounts.shape[1]))
    np.add.at(found, calendar.hour, np.log(np.maximum(table.noise.weight(gap), _TINY)))
    return found


def _round_the_clock(gained: Floats) -> Floats:
    """The chance that each kind and time is ridden, by what itself and all others say.

    A state says on which kinds of days one time of the day is ridden. The chance of a row of
    states is a product of numbers, so all rows together are a product of matrices, whose trace
    closes the day.

    Args:
        gained: by how many nats an hour's own counts are likelier if it is ridden; (kinds, times).
    """
    ridden = _states(len(gained))
    alike = np.stack([(ridden == state).sum(axis=1) for state in ridden])
    agree = (ridden == ridden[:, :1]).all(axis=1)[:, None]
    # For each chance to stay and each to agree a matrix.
    stays, agrees = STAYS[:, None, None, None], STAYS[:, None, None]
    move = stays**alike * (1 - stays) ** (len(gained) - alike)
    move = (move * np.where(agree, agrees, 1 - agrees)).reshape(-1, *alike.shape)
    alone, size_alone = _products(np.broadcast_to(move, (gained.shape[1], *move.shape)))
    own = gained.T @ ridden.T
    own = np.exp(own - own.max(axis=1, keepdims=True))
    steps = own[:, None, :, None] * move
    before, size = _products(steps)
    after, _ = _products(np.swapaxes(steps[::-1], -1, -2))
    after = np.swapaxes(after[::-1], -1, -2)
    # Round the clock: from a time over all that follow and all that precede it back to itself.
    states = np.diagonal(steps @ after[1:] @ before[:-1], axis1=-2, axis2=-1)
    states = states / states.sum(-1, keepdims=True)
    # How much likelier the counts make each pair of chances.
    evidence = size + _log_trace(before[-1]) - size_alone - _log_trace(alone[-1])
    weight = np.exp(evidence - evidence.max())
    result: Floats = (np.einsum("tcs,c->ts", states, weight / weight.sum()) @ ridden).T
    return result


def _states(kinds: int) -> Floats:
    """All ways for kinds of days to be ridden (1) or not (0); shape (2^kinds, kinds)."""
    return np.array(list(itertools.product((0.0, 1.0), repeat=kinds)))


def _log_trace(matrices: Floats) -> Floats:
    result: Floats = np.log(np.trace(matrices, axis1=-2, axis2=-1))
    return result


def _products(steps: NDArray[np.float64]) -> tuple[Floats, Floats]:
    """Products of the first 0, 1, … steps, but for a factor; and the logarithm of the last's."""
    found = np.empty((len(steps) + 1, *steps.shape[1:]))
    found[0] = np.eye(steps.shape[-1])
    size = np.zeros(steps.shape[1])
    for number, step in enumerate(steps):
        product = found[number] @ step
        largest = product.max(axis=(-2, -1))
        found[number + 1] = product / largest[:, None, None]
        size += np.log(largest)
    return found, size
