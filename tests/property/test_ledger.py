"""The arithmetic of budgets against a ten-line oracle, and the limit whatever is charged."""

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.ledgers import Clock

import pathveil as pv
from pathveil.errors import LedgerError, ParameterError
from pathveil.ledger.ledger import Ledger
from pathveil.ledger.periods import PERIODS, span_of, tally
from pathveil.ledger.store import Glance

NAMES = ("north", "south", "east")
amounts = st.fractions(min_value=Fraction(1, 1000), max_value=3, max_denominator=1000)
shares = st.lists(st.tuples(st.sampled_from([None, *NAMES]), amounts), max_size=12)


def loss_of_one_person(home, releases):
    """The oracle: someone who lives in ``home`` loses what the releases that look there spend."""
    return sum((e for population, e in releases if population in (None, home)), Fraction(0))


@given(shares)
def test_the_composed_budget_is_the_largest_loss_of_any_one_person(releases):
    homes = [*NAMES, "abroad"]
    assert tally(releases).composed() == max(loss_of_one_person(home, releases) for home in homes)


@given(shares, st.sampled_from([None, *NAMES]), amounts)
def test_what_remains_is_the_most_that_keeps_everybody_within_the_limit(releases, population, more):
    limit = tally(releases).composed() + 2
    remaining = limit - tally(releases).spent_on(population)
    after = tally([*releases, (population, more)]).composed()
    assert (after <= limit) == (more <= remaining)


@given(shares)
def test_order_does_not_matter_and_nothing_is_rounded(releases):
    assert tally(releases).composed() == tally(sorted(releases, key=str)).composed()
    assert isinstance(tally(releases).composed(), Fraction)


@pytest.mark.parametrize("wrong", [0.5, 1, "1"])
def test_only_fractions_add_up(wrong):
    with pytest.raises(ParameterError, match="exactly"):
        tally([(None, wrong)])


class InMemory:
    """A store without a disk, so that hypothesis can make thousands."""

    label = "memory"

    def __init__(self):
        self.kept = []
        self.totals = None

    def read(self):
        return list(self.kept)

    def glance(self):
        return Glance(*(self.kept[:1] or [None]), *(self.kept[-1:] or [None]), self.totals)

    def row(self, number):
        return dict(enumerate(self.kept)).get(number)

    def exclusive(self, *, create=False):  # noqa: ARG002
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def rows(self):
        return list(self.kept)

    def append(self, row, totals):
        self.kept.append(row)
        self.totals = totals


steps = st.tuples(
    st.sampled_from([None, *NAMES]), amounts, st.timedeltas(timedelta(0), timedelta(days=40))
)


@given(st.lists(steps, max_size=10), amounts, st.sampled_from([None, *PERIODS]))
def test_nobody_loses_more_than_the_limit_in_any_period(run, limit, per):
    clock, ledger = Clock(), Ledger(InMemory())
    ledger._clock = clock
    ledger.init("taps", str(limit), per=per, populations=NAMES)
    accepted = []
    for population, amount, wait in run:
        clock.time += wait
        window = [
            (p, e) for at, p, e in accepted if per is None or at >= span_of(clock.time, per).start
        ]
        homes = [population] if population else [*NAMES, "abroad"]
        fits = max(loss_of_one_person(h, window) for h in homes) + amount <= limit
        try:
            ledger.dataset("taps", population).charge(pv.Budget.parse(amount))
            accepted.append((clock.time.replace(microsecond=0), population, amount))
            assert fits
        except LedgerError:
            assert not fits
    books = ledger.books()
    assert [p.epsilon for p in books.dataset("taps").payments] == [e for _, _, e in accepted]


moments = st.integers(0, 7000 * 365 * 86_400).map(
    lambda seconds: datetime(2000, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
)


@given(moments, st.sampled_from(PERIODS))
def test_periods_tile_time(moment, period):
    span = span_of(moment, period)
    assert moment in span
    assert span_of(span.start, period) == span
    assert span_of(span.end - timedelta(microseconds=1), period) == span
    assert span_of(span.end, period).start == span.end
    lengths = {"year": (365, 366), "quarter": (90, 92), "month": (28, 31), "week": (7, 7)}
    least, most = lengths.get(period, (1, 1))
    assert least <= (span.end - span.start).days <= most


def test_quarters_and_weeks_begin_where_calendars_say():
    starts = [span_of(datetime(2026, month, 15, tzinfo=UTC), "quarter").start for month in (1, 6)]
    assert [start.isoformat()[:10] for start in starts] == ["2026-01-01", "2026-04-01"]
    monday = span_of(datetime(2026, 11, 18, tzinfo=UTC), "week").start
    assert monday.weekday() == 0
    assert all(a < b for a, b in pairwise([*starts, monday]))
