"""What every fuzz target must keep to, whoever feeds it: atheris, or the replay in the tests.

A target is a file of `fuzz.targets` with ``read(data, folder)``, which gives the bytes to one
parser (in files of ``folder`` if it wants files), and ``seeds()``, inputs that are accepted. For
any bytes, reading them either works or ends in a `PathveilError`; a warning counts as a failure. It
writes nothing outside its folder, opens no connection and starts no process, and no error, with
all that led to it, holds the `MARKER` that the targets of raw data plant in it.
"""

import importlib
import os
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pathveil.errors import PathveilError

HERE = Path(__file__).parent
MARKER = b"zq7marker4711"
_MEMORY = Path("/dev/shm")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_CHANGES = {"os.mkdir": 0, "os.remove": 0, "os.rmdir": 0, "os.rename": 1, "os.link": 1}
_FORBIDDEN = (
    *("socket.connect", "socket.bind", "subprocess.Popen", "os.system", "os.exec"),
    *("os.fork", "os.posix_spawn"),
)


class Finding(AssertionError):  # noqa: N818  (what fuzzers call it)
    """A parser broke a promise."""


@dataclass(frozen=True)
class Target:
    """One parser.

    Attributes:
        name: of its file.
        read: gives it bytes.
        seeds: inputs that it accepts, by name.
    """

    name: str
    read: Callable[[bytes, Path], None]
    seeds: Callable[[], dict[str, bytes]]

    def inputs(self) -> Iterator[Path]:
        """The corpus, and what was found before."""
        for kind in ("corpus", "findings"):
            yield from sorted((HERE / kind / self.name).glob("*"))


def names() -> list[str]:
    """All targets."""
    return sorted(path.stem for path in (HERE / "targets").glob("[a-z]*.py"))


def target(name: str) -> Target:
    """The target of a name."""
    module = importlib.import_module(f"fuzz.targets.{name}")
    return Target(name, module.read, module.seeds)


class Harness:
    """Runs one target on one input after the other, each in an empty folder."""

    def __init__(self, checked: Target) -> None:
        self._target = checked
        checked.seeds()  # makes the valid files that are patched, before anybody watches
        self._watched: Path | None = None
        self._strayed: list[str] = []
        sys.addaudithook(self._audit)

    def run(self, data: bytes) -> bool:
        """Give the bytes to the target.

        Returns:
            Whether they were accepted; False if a `PathveilError` refused them.

        Raises:
            Finding: if the target broke a promise other than by an exception of its own.
        """
        beside = _MEMORY if os.access(_MEMORY, os.W_OK) else None
        with (
            tempfile.TemporaryDirectory(prefix="fuzz-", dir=beside) as folder,
            self._watching(Path(folder)),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("error")
            accepted = self._accepts(data, Path(folder))
        if self._strayed:
            raise Finding(f"outside its folder: {self._strayed}")
        return accepted

    def _accepts(self, data: bytes, folder: Path) -> bool:
        try:
            self._target.read(data, folder)
        except PathveilError as error:
            told = "".join(traceback.format_exception(error, chain=True))
            if MARKER.decode() in told:
                raise Finding("an error quotes the raw data") from None
            return False
        return True

    @contextmanager
    def _watching(self, folder: Path) -> Iterator[None]:
        self._watched, self._strayed = folder, []
        try:
            yield
        finally:
            self._watched = None

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Python's own report of what the process does; C++ code is not heard of here."""
        if self._watched is None:
            return
        if event in _FORBIDDEN:
            self._strayed.append(event)
        elif event == "open":
            path, _, flags = arguments
            if isinstance(flags, int) and flags & _WRITING:
                self._check_inside(path)
        elif event in _CHANGES and arguments[-1] == -1:  # else relative to a folder that is open
            self._check_inside(arguments[_CHANGES[event]])

    def _check_inside(self, path: Any) -> None:
        if not isinstance(path, str | bytes | os.PathLike) or self._watched is None:
            return
        place = Path(os.path.abspath(os.fsdecode(path)))  # noqa: PTH100  (no look at the disk)
        # The compilers' caches are not the parser's doing.
        if not place.is_relative_to(self._watched) and "__pycache__" not in place.parts:
            self._strayed.append(str(place))
