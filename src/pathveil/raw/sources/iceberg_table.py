"""Iceberg tables, through `pyiceberg`: by their name in a catalog, or by a metadata file."""

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

from pathveil.errors import ParameterError
from pathveil.progress_reports import report_progress
from pathveil.raw.sources.databases.queries import ask
from pathveil.raw.sources.lake_tables import Snapshot

_METADATA = ".metadata.json"
_EQUALITY = "equality deletes"
_SIZE = "total-files-size"
_NAMED = 3  # snapshots, where one is asked for that is not there


class IcebergSnapshot:
    """A snapshot of an Iceberg table.

    Args:
        place: ``namespace.table`` in the catalog that pyiceberg's own configuration names
            (``PYICEBERG_CATALOG__DEFAULT__URI``, ``.pyiceberg.yaml``); or the path or address of
            a metadata file, ``….metadata.json``.
        snapshot: the id, a tag or a branch; None for the newest.

    Raises:
        ParameterError: if `pyiceberg` is missing, or there is no such snapshot.
        InputError: if there is no such table.
    """

    def __init__(self, place: str, snapshot: Snapshot) -> None:
        self.label = "the Iceberg table"
        self._table = ask(lambda: _loaded(place), self._problem_opening)
        self._snapshot = self._found(snapshot)
        self._read_schema = ask(lambda: self._scan().projection(), self._problem_opening)
        self.schema: Any = ask(self._read_schema.as_arrow, self._problem_opening)
        self._tasks: list[Any] | None = None

    @property
    def snapshot(self) -> int | None:
        """Its id; None of a table to which nothing was ever written."""
        found = self._chosen()
        return None if found is None else int(found.snapshot_id)

    @property
    def size(self) -> int:
        """The bytes of its data files, as its metadata says; 0 if it does not."""
        snapshot = self._chosen()
        summary = None if snapshot is None else snapshot.summary
        return 0 if summary is None else int(summary.additional_properties.get(_SIZE, 0))

    def plan(self, names: Sequence[str]) -> None:  # noqa: ARG002  (files are the same for all)
        """Look at the manifests: which files there are, and which deletes.

        Raises:
            InputError: if pyiceberg can't read one kind of them, or can't reach them.
        """
        if self._tasks is None:
            self._tasks = ask(lambda: list(self._scan().plan_files()), self._problem_planning)

    def batches(self, names: Sequence[str]) -> Iterator[Any]:
        """The rows, with deleted ones left out. One file at a time is in memory.

        (``to_arrow_batch_reader`` begins to read all files at once, and keeps what nobody has
        asked for yet.)
        """
        from pyiceberg.expressions import AlwaysTrue
        from pyiceberg.io.pyarrow import ArrowScan

        self.plan(names)
        tasks = self._tasks or []
        reader = ArrowScan(
            self._table.metadata, self._table.io, self._read_schema.select(*names), AlwaysTrue()
        )
        for number, task in enumerate(tasks):
            batches = iter(reader.to_record_batches([task]))
            while (batch := self._next(batches)) is not None:
                yield batch
            report_progress(number + 1, len(tasks))

    def _next(self, batches: Iterator[Any]) -> Any:
        return ask(lambda: next(batches, None), self._problem_reading)

    def _scan(self) -> Any:
        return self._table.scan(snapshot_id=self._snapshot)

    def _chosen(self) -> Any:
        if self._snapshot is None:
            return self._table.current_snapshot()
        return self._table.snapshot_by_id(self._snapshot)

    def _found(self, snapshot: Snapshot) -> int | None:
        """The id of a snapshot by its id, its tag or its branch."""
        if snapshot is None:
            return None
        text = str(snapshot).strip()
        named = self._table.snapshot_by_name(text)
        if named is None and text.isascii() and text.isdigit():
            named = self._table.snapshot_by_id(int(text))
        if named is None:
            raise ParameterError(
                f"The Iceberg table has no snapshot {text[:80]!r}. Give the id of one, or a tag or "
                f"a branch.{self._newest()}"
            )
        return int(named.snapshot_id)

    def _newest(self) -> str:
        """Which there are, the newest first: metadata, which says nothing of a row."""
        of_last = sorted(self._table.snapshots(), key=lambda one: -one.timestamp_ms)[:_NAMED]
        named = (
            f"{one.snapshot_id} ({datetime.fromtimestamp(one.timestamp_ms / 1000, UTC):%F %T} UTC)"
            for one in of_last
        )
        return f" Its newest: {', '.join(named)}." if of_last else " It has none yet."

    def _problem_opening(self, _error: Exception) -> str:
        return (
            "Can't read the Iceberg table: the catalog does not have it, or can't be reached. "
            "Give iceberg:NAMESPACE.TABLE, and say where the catalog is as pyiceberg wants it "
            "(PYICEBERG_CATALOG__DEFAULT__URI or .pyiceberg.yaml); or iceberg:PATH of a file that "
            f"ends with {_METADATA}."
        )

    def _problem_planning(self, error: Exception) -> str:
        if _EQUALITY in str(error):
            return (
                "Can't read the Iceberg table: it has equality deletes, which pyiceberg can't "
                "read. Rewrite its data files (Spark's rewrite_data_files) first."
            )
        return (
            "Can't read the Iceberg table: the manifests of this snapshot are missing or damaged, "
            "or the storage can't be reached."
        )

    def _problem_reading(self, _error: Exception) -> str:
        return (
            "The rows of the Iceberg table can't be read: files are missing or damaged, or the "
            "storage went away."
        )


def _loaded(place: str) -> Any:
    try:
        import pyiceberg.catalog
        import pyiceberg.table
    except ImportError:
        raise ParameterError(
            "Reading an Iceberg table needs a package: install pathveil[iceberg]; or read it with "
            "Spark (--master)."
        ) from None
    if place.endswith(_METADATA):
        return pyiceberg.table.StaticTable.from_metadata(place, _store_properties())
    # A catalog in a database is made if it is not there, unless this is said: we only read.
    with closing(pyiceberg.catalog.load_catalog(init_catalog_tables="false")) as catalog:
        return catalog.load_table(place)


def _store_properties() -> dict[str, str]:
    """Where an object store is: a catalog's configuration says it, without one the environment."""
    said = {"s3.endpoint": "AWS_ENDPOINT_URL", "s3.region": "AWS_REGION"}
    return {name: os.environ[variable] for name, variable in said.items() if variable in os.environ}
