"""For every source, universe, rule and engine: a unit's trajectories depend on its own rows only.

`product` states it as a check of one combination, `people` and `columns` have the rows, `covering`
says which combinations the quick form tries. How many were tried is told at the end of the run.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import combinations, product
from zlib import crc32

import pytest
from hypothesis import given, settings
from tests.theorem import people
from tests.theorem.covering import covering, of_family, one_of_each
from tests.theorem.product import (
    CAPS,
    ENGINES,
    KEEPS,
    SPLITS,
    TIMED,
    Case,
    Setting,
    all_cases,
    check,
    expect_refusal,
    small_pieces,
)
from tests.theorem.sources import SOURCES, Place
from tests.theorem.universes import UNIVERSES

FAMILIES = (
    "csv", "excel", "parquet", "arrow", "polars", "pandas", "sqlite", "duckdb", "postgresql",
    "delta", "iceberg",
)  # fmt: skip
PARTS, MANY_PARTS = 4, 12  # of a family's combinations, so that several processes share them
_REFUSED = 4  # of each reason and family, that the quick form tries


@cache
def product_of(family: str) -> tuple[list[Case], list[Case]]:
    """The combinations of a family that there are: those that are read, and those refused."""
    cases = [case for case in all_cases([family]) if not case.is_void]
    refused = [case for case in cases if case.refusal is not None]
    return [case for case in cases if case.refusal is None], refused


@cache
def chosen() -> dict[str, list[Case]]:
    """The quick form's combinations of each family."""
    cases = covering(FAMILIES)
    return {f: [case for case in cases if case.source.family == f] for f in FAMILIES}


@pytest.fixture
def place(tmp_path, request):
    """Where sources are written; the server is started for those that need it only."""

    def made(family):
        server = request.getfixturevalue("server") if family == "postgresql" else None
        store = request.getfixturevalue("store") if family == "s3" else None
        return Place(tmp_path, server, store=store)

    return made


@pytest.fixture
def tell(record_property):
    """Counts what was tried; the numbers stand at the end of the run."""

    def told(**numbers):
        record_property("combinations", numbers)

    return told


def neighbours(setting: Setting, turn: int, singles: int):
    """Neighbours of one setting that are always tried: a flood, and some single nasty cells."""
    columns, land = setting.case.source.columns, setting.land
    yield people.flood(columns, land.labels, points=land.points)
    each = list(people.one_by_one(columns, land.labels, points=land.points))
    for number in range(min(singles, len(each))):
        yield each[(turn + number * 7) % len(each)]


def enforce(
    case: Case, place: Place, *, singles: int, examples: int, also: Sequence[str] = ()
) -> Counter[str]:
    """Check one combination with several neighbours; how many of both there were.

    Engines that are named in ``also`` read the flood too, if they take such a case. They must find
    the trajectories that the case's own engine finds without it: everybody's, and the same.
    """
    turn = crc32(str(case).encode()) >> 3
    with pytest.MonkeyPatch.context() as patch:
        if turn % 2:
            small_pieces(patch)
        setting = Setting.of(case, place)
        before = setting.trajectories(setting.rows)
        assert people.PEOPLE <= before.total() <= case.cap * people.PEOPLE
        tried = 0
        for hostile in neighbours(setting, turn, singles):
            check(setting, before, hostile, people.PLACED[(turn + tried) % len(people.PLACED)])
            tried += 1
        if examples:
            tried += _by_hypothesis(setting, before, turn, examples)
        others = [other for other in case.by(also) if other.refusal is None]
        for other in others:
            beside = Setting.of(other, place)
            check(beside, before, next(neighbours(beside, turn, 0)), people.PLACED[turn % 4])
        return Counter(read=1 + len(others), neighbours=tried + len(others))


def _by_hypothesis(setting: Setting, before, turn: int, examples: int) -> int:
    tried = 0
    rows = people.hostile_rows(
        setting.case.source.columns, setting.land.labels, points=setting.land.points
    )

    @settings(max_examples=examples, database=None)
    @given(rows)
    def others_stay_the_same(hostile):
        nonlocal tried
        check(setting, before, hostile, people.PLACED[(turn + tried) % len(people.PLACED)])
        tried += 1

    others_stay_the_same()
    return tried


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("family", FAMILIES)
def test_a_units_trajectories_depend_on_its_own_rows_only(family, part, place, tell):
    cases = chosen()[family][part::PARTS]
    where = place(family)
    tried = Counter()
    for case in cases:
        quick = case.engine == "memory"
        tried += enforce(case, where, singles=2 * quick, examples=2 * quick)
    tell(**tried)


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_refused_is_refused_for_a_stated_reason_whatever_the_rows(family, place, tell):
    reasons = {}
    for case in sorted(product_of(family)[1], key=lambda case: crc32(str(case).encode())):
        reasons.setdefault(case.refusal, []).append(case)
    refused = [case for some in reasons.values() for case in some[:_REFUSED]]
    where = place(family)
    for case in refused:
        expect_refusal(Setting.of(case, where))
    tell(refused=len(refused))


@pytest.mark.long
@pytest.mark.parametrize("part", range(MANY_PARTS))
@pytest.mark.parametrize("family", [*FAMILIES, "s3"])
def test_the_whole_product(family, part, place, tell):
    """Source × universe × split × keep × engine, and their families × all of these × grid × c."""
    read, _ = product_of(family)
    cases = list(one_of_each([case for case in read if case.engine == "memory"]))
    where = place(family)
    tried = Counter()
    for case in cases[part::MANY_PARTS]:
        tried += enforce(case, where, singles=1, examples=0, also=["duckdb"])
    tell(**tried)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_whole_product_has_every_source_with_every_rule_and_every_family_with_all(family):
    read, _ = product_of(family)
    tried = list(one_of_each(read))
    of_source = {(c.source.name, c.universe, c.split, c.keep, c.engine) for c in read}
    assert {(c.source.name, c.universe, c.split, c.keep, c.engine) for c in tried} == of_source
    assert set(map(of_family, tried)) == set(map(of_family, read))
    # What DuckDB reads beside the engine in memory is all that it can read.
    beside = {str(other) for c in tried if c.engine == "memory" for other in c.by(["duckdb"])}
    assert beside >= {str(c) for c in tried if c.engine == "duckdb"}


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_all_that_is_refused(family, place, tell):
    refused = list(one_of_each(product_of(family)[1]))
    where = place(family)
    for case in refused:
        expect_refusal(Setting.of(case, where))
    tell(refused=len(refused))


def test_the_quick_form_has_every_source_and_every_pair_of_choices():
    quick = [case for cases in chosen().values() for case in cases]
    never_read = {s.name for s in SOURCES if "float ids" in s.name} | {"pandas:lists"}
    assert {case.source.name for case in quick} == {
        source.name for source in SOURCES if source.family in FAMILIES
    } - never_read
    engines = [engine for engine in ENGINES if engine != "spark"]
    choices = [FAMILIES, UNIVERSES, SPLITS, KEEPS, engines, TIMED, CAPS]
    tried = [
        (
            case.source.family,
            case.universe,
            case.split,
            case.keep,
            case.engine,
            case.timed,
            case.cap,
        )
        for case in quick
    ]
    for first, second in combinations(range(len(choices)), 2):
        wanted = set(product(choices[first], choices[second]))
        missing = wanted - {(case[first], case[second]) for case in tried}
        # (A database's rows have no order, so that a time must give it.)
        assert missing == set(), (first, second)
