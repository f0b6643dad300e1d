"""Files that somebody else made are opened only if they are plain files of a fair size.

A downloaded bundle may hold a link to a device that never ends, or out of the bundle, or a pipe
that nobody writes to.
"""

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


def open_plain(path: Path) -> BufferedReader:
    """A file for reading, if it is a plain one.

    Raises:
        FileNotFoundError: if it is not there.
        ReleaseError: if it can't be opened, is no plain file, or is too large for what it is.
    """
    try:
        # A pipe that nobody writes to would be waited for, without the last flag.
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        raise
    except OSError as error:
        if path.is_symlink():
            raise ReleaseError(
                f"{path} is a link. The files of a release lie in its folder: copy the file there."
            ) from None
        raise ReleaseError(f"Can't read {path}: {error.strerror}.") from None
    file = os.fdopen(handle, "rb")
    status, most = os.fstat(handle), _LARGEST.get(path.suffix, LARGEST_TEXT)
    if stat.S_ISREG(status.st_mode) and status.st_size <= most:
        return file
    file.close()
    if stat.S_ISREG(status.st_mode):
        raise ReleaseError(f"{path} is larger than {most >> 10:,} KiB, which no release needs.")
    raise ReleaseError(f"{path} is not a plain file; a release has no other kind.")


def read_plain(path: Path) -> bytes:
    """All bytes of a plain file that is read whole; see `open_plain`."""
    with open_plain(path) as file:
        # No more than it has, and one: a read of the most there may be takes that much memory.
        most = min(os.fstat(file.fileno()).st_size, LARGEST_TEXT)
        content = file.read(most + 1)
    if len(content) > LARGEST_TEXT:
        raise ReleaseError(f"{path} is larger than {LARGEST_TEXT >> 10:,} KiB: too large to read.")
    return content
