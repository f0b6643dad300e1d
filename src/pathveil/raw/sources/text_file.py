"""A text file as UTF-8 bytes: unpacked (gzip, zip) and decoded while it is read, a block at a time.

Which encoding holds is a public choice, and UTF-8 if none is made. Nothing is guessed from rows:
one person's ``é`` would decide how everybody's bytes are read. The first bytes of a file are
another matter: a byte-order mark stands before the header, belongs to no row, and says that the
program which saved the file wrote UTF-16. So it is with the kind of packing.

What can't be decoded spoils its own cell. A byte without a character (0x81 in Windows-1252), half a
character of UTF-16: each becomes a code that no UTF-8 text may hold, so that its row is dropped as
any other row with bytes that are not text.
"""

import codecs
import gzip
import io
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from itertools import product
from pathlib import Path
from typing import IO, BinaryIO, Final

from pathveil.errors import InputError, ParameterError, did_you_mean
from pathveil.plain_files import open_named

DEFAULT_ENCODING: Final = "utf-8"
_USUAL: Final = ("utf-8", "utf-16", "windows-1252", "latin-1")
_UTF_8: Final = ("utf-8", "utf-8-sig")
_UTF_16: Final = {"utf-16": "utf-16-le", "utf-16-le": "utf-16-le", "utf-16-be": "utf-16-be"}
_MARKS: Final = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_ASCII: Final = bytes(range(128))
_NO_CHARACTER: Final = "\ufffe"  # so in a table of Python's own charmaps
_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"

# A few bytes can unpack to more than any disk holds. Tables of visits shrink to a tenth or a
# thirtieth; both bounds must be passed before a file is taken for a bomb.
LARGEST_UNPACKED: Final = 2**30
LARGEST_RATIO: Final = 200


def check_encoding(name: object) -> str:
    """The name that Python has for an encoding which files can have.

    UTF-8, UTF-16, and every encoding of one byte per character that has ASCII in its place. In
    others a damaged character can take a delimiter with it (Shift JIS), or a few bytes of one row
    change what all that follow mean (ISO-2022-JP).

    Raises:
        ParameterError: if it is none of these.
    """
    try:
        known = codecs.lookup(str(name)).name
        if known in _UTF_8:
            return DEFAULT_ENCODING
        if known in _UTF_16 or _is_single_byte(known):
            return known
    except (LookupError, ValueError, UnicodeError):
        pass
    raise ParameterError(
        f"There is no encoding {str(name)[:80]!r} that a file can have: give utf-8, utf-16, "
        f"windows-1252, latin-1 or another of one byte per character.{did_you_mean(name, _USUAL)}"
    )


@cache
def _is_single_byte(name: str) -> bool:
    """Whether each byte is a character, or none, whatever stands before and after it."""
    characters = _characters(name)
    if len(characters) != 256 or characters[:128] != _ASCII.decode("ascii"):  # noqa: PLR2004
        return False
    # Some take a backslash and a letter together.
    pairs = bytes(byte for pair in product(range(256), repeat=2) for byte in pair)
    return pairs.decode(name, "replace") == codecs.charmap_decode(pairs, "replace", characters)[0]


@cache
def _characters(name: str) -> str:
    """The character of each byte on its own; `_NO_CHARACTER` if it has none."""
    alone = (bytes([byte]).decode(name, "replace") for byte in range(256))
    return "".join(alone).replace("\ufffd", _NO_CHARACTER)


def is_packed(first: bytes) -> bool:
    """Whether a file that begins so is packed by gzip or zip."""
    return first.startswith((_GZIP, _ZIP))


def is_zip(first: bytes) -> bool:
    """Whether a file that begins so is packed by zip, as workbooks are."""
    return first.startswith(_ZIP)


class TextFile:
    """A text file, packed or not.

    Args:
        path: the file.
        encoding: as `check_encoding` returns it. UTF-8 yields to a mark of UTF-16.

    Raises:
        InputError: if it is packed and does not hold one file.
        OSError: if it can't be opened.
    """

    def __init__(self, path: Path, encoding: str = DEFAULT_ENCODING) -> None:
        self.path = path
        with open_named(path) as file:
            first = file.read(4)
        self._packing = first if is_packed(first) else b""
        with self._unpacked() as (unpacked, _):
            mark = unpacked.read(2)
        self.encoding = encoding
        if encoding in (DEFAULT_ENCODING, *_UTF_16):
            self.encoding = _MARKS.get(mark, _UTF_16.get(encoding, encoding))
        self._mark = 2 if mark in _MARKS and self.encoding.startswith("utf-16") else 0

    @contextmanager
    def opened(self) -> Iterator[tuple[BinaryIO, BinaryIO]]:
        """The text as UTF-8, and the file itself, whose place tells how far it is read."""
        with self._unpacked() as (unpacked, file):
            unpacked.read(self._mark)
            if self.encoding == DEFAULT_ENCODING:
                yield unpacked, file
            else:
                yield io.BufferedReader(_Recoded(unpacked, self.encoding)), file

    @contextmanager
    def _unpacked(self) -> Iterator[tuple[BinaryIO, BinaryIO]]:
        with ExitStack() as stack:
            file = stack.enter_context(open_named(self.path))
            if not self._packing:
                yield file, file
                return
            inner: IO[bytes] | gzip.GzipFile
            if is_zip(self._packing):
                inner = stack.enter_context(_only_member(self.path, file))
            else:
                inner = stack.enter_context(gzip.GzipFile(fileobj=file))
            bounded = _Unpacked(inner, self.path, self.path.stat().st_size)
            yield io.BufferedReader(bounded), file


@contextmanager
def _only_member(path: Path, file: BinaryIO) -> Iterator[IO[bytes]]:
    """The one file in a zip archive."""
    damaged = InputError(f"The file {path} is not a zip archive that can be read.")
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        raise damaged from None
    with archive:
        members = [
            info
            for info in archive.infolist()
            if not info.is_dir() and not info.filename.startswith(("__MACOSX/", "."))
        ]
        if len(members) != 1:
            raise InputError(
                f"The archive {path} holds {len(members)} files; it must hold one table. Unpack "
                "it and give the file."
            )
        if members[0].flag_bits & 1:
            raise InputError(f"The archive {path} has a password; unpack it and give the file.")
        try:
            inner = archive.open(members[0])
        except (zipfile.BadZipFile, ValueError, NotImplementedError):
            raise damaged from None
        with inner:
            yield inner


class _Unpacked(io.RawIOBase):
    """What unpacks, within bounds."""

    def __init__(self, inner: IO[bytes] | gzip.GzipFile, path: Path, packed: int) -> None:
        super().__init__()
        self._inner, self._path = inner, path
        self._left = max(LARGEST_UNPACKED, LARGEST_RATIO * packed)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview") -> int:  # type: ignore[override]
        try:
            data = self._inner.read(len(buffer))
        except InputError:
            raise
        except Exception:  # noqa: BLE001  (zlib and zipfile have many; none may be quoted)
            data = None
        if data is None:
            raise InputError(
                f"The file {self._path} is damaged, or was cut off when it was packed."
            )
        self._left -= len(data)
        if self._left < 0:
            raise InputError(
                f"The file {self._path} unpacks to more than {LARGEST_RATIO} times its size and "
                f"{LARGEST_UNPACKED // 2**30} GB; unpack it yourself if it is what it should be."
            )
        buffer[: len(data)] = data
        return len(data)


class _Recoded(io.RawIOBase):
    """Text of another encoding as UTF-8."""

    def __init__(self, inner: BinaryIO, encoding: str) -> None:
        super().__init__()
        self._inner = inner
        # A table has no memory: of a file of one byte per character each byte is read on its own.
        self._table = None if encoding in _UTF_16.values() else _characters(encoding)
        self._decoder = codecs.getincrementaldecoder(encoding)("surrogatepass")
        self._waiting = b""
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview") -> int:  # type: ignore[override]
        while not self._waiting and not self._ended:
            self._waiting = self._more(len(buffer)).encode("utf-8", "surrogatepass")
        taken = self._waiting[: len(buffer)]
        self._waiting = self._waiting[len(buffer) :]
        buffer[: len(taken)] = taken
        return len(taken)

    def _more(self, size: int) -> str:
        data = self._inner.read(size)
        self._ended = not data
        if self._table is not None:
            return codecs.charmap_decode(data, "surrogateescape", self._table)[0]
        try:
            return self._decoder.decode(data, self._ended)
        except UnicodeDecodeError:  # half a character at the very end
            return "\ud800"
