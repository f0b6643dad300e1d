"""``pathveil demo``: the main job on a built-in simulated transit week."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from pathveil.cli.options import shared

WEEK = 1


def demo(
    riders: Annotated[int, typer.Option(help="Number of simulated riders.")] = 120_000,
    stops: Annotated[int, typer.Option(help="Number of stops, the size of the universe.")] = 1012,
    epsilon: shared.Epsilon = "1",
    purpose: shared.Purpose = shared.DEFAULT_PURPOSE,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the release bundle.")] = Path(
        "pathveil-demo"
    ),
    json: shared.Json = False,
) -> None:
    """Simulate a transit week, publish it, and show what was published.

    The riders do not exist, so you may look at everything.

    Example: `pathveil demo --riders 200000`
    """
    from pathveil.cli.console import reported_progress, stderr_console
    from pathveil.cli.summary import busiest, journeys, print_summary
    from pathveil.cli.terminal import Terminal
    from pathveil.core.parameters import Parameters
    from pathveil.folders import check_free
    from pathveil.gate.randomness import Randomness
    from pathveil.publishing import publish_with
    from pathveil.raw.database import TrajectoryDatabase
    from pathveil.simulation import simulate_week

    folder = _free_name(out)
    check_free(folder)
    parameters = Parameters.choose(
        epsilon=epsilon, universe_size=stops, method=shared.DEFAULT_METHOD, purpose=purpose
    )
    with reported_progress(f"Simulating {riders:,} riders on {stops:,} stops"):
        # Always the same week, so that people can compare; the noise is new every time.
        week = simulate_week(riders, stops, seed=WEEK)
        database = TrajectoryDatabase.from_arrays(week.offsets, week.codes, week.universe)
    with Terminal().publishing(parameters) as progress:
        release = publish_with(database, parameters, Randomness(), progress)
    with reported_progress("Writing"):
        release.write(folder)
    print_summary(release, folder, json=json)
    if not json:
        console = stderr_console()
        for pattern in (journeys(release)[0] or busiest(release))[:1]:
            named = week.universe.names or week.universe.labels
            asked = (named[week.universe.code(label)] for label in pattern.locations)
            command = f"pathveil count {folder} {shlex.join(asked)}"
            console.print(f"Try: {command}", markup=False, highlight=False)
        page = folder / "report.html"
        console.print(f"Or open {page} in a browser.", markup=False, highlight=False)


def _free_name(folder: Path) -> Path:
    """A release is never overwritten, so the second demo goes to pathveil-demo-2."""
    from pathveil.folders import is_taken

    candidate, number = folder, 2
    while folder.name and is_taken(candidate):
        candidate, number = folder.with_name(f"{folder.name}-{number}"), number + 1
    return candidate
