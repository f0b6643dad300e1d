"""A private folder beside the target that becomes it whole, or is removed.

The writer holds an operating system's lock on the folder. A process that is killed leaves the
folder (mode 700, never raw data) but not the lock, so the next run that writes beside it knows
that nobody works there any more, and removes it.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = ".pathveil-"


@contextmanager
def staged(directory: Path) -> Iterator[Path]:
    """A folder to write into; when the block ends well, it is renamed to ``directory``.

    Raises:
        OSError: if the operating system refuses.
    """
    target = directory.absolute()
    target.parent.mkdir(parents=True, exist_ok=True)
    remove_abandoned(target.parent)
    with _locked_folder(target.parent) as staging:
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
    target.parent.mkdir(parents=True, exist_ok=True)
    remove_abandoned(target.parent)
    with _locked_folder(target.parent) as staging:
        path = staging / target.name
        yield path
        _sync(path)
        path.replace(target)
        _sync(target.parent)


def probe(folder: Path) -> None:
    """Whether a folder can be made inside this one.

    Raises:
        OSError: if not.
    """
    with _locked_folder(folder):
        pass


def remove_abandoned(folder: Path) -> None:
    """Remove what killed runs left in a folder; what a live run works on is locked and stays."""
    for path in folder.glob(f"{PREFIX}*"):
        with suppress(OSError):  # gone already, somebody else's, or in use
            handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(handle).st_uid == os.geteuid():
                    shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(handle)


@contextmanager
def _locked_folder(parent: Path) -> Iterator[Path]:
    """A new folder with a lock on it; removed in the end unless it was renamed."""
    path, handle = _make_locked(parent)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(handle)


def _make_locked(parent: Path) -> tuple[Path, int]:
    """Make and lock; again if another run took it for abandoned in between."""
    while True:
        path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        try:
            handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            continue
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.is_dir():
                return path, handle
        os.close(handle)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
