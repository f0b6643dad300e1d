"""Numbers as they are told: exact where a short text can be, and never told as exact if not."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathveil.core.told_numbers import told


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("1", "1"),
        ("1/2", "1/2"),
        ("1/3", "1/3"),
        ("14043/12500", "1.12344"),
        ("1/1000000000", "1e-9"),
        ("1/4000000", "2.5e-7"),
        ("1/8000", "0.000125"),
        ("70163/3750000", "70163/3750000 (about 0.01871)"),
        ("100000000000", "100000000000"),
    ],
)
def test_what_is_told(value, text):
    assert told(Fraction(value)) == text


@given(st.fractions(min_value=0, max_value=10**6))
def test_a_text_is_the_number_itself_or_says_about(value):
    exact, _, about = told(value).partition(" ")
    assert Fraction(exact) == value
    assert not about or about.startswith("(about ")
