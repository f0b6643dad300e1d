"""What `pathveil plan` says about choices: c, a height and a universe that are still open."""

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from fractions import Fraction

    from pathveil.model.parameters import Parameters

SIZES = (100, 1_000, 10_000)


def choices_as_json(parameters: "Parameters") -> dict[str, object]:
    """For scripts: what other numbers of trajectories per unit would cost, and what is open."""
    from pathveil.model.contribution_forecast import contribution_forecasts

    return {
        "delta": str(parameters.delta),
        "height_is_open": parameters.height_is_open,
        "choices_of_c": [
            {
                "max_trajectories_per_unit": choice.trajectories,
                "epsilon_per_trip": str(choice.epsilon_per_trip),
                "noise": choice.noise,
                "smallest_count_likely_to_survive": choice.survives,
            }
            for choice in contribution_forecasts(parameters)
        ],
    }


def print_choices(parameters: "Parameters") -> None:
    """A table of c with advice, and what is still open."""
    from pathveil.cli.console import print_table, stdout_console
    from pathveil.model.contribution_forecast import ADVICE, contribution_forecasts

    own = parameters.max_trajectories_per_unit
    print_table(
        "Other numbers of trajectories per unit (c) with the same ε",
        ["c", "ε/c", "noise per count", "a path needs about so many trajectories"],
        [
            (
                f"{choice.trajectories} (this plan)"
                if choice.trajectories == own
                else choice.trajectories,
                str(choice.epsilon_per_trip),
                f"{choice.noise:,.1f}",
                f"{choice.survives:,}",
            )
            for choice in contribution_forecasts(parameters)
        ],
        numbers={0, 1, 2, 3},
    )
    console = stdout_console()
    for line in (ADVICE, *_open_choices(parameters)):
        console.print(line, highlight=False)


def _open_choices(parameters: "Parameters") -> list[str]:
    """What a run will choose from the data, and what it pays for that."""
    said = [
        f"From ε, {one.budget} goes to {one.name} (noise ± {_noise(one.epsilon)}): {one.rule}."
        for one in parameters.preparations
    ]
    if parameters.height_is_open:
        said.append(
            f"The height is not chosen yet; all of this is for the largest, {parameters.height}."
        )
    return said


def _noise(epsilon: "Fraction") -> str:
    from pathveil.model.forecast import noise_deviation

    return f"{noise_deviation(epsilon):,.1f}"


def discovery_as_json(parameters: "Parameters") -> dict[str, Any]:
    """For scripts: what can be said before the universe is known."""
    found = _discovery(parameters)
    return {
        "epsilon": str(parameters.budget),
        "delta": str(parameters.delta),
        "height": parameters.height,
        "height_is_open": parameters.height_is_open,
        "max_trajectories_per_unit": parameters.max_trajectories_per_unit,
        "discovery": {
            "budget": str(parameters.preparations[0].budget),
            "threshold": found.threshold,
            "smallest_count_likely_to_be_named": found.needed,
        },
        "if_the_universe_has": {
            str(size): {"noise": noise, "smallest_count_likely_to_survive": survives}
            for size, (noise, survives) in found.sizes.items()
        },
    }


def print_discovery(parameters: "Parameters") -> None:
    """What can be said before the universe is known: what labels and paths need to be seen."""
    from pathveil.cli.console import print_table, stdout_console

    found = _discovery(parameters)
    print_table(
        f"Forecast for ε = {parameters.budget}, δ = {parameters.delta}, an unknown universe",
        ["if so many are named", "noise per count", "a path needs about so many trajectories"],
        [
            (f"{size:,}", f"{noise:,.1f}", f"{survives:,}")
            for size, (noise, survives) in found.sizes.items()
        ],
        numbers={0, 1, 2},
    )
    console = stdout_console()
    for line in (
        f"A label needs about {found.needed:,} trajectories to be named (with 95% certainty).",
        *_open_choices(parameters),
        "For a whole forecast, say how many you expect: --universe-size N.",
    ):
        console.print(line, highlight=False)


class _Discovery(NamedTuple):
    """θ of a label, the count with which it is named, and (noise, survivor) by size of |L|."""

    threshold: int
    needed: int
    sizes: dict[int, tuple[float, int]]


def _discovery(parameters: "Parameters") -> _Discovery:
    from pathveil.model.contribution_forecast import first_level
    from pathveil.model.forecast import noise_deviation, smallest_survivor
    from pathveil.model.label_discovery import discovery_threshold

    naming = parameters.preparations[0]
    contribution = parameters.max_trajectories_per_unit
    threshold = discovery_threshold(naming.epsilon, contribution, naming.delta)
    sizes = {}
    for size in SIZES:
        epsilon, least = first_level(parameters.with_universe_size(size))
        sizes[size] = (noise_deviation(epsilon), smallest_survivor(least, epsilon))
    return _Discovery(threshold, smallest_survivor(threshold, naming.epsilon), sizes)
