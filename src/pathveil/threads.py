"""A few threads over many small jobs, with the results in order; and one thread for one call.

Made of locks and not of Python's pools, because those wait for ever for a thread that found no
memory to begin with: `threading.Thread.start` waits until the new thread says that it runs. Here
a task that no thread takes within a second is done by who wants its result, and one that is taken
is always brought to an end. So a thread that never begins costs time, and nothing else.
"""

import os
from _thread import allocate_lock, start_new_thread
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from queue import SimpleQueue
from threading import RLock
from typing import Final, Generic, TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")

_PATIENCE: Final = 1.0  # seconds; threads that are there take a task at once


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
    waiting: deque[Task[Result]] = deque()
    offered: SimpleQueue[Task[Result] | None] = SimpleQueue()
    begun = asked = 0
    try:
        for job in jobs:
            task = Task(partial(work, job))
            waiting.append(task)
            offered.put(task)
            if asked < threads:
                asked += 1
                begun += _begin(offered)
            if len(waiting) > 2 * threads:
                yield _taken(waiting, leave=begun > 0)
        while waiting:
            yield _taken(waiting, leave=begun > 0)
    finally:
        for task in waiting:
            task.give_up()
        for _ in range(begun):
            offered.put(None)


def in_thread(call: Callable[[], Result]) -> "Task[Result]":
    """Make a call in a thread of its own, so that a signal gets through to who waits for it."""
    task = Task(call)
    offered: SimpleQueue[Task[Result] | None] = SimpleQueue()
    offered.put(task)
    offered.put(None)
    _begin(offered)
    return task


class Task(Generic[Result]):
    """A call that is made once, in whichever thread comes first.

    Args:
        call: what is to be done.
    """

    def __init__(self, call: Callable[[], Result]) -> None:
        self._call = call
        self._answer: Result
        self._error: BaseException | None = None
        # Who holds it makes the call. Reentrant: who was interrupted (by a signal) in the middle
        # of taking it may take it again, and does not wait for itself in `give_up`.
        self._claim = RLock()
        self._begun, self._done = allocate_lock(), allocate_lock()
        self._begun.acquire()
        self._done.acquire()

    @property
    def is_done(self) -> bool:
        """Whether the call was made."""
        return not self._done.locked()

    def run(self) -> None:
        """Make the call, unless another thread does."""
        is_mine = False
        try:
            # Once it is claimed nothing stands between this and the end, which wakes who waits:
            # not even a lack of memory, which would be one more error to tell.
            is_mine = self._claim.acquire(blocking=False)
            if is_mine:
                self._begun.release()
                self._answer = self._call()
                del self._call  # and with it the job, which may be large
        except BaseException as error:
            if not is_mine:
                raise
            self._error = error
        finally:
            if is_mine:
                self._done.release()

    def result(self, *, leave: bool = True) -> Result:
        """What the call gave; its error is raised. To be asked once.

        Args:
            leave: leave it to other threads for a while, before it is made in this one.
        """
        if leave:
            self._begun.acquire(timeout=_PATIENCE)
        self.run()
        with self._done:
            pass
        if self._error is not None:
            error, self._error = self._error, None  # else both would keep each other
            raise error
        return self._answer

    def give_up(self) -> None:
        """Wait until nobody works on it; from now on nobody will."""
        if not self._claim.acquire(blocking=False):
            with self._done:
                pass


def _taken(waiting: deque[Task[Result]], *, leave: bool) -> Result:
    """The result of the first task, which leaves the queue only then: so it can be given up."""
    result = waiting[0].result(leave=leave)
    waiting.popleft()
    return result


def _help(offered: "SimpleQueue[Task[Result] | None]") -> None:
    try:
        while (task := offered.get()) is not None:
            task.run()
    except MemoryError:
        pass  # other threads do it, or who wants the result


def _begin(offered: "SimpleQueue[Task[Result] | None]") -> bool:
    try:
        start_new_thread(_help, (offered,))
    except RuntimeError:  # no room for one more thread
        return False
    return True
