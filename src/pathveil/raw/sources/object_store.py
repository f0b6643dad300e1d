"""Parquet files in an object store, ``s3://bucket/…``, through Arrow's file system for it.

Keys come from where Amazon's own tools look for them (``AWS_ACCESS_KEY_ID``, a profile, a role),
another server than Amazon's from ``AWS_ENDPOINT_URL``; so none of it stands on a command line. What
a server answers is never quoted: it names keys, and folders of partitions are values of rows.
"""

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from pathveil.errors import InputError
from pathveil.raw.sources.databases.queries import ask

if TYPE_CHECKING:
    from pathveil.raw.sources.parquet_file import ParquetFiles

_SCHEME: Final = "s3://"
_WILD: Final = "*["
PARQUET_NAMES: Final = (".parquet", ".pq")


def is_stored(source: object) -> bool:
    """Whether an input is the address of something in an object store."""
    return isinstance(source, str) and source.startswith(_SCHEME)


def is_data(path: PurePosixPath) -> bool:
    """Whether a file, by its path in a folder, is data: what begins with . or _ is not."""
    is_hidden = any(part.startswith((".", "_")) for part in path.parts)
    return path.name.endswith(PARQUET_NAMES) and not is_hidden


@dataclass(frozen=True, slots=True)
class StoredFiles:
    """Parquet files in a store.

    Attributes:
        store: the Arrow file system.
        paths: the files, by bucket and key, in the order of their keys.
        root: the folder below which folders are partitions; None for a single file.
        size: in bytes, all of them.
    """

    store: Any
    paths: list[str]
    root: str | None
    size: int

    @classmethod
    def at(cls, address: str) -> "StoredFiles":
        """A file, a folder or a pattern, whose ``*`` stands for a part of one name.

        Raises:
            InputError: if there is no Parquet file, or the store can't be reached.
        """
        path = PurePosixPath(address.removeprefix(_SCHEME))
        if not path.parts or not address.isprintable():
            raise InputError(
                "An address in an object store is s3://BUCKET/FOLDER, s3://BUCKET/FILE.parquet or "
                "a pattern such as s3://BUCKET/taps/2026-*/*.parquet."
            )
        return ask(lambda: cls._listed(path), lambda _: _PROBLEM)

    @classmethod
    def _listed(cls, path: PurePosixPath) -> "StoredFiles":
        from pyarrow.fs import FileSelector, FileSystem, FileType

        store, _ = FileSystem.from_uri(f"{_SCHEME}{path.parts[0]}")
        root = _root_of(path)
        if root == path and store.get_file_info(str(path)).type == FileType.File:
            return cls._single(store, path)
        found = {
            PurePosixPath(info.path): info.size
            for info in store.get_file_info(FileSelector(str(root), recursive=True))
            if info.type == FileType.File
        }
        wanted = sorted(file for file in found if is_data(file.relative_to(root)))
        if root != path:
            wanted = [file for file in wanted if _fits(file, path)]
        if not wanted:
            raise InputError(
                "There is no Parquet file at this address of the object store; give that of a "
                "file, of a folder of them, or a pattern."
            )
        return cls(store, list(map(str, wanted)), str(root), sum(found[file] for file in wanted))

    @classmethod
    def _single(cls, store: Any, path: PurePosixPath) -> "StoredFiles":
        if not path.name.endswith(PARQUET_NAMES):
            raise InputError(
                "From an object store pathveil reads Parquet files (.parquet), and Delta and "
                "Iceberg tables (delta:s3://…); copy other files to this machine first."
            )
        return cls(store, [str(path)], None, store.get_file_info(str(path)).size)


def open_stored(address: str) -> "ParquetFiles":
    """Open Parquet files of a store: their schemas are read, their rows are not.

    Raises:
        InputError: if there are none, or one is damaged, or the store can't be reached.
    """
    from pathveil.raw.sources.parquet_file import ParquetFiles

    files = StoredFiles.at(address)
    return ask(
        lambda: ParquetFiles(files.paths, root=files.root, label=address, store=files.store),
        lambda _: _PROBLEM,
    )


def _root_of(path: PurePosixPath) -> PurePosixPath:
    """The folder below which a folder or a pattern is searched."""
    parts = path.parts
    wild = [i for i, part in enumerate(parts) if any(sign in part for sign in _WILD)]
    return PurePosixPath(*parts[: wild[0]]) if wild else path


def _fits(file: PurePosixPath, pattern: PurePosixPath) -> bool:
    return len(file.parts) == len(pattern.parts) and file.match(str(pattern))


_PROBLEM: Final = (
    "Can't read from the object store: there is no such bucket or key, the store can't be reached, "
    "or it does not accept the keys. They come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, "
    "or a profile; the region from AWS_REGION; a server that is not Amazon's from AWS_ENDPOINT_URL."
)
