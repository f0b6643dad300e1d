"""``pathveil export``: a release as a file that other tools read."""

from pathlib import Path
from typing import Annotated

import typer

from pathveil.cli import completion
from pathveil.cli.options import shared


def export(
    directory: shared.Bundle,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The file. It may not lie in a release bundle.")
    ],
    kind: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-f",
            help="'csv' or 'parquet' (one row per visit, or with --flows a table of these), 'xlsx' "
            "(such a table), 'geojson' or 'geoparquet' (flows as lines), or 'xes' (an event log "
            "for process mining). Default: by the file's ending.",
            autocompletion=completion.one_of(completion.FORMATS),
        ),
    ] = None,
    names: Annotated[
        str,
        typer.Option(
            help="Column names of visits: 'pathveil', 'scikit-mobility', 'movingpandas' or 'gtfs'; "
            "of tables of --flows: 'pathveil', 'kepler' (kepler.gl) or 'flowmap' (flowmap.blue).",
            autocompletion=completion.one_of(completion.NAMES),
        ),
    ] = "pathveil",
    flows: Annotated[
        str | None,
        typer.Option(
            help="What to write instead of visits: 'transitions' (what directly follows what; the "
            "default of geojson and geoparquet), 'origin-destination', 'visits' (how many visit "
            "each location, with intervals) or 'visits-by-time' (by location and time slot).",
            autocompletion=completion.one_of(completion.FLOWS),
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    json: shared.Json = False,
) -> None:
    """Write a release as one file for other tools. It costs no budget.

    Example: `pathveil export release --format csv --names scikit-mobility --out visits.csv`

    Flows as a table: `pathveil export release --flows origin-destination --out od.csv`
    """
    from pathveil.cli.console import (
        open_release,
        print_json,
        reported_progress,
        stdout_console,
        warn_if_injected,
    )
    from pathveil.release.exports.writing import check_target, choose_format

    chosen = choose_format(out, kind)
    check_target(out, overwrite=force)
    release = open_release(directory)
    with reported_progress(f"Writing {chosen}"):
        release.export(out, format=chosen, names=names, flows=flows, overwrite=force)
    if json:
        print_json({"file": str(out), "format": chosen, "status": release.certificate.status})
        return
    console = stdout_console()
    warn_if_injected(release)
    console.print(f"Wrote {out} ({chosen}).", highlight=False, markup=False)
