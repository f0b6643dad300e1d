"""Open a release for a command."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathveil.release.release import Release


def open_release(directory: Path, read: "Callable[[Path], Release] | None" = None) -> "Release":
    """`read_release` with a progress bar; what it warns of is said even with --quiet.

    Args:
        directory: the bundle.
        read: reads it, with further checks; None for `read_release` itself.

    Raises:
        ReleaseError: if it is not a bundle, is damaged, or was changed after it was written.
    """
    from pathveil.cli.console import error_console, reported_progress
    from pathveil.errors import UnknownVersionWarning
    from pathveil.release.bundle import read_release

    with warnings.catch_warnings(record=True) as told, reported_progress("Reading the release"):
        warnings.simplefilter("always", UnknownVersionWarning)
        release = (read or read_release)(directory)
    for one in told:
        error_console().print(
            f"WARNING: {one.message}",
            style="bold red",
            markup=False,
            highlight=False,
            soft_wrap=True,
        )
    return release
