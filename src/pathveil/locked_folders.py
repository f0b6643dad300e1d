"""Temporary folders that say by a lock that somebody works in them.

The maker holds an operating system's lock on the folder. A process that is killed leaves the
folder (mode 700) but not the lock, so the next run in the same place knows that nobody works there
any more, and removes it. Its name, 32 random digits, is how it is told from folders of others.
"""

import errno
import fcntl
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = ".pathveil-"
_OURS = re.compile(re.escape(PREFIX) + r"[0-9a-f]{32}")
_PATIENCE, _PAUSE = 10, 0.05  # times, and seconds between them


def remove_abandoned(folder: Path) -> None:
    """Remove what killed runs left in a folder; what a live run works on is locked and stays."""
    for path in folder.glob(f"{PREFIX}*"):
        if not _OURS.fullmatch(path.name):
            continue
        with suppress(OSError):  # gone already, somebody else's, or in use
            handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(handle).st_uid == os.geteuid():
                    shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(handle)


@contextmanager
def locked_folder(parent: Path, name: str | None = None) -> Iterator[Path]:
    """A new folder with a lock on it; removed in the end unless it was renamed.

    Args:
        parent: where it is made.
        name: what comes after the prefix, 32 digits. Of two that ask for one name at once, one
            is refused; None takes a name that nobody else has.

    Raises:
        BlockingIOError: if somebody works in the folder of this name.
        OSError: if the operating system refuses.
    """
    path, handle = _make_locked(parent) if name is None else _take(parent / f"{PREFIX}{name}")
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(handle)


def _make_locked(parent: Path) -> tuple[Path, int]:
    """Make and lock; again if another run took it for abandoned in between."""
    while True:
        path = parent.absolute() / f"{PREFIX}{secrets.token_hex(16)}"
        path.mkdir(mode=0o700)
        handle = _locked(path)
        if handle is not None:
            return path, handle


def _take(path: Path) -> tuple[Path, int]:
    """Make and lock the folder of this name; what a killed run left in it is removed."""
    for _ in range(_PATIENCE):
        with suppress(FileExistsError):
            path.mkdir(mode=0o700)
        handle = _locked(path)
        if handle is not None:
            for left in path.iterdir():
                shutil.rmtree(left) if left.is_dir() else left.unlink()
            path.chmod(0o700)
            return path, handle
        time.sleep(_PAUSE)  # perhaps it is only being removed
    raise BlockingIOError(errno.EWOULDBLOCK, "somebody works there")


def _locked(path: Path) -> int | None:
    """A handle that holds the lock on a folder; None if somebody else has it, or it is gone."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if path.is_dir() and path.stat().st_ino == os.fstat(handle).st_ino:
            return handle
    except BlockingIOError:
        pass
    except BaseException:
        os.close(handle)
        raise
    os.close(handle)
    return None
