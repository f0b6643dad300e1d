"""Connections to the explorer: not many at once, and none that makes it wait for ever.

Any program on this computer, and any page in its browser, can open connections and say nothing on
them, or a letter a minute. Each takes a file descriptor, and without those nobody is answered.
"""

import asyncio
import resource
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE_SECONDS = 10.0
# A browser opens six; the rest is for scripts that ask the API.
MOST_CONNECTIONS = 64
WAITING = 16  # connections that the operating system accepts before we look at them


def most_connections() -> int:
    """How many are held open: well below the number of files that this process may open."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_CONNECTIONS if files < 0 else max(8, min(MOST_CONNECTIONS, files // 4))


class BoundedConnection(H11Protocol):
    """One connection, which is closed if it has no whole question or takes no answer in time."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a question, unless there are too many who wait."""
        super().connection_made(transport)
        if len(self.connections) > most_connections():
            transport.abort()
        else:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        self._go_on()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """A whole question is answered however long that takes, if the answers are taken."""
        super().handle_events()
        self._go_on_if_asked()

    def on_response_complete(self) -> None:
        """Wait for the next question; its first letters are not enough."""
        self._wait()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """The other side does not take what we send."""
        super().pause_writing()
        self._wait()

    def resume_writing(self) -> None:
        """It does again."""
        super().resume_writing()
        self._go_on_if_asked()

    def _wait(self) -> None:
        self._go_on()
        self._deadline = self.loop.call_later(PATIENCE_SECONDS, self.transport.abort)

    def _go_on_if_asked(self) -> None:
        is_asked = self.cycle is not None and not self.cycle.response_complete
        if is_asked and not self.flow.write_paused:
            self._go_on()

    def _go_on(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
