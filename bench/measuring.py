"""What every benchmark shares: a clock, the baseline sort, peak memory, and how to print."""

import ctypes
import gc
import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

Work = Callable[[], object]


def best_of(runs: int, work: Work) -> float:
    """Seconds of the fastest of several runs: the others only tell how busy the machine was."""
    seconds = []
    for _ in range(runs):
        gc.collect()
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def sort_seconds(keys: int, runs: int = 3) -> float:
    """The baseline: one np.sort of this many random uint64 keys."""
    values = np.frombuffer(os.urandom(8 * keys), dtype=np.uint64)
    return best_of(runs, lambda: np.sort(values))


class PeakMemory:
    """Peak resident memory, in bytes above what was resident when it was made (Linux)."""

    def __init__(self) -> None:
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)  # freed memory that lingers would hide what is used
        Path("/proc/self/clear_refs").write_text("5")  # resets the high-water mark
        self._before = _status("VmRSS")

    def bytes(self) -> int:
        """How far it rose."""
        return _status("VmHWM") - self._before


def _status(field: str) -> int:
    text = Path("/proc/self/status").read_text()
    return 1024 * int(re.search(rf"{field}:\s+(\d+) kB", text)[1])


def row(*cells: object) -> None:
    print("  ".join(f"{cell:>14}" if i else f"{cell:<34}" for i, cell in enumerate(cells)))


def verdict(what: str, measured: float, target: float) -> None:
    word = "met" if measured <= target else "MISSED"
    row(what, f"{measured:.2f}", f"target {target:g}", word)
