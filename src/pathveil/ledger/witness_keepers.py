"""Where a witness's records are kept: a file, a git repository, an HTTP address.

Each place appends a line and gives all lines back. No message repeats an address: it may hold a
password.
"""

import fcntl
import http.client
import os
import subprocess
import tempfile
import threading
import urllib.error
import urllib.request
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Protocol, cast

from pathveil.errors import LedgerError
from pathveil.plain_files import open_named

LARGEST = 50_000_000
_SECONDS = 30
_GIT_FILE = "pathveil-ledger-witness.jsonl"
# Who made a repository may have written programs into it: hooks, monitors, filters of files, where
# to fetch what is missing; and submodules have their own. None of them runs; only plumbing does.
_GIT = (
    *("git", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"),
    *("-c", "user.name=pathveil", "-c", "user.email=pathveil@localhost"),
)
_GIT_SETTINGS = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}


class Keeper(Protocol):
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


def keeper_of(text: str) -> Keeper:
    """The place that a text names: ``http://…``, ``https://…``, ``git:FOLDER`` or a file.

    Raises:
        LedgerError: if it can't be one.
    """
    if "\0" in text or not text:
        raise LedgerError("The place of a witness can't be empty or hold a NUL character.")
    if text.startswith(("http://", "https://")):
        return HttpKeeper(text)
    if text.startswith("git:"):
        return GitKeeper(Path(text.removeprefix("git:")))
    if "://" in text:
        raise LedgerError(
            "A witness is a file, git:FOLDER, or an address that begins with http:// or https://."
        )
    return FileKeeper(Path(text))


def _check_plain(path: Path) -> None:
    """Refuse a pipe or a device; that nothing is there yet is as well."""
    with suppress(FileNotFoundError), open_named(path):
        pass


class FileKeeper:
    """A file of lines, best on a disk that the owner of the ledger's can't write to."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.label = f"the file {path}"

    def append(self, line: str) -> None:
        """Add a line, whole and on the disk, or not at all."""
        try:
            _check_plain(self._path)
            with self._path.open("a+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                before = file.seek(0, os.SEEK_END)
                file.seek(max(before - 1, 0))
                is_cut = file.read(1) not in (b"", b"\n")  # as a failing disk leaves a line
                try:
                    file.write(b"\n" * is_cut + line.encode() + b"\n")
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
            with open_named(self._path) as file:
                return _bounded(file.read(LARGEST + 1), self.label)
        except OSError as error:
            raise LedgerError(f"Can't read {self.label}: {error.strerror}.") from None


class GitKeeper:
    """A git repository: each line is a commit. Who pushes it elsewhere has it there, too."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.label = f"the git repository {folder}"

    def append(self, line: str) -> None:
        """Add a line to the repository's file, and commit that file only."""
        inside = self._git("rev-parse", "--show-prefix")
        path = self._folder / _GIT_FILE
        if path.is_symlink():
            raise LedgerError(f"{path} is a link: a witness is a plain file in its repository.")
        FileKeeper(path).append(line)
        blob = self._git("hash-object", "-w", "--stdin", given=FileKeeper(path).content())
        changed = ("update-index", "--add", "--cacheinfo", f"100644,{blob},{inside}{_GIT_FILE}")
        self._commit(changed)
        # In the index of who works there, too; git would look whether other files have changed.
        self._git(*changed, settings=self._no_filters())

    def content(self) -> bytes:
        """All lines, as they were committed last."""
        return _bounded(self._run("cat-file", "blob", f"HEAD:./{_GIT_FILE}"), self.label)

    def _commit(self, changed: tuple[str, ...]) -> None:
        """Commit a change of the index, and nothing else that may be in the index."""
        try:
            parent = self._git("rev-parse", "--verify", "--quiet", "HEAD")
        except LedgerError:  # the first commit; a HEAD that is there after all is not overwritten
            parent = ""
        with tempfile.TemporaryDirectory() as folder:
            index = {"GIT_INDEX_FILE": f"{folder}/index"}
            if parent:
                self._git("read-tree", parent, settings=index)
            self._git(*changed, settings=index)
            tree = self._git("write-tree", settings=index)
        parents = ("-p", parent) if parent else ()
        commit = self._git("commit-tree", tree, *parents, "-m", "Witness of a pathveil ledger")
        self._git("update-ref", "HEAD", commit, parent)

    def _no_filters(self) -> dict[str, str]:
        """Settings by which no program of the repository changes files before they are compared."""
        names = self._git("config", "--list", "--name-only", "--null").split("\0")
        filters = sorted({name.rpartition(".")[0] for name in names if name.startswith("filter.")})
        parts = ("clean", "smudge", "process", "required")
        keys = [f"{name}.{part}" for name in filters for part in parts]
        empty = {f"GIT_CONFIG_VALUE_{number}": "" for number in range(len(keys))}
        named = {f"GIT_CONFIG_KEY_{number}": key for number, key in enumerate(keys)}
        return {"GIT_CONFIG_COUNT": str(len(keys))} | named | empty

    def _git(
        self, *arguments: str, given: bytes = b"", settings: dict[str, str] | None = None
    ) -> str:
        """The one word that git answers."""
        return self._run(*arguments, given=given, settings=settings).decode().rstrip("\n")

    def _run(
        self, *arguments: str, given: bytes = b"", settings: dict[str, str] | None = None
    ) -> bytes:
        inherited = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        try:
            done = subprocess.run(  # noqa: S603  (our own words, and a folder)
                [*_GIT, "-C", str(self._folder), *arguments],
                input=given,
                capture_output=True,
                check=True,
                timeout=_SECONDS,
                env=inherited | _GIT_SETTINGS | (settings or {}),
            )
        except FileNotFoundError:
            raise LedgerError("A git repository as a witness needs the program git.") from None
        except (OSError, subprocess.SubprocessError):
            raise LedgerError(
                f"git could not use {self.label}: is it a repository that you may commit to, with "
                "a witness in it if you verify?"
            ) from None
        return done.stdout


class HttpKeeper:
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
            LedgerError: if it does not answer with success, in time.
        """
        # In a thread: a timeout of the connection begins anew with every letter that comes.
        answered: Future[bytes] = Future()
        threading.Thread(target=self._tell, args=(answered, body, kind), daemon=True).start()
        try:
            content = answered.result(_SECONDS)
        except urllib.error.HTTPError as error:
            error.close()
            raise LedgerError(f"{_sentence(self.label)} answered {error.code}.") from None
        except TimeoutError:
            raise LedgerError(
                f"{_sentence(self.label)} did not answer in {_SECONDS} seconds."
            ) from None
        except (OSError, ValueError, http.client.HTTPException):
            raise LedgerError(f"{_sentence(self.label)} can't be reached.") from None
        return _bounded(content, self.label)

    def _tell(self, answered: "Future[bytes]", body: bytes | None, kind: str | None) -> None:
        headers = {"User-Agent": "pathveil"} | ({"Content-Type": kind} if kind else {})
        try:
            request = urllib.request.Request(self._address, body, headers)  # noqa: S310
            opener = urllib.request.build_opener(_NoRedirection)
            with opener.open(request, timeout=_SECONDS) as answer:
                answered.set_result(cast("bytes", answer.read(LARGEST + 1)))
        except Exception as error:  # noqa: BLE001  (raised where it is waited for)
            answered.set_exception(error)


class _NoRedirection(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_arguments: object) -> None:
        """Another address than the one that was given is no witness."""


def _bounded(content: bytes, label: str) -> bytes:
    if len(content) > LARGEST:
        raise LedgerError(f"{_sentence(label)} holds more than a witness ever would.")
    return content


def _sentence(label: str) -> str:
    return label[0].upper() + label[1:]
