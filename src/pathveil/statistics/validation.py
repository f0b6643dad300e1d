"""Validation: how many trajectories answer some questions that nothing is fitted to.

The questions are of the kinds that people ask a release: two or three locations in any order or in
this one, one straight after another, from the first to the last, the first two. Which ones, and in
which order they stand, is fixed before this table looks at the data: by public numbers and what was
published before (`statistics.validation_queries`). The synthesis never sees the answers; the error
model compares them with the released ones, and so finds out how far such answers are off.

A trajectory answers one question: the first, in their order, that it answers at all. So it adds at
most 1 to one cell, however many it would answer; what that cuts is cut from the released
trajectories, too, before they are compared.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import compiled
from pathveil.statistics.constants import TYPICAL_QUERY
from pathveil.statistics.outlook import Outlook
from pathveil.statistics.statistic import VALIDATED, OneCell, Rows, Scope, Visit

# Kinds of questions. The numbers are those of the kernel below.
PAIR, TRIPLE, ORDERED, ORDERED_TRIPLE, MOVE, TRIP, PREFIX = range(7)
QUERY_KINDS = (PAIR, TRIPLE, ORDERED, ORDERED_TRIPLE, MOVE, TRIP, PREFIX)
_THREE = (TRIPLE, ORDERED_TRIPLE)


@dataclass(frozen=True, eq=False)
class Queries:
    """Questions, in the order in which a trajectory looks for one that it answers.

    Attributes:
        kind: int8; of `QUERY_KINDS`.
        locations: int32, shape (q, 3); positions of different candidates. Only triples look at the
            third.
    """

    kind: NDArray[np.int8]
    locations: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.kind)

    @property
    def can_be_asked(self) -> NDArray[np.bool_]:
        """Which are about different locations."""
        one, two, three = self.locations.T
        apart = (one != three) & (two != three) | ~np.isin(self.kind, _THREE)
        result: NDArray[np.bool_] = (one != two) & apart
        return result

    @cached_property
    def by_rarest(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Where the questions of each location start among them sorted by it, and all of them.

        Each stands with the one of its locations that the fewest questions are about, so likely
        the one that the fewest trajectories visit: who does not visit it need not look at it. A row
        is (which question, the rarest of its other locations, its kind, its locations); of two
        locations the second is there twice.
        """
        locations = self.locations.copy()
        of_two = ~np.isin(self.kind, _THREE)
        locations[of_two, 2] = locations[of_two, 1]
        asked = np.bincount(locations.ravel())[locations]
        each = np.arange(len(self))
        rarest = locations[each, asked.argmin(axis=1)]
        asked[locations == rarest[:, np.newaxis]] = len(self) * locations.shape[1] + 1
        other = locations[each, asked.argmin(axis=1)]
        order = np.argsort(rarest, kind="stable")
        rows = np.column_stack((each, other, self.kind, locations))[order].astype(np.int32)
        return np.searchsorted(rarest[order], np.arange(locations.max(initial=-1) + 2)), rows


def scattered(count: int, stream: int) -> NDArray[np.float64]:
    """Public numbers in [0, 1) that look random (splitmix64), the same in every run."""
    with np.errstate(over="ignore"):
        word = np.arange(1, count + 1, dtype=np.uint64) + np.uint64(stream << 32)
        word *= np.uint64(0x9E3779B97F4A7C15)
        word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        word ^= word >> np.uint64(31)
    numbers: NDArray[np.float64] = (word >> np.uint64(11)).astype(np.float64) / 2.0**53
    return numbers


def public_queries(named: int, of_each: int = 8) -> Queries:
    """Questions about any candidates, some of each kind: from nothing but their number."""
    kind = np.tile(np.array(QUERY_KINDS, dtype=np.int8), of_each)
    drawn = np.stack([scattered(len(kind), stream) * named for stream in (1, 2, 3)], axis=1)
    drawn_from = Queries(kind, drawn.astype(np.int32))
    kept = drawn_from.can_be_asked
    return Queries(kind[kept], drawn_from.locations[kept])


class Validation(OneCell):
    """See above."""

    name = "validation"
    words = "questions that nothing is fitted to, which tell how far answers are off"
    because = "it answers the first of the questions that it answers at all"
    stage = VALIDATED
    of_candidates = True

    def size(self, scope: Scope) -> int:
        """One cell for each question."""
        return len(queries_of(scope))

    def is_open(self, scope: Scope) -> bool:
        """Whether there is any question."""
        return len(queries_of(scope)) > 0

    def cell(self, rows: Rows, scope: Scope) -> NDArray[np.int64]:
        """The question."""
        nobody = np.zeros(0, dtype=np.int64)
        return answered(rows.offsets, rows.positions, *queries_of(scope).by_rarest, nobody)[0]

    def oracle(self, visits: Sequence[Visit], scope: Scope, cap: int) -> Iterator[int]:
        """One question after the other."""
        path = [scope.position_of(visit.location) for visit in visits]
        queries = queries_of(scope)
        asked = zip(queries.kind.tolist(), queries.locations.tolist(), strict=True)
        found = (i for i, (kind, locations) in enumerate(asked) if _answers(path, kind, locations))
        yield from [first for first in [next(found, None)] if first is not None]

    def typical(self, outlook: Outlook) -> float:
        """Questions that some share of all trajectories answer."""
        return outlook.total * TYPICAL_QUERY

    def worth(self, outlook: Outlook, usual: float) -> float:
        """Nothing if nobody goes anywhere: single locations have errors of their own."""
        return usual if outlook.mean_distinct > LEAST_MEAN_DISTINCT else 0.0


LEAST_MEAN_DISTINCT = 1.0005


def queries_of(scope: Scope) -> Queries:
    """The questions that were chosen, or public ones."""
    if scope.queries is None:
        return public_queries(scope.named)
    return scope.queries


def _answers(path: Sequence[int | None], kind: int, locations: Sequence[int]) -> bool:
    """Whether a trajectory answers a question, slowly."""
    asked = locations if kind in _THREE else locations[:2]
    if kind in (PAIR, TRIPLE):
        return set(asked) <= set(path)
    if kind in (ORDERED, ORDERED_TRIPLE):
        left = iter(path)
        return all(location in left for location in asked)
    if kind == MOVE:
        return any(list(path[i : i + 2]) == asked for i in range(len(path)))
    if kind == TRIP:
        return len(path) > 1 and [path[0], path[-1]] == asked
    return list(path[:2]) == asked


@compiled
def answered(  # noqa: C901, PLR0912, PLR0915  (a kernel: it calls nothing)
    offsets: NDArray[np.int64],
    codes: NDArray[np.int32],
    starts: NDArray[np.int64],
    questions: NDArray[np.int32],
    weights: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The first question that each row answers, −1 if it answers none; and all answers.

    The latter by (question, the first that the same row answers).

    Args:
        offsets: int64; where each row begins, and the end.
        codes: int32; positions among the candidates, or their number for any other location.
        starts: see `Queries.by_rarest`; nothing is asked about the locations beyond.
        questions: likewise.
        weights: int64; how often each row counts in the answers to all questions that it answers,
            first or not. Empty: then they are not counted, and rows look no further than the first.
    """
    size, none = len(starts) - 1, len(questions)
    cell = np.full(len(offsets) - 1, -1, dtype=np.int64)
    counted = none if len(weights) else 0
    all_answers = np.zeros((counted, counted), dtype=np.float64)
    met = np.empty(counted, dtype=np.int64)  # the questions that a row answers
    seen_in = np.full(size, -1, dtype=np.int64)
    first_at = np.zeros(size, dtype=np.int64)
    last_at = np.zeros(size, dtype=np.int64)
    asked = np.empty(size, dtype=np.int64)  # the locations of a row that questions stand with
    for row in range(len(offsets) - 1):
        begin, end = offsets[row], offsets[row + 1]
        found = 0
        for i in range(begin, end):
            code = codes[i]
            if code >= size:
                continue
            if seen_in[code] != row:
                seen_in[code] = row
                first_at[code] = i
                asked[found] = code
                found += starts[code] < starts[code + 1]
            last_at[code] = i
        best, many = none, 0
        for i in range(found):
            for at in range(starts[asked[i]], starts[asked[i] + 1]):
                if questions[at, 0] >= best and len(weights) == 0:
                    break
                if seen_in[questions[at, 1]] != row:
                    continue
                one, two, three = questions[at, 3], questions[at, 4], questions[at, 5]
                if seen_in[one] != row or seen_in[two] != row or seen_in[three] != row:
                    continue
                what = questions[at, 2]
                if what in (PAIR, TRIPLE):
                    is_answered = True
                elif what == ORDERED:
                    is_answered = first_at[one] < last_at[two]
                elif what == TRIP:
                    is_answered = codes[begin] == one and codes[end - 1] == two
                elif what == PREFIX:
                    is_answered = codes[begin] == one and codes[begin + 1] == two
                else:
                    is_answered = False
                    for j in range(first_at[one] + 1, last_at[three] + 1):
                        if codes[j] != two:
                            continue
                        is_answered = codes[j - 1] == one if what == MOVE else j < last_at[three]
                        if is_answered:
                            break
                if is_answered:
                    best = min(best, questions[at, 0])
                    if counted:
                        met[many] = questions[at, 0]
                        many += 1
        if best < none:
            cell[row] = best
            for i in range(many):
                all_answers[met[i], best] += weights[row]
    return cell, all_answers


VALIDATION = Validation()
