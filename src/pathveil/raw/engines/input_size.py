"""How large an input is, before anything of it is read: by its files, or a table's metadata."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from pathveil.errors import PathveilError
from pathveil.raw.sources.databases.addresses import named_database
from pathveil.raw.sources.lake_tables import Snapshot, named_table
from pathveil.raw.sources.object_store import StoredFiles, is_stored
from pathveil.raw.sources.opening import parquet_files

_PARQUET: Final = ".parquet"
_ANY_OTHER: Final = ".csv"

# Bytes of memory that reading takes per byte of the files, about; all but CSV is compressed.
_IN_MEMORY: Final = {
    _PARQUET: 24, ".pq": 24, _ANY_OTHER: 4, ".gz": 40, ".zip": 40, ".xlsx": 40,
}  # fmt: skip
# Bytes that DuckDB spills, or Spark keeps on its workers' disks, per byte of the files at least, if
# some columns are not used; and with all of them used, as it was measured for DuckDB: Spark's
# shuffle of bounding was a little less than that (docs/scaling.md).
_SPILLED_AT_LEAST: Final = {_PARQUET: 0.5, ".pq": 0.5, _ANY_OTHER: 0.125}
_SPILLED_AT_MOST: Final = {_PARQUET: 6.0, ".pq": 6.0, _ANY_OTHER: 1.0}


@dataclass(frozen=True)
class InputSize:
    """What an input takes by the size of its files; 0 where nobody knows it.

    Args:
        source: where the rows are, as for `read_trajectories`; or the rows themselves.
        snapshot: which state of a table that keeps its history; None for the newest.
    """

    source: Any
    snapshot: Snapshot = None

    @property
    def in_memory(self) -> float:
        """About how many bytes of memory its rows take."""
        return self._by(_IN_MEMORY)

    @property
    def spilled_at_least(self) -> float:
        """How many bytes go to disks if some columns are not used."""
        return self._by(_SPILLED_AT_LEAST)

    @property
    def spilled_at_most(self) -> float:
        """And if all are."""
        return self._by(_SPILLED_AT_MOST)

    def _by(self, per_byte: Mapping[str, float]) -> float:
        return sum(
            per_byte.get(kind, per_byte[_ANY_OTHER]) * size for kind, size in self._bytes.items()
        )

    @cached_property
    def _bytes(self) -> Mapping[str, int]:
        """The bytes of the files of each kind."""
        if not isinstance(self.source, str | os.PathLike):
            return {}
        try:
            return self._looked_up()
        except (OSError, ValueError, PathveilError):
            return {}  # reading will say what is wrong

    def _looked_up(self) -> Mapping[str, int]:
        source = self.source
        if isinstance(source, str) and named_database(source) is not None:
            return {}
        if lake := named_table(source):
            return {_PARQUET: _size_of_table(*lake, self.snapshot)}
        if isinstance(source, str) and is_stored(source):
            return {_PARQUET: StoredFiles.at(source).size}
        found: dict[str, int] = {}
        path = Path(source)
        for file in parquet_files(path) or [path]:
            kind = file.suffix.lower()
            found[kind] = found.get(kind, 0) + file.stat().st_size
        return found


def _size_of_table(kind: str, place: str, snapshot: Snapshot) -> int:
    """The bytes of the files of a table's snapshot, as its metadata says."""
    if kind == "iceberg":
        from pathveil.raw.sources.iceberg_table import IcebergSnapshot

        return IcebergSnapshot(place, snapshot).size
    from pathveil.raw.sources.delta_table import DeltaSnapshot

    return DeltaSnapshot(place, snapshot).size
