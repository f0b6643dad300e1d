"""A list of codes: a range of whole numbers, or a text file with one code on each line."""

import re
from pathlib import Path

from pathveil.errors import UniverseError
from pathveil.model.cells import check_number_of_cells
from pathveil.model.universe_file import open_public

_RANGE = re.compile(r"([0-9]{1,18})\.\.([0-9]{1,18})")


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
