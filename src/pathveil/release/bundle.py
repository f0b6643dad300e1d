"""The release bundle on disk: written whole or not at all, read with suspicion."""

import hashlib
import json
import os
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from pydantic import ValidationError

from pathveil.errors import ParameterError, ReleaseError
from pathveil.model.certificate import CERTIFICATE_FILE, NOT_PRIVATE, Certificate
from pathveil.model.json_text import RepeatedNameError, read_json
from pathveil.model.parameters import Parameters
from pathveil.model.preparation import Preparation
from pathveil.model.taxonomy import Taxonomy
from pathveil.model.time_grid import TimeGrid
from pathveil.progress_reports import portion, report_progress
from pathveil.release import tables
from pathveil.release.datapackage import DATAPACKAGE, describe
from pathveil.release.error_table_csv import ERROR_TABLE, error_table_csv, read_error_table
from pathveil.release.file_records import SIGNATURE, check_files, file_records
from pathveil.release.measured_tree import prefix_counts
from pathveil.release.staging import probe, staged
from pathveil.release.zone_checks import read_zones
from pathveil.report.page import REPORT, render_report

if TYPE_CHECKING:
    from pathveil.release.release import Release
    from pathveil.release.signature import Signer

STAMP = "NOT-PRIVATE.txt"
INTERNAL_MARK = "INTERNAL"


def is_taken(directory: Path) -> bool:
    """Whether something is there that a release would overwrite: anything but an empty folder.

    Raises:
        ReleaseError: if it can't be the path of a folder.
    """
    if "\0" in str(directory):
        raise ReleaseError("The path of a release can't hold a NUL character.")
    try:
        if directory.is_symlink() or not directory.is_dir():
            return os.path.lexists(directory)
        return any(directory.iterdir())
    except OSError as error:
        raise ReleaseError(f"Can't write to {directory}: {error.strerror}.") from None


def check_free(directory: Path) -> None:
    """Refuse a folder that can't become a release; called before anything is read or spent.

    Raises:
        ReleaseError: if the folder is taken, or nothing can be created beside it.
    """
    if is_taken(directory):
        raise ReleaseError(
            f"{directory} exists already; a release is never overwritten. Choose a new folder."
        )
    target = directory.absolute()
    try:
        beside = next(folder for folder in target.parents if os.path.lexists(folder))
        probe(beside, target.relative_to(beside).parts)
    except OSError as error:
        raise ReleaseError(f"Can't write to {directory}: {error.strerror}.") from None


def write_bundle(
    release: "Release", directory: Path, *, csv: bool = False, signer: "Signer | None" = None
) -> Path:
    """Write the bundle; see `Release.write`."""
    check_free(directory)
    try:
        with staged(directory) as staging:
            _write_files(release, staging, csv=csv)
            report_progress(2, 3)
            certificate = release.certificate.model_copy(update={"files": file_records(staging)})
            _write_text(staging / CERTIFICATE_FILE, certificate.model_dump_json(indent=2) + "\n")
            if signer is not None:
                _write_text(staging / SIGNATURE, signer.sign(staging))
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "writing failed"
        raise ReleaseError(
            f"Could not write the release to {directory}: {reason}. No part of it was left behind."
        ) from None
    return directory


def read_release(directory: str | Path) -> "Release":
    """Read a release bundle; its hashes and its tree are checked.

    Raises:
        ReleaseError: if it is not a bundle, is damaged, or was changed after it was written.
    """
    from pathveil.release.release import Release

    directory = Path(directory)
    if "\0" in str(directory):
        raise ReleaseError("The path of a release can't hold a NUL character.")
    certificate = read_certificate(directory)
    _check_not_internal(directory)
    _check_listing(certificate)
    check_files(directory, certificate)
    report_progress(1, 3)
    choices = certificate.implementation
    universe = tables.read_locations(directory / tables.LOCATIONS, choices.universe_origin)
    record = certificate.implementation.time_grid
    grid = None if record is None else tables.read_times(directory / tables.TIMES, record)
    zones = certificate.implementation.taxonomy
    taxonomy = None if zones is None else read_zones(directory / tables.LOCATIONS, universe, zones)
    parameters = _parameters(certificate, grid, taxonomy)
    if parameters.universe_size + (zones.zones if zones else 0) != len(universe):
        raise ReleaseError("The certificate and the list of locations disagree about |L|.")
    tree = tables.read_tree(
        directory / tables.TREE,
        universe,
        parameters,
        is_private=certificate.status != NOT_PRIVATE,
    )
    if parameters.method != "calibrated":
        return Release(universe, tree, ledger=certificate.ledger).read_by(choices.trajectory_rules)
    report_progress(2, 3)
    paths = tables.read_trajectories(directory / tables.TRAJECTORIES, universe, grid)
    if not np.array_equal(prefix_counts(tree, paths), tree.estimate):
        raise ReleaseError("The estimates of the prefix tree are not those of the trajectories.")
    errors = None
    if ERROR_TABLE in certificate.files:
        errors = read_error_table(directory / ERROR_TABLE)
    release = Release(universe, tree, paths, certificate.ledger, errors=errors)
    return release.read_by(choices.trajectory_rules)


def certificate_sha256(directory: Path) -> str:
    """The hash of a bundle's certificate, which holds those of all the other files."""
    try:
        return hashlib.sha256((directory / CERTIFICATE_FILE).read_bytes()).hexdigest()
    except OSError as error:
        raise ReleaseError(
            f"Can't read {directory / CERTIFICATE_FILE}: {error.strerror}."
        ) from None


def read_certificate(directory: Path) -> Certificate:
    """The certificate of a bundle, validated against its schema."""
    path = directory / CERTIFICATE_FILE
    try:
        content = path.read_bytes()
        read_json(content)
        return Certificate.model_validate_json(content)
    except FileNotFoundError:
        raise ReleaseError(f"{directory} is not a release: it has no {CERTIFICATE_FILE}.") from None
    except OSError as error:
        raise ReleaseError(f"Can't read {path}: {error.strerror}.") from None
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"]) or "its syntax"
        raise ReleaseError(f"{path} does not match the certificate's schema, at {where}.") from None
    except RepeatedNameError:
        raise ReleaseError(
            f"{path} says something twice: readers would differ about what it says."
        ) from None
    except ValueError:
        raise ReleaseError(
            f"{path} does not match the certificate's schema, at its syntax."
        ) from None


def _check_not_internal(directory: Path) -> None:
    for path in sorted(directory.glob(f"{INTERNAL_MARK}*")):
        raise ReleaseError(
            f"{directory} holds {path.name!r}: INTERNAL figures were computed from raw data and "
            "must not be published. Remove the file."
        )


def _check_listing(certificate: Certificate) -> None:
    """The certificate lists the files that a release has, and no others."""
    needed = {tables.TRAJECTORIES, tables.TREE, tables.LOCATIONS, DATAPACKAGE, REPORT}
    if certificate.status == NOT_PRIVATE:
        needed.add(STAMP)
    if certificate.implementation.time_grid is not None:
        needed.add(tables.TIMES)
    optional = {tables.TRAJECTORIES_CSV}
    if certificate.implementation.method == "calibrated":
        optional.add(ERROR_TABLE)
    wrong = (certificate.files.keys() - optional) ^ needed
    if wrong:
        raise ReleaseError(
            "The certificate does not list exactly the files of a release: see "
            f"{', '.join(map(repr, sorted(wrong)))}."
        )


def verify_bundle(directory: Path) -> "Release":
    """Everything `read_release` checks, and that all the files tell the same story."""
    with portion(0, 1 / 3):
        release = read_release(directory)
    report_progress(1, 3)
    found, expected = read_certificate(directory), release.certificate
    if not found.adds_up():
        raise ReleaseError("The certificate's budget does not add up to its epsilon.")
    if not tables.same_trajectories(
        directory / tables.TRAJECTORIES,
        release.timed_paths(),
        release.universe,
        release.time_grid,
    ):
        raise ReleaseError("The trajectories are not those of the prefix tree.")
    report_progress(2, 3)
    if found.implementation.software_version != expected.implementation.software_version:
        return release  # another version may word its texts differently
    if found.model_copy(update={"files": {}}) != expected:
        raise ReleaseError("The certificate's words do not follow from its own parameters.")
    with portion(2 / 3, 1):
        texts = _texts(release, csv=tables.TRAJECTORIES_CSV in found.files)
    for name, text in texts.items():
        if (directory / name).read_bytes() != text.encode():
            raise ReleaseError(
                f"{directory / name} does not follow from the certificate and the prefix tree."
            )
    return release


def _parameters(
    certificate: Certificate, grid: TimeGrid | None, taxonomy: Taxonomy | None
) -> Parameters:
    choices = certificate.implementation
    try:
        return Parameters.choose(
            epsilon=certificate.privacy_loss.privacy_parameters.epsilon,
            height=choices.height,
            universe_size=choices.universe_size,
            threshold=choices.threshold,
            method=choices.method,
            max_trajectories_per_unit=choices.max_trajectories_per_unit,
            max_nodes=choices.max_nodes,
            time_grid=grid,
            taxonomy=taxonomy,
            preparations=tuple(
                Preparation(
                    choice.measurement,
                    Fraction(choice.epsilon),
                    choice.sensitivity,
                    choice.rule,
                    Fraction(choice.delta),
                )
                for choice in certificate.accounting.choices
            ),
        )
    except ParameterError as error:
        raise ReleaseError(f"The certificate's parameters can't be right: {error}") from None


def _write_files(release: "Release", folder: Path, *, csv: bool) -> None:
    universe = release.universe
    tables.write_trajectories(
        folder / tables.TRAJECTORIES,
        release.timed_paths(),
        universe,
        release.time_grid,
        is_private=release.is_private,
    )
    report_progress(1, 3)
    tables.write_tree(folder / tables.TREE, release.tree, universe)
    with portion(1 / 3, 2 / 3):
        texts = _texts(release, csv=csv)
    for name, text in texts.items():
        _write_text(folder / name, text)


def _texts(release: "Release", *, csv: bool) -> dict[str, str]:
    """The text files of a bundle, by name: a function of the release alone."""
    universe = release.universe
    texts = {
        tables.LOCATIONS: tables.locations_csv(universe, release.parameters.taxonomy),
        REPORT: render_report(release, release.certificate),
        DATAPACKAGE: json.dumps(describe(release, csv=csv), indent=2, ensure_ascii=False) + "\n",
    }
    if release.time_grid is not None:
        texts[tables.TIMES] = tables.times_csv(release.time_grid)
    if release.error_table is not None:
        texts[ERROR_TABLE] = error_table_csv(release.error_table)
    if csv:
        texts[tables.TRAJECTORIES_CSV] = tables.trajectories_csv(
            release.timed_paths(), universe, release.time_grid, release.longest
        )
    if not release.is_private:
        texts[STAMP] = (
            "NOT PRIVATE: the noise of this release came from an injected generator, which "
            "anybody may repeat. Use it for tests only; never publish it.\n"
        )
    return texts


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
