"""What the shell offers when a value is half typed. Quick, and of public words only.

The words are written out here because importing what defines them would take longer than anybody
waits for a key; a test compares them. Whatever goes wrong, nothing is offered and nothing is said.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

import typer

METHODS = ("calibrated", "full", "basic")
AUDITED_METHODS = (*METHODS, "all")
REPRODUCED_METHODS = ("both", *AUDITED_METHODS)
ENGINES = ("auto", "memory", "duckdb", "spark")
THRESHOLDS = ("auto", "paper")
HEIGHTS = ("auto",)
PURPOSES = ("everything", "stops", "flows", "patterns", "hours")
FORMATS = ("csv", "parquet", "xlsx", "geojson", "geoparquet", "xes")
NAMES = ("pathveil", "scikit-mobility", "movingpandas", "gtfs", "kepler", "flowmap")
FLOWS = ("transitions", "origin-destination", "visits", "visits-by-time")
PERIODS = ("year", "quarter", "month", "week", "day")
SPLITS = ("none", "day", "week", "gap:30min", "whole")
REPEATS = ("auto", "keep", "collapse")
KEEPS = ("first", "sample")
PROTECTS = ("person", "person-week", "person-day", "trip")
UNIT_TEXTS = ("normal", "exact")
ENCODINGS = ("utf-8", "utf-16", "windows-1252", "latin-1")
TIME_FORMATS = ("iso", "de", "us", "uk")
TIME_GRIDS = ("1h", "15min", "weekday-hour")
DATASETS = ("simulated", "stm_like", "msnbc", "cabspotting", "mibici", "nycflights13", "kosarak")

MOST_OFFERED = 200
LOCATIONS_FILE = "locations.csv"

Completer = Callable[[str], list[str]]


def one_of(words: tuple[str, ...]) -> Completer:
    """Complete to one of these."""

    def offer(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return offer


def time_zones(incomplete: str) -> list[str]:
    """IANA names."""
    from zoneinfo import available_timezones

    return [name for name in sorted(available_timezones()) if name.startswith(incomplete)]


def ledger_datasets(context: typer.Context, incomplete: str) -> list[str]:
    """The datasets of the ledger that the line names, or of the usual one."""
    with suppress(Exception):
        from pathveil.ledger.ledger import Ledger

        address = context.params.get("where") or context.params.get("ledger")
        return [
            name for name in Ledger.open(address).books().datasets if name.startswith(incomplete)
        ]
    return []


def ledger_series(context: typer.Context, incomplete: str) -> list[str]:
    """The series of the ledger that the line names, or of the usual one."""
    with suppress(Exception):
        from pathveil.ledger.ledger import Ledger

        address = context.params.get("where") or context.params.get("ledger")
        return [name for name in Ledger.open(address).books().series if name.startswith(incomplete)]
    return []


def released_locations(context: typer.Context, incomplete: str) -> list[str]:
    """Labels and names of the bundle that the line names, a few hundred at most; they are public.

    Only plain words: what is offered is evaluated by zsh, and goes into the command line of any
    shell as it is, so the maker of a bundle would run programs there.
    """
    with suppress(Exception):
        found = _labels(Path(context.params["directory"]) / LOCATIONS_FILE)
        near = (label for label in found if label.startswith(incomplete) and _is_plain(label))
        return list(islice(near, MOST_OFFERED))
    return []


def _is_plain(label: str) -> bool:
    return label[:1].isalnum() and all(one.isalnum() or one in " _-.,/" for one in label)


def _labels(file: Path) -> Iterator[str]:
    import csv

    from pathveil.core.texts import unescape

    if not file.is_file():  # a pipe would be waited for
        return
    with file.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            yield unescape(row["location"])
            if name := unescape(row.get("name") or ""):
                yield name
