"""A private folder beside the target that becomes it whole, or is removed.

The writer holds an operating system's lock on the folder. A process that is killed leaves the
folder (mode 700, never raw data) but not the lock, so the next run that writes beside it knows
that nobody works there any more, and removes it.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pathveil.locked_folders import locked_folder, remove_abandoned
from pathveil.model.new_folders import new_parents


@contextmanager
def staged(directory: Path) -> Iterator[Path]:
    """A folder to write into; when the block ends well, it is renamed to ``directory``.

    Raises:
        OSError: if the operating system refuses.
    """
    target = directory.absolute()
    with new_parents(target), _beside(target) as staging:
        yield staging
        for path in staging.iterdir():
            _sync(path)
        staging.chmod(0o755)
        _sync(staging)
        staging.replace(target)
        _sync(target.parent)


@contextmanager
def staged_file(file: Path) -> Iterator[Path]:
    """A file to write; when the block ends well, it is renamed to ``file``.

    Raises:
        OSError: if the operating system refuses.
    """
    target = file.absolute()
    with new_parents(target), _beside(target) as staging:
        path = staging / target.name
        yield path
        _sync(path)
        path.replace(target)
        _sync(target.parent)


def write_whole(file: Path, text: str) -> None:
    """A text file that appears whole or not at all.

    Raises:
        OSError: if the operating system refuses.
    """
    with staged_file(file) as staging:
        staging.write_text(text, encoding="utf-8", newline="\n")


def probe(folder: Path, names: Iterable[str] = ()) -> None:
    """Whether a folder can be made inside this one, and what has these names inside that.

    Raises:
        OSError: if not.
    """
    with locked_folder(folder) as made:
        for name in names:
            with suppress(FileNotFoundError):  # but not the error that a name is too long
                (made / name).lstat()


@contextmanager
def _beside(target: Path) -> Iterator[Path]:
    """A new, locked folder beside the target."""
    remove_abandoned(target.parent)
    with locked_folder(target.parent) as staging:
        yield staging


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
