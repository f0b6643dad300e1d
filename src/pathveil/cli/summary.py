"""What was published, as a short table or JSON. Derives from the release alone."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathveil.release.release import Release

SHOWN_PATTERNS = 5


def print_summary(release: "Release", directory: Path, *, json: bool) -> None:
    """Say what the release holds and where it is."""
    from pathveil.cli.console import print_json, print_table, stdout_console

    facts = _facts(release)
    if json:
        print_json({**facts, "bundle": str(directory)})
        return
    print_table("What was published", ["", ""], [*facts.items()], numbers={1})
    patterns = release.top_patterns(SHOWN_PATTERNS, min_length=2)
    if patterns:
        print_table(
            "Most frequent journeys",
            ["locations", "trajectories"],
            [(" → ".join(pattern.locations), pattern.support) for pattern in patterns],
            numbers={1},
        )
    console = stdout_console()
    if not release.is_private:
        console.print("NOT PRIVATE: the noise was injected.", style="bold red")
    console.print("The bundle is in", style="bold", end=" ")
    console.print(str(directory), markup=False, highlight=False)


def _facts(release: "Release") -> dict[str, object]:
    parameters, tree = release.parameters, release.tree
    return {
        "epsilon": str(parameters.budget),
        **({"delta": str(parameters.delta)} if parameters.delta else {}),
        "method": parameters.method,
        "locations in the universe": parameters.universe_size,
        **({"zones": len(parameters.taxonomy)} if parameters.taxonomy else {}),
        **({"time slots": len(parameters.time_grid)} if parameters.time_grid else {}),
        "height": parameters.height,
        "threshold": parameters.threshold,
        "trajectories per unit, at most": parameters.max_trajectories_per_unit,
        "released trajectories": len(release),
        "distinct paths": len(release.paths()),
        "tree nodes": len(tree),
        "deepest level": tree.depth,
        "status": release.certificate.status,
    }
