"""A private folder beside the target that becomes it whole, or is removed.

The writer holds an operating system's lock on the folder. A process that is killed leaves the
folder (mode 700, never raw data) but not the lock, so the next run that writes beside it knows
that nobody works there any more, and removes it.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from pathveil.errors import ReleaseError
from pathveil.locked_folders import locked_folder, remove_abandoned
from pathveil.model.new_folders import new_parents

_LETTERS = 32
_ROOM = "room"
# Bytes that a bundle takes, about; more if much survives.
_BYTES, _BYTES_PER_LOCATION = 1 << 21, 1 << 9


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
        with reserved(directory) as place, staged(place) as staging:
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
            place = stack.enter_context(reserved(directory))
            place.keep_room(_BYTES + _BYTES_PER_LOCATION * locations)
        except BlockingIOError:
            raise ReleaseError(
                f"Another run is writing to {directory}; choose a new folder."
            ) from None
        except OSError as error:
            raise ReleaseError(f"Can't write to {directory}: {error.strerror}.") from None
        _check_not_taken(directory)  # by a run that ended just now
        yield place
