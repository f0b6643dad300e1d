"""The release bundle on disk: written whole or not at all, read with suspicion."""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from pathveil.errors import ParameterError, ReleaseError
from pathveil.model.budget import Budget
from pathveil.model.certificate import CERTIFICATE_FILE, NOT_PRIVATE, Certificate, FileRecord
from pathveil.model.parameters import Parameters
from pathveil.release import tables
from pathveil.release.datapackage import DATAPACKAGE, describe
from pathveil.report.page import REPORT, render_report

if TYPE_CHECKING:
    from pathveil.release.release import Release

STAMP = "NOT-PRIVATE.txt"
INTERNAL_MARK = "INTERNAL"


def check_free(directory: Path) -> None:
    """Refuse a folder that is taken; called before anything is read or spent.

    Raises:
        ReleaseError: if the folder exists and is not empty, or its parent can't be written.
    """
    parent = directory.absolute().parent
    try:
        if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
            raise ReleaseError(
                f"{directory} exists already; a release is never overwritten. Choose a new folder."
            )
        parent.mkdir(parents=True, exist_ok=True)
        if not os.access(parent, os.W_OK | os.X_OK):
            raise ReleaseError(f"The folder {parent} can't be written to.")
    except OSError as error:
        raise ReleaseError(f"Can't write to {directory}: {error.strerror}.") from None


def write_bundle(release: "Release", directory: Path, *, csv: bool = False) -> Path:
    """Write the bundle; see `Release.write`."""
    check_free(directory)
    try:
        with _staged(directory) as staging:
            _write_files(release, staging, csv=csv)
            certificate = release.certificate.model_copy(update={"files": _records(staging)})
            _write_text(staging / CERTIFICATE_FILE, certificate.model_dump_json(indent=2) + "\n")
    except OSError as error:
        raise ReleaseError(
            f"Could not write the release to {directory}: {error.strerror or 'write failed'}. "
            "Nothing was left behind."
        ) from None
    return directory


def read_release(directory: str | Path) -> "Release":
    """Read a release bundle; its hashes and its tree are checked.

    Raises:
        ReleaseError: if it is not a bundle, is damaged, or was changed after it was written.
    """
    from pathveil.release.release import Release

    directory = Path(directory)
    certificate = read_certificate(directory)
    check_files(directory, certificate)
    universe = tables.read_locations(directory / tables.LOCATIONS)
    parameters = _parameters(certificate)
    if parameters.universe_size != len(universe):
        raise ReleaseError("The certificate and the list of locations disagree about |L|.")
    tree = tables.read_tree(
        directory / tables.TREE,
        universe,
        parameters,
        is_private=certificate.status != NOT_PRIVATE,
    )
    return Release(universe, tree)


def read_certificate(directory: Path) -> Certificate:
    """The certificate of a bundle, validated against its schema."""
    path = directory / CERTIFICATE_FILE
    try:
        return Certificate.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise ReleaseError(f"{directory} is not a release: it has no {CERTIFICATE_FILE}.") from None
    except OSError as error:
        raise ReleaseError(f"Can't read {path}: {error.strerror}.") from None
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"]) or "its syntax"
        raise ReleaseError(f"{path} does not match the certificate's schema, at {where}.") from None


def check_files(directory: Path, certificate: Certificate) -> None:
    """Every listed file is there and unchanged, every needed file is listed, nothing is added."""
    needed = {tables.TRAJECTORIES, tables.TREE, tables.LOCATIONS, DATAPACKAGE, REPORT}
    missing = needed - certificate.files.keys()
    if missing:
        raise ReleaseError(f"The certificate does not list {', '.join(sorted(missing))}.")
    for name in certificate.files:
        if Path(name).name != name:
            raise ReleaseError("The certificate lists a file outside the bundle.")
    try:
        present = {path.name for path in directory.iterdir()} - {CERTIFICATE_FILE}
    except OSError as error:
        raise ReleaseError(f"Can't read {directory}: {error.strerror}.") from None
    for name in sorted(present):
        if name.startswith(INTERNAL_MARK):
            raise ReleaseError(
                f"{directory} holds {name}: INTERNAL figures were computed from raw data and must "
                "not be published. Remove the file."
            )
    strange = present ^ certificate.files.keys()
    if strange:
        raise ReleaseError(
            f"The files of {directory} are not those on the certificate: "
            f"{', '.join(sorted(strange))}."
        )
    for name, record in certificate.files.items():
        if _record(directory / name) != record:
            raise ReleaseError(f"{directory / name} was changed after it was published.")


def verify_bundle(directory: Path) -> "Release":
    """Everything `read_release` checks, and that all the files tell the same story."""
    release = read_release(directory)
    expected = release.certificate.model_copy(update={"files": {}})
    found = read_certificate(directory)
    same_software = found.implementation.software_version == (
        expected.implementation.software_version
    )
    if same_software and found.model_copy(update={"files": {}}) != expected:
        raise ReleaseError("The certificate's words do not follow from its own parameters.")
    paths, labels = release.paths(), release.universe.labels
    told = [
        (tuple(labels[c] for c in paths.codes[a:b]), int(weight))
        for a, b, weight in zip(paths.offsets[:-1], paths.offsets[1:], paths.weights, strict=True)
    ]
    if tables.read_trajectories_table(directory / tables.TRAJECTORIES) != told:
        raise ReleaseError("The trajectories are not those of the prefix tree.")
    return release


def _parameters(certificate: Certificate) -> Parameters:
    choices = certificate.implementation
    try:
        return Parameters(
            Budget.parse(certificate.privacy_loss.privacy_parameters.epsilon),
            choices.height,
            choices.universe_size,
            choices.threshold,
            choices.method,
            choices.max_trajectories_per_unit,
            choices.max_nodes,
        )
    except ParameterError as error:
        raise ReleaseError(f"The certificate's parameters can't be right: {error}") from None


def _write_files(release: "Release", folder: Path, *, csv: bool) -> None:
    universe, tree, paths = release.universe, release.tree, release.paths()
    tables.write_trajectories(
        folder / tables.TRAJECTORIES, paths, universe, is_private=release.is_private
    )
    if csv:
        tables.write_trajectories_csv(
            folder / tables.TRAJECTORIES_CSV, paths, universe, release.parameters.height
        )
    tables.write_tree(folder / tables.TREE, tree, universe)
    tables.write_locations(folder / tables.LOCATIONS, universe)
    if not release.is_private:
        _write_text(
            folder / STAMP,
            "NOT PRIVATE: the noise of this release came from an injected generator, which "
            "anybody may repeat. Use it for tests only; never publish it.\n",
        )
    _write_text(folder / REPORT, render_report(release, release.certificate))
    _write_text(
        folder / DATAPACKAGE,
        json.dumps(describe(release, csv=csv), indent=2, ensure_ascii=False) + "\n",
    )


def _records(folder: Path) -> dict[str, FileRecord]:
    return {path.name: _record(path) for path in sorted(folder.iterdir())}


def _record(path: Path) -> FileRecord:
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return FileRecord(sha256=digest, bytes=path.stat().st_size)
    except OSError as error:
        raise ReleaseError(f"Can't read {path}: {error.strerror}.") from None


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


@contextmanager
def _staged(directory: Path) -> Iterator[Path]:
    """A private folder beside the target that becomes it, or is removed."""
    target = directory.absolute()
    staging = Path(tempfile.mkdtemp(prefix=".pathveil-", dir=target.parent))
    try:
        yield staging
        for path in staging.iterdir():
            with path.open("rb") as file:
                os.fsync(file.fileno())
        staging.chmod(0o755)
        staging.replace(target)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
