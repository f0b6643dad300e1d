"""Files are opened only if they are plain files; those of a release, only if of a fair size, too.

A name may be that of a device that never ends, or of a pipe that nobody writes to; and what is
read twice can't be read from a pipe at all. A downloaded bundle may also hold links out of it.
"""

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

from pathveil.errors import ReleaseError

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
# Texts are read whole; tables and the CSV of trajectories are not, but hashed.
_LARGEST = {
    ".json": 16 * MIB,
    ".txt": 64 * KIB,
    ".html": GIB,
    ".csv": 64 * GIB,
    ".parquet": 64 * GIB,
}
LARGEST_TEXT = GIB


def open_named(path: Path) -> BufferedReader:
    """A file that its user named, for reading; links are followed.

    Raises:
        OSError: if it can't be opened, or is a pipe or a device.
    """
    return _opened(path, 0)


def _opened(path: Path, flags: int) -> BufferedReader:
    # A pipe that nobody writes to would be waited for, without the last flag.
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | flags | os.O_NONBLOCK)
    mode = os.fstat(handle).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(handle, "rb")
    os.close(handle)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    raise NotPlainError(errno.EINVAL, "it is a pipe or a device, not a plain file")


class NotPlainError(OSError):
    """What is there is neither a plain file nor a folder."""


def open_plain(path: Path) -> BufferedReader:
    """A file of a release for reading, if it is a plain one.

    Raises:
        FileNotFoundError: if it is not there.
        ReleaseError: if it can't be opened, is no plain file, or is too large for what it is.
    """
    try:
        file = _opened(path, os.O_NOFOLLOW)
    except FileNotFoundError:
        raise
    except (NotPlainError, IsADirectoryError):
        raise ReleaseError(f"{path} is not a plain file; a release has no other kind.") from None
    except OSError as error:
        if path.is_symlink():
            raise ReleaseError(
                f"{path} is a link. The files of a release lie in its folder: copy the file there."
            ) from None
        raise ReleaseError(f"Can't read {path}: {error.strerror}.") from None
    most = _LARGEST.get(path.suffix, LARGEST_TEXT)
    if os.fstat(file.fileno()).st_size <= most:
        return file
    file.close()
    raise ReleaseError(f"{path} is larger than {most >> 10:,} KiB, which no release needs.")


def read_plain(path: Path) -> bytes:
    """All bytes of a plain file that is read whole; see `open_plain`."""
    with open_plain(path) as file:
        # No more than it has, and one: a read of the most there may be takes that much memory.
        most = min(os.fstat(file.fileno()).st_size, LARGEST_TEXT)
        content = file.read(most + 1)
    if len(content) > LARGEST_TEXT:
        raise ReleaseError(f"{path} is larger than {LARGEST_TEXT >> 10:,} KiB: too large to read.")
    return content
