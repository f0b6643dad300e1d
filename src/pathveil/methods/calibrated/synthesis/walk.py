"""The walkers: how synthetic trajectories are made, step by step. Compiled.

A location is a position among the n candidates; n is an unnamed location. Two oddities are numba's.
All of it is in one file, because its cache does not notice when a function from another file
changes. And functions are handed single arrays and have one exit each: otherwise references to the
shared arrays are counted at every step, and threads wait for one another. For the same reason
random numbers come from a generator of a few lines; nothing private rests on them.
"""

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import njit
from pathveil.methods.calibrated.synthesis.movement_model import (
    BACKGROUND,
    ENDING,
    ENDING_AFTER,
    EXPLORING,
    FAMILIAR,
    KEPT,
    NOVELTY,
    OTHER,
    OWN,
    POPULARITY,
    RETURNING,
    STAYING,
    WHOLE_COLUMN,
    MovementModel,
)
from pathveil.methods.calibrated.synthesis.tree_estimates import Continuations
from pathveil.statistics.actions import ACTION_KINDS, BACK, DISTINCT_SO_FAR, END, NEW, OLDER, STAY

# So many different locations are remembered: it bounds the work of a step.
MOST_REMEMBERED = 300
# Draws of a new location until it is new. Draws of a first one, of a step after the prefix and of
# any other step until it leads somewhere and no kept child of the tree stands for it.
NEW_TRIES, START_TRIES, FREE_STEP_TRIES, STEP_TRIES = 60, 100, 12, 3
SURELY = 0.999  # nobody ends with more than this probability
SMALLEST = 1e-300  # keeps a division by 0 away
NOWHERE, ENDED = -1, -2
NOT_WEIGHED = -1.0

compiled = njit(cache=True, nogil=True, error_model="numpy")


@compiled
def walk(  # noqa: C901, PLR0912, PLR0915  (one loop: see above)
    jobs: NDArray[np.int64], seed: int, work: Continuations, model: MovementModel
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """One trajectory for each job: their offsets, and their codes.

    Args:
        jobs: which of the continuations each trajectory begins with.
        seed: of the random numbers.
        work: the continuations.
        model: how to go on.
    """
    prefixes, prefix_lengths, _, ended, taken_starts, taken_ends, taken = work
    actions, by_location, by_length, starts, to, weight, columns, listed, sums, guide = model[:10]
    lingering, is_lost = model[10:]
    longest, unnamed = len(by_length) - 1, len(sums) - 1
    # What a walker remembers: the named locations it saw, how often, and how much they attract.
    locations = np.empty(MOST_REMEMBERED, dtype=np.int64)
    times = np.empty(MOST_REMEMBERED, dtype=np.int64)
    attractions = np.empty(MOST_REMEMBERED)
    chances = np.zeros(ACTION_KINDS)
    state = np.full(1, seed, dtype=np.uint64)
    offsets = np.zeros(len(jobs) + 1, dtype=np.int64)
    codes = np.empty(8 * len(jobs) + longest, dtype=np.int32)
    for row in range(len(jobs)):
        job, start = jobs[row], offsets[row]
        if start + longest > len(codes):
            codes = _longer(codes, start, 2 * len(codes) + longest)
        here = before = NOWHERE
        from_there = unnamed  # here, or where somebody was before unnamed locations
        previous = END  # before the first step there is no previous action
        distinct = remembered = length = 0
        most_returning = 0.0  # of all factors of returning to what is remembered
        while length < longest:
            if length < prefix_lengths[job]:
                there = prefixes[job, length]
            elif ended[job]:
                break
            elif length == 0:
                there = _first_location(
                    sums, guide, taken, taken_starts[job], taken_ends[job], state
                )
            else:
                situation = min(distinct, DISTINCT_SO_FAR) - 1
                chances[STAY] = actions[previous, situation, STAY] * by_location[here, STAYING]
                # Before the second location `before` is −1: the unnamed one, with a factor of 0.
                chances[BACK] = actions[previous, situation, BACK] * by_location[before, RETURNING]
                # As if all older locations drew people back like the one that does it most.
                # To weigh them takes long, so it is done only for who wants to return to one,
                # and some of those are sent to choose again: that is rejection sampling.
                chances[OLDER] = actions[previous, situation, OLDER] * most_returning
                older = NOT_WEIGHED
                # Who has seen every location that there is finds no new one.
                chances[NEW] = 0.0
                if (distinct < unnamed) | (by_location[unnamed, POPULARITY] > 0):
                    chances[NEW] = actions[previous, situation, NEW] * by_length[length, NOVELTY]
                    chances[NEW] *= by_location[here, EXPLORING]
                ending = actions[previous, situation, END] * by_location[here, ENDING]
                ending = min(ending * by_length[length, ENDING_AFTER], SURELY)
                free = length == prefix_lengths[job]
                tries = FREE_STEP_TRIES if free else STEP_TRIES
                there = NOWHERE
                while there == NOWHERE and tries > 0:
                    tries -= 1
                    action = END
                    if _uniform(state) >= ending:
                        action = _pick(chances, ACTION_KINDS, state)
                        while action == OLDER:
                            if older < 0:
                                older = _weigh_older(
                                    by_location, starts, to, weight, here, before,
                                    locations, times, attractions, remembered,
                                )  # fmt: skip
                            if _uniform(state) * most_returning < older:
                                break
                            chances[OLDER] *= older > 0  # who can't return need not try again
                            action = _pick(chances, ACTION_KINDS, state)
                    if action == NEW and here == unnamed and _uniform(state) < lingering:
                        there = unnamed
                    elif action == NEW:
                        there = _new_location(
                            by_location, starts, columns, listed, sums, guide,
                            from_there, locations, remembered, state,
                        )  # fmt: skip
                    elif action == OLDER:
                        there = locations[_pick(attractions, remembered, state)]
                    else:
                        there = _known_location(action, here, before)
                    if free and _is_taken(
                        taken, taken_starts[job], taken_ends[job], there, unnamed
                    ):
                        there = NOWHERE
                if there < 0:
                    break
            codes[start + length] = there
            known = _find(locations, remembered, there)
            if length > 0:
                previous = _action(there, here, before, known < remembered)
            if known < remembered:
                times[known] += 1
            else:
                distinct += 1
                if there != unnamed and remembered < MOST_REMEMBERED:
                    locations[remembered], times[remembered] = there, 1
                    most_returning = max(most_returning, by_location[there, RETURNING])
                    remembered += 1
            if previous != STAY:
                before, here = here, there
                if is_lost or here != unnamed:
                    from_there = here
            length += 1
        offsets[row + 1] = start + length
    return offsets, codes[: offsets[-1]].copy()


@compiled
def _longer(codes: NDArray[np.int32], used: int, size: int) -> NDArray[np.int32]:
    longer = np.empty(size, dtype=np.int32)
    longer[:used] = codes[:used]
    return longer


@compiled
def _first_location(
    sums: NDArray[np.float64],
    guide: NDArray[np.int64],
    taken: NDArray[np.int64],
    start: int,
    stop: int,
    state: NDArray[np.uint64],
) -> int:
    """A first location; not a taken one, unless nothing else is found."""
    there = _pick_guided(sums, guide, state)
    tries = START_TRIES
    while tries > 0 and _is_taken(taken, start, stop, there, len(sums) - 1):
        there = _pick_guided(sums, guide, state)
        tries -= 1
    return there


@compiled
def _weigh_older(
    by_location: NDArray[np.float64],
    starts: NDArray[np.int64],
    to: NDArray[np.int64],
    weight: NDArray[np.float64],
    here: int,
    before: int,
    locations: NDArray[np.int64],
    times: NDArray[np.int64],
    attractions: NDArray[np.float64],
    remembered: int,
) -> float:
    """Weigh the locations that are neither here nor before, by visits so far and moves from here.

    Writes ``attractions``, and returns by how much the factors of returning change their sum.
    """
    plain = corrected = 0.0
    start, stop = starts[here], starts[here + 1]
    # Destinations ascend: x is the x-th that is listed, or at most so many places before that.
    unlisted = len(by_location) - (stop - start)
    for i in range(remembered):
        location = locations[i]
        if location in (here, before):
            attractions[i] = 0.0
            continue
        from_here, to_here = max(location - unlisted, 0), min(location + 1, stop - start)
        move = _first_from(to, start + from_here, start + to_here, location)
        moves = weight[move] * ((move < stop) & (to[move] == location))
        moves += by_location[here, FAMILIAR] * by_location[location, POPULARITY]
        # Squared: people return to where they often are more than in proportion.
        attraction = times[i] ** 2 * moves
        plain += attraction
        attractions[i] = attraction * by_location[location, RETURNING]
        corrected += attractions[i]
    return corrected / max(plain, SMALLEST)


@compiled
def _new_location(
    by_location: NDArray[np.float64],
    starts: NDArray[np.int64],
    columns: NDArray[np.int32],
    listed: NDArray[np.float64],
    sums: NDArray[np.float64],
    guide: NDArray[np.int64],
    here: int,
    locations: NDArray[np.int64],
    remembered: int,
    state: NDArray[np.uint64],
) -> int:
    """A destination that is not remembered, or `NOWHERE` if none was found."""
    start, size = starts[here], starts[here + 1] - starts[here]
    share = listed[here] / (listed[here] + by_location[here, BACKGROUND])
    there = NOWHERE
    tries = NEW_TRIES
    while there == NOWHERE and tries > 0:
        tries -= 1
        if _uniform(state) < share:
            at = _uniform(state) * size
            i = start + int(at)
            is_kept = (at - int(at)) * WHOLE_COLUMN < columns[i, KEPT]
            there = int(columns[i, OWN] if is_kept else columns[i, OTHER])
        else:
            there = _pick_guided(sums, guide, state)
        if _find(locations, remembered, there) < remembered:
            there = NOWHERE
    return there


@compiled
def _known_location(action: int, here: int, before: int) -> int:
    if action == STAY:
        return here
    return before if action == BACK else ENDED


@compiled
def _action(there: int, here: int, before: int, known: bool) -> int:
    """What this step was, in the words of `statistics.actions`."""
    if not known:
        return NEW
    if there == here:
        return STAY
    return BACK if there == before else OLDER


@compiled
def _is_taken(taken: NDArray[np.int64], start: int, stop: int, there: int, unnamed: int) -> bool:
    """Whether a kept child stands for this step; the label of END is the unnamed location's."""
    label = unnamed if there == ENDED else there
    i = _first_from(taken, start, stop, label)
    return i < stop and taken[i] == label and there != unnamed


@compiled
def _uniform(state: NDArray[np.uint64]) -> float:
    """A uniform number in [0, 1) by SplitMix64 (Steele, Lea, Flood 2014); ``state`` is one word."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    bits = state[0]
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    bits ^= bits >> np.uint64(31)
    return np.float64(bits >> np.uint64(11)) * 2.0**-53


@compiled
def _pick(weights: NDArray[np.float64], size: int, state: NDArray[np.uint64]) -> int:
    """An index below ``size``, in proportion to its weight; the last one if all are 0."""
    total = 0.0
    for i in range(size):
        total += weights[i]
    left = _uniform(state) * total
    picked = 0
    while picked < size - 1 and left >= weights[picked]:
        left -= weights[picked]
        picked += 1
    return picked


@compiled
def _pick_guided(
    sums: NDArray[np.float64], guide: NDArray[np.int64], state: NDArray[np.uint64]
) -> int:
    """A location by popularity; see `movement_model.MovementModel` for the arrays."""
    u = _uniform(state)
    part = int(u * (len(guide) - 1))
    return _first_above(sums, guide[part], guide[part + 1], u * sums[-1])


@compiled
def _find(values: NDArray[np.int64], size: int, value: int) -> int:
    """The position of a value among the first ``size``, or ``size``."""
    i = 0
    while i < size and values[i] != value:
        i += 1
    return i


@compiled
def _first_above(values: NDArray[np.float64], start: int, stop: int, level: float) -> int:
    """The first i in [start, stop) with values[i] > level, or ``stop``; the values ascend."""
    while start < stop:
        middle = (start + stop) >> 1
        if values[middle] > level:
            stop = middle
        else:
            start = middle + 1
    return start


@compiled
def _first_from(values: NDArray[np.int64], start: int, stop: int, value: int) -> int:
    """The first i in [start, stop) with values[i] ≥ value, or ``stop``; the values ascend."""
    while start < stop:
        middle = (start + stop) >> 1
        if values[middle] >= value:
            stop = middle
        else:
            start = middle + 1
    return start
