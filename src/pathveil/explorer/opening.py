"""What the explorer opens: a folder that is a whole and unchanged release, and nothing else."""

from pathlib import Path

from pathveil.errors import ReleaseError
from pathveil.model.certificate import CERTIFICATE_FILE
from pathveil.release.bundle import read_release
from pathveil.release.file_records import INTERNAL_MARK
from pathveil.release.release import Release


def open_release(directory: Path) -> Release:
    """Read a release bundle with all the checks of `read_release`.

    Raises:
        ReleaseError: if it is a file (raw data, an INTERNAL page), a folder with INTERNAL figures,
            or no release that can be trusted.
    """
    if "\0" not in str(directory):
        _refuse_what_is_none(directory)
    return read_release(directory)


def _refuse_what_is_none(directory: Path) -> None:
    try:
        is_file = directory.is_file()
        internal = not is_file and any(directory.glob(f"{INTERNAL_MARK}*"))
        is_release = (directory / CERTIFICATE_FILE).exists()
    except OSError as error:
        raise ReleaseError(f"Can't read {directory}: {error.strerror}.") from None
    if is_file:
        raise ReleaseError(
            f"{directory} is a file. The explorer opens release folders only, never raw data and "
            "never an INTERNAL page: publish the data first, then explore the folder."
        )
    if internal:
        raise ReleaseError(
            f"{directory} holds INTERNAL figures, which were computed from raw data: the explorer "
            "does not open it. Explore the release itself."
        )
    if not is_release:
        raise ReleaseError(
            f"{directory} is not a release: it has no {CERTIFICATE_FILE}. The explorer opens "
            "release folders only, as `pathveil publish` writes them."
        )
