"""Runs of visits on disk, so that the runs of a unit come together without sorting them all.

Runs go to files by a hash of their unit, each file read again alone and small enough for that: the
work is the same for each run, however many there are. A file that is too large after all is split
once more by further bits of the hash; only a unit by itself is never split. Within a file runs stay
in the order in which they came, so the order of the source is kept without being written down.
"""

from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Final

import numpy as np

from pathveil.raw.bounding import rows_by_code
from pathveil.raw.counting.visit_runs import unit_texts
from pathveil.raw.sources.text_codes import TextCodes, hash_texts

_BITS: Final = 8  # of the hash for each step: 256 files that are open at once
_HASH_BITS: Final = 64
_WRITTEN_AT_ONCE: Final = 1 << 24  # bytes; in smaller portions, the portions would cost the most


class RunFiles:
    """The files of one step, and those of the steps below.

    Args:
        folder: a private folder that exists, for these files only.
        schema: that of the runs.
        most: how many bytes a file may have before it is split once more.
        used: how many bits of the hash, from above, all units here have in common.
    """

    def __init__(self, folder: Path, schema: Any, most: int, used: int = 0) -> None:
        self._folder = folder
        self._schema = schema
        self._most = most
        self._used = used
        self._exit = ExitStack()
        self._writers: dict[int, Any] = {}
        self._waiting: list[Any] = []
        self._told = self._size = 0  # bytes

    @property
    def progress(self) -> tuple[int, int]:
        """The bytes of the files that `paths` has given, and of all."""
        return self._told, self._size

    def add(self, runs: Any) -> None:
        """Write an Arrow batch of runs, at the latest when it is `close`d."""
        self._waiting.append(runs)
        if sum(batch.nbytes for batch in self._waiting) >= _WRITTEN_AT_ONCE:
            self._write()

    def close(self) -> None:
        """Nothing more is to be written. Safe to call twice."""
        try:
            self._write()
        finally:
            self._writers.clear()
            self._exit.close()

    def abandon(self) -> None:
        """Close what is open, if it can be: on a full disk the end of a file can't be written."""
        self._waiting.clear()
        with suppress(OSError):
            self.close()

    def paths(self) -> Iterator[Path]:
        """The files, each of which has all runs of its units. Who reads one removes it."""
        self.close()
        sizes = {path: path.stat().st_size for path in sorted(self._folder.glob("*.runs"))}
        self._size = sum(sizes.values())
        for path, size in sizes.items():
            if size <= self._most or self._used + 2 * _BITS > _HASH_BITS:
                yield path
            else:
                yield from self._split(path)
            self._told += size

    def _split(self, path: Path) -> Iterator[Path]:
        import pyarrow as pa

        folder = path.with_suffix(".split")
        folder.mkdir(mode=0o700)
        files = RunFiles(folder, self._schema, self._most, self._used + _BITS)
        with pa.OSFile(str(path), "rb") as file:
            for batch in pa.ipc.open_stream(file):
                files.add(batch)
        path.unlink()
        yield from files.paths()

    def _write(self) -> None:
        import pyarrow as pa

        runs = pa.Table.from_batches(self._waiting, self._schema).combine_chunks()
        self._waiting.clear()
        shift = np.uint64(_HASH_BITS - self._used - _BITS)
        hashes = hash_texts(unit_texts(runs))
        number = (hashes >> shift & np.uint64((1 << _BITS) - 1)).astype(np.int32)
        starts, order = rows_by_code(number, 1 << _BITS)
        runs = runs.take(order)
        for file in np.flatnonzero(np.diff(starts)).tolist():
            start, stop = starts[file : file + 2].tolist()
            self._writer(file).write_table(runs.slice(start, stop - start))

    def _writer(self, file: int) -> Any:
        import pyarrow as pa

        if file not in self._writers:
            sink = pa.OSFile(str(self._folder / f"{file:03d}.runs"), "wb")
            self._exit.enter_context(sink)
            self._writers[file] = self._exit.enter_context(pa.ipc.new_stream(sink, self._schema))
        return self._writers[file]


def take_units(path: Path) -> Any:
    """Read a file and remove it: an Arrow table in which the runs of a unit follow each other."""
    import pyarrow as pa

    with pa.OSFile(str(path), "rb") as file:
        table = pa.ipc.open_stream(file).read_all().combine_chunks()
    path.unlink()
    texts, codes = unit_texts(table), TextCodes()
    code = codes.add(texts, hash_texts(texts))
    _, order = rows_by_code(code, len(codes))
    return table.take(order)
