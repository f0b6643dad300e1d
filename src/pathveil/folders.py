"""Folders: one process at a time in some, and some that appear whole or not at all.

Temporary folders that say by a lock that somebody works in them.

The maker holds an operating system's lock on the folder. A process that is killed leaves the
folder (mode 700) but not the lock, so the next run in the same place knows that nobody works there
any more, and removes it. Its name, 32 random digits, is how it is told from folders of others.
"""

import errno
import fcntl
import hashlib
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from pathveil.errors import ReleaseError

PREFIX = ".pathveil-"
_OURS = re.compile(re.escape(PREFIX) + r"[0-9a-f]{32}")
_PATIENCE, _PAUSE = 10, 0.05  # times, and seconds between them
_LETTERS = 32
_ROOM = "room"
# Bytes that a bundle takes, about; more if much survives.
_BYTES, _BYTES_PER_LOCATION = 1 << 21, 1 << 9


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


# Folders on the way to a new file, which a run that fails takes away again.


@contextmanager
def new_parents(path: Path, mode: int = 0o777) -> Iterator[None]:
    """Make the folders above ``path``; if that or the block fails, those made here are removed.

    A folder that somebody else put something into meanwhile stays.

    Raises:
        OSError: if the operating system refuses.
    """
    made = [folder for folder in path.absolute().parents if not os.path.lexists(folder)]
    try:
        path.absolute().parent.mkdir(parents=True, exist_ok=True, mode=mode)
        yield
    except BaseException:
        for folder in made:
            with suppress(OSError):
                folder.rmdir()
        raise


# A private folder beside the target that becomes it whole, or is removed.
#
# The writer holds an operating system's lock on the folder. A process that is killed leaves the
# folder (mode 700, never raw data) but not the lock, so the next run that writes beside it knows
# that nobody works there any more, and removes it.


@dataclass(frozen=True, slots=True)
class Reserved:
    """A place that becomes a release: nobody else can write there until it is given up.

    Attributes:
        directory: the folder that will appear, as it was given.
        staging: a private folder beside it to write into.
    """

    directory: Path
    staging: Path

    def keep_room(self, size: int) -> None:
        """Take so many bytes of the disk now; they are free again when the release is written.

        Raises:
            OSError: if there is no room.
        """
        with (self.staging / _ROOM).open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, size)


@contextmanager
def reserved(directory: Path) -> Iterator[Reserved]:
    """Reserve the place of a folder; given up when the block ends. The folder does not appear yet.

    Raises:
        BlockingIOError: if somebody else has reserved it.
        OSError: if the operating system refuses.
    """
    target = directory.absolute()
    # By its name, so that two who want the same folder meet; hashed, so that any name fits.
    name = hashlib.sha256(os.fsencode(target.name)).hexdigest()[:_LETTERS]
    with new_parents(target):
        remove_abandoned(target.parent)
        with locked_folder(target.parent, name) as staging:
            yield Reserved(directory, staging)


@contextmanager
def staged(directory: Path | Reserved) -> Iterator[Path]:
    """A folder to write into; when the block ends well, it is renamed to ``directory``.

    Raises:
        OSError: if the operating system refuses; nothing appeared then.
        ReleaseError: if it can't be known whether what appeared will last.
    """
    if not isinstance(directory, Reserved):
        with reserved(directory) as held, staged(held) as staging:
            yield staging
        return
    staging, target = directory.staging, directory.directory.absolute()
    (staging / _ROOM).unlink(missing_ok=True)
    yield staging
    for path in staging.iterdir():
        _sync(path)
    staging.chmod(0o755)
    _sync(staging)
    staging.replace(target)
    try:
        _sync(target.parent)
    except OSError as error:
        raise ReleaseError(
            f"The release in {directory.directory} is whole, but the disk did not confirm that it "
            f"will last ({os.strerror(error.errno or 0)}): copy it elsewhere."
        ) from None


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


def write_atomically(file: Path, text: str) -> None:
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
    _check_not_taken(directory)
    target = directory.absolute()
    try:
        beside = next(folder for folder in target.parents if os.path.lexists(folder))
        probe(beside, target.relative_to(beside).parts)
    except OSError as error:
        raise ReleaseError(f"Can't write to {directory}: {error.strerror}.") from None


def _check_not_taken(directory: Path) -> None:
    if is_taken(directory):
        raise ReleaseError(
            f"{directory} exists already; a release is never overwritten. Choose a new folder."
        )


@contextmanager
def reserve(directory: Path, locations: int) -> Iterator[Reserved]:
    """The place of a release, for this run alone, with some room on its disk.

    Args:
        directory: the folder that will appear.
        locations: |L|: every location has a row.

    Raises:
        ReleaseError: if it is taken, another run is about to write it, or there is no room.
    """
    with ExitStack() as stack:
        try:
            held = stack.enter_context(reserved(directory))
            held.keep_room(_BYTES + _BYTES_PER_LOCATION * locations)
        except BlockingIOError:
            raise ReleaseError(
                f"Another run is writing to {directory}; choose a new folder."
            ) from None
        except OSError as error:
            raise ReleaseError(f"Can't write to {directory}: {error.strerror}.") from None
        _check_not_taken(directory)  # by a run that ended just now
        yield held
