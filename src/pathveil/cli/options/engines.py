"""Options that say which engine reads and counts. They change how, never what is published."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from pathveil.cli import completion

_ENGINE = "The engine"

EngineName: TypeAlias = Annotated[
    str,
    typer.Option(
        "--engine",
        help="What reads and counts: 'memory'; 'duckdb', which needs little memory however large "
        "the data is; 'spark', a cluster; 'auto' takes duckdb for files that would fill half of "
        "the memory. It never changes what is published.",
        autocompletion=completion.one_of(completion.ENGINES),
        rich_help_panel=_ENGINE,
    ),
]
Memory: TypeAlias = Annotated[
    str,
    typer.Option(
        help="With duckdb: about how much memory to use, such as 500MB or 2GB.",
        rich_help_panel=_ENGINE,
    ),
]
Spill: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="With duckdb, and with spark for what it keeps on this machine: an existing folder "
        "for what does not fit into memory, raw data among it. It is kept in a private folder "
        "there, which is removed at the end. Default: the system's folder for temporary files.",
        rich_help_panel=_ENGINE,
    ),
]
Master: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="With spark: the cluster, such as spark://host:7077, or local[2] for this machine. "
        "All workers read Parquet, orc:…, table:NAME and, if that Spark is set up for them, "
        "delta:… and iceberg:…; one of them reads any other INPUT.",
        rich_help_panel=_ENGINE,
    ),
]


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """The engine and what it may use, by the names of `Request.choose`."""

    engine: EngineName = "auto"
    memory: Memory = "2GB"
    spill: Spill = None
    master: Master = None
