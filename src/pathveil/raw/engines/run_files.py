"""Runs of visits on disk, so that the runs of a unit come together without sorting them all.

Runs go to files by a hash of their unit, each file read again alone and small enough for that: the
work is the same for each run, however many there are. A file that is too large after all is split
once more by further bits of the hash; only a unit by itself is never split. Within a file runs stay
in the order in which they came, so the order of the source is kept without being written down.

Runs are raw data. What is written is encrypted (AES-256-GCM) with a key that only this process has,
in memory: if the process and the watcher of its folder are killed, nobody can read what they leave.
"""

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from pathveil.progress_reports import report_progress
from pathveil.raw.bounding import rows_by_code
from pathveil.raw.engines.visit_runs import unit_texts
from pathveil.raw.sources.text_codes import TextCodes, hash_texts

_BITS: Final = 9  # of the hash for each step: 512 files
_HASH_BITS: Final = 64
_NONCE: Final = 12  # bytes; random, so that no two of a key's 2³² pieces ever share one
_SIZE: Final = 8  # bytes that say how long a piece is
_WRITTEN_AT_ONCE: Final = 1 << 25  # bytes; in smaller portions, the portions would cost the most


class RunFiles:
    """The files of one step, and those of the steps below. None is open between two calls.

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
        self._waiting: list[Any] = []
        self._reported = self._size = 0  # bytes

    @property
    def progress(self) -> tuple[int, int]:
        """The bytes of the files that `paths` has given, and of all."""
        return self._reported, self._size

    def add(self, runs: Any) -> None:
        """Write an Arrow batch of runs, at the latest with `flush`."""
        self._waiting.append(runs)
        if sum(batch.nbytes for batch in self._waiting) >= _WRITTEN_AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Write what waits."""
        import pyarrow as pa

        runs = pa.Table.from_batches(self._waiting, self._schema).combine_chunks()
        self._waiting.clear()
        shift = np.uint64(_HASH_BITS - self._used - _BITS)
        hashes = hash_texts(unit_texts(runs))
        number = (hashes >> shift & np.uint64((1 << _BITS) - 1)).astype(np.int32)
        starts, order = rows_by_code(number, 1 << _BITS)
        for batch in runs.take(order).to_batches():  # one, or none
            for file in np.flatnonzero(np.diff(starts)).tolist():
                start, stop = starts[file : file + 2].tolist()
                with (self._folder / f"{file:03d}.runs").open("ab") as sink:
                    sink.write(sealed(batch.slice(start, stop - start).serialize()))

    def paths(self) -> Iterator[Path]:
        """The files, each of which has all runs of its units. Who reads one removes it."""
        self.flush()
        sizes = {path: path.stat().st_size for path in sorted(self._folder.glob("*.runs"))}
        self._size = sum(sizes.values())
        for path, size in sizes.items():
            if size <= self._most or self._used + 2 * _BITS > _HASH_BITS:
                yield path
            else:
                yield from self._split(path)
            self._reported += size

    def _split(self, path: Path) -> Iterator[Path]:
        folder = path.with_suffix(".split")
        folder.mkdir(mode=0o700)
        files = RunFiles(folder, self._schema, self._most, self._used + _BITS)
        for batch in _batches(path, self._schema):
            files.add(batch)
        path.unlink()
        yield from files.paths()


def take_units(path: Path, schema: Any) -> Any:
    """Read a file and remove it: an Arrow table in which the runs of a unit follow each other."""
    import pyarrow as pa

    table = pa.Table.from_batches(_batches(path, schema), schema).combine_chunks()
    path.unlink()
    texts, codes = unit_texts(table), TextCodes()
    code = codes.add(texts, hash_texts(texts))
    _, order = rows_by_code(code, len(codes))
    return table.take(order)


def _batches(path: Path, schema: Any) -> Iterator[Any]:
    """What was written to a file, piece by piece."""
    import pyarrow as pa

    for piece in sealed_pieces(path):
        yield pa.ipc.read_record_batch(pa.ipc.read_message(unsealed(piece)), schema)


def sealed(piece: Any) -> bytes:
    """A piece as it may be written: encrypted, with its length before it."""
    nonce = os.urandom(_NONCE)
    written: bytes = nonce + _cipher().encrypt(nonce, memoryview(piece).cast("B"), None)
    return len(written).to_bytes(_SIZE, "little") + written


def sealed_pieces(path: Path) -> Iterator[bytes]:
    """The pieces of a file, still encrypted, so that threads can share that work."""
    everything = path.stat().st_size
    with path.open("rb") as file:
        while size := file.read(_SIZE):
            yield file.read(int.from_bytes(size, "little"))
            report_progress(file.tell(), everything)


def unsealed(piece: bytes) -> bytes:
    """What was written; a piece that was changed or cut does not pass."""
    content: bytes = _cipher().decrypt(piece[:_NONCE], piece[_NONCE:], None)
    return content


@cache
def _cipher() -> Any:
    """Of this process, with a key that is written nowhere."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return AESGCM(AESGCM.generate_key(bit_length=256))
