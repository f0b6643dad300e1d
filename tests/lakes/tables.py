"""Real Delta and Iceberg tables, written by their own packages, with a history.

Both have five states, of the visits that `tests.databases.visits` has: the first half; all; all
without some people, who were deleted; the location column renamed (Iceberg) or a column added
(Delta); and one person more.
"""

import json
import struct
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from tests.databases.visits import ROWS

GONE = ("c1", "c2", "c3")
LATE = [("late", 1, "S3"), ("late", 2, "S1")]
HALF = len(ROWS) // 2
SCHEMA = pa.schema([("card", pa.string()), ("seq", pa.int64()), ("stop", pa.string())])
STAYED = [row for row in ROWS if row[0] not in GONE]
STATES = (ROWS[:HALF], ROWS, STAYED, STAYED, STAYED + LATE)


def as_table(rows, names=SCHEMA.names, **more):
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    types = dict(zip(names, SCHEMA.types, strict=True))
    arrays = {name: pa.array(cells, types[name]) for name, cells in columns.items()}
    return pa.table(arrays | {name: pa.array([value] * len(rows)) for name, value in more.items()})


@dataclass(frozen=True)
class History:
    """A table and how its states are asked for.

    Attributes:
        source: its address.
        snapshots: the snapshot of each of `STATES`.
        locations: what the location column is called in each.
    """

    source: str
    snapshots: tuple[int, ...]
    locations: tuple[str, ...]


def delta_history(folder: Path) -> History:
    import deltalake

    place = str(folder)
    deltalake.write_deltalake(place, as_table(STATES[0]))
    deltalake.write_deltalake(place, as_table(ROWS[HALF:]), mode="append")
    names = ", ".join(f"'{name}'" for name in GONE)
    deltalake.DeltaTable(place).delete(f"card IN ({names})")
    added = deltalake.Field("extra", "string", nullable=True)
    deltalake.DeltaTable(place).alter.add_columns([added])
    deltalake.write_deltalake(place, as_table(LATE, extra="zq7note1"), mode="append")
    return History(f"delta:{place}", (0, 1, 2, 3, 4), ("stop",) * 5)


def iceberg_catalog(folder: Path):
    from pyiceberg.catalog.sql import SqlCatalog

    folder.mkdir(parents=True, exist_ok=True)
    return SqlCatalog(
        "default", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}/warehouse"
    )


def iceberg_history(folder: Path) -> History:
    from pyiceberg.expressions import In

    catalog = iceberg_catalog(folder)
    catalog.create_namespace("city")
    table = catalog.create_table("city.taps", schema=SCHEMA)
    snapshots = []

    def state():
        snapshots.append(table.current_snapshot().snapshot_id)

    table.append(as_table(STATES[0]))
    state()
    table.append(as_table(ROWS[HALF:]))
    state()
    table.delete(In("card", GONE))
    state()
    with table.update_schema() as update:
        update.rename_column("stop", "station")
    state()  # a new schema is no new snapshot
    table.append(as_table(LATE, ["card", "seq", "station"]))
    state()
    catalog.close()
    return History(
        f"iceberg:{table.metadata_location}", tuple(snapshots), ("stop",) * 4 + ("station",)
    )


HISTORIES = {"delta": delta_history, "iceberg": iceberg_history}


# What `deltalake` reads and does not write: an entry of the log, by Delta's protocol.


def log_entry(table: Path, *actions: dict) -> None:
    number = len(list((table / "_delta_log").glob("*.json")))
    text = "\n".join(map(json.dumps, actions))
    (table / "_delta_log" / f"{number:020}.json").write_text(text, encoding="utf-8")


def first_entry(table: Path) -> dict:
    lines = (table / "_delta_log" / f"{0:020}.json").read_text(encoding="utf-8").splitlines()
    return {name: action for line in lines for name, action in json.loads(line).items()}


def features(*names: str) -> dict:
    both = {"readerFeatures": list(names), "writerFeatures": list(names)}
    return {"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, **both}}


def delete_by_vector(table: Path, rows: list[int]) -> None:
    """Rows of the table's one file are deleted by a deletion vector; the file stays as it is."""
    add = first_entry(table)["add"]
    log_entry(
        table,
        features("deletionVectors"),
        {
            "remove": {
                "path": add["path"],
                "dataChange": True,
                "deletionTimestamp": 1,
                "extendedFileMetadata": True,
                "partitionValues": {},
                "size": add["size"],
            }
        },
        {"add": {**add, "deletionVector": _vector(rows)}},
    )


def _vector(rows: list[int]) -> dict:
    from pyroaring import BitMap

    bitmap = struct.pack("<IQI", 1681511377, 1, 0) + BitMap(rows).serialize()
    padded = bitmap + bytes(-len(bitmap) % 4)
    return {
        "storageType": "i",
        "pathOrInlineDv": "".join(_z85(padded[at : at + 4]) for at in range(0, len(padded), 4)),
        "sizeInBytes": len(bitmap),
        "cardinality": len(rows),
    }


def _z85(word: bytes) -> str:
    signs = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
    value = int.from_bytes(word, "big")
    return "".join(signs[value // 85**place % 85] for place in (4, 3, 2, 1, 0))
