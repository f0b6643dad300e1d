"""The files of a bundle and their hashes: is everything there, unchanged, and nothing added?"""

import hashlib
import os
from pathlib import Path

from pathveil.core.methods import Method
from pathveil.errors import ReleaseError
from pathveil.pages.report import REPORT
from pathveil.plain_files import open_plain
from pathveil.promise.accounting import FileRecord
from pathveil.promise.certificate import CERTIFICATE_FILE, NOT_PRIVATE, Certificate
from pathveil.release import bundle_tables
from pathveil.release.bundle_tables import ERROR_TABLE, LISTED_CELLS
from pathveil.release.datapackage import DATAPACKAGE

# Added after the certificate was written, so the certificate can't list it; it lists the others.
SIGNATURE = "signature.json"
STAMP = "NOT-PRIVATE.txt"
BACKGROUND = "background.geojson"
INTERNAL_MARK = "INTERNAL"


def file_records(folder: Path) -> dict[str, FileRecord]:
    """The size and hash of every file of a folder, by name."""
    records = {path.name: _record(path) for path in sorted(folder.iterdir())}
    return {name: record for name, record in records.items() if record is not None}


def check_files(directory: Path, certificate: Certificate) -> None:
    """Every file on the certificate is there and unchanged, and there is no other.

    Raises:
        ReleaseError: if not.
    """
    _check_not_internal(directory)
    _check_listing(certificate)
    _check_names(directory, set(certificate.files))
    for name, record in certificate.files.items():
        if _record(directory / name, record.bytes) != record:
            raise ReleaseError(f"{directory / name} was changed after it was published.")


def _check_not_internal(directory: Path) -> None:
    for path in sorted(directory.glob(f"{INTERNAL_MARK}*")):
        raise ReleaseError(
            f"{directory} holds {path.name!r}: INTERNAL figures were computed from raw data and "
            "must not be published. Remove the file."
        )


def _check_listing(certificate: Certificate) -> None:
    """The certificate lists the files that a release has, and no others."""
    needed = {
        bundle_tables.TRAJECTORIES,
        bundle_tables.TREE,
        bundle_tables.LOCATIONS,
        DATAPACKAGE,
        REPORT,
    }
    if certificate.status == NOT_PRIVATE:
        needed.add(STAMP)
    if certificate.implementation.time_grid is not None:
        needed.add(bundle_tables.TIMES)
    optional = {bundle_tables.TRAJECTORIES_CSV, BACKGROUND}
    if Method.named(certificate.implementation.method).has_tables:
        optional.add(ERROR_TABLE)
        if ERROR_TABLE in certificate.files:
            optional.add(LISTED_CELLS)
    wrong = (certificate.files.keys() - optional) ^ needed
    if wrong:
        raise ReleaseError(
            "The certificate does not list exactly the files of a release: see "
            f"{', '.join(map(repr, sorted(wrong)))}."
        )


def _check_names(directory: Path, listed: set[str]) -> None:
    try:
        present = {path.name for path in directory.iterdir()} - {CERTIFICATE_FILE, SIGNATURE}
    except OSError as error:
        raise ReleaseError(f"Can't read {directory}: {error.strerror}.") from None
    if present != listed:
        strange = ", ".join(map(repr, sorted(present ^ listed)))
        raise ReleaseError(f"The files of {directory} are not those on the certificate: {strange}.")


def _record(path: Path, expected: int | None = None) -> FileRecord | None:
    """The size and hash of a file; None, unread, if its size is not the expected one."""
    try:
        with open_plain(path) as file:
            if expected is not None and os.fstat(file.fileno()).st_size != expected:
                return None
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            return FileRecord(sha256=digest, bytes=file.tell())
    except OSError as error:
        raise ReleaseError(f"Can't read {path}: {error.strerror}.") from None
