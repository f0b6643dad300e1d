"""Where a witness's records are kept: a file, a git repository, an HTTP address.

Each place appends a line and gives all lines back. No message repeats an address: it may hold a
password.
"""

import fcntl
import http.client
import os
import subprocess
import urllib.error
import urllib.request
from pathlib import Path
from typing import Protocol, cast

from pathveil.errors import LedgerError

LARGEST = 50_000_000
_SECONDS = 30
_GIT_FILE = "pathveil-ledger-witness.jsonl"
# A repository's hooks are programs: they do not run.
_GIT = (
    *("git", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"),
    *("-c", "commit.gpgSign=false", "-c", "gc.auto=0"),
    *("-c", "user.name=pathveil", "-c", "user.email=pathveil@localhost"),
)


class Place(Protocol):
    """Keeps lines.

    Attributes:
        label: how messages call it.
    """

    label: str

    def append(self, line: str) -> None:
        """Keep one more line, durably.

        Raises:
            LedgerError: if it can't be kept.
        """

    def content(self) -> bytes:
        """All lines.

        Raises:
            LedgerError: if they can't be read.
        """


def place_of(text: str) -> Place:
    """The place that a text names: ``http://…``, ``https://…``, ``git:FOLDER`` or a file.

    Raises:
        LedgerError: if it can't be one.
    """
    if "\0" in text or not text:
        raise LedgerError("The place of a witness can't be empty or hold a NUL character.")
    if text.startswith(("http://", "https://")):
        return HttpPlace(text)
    if text.startswith("git:"):
        return GitPlace(Path(text.removeprefix("git:")))
    if "://" in text:
        raise LedgerError(
            "A witness is a file, git:FOLDER, or an address that begins with http:// or https://."
        )
    return FilePlace(Path(text))


class FilePlace:
    """A file of lines, best on a disk that the owner of the ledger's can't write to."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.label = f"the file {path}"

    def append(self, line: str) -> None:
        """Add a line, whole and on the disk, or not at all."""
        try:
            with self._path.open("ab") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                before = file.seek(0, os.SEEK_END)
                try:
                    file.write(line.encode() + b"\n")
                    file.flush()
                    os.fsync(file.fileno())
                except OSError:
                    os.ftruncate(file.fileno(), before)
                    raise
        except OSError as error:
            raise LedgerError(f"Can't write {self.label}: {error.strerror}.") from None

    def content(self) -> bytes:
        """All lines."""
        try:
            with self._path.open("rb") as file:
                return _bounded(file.read(LARGEST + 1), self.label)
        except OSError as error:
            raise LedgerError(f"Can't read {self.label}: {error.strerror}.") from None


class GitPlace:
    """A git repository: each line is a commit. Who pushes it elsewhere has it there, too."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.label = f"the git repository {folder}"

    def append(self, line: str) -> None:
        """Add a line to the repository's file, and commit that file only."""
        self._git("rev-parse", "--git-dir")
        FilePlace(self._folder / _GIT_FILE).append(line)
        self._git("add", "--", _GIT_FILE)
        said = "Witness of a pathveil ledger"
        self._git("commit", "--quiet", "--no-verify", "--message", said, "--only", "--", _GIT_FILE)

    def content(self) -> bytes:
        """All lines, as they were committed last."""
        return _bounded(self._git("cat-file", "blob", f"HEAD:{_GIT_FILE}"), self.label)

    def _git(self, *arguments: str) -> bytes:
        inherited = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        try:
            done = subprocess.run(  # noqa: S603  (our own words, and a folder)
                [*_GIT, "-C", str(self._folder), *arguments],
                capture_output=True,
                check=True,
                timeout=_SECONDS,
                env=inherited | {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"},
            )
        except FileNotFoundError:
            raise LedgerError("A git repository as a witness needs the program git.") from None
        except (OSError, subprocess.SubprocessError):
            raise LedgerError(
                f"git could not use {self.label}: is it a repository that you may commit to, with "
                "a witness in it if you verify?"
            ) from None
        return done.stdout


class HttpPlace:
    """An address that takes a line by POST and gives all lines back by GET."""

    label = "the HTTP address"

    def __init__(self, address: str) -> None:
        self._address = address

    def append(self, line: str) -> None:
        """Send a line; anything but success is a failure, a redirection too."""
        self.exchange(line.encode() + b"\n", "application/json")

    def content(self) -> bytes:
        """All lines."""
        return self.exchange(None, None)

    def exchange(self, body: bytes | None, kind: str | None) -> bytes:
        """What the address answers to a POST of a body, or to a GET if there is none.

        Raises:
            LedgerError: if it does not answer with success.
        """
        headers = {"User-Agent": "pathveil"} | ({"Content-Type": kind} if kind else {})
        try:
            request = urllib.request.Request(self._address, body, headers)  # noqa: S310
            opener = urllib.request.build_opener(_NoRedirection)
            with opener.open(request, timeout=_SECONDS) as answer:
                content = cast("bytes", answer.read(LARGEST + 1))
        except urllib.error.HTTPError as error:
            error.close()
            raise LedgerError(f"{self.label.capitalize()} answered {error.code}.") from None
        except (OSError, ValueError, http.client.HTTPException):
            raise LedgerError(f"{self.label.capitalize()} can't be reached.") from None
        return _bounded(content, self.label)


class _NoRedirection(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_arguments: object) -> None:
        """Another address than the one that was given is no witness."""


def _bounded(content: bytes, label: str) -> bytes:
    if len(content) > LARGEST:
        raise LedgerError(f"{label[0].upper()}{label[1:]} holds more than a witness ever would.")
    return content
