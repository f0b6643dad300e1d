"""Which threshold the reproduction uses, and why: the paper's explodes on large universes."""

from dataclasses import dataclass

from pathveil.core.budget import Budget
from pathveil.core.methods import FULL
from pathveil.core.parameters import Parameters
from pathveil.core.thresholds import paper_threshold
from pathveil.trials.reproduction.plan import BASE_EPSILON, BASE_HEIGHT, RUNTIME_HEIGHT, Plan


@dataclass(frozen=True, slots=True)
class Threshold:
    """A choice of θ for every cell.

    Attributes:
        choice: "paper", "auto" or a whole number, as text.
        why: what the page says about it.
        paper_fits: whether the paper's threshold could be run at all settings.
    """

    choice: str
    why: str
    paper_fits: bool


def choose_threshold(
    plan: Plan, asked: str | None, *, universe_size: int, contribution: int, max_nodes: int
) -> Threshold:
    """The asked threshold; if none was, the paper's where all its trees fit, else auto.

    Looks at public parameters only.

    Raises:
        TreeTooLargeError: if the asked threshold's expected tree does not fit at some setting.
        ParameterError: if it is malformed.
    """
    settings = [*plan.settings(), (BASE_EPSILON, RUNTIME_HEIGHT)]
    expected = {
        (epsilon, height): sum(
            _at_papers_threshold(epsilon, height, universe_size, contribution).expected_nodes()
        )
        for epsilon, height in settings
    }
    largest = max(expected, key=expected.__getitem__)
    paper_fits = expected[largest] <= max_nodes
    why = _forecast(universe_size, contribution) + (
        f" The largest tree, at ε = {largest[0]} and h = {largest[1]}, is expected to have "
        f"{expected[largest]:,.3g} nodes that nobody's data accounts for, which "
        f"{'fits' if paper_fits else 'does not fit'} the limit of {max_nodes:,}."
    )
    if asked is None:
        return Threshold("paper" if paper_fits else "auto", why, paper_fits)
    for epsilon, height in settings:
        Parameters.choose(
            epsilon=epsilon,
            height=height,
            universe_size=universe_size,
            threshold=asked,
            max_trajectories_per_unit=contribution,
            max_nodes=max_nodes,
            method=FULL.name,
        )
    return Threshold(asked, f"It was asked for. {why}", paper_fits)


def _at_papers_threshold(
    epsilon: str, height: int, universe_size: int, contribution: int
) -> Parameters:
    """The paper's parameters, whether or not anybody could run them."""
    budget = Budget.parse(epsilon)
    theta = paper_threshold(budget.split(height * contribution))
    return Parameters(budget, height, universe_size, theta, FULL.name, contribution)


def _forecast(universe_size: int, contribution: int) -> str:
    base = _at_papers_threshold(BASE_EPSILON, BASE_HEIGHT, universe_size, contribution)
    return (
        f"At the paper's threshold (θ = {base.threshold} at ε = {BASE_EPSILON} and "
        f"h = {BASE_HEIGHT}) every node is expected to invent {base.invented_per_node:.3g} "
        f"children on {universe_size:,} locations."
    )
