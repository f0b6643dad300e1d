"""Folders on the way to a new file, which a run that fails takes away again."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


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
