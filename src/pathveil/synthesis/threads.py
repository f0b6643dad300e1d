"""A few threads over chunks of synthetic trajectories, with the results in order.

The chunks are cut without asking how many threads there are, and their results are put together
in order, so the outcome is the same on any machine. Compiled kernels let go of Python's lock.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")

_MAX_THREADS = 8


def in_threads(work: Callable[[Chunk], Result], chunks: Iterable[Chunk]) -> Iterator[Result]:
    """Like ``map``, in threads."""
    with ThreadPoolExecutor(min(_MAX_THREADS, os.cpu_count() or 1)) as pool:
        yield from pool.map(work, chunks)
