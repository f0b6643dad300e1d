"""INTERNAL pages: what is computed from raw data says so, and stays out of releases."""

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pathveil.errors import ParameterError, ReleaseError
from pathveil.folders import new_parents
from pathveil.pages.report import templates
from pathveil.promise.certificate import CERTIFICATE_FILE
from pathveil.release.file_records import INTERNAL_MARK

PREFIX = f"{INTERNAL_MARK}-"
NOTICE = (
    "INTERNAL: these figures were computed from the raw data and are not differentially private. "
    "Do not publish them, and do not put them into a release."
)


# The INTERNAL watermark: what is computed from raw data says so, and stays out of releases.


def internal_path(path: Path) -> Path:
    """The path under which an artefact is written: its name begins with ``INTERNAL-``.

    Raises:
        ParameterError: if it has no name, as a folder's "." has none.
        ReleaseError: if it would lie inside a release bundle.
    """
    if not path.name:
        raise ParameterError("The figures need the name of a file, such as evaluation.html.")
    folder = path.absolute().parent
    refuse_bundle(folder)
    return path if path.name.startswith(PREFIX) else path.with_name(PREFIX + path.name)


def refuse_bundle(folder: Path) -> None:
    """Refuse a folder that is a release bundle, or lies in one.

    Raises:
        ReleaseError: if it is.
    """
    resolved = folder.resolve()
    for above in (resolved, *resolved.parents):
        if (above / CERTIFICATE_FILE).exists():
            raise ReleaseError(
                f"{above} is a release bundle, and INTERNAL figures must not be published with "
                "it. Write them to another folder."
            )


def write_internal(path: Path, text: str) -> Path:
    """Write a text artefact, whole or not at all, readable by its owner only.

    Returns:
        Where it was written: see `internal_path`.

    Raises:
        ReleaseError: if the place is in a bundle or can't be written.
    """
    target = internal_path(path)
    try:
        with new_parents(target):
            _write_atomically(target, text)
    except OSError as error:
        raise ReleaseError(f"Can't write {target}: {error.strerror or 'write failed'}.") from None
    return target


def _write_atomically(target: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{PREFIX}", dir=target.parent)
    staged = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        staged.replace(target)
    finally:
        staged.unlink(missing_ok=True)


def stamped(values: Mapping[str, object]) -> dict[str, object]:
    """A JSON object with the watermark in front."""
    return {"internal": True, "notice": NOTICE, **values}


# HTML pages from the templates: one file each, no scripts, no network, labels escaped.


@dataclass(frozen=True, slots=True)
class Chart:
    """A drawn chart.

    Attributes:
        svg: the drawing.
        caption: what it shows, for those who can't see it too.
    """

    svg: str
    caption: str


def render(template: str, **values: Any) -> str:
    """Fill a template; the INTERNAL banner is always there."""
    environment = templates("trials.evaluation", "pages")  # the style is that of the report
    environment.filters["number"] = number
    return environment.get_template(template).render(notice=NOTICE, **values)


def number(value: float) -> str:
    """A figure for people: whole numbers whole, others with three significant places."""
    if float(value).is_integer():
        return f"{value:,.0f}"
    return f"{value:,.3f}" if abs(value) >= 0.01 else f"{value:.2g}"  # noqa: PLR2004
