"""``pathveil report``: the page of a release, anywhere but in its bundle."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathveil.cli.options import shared

if TYPE_CHECKING:
    from pathveil.release.release import Release


def report(
    directory: shared.Bundle,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Write the page to this file. It may not lie in a release bundle.",
        ),
    ] = None,
    show: Annotated[
        bool,
        typer.Option(
            "--open", help="Open the page in a browser; without --out, as a temporary file."
        ),
    ] = False,
    background: Annotated[
        str | None,
        typer.Option(
            "--background",
            metavar="FILE",
            help="Other public lines under the maps: a GeoJSON file, or a GTFS feed.",
        ),
    ] = None,
    previous: Annotated[
        Path | None,
        typer.Option(
            "--previous",
            metavar="DIR",
            help="An earlier release, such as last month's: the page then says what has changed "
            "since, with intervals, and dims what noise may explain.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    json: shared.Json = False,
) -> None:
    """Write the page of a release to a file, or open it. It costs no budget.

    Every bundle holds its page already, as report.html, and is never changed: this checks the
    bundle first, and writes the page that this version of pathveil makes of it. It never opens the
    one in the bundle, which somebody else may have written.

    Example: `pathveil report release --out report.html`
    """
    import shutil

    from pathveil.cli.console import (
        open_release,
        print_json,
        reported_progress,
        stdout_console,
        warn_if_injected,
    )
    from pathveil.errors import ParameterError, ReleaseError
    from pathveil.release.exports.writing import check_target
    from pathveil.universe.background import Background

    if out is None and not show:
        raise ParameterError("Say where the page goes, with --out FILE, or --open it.")
    if out is not None:
        check_target(out, overwrite=force)
    lines = None if background is None else Background.read(background)
    release = open_release(directory)
    release = release if lines is None else release.on(lines)
    earlier = None if previous is None else (_named(previous), open_release(previous))
    with reported_progress("Drawing"):
        page = _write(release, _temporary() if out is None else out, earlier)
    if show and not _opens(page):
        if out is None:
            shutil.rmtree(page.parent)
        raise ReleaseError(
            "No browser could be started; write the page with --out FILE and open it in one "
            "yourself."
        )
    if json:
        print_json({"file": str(page), "opened": show, "status": release.certificate.status})
        return
    console = stdout_console()
    warn_if_injected(release)
    done = "Opened" if out is None else "Wrote"
    console.print(f"{done} {page}.", highlight=False, markup=False)


def _named(previous: Path) -> str:
    """What an earlier release is called on the page: its folder."""
    return f"the release in {previous.name or previous}"


def _write(release: "Release", out: Path, earlier: "tuple[str, Release] | None" = None) -> Path:
    """The page, whole or not at all."""
    import os

    from pathveil.errors import ReleaseError
    from pathveil.folders import write_atomically
    from pathveil.pages.report import render_report
    from pathveil.release.differences import counted_otherwise

    otherwise = None if earlier is None else counted_otherwise(earlier[1], release)
    text = render_report(release, release.certificate, earlier, otherwise=otherwise)
    try:
        write_atomically(out, text)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "writing failed"
        raise ReleaseError(f"Could not write {out}: {reason}. Nothing was left behind.") from None
    return out


def _temporary() -> Path:
    """A place of our own for a page to look at: what lies in a bundle is never opened."""
    import tempfile

    from pathveil.pages.report import REPORT

    return Path(tempfile.mkdtemp(prefix="pathveil-report-")) / REPORT


def _opens(page: Path) -> bool:
    import webbrowser

    return webbrowser.open(page.absolute().as_uri())
