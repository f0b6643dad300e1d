"""What every benchmark shares: a clock, the baseline sort, peak memory, and how to print."""

import ctypes
import gc
import os
import re
import subprocess
import sys
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


def sort_processor_seconds(keys: int, runs: int = 3) -> float:
    """One np.sort of so many random uint64 keys, as numpy sorts them on this machine."""
    values = np.frombuffer(os.urandom(8 * keys), dtype=np.uint64)
    seconds = []
    for _ in range(runs):
        begun = time.process_time()
        np.sort(values)
        seconds.append(time.process_time() - begun)
    return min(seconds)


def plain_sort_processor_seconds(keys: int) -> float:
    """The same by numpy's sort for every machine, without its vector instructions.

    Which of those a machine has changes what a sort takes sixfold, and nothing of ours. They are
    turned off before numpy is imported, so in another process.
    """
    code = f"from bench.measuring import sort_processor_seconds as s; print(s({keys}))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"NPY_DISABLE_CPU_FEATURES": " ".join(vector_features())},
        capture_output=True,
        check=True,
        text=True,
    )
    return float(done.stdout)


def vector_features() -> list[str]:
    """What numpy uses of this processor beyond what all processors of its kind have."""
    from numpy._core import _multiarray_umath as compiled

    return [name for name in compiled.__cpu_dispatch__ if compiled.__cpu_features__[name]]


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
