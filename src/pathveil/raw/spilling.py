"""A folder for raw data that does not fit into memory: private, and gone when the run is over.

Three ways out. The run ends, well or not: it removes the folder. The process is killed: a watcher,
a small process that waits for the end of a pipe from us, removes it. The machine goes down: the
lock on the folder is gone (`locked_folders`), and the next run that spills in the same folder
removes it.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pathveil.errors import ParameterError
from pathveil.folders import locked_folder, remove_abandoned

# Its standard input ends when we do, however that happens. A program that we started may write for
# a moment longer (Spark's Java), so once is not enough.
_WATCH = """
cat >/dev/null
for again in 1 2 3 4 5; do
    rm -rf -- "$0" && [ ! -e "$0" ] && exit
    sleep 1
done
"""


@contextmanager
def spill_folder(parent: Path | None) -> Iterator[Path]:
    """A new folder (mode 700) inside ``parent``, or where temporary files go.

    Raises:
        ParameterError: if none can be made there.
    """
    home = Path(tempfile.gettempdir()) if parent is None else parent
    check_spill_folder(home)
    remove_abandoned(home)
    with locked_folder(home) as folder, _watched(folder):
        yield folder


def check_spill_folder(home: Path) -> None:
    """Whether one could spill there.

    Raises:
        ParameterError: if not.
    """
    try:
        with locked_folder(home):
            pass
    except (OSError, ValueError):
        raise ParameterError(
            f"Can't make temporary files in {str(home)[:200]!r}; give a folder that exists and is "
            "yours to write with --spill (spill=…)."
        ) from None


def check_room(parent: Path | None, least: float) -> None:
    """Whether so many bytes at least could be spilled there; asked before anything is charged.

    Raises:
        ParameterError: if not.
    """
    folder = Path(tempfile.gettempdir()) if parent is None else parent
    try:
        free = shutil.disk_usage(folder).free
    except (OSError, ValueError):
        return  # `check_spill_folder` says what is wrong
    if free < least:
        raise ParameterError(
            f"There is room for {free // 10**6} MB of temporary files in {str(folder)[:200]!r}; "
            f"this input takes {int(least / 10**6)} MB at the very least. Name a larger folder "
            "with --spill (spill=…). Nothing was charged."
        )


@contextmanager
def _watched(folder: Path) -> Iterator[None]:
    """Have the folder removed even if this process is killed."""
    watcher = subprocess.Popen(  # noqa: S603  (a fixed text; the folder is an argument)
        ["/bin/sh", "-c", _WATCH, str(folder.absolute())],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # a Ctrl-C is for us, not for it
    )
    try:
        yield
    finally:
        # The folder may hold files yet: the watcher's own `rm` then meets ours, which does no harm.
        if watcher.stdin is not None:
            watcher.stdin.close()
        watcher.wait()
