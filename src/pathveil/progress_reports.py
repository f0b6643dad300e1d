"""Who wants to know how far a long step is: told from deep inside, without passing it along.

Work reports a share of what is to be done, never what it works on. Without a listener nothing
happens. Reports of other threads are not heard, but for those of items that are `reporting_here`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Listener = Callable[[float], None]
Item = TypeVar("Item")

_listener: ContextVar[Listener | None] = ContextVar("pathveil_progress", default=None)


@contextmanager
def reported_to(listener: Listener) -> Iterator[None]:
    """Within the block, tell this listener which share of it is done, 0 to 1."""
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)


@contextmanager
def portion(begin: float, end: float) -> Iterator[None]:
    """Within the block, what is reported is that part of the whole."""
    listener = _listener.get()
    if listener is None:
        yield
        return
    with reported_to(lambda share: listener(begin + (end - begin) * share)):
        yield


def reporting_here(items: Iterator[Item]) -> Iterator[Item]:
    """The same items; who listens here hears them being made, whatever thread asks for them."""
    listener = _listener.get()
    return items if listener is None else _reporting_to(listener, items)


def _reporting_to(listener: Listener, items: Iterator[Item]) -> Iterator[Item]:
    end = object()
    while True:
        # Not around the yield: between two items it would stay set for whoever asks.
        with reported_to(listener):
            item = next(items, end)
        if item is end:
            return
        yield item  # type: ignore[misc]


def report_progress(done: float, everything: float) -> None:
    """So much of everything is done."""
    listener = _listener.get()
    if listener is not None:
        listener(min(max(done / everything, 0.0), 1.0) if everything > 0 else 1.0)
