"""Parquet files of a bundle, read with suspicion.

A small one may unpack to a huge table: one that somebody else made is asked how large it is before
anything is made of it, and its texts stay dictionaries.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pathveil.errors import ReleaseError
from pathveil.plain_files import MIB, open_plain
from pathveil.promise.certificate import NOT_PRIVATE
from pathveil.release.parquet_pages import PagesError, pages

# The tables of real releases unpack to ten times their files; noise does not compress.
UNPACKED_FREE, UNPACKED_TIMES = 128 * MIB, 64


ROWS_AT_ONCE = 1 << 20  # of a table that is written in parts: what Parquet puts into one group


def write_parquet(path: Path, schema: Any, parts: Iterable[Any], *, is_private: bool) -> None:
    """Write a table, of which a part is held at a time; its metadata says if it is not private.

    Args:
        path: a new file.
        schema: of every part.
        parts: tables of `ROWS_AT_ONCE` rows each, but for the last one.
        is_private: whether it is.
    """
    if not is_private:
        schema = schema.with_metadata({"pathveil": NOT_PRIVATE})
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for part in parts:
            writer.write_table(part.cast(schema))


def is_stamped(table: Any) -> bool:
    """Whether a table says that it is not private."""
    return b"pathveil" in (table.schema.metadata or {})


def read_parquet(path: Path, schema: Any) -> Any:
    """A table of a bundle, with exactly the columns that we write and no missing values.

    Texts come as dictionaries: a long label that occurs a million times is held once.
    """
    try:
        with pq.ParquetFile(path, read_dictionary=_texts(schema)) as file:
            _check_unpacked(path, file.metadata)
            if not file.schema_arrow.equals(_coded(schema)):
                raise ReleaseError(f"{path} does not have the columns of a release.")
            # One group after the other: Arrow can't put lists of several dictionaries together.
            groups = [file.read_row_group(group) for group in range(file.num_row_groups)]
            table = pa.concat_tables(groups) if groups else file.read()
    except KeyError:
        raise ReleaseError(f"{path} does not have the columns of a release.") from None
    except (pa.ArrowException, PagesError, OSError, UnicodeDecodeError):  # a name may be no text
        raise ReleaseError(f"{path} is not a readable Parquet file.") from None
    if any(column.null_count for column in table.columns):
        raise ReleaseError(f"{path} does not have the columns of a release.")
    return table


def _texts(schema: Any) -> list[str]:
    """The columns of texts, by what Parquet calls them."""
    ends = {pa.string(): "", pa.list_(pa.string()): ".list.element"}
    return [f"{field.name}{ends[field.type]}" for field in schema if field.type in ends]


def _coded(schema: Any) -> Any:
    """The schema of a table whose texts are read as dictionaries."""
    texts = pa.dictionary(pa.int32(), pa.string())
    kinds = {pa.string(): texts, pa.list_(pa.string()): pa.list_(pa.field("element", texts))}
    return pa.schema([(field.name, kinds.get(field.type, field.type)) for field in schema])


def positions(chunks: list[Any], labels: tuple[str, ...]) -> NDArray[np.int32]:
    """The positions of texts among the labels, −1 for one that is none or missing."""
    known, parts = pa.array(labels, pa.string()), [np.empty(0, np.int32)]
    for texts in chunks:
        found = pc.index_in(texts.dictionary, value_set=known).fill_null(-1)
        codes = np.append(found.to_numpy(zero_copy_only=False), -1).astype(np.int32)
        parts.append(codes[texts.indices.fill_null(-1).to_numpy(zero_copy_only=False)])
    return np.concatenate(parts)


def _check_unpacked(path: Path, metadata: Any) -> None:
    """Refuse a Parquet file that says that it unpacks to far more than it is.

    Args:
        path: the file.
        metadata: pyarrow's, which is read from the end of the file without the tables.

    Raises:
        ReleaseError: if it does.
    """
    columns = [
        metadata.row_group(group).column(column)
        for group in range(metadata.num_row_groups)
        for column in range(metadata.num_columns)
    ]
    if any(column.num_values < 0 for column in columns) or metadata.num_rows < 0:
        raise ReleaseError(f"{path} is not a readable Parquet file.")
    values = max(sum(column.num_values for column in columns), metadata.num_rows)
    packed = sum(column.total_uncompressed_size for column in columns)
    _check_size(path, max(8 * values, packed))
    # What it says at its end may be a lie; what is allocated stands before the pages.
    values = packed = 0
    with open_plain(path) as file:
        for page in pages(file, metadata):
            values, packed = values + page.values, packed + page.unpacked
            _check_size(path, max(8 * values, packed))


def _check_size(path: Path, size: int) -> None:
    if size > UNPACKED_FREE + UNPACKED_TIMES * path.stat().st_size:
        raise ReleaseError(
            f"{path} would unpack to {size >> 20:,} MiB or more, far more than noisy counts can: "
            "it was not written by pathveil."
        )
