"""``pathveil simulate``: write a made-up transit week to practise on."""

from pathlib import Path
from typing import Annotated

import typer

from pathveil.cli.options import shared


def simulate(
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="Folder for taps.parquet (or taps.csv) and stops.csv."),
    ],
    riders: Annotated[int, typer.Option(help="Number of riders.")] = 1_210_096,
    stops: Annotated[int, typer.Option(help="Number of stops.")] = 1012,
    seed: Annotated[int | None, typer.Option(min=0, help="Repeat the same week.")] = None,
    csv: Annotated[bool, typer.Option("--csv", help="CSV instead of Parquet.")] = False,
    json: shared.Json = False,
) -> None:
    """Simulate a transit week at the size of the paper's STM data. The riders do not exist.

    Example: `pathveil simulate --riders 100000 --out week --csv`
    """
    from pathveil.cli.console import print_json, reported_progress, stdout_console
    from pathveil.simulated_files import write_week
    from pathveil.simulation import simulate_week

    with reported_progress(f"Simulating {riders:,} riders on {stops:,} stops"):
        week = simulate_week(riders, stops, seed=seed)
    with reported_progress("Writing"):
        taps, universe = write_week(week, out, csv=csv)
    if json:
        print_json({"taps": str(taps), "universe": str(universe), "riders": riders})
        return
    console = stdout_console()
    console.print(
        f"Simulated {riders:,} riders: {taps} (columns card_id, seq, stop_id) and {universe}.",
        highlight=False,
        markup=False,
    )
    console.print(
        f"Try: pathveil publish {taps} --universe {universe} --unit-column card_id "
        f"--order-column seq --epsilon 1 --out {out / 'release'}",
        highlight=False,
        markup=False,
    )
