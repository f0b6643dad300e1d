"""Results in order, whichever thread does the work, and whether or not a thread ever begins."""

import threading
import time

import pytest

from pathveil import threads
from pathveil.errors import InputError
from pathveil.raw.sources.databases.queries import ask
from pathveil.threads import in_threads


def never_begins(_work, _arguments):
    """A thread that finds no memory for its first step ends without a word."""


def no_room(_work, _arguments):
    raise RuntimeError("can't start new thread")


@pytest.fixture(params=[never_begins, no_room])
def no_threads(request, monkeypatch):
    monkeypatch.setattr(threads, "start_new_thread", request.param)
    monkeypatch.setattr(threading, "_start_new_thread", request.param)  # and Python's own
    monkeypatch.setattr(threads, "_PATIENCE", 0.01)


def test_results_are_in_order_and_jobs_are_taken_a_little_ahead(monkeypatch):
    monkeypatch.setattr(threads.os, "cpu_count", lambda: 4)
    taken = []

    def jobs():
        for job in range(50):
            taken.append(job)
            yield job

    def work(job):
        time.sleep(0.001 * (job % 3))
        return job * job

    for number, result in enumerate(in_threads(work, jobs(), most=3)):
        assert result == number * number
        assert len(taken) <= number + 2 * 3 + 1


@pytest.mark.usefixtures("no_threads")
def test_without_threads_all_is_done_all_the_same():
    """Python's own pool waits for ever for a thread that does not begin."""
    assert list(in_threads(lambda job: job + 1, range(40))) == list(range(1, 41))
    assert ask(lambda: 7, str) == 7


def test_a_thread_that_fails_before_it_takes_a_task(monkeypatch):
    def fail():
        raise MemoryError

    monkeypatch.setattr(threads, "_PATIENCE", 0.01)
    monkeypatch.setattr(threads, "SimpleQueue", lambda: FailingQueue(fail))
    assert list(in_threads(str, range(9))) == list("012345678")


class FailingQueue:
    def __init__(self, get):
        self.get = get

    def put(self, task):
        pass


def test_an_error_is_raised_and_nobody_works_any_more(monkeypatch):
    monkeypatch.setattr(threads.os, "cpu_count", lambda: 4)
    working = set()

    def work(job):
        working.add(job)
        time.sleep(0.02)
        working.discard(job)
        if job == 5:
            raise InputError("five")
        return job

    with pytest.raises(InputError, match="five"):
        list(in_threads(work, range(100)))
    assert working == set()


def test_a_consumer_that_stops_leaves_nobody_working():
    working = set()

    def work(job):
        working.add(job)
        time.sleep(0.02)
        working.discard(job)
        return job

    results = in_threads(work, range(100))
    assert next(results) == 0
    results.close()
    assert working == set()


def test_a_call_is_made_in_another_thread_and_an_interrupt_cancels_it(monkeypatch):
    assert ask(threading.get_ident, str) != threading.get_ident()
    begun, may_end, ended = threading.Event(), threading.Event(), []

    class Interrupt(BaseException):
        pass

    def call():
        begun.set()
        may_end.wait(60)
        time.sleep(0.02)
        ended.append(True)

    def interrupted(_task):
        """As by a signal, while the call goes on."""
        begun.wait(60)
        raise Interrupt

    monkeypatch.setattr(threads.Task, "result", interrupted)
    with pytest.raises(Interrupt):
        ask(call, str, may_end.set)
    assert ended == [True]  # cancelled, and waited for
