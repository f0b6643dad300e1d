"""ε is an exact fraction: parsed from text, summed exactly, never a float."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathveil.core.budget import LARGEST, SMALLEST, Budget
from pathveil.errors import ParameterError


@pytest.mark.parametrize(
    ("written", "exact"),
    [
        ("1", Fraction(1)),
        ("0.1", Fraction(1, 10)),
        (".5", Fraction(1, 2)),
        ("1.", Fraction(1)),
        ("1/3", Fraction(1, 3)),
        (" +2.5e-1 ", Fraction(1, 4)),
        ("1e-9", SMALLEST),
        ("100", LARGEST),
        (2, Fraction(2)),
        (Fraction(2, 7), Fraction(2, 7)),
        (Decimal("0.3"), Fraction(3, 10)),
        (Budget(Fraction(1, 3)), Fraction(1, 3)),
    ],
)
def test_a_budget_is_read_exactly(written, exact):
    assert Budget.parse(written).epsilon == exact


@pytest.mark.parametrize(
    "written",
    [
        *("", " ", "-1", "0", "0/5", "1/0", "0.0000000001", "100.1", "1e3", "1e400", "1e400000000"),
        *("nan", "inf", "-inf", "1,5", "0x10", "1_000", "one", "1 2", "1//2", "1/2/3", "e5", "."),
        *("9" * 41, "1\0", "½"),
        pytest.param("9" * 5000, id="5000 digits"),
        *(0, -1, 101, Fraction(-1, 2)),
        pytest.param(10**5000, id="an integer too long to print"),
        pytest.param(Fraction(1, 10**5000), id="a fraction too long to print"),
        *(Decimal("NaN"), Decimal("Infinity"), Decimal("1e400000000"), Decimal(-1)),
        *(True, None, b"1", [1], 1j),
    ],
)
def test_what_is_not_an_exact_number_in_range_is_refused(written):
    with pytest.raises(ParameterError):
        Budget.parse(written)


def test_a_float_is_refused_and_the_message_says_what_to_write():
    with pytest.raises(ParameterError, match=r'epsilon="0\.1"'):
        Budget.parse(0.1)


@given(st.fractions(SMALLEST, LARGEST, max_denominator=10**9), st.integers(1, 1000))
def test_equal_shares_add_up_exactly(epsilon, parts):
    budget = Budget(epsilon)
    assert sum([budget.split(parts)] * parts) == epsilon
    assert Budget.parse(str(budget)) == budget


def test_a_budget_for_each_trip_is_c_times_as_much_for_a_unit():
    assert Budget.choose(None, "0.1", 10) == Budget(Fraction(1))
    assert Budget.choose(None, "1/3", 7).epsilon == Fraction(7, 3)
    assert Budget.choose("0.5", None, 10).epsilon == Fraction(1, 2)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ((None, None), "exactly one"),
        (("1", "1"), "exactly one"),
        ((None, 0.1, 10), "float"),
        ((None, "2", 51), "fewer trajectories"),
        ((None, "0", 5), "out of range"),
    ],
)
def test_a_budget_that_is_given_wrongly_is_refused(given, says):
    with pytest.raises(ParameterError, match=says):
        Budget.choose(*given)


def test_publishing_with_a_budget_for_each_trip():
    import pathveil as pv

    universe = pv.Universe(["a", "b"])
    database = pv.TrajectoryDatabase.from_arrays(
        [0, 1, 2], [0, 1], universe, max_trajectories_per_unit=4
    )
    release = pv.publish(database, epsilon_per_trip="0.5", height=2)
    assert release.parameters == pv.publish(database, epsilon="2", height=2).parameters
    with pytest.raises(ParameterError, match="exactly one"):
        pv.publish(database, height=2)
