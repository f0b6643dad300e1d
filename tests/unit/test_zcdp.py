"""From ρ to (ε, δ): never too small, nearly as small as can be, and the other way round."""

from fractions import Fraction
from math import exp, log, sqrt

import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from pathveil.core.budget import Budget
from pathveil.core.zcdp import Concentrated, _is_kept
from pathveil.errors import ParameterError

ctx.prec = 300
DELTAS = [Fraction(1, 10**5), Fraction(1, 10**9), Fraction(1, 10**30)]
epsilons = st.integers(1, 5000).map(lambda n: Fraction(n, 50))


def smallest_delta(rho, epsilon):
    """The δ that is proved for a good α, by FLINT's balls."""

    def at(alpha):
        a = arb(alpha.numerator) / alpha.denominator
        r, e = (arb(x.numerator) / x.denominator for x in (rho, epsilon))
        return ((a - 1) * (a * r - e) + a * (1 - 1 / a).log() - (a - 1).log()).exp()

    # The best α is near 1 + (the log of 1/δ)/(ε − αρ): a fine grid about it on both sides.
    grid = [1 + exp(step / 40) for step in range(-120, 600)]
    tried = (Fraction(alpha).limit_denominator(10**6) for alpha in grid)
    return min((at(alpha) for alpha in tried), key=lambda ball: float(ball.mid()))


@settings(max_examples=25)
@given(epsilons, st.sampled_from(DELTAS))
def test_what_is_claimed_follows(epsilon, delta):
    given = Concentrated.within(epsilon, delta)
    assert given.keeps(epsilon)
    true = arb(delta.numerator) / delta.denominator
    assert smallest_delta(given.rho, epsilon) <= true * arb(1.01)  # the grid is not the best α
    # Little is given away: a thousandth more ρ is not proved any more.
    assert not Concentrated(given.rho * Fraction(1001, 1000), delta).keeps(epsilon)


@given(epsilons, st.sampled_from(DELTAS))
def test_there_and_back(epsilon, delta):
    given = Concentrated.within(epsilon, delta)
    assert given.epsilon <= epsilon * Fraction(100_001, 100_000)
    assert given.keeps(given.epsilon)
    assert not given.keeps(given.epsilon * Fraction(999, 1000))


def test_it_is_below_the_well_known_bound():
    """ρ + 2√(ρ·ln(1/δ)), of Bun and Steinke; and R is what the documentation says."""
    given = Concentrated.within(Fraction(1), Fraction(1, 10**9))
    assert given.rho == Fraction(14973, 10**6)
    rho = float(given.rho)
    assert 1 < rho + 2 * sqrt(rho * log(1e9)) < 1.15


@pytest.mark.parametrize("order", [17, 40, 600, 10**5])
def test_the_integers_never_prove_what_is_false(order):
    """For a fixed α, just above and just below the δ that the formula gives."""
    rho, alpha = Fraction(1, 1000), order / 16
    epsilon = Fraction(round((alpha * 0.001 + 20 / (alpha - 1)) * 1000), 1000)
    true = exp((alpha - 1) * (alpha * 0.001 - float(epsilon)) + alpha * log(1 - 1 / alpha)) / (
        alpha - 1
    )
    assert _is_kept(rho, epsilon, Fraction(true * 1.000001), order)
    assert not _is_kept(rho, epsilon, Fraction(true * 0.999999), order)


def test_a_delta_of_nothing_keeps_nothing():
    assert not Concentrated(Fraction(1, 100), Fraction(0)).keeps(Fraction(1))
    with pytest.raises(ParameterError, match="leave delta out"):
        Concentrated.within(Fraction(1, 10**9), Fraction(1, 10**9))


def test_a_budget_in_rho_is_told_as_epsilon():
    budget = Budget.choose(None, rho="0.015", delta="1e-9")
    assert Concentrated(Fraction(15, 1000), Fraction(1, 10**9)).keeps(budget.epsilon)
    assert 1 < budget.epsilon < Fraction(101, 100)
