"""The release bundle on disk: written whole or not at all, read with suspicion."""

import hashlib
import json
import os
import warnings
from dataclasses import replace
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from pydantic import ValidationError

from pathveil.core.methods import Method
from pathveil.core.parameters import Parameters
from pathveil.core.preparations import Preparation
from pathveil.core.texts import RepeatedNameError, read_json
from pathveil.errors import ParameterError, ReleaseError, UnknownVersionWarning
from pathveil.folders import Reserved, check_free, staged
from pathveil.methods.calibrated.measured_tree import prefix_counts
from pathveil.pages.report import REPORT, render_report
from pathveil.plain_files import read_plain
from pathveil.progress_reports import portion, report_progress
from pathveil.promise.certificate import CERTIFICATE_FILE, NOT_PRIVATE, SOFTWARE, Certificate
from pathveil.release import bundle_tables
from pathveil.release.bundle_tables import (
    ERROR_TABLE,
    LISTED_CELLS,
    error_table_csv,
    listed_cells_csv,
    read_error_table,
    read_listed_cells,
)
from pathveil.release.datapackage import DATAPACKAGE, describe
from pathveil.release.file_records import BACKGROUND, SIGNATURE, STAMP, check_files, file_records
from pathveil.release.zone_checks import read_zones
from pathveil.times.time_grid import TimeGrid
from pathveil.universe.background import Background
from pathveil.universe.taxonomy import Taxonomy

if TYPE_CHECKING:
    from pathveil.release.release import Release
    from pathveil.release.signature import Signer


def write_bundle(
    release: "Release",
    target: Path | Reserved,
    *,
    csv: bool = False,
    signer: "Signer | None" = None,
) -> Path:
    """Write the bundle; see `Release.write`."""
    directory = target.directory if isinstance(target, Reserved) else target
    check_free(directory)
    try:
        with staged(target) as staging:
            _write_files(release, staging, csv=csv)
            report_progress(2, 3)
            certificate = release.certificate.model_copy(update={"files": file_records(staging)})
            _write_text(staging / CERTIFICATE_FILE, _spelled(certificate))
            if signer is not None:
                _write_text(staging / SIGNATURE, signer.sign(staging))
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "writing failed"
        raise ReleaseError(
            f"Could not write the release to {directory}: {reason}. No part of it was left behind."
        ) from None
    return directory


def read_release(directory: str | Path) -> "Release":
    """Read a release bundle, with all the checks of `verify_bundle` but one.

    ``report.html`` and ``trajectories.csv`` are not drawn anew, which takes long for a large
    release: they are not read either. A bundle that says that another version of the software
    wrote it is warned of: its figures are checked, the words of its files can't be.

    Raises:
        ReleaseError: if it is not a bundle, is damaged, or was changed after it was written.
    """
    directory = Path(directory)
    release, certificate = _read_tables(directory)
    _check_figures(release, certificate, directory)
    stranger = _other_version(certificate)
    if stranger:
        warnings.warn(
            f"{directory} {stranger} Its figures were checked. Its texts (report.html, "
            f"{DATAPACKAGE}, the certificate's words) could not be: do not rely on them.",
            UnknownVersionWarning,
            stacklevel=2,
        )
    else:
        _check_words(release, certificate)
        _check_texts(directory, _short_texts(release, csv=_has_csv(certificate)))
    return release


def _read_tables(directory: Path) -> tuple["Release", Certificate]:
    """What the tables of a bundle say, and its certificate."""
    from pathveil.release.release import Release

    if "\0" in str(directory):
        raise ReleaseError("The path of a release can't hold a NUL character.")
    certificate = read_certificate(directory)
    check_files(directory, certificate)
    report_progress(1, 3)
    choices = certificate.implementation
    universe = bundle_tables.read_locations(
        directory / bundle_tables.LOCATIONS, choices.universe_origin
    )
    record = certificate.implementation.time_grid
    grid = (
        None
        if record is None
        else bundle_tables.read_times(directory / bundle_tables.TIMES, record)
    )
    zones = certificate.implementation.taxonomy
    how = Method.named(certificate.implementation.method)
    taxonomy = (
        None
        if zones is None
        else read_zones(
            directory / bundle_tables.LOCATIONS, universe, zones, of_tree=not how.has_tables
        )
    )
    parameters = _parameters(certificate, grid, taxonomy)
    nodes = 0 if zones is None or how.has_tables else zones.zones
    if parameters.universe_size + nodes != len(universe):
        raise ReleaseError("The certificate and the list of locations disagree about |L|.")
    tree = bundle_tables.read_tree(
        directory / bundle_tables.TREE,
        universe,
        parameters,
        is_private=certificate.status != NOT_PRIVATE,
    )
    if not parameters.how.has_tables:
        release = Release(universe, tree, ledger=certificate.ledger)
        return _told(release, certificate, directory), certificate
    report_progress(2, 3)
    paths = bundle_tables.read_trajectories(
        directory / bundle_tables.TRAJECTORIES, universe, parameters
    )
    if not np.array_equal(prefix_counts(tree, paths), tree.estimate):
        raise ReleaseError("The estimates of the prefix tree are not those of the trajectories.")
    errors = None
    if ERROR_TABLE in certificate.files:
        errors = read_error_table(directory / ERROR_TABLE)
        if LISTED_CELLS in certificate.files:
            listed = read_listed_cells(directory / LISTED_CELLS, universe)
            errors = replace(errors, listed=listed)
    release = Release(universe, tree, paths, certificate.ledger, errors=errors)
    return _told(release, certificate, directory), certificate


def _told(release: "Release", certificate: Certificate, directory: Path) -> "Release":
    """With what only the certificate tells, and what lies under the maps."""
    rules = certificate.implementation.trajectory_rules
    told = release.read_by(rules).described(certificate.about)
    told = told.accepted(certificate.acceptance)
    return told.on(_background(directory)) if BACKGROUND in certificate.files else told


def _background(directory: Path) -> Background:
    try:
        return Background.from_text(read_plain(directory / BACKGROUND))
    except ReleaseError:  # which is a ValueError, too
        raise
    except (ValueError, KeyError, TypeError):
        raise ReleaseError(f"{directory / BACKGROUND} is not as pathveil writes it.") from None


def certificate_sha256(directory: Path) -> str:
    """The hash of a bundle's certificate, which holds those of all the other files."""
    try:
        return hashlib.sha256(read_plain(directory / CERTIFICATE_FILE)).hexdigest()
    except OSError as error:
        raise ReleaseError(
            f"Can't read {directory / CERTIFICATE_FILE}: {error.strerror}."
        ) from None


def read_certificate(directory: Path) -> Certificate:
    """The certificate of a bundle, validated against its schema."""
    path = directory / CERTIFICATE_FILE
    if directory.is_file():
        raise ReleaseError(f"{directory} is a file; a release is a folder.")
    try:
        content = read_plain(path)
        read_json(content)
        return Certificate.model_validate_json(content)
    except FileNotFoundError:
        raise ReleaseError(f"{directory} is not a release: it has no {CERTIFICATE_FILE}.") from None
    except ReleaseError:  # which is a ValueError, too
        raise
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


def verify_bundle(directory: Path) -> "Release":
    """Check everything: that the files are whole, and that all of them tell the same story.

    Whatever is derived from the tables and the parameters is derived again and compared.

    Raises:
        ReleaseError: if not, or if the bundle says that another version of the software wrote it,
            whose words this one can't derive.
    """
    with portion(0, 1 / 3):
        release, certificate = _read_tables(directory)
    report_progress(1, 3)
    _check_figures(release, certificate, directory)
    stranger = _other_version(certificate)
    if stranger:
        raise ReleaseError(
            f"{directory} {stranger} Its figures agree, but its texts can't be checked here: "
            "verify it with that version."
        )
    _check_words(release, certificate)
    report_progress(2, 3)
    with portion(2 / 3, 1):
        texts = _texts(release, csv=_has_csv(certificate))
    # Other programs may take "2", 2.0 or true for something else than 2.
    texts[CERTIFICATE_FILE] = _spelled(certificate)
    _check_texts(directory, texts)
    return release


def _other_version(certificate: Certificate) -> str | None:
    """What to say of a bundle whose texts we can't derive, because others wrote them; or None."""
    found = certificate.implementation.software, certificate.implementation.software_version
    ours = SOFTWARE, version(SOFTWARE)
    if found == ours:
        return None
    said, own = (" ".join(name)[:80] for name in (found, ours))
    return f"says that {said!r} wrote it, which this one ({own}) does not know."


def _check_figures(release: "Release", certificate: Certificate, directory: Path) -> None:
    if not certificate.adds_up():
        raise ReleaseError("The certificate's budget does not add up to its epsilon.")
    # Those of a calibrated release were read from there.
    if not release.parameters.how.has_tables and not bundle_tables.same_trajectories(
        directory / bundle_tables.TRAJECTORIES,
        release.timed_paths(),
        release.universe,
        release.parameters,
    ):
        raise ReleaseError("The trajectories are not those of the prefix tree.")


def _check_words(release: "Release", certificate: Certificate) -> None:
    if certificate.model_copy(update={"files": {}}) != release.certificate:
        raise ReleaseError("The certificate's words do not follow from its own parameters.")


def _check_texts(directory: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        if read_plain(directory / name) != text.encode():
            raise ReleaseError(
                f"{directory / name} does not follow from the certificate and the prefix tree."
            )


def _spelled(certificate: Certificate) -> str:
    """The one spelling of a certificate."""
    return certificate.model_dump_json(indent=2) + "\n"


def _has_csv(certificate: Certificate) -> bool:
    return bundle_tables.TRAJECTORIES_CSV in certificate.files


def _parameters(
    certificate: Certificate, grid: TimeGrid | None, taxonomy: Taxonomy | None
) -> Parameters:
    choices, loss = certificate.implementation, certificate.privacy_loss.privacy_parameters
    try:
        parameters = Parameters.choose(
            epsilon=loss.epsilon,
            delta=certificate.gaussian_delta or None,
            rho=loss.rho if certificate.is_in_rho else None,
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
                    Fraction(choice.rho or choice.epsilon or 0),
                    choice.sensitivity,
                    choice.rule,
                    Fraction(choice.delta),
                    None if choice.expansion is None else Fraction(choice.expansion),
                    in_rho=choice.rho is not None,
                )
                for choice in certificate.accounting.choices
            ),
            purpose=choices.purpose,
        )
        if not parameters.how.has_tables:
            return parameters
        # If all of it is in ρ, that was asked for: none of it could have been in ε.
        delta = Fraction(0) if parameters.concentrated else parameters.gaussian_delta
        planned = certificate.accounting.planned(parameters.max_trajectories_per_unit, delta)
        return replace(parameters, planned=planned)
    except ParameterError as error:
        raise ReleaseError(f"The certificate's parameters can't be right: {error}") from None
    except ValueError as error:
        raise ReleaseError(f"The certificate's budget can't be right: {error}.") from None


def _write_files(release: "Release", folder: Path, *, csv: bool) -> None:
    universe = release.universe
    bundle_tables.write_trajectories(
        folder / bundle_tables.TRAJECTORIES,
        release.timed_paths(),
        universe,
        release.time_grid,
        is_private=release.is_private,
    )
    report_progress(1, 3)
    bundle_tables.write_tree(folder / bundle_tables.TREE, release.tree, universe)
    with portion(1 / 3, 2 / 3):
        texts = _texts(release, csv=csv)
    for name, text in texts.items():
        _write_text(folder / name, text)


def _texts(release: "Release", *, csv: bool) -> dict[str, str]:
    """The text files of a bundle, by name: a function of the release alone."""
    texts = _short_texts(release, csv=csv)
    texts[REPORT] = render_report(release, release.certificate)
    if csv:
        texts[bundle_tables.TRAJECTORIES_CSV] = bundle_tables.trajectories_csv(
            release.timed_paths(), release.universe, release.time_grid, release.longest
        )
    return texts


def _short_texts(release: "Release", *, csv: bool) -> dict[str, str]:
    """Those that are written in no time, however many trajectories there are."""
    universe = release.universe
    texts = {
        bundle_tables.LOCATIONS: bundle_tables.locations_csv(universe, release.parameters.taxonomy),
        DATAPACKAGE: json.dumps(describe(release, csv=csv), indent=2, ensure_ascii=False) + "\n",
    }
    if release.time_grid is not None:
        texts[bundle_tables.TIMES] = bundle_tables.times_csv(release.time_grid)
    if release.background:
        texts[BACKGROUND] = release.background.to_text()
    if release.error_table is not None:
        texts[ERROR_TABLE] = error_table_csv(release.error_table)
        if release.error_table.listed is not None:
            texts[LISTED_CELLS] = listed_cells_csv(release.error_table.listed, universe)
    if not release.is_private:
        texts[STAMP] = (
            "NOT PRIVATE: the noise of this release came from an injected generator, which "
            "anybody may repeat. Use it for tests only; never publish it.\n"
        )
    return texts


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
