"""Counts near 2⁶³: numbers of the tree and the trajectories are replaced, and the hashes fit.

The first byte chooses among three bundles; then each ten bytes choose a column, a row and a number.
"""

import contextlib
import hashlib
import io
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from fuzz.bundles import Bundle, bundles, lay_out
from fuzz.harness import Finding

from pathveil.analysis.flows import transitions
from pathveil.errors import ReleaseError
from pathveil.promise.certificate import CERTIFICATE_FILE
from pathveil.release import bundle_tables
from pathveil.release.bundle import read_release

COLUMNS = (
    *((bundle_tables.TREE, name) for name in ("noisy_count", "estimate", "parent")),
    (bundle_tables.TRAJECTORIES, "count"),
)
CHANGE = 10


def read(data: bytes, folder: Path) -> None:
    """Read it, and sum what was accepted: exactly, and as the code does."""
    which, rest = (data[:1] or b"\0")[0], data[1:]
    bundle = dict(bundles()[which % len(bundles())])
    for at in range(0, len(rest) - CHANGE + 1, CHANGE):
        column, row = rest[at], rest[at + 1]
        value = int.from_bytes(rest[at + 2 : at + CHANGE], "big", signed=True)
        _replace(bundle, *COLUMNS[column % len(COLUMNS)], row, value)
    release = read_release(lay_out(bundle, folder))
    weights = release.paths().weights.tolist()
    if len(release) != sum(weights) or any(weight < 1 for weight in weights):
        raise Finding("a sum left 64 bits")
    moves = sum(
        weight * (n - 1)
        for weight, n in zip(weights, release.paths().lengths.tolist(), strict=True)
    )
    if int(transitions(release).counts.sum()) != moves:
        raise Finding("a sum of moves left 64 bits")
    if sum(weights) < 10**6:
        release.to_sequences()
    elif sum(weights) > 2**31:
        with contextlib.suppress(ReleaseError):
            release.to_arrow()
            raise Finding("an export has no bound")


def _replace(bundle: Bundle, name: str, column: str, row: int, value: int) -> None:
    table = pq.read_table(io.BytesIO(bundle[name]))
    if not len(table):
        return
    values = table[column].to_numpy().copy()
    values[row % len(values)] = np.int64(value)
    field = table.schema.get_field_index(column)
    table = table.set_column(field, table.schema.field(column), pa.array(values))
    written = io.BytesIO()
    pq.write_table(table, written)
    bundle[name] = written.getvalue()
    certificate = json.loads(bundle[CERTIFICATE_FILE])
    digest = hashlib.sha256(bundle[name]).hexdigest()
    certificate["files"][name] = {"sha256": digest, "bytes": len(bundle[name])}
    bundle[CERTIFICATE_FILE] = json.dumps(certificate, indent=2).encode()


def seeds() -> dict[str, bytes]:
    """Nothing changed; large and small numbers in each column."""
    numbers = (2**62, 2**63 - 1, -(2**63), 10**15, 10**12, -1)
    made = {f"unchanged-{which}": bytes((which,)) for which in range(len(bundles()))}
    return made | {
        f"column-{column}-{i}": bytes((0, column, 0)) + number.to_bytes(8, "big", signed=True)
        for column in range(len(COLUMNS))
        for i, number in enumerate(numbers)
    }
