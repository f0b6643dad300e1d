"""Delta tables, through `deltalake`: the log says which files a version has; rows are streamed."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pathveil.errors import InputError, ParameterError
from pathveil.progress_reports import report_progress
from pathveil.raw.sources.databases.queries import ask
from pathveil.raw.sources.lake_tables import Snapshot

_FEATURE = re.compile(r"[Ff]eature '(\w{1,60})' is not supported")


class DeltaSnapshot:
    """A version of a Delta table.

    Args:
        place: its folder, or an address such as ``s3://bucket/table``.
        snapshot: the number of the version; None for the newest.

    Raises:
        ParameterError: if `deltalake` is missing, or there is no such version.
        InputError: if there is no such table, or it has a feature that `deltalake` can't read.
    """

    def __init__(self, place: str, snapshot: Snapshot) -> None:
        self.label = "the Delta table" if "://" in place else f"the Delta table {place}"
        version = _version_number(snapshot)
        self._is_local = "://" not in place
        self._table = ask(lambda: _package().DeltaTable(place), self._problem_opening)
        if version is not None:
            self._go_back(version)
        self.schema: Any = ask(self._arrow_schema, self._problem_opening)

    @property
    def snapshot(self) -> int:
        """The number of the version."""
        return int(self._table.version())

    @property
    def size(self) -> int:
        """The bytes of its data files, as its log says."""
        return self._summed("size_bytes")

    def plan(self, names: Sequence[str]) -> None:
        """Plan the scan, which looks at the log only; of local files also whether they are there.

        Raises:
            InputError: if it can't be read, or files of an old version have been removed.
        """
        self._scan(names)
        if not self._is_local:
            return
        paths = ask(self._table.file_uris, self._problem_opening)
        if not all(Path(path).exists() for path in paths):
            raise InputError(
                f"Files of {self.label} are missing: those of an old version are removed by "
                "VACUUM. Choose another snapshot."
            )

    def batches(self, names: Sequence[str]) -> Iterator[Any]:
        """The rows, with deleted ones left out."""
        reader = self._scan(names)
        # What deletion vectors leave out is among them; without statistics the log tells of none.
        rows, done = self._summed("num_records"), 0
        try:
            while (batch := ask(lambda: next(reader, None), self._problem_reading)) is not None:
                yield batch
                done += batch.num_rows
                if rows:
                    report_progress(done, rows)
        finally:
            reader.close()

    def _summed(self, fact: str) -> int:
        """What the log says of the files of this version; 0 if it does not."""
        import pyarrow as pa
        import pyarrow.compute as pc

        files = pa.table(ask(self._table.get_add_actions, self._problem_opening))
        return int(pc.sum(files[fact]).as_py() or 0) if fact in files.column_names else 0

    def _scan(self, names: Sequence[str]) -> Any:
        import pyarrow as pa

        return ask(
            lambda: pa.RecordBatchReader.from_stream(self._table.scan(columns=list(names))),
            self._problem_opening,
        )

    def _arrow_schema(self) -> Any:
        import pyarrow as pa

        return pa.schema(self._table.schema().to_arrow())

    def _go_back(self, version: int) -> None:
        newest = self._table.version()
        if version > newest:
            raise ParameterError(
                f"The Delta table has no version {version}; its newest is {newest}."
            )
        ask(
            lambda: self._table.load_as_version(version),
            lambda _: (
                f"Version {version} of {self.label} can't be read: its log has been removed, or "
                "the version needs what the installed deltalake can't read."
            ),
        )

    def _problem_opening(self, error: Exception) -> str:
        found = _FEATURE.search(str(error))
        if found is not None:  # a word of the table's protocol, not of its rows
            return (
                f"Can't read {self.label}: it has the feature {found[1]!r}, which the installed "
                "deltalake can't read. Update deltalake, or turn the feature off."
            )
        return (
            f"Can't read {self.label}: there is none that you may read, or its log is damaged. "
            "Give the folder that holds _delta_log. (For an object store, keys and endpoint come "
            "from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_ENDPOINT_URL.)"
        )

    def _problem_reading(self, _error: Exception) -> str:
        return (
            f"The rows of {self.label} can't be read: files are missing or damaged, or the "
            "storage went away."
        )


def _version_number(snapshot: Snapshot) -> int | None:
    if snapshot is None:
        return None
    text = str(snapshot).strip()
    if not (text.isascii() and text.isdigit() and len(text) < 19):  # noqa: PLR2004  (64 bits)
        raise ParameterError(
            "A snapshot of a Delta table is the number of a version, such as 3 "
            "(deltalake's history() lists them)."
        )
    return int(text)


def _package() -> Any:
    try:
        import deltalake
    except ImportError:
        raise ParameterError(
            "Reading a Delta table needs a package: install pathveil[delta]; or read it with "
            "Spark (--master)."
        ) from None
    return deltalake
