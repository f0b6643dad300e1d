"""Open a release for a command."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathveil.release.release import Release


def open_release(directory: Path) -> "Release":
    """`read_release` with a progress bar.

    Raises:
        ReleaseError: if it is not a bundle, is damaged, or was changed after it was written.
    """
    from pathveil.cli.console import reported_progress
    from pathveil.release.bundle import read_release

    with reported_progress("Reading the release"):
        return read_release(directory)
