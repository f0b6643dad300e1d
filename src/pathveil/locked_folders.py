"""Temporary folders that say by a lock that somebody works in them.

The maker holds an operating system's lock on the folder. A process that is killed leaves the
folder (mode 700) but not the lock, so the next run in the same place knows that nobody works there
any more, and removes it. Its name, 32 random digits, is how it is told from folders of others.
"""

import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = ".pathveil-"
_OURS = re.compile(re.escape(PREFIX) + r"[0-9a-f]{32}")


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
def locked_folder(parent: Path) -> Iterator[Path]:
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
        path = parent.absolute() / f"{PREFIX}{secrets.token_hex(16)}"
        path.mkdir(mode=0o700)
        try:
            handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            continue
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.is_dir():
                return path, handle
        os.close(handle)
