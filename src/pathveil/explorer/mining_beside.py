"""Open a release for the explorer, and mine its patterns while the page is already there."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path
from threading import Thread

from pathveil.core.paths import WeightedPaths
from pathveil.errors import PathveilError, ReleaseError
from pathveil.explorer.pattern_tables import Mined, PatternTables, mine
from pathveil.own_code import python_module
from pathveil.promise.certificate import CERTIFICATE_FILE
from pathveil.release.bundle import read_release
from pathveil.release.file_records import INTERNAL_MARK
from pathveil.release.release import Release

# Below it no single step of the mining is long.
MOST_VISITS_IN_A_THREAD = 50_000


# What the explorer opens: a folder that is a whole and unchanged release, and nothing else.


def open_release(directory: Path) -> Release:
    """Read a release bundle with all the checks of `read_release`.

    Raises:
        ReleaseError: if it is a file (raw data, an INTERNAL page), a folder with INTERNAL figures,
            or no release that can be trusted.
    """
    if "\0" not in str(directory):
        _refuse_what_is_none(directory)
    return read_release(directory)


def _refuse_what_is_none(directory: Path) -> None:
    try:
        is_file = directory.is_file()
        internal = not is_file and any(directory.glob(f"{INTERNAL_MARK}*"))
        is_release = (directory / CERTIFICATE_FILE).exists()
    except OSError as error:
        raise ReleaseError(f"Can't read {directory}: {error.strerror}.") from None
    if is_file:
        raise ReleaseError(
            f"{directory} is a file. The explorer opens release folders only, never raw data and "
            "never an INTERNAL page: publish the data first, then explore the folder."
        )
    if internal:
        raise ReleaseError(
            f"{directory} holds INTERNAL figures, which were computed from raw data: the explorer "
            "does not open it. Explore the release itself."
        )
    if not is_release:
        raise ReleaseError(
            f"{directory} is not a release: it has no {CERTIFICATE_FILE}. The explorer opens "
            "release folders only, as `pathveil publish` writes them."
        )


# Mining while the page is already there: in a thread, or (large releases) in another process.
#
# Mining a large release keeps Python's lock for tenths of a second at a time, and every answer
# would wait for it. Another process reads the same bundle, mines at low priority and sends tables.


class MiningBeside:
    """Fills tables until it is done or stopped.

    Args:
        tables: where the patterns go.
        paths: the release.
        directory: its bundle; None: only in this process, for a release that has none.
    """

    def __init__(self, tables: PatternTables, paths: WeightedPaths, directory: Path | None) -> None:
        self._tables = tables
        self._process: subprocess.Popen[str] | None = None
        self._stopped = False
        if directory is not None and len(paths.paths().codes) > MOST_VISITS_IN_A_THREAD:
            self._process = _start(directory)
        self._thread = Thread(target=self._fill, args=(paths,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End it, finished or not."""
        self._stopped = True
        if self._process is not None:
            self._process.kill()
        self._thread.join()

    def wait(self) -> None:
        """Until all tables are there."""
        self._thread.join()

    def _fill(self, paths: WeightedPaths) -> None:
        try:
            if self._process is None:
                for table in mine(paths):
                    if self._stopped:
                        return
                    self._tables.add(table)
            else:
                self._receive(self._process)
        finally:
            self._tables.has_failed = not self._stopped and self._tables.progress < 1

    def _receive(self, process: "subprocess.Popen[str]") -> None:
        with process:
            for line in process.stdout or ():
                if line.endswith("\n"):  # not one that was cut off
                    self._tables.add(Mined.from_line(line))


def _start(directory: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(  # noqa: S603  (our own interpreter and module)
        python_module(__name__, str(directory.absolute())),
        cwd="/",  # the current folder is perhaps the download of somebody else
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        # Not in our process group: Ctrl-C is for us, and we end it.
        start_new_session=True,
    )


def _mine_for_parent(directory: Path) -> None:
    """Print one line for each table; end quietly when nobody reads them any more."""
    parent = os.getppid()
    os.nice(10)
    with contextlib.suppress(BrokenPipeError, PathveilError):
        for table in mine(open_release(directory)):
            if os.getppid() != parent:  # it was killed and could not end us
                return
            sys.stdout.write(table.to_line() + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    _mine_for_parent(Path(sys.argv[1]))
