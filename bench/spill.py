"""What it costs that DuckDB's engine encrypts all that it spills: the same publish without.

``python -m bench.spill`` publishes by `full` out of core, in turns with the encryption that it
always has and with none, and prints the seconds of the processor (of all threads) and of the clock,
the best of some runs each, and their ratio.
"""

import argparse
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, process_time
from typing import Any
from unittest.mock import patch

from bench.measuring import row
from pathveil import publish, simulate_week
from pathveil.raw.engines import duckdb_counter, run_files
from pathveil.simulated_files import write_week
from pathveil.universe.universe import Universe

RIDERS, STOPS, RUNS = 300_000, 1_012, 5


class _Bare:
    """A cipher that is none."""

    def encrypt(self, _nonce: bytes, data: Any, _more: None) -> bytes:
        return bytes(data)

    def decrypt(self, _nonce: bytes, data: bytes, _more: None) -> bytes:
        return data


@contextmanager
def encrypted() -> Iterator[None]:
    yield


@contextmanager
def bare() -> Iterator[None]:
    """Our files, DuckDB's tables and its temporary files as they would be without."""
    settings = [text.replace("encryption = true", "encryption = false") for text in _settings()]
    with (
        patch.object(run_files, "_cipher", _Bare),
        patch.object(duckdb_counter, "_SETTINGS", tuple(settings)),
        patch.object(duckdb_counter, "_attach_text", lambda place: f"ATTACH '{place}' AS spilled"),
    ):
        yield


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--riders", type=int, default=RIDERS)
    parser.add_argument("--runs", type=int, default=RUNS)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows, universe = _written(Path(folder), chosen.riders)
        work = _published(rows, universe)
        best = {bare: [float("inf")] * 2, encrypted: [float("inf")] * 2}
        for _ in range(chosen.runs):
            for how, seconds in best.items():
                with how():
                    seconds[:] = map(min, seconds, _seconds(work))
    row(f"{chosen.riders:,} riders", "processor", "clock")
    for how, seconds in best.items():
        row(how.__name__, *(f"{each:.2f} s" for each in seconds))
    ratios = [one / other for one, other in zip(best[encrypted], best[bare], strict=True)]
    row("ratio", *(f"{ratio:.2f}" for ratio in ratios))


def _settings() -> tuple[str, ...]:
    return duckdb_counter._SETTINGS  # noqa: SLF001


def _written(folder: Path, riders: int) -> tuple[Path, Universe]:
    week = simulate_week(riders, STOPS, seed=5)
    taps, _ = write_week(week, folder, csv=False)
    return taps, week.universe


def _published(rows: Path, universe: Universe) -> Callable[[], object]:
    return lambda: publish(
        rows,
        universe=universe,
        unit="card_id",
        order="seq",
        location="stop_id",
        epsilon="1",
        height=12,
        method="full",
        engine="duckdb",
        memory="500MB",
        spill=rows.parent,
    )


def _seconds(work: Callable[[], object]) -> tuple[float, float]:
    processor, clock = process_time(), perf_counter()
    work()
    return process_time() - processor, perf_counter() - clock


if __name__ == "__main__":
    main()
