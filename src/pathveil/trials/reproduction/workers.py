"""Run cells on several cores: each worker process is sent the data once."""

import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from multiprocessing.queues import SimpleQueue
from threading import Thread

from pathveil.errors import ParameterError
from pathveil.trials.reproduction.plan import AccuracyTrial
from pathveil.trials.reproduction.runs import AccuracyResult, Bench

_held: list[Bench] = []  # in a worker process: the one bench it was started with


def run_accuracy(
    bench: Bench, trials: Sequence[AccuracyTrial], workers: int
) -> Iterator[tuple[AccuracyTrial, AccuracyResult]]:
    """The results of all cells, in the order in which they finish.

    Args:
        bench: the data and the settings.
        trials: what to run.
        workers: processes; with 1 everything runs in this one.

    Raises:
        ParameterError: if a worker process was killed, most likely for want of memory.
    """
    if workers == 1 or len(trials) <= 1:
        yield from ((trial, bench.accuracy(trial)) for trial in trials)
        return
    # Spawned, not forked: a fork copies threads' locks, and compiled code has threads.
    context = get_context("spawn")
    count = min(workers, len(trials))
    # The data goes through a queue and from a thread: as an argument of the processes, it would
    # block us for ever if one of them died before it had read it all.
    sent: SimpleQueue[Bench] = context.SimpleQueue()
    Thread(target=_send, args=(sent, bench, count), daemon=True).start()
    pool = ProcessPoolExecutor(count, context, initializer=_receive, initargs=(sent,))
    try:
        waiting: dict[Future[AccuracyResult], AccuracyTrial] = {
            pool.submit(_run, trial): trial for trial in trials
        }
        for future in as_completed(waiting):
            yield waiting[future], future.result()
    except BrokenProcessPool:
        raise ParameterError(
            "A worker process was ended, perhaps for want of memory. The finished cells are "
            "kept: run the same command again with --workers 1."
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _send(sent: "SimpleQueue[Bench]", bench: Bench, times: int) -> None:
    for _ in range(times):
        sent.put(bench)


def _receive(sent: "SimpleQueue[Bench]") -> None:
    # Ctrl-C reaches every process of the terminal; the first one decides what becomes of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _held.append(sent.get())


def _run(trial: AccuracyTrial) -> AccuracyResult:
    return _held[-1].accuracy(trial)
