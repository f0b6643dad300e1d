"""A few threads over many small jobs, with the results in order."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")


def in_threads(
    work: Callable[[Job], Result], jobs: Iterable[Job], *, most: int = 8
) -> Iterator[Result]:
    """Like ``map``, in threads; jobs are taken only a little ahead of the results.

    Worth it where the work is done outside Python: Arrow and compiled kernels.

    Args:
        work: what to do with a job.
        jobs: the jobs.
        most: the number of threads, if the machine has as many cores.
    """
    threads = min(most, os.cpu_count() or 1)
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for job in jobs:
                waiting.append(pool.submit(work, job))
                if len(waiting) > 2 * threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
