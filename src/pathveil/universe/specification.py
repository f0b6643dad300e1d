"""Universes in one line of text, such as ``gtfs:feed.zip`` or ``codes:1..500``."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pathveil.errors import UniverseError
from pathveil.universe.coordinates import check_number_of_cells
from pathveil.universe.universe_file import open_public

if TYPE_CHECKING:
    from pathveil.universe.universe import Universe


_RANGE = re.compile(r"([0-9]{1,18})\.\.([0-9]{1,18})")


# A list of codes: a range of whole numbers, or a text file with one code on each line.


def code_list(text: str) -> list[str]:
    """The labels of ``1..500``, or of a file.

    A range includes both ends; ``001..500`` keeps its leading zeros. A file has one code on each
    line and no header; blank lines are skipped, and so are spaces around a code.

    Raises:
        UniverseError: if the range runs backwards or is too long, or the file can't be read.
    """
    ends = _RANGE.fullmatch(text)
    return _file(Path(text)) if ends is None else _range(*ends.groups())


def is_code_range(text: str) -> bool:
    """Whether the text is a range, and not the path of a file."""
    return _RANGE.fullmatch(text) is not None


def _range(first: str, last: str) -> list[str]:
    start, stop = int(first), int(last)
    if start > stop:
        raise UniverseError(f"The codes {first}..{last} run backwards; write {last}..{first}.")
    check_number_of_cells(f"The range {first}..{last}", stop - start + 1, "use a shorter range")
    width = len(first) if first.startswith("0") else 0
    return [f"{code:0{width}}" for code in range(start, stop + 1)]


def _file(path: Path) -> list[str]:
    try:
        text = open_public(path, "code list").decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UniverseError(f"The code list {path} is not UTF-8 text; save it as UTF-8.") from None
    return [line.strip() for line in text.split("\n") if line.strip()]


# Universes in one line of text: ``gtfs:feed.zip``, ``grid:36x28:…``, ``h3:8:…``, ``codes:1..500``.
#
# The text is public and goes on the certificate as the universe's origin; of a path only the file's
# name does, because folders are nobody's business.


SPELLINGS: Final = (
    "a CSV or Parquet file",
    "gtfs:FEED.zip",
    "gtfs:stops.txt",
    "gtfs-stations:FEED.zip",
    "gtfs-merged:FEED.zip",
    "grid:ROWSxCOLS:SOUTH,WEST,NORTH,EAST",
    "h3:RESOLUTION:SOUTH,WEST,NORTH,EAST",
    "h3:RESOLUTION:AREA.geojson",
    "codes:1..500",
    "codes:FILE",
)
_SCHEME = re.compile(r"(gtfs|gtfs-stations|gtfs-merged|grid|h3|codes):(.*)", re.DOTALL)
_SHAPE = re.compile(r"([0-9]{1,9})x([0-9]{1,9})")
_LONGEST_NAME = 200


def from_spec(text: str) -> "Universe | None":
    """The universe that a text describes; None if it is not a description but a path.

    Raises:
        UniverseError: if it is a description that can't be used.
    """
    found = _SCHEME.fullmatch(text)
    if found is None:
        return None
    scheme, rest = found.groups()
    if not rest:
        raise UniverseError(f"Nothing follows {text!r}; {_expected(scheme)}.")
    return _MAKERS[scheme](rest)


def file_origin(scheme: str, path: Path) -> str:
    """A file as an origin: its name without its folder, fit to be printed."""
    name = path.name[:_LONGEST_NAME]
    return f"{scheme}:{''.join(c if c.isprintable() else '?' for c in name)}"


def _expected(scheme: str) -> str:
    forms = [form for form in SPELLINGS if form.startswith(f"{scheme}:")]
    return f"write {' or '.join(forms)}"


def _gtfs(level: str) -> "Callable[[str], Universe]":
    def make(rest: str) -> "Universe":
        from pathveil.universe.universe import Universe

        return Universe.from_gtfs(rest, level=level)  # type: ignore[arg-type]  # one of LEVELS

    return make


def _grid(rest: str) -> "Universe":
    from pathveil.universe.universe import Universe

    shape, _, box = rest.partition(":")
    sides = _SHAPE.fullmatch(shape)
    if sides is None:
        raise UniverseError(f"{shape[:40]!r} is not a number of rows and columns: 36x28.")
    return Universe.from_grid(int(sides[1]), int(sides[2]), box)


def _h3(rest: str) -> "Universe":
    from pathveil.universe.universe import Universe

    resolution, colon, area = rest.partition(":")
    if not re.fullmatch("[0-9]{1,2}", resolution) or not colon or not area:
        raise UniverseError(f"{rest[:80]!r} is not a resolution and an area: {_expected('h3')}.")
    return Universe.from_h3(int(resolution), area)


def _codes(rest: str) -> "Universe":
    from pathveil.universe.universe import Universe

    return Universe.from_codes(rest)


_MAKERS: dict[str, "Callable[[str], Universe]"] = {
    "gtfs": _gtfs("stops"),
    "gtfs-stations": _gtfs("stations"),
    "gtfs-merged": _gtfs("merged"),
    "grid": _grid,
    "h3": _h3,
    "codes": _codes,
}
