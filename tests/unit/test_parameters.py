"""What follows from the public parameters alone: θ, the forecast, and what is refused."""

from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pathveil.core.noise import SURVIVES
from pathveil.core.parameters import Parameters, paper_threshold
from pathveil.core.tree_forecast import Forecast
from pathveil.errors import ParameterError, TreeTooLargeError

DIGITS = 60  # decimal places of the references: far beyond any tie a test can meet


def choose(**choices):
    return Parameters.choose(
        **{"epsilon": "1", "height": 3, "universe_size": 10, "method": "full"} | choices
    )


def exact_pass_probability(level_epsilon, threshold):
    """p_θ = α^θ/(1 + α) with 60 digits."""
    epsilon = Decimal(level_epsilon.numerator) / Decimal(level_epsilon.denominator)
    return (-epsilon * threshold).exp() / (1 + (-epsilon).exp())


level_epsilons = st.fractions(Fraction(1, 10**6), 20, max_denominator=10**6)


@given(level_epsilons)
def test_the_papers_threshold_is_two_standard_deviations_rounded_up(level_epsilon):
    with localcontext(prec=DIGITS):
        exact = 2 * Decimal(2).sqrt() * level_epsilon.denominator / level_epsilon.numerator
        assert paper_threshold(level_epsilon) == exact.to_integral_value(ROUND_CEILING)


@settings(deadline=None)
@given(level_epsilons, st.integers(1, 10**6))
def test_the_automatic_threshold_is_the_smallest_that_invents_at_most_a_tenth(epsilon, size):
    automatic = choose(epsilon=epsilon, height=1, universe_size=size, max_nodes=10**12).threshold
    paper = paper_threshold(epsilon)
    tenth = Decimal(1) / 10
    with localcontext(prec=DIGITS):
        assert automatic >= paper
        assert size * exact_pass_probability(epsilon, automatic) <= tenth
        if automatic > paper:
            assert size * exact_pass_probability(epsilon, automatic - 1) > tenth


def test_the_threshold_follows_the_level_s_share_of_the_budget():
    assert choose(threshold="paper").threshold == 9  # 2√2·3 = 8.49
    assert choose(threshold="paper", height=6).threshold == 17
    assert choose(threshold="paper", max_trajectories_per_unit=2).threshold == 17
    assert choose(threshold="12").threshold == choose(threshold=12).threshold == 12
    assert choose(threshold=np.int64(12), height=np.int32(3)) == choose(threshold=12)


def test_contributions_scale_the_noise_but_not_the_levels_share():
    parameters = choose(epsilon="3/2", height=3, max_trajectories_per_unit=5)
    assert parameters.level_budget == Fraction(1, 2)
    assert parameters.level_epsilon == Fraction(1, 10)


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 40), st.integers(1, 5), st.integers(1, 400))  # 400·200⁴ < 10¹²
def test_expected_nodes_is_a_branching_process_of_public_parameters(threshold, height, size):
    parameters = Parameters.choose(
        epsilon="2",
        height=height,
        universe_size=size,
        threshold=threshold,
        max_nodes=10**12,
        method="full",
    )
    with localcontext(prec=DIGITS):
        growth = size * exact_pass_probability(Fraction(2, height), threshold)
        expected = [float(size * growth**level) for level in range(height)]
    assert parameters.invented_per_node == pytest.approx(float(growth))
    assert parameters.expected_nodes() == pytest.approx(expected)


def test_the_papers_threshold_explodes_on_the_papers_own_universe_and_is_refused():
    """Every node invents about 30 children at |L| = 1,012."""
    with pytest.raises(TreeTooLargeError, match="threshold 'auto'") as refused:
        choose(universe_size=1012, height=12, threshold="paper")
    assert "Nothing was spent" in str(refused.value)
    small = choose(universe_size=1012, height=2, threshold="paper")
    assert small.invented_per_node == pytest.approx(30, rel=0.1)
    # It dies out by itself only below |L| = 34.
    assert choose(universe_size=33, threshold="paper", height=100).invented_per_node < 1


def test_max_nodes_is_the_publishers_to_raise_or_lower():
    expected = sum(choose(threshold=1).expected_nodes())
    assert choose(threshold=1, max_nodes=int(expected) + 1)
    with pytest.raises(TreeTooLargeError):
        choose(threshold=1, max_nodes=int(expected))


@pytest.mark.parametrize(
    "wrong",
    [
        *({"height": value} for value in (0, -1, 1001, 10**9, 2.0, None, True)),
        *({"height": value} for value in ("0", "-3", "1001", "3.0", "9" * 5000, "tall", "")),
        *({"universe_size": value} for value in (0, -5, 2**31, 10**400, 1.5)),
        *({"max_trajectories_per_unit": value} for value in (0, -1, 10**6 + 1, 1.0, False)),
        *({"max_nodes": value} for value in (0, -1, 10**13, "many")),
        *(
            {"threshold": value}
            for value in (0, -5, "0", "-5", "++5", "1e3", "junk", "", 1.5, None)
        ),
        *({"threshold": value} for value in (10**30, "9" * 20, "9" * 5000, True, np.arange(2))),
        *({"method": value} for value in ("magic", "", None, ["full"])),
        *({"epsilon": value} for value in ("0", "-1", "1e400", 0.5)),
        {"epsilon": "1e-9", "height": 1000, "max_trajectories_per_unit": 10**6},
    ],
)
def test_what_can_not_be_a_parameter_is_refused(wrong):
    with pytest.raises(ParameterError):
        choose(**wrong)


def chance_to_survive(count, parameters):
    """P[count + X ≥ θ] for the two-sided geometric X, with 60 digits."""
    epsilon = parameters.level_epsilon
    if count >= parameters.threshold:
        below = exact_pass_probability(epsilon, count - parameters.threshold + 1)
        return 1 - below
    return exact_pass_probability(epsilon, parameters.threshold - count)


@settings(deadline=None, max_examples=60)
@given(
    st.fractions(Fraction(1, 10**4), 100, max_denominator=10**4),
    st.integers(1, 50),
    st.integers(1, 5000),
)
def test_the_forecast_names_the_smallest_count_that_survives_with_95_percent(epsilon, height, size):
    parameters = choose(epsilon=epsilon, height=height, universe_size=size)
    survives = Forecast.of(parameters).survives
    with localcontext(prec=DIGITS):
        assert chance_to_survive(survives, parameters) >= Decimal(SURVIVES) - Decimal("1e-12")
        assert chance_to_survive(survives - 1, parameters) < Decimal(SURVIVES)


def test_the_forecast_says_what_each_level_spends_and_how_noisy_it_is():
    parameters = choose(epsilon="3/2", height=4, universe_size=1012)
    forecast = Forecast.of(parameters)
    assert [line.level for line in forecast.levels] == [1, 2, 3, 4]
    assert sum(line.budget for line in forecast.levels) == parameters.budget.epsilon
    with localcontext(prec=DIGITS):
        alpha = (Decimal(-3) / 8).exp()
        deviation = float((2 * alpha).sqrt() / (1 - alpha))
    assert [line.noise for line in forecast.levels] == pytest.approx([deviation] * 4)
    first, *deeper = (line.invented for line in forecast.levels)
    assert first == forecast.invented_per_node == parameters.invented_per_node <= 0.1
    assert deeper == parameters.expected_nodes()[1:]


def test_the_forecast_of_the_smallest_budget_is_finite():
    forecast = Forecast.of(choose(epsilon="1e-9", height=1000))
    assert forecast.levels[0].noise == pytest.approx(2**0.5 * 1e12, rel=1e-6)
    assert forecast.survives > forecast.parameters.threshold
