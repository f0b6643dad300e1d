"""Which combinations the quick form tries: every source, and every pair of choices together.

The families of sources, the universes, the splits, what is kept, the engines, time grids and caps
are crossed pair by pair (and each source with two or more of them); the long form tries the whole
product.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from zlib import crc32

from tests.theorem.product import CAPS, ENGINES, KEEPS, SPLITS, TIMED, Case
from tests.theorem.sources import SOURCES, SourceKind
from tests.theorem.universes import UNIVERSES

_LEAST = 2  # cases of each source
_CANDIDATES = 40  # cases of each source that are looked at
_STRIDE = 389  # a prime, so that every case has its turn


def _pairs(case: Case) -> set[tuple[object, ...]]:
    choices = (
        case.source.family, case.universe, case.split, case.keep, case.engine, case.timed, case.cap,
    )  # fmt: skip
    return set(combinations(enumerate(choices), 2))


def _worth(case: Case, wanted: set[tuple[object, ...]]) -> float:
    """The new pairs of a case; out of core a case takes ten times as long as in memory."""
    return len(_pairs(case) & wanted) * (1 if case.engine == "memory" else 0.3)


def covering(families: Sequence[str]) -> list[Case]:
    """Cases of some families: each source with a few, and together every pair of choices.

    Greedy: of each source in turn the case with the most pairs that are new.
    """
    found = {s.name: _candidates(s) for s in SOURCES if s.family in families}
    candidates = {name: some for name, some in found.items() if some}
    wanted = set().union(*(_pairs(case) for some in candidates.values() for case in some))
    chosen: list[Case] = []
    for least in (_LEAST, 0):  # first some of every source, then whatever brings a new pair
        for some in candidates.values():
            taken = 0
            while taken < least or least == 0:
                best = max(some, key=lambda case: _worth(case, wanted))
                if least == 0 and not _pairs(best) & wanted:
                    break
                some.remove(best)
                wanted -= _pairs(best)
                chosen.append(best)
                taken += 1
    return chosen


def _candidates(source: SourceKind) -> list[Case]:
    """Some cases of a source that are not refused, spread over all of them."""
    choices = list(product(UNIVERSES, SPLITS, KEEPS, ENGINES, TIMED, CAPS))
    first = crc32(source.name.encode())
    some = []
    for turn in range(len(choices)):
        case = Case(source, *choices[(first + turn * _STRIDE) % len(choices)])
        if case.refusal is None and not case.is_void:
            some.append(case)
        if len(some) == _CANDIDATES:
            break
    return some


def one_of_each(cases: list[Case]) -> Iterator[Case]:
    """Of each source, universe, split, keep and engine of these cases one; and of each family all.

    With or without a time grid, and c = 1 or 2, take turns among the sources of a family, so that
    the family, the universe, the split, what is kept, the engine, the time grid and c are crossed
    in full. Cases are added where a family has fewer sources than there are turns.
    """
    groups: dict[tuple[object, ...], list[Case]] = {}
    for case in cases:
        rules = (case.universe, case.split, case.keep, case.engine)
        groups.setdefault((case.source.name, *rules), []).append(case)
    crossed = set()
    for (source, universe, split, keep, _), some in groups.items():
        turn = _NUMBERS[source] + crc32(f"{universe}{split}{keep}".encode())
        case = some[turn % len(some)]
        crossed.add(of_family(case))
        yield case
    for case in cases:
        if of_family(case) not in crossed:
            crossed.add(of_family(case))
            yield case


def of_family(case: Case) -> tuple[object, ...]:
    """All choices of a case, but of its source the family only."""
    rules = (case.universe, case.split, case.keep, case.engine, case.timed, case.cap)
    return (case.source.family, *rules)


_NUMBERS = {source.name: number for number, source in enumerate(SOURCES)}
